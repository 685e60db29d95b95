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
