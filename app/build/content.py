"""What a site is made with beside the lab's own code: title, traces, exercises. All of it is judged before a build."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.build.errors import BuilderFault, BuildError
from app.build.folders import content_hash
from app.build.paths import ROOT
from app.page.site_traces import file_name
from lab.errors import InputError, printable
from lab.exercises import faults

ON_REQUEST, AFTER_PASS, NEVER = "on-request", "after-pass", "never"
SOLUTIONS = (ON_REQUEST, AFTER_PASS, NEVER)
"""When learners may open a reference solution: whenever they ask, once their own code has passed, not at all."""

MOST_TRACES = 50
LONGEST_TITLE = 80
EXERCISE_FILES = ("exercise.json", "starter.py", "reference.py", "checks.json", "hidden.json", "reference_mutants.json")
SCHEMA = ".schema.json"


@dataclass(frozen=True, slots=True)
class Content:
    """files: what stands in the place of the package `traces`, `checks`, or both, by path; solutions: of SOLUTIONS"""

    files: Mapping[str, bytes] = field(default_factory=dict)
    title: str = ""
    solutions: str = ON_REQUEST

    @property
    def packages(self) -> frozenset[str]:
        """The packages that are replaced."""
        return frozenset(name.split("/")[0] for name in self.files)

    @property
    def fingerprint(self) -> str:
        """Changes with everything here."""
        settings = json.dumps([self.title, self.solutions]).encode()
        return content_hash({**self.files, "settings": settings})

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path | None]:
        """A folder that holds the replaced packages, for a Python to find before the lab's own; None without any."""
        if not self.files:
            yield None
            return
        with tempfile.TemporaryDirectory(prefix="serving-lab-content-") as name:
            folder = Path(name)
            for path, content in {**self.files, **{f"{one}/__init__.py": b"" for one in self.packages}}.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            yield folder


class ContentErrors(BuildError):
    """What the site was to be made with is not as it should be. `problems`: one line each, with the file's name."""

    def __init__(self, problems: Sequence[str]) -> None:
        count = len(problems)
        lines = "\n".join(f"  {printable(problem)}" for problem in problems)
        super().__init__(f"{count} error{'' if count == 1 else 's'}, and nothing was built:\n{lines}")
        self.problems = tuple(problems)


def read_content(
    traces: str | None = None, checks: str | None = None, title: str = "", solutions: str = ON_REQUEST
) -> Content:
    """What the site is to be made with, read once and judged. Raises ContentErrors with all that is wrong."""
    content, problems = read_parts(traces, checks, title)
    if "checks" in content.packages:
        problems += judged(content)
    if problems:
        raise ContentErrors(problems)
    return replace(content, solutions=solutions)


def read_parts(traces: str | None, checks: str | None, title: str) -> tuple[Content, list[str]]:
    """What there is, and what is wrong with it, one line each; of exercises only whether their files can be had."""
    files: dict[str, bytes] = {}
    problems = title_problems(title)
    for read, given in ((read_traces, traces), (read_checks, checks)):
        if given is not None:
            found, wrong = read(Path(given))
            files |= found
            problems += wrong
    return Content(files, title.strip()), problems


def readable(content: Content, problems: Sequence[str]) -> tuple[Content, list[str]]:
    """`content` without the exercises that cannot be read, and `problems` with what is wrong with those."""
    if "checks" not in content.packages:
        return content, list(problems)
    found = list(problems)
    left_out = []
    with content.folder() as folder:
        assert folder is not None
        for exercise in sorted(path for path in (folder / "checks").iterdir() if path.is_dir()):
            wrong = [str(error) for error in faults(exercise)]
            if wrong:
                found += wrong
                left_out.append(f"checks/{exercise.name}/")
    files = {name: data for name, data in content.files.items() if not name.startswith(tuple(left_out))}
    return replace(content, files=files), found


