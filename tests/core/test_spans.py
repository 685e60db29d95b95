"""Quiet spans in closed form come to what the same kernel comes to one iteration after the other, and the records.

Most tests vary one number over all values around a bound, so that a span ends at it, one before and one after.
"""

import random
from itertools import product

import pytest
from figure_ways import apart, by_loop, outcome
from strategies import case

SPANS = ("buckets", "heap")
LARGEST = 2**53 - 1


def long_case(seed):
    """A case whose spans are long: outputs of up to some thousand tokens, pages of 1 to 700 tokens."""
    pick = random.Random(seed).randint
    longest = (60, 300, 1500, 3000)[pick(0, 3)]
    size = (1, 2, 3, 16, pick(4, 40), pick(100, 700))[pick(0, 5)]
    arrival, rows = 0, []
    for _ in range(pick(1, 8)):
        arrival += (0, 0, 1, pick(0, 40), pick(0, longest), 2 * longest)[pick(0, 5)]
        prompt = pick(1, (5, 100, longest)[pick(0, 2)])
        rows.append((arrival, prompt, pick(1, longest) if pick(0, 4) else pick(1, 3)))
    needs = sorted(-(-(prompt + output) // size) for _, prompt, output in rows)
    pages = (needs[-1] + pick(0, 3), needs[-1] + needs[0], 2 * needs[-1], sum(needs), needs[-1] - 1)[pick(0, 4)]
    seats = pick(1, 6)
    budget = (None, None, seats, seats + pick(1, 20), seats + pick(20, 400))[pick(0, 4)]
    return case(rows, seqs=seats, pages=max(1, pages), size=size, budget=budget, chunked=pick(0, 3) > 0)


def test_long_spans_on_every_seed():
    preempted = turned = 0
    for seed in range(40):
        sample = long_case(seed)
        assert apart(sample, ways=SPANS, against=by_loop) == [], f"seed {seed}"
        metrics = outcome(sample, "continuous", "buckets")[0]
        preempted += metrics["preemptions"] > 0
        turned += metrics["busy_iterations"] > 4 * sample.limits.page_size
    assert preempted > 5 and turned > 15


@pytest.mark.parametrize("size", [1, 2, 5])
def test_an_arrival_anywhere_in_a_span(size):
    # Seats for both, or for one; pages for both, or for one.
    for arrival, seats, pages in product(range(24), (1, 2), (40, 22 // size + 1)):
        sample = case([(0, 1, 20), (arrival, 2, 3)], seqs=seats, pages=pages, size=size)
        assert apart(sample) == []


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_completion_anywhere_in_a_span(size):
    for output in range(1, 24):
        assert apart(case([(0, 1, 20), (0, 2, output), (0, 3, 2)], seqs=2, pages=60, size=size)) == []


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_pages_that_last_exactly_one_less_and_one_more(size):
    # Alone each fits; together they run out of pages in one iteration or another.
    for pages, prompt in product(range(24 // size + 1, 50 // size + 2), (1, 3)):
        assert apart(case([(0, 2, 20), (0, prompt, 21), (1, 1, 18)], seqs=3, pages=pages, size=size)) == []


def test_the_most_wasted_slots_are_inside_a_span():
    # Both need a page in the same iteration, the third of the span: 2 * 5 - 2 slots are wasted then, and never again.
    for first, second in product(range(1, 8), range(1, 8)):
        assert apart(case([(0, first, 40), (0, second, 40)], seqs=2, pages=40, size=5)) == []
    inside = case([(0, 2, 12), (0, 2, 12)], seqs=2, pages=40, size=5)
    assert outcome(inside, "continuous", "buckets")[0]["wasted_slots_peak"] == 8


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_spans_of_whole_turns_of_a_page_and_one_more_or_less(size):
    for turns, more in product(range(1, 5), (-1, 0, 1)):
        output = turns * size + more
        if output > 0:
            rows = [(0, 3, output), (0, 5, output + 2 * size), (2, 1, 3 * size + 1)]
            assert apart(case(rows, seqs=3, pages=9 * size + 40, size=size), ways=SPANS, against=by_loop) == []


@pytest.mark.parametrize("size", [1, 4, 300, 2**20, LARGEST])
def test_pages_of_any_size(size):
    rows = [(0, 3, 50), (0, 1, 400), (7, 299, 3), (600, 300, 300)]
    assert apart(case(rows, seqs=2, pages=2000, size=size), ways=SPANS, against=by_loop) == []


def test_held_members_of_a_static_batch():
    # b and c finish early and keep seats and pages, until a has finished or lost its own; d waits for the batch.
    for pages, late in product(range(9, 24), (0, 3, 9)):
        rows = [(0, 1, 30), (0, 3, 2), (0, 2, 5), (late, 1, 4)]
        assert apart(case(rows, seqs=3, pages=pages, size=4)) == []


@pytest.mark.parametrize("chunked", [False, True])
def test_the_budget_holds_the_head_back(chunked):
    # The head's prompt fits beside no, one or two decodes.
    for budget, prompt, arrival in product((3, 4, 9), range(1, 10), (0, 5)):
        rows = [(0, 2, 12), (0, 2, 9), (arrival, prompt, 3), (arrival, 1, 2)]
        assert apart(case(rows, seqs=3, pages=60, size=4, budget=budget, chunked=chunked)) == []


def test_the_budget_holds_the_head_back_where_pages_would_too():
    # `tokens` is asked before `pages`, through the whole span.
    for prompt, pages in product(range(6, 11), (4, 6, 7)):
        rows = [(0, 2, 9), (0, 2, 9), (1, prompt, 1)]
        sample = case(rows, seqs=3, pages=pages, size=4, budget=10)
        assert apart(sample) == []
        assert (outcome(sample, "continuous", "buckets")[2]["tokens"] > 3) == (prompt > 8)


def test_a_prefill_under_way_in_a_span():
    # The prompt takes many iterations of what the decodes leave; it completes with the last token of the budget or not.
    for budget, prompt in product((2, 3, 5), range(20, 30)):
        rows = [(0, 2, 25), (1, prompt, 3), (2, 1, 2), (30, 1, 1)]
        for seats, pages in ((2, 99), (3, 99), (2, 14), (3, 14)):
            if budget >= seats:
                assert apart(case(rows, seqs=seats, pages=pages, size=4, budget=budget, chunked=True)) == []


def test_a_long_prefill_that_starts_after_whole_turns_of_a_page():
    # Nothing had changed for long; the pages of the prompt and those taken by all at once are wasted together.
    for size, arrival in product((4, 5, 16), range(30, 36)):
        rows = [(0, 2, 90)] * 3 + [(arrival, 60, 3)]
        assert apart(case(rows, seqs=4, pages=99, size=size, budget=4, chunked=True)) == []


def test_a_prefill_under_way_alone_for_very_long():
    prompt = 2**40
    sample = case([(0, prompt, 1)], seqs=1, pages=2**37, size=16, budget=1, chunked=True)
    metrics = outcome(sample, "continuous", "buckets")[0]
    assert metrics["busy_iterations"] == prompt
    assert metrics["peak_pages"] == prompt // 16 + 1
    assert metrics["occupancy"] == metrics["peak_pages"] / 2**37
    assert metrics["wasted_slots_peak"] == prompt + 16 - 1
    assert outcome(sample, "continuous", "heap")[0] == metrics


@pytest.mark.parametrize("way", SPANS)
@pytest.mark.parametrize("policy", ["static", "continuous"])
@pytest.mark.parametrize("size", [1, 16, 2**20])
def test_one_request_of_2_to_the_40_tokens(size, policy, way):
    prompt, output = 37, 2**40
    pages = -(-(prompt + output) // size)
    sample = case([(5, prompt, output)], seqs=3, pages=pages, size=size)
    metrics, by_request, _ = outcome(sample, policy, way)
    assert by_request["a"]["finish"] == 5 + output

    def held_up_to(tokens):  # the sum of pages_for(k) for k from 1 to `tokens`
        whole, rest = divmod(tokens, size)
        return size * (whole * (whole + 1) // 2) + rest * (whole + 1)

    held = held_up_to(prompt + output) - held_up_to(prompt)
    assert held > 2**62 or size > 16
    assert metrics["occupancy"] == held / (pages * output)
    assert metrics["peak_pages"] == pages
    # The most is wasted by the first token on a page: the first of all, or the first on the next page.
    firsts = {prompt + 1, min(prompt + output, -(-prompt // size) * size + 1)}
    assert metrics["wasted_slots_peak"] == max(-kv % size for kv in firsts)


def test_a_crowd_that_is_preempted_together():
    # All need a page in the same iteration, and there are hardly any: dozens are preempted at once, over and over.
    for pages in (70, 71, 90, 100, 139):
        rows = [(n // 40, 3, 20 + n % 7) for n in range(70)]
        sample = case(rows, seqs=64, pages=pages, size=4)
        assert apart(sample) == []
    assert outcome(case(rows, seqs=64, pages=70, size=4), "continuous", "buckets")[0]["preemptions"] > 70


@pytest.mark.parametrize("way", ["loop", *SPANS])
@pytest.mark.parametrize("policy", ["static", "continuous"])
def test_sums_of_pages_beyond_64_bits(policy, way):
    # 2**52 pages are held while small requests come and go; the sum passes 2**61 several times.
    rows = [(0, 2**52, 3000)] + [(2 * n, 1, 2) for n in range(1400)]
    metrics = outcome(case(rows, seqs=2, pages=LARGEST, size=1), policy, way)[0]
    assert metrics["busy_iterations"] >= 3000
    if policy == "continuous":
        held = sum(2**52 + k for k in range(1, 3001)) + sum(2 + 3 for _ in range(1400))
        assert metrics["occupancy"] == held / (LARGEST * 3000)
    else:
        assert metrics == outcome(case(rows, seqs=2, pages=LARGEST, size=1), policy, "loop")[0]
