"""What one replay on a GPU is asked to do: plain data that goes to the child process as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

from lab.cuda.shapes import DTYPE_BYTES, SHAPES, LayerShape
from lab.errors import InputError
from lab.formats.trace_json import parse_trace, trace_sha256, trace_to_dict
from lab.options import Options
from lab.policies import POLICIES, policy_named
from lab.values import check_choice, check_flag, check_integer, check_positive
from lab.workload import Limits, Trace

CPU = -1
"""As a device: no GPU. Everything is verified, and timed by a clock whose figures say nothing about a GPU."""

MOST_LAYERS = 4
LEAST_REPEATS = 20


@dataclass(frozen=True, slots=True)
class Settings:
    """How the device is used. Chosen by whoever starts the lab, not by who submits. InputError names a wrong field.

    device:       index of the GPU, or CPU
    memory_share: of the GPU's memory that the replay may take, above 0 and at most 1
    shape:        a name in `lab.cuda.shapes.SHAPES`
    layers:       1 to 4
    dtype:        bfloat16, float16 or float32
    warmup:       replays before the first one that counts
    repeats:      replays that count, at least 20 on a GPU
    compare:      also the kernel against contiguous attention, and a step's cost against the batch size
    seed:         of weights and inputs
    """

    device: int = 0
    memory_share: float = 0.9
    shape: str = "llama-3.1-8b"
    layers: int = 4
    dtype: str = "bfloat16"
    warmup: int = 3
    repeats: int = 20
    compare: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer(self.device, "device", CPU)
        if check_positive(self.memory_share, "memory_share") > 1:
            raise InputError(
                f"must be at most 1, not {self.memory_share}; write a share such as 0.9", field="memory_share"
            )
        check_choice(self.shape, "shape", SHAPES)
        check_integer(self.layers, "layers", 1)
        if self.layers > MOST_LAYERS:
            raise InputError(
                f"must be at most {MOST_LAYERS}, not {self.layers}; write 1 to {MOST_LAYERS}", field="layers"
            )
        check_choice(self.dtype, "dtype", DTYPE_BYTES)
        check_integer(self.warmup, "warmup", 0)
        check_integer(self.repeats, "repeats", 1 if self.device == CPU else LEAST_REPEATS)
        check_flag(self.compare, "compare")
        check_integer(self.seed, "seed", 0)

    @property
    def layer_shape(self) -> LayerShape:
        """The shape that is named."""
        return SHAPES[self.shape]

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Job:
    """One replay: a trace with the limits and options that it is replayed under, and how it is measured.

    sha256: of the trace as it was read, before other limits or options took the place of its own
    """

    trace: Trace
    policies: tuple[str, ...] = tuple(POLICIES)
    settings: Settings = field(default_factory=Settings)
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data, for the child process."""
        return {
            "trace": trace_to_dict(self.trace),
            "policies": list(self.policies),
            "settings": self.settings.to_dict(),
            "sha256": self.sha256,
        }


def make_job(
    trace: Trace,
    policies: Sequence[str] = tuple(POLICIES),
    settings: Settings | None = None,
    sha256: str | None = None,
) -> Job:
    """A job for `trace`, with everything checked that can be checked without a device. InputError names the field."""
    if not policies:
        raise InputError("names no policy; name static, continuous or both", field="policies")
    for name in policies:
        policy_named(name)
    if len(set(policies)) != len(policies):
        raise InputError("names a policy twice; name each once", field="policies")
    return Job(trace, tuple(policies), settings or Settings(), sha256 or trace_sha256(trace))


SUBMITTED = ("trace", "limits", "options", "policies")


def job_from_request(value: object, settings: Settings, most_requests: int) -> Job:
    """The job that a client asks for: a JSON object with `trace`, and if wanted `limits` and `options`, each of which
    changes some of the trace's own, and `policies`. How the device is used is not for the client to say.

    Raises InputError, naming the place, as for any trace; also for more than `most_requests` requests.
    """
    asked = _known(value, SUBMITTED, "the request")
    if "trace" not in asked:
        raise InputError("is missing; add the trace", field="trace")
    trace = parse_trace_value(asked["trace"])
    if len(trace.requests) > most_requests:
        raise InputError(
            f"has {len(trace.requests)} requests, and this server replays at most {most_requests}; use a shorter one",
            field="trace",
        )
    policies = asked.get("policies", list(POLICIES))
    if not isinstance(policies, list):
        raise InputError("must be a list of names; write [...]", field="policies")
    sha256 = trace_sha256(trace)
    limits = _changed(trace.limits, asked.get("limits", {}), "limits")
    options = _changed(trace.options, asked.get("options", {}), "options")
    return make_job(replace(trace, limits=limits, options=options), policies, settings, sha256)


Changed = TypeVar("Changed", Limits, Options)


def _changed(own: Changed, changes: object, place: str) -> Changed:
    known = _known(changes, tuple(entry.name for entry in fields(own)), place)
    try:
        return replace(own, **known)
    except InputError as error:
        raise error.at(place=place) from None


def parse_trace_value(value: object) -> Trace:
    """The trace that plain data describes, checked as a file is."""
    return parse_trace(json.dumps(value), source="trace")


def job_from_dict(value: Mapping[str, Any]) -> Job:
    """The job that `Job.to_dict` wrote."""
    return Job(
        parse_trace_value(value["trace"]), tuple(value["policies"]), Settings(**value["settings"]), value["sha256"]
    )


def _known(value: object, keys: Sequence[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("must be an object; write {...}", place=what)
    for key in value:
        if key not in keys:
            raise InputError(f"unknown key; known keys: {', '.join(keys)}", field=str(key)[:40], place=what)
    return value
