"""The traces of this site: the lab's own one, or those that the site was built with, in order."""

from importlib.resources import files

from lab.formats.trace_json import parse_trace
from lab.workload import Trace

OWN = "course.json"
"""The lab's own trace in the package `traces`."""


def file_name(index: int) -> str:
    """The name in the package `traces` of a trace that a site was built with."""
    return f"{index:03}.json"


def site_traces() -> list[Trace]:
    """At least one trace; the first is what the page shows."""
    folder = files("traces")
    given = sorted(entry.name for entry in folder.iterdir() if entry.name.removesuffix(".json").isdecimal())
    return [parse_trace(folder.joinpath(name).read_bytes(), source=name) for name in given or [OWN]]


def is_course() -> bool:
    """Whether this site has the lab's own trace, for which the experiments beside the limits were chosen."""
    return files("traces").joinpath(OWN).is_file()
