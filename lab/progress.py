"""How far one request has got in the engine."""

from __future__ import annotations

from lab.workload import Request

NO_SEAT = -1


class Progress:
    """One request in the engine. `state` and `tokens` are about the present iteration only.

    generated:  tokens emitted so far; preemption keeps them
    to_prefill: tokens that this residency has to prefill (prompt, and what was generated before it)
    prefilled:  tokens of these done
    table:      the request's page ids, in order; an immutable tuple, so that records can share it
    seat:       its seat, NO_SEAT when it has none
    state:      "prefill", "decode", "stalled" (resident, computes nothing now) or
                "held" (finished, keeps its seat)
    tokens:     tokens that it computes in this iteration
    """

    __slots__ = (
        "finished",
        "generated",
        "id",
        "output_tokens",
        "prefilled",
        "prompt_tokens",
        "seat",
        "state",
        "table",
        "to_prefill",
        "tokens",
    )

    def __init__(self, request: Request) -> None:
        self.id: str = request.id
        self.prompt_tokens: int = request.prompt_tokens
        self.output_tokens: int = request.output_tokens
        self.generated: int = 0
        self.to_prefill: int = request.prompt_tokens
        self.prefilled: int = 0
        self.table: tuple[int, ...] = ()
        self.seat: int = NO_SEAT
        self.state: str = "stalled"
        self.tokens: int = 0
        self.finished: bool = False

    @property
    def kv(self) -> int:
        """KV tokens stored: all of prompt + generated, or what of a prefill under way is done."""
        if self.prefilled < self.to_prefill:
            return self.prefilled
        return self.prompt_tokens + self.generated
