"""How far one sequence has got in the engine. Without forks a request is one sequence."""

from __future__ import annotations

from lab.workload import Request

NO_SEAT = -1


class Progress:
    """One sequence in the engine. `state` and `tokens` are about the present iteration only.

    rank:       its request's place in the order of (arrival, position in the file)
    sample:     its place among its request's sequences, from 0
    samples:    how many sequences it will be when its prompt is prefilled; 1 when it has forked, or never will
    client:     who sent its request
    generated:  tokens emitted so far; preemption keeps them
    to_prefill: tokens that this residency has to prefill (prompt, and what was generated before it)
    prefilled:  tokens of these done, or found in the cache
    table:      the sequence's page ids, in order; an immutable tuple, so that records can share it
    seat:       its seat, NO_SEAT when it has none
    kept_seats: seats kept for the sequences that it will be
    state:      "prefill", "decode", "stalled" (resident, computes nothing now) or
                "held" (finished, keeps its seat)
    tokens:     tokens that it computes in this iteration
    ran:        whether it was ever admitted
    place:      where it waits; the queue's own note
    keys:       keys of the leading pages that its trace names; see `lab.prefixes`
    keyed:      leading pages of its table that have been given their keys, or had them
    host_pages: pages that it has in host memory, 0 unless it is swapped out
    """

    __slots__ = (
        "client",
        "finished",
        "generated",
        "host_pages",
        "id",
        "kept_seats",
        "keyed",
        "keys",
        "output_tokens",
        "place",
        "prefilled",
        "prompt_tokens",
        "ran",
        "rank",
        "sample",
        "samples",
        "seat",
        "state",
        "table",
        "to_prefill",
        "tokens",
    )

    def __init__(self, request: Request, rank: int = 0) -> None:
        self.id: str = request.id
        self.rank: int = rank
        self.sample: int = 0
        self.samples: int = 1
        self.client: str = request.client or ""
        self.prompt_tokens: int = request.prompt_tokens
        self.output_tokens: int = request.output_tokens
        self.generated: int = 0
        self.to_prefill: int = request.prompt_tokens
        self.prefilled: int = 0
        self.table: tuple[int, ...] = ()
        self.seat: int = NO_SEAT
        self.kept_seats: tuple[int, ...] = ()
        self.state: str = "stalled"
        self.tokens: int = 0
        self.finished: bool = False
        self.ran: bool = False
        self.place: int = 0
        self.keys: tuple[int, ...] = ()
        self.keyed: int = 0
        self.host_pages: int = 0

    @property
    def kv(self) -> int:
        """KV tokens stored: all of prompt + generated, or what of a prefill under way is done."""
        if self.prefilled < self.to_prefill:
            return self.prefilled
        return self.prompt_tokens + self.generated
