"""The figures that come with options, as blocks of the table, and the rules behind them."""

from __future__ import annotations

from typing import Any

from lab.aligned import aligned
from lab.errors import printable
from lab.options import Options
from lab.replay import Replay

# The keys of the metrics, and what to call the group.
GROUPS = {
    "time": "Time",
    "memory": "Memory",
    "sharing": "Sharing",
    "preemption": "Preemption",
    "cancellation": "Cancellation",
}
CLIENTS = "clients"
DISTRIBUTIONS = ("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms")
STATISTICS = ("count", "mean", "p50", "p95", "p99", "p999", "max")
MOST_CLIENTS_SHOWN = 20

RULES = {
    "time": (
        "Times are in ms: ttft = first token - arrival, itl = each gap between two tokens of a sequence, "
        "e2e = last token - arrival, tpot = (e2e - ttft) / (tokens - 1).",
        "p50, p95, p99 and p999 (99.9 %) = lower order statistic: sorted[floor(q * (n - 1))]. "
        "A bin has what is below its upper edge.",
    ),
    "memory": (
        "reserved: held, and filled later; internal: held, and never filled; external: free, but outside the longest "
        "run of free pages.",
        "used, reserved and internal shares are of all held slots, over busy iterations.",
        "fragmented_iterations: the head waits for pages although as many as it needs are free.",
    ),
    "sharing": ("prefill_tokens were computed; cached_tokens were found in shared pages instead.",),
    "preemption": ("lost_tokens: KV tokens that recompute threw away; recomputed: victims that lost theirs.",),
    "cancellation": (
        "left: clients that left; cancelled: requests that ended with it; wasted_tokens: emitted after that.",
    ),
    CLIENTS: ("A client's tokens are those emitted for it; refused are its requests over the limit.",),
}


def group_blocks(replay: Replay) -> list[list[str]]:
    """A block of lines a group of figures that the replay has; none without options."""
    metrics = {policy: outcome.metrics for policy, outcome in replay.policies.items()}
    blocks = []
    for key, title in GROUPS.items():
        groups = {policy: figures[key] for policy, figures in metrics.items() if key in figures}
        if groups:
            blocks.append(_figures(title, groups))
            if key == "time":
                blocks.append(_distributions(groups))
                if any(any(figures["histograms"].values()) for figures in groups.values()):
                    blocks.append(_histograms(groups))
    clients = {policy: figures[CLIENTS] for policy, figures in metrics.items() if CLIENTS in figures}
    if clients:
        blocks.append(_clients(clients))
    return blocks


def _figures(title: str, groups: dict[str, dict[str, Any]]) -> list[str]:
    """Policies as columns, figures as rows."""
    names = [name for name, value in next(iter(groups.values())).items() if type(value) in (int, float)]
    rows = [[title, *groups]]
    rows += [[name, *(cell(name, figures[name]) for figures in groups.values())] for name in names]
    return aligned(rows)


def _distributions(groups: dict[str, dict[str, Any]]) -> list[str]:
    """A row for each time measured and policy, statistics as columns."""
    rows = [["Time, in ms", "", *STATISTICS]]
    for name in DISTRIBUTIONS:
        for i, (policy, figures) in enumerate(groups.items()):
            values = (cell(f"{statistic}_ms", figures[name][statistic]) for statistic in STATISTICS[1:])
            rows.append(["" if i else name.removesuffix("_ms"), policy, str(figures[name]["count"]), *values])
    return aligned(rows, left=2)


def _histograms(groups: dict[str, dict[str, Any]]) -> list[str]:
    """How many values are in each bin, from its lower edge to below its upper one; empty bins are left out."""
    rows = [["Histogram, in ms", *groups]]
    for name in next(iter(groups.values()))["histograms"]:
        counts = {policy: {(a, b): n for a, b, n in figures["histograms"][name]} for policy, figures in groups.items()}
        for low, high in sorted({edges for bins in counts.values() for edges, n in bins.items() if n}):
            label = f"{name.removesuffix('_ms')} {low:g} to {high:g}"
            rows.append([label, *(str(bins.get((low, high), 0)) for bins in counts.values())])
    return aligned(rows)


def _clients(groups: dict[str, dict[str, dict[str, Any]]]) -> list[str]:
    """A row for each client and policy."""
    names = list(next(iter(groups.values())))
    if not names:
        return ["Clients: none"]
    columns = list(next(iter(groups.values()))[names[0]])
    rows = [["Clients", "", *columns]]
    for name in names[:MOST_CLIENTS_SHOWN]:
        for i, (policy, clients) in enumerate(groups.items()):
            shown = "" if i else printable(name) or "(no name)"
            rows.append([shown, policy, *(cell(column, clients[name][column]) for column in columns)])
    lines = aligned(rows, left=2)
    if len(names) > MOST_CLIENTS_SHOWN:
        lines.append(f"and {len(names) - MOST_CLIENTS_SHOWN} more; --json lists all")
    return lines


def cell(name: str, value: int | float) -> str:
    """A figure as the table shows it: shares in per cent, milliseconds and means with two decimals."""
    if name.endswith("_share"):
        return f"{value:.1%}"
    if name.endswith("_ms") or name.endswith("_mean"):
        return f"{value:.2f}"
    if name.endswith("_per_s"):
        return f"{value:.1f}"
    return str(value)


def group_rules(replay: Replay, options: Options) -> list[str]:
    """What the figures of the groups mean, a sentence each."""
    figures = next(iter(replay.policies.values())).metrics
    rules: list[str] = []
    for key in (*GROUPS, CLIENTS):
        if key in figures:
            rules += RULES[key]
            if key == "time":
                rules += _time_rules(options)
    return rules


def _time_rules(options: Options) -> list[str]:
    timing = options.timing
    if timing is None:
        return []
    read = "weights and KV read" if options.kv_read else "weights read"
    rules = [
        f"A step takes the GPU max({read} / {timing.memory_bandwidth} bytes a second, tokens * {timing.token_ns} ns); "
        f"the weights alone take {timing.floor_ns / 1e6:.2f} ms."
    ]
    if timing.source:
        rules.append(f"{options.step_time} is {timing.source}.")
    if options.scheduler_us:
        how = (
            "while the GPU works: a step lasts the longer of the two" if options.async_scheduling else "before the GPU"
        )
        rules.append(f"The scheduler takes {options.scheduler_us} microseconds a step, {how}.")
    rules.append(f"A stall is a gap longer than {options.stall_ms} ms.")
    return rules
