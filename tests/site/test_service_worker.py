"""The service worker's list is the site: nothing missing, nothing foreign, every hash right."""

from __future__ import annotations

import json
import re

import pytest

from app.build.out import SITE_FILE
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
