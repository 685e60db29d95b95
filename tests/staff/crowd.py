"""Makes a class of 300 and grades it, to see how fast and how large that is: ``python tests/staff/crowd.py [jobs]``.

Not a test: times are of the machine that it runs on. 180 right, 75 with a known mistake, 15 slow, 30 hostile.
"""

import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from classroom import EXERCISES, PAGES, ROOT, STEP, start, write
from hostile import HOSTILE, solution

from lab.staff.box.processes import descendants, memory_of

STUDENTS = 300
SLOW = """import time
{reference}
fast = {name}
def {name}(*arguments):
    time.sleep(0.05)
    return fast(*arguments)
"""


def work(number: int) -> tuple[str, str]:
    """The exercise and the code of student `number`."""
    exercise = EXERCISES[PAGES if number % 2 else STEP]
    kind = number % 20
    if kind < 12:
        return exercise.id, exercise.reference + f"\n# {number}\n"
    if kind < 17:
        return exercise.id, exercise.wrong[number % len(exercise.wrong)].code
    if kind < 18:
        return exercise.id, SLOW.format(reference=exercise.reference, name=exercise.name)
    name = list(HOSTILE)[number * 7 % len(HOSTILE)]
    return PAGES, solution(HOSTILE[name][0], here="/nowhere", out="/nowhere", checks=ROOT / "checks", port=9)


def main(jobs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="serving-lab-crowd-") as folder:
        here = Path(folder)
        for number in range(STUDENTS):
            exercise, code = work(number)
            write(here, {f"class/student{number:03}/{exercise}.py": code})
        begin = time.monotonic()
        process = start(
            "grade", here / "class", "--out", here / "out", "--jobs", jobs, "--timeout", 1, stdout=None, stderr=None
        )
        most, own = 0, 0
        while process.poll() is None:
            own = max(own, memory_of([process.pid]))
            most = max(most, memory_of([process.pid, *descendants(process.pid)]))
            time.sleep(0.1)
        seconds = time.monotonic() - begin
        results = [json.loads(path.read_text("utf-8")) for path in (here / "out" / "results").glob("*/*.json")]
        spent = json.loads((here / "out" / "times.json").read_text("utf-8"))["seconds"].values()
    print(f"status {process.returncode}, {len(results)} results: {dict(Counter(one['outcome'] for one in results))}")
    middle = sorted(spent)[len(spent) // 2]
    print(f"{seconds:.1f} s with {jobs} jobs, {len(results) / seconds:.1f} a second; {middle:.2f} s for the middle one")
    print(f"memory at most {own / 2**20:.0f} MiB itself, {most / 2**20:.0f} MiB with all that it started")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
