"""A measurement as plain JSON data, made after a run.

Its form is lab/measurement/measurement.schema.json. Times are in ms. A floor is the bytes that must move, divided by
the bandwidth that was measured in the same run; a ratio is a median over its floor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from lab.cuda.fit import fit
from lab.cuda.job import Job
from lab.cuda.plan import Plan, kv_lengths
from lab.cuda.shapes import step_bytes
from lab.cuda.statistics import spread
from lab.formats.trace_json import trace_to_dict
from lab.measurement.judge import KIND, SCHEMA_VERSION, reasons

DOES_NOT_SHOW = (
    "Weights are random; rotary embedding, the embedding and output layers, sampling and the scheduler are left out. "
    "It is the cost of a step, not the speed of a model.",
    "Times begin after a step's addressing and input are in place on the GPU, and are the GPU's own: how long Python "
    "takes to launch a step is left out.",
    "The decode kernel and PyTorch's attention differ in more than paging, so what one costs over the other is not the "
    "price of the block table alone.",
)

FLAT_SHARE = 0.1
"""Below this share of KV in what a step moves, a step's time hardly depends on who is in it."""


class Verified(Protocol):
    """`lab.cuda.verify.Verification`, which needs PyTorch."""

    @property
    def passed(self) -> bool: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass
class Measured:
    """Everything that a run found out, before it is judged."""

    job: Job
    device: dict[str, Any]
    versions: dict[str, str]
    ops: str
    bandwidth: dict[str, float | int]
    verifications: dict[str, Verified] = field(default_factory=dict)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    kernel: list[dict[str, Any]] | None = None
    batch: dict[str, Any] | None = None

    @property
    def verified(self) -> bool:
        """Whether every policy was verified."""
        return all(name in self.verifications and self.verifications[name].passed for name in self.job.policies)

    def add_verification(self, policy: str, found: Verified) -> None:
        """What the untimed pass of `policy` came to."""
        self.verifications[policy] = found

    def add_times(self, policy: str, plan: Plan, modes: Sequence[str], runs: Sequence[Sequence[float]]) -> None:
        """The times in ms of each step, a list a replay; `modes`: graph or eager, of each step."""
        settings = self.job.settings
        rows: list[dict[str, Any]] = []
        for at, (step, mode) in enumerate(zip(plan.steps, modes, strict=True)):
            reads = kv_lengths(step)
            moved = step_bytes(settings.layer_shape, settings.layers, settings.dtype, step.tokens, *reads)
            took = spread([run[at] for run in runs])
            floor = self._floor(moved)
            rows.append(
                {
                    "iteration": step.iteration,
                    "decodes": len(step.decodes),
                    "prefill_tokens": step.tokens - len(step.decodes),
                    "kv_tokens_read": sum(map(sum, reads)),
                    "mode": mode,
                    "ms": took.to_dict(),
                    "floor_ms": floor,
                    "ratio": took.median / floor,
                }
            )
        total = spread([sum(run) for run in runs])
        total_floor = sum(float(row["floor_ms"]) for row in rows)
        shape = settings.layer_shape
        self.policies[policy] = {
            "iterations": rows,
            "total_ms": total.to_dict(),
            "floor_ms": total_floor,
            "ratio": total.median / total_floor if total_floor else 0.0,
            "extrapolated": {
                "layers": shape.model_layers,
                "total_ms": total.median * shape.model_layers / settings.layers,
            }
            if shape.model_layers
            else None,
        }

    def _floor(self, moved: int) -> float:
        return 1e3 * moved / self.bandwidth["bytes_per_s"]


def document(measured: Measured, measured_at: str, lab_version: str, python: str) -> dict[str, Any]:
    """The measurement, judged. `measured_at`: ISO 8601."""
    job, settings = measured.job, measured.job.settings
    batch = measured.batch
    if batch is not None:
        batch = {**batch, "fit": fit([(row["requests"], row["ms"]["median"]) for row in batch["rows"]]).to_dict()}
    plain: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "kind": KIND,
        "measured_at": measured_at,
        "valid": True,
        "invalid_because": [],
        "trace": {"name": job.trace.name, "sha256": job.sha256, "requests": len(job.trace.requests)},
        "limits": asdict(job.trace.limits),
        "options": {},
        "device": measured.device,
        "versions": {"lab": lab_version, "python": python, **measured.versions},
        "shape": {
            **settings.layer_shape.to_dict(),
            "layers": settings.layers,
            "weight_bytes": step_bytes(settings.layer_shape, settings.layers, settings.dtype, 0, [], []),
        },
        "dtype": settings.dtype,
        "method": {
            "ops": measured.ops,
            "clock": "CUDA events" if measured.device["kind"] == "cuda" else "wall clock",
            "warmup": settings.warmup,
            "repeats": settings.repeats,
            "seed": settings.seed,
        },
        "bandwidth": measured.bandwidth,
        "verification": {name: found.to_dict() for name, found in measured.verifications.items()},
        "policies": measured.policies,
        "kernel": measured.kernel,
        "batch": batch,
        "notes": [*measured.notices, *_kv_note(measured), *DOES_NOT_SHOW],
    }
    plain = short(plain)
    # What was replayed is not rounded.
    plain["options"] = job.trace.options.changes()
    plain["trace"]["file"] = trace_to_dict(job.trace)
    plain["invalid_because"] = reasons(plain, list(job.policies))
    plain["valid"] = not plain["invalid_because"]
    return plain


def _kv_note(measured: Measured) -> list[str]:
    """How much of what must move is KV: why time is nearly flat."""
    settings = measured.job.settings
    shape = settings.layer_shape
    most = max(
        (row["kv_tokens_read"] for policy in measured.policies.values() for row in policy["iterations"]), default=0
    )
    if not most:
        return []
    share = most * shape.kv_token / (most * shape.kv_token + shape.weights)
    words = f"at most {share:.1%}" if share >= 0.001 else "less than 0.1%"
    note = f"Reading KV is {words} of what a step of this replay must move; the rest is the weights."
    if share < FLAT_SHARE:
        note += (
            " They are read once however many requests decode. That is why ms an iteration is nearly flat, and why a "
            "full batch pays."
        )
    return [note]


def short(value: Any) -> Any:
    """`value` with every float brought to six significant digits, which is more than any of them is worth."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: short(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [short(entry) for entry in value]
    return value
