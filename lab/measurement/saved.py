"""Reads measurements, and lays two side by side. Needs no GPU, and runs in the page as well."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import Any

from lab.errors import InputError
from lab.formats.json_text import parse_json
from lab.formats.trace_json import parse_trace
from lab.measurement.judge import reasons
from lab.measurement.schema import check


@cache
def measurement_schema() -> dict[str, Any]:
    """The JSON Schema of a measurement."""
    schema: dict[str, Any] = json.loads((files("lab.measurement") / "measurement.schema.json").read_text("utf-8"))
    return schema


def parse_measurement(data: bytes | str, source: str = "measurement") -> dict[str, Any]:
    """The measurement in `data`, JSON text. Raises InputError, naming source and field, for anything else."""
    value = parse_json(data, source)
    try:
        check(value, measurement_schema())
        measurement: dict[str, Any] = value
        _check_trace(measurement, source)
        _check_story(measurement)
    except InputError as error:
        raise error.at(source=source) from None
    return measurement


def _check_trace(measurement: dict[str, Any], source: str) -> None:
    """That the trace that comes with it, if one does, is one, and the one that it says."""
    if "file" not in measurement["trace"]:
        return
    trace = parse_trace(json.dumps(measurement["trace"]["file"]), source=f"{source}, trace.file")
    told = (measurement["limits"], measurement["options"], measurement["trace"]["requests"])
    if (asdict(trace.limits), trace.options.changes(), len(trace.requests)) != told:
        raise InputError("has other limits, options or requests than were measured", field="trace.file")


def _check_story(measurement: dict[str, Any]) -> None:
    """What a schema cannot say: that a run called valid has no reason against it."""
    why = reasons(measurement, list(measurement["policies"]))
    if measurement["valid"] and (why or measurement["invalid_because"] or not measurement["policies"]):
        first = next(iter(why or measurement["invalid_because"]), "It holds no policy.")
        raise InputError(f"says true, and yet: {first}", field="valid")
    if not measurement["valid"] and not measurement["invalid_because"]:
        raise InputError("is empty, and yet the measurement is not valid", field="invalid_because")


def dump_measurement(measurement: dict[str, Any]) -> str:
    """`measurement` as the text of its file, with a line for each request, iteration, case and batch size."""
    rows: list[str] = []

    def put_aside(entries: list[dict[str, Any]]) -> list[str]:
        rows.extend(_json(entry) for entry in entries)
        return [f"\0{number}" for number in range(len(rows) - len(entries), len(rows))]

    plain = {**measurement, "trace": {**measurement["trace"]}, "policies": {}}
    if "file" in plain["trace"]:
        file = plain["trace"]["file"]
        plain["trace"]["file"] = {**file, "requests": put_aside(file["requests"])}
    for name, policy in measurement["policies"].items():
        plain["policies"][name] = {**policy, "iterations": put_aside(policy["iterations"])}
    if measurement["kernel"] is not None:
        plain["kernel"] = put_aside(measurement["kernel"])
    if measurement["batch"] is not None:
        plain["batch"] = {**measurement["batch"], "rows": put_aside(measurement["batch"]["rows"])}
    text = _json(plain, indent=2)
    return re.sub(r'"\\u0000(\d+)"', lambda found: rows[int(found[1])], text) + "\n"


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def compare(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """Two measurements side by side: {"differences", "figures"}.

    differences: sentences on what keeps the figures from being compared as they are
    figures:     {"figure", "first", "second", "second_over_first"}; a value is None where one has no such figure
    """
    return {"differences": _differences(first, second), "figures": _figures(first, second)}


def _named(values: dict[str, Any]) -> str:
    return (
        ", ".join(f"{name} {value}" for name, value in values.items() if value is not None and value is not False)
        or "none"
    )


SUBJECTS = (
    ("trace", lambda m: m["trace"]["sha256"], lambda m: m["trace"]["name"]),
    ("limits", lambda m: m["limits"], lambda m: _named(m["limits"])),
    ("engine options", lambda m: m["options"], lambda m: _named(m["options"])),
    (
        "layer shape",
        lambda m: (m["shape"]["name"], m["shape"]["layers"]),
        lambda m: f"{m['shape']['layers']} layers of {m['shape']['name']}",
    ),
    ("format of numbers", lambda m: m["dtype"], lambda m: m["dtype"]),
    ("kernels", lambda m: m["method"]["ops"], lambda m: m["method"]["ops"]),
)


def _differences(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    found = [
        f"The {name} differs: {shown(first)} and {shown(second)}."
        for name, key, shown in SUBJECTS
        if key(first) != key(second)
    ]
    for which, measurement in (("first", first), ("second", second)):
        if not measurement["valid"]:
            found.append(f"The {which} is not valid: {' '.join(measurement['invalid_because'])}")
    return found


def _figures(first: dict[str, Any], second: dict[str, Any]) -> list[dict[str, Any]]:
    left, right = _all_figures(first), _all_figures(second)
    rows = []
    for name in dict.fromkeys([*left, *right]):
        a, b = left.get(name), right.get(name)
        rows.append({"figure": name, "first": a, "second": b, "second_over_first": b / a if a and b else None})
    return rows


def _all_figures(measurement: dict[str, Any]) -> dict[str, float]:
    figures: dict[str, float] = {"bandwidth, GB/s": measurement["bandwidth"]["bytes_per_s"] / 1e9}
    for name, policy in measurement["policies"].items():
        steps = len(policy["iterations"])
        figures[f"{name}, total ms"] = policy["total_ms"]["median"]
        if steps:
            figures[f"{name}, ms an iteration"] = policy["total_ms"]["median"] / steps
        figures[f"{name}, over the floor"] = policy["ratio"]
    for row in measurement["kernel"] or []:
        figures[f"paging costs, {row['requests']} x {row['context']} tokens"] = row["paging_costs"]
    if measurement["batch"]:
        for row in measurement["batch"]["rows"]:
            figures[f"a step of {row['requests']}, ms"] = row["ms"]["median"]
    return figures
