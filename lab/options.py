"""What the engine can do beyond its plain rules: every option off by default, each documented in lab/RULES.md."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from lab.costs import KV_DTYPES, MODELS, STEP_TIMES, StepTime, kv_bytes_per_token
from lab.errors import InputError
from lab.values import check_choice, check_flag, check_integer, check_positive

if TYPE_CHECKING:  # a trace holds options, so the workload imports this module
    from lab.workload import Limits

ALLOCATIONS = ("on-demand", "final-length", "slab")
PREEMPTIONS = ("recompute", "swap")
VICTIMS = ("newest", "largest")
CANCELLATIONS = ("off", "honoured", "ignored")
ADMISSIONS = ("fcfs", "limit", "vtc")


@dataclass(frozen=True, slots=True)
class Options:
    """The engine's options. Raises InputError, naming the field, for a value that is not as said here.

    Time
    step_time:          a preset of `lab.costs.STEP_TIMES`, or None for no model of time
    weight_bytes, memory_bandwidth (bytes a second), token_ns: instead of the preset's, integers >= 1
    kv_read:            whether reading KV counts in a step's time
    scheduler_us:       microseconds that the scheduler takes a step, an integer >= 0
    async_scheduling:   whether it works while the GPU does
    stall_ms:           a longer gap between two tokens is a stall, a number above 0
    iteration_ms:       how long an iteration is taken to be without a model of time, a number above 0

    Order and budget
    prefill_first:      prompts take from the token budget before decodes do
    chunk_multiple:     chunks are rounded down to a multiple of this, an integer >= 1

    Memory
    allocation:         on-demand, final-length or slab
    slab_tokens:        tokens that a slab holds, an integer >= 1; None: each request's prompt + output
    model, kv_dtype:    which give the bytes of a KV token; see `lab.costs`
    kv_bytes_per_token: instead of that, an integer >= 1
    figures:            also the figures of memory, waste and lost work when no other option is on

    Sharing
    prefix_caching:     full pages are shared with, and kept for, prompts that begin alike
    fork_samples:       a request's `samples` share its prompt

    Preemption
    preemption:         recompute or swap
    victim:             newest or largest
    swap_pages:         pages that host memory holds, an integer >= 0; None: no bound
    swap_pages_per_step: pages that one iteration may move each way, an integer >= 1; None: no bound
    swap_bandwidth:     bytes a second between GPU and host, an integer >= 1; None: swapping takes no time

    Cancellation, and admission across clients
    cancellation:       off, honoured or ignored
    admission:          fcfs, limit or vtc
    client_tokens_per_second: the limit's, an integer >= 1
    input_weight, output_weight: of the virtual token counter, integers >= 1
    """

    step_time: str | None = None
    weight_bytes: int | None = None
    memory_bandwidth: int | None = None
    token_ns: int | None = None
    kv_read: bool = False
    scheduler_us: int = 0
    async_scheduling: bool = False
    stall_ms: int | float = 50
    iteration_ms: int | float = 20
    prefill_first: bool = False
    chunk_multiple: int = 1
    allocation: str = "on-demand"
    slab_tokens: int | None = None
    model: str = "llama-3.1-8b"
    kv_dtype: str = "bf16"
    kv_bytes_per_token: int | None = None
    figures: bool = False
    prefix_caching: bool = False
    fork_samples: bool = False
    preemption: str = "recompute"
    victim: str = "newest"
    swap_pages: int | None = None
    swap_pages_per_step: int | None = None
    swap_bandwidth: int | None = None
    cancellation: str = "off"
    admission: str = "fcfs"
    client_tokens_per_second: int | None = None
    input_weight: int = 1
    output_weight: int = 2

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if name != "step_time" or self.step_time is not None:
                check_choice(getattr(self, name), name, choices)
        for name in ("kv_read", "async_scheduling", "prefill_first", "figures", "prefix_caching", "fork_samples"):
            check_flag(getattr(self, name), name)
        for name in ("stall_ms", "iteration_ms"):
            check_positive(getattr(self, name), name)
        for name, least in _INTEGERS.items():
            value = getattr(self, name)
            if value is not None or name in _NEVER_NONE:
                check_integer(value, name, least)
        self._check_together()

    def _check_together(self) -> None:
        if self.allocation != "on-demand" and (self.prefix_caching or self.fork_samples):
            other = "prefix_caching" if self.prefix_caching else "fork_samples"
            raise InputError(
                f"must be on-demand together with {other}, not {self.allocation}: only pages taken one by one can be "
                f"shared; turn one of the two off",
                field="allocation",
            )
        if self.admission == "limit" and self.client_tokens_per_second is None:
            raise InputError(
                "is missing: admission by limit needs one; write tokens a second such as 1000",
                field="client_tokens_per_second",
            )

    def check_with(self, limits: Limits) -> None:
        """Raise InputError if these options cannot be used under `limits`."""
        budget = limits.max_num_batched_tokens
        if budget is not None and limits.chunked_prefill and budget < self.chunk_multiple:
            raise InputError(
                f"must be at most max_num_batched_tokens ({budget}), or no chunk would ever fit, not "
                f"{self.chunk_multiple}; write {budget} or less",
                field="chunk_multiple",
            )

    @property
    def kv_bytes(self) -> int:
        """Bytes of KV memory a token."""
        return self.kv_bytes_per_token or kv_bytes_per_token(MODELS[self.model], self.kv_dtype)

    @property
    def timing(self) -> StepTime | None:
        """The model of time that is asked for, or None. It has no `source` once a figure of the preset is replaced."""
        if self.step_time is None:
            return None
        own = {name: value for name in _OF_STEP_TIME if (value := getattr(self, name)) is not None}
        preset = STEP_TIMES[self.step_time]
        return replace(preset, **own, source="") if own else preset

    def changes(self) -> dict[str, Any]:
        """The options that differ from their defaults, in the order of the fields."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) != field.default}


_CHOICES = {
    "step_time": STEP_TIMES,
    "allocation": ALLOCATIONS,
    "model": MODELS,
    "kv_dtype": KV_DTYPES,
    "preemption": PREEMPTIONS,
    "victim": VICTIMS,
    "cancellation": CANCELLATIONS,
    "admission": ADMISSIONS,
}
_OF_STEP_TIME = ("weight_bytes", "memory_bandwidth", "token_ns")
_INTEGERS = {
    "weight_bytes": 1,
    "memory_bandwidth": 1,
    "token_ns": 1,
    "scheduler_us": 0,
    "chunk_multiple": 1,
    "slab_tokens": 1,
    "kv_bytes_per_token": 1,
    "swap_pages": 0,
    "swap_pages_per_step": 1,
    "swap_bandwidth": 1,
    "client_tokens_per_second": 1,
    "input_weight": 1,
    "output_weight": 1,
}
_NEVER_NONE = ("scheduler_us", "chunk_multiple", "input_weight", "output_weight")

PLAIN = Options()
"""No option at all: the engine of the lesson."""
