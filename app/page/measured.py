"""What the page asks about measurements of a replay on a real GPU. They are plain data; nothing here needs a GPU."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lab.errors import InputError
from lab.formats.trace_json import dump_trace, parse_trace, trace_sha256
from lab.measurement.judge import UNCONFIRMED
from lab.measurement.saved import compare, dump_measurement, parse_measurement
from lab.options import Options
from lab.workload import Limits, Trace


def read_measurement(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``{"text": a measurement's file | a server's answer about a replay, "name": what to call it, "serial"}``.

    Returns ``{"serial", "measurement", "text": its file, "trace": the file of its trace | None, "sha256s": of the
    traces that it may be laid over, "unconfirmed": what no GPU has confirmed yet}``, or ``{"serial", "why"}``.
    """
    serial, text = asked["serial"], asked["text"]
    try:
        measurement = parse_measurement(_of_answer(text), asked["name"])
    except InputError as error:
        return {"serial": serial, "why": str(error)}
    told = measurement["trace"]
    trace = parse_trace(json.dumps(told["file"])) if "file" in told else None
    return {
        "serial": serial,
        "measurement": measurement,
        "text": dump_measurement(measurement),
        "trace": None if trace is None else dump_trace(trace),
        "sha256s": [told["sha256"]] if trace is None else [told["sha256"], trace_sha256(trace)],
        "unconfirmed": list(UNCONFIRMED),
    }


def _of_answer(text: str) -> str:
    """The measurement in the answer of `GET api/cuda/replays/ID`; any other text as it is."""
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if isinstance(answer, dict) and "kind" not in answer and isinstance(answer.get("measurement"), dict):
        return json.dumps(answer["measurement"])
    return text


def compare_measurements(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Lay ``{"first", "second": the files of two, "serial"}`` side by side, as `lab.measurement.saved.compare` does."""
    first, second = (parse_measurement(asked[which]) for which in ("first", "second"))
    return {"serial": asked["serial"], **compare(first, second)}


def replay_request(trace: Trace, limits: Limits, options: Options) -> str:
    """The body of `POST api/cuda/replays` for a replay that is on the screen.

    Every option is named: one that the trace has on may have been turned off.
    """
    return json.dumps(
        {"trace": json.loads(dump_trace(trace)), "limits": asdict(limits), "options": asdict(options)},
        ensure_ascii=False,
        allow_nan=False,
    )
