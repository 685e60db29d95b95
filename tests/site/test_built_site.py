"""The built site as files: complete, hashed, reproducible, and asking nobody else for anything."""

from __future__ import annotations

import json
import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.build.archive import unzip_bytes
from app.build.compress import QUICK
from app.build.folders import content_hash
from app.build.out import SITE_FILE
from app.build.paths import cache_folder
from app.build.site import HOSTING_FILE, Site, make_site
from app.build.store import Store, sha256_hex

KINDS = {"assets", "lab", "python", "runtime", "vendor"}

HOST = re.compile(r"""(?:https?:)?//[a-z0-9-]+(?:\.[a-z0-9-]+)+[^\s"'`)<>\\]*""", re.IGNORECASE)

NAMESPACES = ("http://www.w3.org/",)
"""Names that look like addresses and are never asked for."""


FOR_LEARNERS = (
    *("argparse", "collections", "csv", "dataclasses", "decimal", "doctest", "enum", "fractions", "heapq", "inspect"),
    *("json", "pdb", "random", "statistics", "string", "textwrap", "typing", "unittest", "encodings/cp1252"),
)
"""Modules of the standard library that somebody may well import, out of many."""


def hashed_folders(site: Site) -> dict[str, dict[str, bytes]]:
    folders: dict[str, dict[str, bytes]] = {}
    for path, content in site.files.items():
        if "/" in path:
            folder, name = path.split("/", 1)
            folders.setdefault(folder, {})[name] = content
    return folders


def test_a_folders_name_is_the_hash_of_what_is_in_it(site: Site) -> None:
    folders = hashed_folders(site)
    assert {name.split("-")[0] for name in folders} == KINDS
    for name, files in folders.items():
        assert name == f"{name.split('-')[0]}-{content_hash(files)}"


def test_a_folders_hash_follows_contents_and_names() -> None:
    files = {"a": b"1", "b": b"2"}
    assert content_hash(files) == content_hash(dict(reversed(files.items())))
    assert len({content_hash(f) for f in ({"a": b"1", "b": b"3"}, {"a": b"1", "c": b"2"}, {"a": b"1"}, files)}) == 4


def test_site_json_lists_every_file_on_disk_with_its_hash(site: Site, site_folder: Path) -> None:
    document = json.loads((site_folder / SITE_FILE).read_text())
    assert document["version"] == site.version
    assert document["frame_ancestors"] == ["https://courses.example.org"]
    expected = {}
    for name, entry in document["files"].items():
        expected[name] = entry
        expected |= {f"{name}.{kind}": entry[kind] for kind in ("br", "gz") if kind in entry}
    on_disk = {p.relative_to(site_folder).as_posix(): p.read_bytes() for p in site_folder.rglob("*") if p.is_file()}
    assert on_disk.keys() == expected.keys() | {SITE_FILE}
    for name, facts in expected.items():
        assert (facts["bytes"], facts["sha256"]) == (len(on_disk[name]), sha256_hex(on_disk[name])), name


def test_the_same_input_gives_the_same_bytes(site: Site) -> None:
    again = make_site(Store(cache_folder()), QUICK, ["https://courses.example.org"])
    assert again.version == site.version
    assert [name for name in site.files if site.files[name] != again.files.get(name)] == []
    assert again.compressed == site.compressed


class Addresses(HTMLParser):
    """Everything in a page that a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        wanted = {"src", "srcset", "poster", "data"} | ({"href"} if tag in ("link", "use", "image") else set())
        self.found += [value for name, value in named.items() if name in wanted and value]


def test_the_page_fetches_only_files_of_the_site(site: Site) -> None:
    page = Addresses()
    page.feed(site.files["index.html"].decode())
    assert len(page.found) > 3
    for address in page.found:
        assert not urlsplit(address).scheme and not address.startswith("/"), address
        assert address in site.files


def test_the_config_names_files_and_sizes_of_the_site(site: Site) -> None:
    text = re.search(
        r'<script type="application/json" id="site-config">(.*?)</script>', site.files["index.html"].decode()
    )
    assert text
    config = json.loads(text[1])
    assert set(config["folders"]) == KINDS
    assert all(any(path.startswith(folder) for path in site.files) for folder in config["folders"].values())
    assert config["scripts"] and all(path in site.files for path in config["scripts"])
    for way, files in (("start", 3), ("snapshot", 3), ("plain", 2)):
        assert config[way] == {path: len(site.files[path]) for path in config[way]}
        assert len(config[way]) == files, way


@pytest.mark.parametrize("ending", [".js", ".css", ".json", ".svg", "index.html"])
def test_our_own_files_name_no_other_host(site: Site, ending: str) -> None:
    looked_at = 0
    for path, content in site.files.items():
        # The list of the site's files, which no browser asks for, names who may show the lab in a frame.
        if path.startswith(("vendor-", "runtime-")) or path == SITE_FILE or not path.endswith(ending):
            continue
        looked_at += 1
        text = content.decode()
        if path == "index.html":  # a reader may follow a link; the browser follows none by itself
            text = re.sub(r"""<a\s[^>]*href="[^"]*\"""", "<a", text)
        found = [address for address in HOST.findall(text) if not address.startswith(NAMESPACES)]
        assert not found, (path, found)
    assert looked_at


def test_styles_ask_only_for_files_of_the_site(site: Site) -> None:
    styles = {path: content.decode() for path, content in site.files.items() if path.endswith(".css")}
    assert any(path.startswith("vendor-") for path in styles)
    for path, text in styles.items():
        fetched = re.findall(r"url\(\s*['\"]?([^'\")]+)", text) + re.findall(r"@import\s+['\"]([^'\"]+)", text)
        for address in fetched:
            if not address.startswith(("data:", "#")):
                assert posixpath.normpath(posixpath.join(posixpath.dirname(path), address)) in site.files, (
                    path,
                    address,
                )


def test_the_prerendered_document_asks_for_styles_that_the_site_has(site: Site) -> None:
    (text,) = [content.decode() for path, content in site.files.items() if path.endswith("/prerender.json")]
    styles = set(re.findall(r'"([^"]+\.css)"', text))
    assert styles
    assert styles <= site.files.keys()


def test_scripts_name_no_source_map_that_is_not_there(site: Site) -> None:
    for path, content in site.files.items():
        if path.endswith((".js", ".mjs")):
            assert not re.search(rb"^//[#@] sourceMappingURL=", content, re.MULTILINE), path


def test_every_file_that_gets_smaller_has_both_forms(site: Site) -> None:
    for path, content in site.files.items():
        if path in (SITE_FILE, HOSTING_FILE) or len(content) <= 1024:
            continue
        assert f"{path}.br" in site.compressed, path
        assert f"{path}.gz" in site.compressed, path
    for path, content in site.compressed.items():
        assert len(content) < len(site.files[path.rsplit(".", 1)[0]])


def test_archives_are_stored_plainly_and_bear_no_date(site: Site) -> None:
    import io
    import zipfile

    archives = [content for path, content in site.files.items() if path.endswith(".zip")]
    assert len(archives) >= 4
    for content in archives:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
            assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
            assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)


def test_the_standard_library_keeps_what_learners_may_import(site: Site) -> None:
    (content,) = [content for path, content in site.files.items() if path.endswith("/stdlib.zip")]
    names = unzip_bytes(content).keys()
    missing = [name for name in FOR_LEARNERS if not {f"{name}.pyc", f"{name}/__init__.pyc"} & names]
    assert missing == []
