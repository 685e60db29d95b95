"""What one replay on a GPU is asked to do: plain data that goes to the child process as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from lab.cuda.shapes import DTYPE_BYTES, SHAPES, LayerShape
from lab.errors import InputError
from lab.formats.trace_json import in_iterations, parse_trace, trace_sha256, trace_to_dict
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
    """One replay: a trace, what it is replayed under, and how. `trace` has its arrivals in iterations.

    sha256: of the trace as it was written, in whatever time unit
    options: engine options that differ from their defaults, by name
    """

    trace: Trace
    limits: Limits
    policies: tuple[str, ...] = tuple(POLICIES)
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON data, for the child process."""
        return {
            "trace": trace_to_dict(self.trace),
            "limits": asdict(self.limits),
            "policies": list(self.policies),
            "options": dict(self.options),
            "settings": self.settings.to_dict(),
            "sha256": self.sha256,
        }


def make_job(
    trace: Trace,
    limits: Limits | None = None,
    policies: Sequence[str] = tuple(POLICIES),
    options: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    iteration_ms: int | float = 20,
    sha256: str | None = None,
) -> Job:
    """A job for `trace`, with everything checked that can be checked without a device.

    limits:       instead of the trace's own
    iteration_ms: for a trace in ms or s: how long an iteration is taken to be

    Raises InputError, naming the field.
    """
    if not policies:
        raise InputError("names no policy; name static, continuous or both", field="policies")
    for name in policies:
        policy_named(name)
    if len(set(policies)) != len(policies):
        raise InputError("names a policy twice; name each once", field="policies")
    checked = Options(**(options or {})).changes()
    return Job(
        in_iterations(trace, iteration_ms),
        trace.limits if limits is None else limits,
        tuple(policies),
        checked,
        settings or Settings(),
        sha256 or trace_sha256(trace),
    )


SUBMITTED = ("trace", "limits", "policies", "options", "iteration_ms")


def job_from_request(value: object, settings: Settings, most_requests: int) -> Job:
    """The job that a client asks for: a JSON object with `trace`, and if wanted `limits`, `policies`, `options` and
    `iteration_ms`. How the device is used is not for the client to say.

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
    limits = trace.limits
    if "limits" in asked:
        changes = _known(asked["limits"], tuple(f.name for f in fields(Limits)), "limits")
        try:
            limits = replace(limits, **changes)
        except InputError as error:
            raise error.at(place="limits") from None
    policies = asked.get("policies", list(POLICIES))
    if not isinstance(policies, list):
        raise InputError("must be a list of names; write [...]", field="policies")
    options = _known(asked.get("options", {}), tuple(f.name for f in fields(Options)), "options")
    try:
        return make_job(trace, limits, policies, options, settings, asked.get("iteration_ms", 20))
    except InputError as error:
        raise error.at(place="options" if error.field in options else None) from None


def parse_trace_value(value: object) -> Trace:
    """The trace that plain data describes, checked as a file is."""
    import json

    return parse_trace(json.dumps(value), source="trace")


def job_from_dict(value: Mapping[str, Any]) -> Job:
    """The job that `Job.to_dict` wrote."""
    return Job(
        parse_trace_value(value["trace"]),
        Limits(**value["limits"]),
        tuple(value["policies"]),
        dict(value["options"]),
        Settings(**value["settings"]),
        value["sha256"],
    )


def _known(value: object, keys: Sequence[str], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("must be an object; write {...}", place=what)
    for key in value:
        if key not in keys:
            raise InputError(f"unknown key; known keys: {', '.join(keys)}", field=str(key)[:40], place=what)
    return value
