"""Keys of full pages."""

from lab.blocks import BlockManager
from lab.prefixes import PrefixCache
from lab.progress import Progress
from lab.workload import Request


def sequence(cache, name, rank, prompt, prefix=None, sample=0):
    request = Request(name, 0, prompt, 20, prefix=prefix)
    made = Progress(request, rank)
    made.keys = cache.keys_of(request)
    made.sample = sample
    return made


def test_a_name_beyond_the_full_pages_of_the_prompt_is_ignored():
    cache = PrefixCache(BlockManager(9, 4))
    names = ("x", 1, "y")
    assert [len(cache.keys_of(Request("a", 0, prompt, 1, prefix=names))) for prompt in (3, 4, 7, 8, 99)] == [
        0,
        1,
        1,
        2,
        3,
    ]


def test_a_key_is_the_chain_from_the_front_and_a_number_is_not_its_text():
    cache = PrefixCache(BlockManager(9, 4))
    chains = [("x", "y"), ("x", "y"), ("y", "y"), ("x", "z"), (1, "y"), ("1", "y")]
    keys = [cache.keys_of(Request("a", 0, 8, 1, prefix=chain)) for chain in chains]
    assert keys[0] == keys[1]
    assert keys[3][0] == keys[0][0]
    assert len({key[1] for key in keys}) == 5


def test_what_the_trace_does_not_name_is_the_requests_in_the_prompt_and_the_sequences_beyond():
    cache = PrefixCache(BlockManager(9, 4))
    a, twin, other = (
        sequence(cache, name, rank, 9, ("x",), sample)
        for name, rank, sample in [("a", 0, 0), ("a#2", 0, 1), ("b", 1, 0)]
    )
    assert [cache.key(a, i) == cache.key(twin, i) for i in range(4)] == [True, True, False, False]
    assert [cache.key(a, i) == cache.key(other, i) for i in range(4)] == [True, False, False, False]


def test_hits_end_at_the_first_page_that_is_not_known():
    pool = BlockManager(9, 4)
    cache = PrefixCache(pool)
    a = sequence(cache, "a", 0, 13, ("x", "y", "z"))
    a.table = tuple(pool.allocate(4))
    a.prefilled = 12
    cache.publish(a)
    assert (a.keyed, cache.hits(a), cache.free_among([0, 1, 2])) == (3, [0, 1, 2], 0)
    assert cache.hits(sequence(cache, "b", 1, 12, ("x", "y", "w"))) == [0, 1]
    assert cache.hits(sequence(cache, "b", 1, 7, ("x", "y", "z"))) == [0]
    assert cache.hits(sequence(cache, "b", 1, 12, ("y", "x"))) == []
    pool.release(a.table)
    pool.allocate(6)  # five that were never used, and page 0
    assert cache.hits(a) == []


def test_the_same_sequence_asked_again_is_told_what_is_known_by_then(monkeypatch):
    pool = BlockManager(4, 4)
    cache = PrefixCache(pool)
    a, b = sequence(cache, "a", 0, 8, ("x", "y")), sequence(cache, "b", 1, 9, ("x", "y"))
    a.table = tuple(pool.allocate(2))
    assert cache.hits(b) == []
    a.prefilled = 4
    cache.publish(a)
    assert cache.hits(b) == [0]
    a.prefilled = 8
    cache.publish(a)
    assert cache.hits(b) == [0, 1]
    b.generated = 3  # a page of its own that nobody has filled yet
    assert cache.hits(b) == [0, 1]
    asked = []
    find = pool.find
    monkeypatch.setattr(BlockManager, "find", lambda self, key: asked.append(key) or find(key))
    assert (cache.hits(b), asked) == ([0, 1], [])  # nothing has changed, so no page is looked up again
    pool.release(a.table)
    pool.allocate(3)  # two that were never used, and page 0
    assert cache.hits(b) == [] and len(asked) == 1


def test_a_sequence_that_has_grown_is_looked_up_anew():
    pool = BlockManager(4, 4)
    cache = PrefixCache(pool)
    a = sequence(cache, "a", 0, 4, ("x",))
    a.table = tuple(pool.allocate(2))
    a.prefilled, a.generated = 4, 4
    cache.publish(a)
    a.generated = 0
    assert cache.hits(a) == [0]
    a.generated = 4
    assert cache.hits(a) == [0, 1]
