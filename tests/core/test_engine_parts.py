"""Seats, victims, host memory, clients that leave, limits and counters: the engine's small parts, each by itself."""

import pickle

import pytest
from drive import requests_of

from lab.cancellation import Departures
from lab.clients import ClientLimit, FairQueue
from lab.clock import Clock
from lab.options import PLAIN
from lab.progress import Progress
from lab.seats import Seats
from lab.swap import HostMemory
from lab.victims import largest, newest
from lab.workload import Request


def member(name="a", rank=0, prompt=1, client=None, **state):
    """A sequence of a request of ten output tokens, in the given state."""
    made = Progress(Request(name, 0, prompt, 10, client=client), rank)
    for field, value in state.items():
        setattr(made, field, value)
    return made


def test_the_lowest_free_seat_is_taken():
    seats = Seats(4)
    assert [seats.take() for _ in range(3)] == [0, 1, 2]
    seats.give_back(2)
    seats.give_back(0)
    assert ([seats.take() for _ in range(3)], seats.free) == ([0, 2, 3], 0)
    with pytest.raises(ValueError, match="no seat is free"):
        seats.take()


def test_the_newest_victim_is_the_last_that_has_not_finished():
    residents = [member(), member(), member(finished=True)]
    assert newest(residents) == residents[:2]


def test_the_largest_victim_of_equals_is_the_newest_that_is_not_scheduled():
    residents = [
        member(prompt=9, prefilled=9, state="decode"),
        member(prompt=9, prefilled=9, finished=True),
        member(prompt=5, prefilled=5),
        member(prompt=8, prefilled=5),
        member(prompt=7, prefilled=3),
    ]
    assert [one.kv for one in largest(residents)] == [3, 5, 5]
    assert largest(residents)[-1] is residents[3]
    assert largest(residents[:3])[-1] is residents[2]


@pytest.mark.parametrize(
    ("capacity", "per_step", "fits"), [(5, None, True), (4, None, False), (None, 3, True), (9, 2, False)]
)
def test_host_memory_at_its_bounds(capacity, per_step, fits):
    host = HostMemory(capacity, per_step)
    host.start()
    host.move_out("a", 2)
    host.start()
    assert host.takes(3) is fits
    assert host.gives(3) is (per_step is None or per_step >= 3)


def test_what_one_iteration_moves_adds_up_and_each_way_has_its_own_bound():
    host = HostMemory(None, 3)
    host.start()
    host.move_out("a", 2)
    assert (host.takes(1), host.takes(2), host.gives(3), host.moved) == (True, False, True, 2)
    host.move_in("a", 2)
    assert (host.gives(1), host.gives(2), host.moved, host.used) == (True, False, 4, 0)
    moved = host.moved_in
    host.start()
    assert (moved, host.moved, host.gives(3)) == ({"a": 2}, 0, True)
    host.move_out("b", 3)
    host.drop(3)
    assert host.used == 0


def departures(*rows):
    """Of requests (id, cancel_after_tokens, cancel_at), all of which have joined; with their sequences."""
    requests = [Request(name, 0, 1, 10, cancel_after_tokens=tokens, cancel_at=at) for name, tokens, at in rows]
    made = Departures(requests, Clock(PLAIN))
    members = [Progress(request, rank) for rank, request in enumerate(requests)]
    for one in members:
        made.join(one)
    return made, members


def test_who_leaves_at_a_start_is_told_once_and_in_order_of_arrival():
    leaving, _ = departures(("a", None, 7), ("b", None, 5), ("c", None, 8))
    assert (leaving.at_start(4), leaving.at_start(7), leaving.at_start(7)) == ([], [0, 1], [])
    assert leaving.left == {0, 1}
    assert leaving.at_start(2**60) == [2]


@pytest.mark.parametrize(("generated", "leaves"), [(2, []), (3, [0]), (4, [])])
def test_who_leaves_after_so_many_tokens(generated, leaves):
    leaving, (a,) = departures(("a", 3, None))
    a.generated = generated
    assert leaving.at_end([a]) == leaves


def test_only_the_first_reason_to_leave_counts():
    leaving, (a,) = departures(("a", 3, 5))
    assert leaving.at_start(5) == [0]
    a.generated = 3
    assert leaving.at_end([a]) == []
    assert leaving.end(0) == [a]


def test_a_request_leaves_no_more_after_its_end_which_is_that_of_its_last_sequence():
    leaving, (a,) = departures(("a", 3, 5))
    twin = member("a#2", generated=3)
    leaving.join(twin)
    leaving.finish(a)
    assert leaving.at_end([twin]) == [0]
    other, (b,) = departures(("b", None, 5))
    other.finish(b)
    assert (other.at_start(9), other.left) == ([], set())


def test_a_limit_counts_prompts_and_tokens_of_the_last_second_only():
    limit = ClientLimit(10, second=4)
    assert limit.accepts(member(prompt=6, client="u"), 0)
    assert not limit.accepts(member(prompt=5, client="u"), 0)
    assert limit.accepts(member(prompt=5, client="v"), 0)
    assert limit.accepts(member(prompt=4, client="u"), 3)
    limit.emitted([member(client="u")] * 2, 4)
    assert not limit.accepts(member(prompt=5, client="u"), 4)  # 4 + 2 since moment 1
    assert limit.accepts(member(prompt=4, client="u"), 4)
    assert limit.accepts(member(prompt=4, client="u"), 7)  # 2 + 4 of moment 4; the 4 of moment 3 are out


