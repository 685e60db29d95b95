"""The tables of a measurement, made from the records of its visits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from lab.aligned import aligned

Records = Sequence[Mapping[str, Any]]

OURS, PLAIN = "site", "plain"


@dataclass(frozen=True, slots=True)
class Measure:
    """One row: the key of a record, its words, what it is divided by, and how many decimals are shown."""

    key: str
    words: str
    unit: float = 1.0
    digits: int = 2


MEASURES = (
    Measure("content", "first content, s"),
    Measure("scrubbable", "replay scrubbable, s"),
    Measure("interactive", "Python interactive, s"),
    Measure("learner", "learner worker ready, s"),
    Measure("learner_alone", "  from when it is asked for, s"),
    Measure("bytes_until", "sent until interactive, MB", 1e6),
    Measure("requests_until", "requests until then", digits=0),
    Measure("bytes", "sent in all, MB", 1e6),
    Measure("requests", "requests in all", digits=0),
    Measure("cpu_until", "processor until interactive, s"),
    Measure("blocked", "page blocked until then, s"),
)


@dataclass(frozen=True, slots=True)
class Aim:
    """`most`: of our `key`, or of its ratio to plain's `over` where that is named."""

    visit: str
    key: str
    most: float
    words: str
    over: str = ""
    unit: float = 1.0


AIMS = (
    Aim("cold", "content", 0.15, "first content ÷ plain's interactive, cold", "interactive"),
    Aim("cold", "scrubbable", 0.15, "replay scrubbable ÷ plain's interactive, cold", "interactive"),
    Aim("cold", "interactive", 0.40, "Python interactive ÷ plain's, cold", "interactive"),
    Aim("warm", "interactive", 0.33, "Python interactive ÷ plain's, warm", "interactive"),
    Aim("cold", "bytes_until", 10.0, "MB sent until Python is interactive, cold", unit=1e6),
)
"""Of issue 6, at full speed."""


def values(records: Records, network: str, visit: str, side: str, key: str) -> list[float]:
    """What the visits measured that came to it, in the order of the runs. Plain is scrubbed by Python alone."""
    if key == "scrubbable" and side.startswith(PLAIN):
        key = "interactive"
    chosen = [r for r in records if (r["network"], r["visit"], r["side"]) == (network, visit, side)]
    return [r[key] for r in chosen if r.get(key) is not None]


def tables(records: Records, names: Mapping[str, str]) -> str:
    """A table for each network and kind of visit. `names`: side → heading, in the order of the columns."""
    parts = []
    for network, visit in dict.fromkeys((r["network"], r["visit"]) for r in records):
        rows = [[f"{network}, {visit}", *names.values(), *(["site ÷ plain"] if PLAIN in names else [])]]
        for measure in MEASURES:
            found = {side: values(records, network, visit, side, measure.key) for side in names}
            if not any(found.values()):
                continue
            cells = [_cell(found[side], measure) for side in names]
            if PLAIN in names:
                cells.append(_ratio(found.get(OURS, []), found[PLAIN], measure))
            rows.append([measure.words, *cells])
        parts.append(_aligned(rows))
    return "\n\n".join(parts)


def aims(records: Records, network: str) -> list[str]:
    """A line for each aim that can be judged: the figure, its range over the runs, what it should be, met or not."""
    lines = []
    for aim in AIMS:
        ours = values(records, network, aim.visit, OURS, aim.key)
        plain = values(records, network, aim.visit, PLAIN, aim.over) if aim.over else [aim.unit] * len(ours)
        if not ours or not plain:
            continue
        got = median(ours) / median(plain)
        # A run's visits lie close together, so what slowed the machine down slowed both.
        runs = sorted(mine / theirs for mine, theirs in zip(ours, plain, strict=False))
        verdict = "met" if got <= aim.most else "NOT MET"
        lines.append(f"{aim.words}: {got:.2f} ({runs[0]:.2f}–{runs[-1]:.2f}), aim ≤ {aim.most:g}: {verdict}")
    return lines


def troubles(records: Records) -> list[str]:
    """What went wrong: visits that failed, and files that were not there."""

    def place(r: Mapping[str, Any]) -> str:
        return f"{r['side']}, {r['network']}, {r['visit']}, run {r['run']}"

    failed = [f"failed: {place(r)}: {r['failed']}" for r in records if "failed" in r]
    missing = sorted({(r["side"], path) for r in records for path in r.get("missing", ())})
    return failed + [f"not found: {side} asked for {path}" for side, path in missing]


def _cell(found: list[float], measure: Measure) -> str:
    if not found:
        return "–"
    low, middle, high = (f"{x / measure.unit:.{measure.digits}f}" for x in (min(found), median(found), max(found)))
    return middle if low == high else f"{middle} ({low}–{high})"


def _ratio(ours: list[float], plain: list[float], measure: Measure) -> str:
    """A dash also where plain's figure is shown as nought."""
    if not ours or not plain or round(median(plain) / measure.unit, measure.digits) == 0:
        return "–"
    return f"{median(ours) / median(plain):.2f}"


def _aligned(rows: list[list[str]]) -> str:
    heading, *lines = aligned(rows)
    return "\n".join([heading, "-" * len(heading), *lines])