def title_problems(title: str) -> list[str]:
    """What is wrong with a title."""
    if len(title.strip()) > LONGEST_TITLE or not title.strip().isprintable():
        return [f"--title: must be one line of at most {LONGEST_TITLE} characters; shorten it"]
    return []


def read_traces(place: Path) -> tuple[dict[str, bytes], list[str]]:
    """The traces in the folder `place` (or that one file), in order of their names, and what is wrong with them."""
    from app.page.asked import trace_asked
    from app.page.controls import Controls  # imports Panel: only who has traces of their own waits for that
    from app.page.payload import payload
    from lab.formats.trace_faults import trace_faults

    if not place.exists():
        return {}, [f"{place}: --traces names no folder; correct it"]
    paths = [place] if place.is_file() else sorted(place.glob("*.json"))
    paths = [path for path in paths if not path.name.endswith(SCHEMA) and path.is_file()]
    if not paths:
        return {}, [f"{place}: --traces names a folder without a trace; put trace files (*.json) into it"]
    if len(paths) > MOST_TRACES:
        return {}, [f"{place}: has {len(paths)} traces, and a site takes {MOST_TRACES}; take some out"]
    files: dict[str, bytes] = {}
    problems: list[str] = []
    names: dict[str, Path] = {}
    for path in paths:
        try:
            data = path.read_bytes()
        except OSError as error:
            problems.append(f"{path}: cannot be read ({error.strerror}); check its permissions")
            continue
        wrong = [str(error) for error in trace_faults(data, str(path))]
        if not wrong:
            try:
                trace, limits = trace_asked({"trace": data.decode("utf-8-sig")})
                Controls.check(limits)
                payload(trace, limits)
                if not trace.requests:
                    raise InputError("must not be empty, since the page draws them; write one", field="requests")
                shown = trace.title or trace.name
                if shown in names:
                    raise InputError(
                        f"is also that of {names[shown]}, and learners choose by it; change one", field="title"
                    )
                names[shown] = path
            except InputError as error:
                wrong = [str(error.at(source=str(path)))]
        problems += wrong
        if not wrong:
            files[f"traces/{file_name(len(files))}"] = data
    return files, problems


def read_checks(place: Path) -> tuple[dict[str, bytes], list[str]]:
    """The files of the exercises in the folder `place`, and why there are none."""
    from lab.staff.validate import folders

    if not place.is_dir():
        return {}, [f"{place}: --checks names no folder; correct it"]
    try:
        found = folders(str(place))
    except InputError as error:
        return {}, [str(error)]
    files: dict[str, bytes] = {}
    problems = []
    for folder in found:
        paths = [folder / name for name in EXERCISE_FILES]
        paths += sorted([*folder.glob("wrong/*.py"), *folder.glob("wrong/expected.json")])
        for path in paths:
            if path.is_file():
                try:
                    files[f"checks/{folder.name}/{path.relative_to(folder).as_posix()}"] = path.read_bytes()
                except OSError as error:
                    problems.append(f"{path}: cannot be read ({error.strerror}); check its permissions")
        if not any(name.startswith(f"checks/{folder.name}/") for name in files):
            problems.append(f"{folder}: is no exercise, it has none of its files; take it out")
    return files, problems


def judged(content: Content) -> list[str]:
    """What is wrong with the exercises. Their solutions run as learners' code does, in a process of its own."""
    with content.folder() as folder:
        assert folder is not None
        command = [sys.executable, "-P", "-m", "lab", "checks", "validate", str(folder / "checks"), "--quick", "--json"]
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, env={**os.environ, "PYTHONPATH": path}
        )
    try:
        exercises = json.loads(done.stdout)["exercises"]
    except (ValueError, LookupError):
        said = done.stderr.decode("utf-8", "replace").strip()[-2000:]
        raise BuilderFault(f"The exercises could not be judged:\n{said}") from None
    return [problem for exercise in exercises for problem in exercise["problems"]]
