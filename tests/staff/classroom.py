"""A folder of students' work, and the command that grades it, as a process of its own."""

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

from hostile import HEAD

from lab.exercises import load_all
from lab.grading.report import code_sha256

ROOT = Path(__file__).parents[2]
LAB = [sys.executable, "-m", "lab.cli"]
EXERCISES = load_all()
PAGES, STEP = "allocate_kv_pages", "scheduler_step"
RIGHT = HEAD + "\ndef harm():\n    return good()\n"
WRONG = "def allocate_kv_pages(tokens, page_size=16):\n    return {'pages': 3, 'capacity': 48, 'wastedSlots': 15}\n"


def write(folder, files):
    """Write `files`, path → text or bytes, in `folder`."""
    for name, content in files.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def saved(code, exercise=PAGES, saved_at="2026-01-02T03:04:05.678Z", **changes):
    """A saved solution as the page writes it."""
    return {
        "schema_version": 1,
        "exercise": exercise,
        "checks_sha256": EXERCISES[exercise].visible_sha256,
        "code": code,
        "code_sha256": code_sha256(code),
        "saved_at": saved_at,
        **changes,
    }


def export(*solutions):
    return json.dumps({"schema_version": 1, "solutions": list(solutions)}, indent=1) + "\n"


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def start(*arguments, command=LAB, **options):
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*command, *map(str, arguments)], cwd=ROOT, **streams)


def finish(process, seconds=240):
    """Status, stdout and stderr. What does not end by then is ended."""
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return process.returncode, out.decode(), err.decode()


def grade(*arguments, **options):
    """`serving-lab grade` with these arguments: status, stdout, stderr."""
    return finish(start("grade", *arguments, **options))


def result(out, student, exercise=PAGES):
    """The result of a solution, as it was written."""
    return json.loads((Path(out) / "results" / student / f"{exercise}.json").read_text("utf-8"))


def tree(folder):
    """Every file that a run wrote, but for what may differ: path → bytes."""
    paths = [path for path in Path(folder).rglob("*") if path.is_file() and path.name not in ("times.json", ".lock")]
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}


def boxes():
    """The processes that keep or run solutions."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"/staff/box/boot.py" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def gone(before, seconds=10):
    """Whether, within some seconds, every box is gone that was not there `before`."""
    deadline = time.monotonic() + seconds
    while boxes() - before:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


AS_ROOT = os.geteuid() == 0
