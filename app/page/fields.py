"""The limits that the page lets a learner change: one line each, in the order shown.

The names are those of `lab.workload.Limits`, of the command line's flags and of the link.
"""

from typing import NamedTuple


class Field(NamedTuple):
    name: str  # as in lab.workload.Limits
    label: str
    help: str  # one sentence
    most: int | None = None  # the page draws no more than this; the command line has no such bound
    optional: bool = False  # may be left empty: unlimited
    switch: bool = False  # yes or no


FIELDS = (
    Field("max_num_seqs", "Seats", "max_num_seqs: how many requests may run at once.", most=64),
    Field("num_pages", "Pages", "num_pages: how many KV pages the pool has.", most=4096),
    Field("page_size", "Tokens a page", "page_size: how many tokens one KV page holds.", most=65536),
    Field(
        "max_num_batched_tokens",
        "Token budget",
        "max_num_batched_tokens: tokens that one iteration may compute; empty means unlimited. "
        "Static batching ignores it.",
        optional=True,
    ),
    Field(
        "chunked_prefill",
        "Chunked prefill",
        "chunked_prefill: a long prompt is computed over several iterations, as far as the budget allows.",
        switch=True,
    ),
)