def test_a_limit_remembers_no_more_of_a_client_that_never_comes_back_than_a_second():
    limit = ClientLimit(10, second=4)
    sizes = []
    for moment in range(1000):
        limit.emitted([member(client="u")], moment)
        sizes.append(len(pickle.dumps(limit)))
    assert max(sizes) < 2 * sizes[10]
    assert [limit.accepts(member(prompt=prompt, client="u"), 1000) for prompt in (8, 7)] == [False, True]


def fair(*clients, **weights):
    return FairQueue(clients, weights.get("input_weight", 1), weights.get("output_weight", 2))


def test_the_least_counter_is_asked_first_and_of_equals_who_arrived_first():
    queue = fair("u", "v")
    for rank, (name, client) in enumerate([("a", "u"), ("b", "u"), ("c", "v"), ("d", "v")]):
        queue.arrive(member(name, rank, prompt=3, client=client))
    order = []
    while queue:
        taken = queue.take()
        queue.admitted(taken)
        order.append((taken.id, dict(queue.counters)))
    assert order == [
        ("a", {"u": 3, "v": 0}),
        ("c", {"u": 3, "v": 3}),
        ("b", {"u": 6, "v": 3}),
        ("d", {"u": 6, "v": 6}),
    ]


def test_who_was_idle_is_lifted_to_the_least_of_those_that_wait():
    queue = fair("u", "v", "w")
    queue.emitted([member(client="u")] * 4 + [member(client="v")] * 3)
    queue.arrive(member("a", 0, client="u"))
    queue.arrive(member("b", 1, client="v"))
    queue.arrive(member("c", 2, client="w"))
    assert queue.counters == {"u": 8, "v": 8, "w": 8}  # u waits first, v is lifted to it


def test_who_was_idle_is_lifted_to_the_last_to_leave_and_never_let_down():
    queue = fair("u", "v", "w")
    queue.arrive(member("a", 0, client="u"))
    queue.arrive(member("b", 1, client="v"))
    queue.emitted([member(client="u")] * 5 + [member(client="v")])
    assert [queue.take().id, queue.take().id] == ["b", "a"]
    queue.arrive(member("c", 2, client="w"))
    queue.arrive(member("d", 3, client="u"))
    assert queue.counters == {"u": 10, "v": 2, "w": 10}


def test_a_preempted_sequence_counts_as_waiting_and_comes_first():
    queue = fair("u", "v")
    a, b = member("a", 0, client="u"), member("b", 1, client="u")
    queue.arrive(a)
    queue.arrive(b)
    assert queue.take() is a
    queue.emitted([a] * 3)
    assert queue.take() is b
    queue.put_back(b)
    queue.put_back(a)
    queue.arrive(member("c", 2, client="v"))
    assert (queue.counters, queue.view()) == ({"u": 6, "v": 6}, ("a", "b", "c"))
    assert [queue.take().id for _ in range(3)] == ["a", "b", "c"]


def test_a_waiting_request_that_is_cancelled_is_asked_no_more():
    queue = fair("u", "v")
    members = [member(name, rank, client=client) for rank, (name, client) in enumerate(["au", "bu", "cv"])]
    for one in members:
        queue.arrive(one)
    queue.remove(members[0])
    queue.emitted([members[2]])
    assert (queue.head.id, len(queue), queue.view()) == ("b", 2, ("b", "c"))
    queue.remove(members[1])
    assert (queue.take().id, bool(queue)) == ("c", False)


def test_clients_without_a_name_are_one():
    assert {Progress(request).client for request in requests_of(("a", 0, 1, 1), ("b", 0, 1, 1))} == {""}


class Reads(dict):
    """Counters that count how often they are read."""

    count = 0

    def __getitem__(self, client):
        self.count += 1
        return super().__getitem__(client)


def test_many_that_arrive_beside_many_that_were_preempted_look_at_these_once():
    clients = [f"u{i}" for i in range(100)]
    queue = fair(*clients, *(f"new{i}" for i in range(100)))
    queue.counters = Reads(queue.counters)
    for rank, client in enumerate(clients):
        queue.emitted([member(client=client)] * (5 + rank))
        queue.put_back(member(f"p{rank}", rank, client=client))
    queue.counters.count = 0
    for i in range(100):
        queue.arrive(member(f"n{i}", 100 + i, client=f"new{i}"))
    assert queue.counters.count < 1000
    assert {queue.counters[f"new{i}"] for i in range(100)} == {10}


@pytest.mark.parametrize(
    ("change", "least"),
    [
        (lambda queue: queue.emitted([member(client="u")]), 8),
        (lambda queue: queue.admitted(member(client="u", prompt=2)), 8),
        (lambda queue: queue.put_back(member("b", 1, client="v")), 4),
        (lambda queue: queue.take(), 9),
    ],
)
def test_the_next_to_arrive_sees_what_has_changed_the_least_of_the_preempted(change, least):
    queue = fair("u", "v", "w", "x", "y")
    queue.counters |= {"u": 6, "v": 4, "w": 9}
    queue.put_back(member("a", 0, client="u"))
    queue.put_back(member("c", 2, client="w"))
    queue.arrive(member("d", 3, client="x"))
    assert queue.counters["x"] == 6
    queue.counters["x"] = 100  # so that it is not the least itself
    change(queue)
    queue.arrive(member("e", 4, client="y"))
    assert queue.counters["y"] == least
