"""What the page's template is filled with. Figures in the lesson come from the replay, never typed in."""

from typing import Any

from app.page.main import course_trace
from app.page.payload import dumps, payload

TITLE = "Serving lab: scheduling and memory"

# Links that a learner may try: limits under which something new happens on the course trace.
EXPERIMENTS = (
    ("a pool that runs dry", "num_pages=14"),
    ("a fourth seat", "max_num_seqs=4"),
    ("prefill in chunks", "max_num_batched_tokens=48&chunked_prefill=1"),
    ("one big page each", "num_pages=4&page_size=160"),
)


def page_context(title: str = TITLE) -> dict[str, Any]:
    """Names and values for `app/site/index.html`, as Jinja2 escapes them.

    `first_replay` is JSON made safe inside a script element.
    """
    trace = course_trace()
    first = payload(trace)
    policies = first["replay"]["policies"]
    return {
        "title": title,
        "first_replay": script_safe(dumps(first)),
        "static": policies["static"]["metrics"],
        "continuous": policies["continuous"]["metrics"],
        "limits": first["replay"]["limits"],
        "requests": trace.requests,
        "seats_word": _in_words(trace.limits.max_num_seqs),
        "prompts": _span(request.prompt_tokens for request in trace.requests),
        "outputs": _span(request.output_tokens for request in trace.requests),
        "experiments": [{"label": label, "link": link} for label, link in EXPERIMENTS],
        "footer": "The simulator, the grader and this page are one open-source project.",
    }


def _in_words(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[number] if number < len(words) else str(number)


def _span(values: Any) -> dict[str, int]:
    known = list(values)
    return {"min": min(known), "max": max(known)}


def script_safe(text: str) -> Any:
    """JSON that cannot end the script element it stands in; the characters mean the same to a JSON parser."""
    from markupsafe import Markup  # of the builder only: the browser never renders the template

    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
