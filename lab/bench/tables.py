"""The tables of a benchmark, from its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from lab.aligned import aligned
from lab.bench.aims import Aim, growths, quickest, unevenness
from lab.bench.plan import (
    COMPILED,
    CONVERSATION,
    CORNERS,
    FIGURES,
    PLAIN,
    PLAIN_WORKLOADS,
    POLICIES,
    PURE,
    SIZES,
    SMALL,
    TOKENS,
    WORKERS,
)
from lab.bench.results import Measured, Results

WAYS = {
    "loop": "loop",
    "spans": "closed form",
    "records": "record loop (replay + Tally)",
    "plain": "plain implementation (tests)",
}
NOTHING = "–"


def render(results: Results, aims: Sequence[Aim], machine: Mapping[str, str]) -> str:
    """All tables, those with nothing in them left out."""
    blocks = [_machine(machine)]
    blocks += [table for make in (tokens, small, plain, conversation, sizes, corners) if (table := make(results))]
    blocks += [_checks(results), _aims(aims)]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def digits(value: float) -> str:
    """`value` to three digits, as people write it: 0.0123, 1.23, 12.3, 123, 12,345."""
    if value == 0:
        return "0"
    for decimals, least in ((0, 100), (1, 10), (2, 1), (3, 0.1), (4, 0.01)):
        if abs(value) >= least:
            return f"{value:,.{decimals}f}"
    return f"{value:.2g}"


def spread(one: Measured, what: str, scale: float = 1) -> str:
    """Median (least–most) of `one`; see `Measured.a`."""
    middle, least, most = (digits(value * scale) for value in one.a(what))
    return middle if least == most else f"{middle} ({least}–{most})"


def _machine(machine: Mapping[str, str]) -> list[str]:
    return aligned([[name, value] for name, value in machine.items()], left=2)


def _ways(
    results: Results, section: str, columns: Sequence[tuple[str, str]], cell: Callable[[Measured], str], whats: str
) -> list[str]:
    """A row for each worker and way, a column for each (workload, policy), and how often faster than the pure loop."""
    rows = [["", *(whats.format(workload, policy) for workload, policy in columns), *["× pure loop"] * len(columns)]]
    for worker in WORKERS:
        for way in WAYS:
            found = [next(results.of(section, w, None, p, way, worker), None) for w, p in columns]
            if any(found):
                first = [next(results.of(section, w, None, p, "loop", PURE), None) for w, p in columns]
                rows.append(
                    [
                        f"{worker}, {WAYS[way]}",
                        *(cell(one) if one else NOTHING for one in found),
                        *(_faster(base, one) for base, one in zip(first, found, strict=True)),
                    ]
                )
    return aligned(rows) if len(rows) > 1 else []


def _faster(base: Measured | None, one: Measured | None) -> str:
    """How many times faster `one` is than `base`."""
    return digits(base.a("run")[0] / one.a("run")[0]) if base and one else NOTHING


def tokens(results: Results) -> list[str]:
    """Nanoseconds a simulated token."""
    columns = [("roomy", "continuous"), ("starved", "continuous")]
    lines = _ways(results, TOKENS, columns, lambda one: spread(one, "token"), "{}")
    return _titled(
        "ns a simulated token: median (range)",
        lines,
        *(_workload(one) for one in _firsts(results.of(TOKENS))),
    )


def _workload(one: Measured) -> str:
    return f"{one.workload}: {one.requests:,} requests, {one.tokens:,} tokens, {one.preemptions:,} preemptions"


def _firsts(measured: Iterable[Measured]) -> list[Measured]:
    return list({one.workload: one for one in measured}.values())


def small(results: Results) -> list[str]:
    """Microseconds of one call on a trace as small as the course's."""
    rows = [[one.worker, spread(one, "run", 1e6)] for one in results.of(SMALL)]
    return _titled("µs a call on nine requests, closed form: median (range)", aligned(rows) if rows else [])


