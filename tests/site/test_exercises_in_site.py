"""What of the exercises is in the built site, and what is not."""

from __future__ import annotations

import json

from app.build.archive import unzip_bytes
from app.build.site import Site
from app.page.exercises import exercises_file
from lab.exercises import load_all, shipped
from lab.grading.report import lab_version

EXERCISES = load_all()


def everything(site: Site) -> dict[str, bytes]:
    """Every file of the site, and every file inside its archives."""
    found = dict(site.files)
    for path, content in site.files.items():
        if path.endswith(".zip"):
            found.update({f"{path}/{name}": inner for name, inner in unzip_bytes(content).items()})
    return found


def test_no_file_holds_anything_of_a_hidden_check(site: Site) -> None:
    secrets: dict[str, str] = {}
    shown = [shipped().joinpath(name, file) for name in EXERCISES for file in ("exercise.json", "checks.json")]
    known = "".join(file.read_text(encoding="utf-8") for file in shown)
    for exercise in EXERCISES.values():
        raw = json.loads(shipped().joinpath(exercise.id, "hidden.json").read_bytes())["checks"]
        assert len(raw) == len(exercise.hidden) > 0
        for check in raw:
            texts = [check["name"], check["hint"], *(cause["because"] for cause in check.get("causes", []))]
            secrets |= {text: check["name"] for text in texts if text not in known}
            # The arguments or the workload, however they are spaced; short ones are in every other file.
            asked = squeezed(json.dumps(check.get("arguments") or check.get("calls") or check["replay"]))
            if len(asked) > 20 and asked not in squeezed(known):
                secrets[asked] = check["name"]
    assert len(secrets) > 20
    for path, content in everything(site).items():
        text = content.decode("utf-8", "replace")
        packed = squeezed(text) if path.endswith((".json", ".html", ".js")) else text
        for secret, name in secrets.items():
            assert secret not in text and secret not in packed, (path, name)


def squeezed(text: str) -> str:
    return "".join(text.split())


def test_references_and_known_mistakes_are_nowhere_but_where_the_page_shows_them(site: Site) -> None:
    for exercise in EXERCISES.values():
        sources = [exercise.reference or "", *(wrong.code for wrong in exercise.wrong)]
        for path, content in everything(site).items():
            if path.endswith("/exercises.json"):
                continue
            assert not [source for source in sources if source.encode() in content], path


def test_a_learners_interpreter_gets_no_check_and_no_judge(site: Site) -> None:
    (archive,) = [content for path, content in site.files.items() if path.endswith("/learner.zip")]
    names = set(unzip_bytes(archive))
    assert {"lab/grading/child/call.pyc", "app/page/learner.pyc"} <= names
    child = {name for name in names if name.startswith("lab/grading/child/")}
    rest = {"lab/__init__.pyc", "lab/core.pyc", "lab/grading/__init__.pyc", "app/__init__.pyc", "app/page/__init__.pyc"}
    assert names == child | rest | {"app/page/learner.pyc"}


def test_the_page_knows_what_it_shows(site: Site) -> None:
    (content,) = [content for path, content in site.files.items() if path.endswith("/exercises.json")]
    known = json.loads(content)
    assert known["lab_version"] == lab_version() != "unknown"
    for entry in known["exercises"]:
        exercise = EXERCISES[entry["id"]]
        assert entry["checks_sha256"] == exercise.checks_sha256(hidden=False)
        assert (entry["hidden"], entry["hidden_points"]) == (len(exercise.hidden), exercise.hidden_points)
        assert [check["name"] for check in entry["checks"]] == [check.name for check in exercise.visible]
        assert sum(check["points"] for check in entry["checks"]) == entry["points"]
        assert entry["reference"] == exercise.reference and entry["starter"] == exercise.starter
        assert entry["example"]["call"].startswith(f"{exercise.name}(")


def test_solutions_can_be_left_out() -> None:
    known = json.loads(exercises_file(solutions=False)["exercises.json"])
    assert [(entry["reference"], entry["approach"]) for entry in known["exercises"]] == [(None, None)] * 2
    text = json.dumps(known)
    assert not [exercise for exercise in EXERCISES.values() if json.dumps(exercise.reference)[1:-1] in text]
