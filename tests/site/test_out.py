"""Writing a site to a folder: whole or not at all, and never over somebody's files."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from app.build.errors import BuildError
from app.build.out import NAME, SITE_FILE, check_target, write_site
from app.build.site import Site


def small(version: str, **files: str) -> Site:
    content = {"sub/page.html": b"page", **{name.replace("_", "."): text.encode() for name, text in files.items()}}
    facts = {"site": NAME, "version": version, "frame_ancestors": [], "files": {name: {} for name in content}}
    return Site(version, {SITE_FILE: json.dumps(facts).encode(), **content}, {"sub/page.html.br": b"small"})


def found(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_site_replaces_the_one_before_it_completely(tmp_path: Path) -> None:
    out = tmp_path / "new" / "site"
    write_site(small("1", only_old="x"), out)
    assert "only.old" in found(out)
    write_site(small("2", only_new="y"), out)
    assert found(out) == {**small("2", only_new="y").files, "sub/page.html.br": b"small"}
    assert [path.name for path in out.parent.iterdir()] == ["site"], "nothing is left beside it"


def test_an_empty_folder_will_do(tmp_path: Path) -> None:
    out = tmp_path / "site"
    out.mkdir()
    write_site(small("1"), out)
    assert "sub/page.html" in found(out)


def test_somebodys_files_are_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(BuildError, match="not a site built by serving-lab") as caught:
        write_site(small("1"), tmp_path)
    assert "\n" not in str(caught.value)
    assert found(tmp_path) == {"thesis.txt": b"years of work"}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"site": "another"}', '{"site"'])
def test_a_site_json_of_somebody_else_does_not_make_a_folder_ours(tmp_path: Path, content: str) -> None:
    (tmp_path / SITE_FILE).write_text(content)
    with pytest.raises(BuildError):
        check_target(tmp_path)


def test_what_somebody_added_to_our_site_is_not_taken_along(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(small("1"), out)
    (out / ".git").mkdir()
    with pytest.raises(BuildError, match=r"also has '\.git'") as caught:
        write_site(small("2"), out)
    assert "\n" not in str(caught.value)
    assert json.loads((out / SITE_FILE).read_text())["version"] == "1"


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("x")
    with pytest.raises(BuildError, match="not a folder"):
        check_target(tmp_path / "site")


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BuildError, match="cannot be written") as caught:
        write_site(small("1"), tmp_path / "file" / "site")
    assert "\n" not in str(caught.value)


def test_a_failure_in_the_middle_leaves_the_old_site(tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_site(small("1"), out)
    before = found(out)
    broken = Site("2", {**small("2").files, "sub": b"a file where a folder is"}, {})
    with pytest.raises(BuildError):
        write_site(broken, out)
    assert found(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_two_builds_at_once_leave_one_whole_site(tmp_path: Path) -> None:
    out = tmp_path / "site"
    failures: list[BaseException] = []

    def build(version: str) -> None:
        try:
            for _ in range(20):
                write_site(small(version, same_name=version), out)
        except BaseException as problem:
            failures.append(problem)

    builds = [threading.Thread(target=build, args=(version,)) for version in "123"]
    for one in builds:
        one.start()
    for one in builds:
        one.join()
    assert failures == []
    version = json.loads((out / SITE_FILE).read_text())["version"]
    assert (out / "same.name").read_text() == version
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
