"""The rules of lab/RULES.md once more, as plainly as they can be written.

This module shares nothing with ``lab``: it exists to be compared with it. It is slow on purpose: lists
everywhere, and whatever can be worked out again is worked out again. Requests and limits are any objects with
the attributes ``id, arrival, prompt_tokens, output_tokens`` and ``max_num_seqs, num_pages, page_size,
max_num_batched_tokens, chunked_prefill``.

Where lab/RULES.md leaves a choice, the choice made here is marked OPEN.
"""

import math


def pages_for(tokens, page_size):
    """Pages that hold ``tokens`` tokens: the smallest whole number that is enough."""
    pages = 0
    while pages * page_size < tokens:
        pages += 1
    return pages


def plain_screen(requests, limits, policy):
    """Split ``requests`` into those that run and ``{"id", "reason"}`` for those that never could.

    OPEN: a request that fails both tests is rejected for ``pages``, which lab/RULES.md names first; rejected
    requests are listed in the order of the file.
    """
    servable, rejected = [], []
    for request in requests:
        whole = request.prompt_tokens + request.output_tokens
        budget = limits.max_num_batched_tokens
        if pages_for(whole, limits.page_size) > limits.num_pages:
            rejected.append({"id": request.id, "reason": "pages"})
        elif policy == "continuous" and budget is not None and not limits.chunked_prefill and whole - 1 > budget:
            rejected.append({"id": request.id, "reason": "tokens"})
        else:
            servable.append(request)
    return servable, rejected


class Job:
    """What is known of one servable request while the replay goes on."""

    def __init__(self, request):
        self.request = request
        self.id = request.id
        self.generated = 0
        self.table = []  # page ids, in the order of the tokens that they hold
        self.seat = None
        self.to_prefill = 0  # what the latest admission has to prefill: prompt + generated at that time
        self.prefilled = 0
        self.start = None
        self.finish = None
        self.preemptions = 0

    def finished(self):
        return self.generated == self.request.output_tokens

    def prefilling(self):
        return self.prefilled < self.to_prefill

    def kv(self):
        if self.prefilling():
            return self.prefilled
        return self.request.prompt_tokens + self.generated


def plain_replay(requests, limits, policy):
    """Replay ``requests`` (any order, any lengths) under ``policy``, ``"static"`` or ``"continuous"``.

    Returns ``{"metrics": {...}, "requests": {id: {...}}, "rows": [...]}``, where a row is a busy iteration or
    ``{"idle": [first, last]}``.
    """
    assert policy in ("static", "continuous")
    servable, rejected = plain_screen(requests, limits, policy)
    jobs = [Job(request) for request in servable]
    # sorted() is stable, so equal arrivals stay in the order of the file.
    coming = sorted(jobs, key=lambda job: job.request.arrival)
    waiting = []
    residents = []  # in admission order; under static also the finished members that keep their seat
    free = list(range(limits.num_pages))
    rows = []
    t = 0
    while coming or waiting or residents:
        t += 1
        if not waiting and not residents and coming[0].request.arrival > t - 1:
            rows.append({"idle": [t, coming[0].request.arrival]})
            t = coming[0].request.arrival + 1
        rows.append(one_iteration(t, coming, waiting, residents, free, limits, policy))
        assert t < 100_000, "the replay does not end"
    return {
        "metrics": metrics(jobs, rejected, rows, limits),
        "requests": {job.id: figures(job) for job in jobs},
        "rows": rows,
    }


