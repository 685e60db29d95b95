"""The waiting queue and its views."""

import pytest
from drive import requests_of

from lab.progress import Progress
from lab.waiting import WaitingQueue


@pytest.fixture
def members():
    return {r.id: Progress(r) for r in requests_of(*((name, 0, 1, 1) for name in "abcd"))}


def test_first_come_first_served_and_put_back_at_the_head(members):
    queue = WaitingQueue()
    for name in "abcd":
        queue.arrive(members[name])
    taken = [queue.take(), queue.take()]
    assert [member.id for member in taken] == ["a", "b"]
    queue.put_back(members["b"])
    queue.put_back(members["a"])
    assert queue.view() == ("a", "b", "c", "d")
    assert queue.head is members["a"]
    assert len(queue) == 4
    queue.take()
    assert queue.view() == ("b", "c", "d")
    queue.take()
    queue.take()
    assert queue.view() == ("d",)


def test_a_view_keeps_what_it_saw(members):
    queue = WaitingQueue()
    queue.arrive(members["a"])
    queue.arrive(members["b"])
    before = queue.view()
    queue.take()
    queue.arrive(members["c"])
    after = queue.view()
    queue.put_back(members["a"])
    assert list(before) == ["a", "b"]
    assert list(after) == ["b", "c"]
    assert list(queue.view()) == ["a", "b", "c"]


def test_a_view_is_a_sequence_of_ids(members):
    queue = WaitingQueue()
    for name in "abc":
        queue.arrive(members[name])
    view = queue.view()
    assert (len(view), view[0], view[-1], view[1:]) == (3, "a", "c", ("b", "c"))
    assert "b" in view
    assert view == ["a", "b", "c"]
    assert view != ("a", "c", "b")
    assert view != ("a", "b")
    assert view != "abc"
    assert hash(view) == hash(("a", "b", "c"))
    assert repr(view) == "('a', 'b', 'c')"
    with pytest.raises(IndexError):
        view[3]


def test_an_empty_queue(members):
    queue = WaitingQueue()
    assert not queue
    assert queue.view() == ()
    with pytest.raises(IndexError):
        queue.take()
    with pytest.raises(IndexError):
        _ = queue.head


def ranked(*names):
    """Sequences whose place in the order of arrival is that in the alphabet."""
    return [Progress(request, ord(request.id) - ord("a")) for request in requests_of(*((n, 0, 1, 1) for n in names))]


def test_who_was_preempted_comes_back_in_order_of_arrival_and_sample():
    queue = WaitingQueue()
    a, b, c, d = ranked("a", "b", "c", "d")
    twin = Progress(requests_of(("b", 0, 1, 1))[0], 1)
    twin.id, twin.sample = "b#2", 1
    queue.arrive(d)
    for one in (b, c, a, twin):
        queue.put_back(one)
    assert queue.view() == ("a", "b", "b#2", "c", "d")
    queue.remove(twin)
    assert [queue.take().id for _ in range(4)] == ["a", "b", "c", "d"]


def test_leaving_from_the_front_the_middle_and_the_end():
    queue = WaitingQueue()
    members = ranked(*"abcdef")
    for one in members:
        queue.arrive(one)
    views = [queue.view()]
    for i in (2, 0, 5, 1):
        queue.remove(members[i])
        views.append(queue.view())
    assert [list(view) for view in views] == [list("abcdef"), list("abdef"), list("bdef"), list("bde"), list("de")]
    assert [len(view) for view in views] == [6, 5, 4, 3, 2]
    assert (queue.head.id, len(queue)) == ("d", 2)
    queue.arrive(members[2])
    assert (queue.view(), list(views[1])) == (("d", "e", "c"), list("abdef"))
    assert [queue.take().id for _ in range(3)] == ["d", "e", "c"]
    assert not queue


def test_after_all_have_left_the_queue_is_empty():
    queue = WaitingQueue()
    members = ranked(*"abc")
    for one in members:
        queue.arrive(one)
    for i in (1, 2, 0):
        queue.remove(members[i])
    assert (len(queue), queue.view()) == (0, ())
    with pytest.raises(IndexError):
        _ = queue.head
