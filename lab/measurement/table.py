"""A measurement as tables for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab.errors import printable
from lab.measurement.judge import UNCONFIRMED


def render_measurement(measurement: dict[str, Any]) -> str:
    """Where it ran, whether it is valid, then the policies, the kernel and the batch sizes, each as a table."""
    blocks = [
        _heading(measurement),
        _policies(measurement),
        _kernel(measurement),
        _batch(measurement),
        [*measurement["notes"]],
        _unconfirmed(),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _unconfirmed() -> list[str]:
    """Dated, as what is above it may be from a GPU."""
    if not UNCONFIRMED:
        return []
    return ["What no GPU had confirmed when this version of the lab was made:", *(f"  {line}" for line in UNCONFIRMED)]


def _heading(measurement: dict[str, Any]) -> list[str]:
    device, shape, versions = measurement["device"], measurement["shape"], measurement["versions"]
    method = measurement["method"]
    software = ", ".join(f"{name} {versions[name]}" for name in ("torch", "cuda", "triton") if versions[name])
    driver = f", driver {device['driver']}" if device["driver"] else ""
    layers = "1 layer" if shape["layers"] == 1 else f"{shape['layers']} layers"
    lines = [
        printable(f"{measurement['trace']['name']} on {device['name']}, {measurement['measured_at']}"),
        f"{layers} of {shape['name']}, {measurement['dtype']}, {method['ops']}; {software}{driver}",
        f"{method['repeats']} replays after {method['warmup']}, {method['clock']}; bandwidth "
        f"{measurement['bandwidth']['bytes_per_s'] / 1e9:.0f} GB/s",
    ]
    for name, found in measurement["verification"].items():
        error = "not finite" if found["worst_error"] is None else f"{found['worst_error']:.1e}"
        verdict = "agrees with" if found["passed"] else "DIFFERS FROM"
        lines.append(
            f"{name} {verdict} float64 attention: {found['checked']} comparisons, largest error {error} "
            f"of {found['tolerance']:.0e} ({printable(found['worst_at'])})"
        )
    if not measurement["valid"]:
        lines.append("NOT VALID: " + " ".join(map(printable, measurement["invalid_because"])))
    return lines


def _policies(measurement: dict[str, Any]) -> list[str]:
    rows = []
    for name, policy in measurement["policies"].items():
        steps = policy["iterations"]
        total = policy["total_ms"]
        further = policy["extrapolated"]
        rows.append(
            [
                name,
                str(len(steps)),
                f"{total['median'] / max(1, len(steps)):.4f}",
                f"{policy['floor_ms'] / max(1, len(steps)):.4f}",
                f"{policy['ratio']:.2f}",
                f"{total['median']:.2f}",
                f"{total['p10']:.2f} - {total['p90']:.2f}",
                f"{further['total_ms']:.0f}" if further else "-",
            ]
        )
    layers = measurement["shape"]["model_layers"]
    last = f"x{layers} layers, extrapolated" if layers else "extrapolated"
    head = ["", "iterations", "ms each", "floor", "ratio", "total ms", "p10 - p90", last]
    return _aligned([head, *rows]) if rows else []


def _kernel(measurement: dict[str, Any]) -> list[str]:
    rows = [
        [
            f"{row['requests']} x {row['context']}",
            f"{row['paged_ms']['median']:.4f}",
            f"{row['contiguous_ms']['median']:.4f}",
            row.get("contiguous_by", "-"),
            f"{row['paging_costs']:.2f}",
            "in cache" if row["in_cache"] else f"{row['paged_ms']['median'] / row['floor_ms']:.2f}",
        ]
        for row in measurement["kernel"] or []
    ]
    head = ["decode, one layer", "paged ms", "contiguous ms", "by", "paging costs", "over floor"]
    return _aligned([head, *rows]) if rows else []


def _batch(measurement: dict[str, Any]) -> list[str]:
    batch = measurement["batch"]
    if batch is None:
        return []
    rows = [
        [
            str(row["requests"]),
            f"{row['ms']['median']:.4f}",
            f"{row['floor_ms']:.4f}",
            f"{row['ratio']:.2f}",
            f"{1e3 * row['ms']['median'] / row['requests']:.1f}",
        ]
        for row in batch["rows"]
    ]
    head = [f"batch at {batch['context']} tokens", "step ms", "floor", "ratio", "us a request"]
    fit = batch["fit"]
    model = f"Fitted: max({fit['floor_ms']:.4f} ms, "
    if fit["token_ms"] is None:
        model += f"tokens x less than {fit['token_ms_at_most']:.6f} ms): every step was on the floor."
    else:
        model += f"tokens x {fit['token_ms']:.6f} ms), knee at {fit['knee_tokens']:.0f} tokens, "
        model += f"off by up to {fit['worst_error']:.0%}."
    return [*_aligned([head, *rows]), model]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
