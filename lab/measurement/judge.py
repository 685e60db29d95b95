"""Is a measurement to be believed?

No ratio of a median to its floor can be below 1: where one is, the clock or the floor is wrong, and the measurement is
marked invalid. So is one that was not verified, and one on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCHEMA_VERSION = 1
KIND = "serving-lab-measurement"

UNCONFIRMED = (
    "No GPU has run this backend yet. Its kernels agree with float64 in Triton's interpreter and compile for sm_90.",
    "Products in bfloat16 as a GPU makes them are unconfirmed: the interpreter makes them in float32.",
    "CUDA graphs, CUDA events, the measured bandwidth, the memory limit, and the notice of a busy GPU are unconfirmed.",
    "No time in ms is known from a real GPU: no sample measurement of one is shipped yet.",
)
"""What no GPU has confirmed yet. Whoever runs `lab/cuda/prove.py` on one, and it passes, takes the lines away."""


def reasons(plain: dict[str, Any], policies: Sequence[str]) -> list[str]:
    """Why the measurement `plain`, which was to hold `policies`, is not to be believed; empty when it is."""
    found = []
    if plain["device"]["kind"] != "cuda":
        found.append("It ran on a CPU: its times say nothing about a GPU.")
    for name in policies:
        verification = plain["verification"].get(name)
        if verification is None:
            found.append(f"{name} was not verified.")
        elif not verification["passed"]:
            found.append(f"{name} differs from float64 attention, first of all at {verification['worst_at']}.")
    for name, policy in plain["policies"].items():
        below = [row for row in policy["iterations"] if row["ratio"] < 1]
        if below:
            found.append(
                f"{name}: {len(below)} iterations took less than moving their bytes must take (the first is "
                f"iteration {below[0]['iteration']}, ratio {below[0]['ratio']:.2f}): the weights were cached, or the "
                "clock or the floor is wrong."
            )
    for row in plain["kernel"] or []:
        if not row["verified"]:
            found.append(f"The kernel differs from float64 attention for {row['requests']} x {row['context']} tokens.")
        if not row["in_cache"] and row["paged_ms"]["median"] < row["floor_ms"]:
            found.append(f"The kernel beat its floor for {row['requests']} x {row['context']} tokens.")
    for row in (plain["batch"] or {"rows": []})["rows"]:
        if not row["verified"]:
            found.append(f"A step of {row['requests']} requests differs from float64 attention.")
        if row["ratio"] < 1:
            found.append(f"A step of {row['requests']} requests took less than moving its bytes must take.")
    return found
