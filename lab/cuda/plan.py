"""What the GPU is to do, from the engine's iteration log: slots, block tables and lengths, step by step.

Nothing is scheduled here: row i of a measurement is row i of the simulation. Idle iterations are left out.

The engine counts a token as stored in the iteration that emits it. On a GPU its K and V exist only once it is fed to
the model, in the next step. So a decode that takes a request from `kv` to `kv + 1` tokens feeds the token emitted
before, writes it at position kv - 1, and attends to kv tokens; a prefill of n tokens writes positions 0 ... n - 1. The
last token of a request is never fed. Pages are the engine's own, so every request holds what it needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lab.errors import InputError
from lab.paging import pages_for
from lab.records import Idle, Iteration
from lab.replay import run
from lab.workload import Limits, Trace

MOST_STEPS = 5000
MOST_TOKENS = 2**24
MOST_TABLE_CELLS = 2**26
"""Slots and block tables of all steps, padded to the longest, lie on the device before the first step."""


@dataclass(frozen=True, slots=True)
class Work:
    """What one request computes in one step.

    position: of the first token that it computes, from 0
    tokens:   how many
    table:    its block table
    """

    id: str
    position: int
    tokens: int
    table: tuple[int, ...]

    @property
    def length(self) -> int:
        """KV tokens that are stored once this ran, and that its last token attends to."""
        return self.position + self.tokens

    def slots(self, page_size: int) -> list[int]:
        """Where each token's K and V go: page x page_size + place in the page."""
        return [self.table[at // page_size] * page_size + at % page_size for at in range(self.position, self.length)]


@dataclass(frozen=True, slots=True)
class Step:
    """One busy iteration. `stale`: pages that changed hands or were given back since the step before."""

    iteration: int
    decodes: tuple[Work, ...]
    prefills: tuple[Work, ...]
    stale: tuple[int, ...]

    @property
    def tokens(self) -> int:
        """Tokens computed."""
        return len(self.decodes) + sum(work.tokens for work in self.prefills)


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps of one policy's replay, in order."""

    policy: str
    num_pages: int
    page_size: int
    steps: tuple[Step, ...]

    @property
    def widest_batch(self) -> int:
        """The most requests that decode in one step."""
        return max((len(step.decodes) for step in self.steps), default=0)

    @property
    def most_tokens(self) -> int:
        """The most tokens that one step computes."""
        return max((step.tokens for step in self.steps), default=0)

    @property
    def longest_decode(self) -> int:
        """The most KV tokens that a decode reads."""
        return max((work.length for step in self.steps for work in step.decodes), default=0)

    @property
    def longest_chunk(self) -> int:
        """The most KV tokens that a prefill chunk attends to."""
        return max((work.length for step in self.steps for work in step.prefills), default=0)


def make_plan(policy: str, records: Iterable[Iteration | Idle], limits: Limits) -> Plan:
    """The plan of `records`, the log of one policy's replay under `limits`.

    Raises InputError, naming the iteration, for a log that a GPU cannot repeat: pages that two requests share, or
    tokens that appear without having been computed (as with a prefix cache, or after swapping); and for one that is
    too large. That used and free pages are exactly the pool is looked at in each iteration.
    """
    planner = Planner(policy, limits)
    for record in records:
        planner.add(record)
    return planner.plan()


class Planner:
    """Makes a plan from one record after another, so that a log that is too large is never kept."""

    def __init__(self, policy: str, limits: Limits) -> None:
        self.policy, self.limits = policy, limits
        self._books = _Books(limits)
        self._steps: list[Step] = []
        self._stale: set[int] = set()
        self._cells = 0
        self._tokens = 0

    def add(self, record: Iteration | Idle) -> None:
        """The next record. Raises InputError as `make_plan` says."""
        if isinstance(record, Idle):
            return
        try:
            step = self._books.enter(record)
        except InputError as error:
            raise error.at(place=f"{self.policy}, iteration {record.iteration}") from None
        self._stale.update(step.stale)
        if not step.tokens:  # the last iteration of a static batch may run nothing
            return
        self._steps.append(replace(step, stale=tuple(sorted(self._stale))))
        self._stale.clear()
        self._tokens += step.tokens
        self._cells += len(step.decodes) * max((len(work.table) for work in step.decodes), default=0)
        if len(self._steps) > MOST_STEPS or self._tokens > MOST_TOKENS or self._cells > MOST_TABLE_CELLS:
            raise InputError(
                f"is too large to be replayed on a GPU (at most {MOST_STEPS} busy iterations, {MOST_TOKENS} tokens and "
                f"{MOST_TABLE_CELLS} entries of block tables in all); use a shorter trace",
                place=self.policy,
            )

    def plan(self) -> Plan:
        """The plan of all records so far."""
        return Plan(self.policy, self.limits.num_pages, self.limits.page_size, tuple(self._steps))


class _Books:
    """Who holds which page and how many tokens are stored, kept from the log alone."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.residency: dict[str, int] = {}  # how often each request was admitted
        self.stored: dict[str, int] = {}
        self.tables: dict[str, tuple[int, ...]] = {}
        self.holders: dict[int, tuple[str, int]] = {}  # page -> (request, residency)

    def enter(self, record: Iteration) -> Step:
        for name in (*record.preempted, *(name for name in self.stored if name not in record.pages)):
            self.stored.pop(name, None)
            self.tables.pop(name, None)
        for name in record.admitted:
            self.residency[name] = self.residency.get(name, 0) + 1
            self.stored[name] = 0
            self.tables[name] = ()
        stale = self._pages(record)
        decodes, prefills = self._work(record)
        return Step(record.iteration, tuple(decodes), tuple(prefills), stale)

    def _pages(self, record: Iteration) -> tuple[int, ...]:
        """Check the block tables of `record`; returns the pages whose holder is no longer the one before."""
        now: dict[int, tuple[str, int]] = {}
        for name, table in record.pages.items():
            for page in table:
                if not 0 <= page < self.limits.num_pages:
                    raise InputError(f"{name} holds page {page}, which the pool of {self.limits.num_pages} has not")
                if page in now:
                    raise InputError(
                        f"page {page} is held twice, by {now[page][0]} and {name}; a GPU replay shares no pages, "
                        "so turn prefix caching and forked samples off"
                    )
                now[page] = (name, self.residency.get(name, 0))
            before = self.tables.get(name, ())
            if table[: len(before)] != before:
                raise InputError(f"{name} lost pages without being preempted; its KV would be gone")
            self.tables[name] = table
        # With no page held twice and none from outside the pool, this makes used + free the whole pool.
        if record.pages_used != len(now):
            raise InputError(f"{record.pages_used} pages are said to be used, and {len(now)} are in block tables")
        stale = tuple(sorted(page for page, holder in self.holders.items() if now.get(page) != holder))
        self.holders = now
        return stale

    def _work(self, record: Iteration) -> tuple[list[Work], list[Work]]:
        states = {seat[0]: seat[1] for seat in record.seats if seat is not None}
        decodes: list[Work] = []
        prefills: list[Work] = []
        for name, tokens in record.tokens.items():
            work = Work(name, self.stored.get(name, 0), tokens, record.pages[name])
            if pages_for(work.length, self.limits.page_size) > len(work.table):
                raise InputError(f"{name} stores {work.length} tokens, and holds only {len(work.table)} pages")
            self.stored[name] = work.length
            (decodes if states.get(name) == "decode" else prefills).append(work)
        emitted = set(record.emitted)
        for name, kv in record.kv.items():
            stored = self.stored.get(name, 0)
            # A request that emitted is one ahead: its newest token is not stored yet.
            fits = stored == kv - (name in emitted) if name in record.tokens else stored in (kv, kv - 1)
            if not fits:
                raise InputError(
                    f"{name} has {kv} KV tokens of which {stored} were computed; a GPU replay computes every token, "
                    "so turn prefix caching, forked samples and swapping off"
                )
        return decodes, prefills


def plans_of(trace: Trace, policies: Sequence[str]) -> dict[str, Plan]:
    """The plan of each of `policies` for `trace`, under its own limits and options.

    Raises InputError as `lab.replay.run` and `make_plan` do.
    """
    planners = {name: Planner(name, trace.limits) for name in policies}
    run(trace, policies=policies, keep_records=False, watch=lambda policy, record: planners[policy].add(record))
    return {name: planner.plan() for name, planner in planners.items()}


def kv_lengths(step: Step) -> tuple[list[int], list[int]]:
    """KV tokens that a step reads: by each decode, and by each prefill chunk from earlier chunks."""
    return [work.length for work in step.decodes], [work.position for work in step.prefills]


def batch_sizes(plans: Sequence[Plan]) -> list[int]:
    """The sizes to which pure decode steps are padded, for CUDA graphs: exact to 8, then multiples of 8."""
    return sorted({padded(len(step.decodes)) for plan in plans for step in plan.steps if not step.prefills})


def padded(requests: int) -> int:
    """The size of the CUDA graph that takes `requests` decodes."""
    return requests if requests <= 8 else -(-requests // 8) * 8
