"""The metrics of lab/RULES.md from a plain replay, and how it differs from one in the project's form."""

import math
from itertools import pairwise

from plain_options import Engine
from plain_time import kv_bytes


def plain_replay(requests, limits, policy, options, unit="iteration"):
    """Replay ``requests`` (any order) under ``policy``: ``{"metrics", "requests", "rows"}`` as in the document."""
    engine = Engine(requests, limits, policy, options, unit)
    engine.replay()
    return {"metrics": metrics(engine), "requests": requests_of(engine), "rows": engine.rows}


def mean(values):
    return sum(values) / len(values) if values else 0


def percentile(values, thousandths):
    """The lower order statistic: ``sorted[floor(q (n - 1))]``, in whole numbers."""
    return sorted(values)[thousandths * (len(values) - 1) // 1000] if values else 0


def wait(visit):
    return visit.start - visit.joined


def latency(visit):
    return visit.finish - visit.joined + 1


def in_file_order(engine, fate):
    places = {request.id: n for n, request in enumerate(engine.servable)}
    return sorted((v for v in engine.visits if v.fate == fate), key=lambda v: places[v.request.id])


def gaps_of(visit):
    """Nanoseconds between one token of a sequence and its next, of all its sequences."""
    return [after - before for s in visit.sequences for before, after in pairwise(s.times)]


def ttft_of(visit):
    return min(s.times[0] for s in visit.sequences if s.times) - visit.arrived_ns


def e2e_of(visit):
    return max(s.times[-1] for s in visit.sequences) - visit.arrived_ns


def tpot_of(visit):
    tokens = visit.request.output_tokens
    return (e2e_of(visit) - ttft_of(visit)) / (tokens - 1) if tokens > 1 else None


def stalls_of(visit, options):
    return sum(1 for gap in gaps_of(visit) if gap > options.stall_ms * 1e6)


def requests_of(engine):
    """The figures of each completed request."""
    figures = {}
    for visit in in_file_order(engine, "completed"):
        figures[visit.request.id] = {
            "start": visit.start,
            "finish": visit.finish,
            "wait": wait(visit),
            "latency": latency(visit),
            "preemptions": visit.preemptions,
        }
        if engine.timed:
            tpot = tpot_of(visit)
            figures[visit.request.id] |= {
                "ttft_ms": ttft_of(visit) / 1e6,
                "tpot_ms": None if tpot is None else tpot / 1e6,
                "e2e_ms": e2e_of(visit) / 1e6,
                "itl_max_ms": max(gaps_of(visit), default=0) / 1e6,
                "stalls": stalls_of(visit, engine.options),
            }
    return figures


def metrics(engine):
    """The metrics of lab/RULES.md; every figure is 0 when nothing was servable."""
    limits, options = engine.limits, engine.options
    busy = [row for row in engine.rows if "idle" not in row]
    done = in_file_order(engine, "completed")
    waits, latencies = [wait(v) for v in done], [latency(v) for v in done]
    decoded = sum(len(row["emitted"]) for row in busy)
    figures = {
        "iterations": max([v.finish for v in done], default=0),
        "busy_iterations": len(busy),
        "decoded_tokens": decoded,
        "utilization": decoded / (limits.max_num_seqs * len(busy)) if busy else 0,
        "wait_mean": mean(waits),
        "wait_p95": percentile(waits, 950),
        "wait_max": max(waits, default=0),
        "latency_mean": mean(latencies),
        "latency_p95": percentile(latencies, 950),
        "peak_pages": max([row["pages_used"] for row in busy], default=0),
        "wasted_slots_peak": max([row["wasted_slots"] for row in busy], default=0),
        "occupancy": mean([row["pages_used"] / limits.num_pages for row in busy]),
        "preemptions": sum(len(row["preempted"]) for row in busy),
        "completed": len(done),
        "rejected": engine.rejected,
    }
    if engine.timed:
        figures["time"] = time_figures(engine, busy, done, decoded)
    if options != type(options)():
        figures["memory"] = memory_figures(engine, busy)
        figures["preemption"] = {
            "lost_tokens": sum(fact["lost_tokens"] for fact in engine.facts),
            "swapped_out_pages": sum(sum(row.get("swapped_out", {}).values()) for row in busy),
            "swapped_in_pages": sum(sum(row.get("swapped_in", {}).values()) for row in busy),
            "host_pages_peak": max([row.get("host_pages", 0) for row in busy], default=0),
            "recomputed": sum(fact["recomputed"] for fact in engine.facts),
        }
    if options.prefix_caching or options.fork_samples:
        figures["sharing"] = {
            "prefill_tokens": sum(fact["prefill_tokens"] for fact in engine.facts),
            "cached_tokens": sum(sum(row["cached"].values()) for row in busy),
            "copied_pages": sum(row["copied_pages"] for row in busy),
            "forks": sum(len(row["forked"]) for row in busy),
            "shared_pages_peak": max([row["shared_pages"] for row in busy], default=0),
        }
    if options.cancellation != "off":
        figures["cancellation"] = cancellation_figures(engine, busy)
    if options.admission != "fcfs" or (options != type(options)() and any(r.client for r in engine.requests)):
        figures["clients"] = client_figures(engine, busy)
    return figures


def time_figures(engine, busy, done, decoded):
    makespan = engine.clock
    gaps = [gap for v in done for gap in gaps_of(v)]
    ttfts = [ttft_of(v) for v in done]
    groups = {
        "ttft_ms": ttfts,
        "itl_ms": gaps,
        "tpot_ms": [tpot_of(v) for v in done if v.request.output_tokens > 1],
        "e2e_ms": [e2e_of(v) for v in done],
    }
    return {
        "makespan_ms": makespan / 1e6,
        "gpu_busy_ms": sum(row["gpu_ns"] for row in busy) / 1e6,
        "scheduler_ms": engine.options.scheduler_us * 1000 * len(busy) / 1e6,
        "idle_ms": engine.idle_ns / 1e6,
        "tokens_per_s": decoded / (makespan / 1e9) if makespan else 0,
        **{name: distribution(values) for name, values in groups.items()},
        "stalls": sum(stalls_of(v, engine.options) for v in done),
        "histograms": {"ttft_ms": histogram(ttfts), "itl_ms": histogram(gaps)},
    }


def distribution(values):
    """Figures in milliseconds of ``values`` in nanoseconds."""
    figures = {f"p{str(q).rstrip('0')}": percentile(values, q) / 1e6 for q in (500, 950, 990, 999)}
    figures["p50"] = figures.pop("p5")
    return {"count": len(values), "mean": mean(values) / 1e6, **figures, "max": max(values, default=0) / 1e6}


def histogram(values):
    """``[from, to, count]`` a bin, edges 1, 2, 5 a decade of milliseconds, from the first bin in use to the last."""
    if not values:
        return []
    edges = sorted(digit * 10**power for power in range(20) for digit in (1, 2, 5))
    bins = [[a, b, sum(1 for v in values if a <= v < b)] for a, b in pairwise(edges)]
    used = [n for n, (_, _, count) in enumerate(bins) if count]
    return [[a / 1e6, b / 1e6, count] for a, b, count in bins[used[0] : used[-1] + 1]]


def memory_figures(engine, busy):
    size, token = engine.limits.page_size, kv_bytes(engine.options)
    held = sum(row["pages_used"] for row in busy) * size
    reserved = sum(row["reserved_slots"] for row in busy)
    internal = sum(row["internal_slots"] for row in busy)
    stored = [row["pages_used"] * size - row["wasted_slots"] for row in busy]
    return {
        "kv_bytes_per_token": token,
        "pool_bytes": engine.limits.num_pages * size * token,
        "peak_kv_bytes": max(stored, default=0) * token,
        "peak_running": max([len(row["running"]) for row in busy], default=0),
        "reserved_slots_peak": max([row["reserved_slots"] for row in busy], default=0),
        "internal_slots_peak": max([row["internal_slots"] for row in busy], default=0),
        "external_slots_peak": max([row["external_slots"] for row in busy], default=0),
        "used_share": sum(stored) / held if held else 0,
        "reserved_share": reserved / held if held else 0,
        "internal_share": internal / held if held else 0,
        "fragmented_iterations": sum(1 for row in busy if row["fragmented"]),
    }


def cancellation_figures(engine, busy):
    peak = max([fact["kv_of_the_gone"] for fact in engine.facts], default=0)
    return {
        "cancelled": sum(len(row["cancelled"]) for row in busy),
        "left": sum(len(row["left"]) for row in busy),
        "wasted_tokens": sum(
            sum(1 for name in row["emitted"] if name in fact["gone"])
            for row, fact in zip(busy, engine.facts, strict=True)
        ),
        "wasted_kv_tokens_peak": peak,
        "wasted_kv_bytes_peak": peak * kv_bytes(engine.options),
    }


def client_figures(engine, busy):
    figures = {}
    for name in dict.fromkeys(request.client or "" for request in engine.requests):
        theirs = [v for v in engine.visits if v.client == name]
        done = [v for v in theirs if v.fate == "completed"]
        waits = [wait(v) for v in done]
        figures[name] = {
            "requests": sum(1 for request in engine.requests if (request.client or "") == name),
            "completed": len(done),
            "refused": sum(1 for v in theirs if v.fate == "limit"),
            "tokens": sum(len(s.times) for v in theirs for s in v.sequences),
            "wait_mean": mean(waits),
            "wait_p95": percentile(waits, 950),
            "wait_max": max(waits, default=0),
        }
        if engine.timed:
            ttfts = [ttft_of(v) for v in done]
            figures[name] |= {
                "ttft_mean_ms": mean(ttfts) / 1e6,
                "ttft_p99_ms": percentile(ttfts, 990) / 1e6,
                "ttft_max_ms": max(ttfts, default=0) / 1e6,
            }
    return figures


def differences(theirs, plain):
    """Where a replay in the project's form differs from the plain one: a list of lines, empty when equal.

    Rows and figures must be equal, and the block tables in the same order; a mean or a share may differ in
    its last bits, since nothing says in which order to add.
    """
    found = compare("metrics", theirs["metrics"], plain["metrics"])
    found += compare("requests", theirs["requests"], plain["requests"])
    for n, (ours, expected) in enumerate(zip(theirs["rows"], plain["rows"], strict=False)):
        found += compare(f"row {n}", ours, expected)
        if "pages" in expected and list(ours.get("pages", [])) != list(expected["pages"]):
            found.append(f"row {n}: pages in the order {list(ours['pages'])}, not {list(expected['pages'])}")
    if len(theirs["rows"]) != len(plain["rows"]):
        found.append(f"rows: {len(theirs['rows'])}, expected {len(plain['rows'])}")
    return found


def compare(place, ours, expected):
    """The lines for two values that should be the same."""
    if type(ours) is dict and type(expected) is dict:
        lines = []
        for key in sorted({*ours, *expected}):
            if key not in ours or key not in expected:
                lines.append(f"{place}: {key!r} is {'missing' if key in expected else 'unexpected'}")
            else:
                lines += compare(f"{place}.{key}", ours[key], expected[key])
        return lines
    numbers = all(type(value) in (int, float) for value in (ours, expected))
    if numbers and float in (type(ours), type(expected)):
        same = math.isclose(ours, expected, rel_tol=1e-12)
    else:
        same = ours == expected and type(ours) is type(expected)
    return [] if same else [f"{place} is {ours!r}, expected {expected!r}"]
