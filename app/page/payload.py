"""What the page draws: the replay document of `lab`, and a colour for each request."""

import json
from typing import Any

from app.page.palette import colors_for
from lab.replay import run
from lab.workload import Limits, Trace


def payload(trace: Trace, limits: Limits | None = None) -> dict[str, Any]:
    """Replay `trace` under both policies and add the colours.

    Returns plain JSON data: `{"replay": DOCUMENT, "colors": {id: "#rrggbb"}}`.
    Raises `lab.errors.InputError` when the limits cannot be replayed.
    """
    document = run(trace, limits).to_document()
    return {"replay": document, "colors": colors_for(request.id for request in trace.requests)}


def dumps(data: dict[str, Any]) -> str:
    """Compact JSON; the same data gives the same bytes."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
