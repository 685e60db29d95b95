"""What `trace stats --html` draws, opened as a file."""

from pathlib import Path

from playwright.sync_api import Browser

from lab.cli import main

COURSE = Path(__file__).resolve().parents[2] / "traces" / "course.json"


def test_the_drawing_needs_nothing_but_itself(browser: Browser, tmp_path: Path) -> None:
    page_file = tmp_path / "stats.html"
    assert main(["trace", "stats", str(COURSE), "--html", str(page_file)]) == 0
    page = browser.new_page(viewport={"width": 360, "height": 800})
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.goto(page_file.as_uri())
    page.wait_for_function(
        "() => Bokeh.documents.length === 1 && Bokeh.documents[0].is_idle"
        " && document.querySelectorAll('.charts figure').length === 4"
    )
    heights = page.evaluate(
        "() => [...document.querySelectorAll('.charts figure')].map((figure) => figure.getBoundingClientRect().height)"
    )
    wide = page.evaluate("() => document.documentElement.scrollWidth")
    page.close()
    assert asked == [page_file.as_uri()] and wrong == []
    assert min(heights) > 250 and wide == 360
