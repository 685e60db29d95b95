"""The state of one replay: who is resident, who waits, what the options need, and what an iteration counts."""

from __future__ import annotations

from collections.abc import Sequence

from lab.blocks import BlockManager
from lab.cancellation import Departures
from lab.clients import ClientLimit, FairQueue
from lab.clock import Clock, clock_for, moments_of
from lab.options import PLAIN, Options
from lab.policies import Continuous
from lab.prefixes import PrefixCache
from lab.progress import NO_SEAT, Progress
from lab.seats import Seats
from lab.slabs import SlabPool
from lab.swap import HostMemory
from lab.victims import VICTIMS
from lab.waiting import WaitingQueue, WaitingView
from lab.workload import Limits, Request


class State:
    """What the phases work on. `residents` are all who hold a seat, in admission order.

    What an option needs is in a module of its own, and is None here when the option is off.
    """

    def __init__(
        self,
        requests: Sequence[Request],
        limits: Limits,
        policy: Continuous,
        options: Options = PLAIN,
        time_unit: str = "iteration",
    ) -> None:
        self.limits = limits
        self.policy = policy
        self.options = options
        self.clock: Clock = clock_for(options, limits, time_unit)
        self.seats = Seats(limits.max_num_seqs)
        self.residents: list[Progress] = []
        moments = moments_of(requests, self.clock)
        order = sorted(range(len(requests)), key=moments.__getitem__)  # stable: ties stay in file order
        self.upcoming: list[Request] = [requests[i] for i in order]
        self.moments: list[int] = [moments[i] for i in order]  # when each arrives, in the unit of the clock
        self.next_arrival: int = 0  # index in `upcoming` of the first that has not arrived
        self.budget_left: int | None = None
        self.preempted: list[Progress] = []
        self.admitted: list[Progress] = []
        self.waiting: WaitingQueue[Progress] = WaitingQueue()
        self.waited: WaitingView = self.waiting.view()  # who waits after admission
        self._equip()

    def _equip(self) -> None:
        """What the options need, and what they do in one iteration."""
        options, limits = self.options, self.limits
        slabs = options.allocation == "slab"
        blocks = BlockManager(limits.num_pages, limits.page_size, reverse=options.prefix_caching)
        self.pool: BlockManager | SlabPool = SlabPool(limits.num_pages) if slabs else blocks
        self.prefixes = PrefixCache(blocks) if options.prefix_caching else None
        self.forks_into: BlockManager | None = blocks if options.fork_samples else None
        self.host = None
        if options.preemption == "swap":
            self.host = HostMemory(options.swap_pages, options.swap_pages_per_step)
        self.departures = None
        if options.cancellation != "off":
            self.departures = Departures(self.upcoming, self.clock)
        self.limit = None
        if options.admission == "limit":
            self.limit = ClientLimit(options.client_tokens_per_second or 0, self.clock.second)
        self.fair = None
        if options.admission == "vtc":
            clients = [request.client or "" for request in self.upcoming]
            self.waiting = self.fair = FairQueue(clients, options.input_weight, options.output_weight)
        self.sharing: bool = options.prefix_caching or options.fork_samples
        self._candidates = VICTIMS[options.victim]
        self._victims: list[Progress] = []  # who may be preempted in this iteration, the next one last
        self._hits: list[int] = []  # known pages that the head of `waiting` begins with
        self._head_needs: tuple[int, int] = (0, 0)  # tokens and pages, as last asked
        self._start_counting()

    def _start_counting(self) -> None:
        """An iteration starts: nothing has happened in it that options count."""
        self.fragmented: bool = False  # the head's pages are free, but not in a row
        self.lost_tokens: int = 0
        self.recomputed: int = 0
        self.copied_pages: int = 0
        self.cached: dict[str, int] = {}
        self.forked: dict[str, tuple[str, ...]] = {}
        self.refused: list[Progress] = []
        self.asked_next: str | None = None  # who is the head of `waiting` after admission
        self.left: list[int] = []  # ranks of requests whose client leaves
        self.wasted_tokens: int = 0
        self.wasted_kv: int = 0
        if self.host is not None:
            self.host.start()

    def _vacate(self, member: Progress) -> None:
        self.pool.release(member.table)
        member.table = ()
        self.seats.give_back(member.seat)
        member.seat = NO_SEAT
        for seat in member.kept_seats:
            self.seats.give_back(seat)
        member.kept_seats = ()

    def _give_up_waiting(self, member: Progress) -> None:
        """`member`, which waits, has ended."""
        self.waiting.remove(member)
        if member.host_pages and self.host is not None:
            self.host.drop(member.host_pages)
