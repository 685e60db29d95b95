"""The service worker: its list is the site, and what it does when a browser calls it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from app.build.node import node
from app.build.out import SITE_FILE
from app.build.paths import SITE_SOURCES
from app.build.service_worker import PLACE, service_worker
from app.build.site import HOSTING_FILE, Site
from app.build.store import sha256_hex


def listed(script: str) -> dict:
    text = re.search(r"^const SITE = (\{.*?\n\});$", script, re.MULTILINE | re.DOTALL)
    assert text
    found: dict = json.loads(text[1])
    return found


def test_it_lists_everything_that_the_site_needs_offline(site: Site) -> None:
    document = listed(site.files["sw.js"].decode())
    assert document["version"] == site.version
    own = {"sw.js", SITE_FILE, HOSTING_FILE}
    assert document["files"] == {path: sha256_hex(site.files[path]) for path in site.files if path not in own}


def test_its_bytes_change_with_any_file_so_that_browsers_notice(site: Site) -> None:
    template = f"const SITE = {PLACE};\n"
    files = {"index.html": b"one"}
    first = service_worker(template, "v", files)
    assert service_worker(template, "v", files) == first
    assert service_worker(template, "v", {"index.html": b"two"}) != first
    assert service_worker(template, "w", files) != first


def test_a_script_without_the_place_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="place"):
        service_worker("const SITE = null;", "v", {})


def test_the_versions_hash_covers_every_file_but_those_made_from_it(site: Site) -> None:
    from app.build.folders import content_hash

    own = {"sw.js", SITE_FILE, HOSTING_FILE}
    assert site.version == content_hash({path: site.files[path] for path in site.files if path not in own})


COMMON = {"vendor-1111111111111111/bokeh.js": "drawn by both", "python-2222222222222222/stdlib.zip": "read by both"}
ONE = {"index.html": "the first page", "lab-3333333333333333/app.zip": "the first lab", **COMMON}
TWO = {"index.html": "the second page", "lab-4444444444444444/app.zip": "the second lab", **COMMON}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the real script did when it was played a browser's part."""
    folder = tmp_path_factory.mktemp("worker")
    template = (SITE_SOURCES / "sw.js").read_text(encoding="utf-8")
    scripts = {
        name: service_worker(template, version, {path: text.encode() for path, text in files.items()}).decode()
        for name, version, files in [("one", "VERSION-ONE", ONE), ("two", "VERSION-TWO", TWO)]
    }
    (folder / "scripts.json").write_text(json.dumps({"scripts": scripts, "files": {"one": ONE, "two": TWO}}))
    done = subprocess.run(
        [node(), str(Path(__file__).parent / "service_worker.mjs"), folder / "scripts.json", folder / "found.json"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "found.json").read_text())


def test_a_first_visit_fetches_each_file_once_and_the_page_afresh(played: Any) -> None:
    assert sorted(path for path, _ in played["firstAsked"]) == sorted(ONE)
    modes = dict(played["firstAsked"])
    assert modes.pop("index.html") == "no-cache"
    assert set(modes.values()) == {"default"}, "hashed files may come from the browser's own cache"


def test_all_of_it_works_offline_under_any_query(played: Any) -> None:
    assert played["offline"] == ONE
    assert played["root"] == played["query"] == ONE["index.html"]


def test_requests_that_are_not_ours_are_left_to_the_browser(played: Any) -> None:
    assert set(played["leftAlone"].values()) == {None}


def test_an_update_fetches_only_what_is_new(played: Any) -> None:
    assert sorted(path for path, _ in played["secondAsked"]) == sorted(TWO.keys() - COMMON.keys())


def test_a_new_version_waits_until_it_is_asked_for(played: Any) -> None:
    assert played["skippedByItself"] == played["skippedUnasked"] == 0
    assert played["oldWhileNewWaits"] == ONE["index.html"]
    assert played["skippedWhenAsked"] == 1
    assert played["newPage"] == TWO["index.html"]


def test_a_tab_of_the_version_before_still_finds_its_files(played: Any) -> None:
    assert played["oldFileForAnOldTab"] == ONE["lab-3333333333333333/app.zip"]


def test_this_version_and_the_one_before_are_kept_and_no_older(played: Any) -> None:
    def versions(names: list[str]) -> set[str]:
        return {name.rsplit(" ", 1)[1] for name in names} - {"notes"}

    assert versions(played["cachesAfterTwo"]) == {"VERSION-ONE", "VERSION-TWO"}
    assert versions(played["cachesAfterThree"]) == {"VERSION-TWO", "VERSION-THREE"}


def test_an_altered_file_is_not_kept_and_stops_the_installation(played: Any) -> None:
    path = played["askedAgain"]["path"]
    assert played["altered"] == {"failed": f"{path} is not the file of this version"}
    assert played["alteredKept"] == []
    assert played["again"] == {"ok": True}
    assert path in played["askedAgain"]["after"]


def test_what_was_right_is_not_fetched_again_after_a_failure(played: Any) -> None:
    assert set(played["askedAgain"]["after"]) <= set(ONE)
    assert len(played["askedAgain"]["after"]) < len(ONE)


def test_a_damaged_cache_is_not_copied_from(played: Any) -> None:
    got, wanted = played["healed"]
    assert got == wanted


def test_labs_on_one_origin_leave_each_other_alone(played: Any) -> None:
    assert set(played["together"]) == {
        "serving-lab /some/path/ VERSION-TWO",
        "serving-lab /some/path/ VERSION-THREE",
        "serving-lab /some/path/ notes",
        "serving-lab /some/path/deeper/ VERSION-ONE",
        "serving-lab /some/path/deeper/ notes",
        "somebody else's",
    }


def test_damaged_or_lost_copies_are_replaced_when_the_page_asks(played: Any) -> None:
    checked = played["checked"]
    assert checked["whole"] == 0 and checked["asked"] == [], "nothing is fetched where all is whole"
    assert checked["replaced"] == 2
    assert checked["askedThen"] == checked["expected"]
    assert checked["offline"] == 0
    assert checked["later"] == 2
    assert checked["same"] is True