def one_iteration(t, coming, waiting, residents, free, limits, policy):
    """Carry out iteration ``t`` on the five lists, in place, and return its row."""
    tokens = {}  # id -> tokens computed for it in this iteration
    states = {job.id: "held" if job.finished() else "stalled" for job in residents}

    def budget_left():
        if policy == "static" or limits.max_num_batched_tokens is None:
            return float("inf")
        return limits.max_num_batched_tokens - sum(tokens.values())

    # 1. Arrive.
    arrived = []
    while coming and coming[0].request.arrival <= t - 1:
        arrived.append(coming.pop(0))
    waiting.extend(arrived)

    # 2. Decode.
    preempted = []
    decoding = [job for job in residents if not job.finished() and not job.prefilling()]
    for job in decoding:
        if job in preempted:
            continue
        wanted = pages_for(job.kv() + 1, limits.page_size) - len(job.table)
        while wanted > len(free) and job not in preempted:
            victim = [other for other in residents if not other.finished()][-1]
            assert victim.id not in tokens
            residents.remove(victim)
            free.extend(victim.table)
            victim.table = []
            victim.seat = None
            victim.to_prefill = victim.prefilled = 0
            victim.preemptions += 1
            waiting.insert(0, victim)
            preempted.append(victim)
        if job not in preempted:
            for _ in range(wanted):
                job.table.append(free.pop(0))
            tokens[job.id] = 1
            states[job.id] = "decode"

    # 3. Continue prefills under way.
    def prefill(job):
        chunk = min(job.to_prefill - job.prefilled, budget_left())
        if chunk > 0:
            job.prefilled += chunk
            tokens[job.id] = chunk
            states[job.id] = "prefill"
            if job.start is None:
                job.start = t

    for job in residents:
        if job.prefilling():
            prefill(job)

    # 4. Admit.
    admitted = []
    # OPEN: an iteration that preempts under static has both reasons; what comes last in lab/RULES.md counts.
    if preempted:
        gate = "pages"
    elif policy == "static" and residents:
        gate = "batch"
    else:
        gate = None
        while waiting and gate is None:
            head = waiting[0]
            size = head.request.prompt_tokens + head.generated
            taken = [job.seat for job in residents]
            empty = [seat for seat in range(limits.max_num_seqs) if seat not in taken]
            fits_now = size <= budget_left() or (limits.chunked_prefill and budget_left() >= 1)
            wanted = pages_for(size + 1, limits.page_size)
            if not empty:
                gate = "seats"
            elif not fits_now:
                gate = "tokens"
            elif wanted > len(free):
                gate = "pages"
            else:
                waiting.pop(0)
                residents.append(head)
                admitted.append(head)
                head.seat = empty[0]
                head.table = [free.pop(0) for _ in range(wanted)]
                head.to_prefill = size
                prefill(head)
    # OPEN: when a static batch has just been filled, the gate that ended its filling (seats or pages) could be
    # the reason as well. Here the batch counts as resident from then on. It changes the record, no decision.
    if policy == "static" and residents and not preempted:
        gate = "batch"
    if not waiting:
        gate = None

    # What holds while the iteration runs.
    row = {
        "iteration": t,
        "arrived": [job.id for job in arrived],
        "preempted": [job.id for job in preempted],
        "admitted": [job.id for job in admitted],
        "running": [job.id for job in residents if not job.finished()],
        "seats": [None] * limits.max_num_seqs,
        "tokens": tokens,
        "waiting": [job.id for job in waiting],
        "gate": gate,
        "pages": {job.id: list(job.table) for job in residents},
    }
    for job in residents:
        row["seats"][job.seat] = {"id": job.id, "state": states[job.id]}

    # 5. Run: whoever got tokens and has no prefill left emits one.
    emitted = [job for job in residents if job.id in tokens and not job.prefilling()]
    for job in emitted:
        job.generated += 1
    row["emitted"] = [job.id for job in emitted]
    row["kv"] = {job.id: job.kv() for job in residents}
    row["pages_used"] = sum(len(job.table) for job in residents)
    row["wasted_slots"] = row["pages_used"] * limits.page_size - sum(row["kv"].values())

    # 6. Complete.
    completed = [job for job in emitted if job.finished()]
    for job in completed:
        job.finish = t
    if policy == "continuous":
        released = completed
    elif all(job.finished() for job in residents):
        released = list(residents)
    else:
        released = []
    # OPEN: several requests give back their pages in admission order.
    for job in released:
        residents.remove(job)
        free.extend(job.table)
        job.table = []
        job.seat = None
    row["completed"] = [job.id for job in completed]
    row["released"] = [job.id for job in released]

    held = [page for job in residents for page in job.table]
    assert sorted(held + free) == list(range(limits.num_pages))
    return row


def figures(job):
    """The figures of one request: iterations, and waits and latencies in iterations."""
    return {
        "start": job.start,
        "finish": job.finish,
        "wait": job.start - 1 - job.request.arrival,
        "latency": job.finish - job.request.arrival,
        "preemptions": job.preemptions,
    }


def mean(values):
    return sum(values) / len(values) if values else 0


def lower_p95(values):
    """The lower order statistic: ``sorted[floor(0.95 (n - 1))]``, in whole numbers."""
    return sorted(values)[95 * (len(values) - 1) // 100] if values else 0


def metrics(jobs, rejected, rows, limits):
    """The metrics of lab/RULES.md; every figure is 0 when nothing was servable."""
    busy = [row for row in rows if "idle" not in row]
    waits = [figures(job)["wait"] for job in jobs]
    latencies = [figures(job)["latency"] for job in jobs]
    decoded = sum(len(row["emitted"]) for row in busy)
    return {
        "iterations": max([job.finish for job in jobs], default=0),
        "busy_iterations": len(busy),
        "decoded_tokens": decoded,
        "utilization": decoded / (limits.max_num_seqs * len(busy)) if busy else 0,
        "wait_mean": mean(waits),
        "wait_p95": lower_p95(waits),
        "wait_max": max(waits, default=0),
        "latency_mean": mean(latencies),
        "latency_p95": lower_p95(latencies),
        "peak_pages": max([row["pages_used"] for row in busy], default=0),
        "wasted_slots_peak": max([row["wasted_slots"] for row in busy], default=0),
        "occupancy": mean([row["pages_used"] / limits.num_pages for row in busy]),
        "preemptions": sum(job.preemptions for job in jobs),
        "completed": sum(job.finished() for job in jobs),
        "rejected": rejected,
    }


def differences(theirs, plain):
    """Where a replay in the project's form differs from the plain one: a list of lines, empty when equal.

    Rows and figures must be equal, and the block tables in the same order; a mean or a share may differ in
    its last bits, since nothing says in which order to add.
    """
    found = []
    for kind in ("metrics", "requests"):
        found += compare_dicts(kind, theirs[kind], plain[kind])
    for n in range(max(len(theirs["rows"]), len(plain["rows"]))):
        if n >= len(theirs["rows"]) or n >= len(plain["rows"]):
            found.append(f"rows: {len(theirs['rows'])}, expected {len(plain['rows'])}")
            break
        ours, expected = theirs["rows"][n], plain["rows"][n]
        found += compare_dicts(f"row {n}", ours, expected)
        if "pages" in expected and list(ours.get("pages", [])) != list(expected["pages"]):
            found.append(f"row {n}: pages in the order {list(ours['pages'])}, not {list(expected['pages'])}")
    return found


def compare_dicts(place, ours, expected):
    """The lines for two dictionaries that should have the same keys and values."""
    lines = []
    for key in sorted({*ours, *expected}):
        if key not in ours or key not in expected:
            lines.append(f"{place}: {key!r} is {'missing' if key in expected else 'unexpected'}")
            continue
        a, b = ours[key], expected[key]
        numbers = all(type(value) in (int, float) for value in (a, b))
        same = math.isclose(a, b, rel_tol=1e-12) if numbers and float in (type(a), type(b)) else a == b
        if not same:
            lines.append(f"{place}: {key} is {a!r}, expected {b!r}")
    return lines
