"""`serve --checks`: the site follows what its author saves, and says what is wrong with it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from own import break_reference, change, exercise, write_trace

from app.build.content import Content, ContentErrors, judged
from app.build.errors import BuilderFault, BuildError
from app.build.out import NAME, SITE_FILE
from app.build.site import Site
from app.build.store import sha256_hex
from app.serve import command, preview
from app.serve.preview import Preview


def small(content: Content) -> Site:
    """A site of one hashed file that holds the content's fingerprint."""
    page = content.fingerprint.encode()
    name = f"assets-{content.fingerprint}/page.js"
    facts = {"bytes": len(page), "sha256": sha256_hex(page)}
    document = {"site": NAME, "version": "1", "frame_ancestors": [], "files": {name: facts}}
    return Site("1", {SITE_FILE: json.dumps(document).encode(), name: page}, {})


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Content]:
    """What was built, in order. Building itself is for other tests, and judging for the last of these."""
    made: list[Content] = []

    def make(_store: object, _quality: int, *, content: Content, preview: bool) -> Site:
        assert preview
        made.append(content)
        return small(content)

    monkeypatch.setattr(preview, "make_site", make)
    monkeypatch.setattr(preview, "judged", lambda content: [])
    return made


@pytest.fixture
def opened() -> Iterator[Callable[..., Preview]]:
    found: list[Preview] = []

    def open_preview(traces: Path | None = None, checks: Path | None = None, title: str = "") -> Preview:
        found.append(Preview(traces and str(traces), checks and str(checks), title))
        return found[-1]

    yield open_preview
    for one in found:
        one.close()


def test_it_is_built_again_on_save_and_only_then(built: list[Content], opened: Any, tmp_path: Path) -> None:
    folder = exercise(tmp_path)
    shown = opened(checks=tmp_path)
    first = shown.told
    assert first == preview.Told(built[0].fingerprint, ()) and not shown.look()
    (folder / "starter.py").write_text(f"def {folder.name}(waiting, free_seats):\n    return 0\n", "utf-8")
    assert shown.look() and not shown.look()
    assert [content.fingerprint for content in built] == [first.content, shown.told.content]
    # A page that was loaded before may still ask for its own files.
    forms = shown.site().forms
    assert {f"assets-{one.fingerprint}/page.js" for one in built} < set(forms)
    assert all(form[""].path.read_bytes() for name, form in forms.items() if name != SITE_FILE)
    (folder / "notes.txt").write_text("not of the exercise")
    assert shown.look() and len(built) == 2


def test_what_cannot_be_read_is_left_out_until_it_can(built: list[Content], opened: Any, tmp_path: Path) -> None:
    good, bad = exercise(tmp_path, "good"), exercise(tmp_path, "half_done")
    change(bad / "exercise.json", hints=[])
    shown = opened(checks=tmp_path)
    ids = [{name.split("/")[1] for name in content.files} for content in built]
    assert ids == [{"good"}]
    assert [problem.split(": ")[0] for problem in shown.told.problems] == ["half_done/exercise.json"]
    change(good / "exercise.json", title=...)
    assert shown.look() and len(built) == 1  # it stays as it was when it could be read
    assert len(shown.told.problems) == 2
    change(good / "exercise.json", title="Good")
    change(bad / "exercise.json", hints=["A hint."])
    assert shown.look()
    assert {name.split("/")[1] for name in built[-1].files} == {"good", "half_done"}
    assert shown.told == preview.Told(built[-1].fingerprint, ())
    change(bad / "checks.json", exercise="other")
    assert shown.look() and len(built) == 2 and len(shown.told.problems) == 1
    shutil.rmtree(bad)  # what is taken away is gone
    assert shown.look() and {name.split("/")[1] for name in built[-1].files} == {"good"}


def test_with_nothing_to_show_it_does_not_start(built: list[Content], opened: Any, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "traces" / "t.json", requests=3)
    with pytest.raises(ContentErrors) as caught:
        opened(traces=path.parent)
    assert caught.value.problems[0].startswith(f"{path}: ") and built == []


def test_traces_and_a_title_are_followed_too(built: list[Content], opened: Any, tmp_path: Path) -> None:
    path = write_trace(tmp_path / "t.json")
    shown = opened(traces=tmp_path, title="CS 123")
    write_trace(path, name="other")
    assert shown.look()
    assert [content.title for content in built] == ["CS 123"] * 2
    assert json.loads(built[1].files["traces/000.json"])["name"] == "other"
    path.write_text("{", "utf-8")
    assert shown.look() and len(built) == 2 and shown.told.problems[0].startswith(f"{path}: ")


def test_a_build_that_fails_is_told_and_the_site_stays(
    built: list[Content], opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_trace(tmp_path / "t.json")
    shown = opened(traces=tmp_path)

    def fail(*_: object, **__: object) -> Site:
        raise BuilderFault("no room")

    monkeypatch.setattr(preview, "make_site", fail)
    write_trace(path, name="other")
    assert shown.look() and shown.told == preview.Told(built[0].fingerprint, ("no room",))


def test_what_does_not_behave_is_shown_all_the_same_and_told(
    built: list[Content],
    opened: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(preview, "judged", judged)
    words = break_reference(exercise(tmp_path))
    shown = opened(checks=tmp_path)
    assert len(built) == 1 and shown.told.problems == ()  # the page does not wait for it
    assert not shown.look()
    assert any(problem.startswith(words) for problem in shown.told.problems)
    assert f"preview: {words}" in capsys.readouterr().err


def test_a_fault_in_a_look_is_told_and_the_next_one_looks_again(
    built: list[Content], opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = exercise(tmp_path)
    shown = opened(checks=tmp_path)

    def fail(_content: Content) -> list[str]:
        raise BuilderFault("no interpreter")

    monkeypatch.setattr(preview, "judged", fail)
    assert not shown.look() and "no interpreter" in shown.told.problems[0]
    monkeypatch.setattr(preview, "judged", lambda content: [])
    change(folder / "exercise.json", title="Mended")
    assert shown.look() and shown.told.problems == () and len(built) == 2


def test_a_built_site_is_served_as_it_is(tmp_path: Path) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command._preview(parser.parse_args([])) is None
    with pytest.raises(BuildError, match="--dir"):
        command._preview(parser.parse_args(["--dir", str(tmp_path), "--title", "x"]))
