"""What the tests do in the trace editor, in the words of an instructor."""

import json
from pathlib import Path
from typing import Any

from lab_page import LabPage
from playwright.sync_api import Locator, Page, expect

from lab.cli import main


class EditorPage:
    """The editor of an open page."""

    def __init__(self, lab: LabPage) -> None:
        self.lab = lab
        self.page: Page = lab.page

    def open(self) -> "EditorPage":
        self.lab.reveal()
        if self.page.locator("#editor").is_hidden():
            self.page.click("#edit-trace")
        self.page.locator(".ed-tools").wait_for()
        return self

    def command(self, name: str) -> None:
        self.page.locator("#editor").get_by_role("button", name=name, exact=True).click()

    def cell(self, field: str, row: int) -> Locator:
        """The field of a row; rows count from 1."""
        return self.page.locator(f".ed-table tbody tr:nth-child({row}) .cell[data-field={field}]")

    def rows(self) -> list[list[str]]:
        """What stands in the table."""
        rows: list[list[str]] = self.page.evaluate(
            "() => [...document.querySelectorAll('.ed-table tbody tr')]"
            ".map((row) => [...row.querySelectorAll('.cell')].map((cell) => cell.value))"
        )
        return rows

    def paste(self, text: str) -> None:
        """What Ctrl+V does when a spreadsheet's rows are on the clipboard."""
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.keyboard.press("Control+v")

    def handle(self, what: str, row: int) -> Locator:
        return self.page.locator(f".ed-bars .ed-row:nth-of-type({row + 1}) .handle[data-what={what}]")

    def grab(self, what: str, row: int) -> tuple[float, float]:
        """Put the pointer on a handle and press; where it is now."""
        box = self.handle(what, row).locator(".hit").bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        return x, y

    def tab_to(self, name: str, back: bool = False) -> None:
        """Press Tab until the focus is on what is called so."""
        for _ in range(80):
            self.page.keyboard.press("Shift+Tab" if back else "Tab")
            here = self.page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
            if here == name:
                return
        raise AssertionError(f"Tab never came to {name!r}")

    def saved(self, folder: Path, name: str = "Save trace", press: bool = False) -> Path:
        """Save the trace (or what `name` says) and return the file."""
        with self.page.expect_download() as waiting:
            if press:
                self.page.keyboard.press("Enter")
            else:
                self.command(name)
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    def load(self, path: Path) -> None:
        with self.page.expect_file_chooser() as waiting:
            self.page.click("#open-file")
        waiting.value.set_files(path)

    def wrong(self) -> list[str]:
        """What the cells that cannot be used say, by the words for their place."""
        cells: list[str] = self.page.evaluate(
            "() => [...document.querySelectorAll('.ed-table [aria-invalid]')]"
            ".map((cell) => cell.getAttribute('aria-label'))"
        )
        return cells


def printed(capsys: Any, path: Path, *arguments: str) -> dict[str, Any]:
    """What `serving-lab replay PATH --json` prints."""
    capsys.readouterr()
    assert main(["replay", str(path), "--json", *arguments]) == 0
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def teaches(editor: EditorPage, label: str, static: str, continuous: str) -> None:
    """The panel beside the table says so, sooner or later."""
    row = editor.page.locator(".ed-teaches tr", has=editor.page.get_by_role("rowheader", name=label, exact=True))
    expect(row.locator("td")).to_have_text([static, continuous])
