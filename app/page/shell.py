"""What the page's template is filled with. Figures in the lesson come from the replay, never typed in."""

import json
from typing import Any

from app.page.experiments import COURSE, OPTIONS_ON_COURSE, experiments
from app.page.main import course_trace
from app.page.payload import dumps, payload
from app.page.site_traces import is_course, site_traces
from lab.exercises import load_all
from lab.formats.trace_json import dump_trace, trace_sha256

TITLE = "Serving lab: scheduling and memory"

LABS_OWN = ("allocate_kv_pages", "scheduler_step")
"""The exercises that the lab comes with, of which the page's words speak where they are the site's."""


def page_context(title: str = "") -> dict[str, Any]:
    """Names and values for `app/site/index.html`, as Jinja2 escapes them. `title`: of the site, instead of the lab's.

    `first_replay` and `trace_text` (the trace's file, as a string) are JSON made safe inside a script element.
    """
    trace = course_trace()
    first = payload(trace)
    policies = first["replay"]["policies"]
    seats, count = trace.limits.max_num_seqs, len(trace.requests)
    return {
        "title": title or TITLE,
        "brand": title or "Serving lab",
        "first_replay": script_safe(dumps(first)),
        "trace_text": script_safe(json.dumps(dump_trace(trace))),
        "static": policies["static"]["metrics"],
        "continuous": policies["continuous"]["metrics"],
        "limits": first["replay"]["limits"],
        "requests": trace.requests,
        "trace": trace,
        "notes": first["notes"],
        "data_name": "Serving Workload" if is_course() else trace.title or trace.name,
        "traces": [one.title or one.name for one in site_traces()],
        "seats_words": f"{_in_words(seats)} seat{'' if seats == 1 else 's'}",
        "requests_words": f"{_in_words(count)} request{'' if count == 1 else 's'}",
        "prompts": _span(request.prompt_tokens for request in trace.requests),
        "outputs": _span(request.output_tokens for request in trace.requests),
        "labs_own_exercises": tuple(load_all()) == LABS_OWN,
        "experiments": [
            {"label": label, "link": link} for label, link in (COURSE if is_course() else experiments(trace))
        ],
        "option_experiments": [
            {"label": label, "link": link} for label, link in (OPTIONS_ON_COURSE if is_course() else ())
        ],
        "footer": "The simulator, the grader and this page are one open-source project.",
    }


def traces_file() -> dict[str, bytes]:
    """File name → content, for the site's assets: the traces that learners choose from; nothing where there is one."""
    traces = site_traces()
    rows = [
        {"title": trace.title or trace.name, "sha256": trace_sha256(trace), "text": dump_trace(trace)}
        for trace in traces
    ]
    return {"traces.json": json.dumps({"traces": rows}).encode()} if len(rows) > 1 else {}


def _in_words(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else str(number)


def _span(values: Any) -> str:
    known = sorted(values)
    return f"{known[0]} to {known[-1]}" if known[0] != known[-1] else f"{known[0]} each"


def script_safe(text: str) -> Any:
    """JSON that cannot end the script element it stands in; the characters mean the same to a JSON parser."""
    from markupsafe import Markup  # of the builder only: the browser never renders the template

    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
