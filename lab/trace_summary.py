"""What a trace is like, as plain text for people to read."""

from __future__ import annotations

from typing import Any

from lab.errors import printable
from lab.trace_stats import PERCENTILE_RULE, PERCENTILES

UNITS = {"iteration": "iterations", "ms": "ms", "s": "s"}

COLUMNS = ("min", *(f"p{q}" for q in PERCENTILES), "max", "mean")


def rows(stats: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(label with its unit, distribution) of each line of the table of `lab.trace_stats.trace_stats`."""
    return [
        (f"gap between arrivals ({stats['time_unit']})", stats["arrivals"]["gaps"]),
        ("prompt_tokens", stats["prompt_tokens"]),
        ("output_tokens", stats["output_tokens"]),
        ("prompt + output tokens", stats["total_tokens"]),
        (f"pages of {stats['limits']['page_size']} tokens", stats["pages"]),
    ]


def cells(distribution: dict[str, Any]) -> list[str]:
    """The numbers of one line, in the order of COLUMNS; dashes when there is nothing to say."""
    if not distribution["n"]:
        return ["-"] * len(COLUMNS)
    return [short(distribution[column]) for column in COLUMNS]


def short(number: int | float) -> str:
    """A count as it is, anything else with two decimals (or three significant ones, if it is small)."""
    if type(number) is int:
        return str(number)
    return f"{number:.2f}" if abs(number) >= 0.1 or not number else f"{number:.3g}"


def sentences(stats: dict[str, Any]) -> list[str]:
    """What stands around the table: requests and arrivals, totals, what cannot be served, optional fields."""
    arrivals, unit, limits = stats["arrivals"], stats["time_unit"], stats["limits"]
    if not stats["requests"]:
        return ["There are no requests."]
    said = [
        f"{_counted(stats['requests'], 'request')}, arriving from {short(arrivals['first'])} to "
        f"{short(arrivals['last'])} in {UNITS[unit]}, at most {arrivals['most_at_once']} at the same time.",
        f"{stats['prompt_tokens']['sum']} prompt tokens and {stats['output_tokens']['sum']} output tokens in all.",
    ]
    pool = f"by the trace's own limits ({limits['num_pages']} pages of {limits['page_size']} tokens)"
    turned_away = stats["rejected"]
    if len(set(turned_away.values())) == 1:
        turned_away = {"either policy": next(iter(turned_away.values()))}
    for policy, count in turned_away.items():
        if count:
            said.append(f"{_counted(count, 'request')} can never be served under {policy} {pool}.")
    if stats["fields"]:
        fields = ", ".join(f"{name} ({count})" for name, count in stats["fields"].items())
        said.append(f"Optional fields, and how many requests have them: {fields}.")
    return said


def rules(stats: dict[str, Any]) -> str:
    """How the percentiles were taken, with the place of the last one as an example."""
    n = stats["requests"]
    place = f"; of {n} lengths p95 is number {95 * (n - 1) // 100 + 1} in order" if n else ""
    return f"Percentiles: {PERCENTILE_RULE}{place}."


def render_stats(stats: dict[str, Any]) -> str:
    """The whole summary, with a line break at the end."""
    table = [("", *COLUMNS), *((label, *cells(values)) for label, values in rows(stats))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in table
    ]
    blocks = [printable(stats["name"]), *sentences(stats), "", *(line.rstrip() for line in lines), "", rules(stats)]
    return "\n".join(blocks) + "\n"


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
