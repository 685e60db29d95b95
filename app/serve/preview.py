"""An author's preview: the site is built again whenever something in the author's folders is saved."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import tornado.web

from app.build.compress import QUICK
from app.build.content import Content, ContentErrors, judged, read_parts, readable
from app.build.errors import BuildError
from app.build.out import write_site
from app.build.paths import cache_folder
from app.build.site import make_site
from app.build.store import Store
from app.serve.handler import TYPES, FileHandler
from app.serve.headers import headers_for
from app.serve.site_folder import SiteFolder, open_site
from lab.errors import printable

NAME = "preview.json"
"""What the page asks for: ``{"content": fingerprint of what is served, "problems": [one line each]}``."""

KEPT_SITES = 2
"""Sites on disk: the one that is served, and the one before, of which a page may still ask for a file."""


@dataclass(frozen=True, slots=True)
class Told:
    """content: fingerprint of what is served; problems: of what was saved last"""

    content: str
    problems: tuple[str, ...] = ()


class Preview:
    """Looks at the folders, builds, judges, and has the site to serve. To be closed."""

    def __init__(self, traces: str | None, checks: str | None, title: str) -> None:
        """Builds the first site, which the first look judges.

        Raises ContentErrors where there is nothing to show, BuildError as a build does.
        """
        self._given = (traces, checks, title)
        self._folder = tempfile.TemporaryDirectory(prefix="serving-lab-preview-", ignore_cleanup_errors=True)
        self._count = 0
        self._seen: object = None
        self._last: Mapping[str, bytes] = {}
        self._unjudged: Content | None = None
        self._said: tuple[str, ...] = ()
        self._site: SiteFolder | None = None
        self.told = Told("")
        try:
            self._refresh()
        except BaseException:
            self.close()
            raise

    def site(self) -> SiteFolder:
        """The site as it was built last."""
        assert self._site is not None
        return self._site

    def look(self) -> bool:
        """Build again if something was saved since, and then judge it. Returns whether something was.

        Problems are told, not raised. (Judging comes last, as it takes longer than anybody waits for a page.)
        """
        changed = False
        try:
            changed = self._refresh()
            content, self._unjudged = self._unjudged, None
            if content is not None:
                self._tell([*self.told.problems, *judged(content)])
        except Exception as error:  # the next save is to be looked at all the same
            self._tell([f"the preview failed ({type(error).__name__}: {error}); save again, or start it again"])
        return changed

    def _refresh(self) -> bool:
        seen = list(self._files())
        if seen == self._seen:
            return False
        self._seen = seen
        found, problems = read_parts(*self._given)
        content, problems = readable(found, problems)
        content = replace(content, files=self._with_last(found.files, content.files))
        if self._site is None and not self._shows(content):
            raise ContentErrors(problems)
        self.told = replace(self.told, problems=tuple(problems))
        if self._shows(content) and content.fingerprint != self.told.content:
            try:
                self._build(content)
            except BuildError as error:
                if self._site is None:
                    raise
                problems.append(str(error))
        if "checks" in content.packages:
            self._unjudged = content
        else:
            self._tell(problems)
        return True

    def _tell(self, problems: Sequence[str]) -> None:
        """All that is wrong with what was saved last: for the page, and, where it is news, for the terminal."""
        self.told = replace(self.told, problems=tuple(problems))
        if self.told.problems == self._said:
            return
        self._said = self.told.problems
        for problem in problems or ["no problem is left"]:
            print(printable(f"preview: {problem}"), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take the sites off the disk."""
        self._folder.cleanup()

    def _files(self) -> Iterator[tuple[str, int, int]]:
        for given in self._given[:2]:
            for path in [Path(given), *sorted(Path(given).rglob("*"))] if given is not None else []:
                try:
                    facts = path.stat()
                except OSError:  # deleted, or not there yet
                    continue
                if path.is_file():
                    yield str(path), facts.st_mtime_ns, facts.st_size

    def _with_last(self, found: Mapping[str, bytes], good: Mapping[str, bytes]) -> dict[str, bytes]:
        """The `good` files, and for an exercise that was `found` and is not among them how it was when it last was."""
        spoilt = {_exercise_of(name) for name in found} - {_exercise_of(name) for name in good}
        files = {**good, **{name: data for name, data in self._last.items() if _exercise_of(name) in spoilt}}
        self._last = files
        return files

    def _shows(self, content: Content) -> bool:
        """Whether there is something of everything that was named."""
        traces, checks, _ = self._given
        return (traces is None or "traces" in content.packages) and (checks is None or "checks" in content.packages)

    def _build(self, content: Content) -> None:
        self._count += 1
        folder = Path(self._folder.name) / str(self._count)
        write_site(make_site(Store(cache_folder()), QUICK, content=content, preview=True), folder)
        made = open_site(folder)
        assert made is not None
        before = self._site.forms if self._site is not None else {}
        self._site = replace(made, forms={**before, **made.forms})
        self.told = Told(content.fingerprint, self.told.problems)
        shutil.rmtree(Path(self._folder.name) / str(self._count - KEPT_SITES), ignore_errors=True)


def _exercise_of(name: str) -> str:
    """The folder of an exercise's file; the file's own name for any other."""
    return "/".join(name.split("/")[:2])


class PreviewHandler(FileHandler):
    """Answers the page's question whether there is something newer."""

    def initialize(self, preview: Preview, hosts: frozenset[str] | None) -> None:  # type: ignore[override]
        super().initialize(preview.site, hosts)
        self._preview = preview

    async def get(self, path: str = "") -> None:
        """What is served, and what is wrong with what was saved last."""
        if self.request.method != "GET":
            raise tornado.web.HTTPError(405)
        for key, value in headers_for(NAME).items():
            self.set_header(key, value)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", TYPES["json"])
        told = self._preview.told
        self.finish(json.dumps({"content": told.content, "problems": told.problems}))
