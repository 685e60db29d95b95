"""What the tests do in the code section, in the words of a learner."""

import json
from pathlib import Path
from typing import Any

from lab_page import LabPage
from playwright.sync_api import Locator, Page, expect

from lab.exercises import load_all

EXERCISES = load_all()
PAGES, STEP = "allocate_kv_pages", "scheduler_step"
SLOW = 60_000  # ms; a first check has to start two interpreters


def reference(exercise: str) -> str:
    """The reference solution that ships."""
    return EXERCISES[exercise].reference or ""


def wrong(exercise: str, name: str) -> str:
    """One of the shipped wrong solutions."""
    return next(one.code for one in EXERCISES[exercise].wrong if one.file == name)


class CodePage:
    """The code section of an open page."""

    def __init__(self, page: Page, exercise: str = PAGES) -> None:
        self.page = page
        self.lab = LabPage(page)
        self.exercise = exercise

    def open(self, url: str) -> "CodePage":
        self.lab.open(url, ready=False)
        self.near()
        return self

    def near(self) -> None:
        self.page.locator("#code").scroll_into_view_if_needed()
        self.page.locator(".workbench:visible").wait_for()
        self.choose(self.exercise)

    def choose(self, exercise: str) -> "CodePage":
        self.exercise = exercise
        self.page.locator(f"#tab-{exercise}").click()
        expect(self.panel).to_be_visible()
        return self

    @property
    def panel(self) -> Locator:
        return self.page.locator(f"#panel-{self.exercise}")

    @property
    def field(self) -> Locator:
        """The text field that has the focus while one types, of either editor."""
        return self.panel.locator(".editor-place textarea")

    def with_ace(self) -> "CodePage":
        expect(self.panel.locator("[data-editor=ace]")).to_be_visible()
        return self

    def plain(self) -> "CodePage":
        self.panel.get_by_label("Plain text field").check()
        expect(self.panel.locator("[data-editor=plain]")).to_be_visible()
        return self

    def write(self, code: str) -> "CodePage":
        """Put `code` in the place of what is there, as somebody who pastes does."""
        self.field.focus()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)
        return self

    def text(self) -> str:
        """What the editor holds."""
        return self.panel.locator(".editor-place").evaluate(
            "(place) => place.dataset.editor === 'ace' ? ace.edit(place.querySelector('.ace_editor')).getValue()"
            " : place.querySelector('textarea').value"
        )

    def saved(self) -> dict[str, Any] | None:
        """What the storage holds for this exercise."""
        text = self.page.evaluate(
            "(id) => localStorage.getItem(`serving-lab:${new URL('./', location.href).pathname}:code:${id}`)",
            self.exercise,
        )
        return None if text is None else json.loads(text)

    def wait_saved(self, code: str) -> None:
        self.page.wait_for_function(
            "([id, code]) => JSON.parse(localStorage.getItem("
            "`serving-lab:${new URL('./', location.href).pathname}:code:${id}`))?.code === code",
            arg=[self.exercise, code],
        )

    def button(self, name: str) -> Locator:
        return self.panel.get_by_role("button", name=name, exact=True)

    def press(self, name: str) -> "CodePage":
        self.button(name).click()
        return self

    def check(self) -> "CodePage":
        """Check, and wait for the end of it."""
        self.press("Check")
        return self.wait_checked()

    def wait_checked(self) -> "CodePage":
        expect(self.button("Stop")).to_be_disabled(timeout=SLOW)
        return self

    @property
    def said(self) -> Locator:
        return self.panel.locator(".check-results .said")

    def outcomes(self) -> list[str]:
        found = [node.get_attribute("data-outcome") or "" for node in self.panel.locator(".verdict").all()]
        assert len(found) == len(EXERCISES[self.exercise].visible)
        return found

    def verdict(self, index: int) -> Locator:
        """One check, opened."""
        node = self.panel.locator(".verdict").nth(index)
        if node.locator("details").get_attribute("open") is None:
            node.locator("summary").click()
        return node

    def question(self, name: str) -> Locator:
        return self.panel.locator(f"[data-question={name}]")

    @property
    def results(self) -> Locator:
        return self.page.locator(".saved-result")

    def progress(self, part: str) -> Locator:
        return self.page.locator(f"#progress [data-part={part}] .of")

    def export(self, path: Path) -> dict[str, Any]:
        with self.page.expect_download() as waited:
            self.page.get_by_role("button", name="Export all work").click()
        waited.value.save_as(path)
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document

    def choose_file(self, path: Path) -> None:
        with self.page.expect_file_chooser() as waited:
            self.page.get_by_role("button", name="Import work").click()
        waited.value.set_files(path)

    @property
    def import_says(self) -> Locator:
        return self.page.locator(".transfer > [role=status]")