def plain(results: Results) -> list[str]:
    """Against the plain implementation of the tests."""
    columns = [(workload, "continuous") for workload in PLAIN_WORKLOADS]
    rows = [["", *(f"{w}, ns a token" for w, _ in columns), *(f"{w}, × plain" for w, _ in columns)]]
    for way, worker in (
        ("plain", PURE),
        ("records", PURE),
        *((way, worker) for worker in (PURE, COMPILED) for way in FIGURES),
    ):
        found = [next(results.of(PLAIN, w, None, p, way, worker), None) for w, p in columns]
        base = [next(results.of(PLAIN, w, None, p, "plain", PURE), None) for w, p in columns]
        if any(found):
            rows.append(
                [
                    f"{worker}, {WAYS[way]}",
                    *(spread(one, "token") if one else NOTHING for one in found),
                    *(_faster(first, one) for first, one in zip(base, found, strict=True)),
                ]
            )
    notes = [_workload(one) for one in _firsts(results.of(PLAIN))]
    return _titled(
        "Against the plain implementation of the tests",
        aligned(rows) if len(rows) > 1 else [],
        *notes,
    )


def conversation(results: Results) -> list[str]:
    """Seconds that the conversation workload takes."""
    columns = [("conversation", policy) for policy in POLICIES]
    notes = [
        f"{one.requests:,} requests, {one.tokens:,} output tokens; metrics only"
        "; 256 seats, 40,000 pages of 16, one iteration 20 ms"
        for one in _firsts(results.of(CONVERSATION))
    ]
    cold = [
        f"{one.worker} {one.first_s:.2f}"
        for one in results.of(CONVERSATION, policy="continuous", way="spans")
        if one.first_s is not None
    ]
    notes += [f"first run of an interpreter, not counted (continuous, closed form): {', '.join(cold)}"] if cold else []
    return _titled(
        "Conversation workload, seconds: median (range)",
        _ways(results, CONVERSATION, columns, lambda one: spread(one, "run"), "{1}"),
        *notes,
    )


def sizes(results: Results) -> list[str]:
    """From a thousand to a million requests."""
    rows = [["", "requests", "seconds", "µs a request", "peak MB", "and each request's figures"]]
    lines = []
    for series, _ in growths(results, SIZES):
        for one in series:
            memory = [digits(max(values)) if values else NOTHING for values in (one.peak_mb, one.peak_all_mb)]
            rows.append(
                [f"{one.worker}, {one.policy}", f"{one.n:,}", spread(one, "run"), spread(one, "request"), *memory]
            )
        where = f"{series[0].worker}, {series[0].policy}"
        lines.append(f"{where}: the longest time a request is {unevenness(series):.2f} × the shortest")
    return _titled(
        "From a thousand to a million requests, closed form, a process each: median (range)",
        aligned(rows) if lines else [],
        *lines,
    )


def corners(results: Results) -> list[str]:
    """Microseconds a request at n, 4 n and 16 n."""
    rows: list[list[str]] = []
    for series, growth in growths(results, CORNERS):
        if not rows:
            rows.append(["µs a request at n =", *(f"{one.n:,}" for one in series), "most × least n", "preemptions"])
        rows.append(
            [
                f"{series[0].workload}, {series[0].policy}, {series[0].worker}, {WAYS[series[0].way]}",
                *(digits(quickest(one)) for one in series),
                f"{growth:.2f}",
                f"{series[-1].preemptions:,}",
            ]
        )
    return _titled("Corners, the quickest rounds", aligned(rows) if rows else [])


def _titled(title: str, lines: Sequence[str], *notes: str) -> list[str]:
    return [title, *lines, *notes] if lines else []


def _checks(results: Results) -> list[str]:
    runs = sum(len(one.seconds) for one in results.measured)
    differences = results.differences()
    said = [
        f"{runs:,} runs of {results.replays()} replays: the figures of each are the same in all of its runs.",
        f"Among these are runs of {results.replays('records')} replays with a record of every iteration, "
        f"and of {results.replays('plain')} by the plain implementation of the tests.",
    ]
    return ["Checked", *(differences or said), *results.problems]


def _aims(aims: Sequence[Aim]) -> list[str]:
    told = {True: "met", False: "NOT MET", None: "not measured"}
    rows = [
        [
            told[aim.met],
            aim.text,
            NOTHING if aim.value is None else f"{digits(aim.value)}{aim.unit}",
            f"({aim.where})" if aim.where else "",
        ]
        for aim in aims
    ]
    return ["Aims (the worst: times by medians, ratios by the quickest rounds)", *aligned(rows, left=4)]
