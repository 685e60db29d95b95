"""What people read about each option: one table for the command line, the page and their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lab.costs import KV_DTYPES, MODELS, STEP_TIMES
from lab.options import ADMISSIONS, ALLOCATIONS, CANCELLATIONS, PREEMPTIONS, VICTIMS, Options

GROUPS = ("Time", "Order and budget", "Memory", "Sharing", "Preemption", "Cancellation", "Clients")


@dataclass(frozen=True, slots=True)
class OptionHelp:
    """One field of `lab.options.Options`, in words.

    name:    the field's
    group:   one of `GROUPS`
    label:   at most 20 characters, for a control
    help:    one sentence
    kind:    ``choice``, ``flag``, ``integer`` or ``number``
    words:   of a choice: each value and what to call it; the value None is "none"
    least:   of an integer: the smallest
    optional: whether None, written as nothing, is a value too
    needs:   the values that other options must have for this one to matter: all of these; (name, values), where
             True stands for any value that is not None or False
    limits:  fields of `lab.workload.Limits` that must be set for it to matter
    request: the field of a request that it uses, if any
    """

    name: str
    group: str
    label: str
    help: str
    kind: str
    words: tuple[tuple[str | None, str], ...] = ()
    least: int | None = None
    optional: bool = False
    needs: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    limits: tuple[str, ...] = ()
    request: str | None = None

    @property
    def flag(self) -> str:
        """As the command line spells it: ``--prefix-caching``."""
        return "--" + self.name.replace("_", "-")

    def matters(self, options: Options) -> bool:
        """Whether the other options are such that this one can change anything."""
        return self.unmet(options) is None

    def unmet(self, options: Options) -> tuple[str, tuple[Any, ...]] | None:
        """The first of `needs` that the other options do not meet, or None."""
        return next((need for need in self.needs if not _is_one_of(getattr(options, need[0]), need[1])), None)


def _is_one_of(value: Any, values: tuple[Any, ...]) -> bool:
    return any(value not in (None, False) if wanted is True else value == wanted for wanted in values)


_TIMED = (("step_time", (True,)),)
_ON_DEMAND = (("allocation", ("on-demand",)),)
_SWAP = (("preemption", ("swap",)), *_ON_DEMAND)


def _choices(values: Any, *words: str) -> tuple[tuple[str, str], ...]:
    return tuple(zip(values, words, strict=True))


OPTION_HELP: tuple[OptionHelp, ...] = (
    OptionHelp(
        "step_time",
        "Time",
        "Model of time",
        "How long a step takes: reading the weights or computing its tokens, whichever is longer.",
        "choice",
        words=((None, "none"), *_choices(STEP_TIMES, "Llama 3.1 8B, H100", "Llama 3.1 8B, A100")),
        optional=True,
    ),
    OptionHelp(
        "weight_bytes",
        "Time",
        "Weight bytes",
        "Bytes of weights that each step reads, instead of the model of time's own figure.",
        "integer",
        least=1,
        optional=True,
        needs=_TIMED,
    ),
    OptionHelp(
        "memory_bandwidth",
        "Time",
        "Bytes a second",
        "Bytes that the GPU's memory delivers a second, instead of the model of time's own figure.",
        "integer",
        least=1,
        optional=True,
        needs=_TIMED,
    ),
    OptionHelp(
        "token_ns",
        "Time",
        "ns a token",
        "Nanoseconds that computing one token takes, instead of the model of time's own figure.",
        "integer",
        least=1,
        optional=True,
        needs=_TIMED,
    ),
    OptionHelp(
        "kv_read",
        "Time",
        "Count KV reads",
        "A step's time also counts the KV cache that attention reads.",
        "flag",
        needs=_TIMED,
    ),
    OptionHelp(
        "scheduler_us",
        "Time",
        "Scheduler, µs",
        "Microseconds that the scheduler takes before each step.",
        "integer",
        least=0,
        needs=_TIMED,
    ),
    OptionHelp(
        "async_scheduling",
        "Time",
        "Scheduler overlaps",
        "The scheduler works while the GPU does, so a step lasts as long as the slower of the two.",
        "flag",
        needs=(*_TIMED, ("scheduler_us", (True,))),
    ),
    OptionHelp(
        "stall_ms",
        "Time",
        "Stall over, ms",
        "A gap between two tokens that is longer than so many milliseconds counts as a stall.",
        "number",
        needs=_TIMED,
    ),
    OptionHelp(
        "iteration_ms",
        "Time",
        "ms an iteration",
        "How many milliseconds an iteration is taken to be where the model of time does not say.",
        "number",
    ),
    OptionHelp(
        "prefill_first",
        "Order and budget",
        "Prompts first",
        "Prompts take from the token budget before running requests decode, so decodes may have to wait.",
        "flag",
        limits=("max_num_batched_tokens",),
    ),
    OptionHelp(
        "chunk_multiple",
        "Order and budget",
        "Chunk multiple",
        "A chunk that does not finish its prompt is rounded down to a multiple of so many tokens.",
        "integer",
        least=1,
        limits=("max_num_batched_tokens", "chunked_prefill"),
    ),
    OptionHelp(
        "allocation",
        "Memory",
        "Allocation",
        "How a request gets its memory: page by page as it grows, or all that it may need when it is admitted.",
        "choice",
        words=_choices(ALLOCATIONS, "pages on demand", "pages for the final length", "one contiguous slab"),
    ),
    OptionHelp(
        "slab_tokens",
        "Memory",
        "Slab tokens",
        "Tokens that every slab holds; left out, each request gets a slab of its own final length.",
        "integer",
        least=1,
        optional=True,
        needs=(("allocation", ("slab",)),),
    ),
    OptionHelp(
        "model",
        "Memory",
        "Model shape",
        "The model whose layers and heads say how many bytes of KV a token takes.",
        "choice",
        words=_choices(MODELS, "Llama 3.1 8B", "Llama 3.1 70B", "Mistral 7B", "OPT 13B"),
        needs=(("kv_bytes_per_token", (None,)),),
    ),
    OptionHelp(
        "kv_dtype",
        "Memory",
        "KV number type",
        "The type of the numbers in the KV cache: BF16 takes 2 bytes each, FP8 takes 1.",
        "choice",
        words=_choices(KV_DTYPES, "BF16", "FP8"),
        needs=(("kv_bytes_per_token", (None,)),),
    ),
    OptionHelp(
        "kv_bytes_per_token",
        "Memory",
        "KV bytes a token",
        "Bytes of KV a token, instead of what the model's shape and number type give.",
        "integer",
        least=1,
        optional=True,
    ),
    OptionHelp(
        "figures",
        "Memory",
        "Memory figures",
        "Shows the figures of memory, waste and lost work, also when no other option is on.",
        "flag",
    ),
    OptionHelp(
        "prefix_caching",
        "Sharing",
        "Prefix caching",
        "Prompts that begin alike share their full pages, which stay cached until they are needed for something else.",
        "flag",
    ),
    OptionHelp(
        "fork_samples",
        "Sharing",
        "Fork samples",
        "A request for several samples prefills its prompt once, and the samples share its pages.",
        "flag",
        request="samples",
    ),
    OptionHelp(
        "preemption",
        "Preemption",
        "A victim's KV",
        "What becomes of a victim's KV cache: thrown away and computed again, or copied to the host's memory and back.",
        "choice",
        words=_choices(PREEMPTIONS, "recompute", "swap to host"),
        needs=_ON_DEMAND,
    ),
    OptionHelp(
        "victim",
        "Preemption",
        "Victim",
        "Who is preempted when the pool runs dry: the last to be admitted, or the one with the most KV tokens.",
        "choice",
        words=_choices(VICTIMS, "newest", "largest"),
        needs=_ON_DEMAND,
    ),
    OptionHelp(
        "swap_pages",
        "Preemption",
        "Host pages",
        "Pages that the host's memory holds; a victim that does not fit is recomputed.",
        "integer",
        least=0,
        optional=True,
        needs=_SWAP,
    ),
    OptionHelp(
        "swap_pages_per_step",
        "Preemption",
        "Swap pages a step",
        "Pages that one iteration may copy each way.",
        "integer",
        least=1,
        optional=True,
        needs=_SWAP,
    ),
    OptionHelp(
        "swap_bandwidth",
        "Preemption",
        "Swap bytes a second",
        "Bytes a second between GPU and host; left out, copying takes no time.",
        "integer",
        least=1,
        optional=True,
        needs=(*_SWAP, *_TIMED),
    ),
    OptionHelp(
        "cancellation",
        "Cancellation",
        "When clients leave",
        "What happens when a client leaves: nothing is looked at, the request ends at once, or it runs on for nobody.",
        "choice",
        words=_choices(CANCELLATIONS, "not looked at", "end the request", "run on for nobody"),
        request="cancel_after_tokens",
    ),
    OptionHelp(
        "admission",
        "Clients",
        "Admission",
        "Who is served next: the first to come, the first within a limit a client, or the least served client.",
        "choice",
        words=_choices(ADMISSIONS, "first come", "limit a client", "virtual token counter"),
        request="client",
    ),
    OptionHelp(
        "client_tokens_per_second",
        "Clients",
        "Tokens a second",
        "Tokens a second that a client may ask for; a request over it is rejected.",
        "integer",
        least=1,
        optional=True,
        needs=(("admission", ("limit",)),),
    ),
    OptionHelp(
        "input_weight",
        "Clients",
        "Input weight",
        "What a token of a prompt adds to its client's counter.",
        "integer",
        least=1,
        needs=(("admission", ("vtc",)),),
    ),
    OptionHelp(
        "output_weight",
        "Clients",
        "Output weight",
        "What an emitted token adds to its client's counter.",
        "integer",
        least=1,
        needs=(("admission", ("vtc",)),),
    ),
)

HELP_OF = {entry.name: entry for entry in OPTION_HELP}
"""By the option's name."""
