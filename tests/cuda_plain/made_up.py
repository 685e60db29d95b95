"""A measurement with made-up times, put together by the same code as a real one, and a device that plays it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.cuda.document import Measured, document
from lab.cuda.job import Job, Settings, make_job
from lab.cuda.plan import Plan, kv_lengths, plans_of
from lab.cuda.shapes import step_bytes
from lab.formats.trace_json import read_trace

COURSE = Path(__file__).parents[2] / "traces" / "course.json"
BYTES_PER_S = 4e12
DEVICE = {
    "kind": "cuda",
    "name": "made up for tests",
    "memory_bytes": 80 * 10**9,
    "cache_bytes": 50 * 10**6,
    "compute_capability": "9.0",
    "driver": "0",
}


@dataclass
class MadeUp:
    """A verification that came out as it was told to."""

    passed: bool = True

    def to_dict(self) -> dict[str, Any]:
        error = 1e-3 if self.passed else None
        return {"passed": self.passed, "checked": 1, "tolerance": 2e-2, "worst_error": error, "worst_at": "somewhere"}


def course_job(**settings: Any) -> Job:
    return make_job(read_trace(COURSE), settings=Settings(**settings))


def floors(job: Job, plan: Plan) -> list[float]:
    """The floor of each step in ms, at BYTES_PER_S."""
    s = job.settings
    return [
        1e3 * step_bytes(s.layer_shape, s.layers, s.dtype, step.tokens, *kv_lengths(step)) / BYTES_PER_S
        for step in plan.steps
    ]


def measurement(
    job: Job, ratio: float = 1.25, passed: bool = True, kind: str = "cuda", batch_ratio: float = 1.25
) -> dict[str, Any]:
    """Each step took `ratio` times its floor, give or take 2 % from one replay to the next."""
    speed = {
        "bytes_per_s": BYTES_PER_S,
        "read_bytes_per_s": BYTES_PER_S,
        "copy_bytes_per_s": 3.9e12,
        "buffer_bytes": 2**30,
    }
    versions = {"torch": "0", "cuda": "0", "triton": "0"}
    measured = Measured(job, {**DEVICE, "kind": kind}, versions, "triton", speed)
    for name, plan in plans_of(job.trace, job.policies).items():
        measured.add_verification(name, MadeUp(passed))
        if passed:
            runs = [[floor * ratio * wobble for floor in floors(job, plan)] for wobble in (0.98, 1.0, 1.02)]
            measured.add_times(name, plan, ["eager" if step.prefills else "graph" for step in plan.steps], runs)
    if job.settings.compare and passed:
        measured.kernel = [
            {
                "requests": 3,
                "context": 128,
                "kv_bytes": 3 * 128 * 4096,
                "in_cache": True,
                "verified": True,
                "worst_error": 1e-3,
                "paged_ms": {"median": 0.006, "p10": 0.005, "p90": 0.007},
                "contiguous_ms": {"median": 0.005, "p10": 0.004, "p90": 0.006},
                "contiguous_by": "flash, a group as queries",
                "paging_costs": 1.2,
                "floor_ms": 0.0004,
            }
        ]
        measured.batch = {
            "context": 128,
            "rows": [
                {
                    "requests": size,
                    "verified": True,
                    "worst_error": 1e-3,
                    "ms": dict.fromkeys(("median", "p10", "p90"), max(0.4, size * 0.002)),
                    "floor_ms": max(0.4, size * 0.002) / batch_ratio,
                    "ratio": batch_ratio,
                }
                for size in (1, 2, 4, 8, 64, 256, 512)
            ],
        }
    return document(measured, "2026-01-31T12:00:00+00:00", "0.1.0", "3.11")
