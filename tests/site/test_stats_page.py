"""The page that `trace stats --html` draws."""

from html.parser import HTMLParser

import pytest

from app.page.main import course_trace
from app.stats.page import charts, stats_page
from lab.cli import main
from lab.formats.trace_json import dump_trace
from lab.generate import generate
from lab.recipe import recipe_from
from lab.trace_stats import histogram, trace_stats
from lab.workload import Request, Trace


def long_tailed():
    return generate(
        recipe_from(
            {
                "seed": 3,
                "requests": 300,
                "arrivals": {"kind": "poisson", "gap": 3},
                "prompt_tokens": {"kind": "lognormal", "median": 20, "sigma": 2},
                "output_tokens": {"kind": "uniform", "min": 3, "max": 200},
            }
        )
    )


def drawn(trace):
    return {title: (note, chart) for title, note, chart in charts(trace, trace_stats(trace))}


def test_the_charts_of_the_course_trace_show_its_histograms():
    trace = course_trace()
    made = drawn(trace)
    assert list(made) == [
        "Arrivals over time",
        "Gaps between arrivals",
        "prompt_tokens of a request",
        "output_tokens of a request",
    ]
    counted = histogram([request.output_tokens for request in trace.requests])
    note, chart = made["output_tokens of a request"]
    bars = chart.renderers[0].data_source.data
    assert (bars["left"], bars["top"]) == (counted["edges"][:-1], counted["counts"]) and note == ""
    texts = [mark.text for mark in chart.center if type(mark).__name__ == "Label"]
    assert texts == ["p50 20", "p95 42"]


def test_a_long_tail_is_drawn_in_doubling_bars_and_says_so():
    note, chart = drawn(long_tailed())["prompt_tokens of a request"]
    bars = chart.renderers[0].data_source.data
    assert "twice as wide" in note and bars["left"] == list(range(len(bars["left"])))
    assert chart.xaxis[0].major_label_overrides[3] == "4"
    median = next(mark for mark in chart.center if type(mark).__name__ == "Span").location
    assert 5 <= median <= 6  # 20 stands between 16 and 32


class Tags(HTMLParser):
    """The tags that a browser sees, their attributes, and the text outside of scripts."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.said = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data):
        if self.tags[-1:] != ["script"] or self.cdata_elem is None:
            self.said += data


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_requests(n):
    trace = Trace("few", course_trace().limits, tuple(Request(f"r{i}", 0, 1, 1) for i in range(n)))
    made = stats_page([(trace, trace_stats(trace))])
    assert ("There are no requests." in made) == (n == 0)
    assert len(drawn(trace)) == (3 if n else 0)  # one request has no gap


def test_the_page_on_stdout(tmp_path, capsys):
    course = str(tmp_path / "t.json")
    (tmp_path / "t.json").write_text(dump_trace(course_trace()), "utf-8")
    assert main(["trace", "stats", course, "--html", "-"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("<!doctype html>") and out.endswith("</html>\n")
    assert main(["trace", "stats", course, "--html", "-", "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "--html and --json cannot both go to stdout" in err


def test_one_file_that_asks_for_nothing(tmp_path, capsys):
    path, page = tmp_path / "t.json", tmp_path / "page.html"
    trace = Trace('</script><b>"&', course_trace().limits, long_tailed().requests)
    path.write_text(dump_trace(trace), "utf-8")
    assert main(["trace", "stats", str(path), "--html", str(page)]) == 0
    assert "Percentiles:" in capsys.readouterr().out
    text = page.read_text("utf-8")
    read = Tags()
    read.feed(text)
    assert read.tags.count("script") >= 2 and not {"link", "img", "iframe", "b"} & set(read.tags)
    assert not {"src", "href"} & read.attributes
    assert "@import" not in read.said and "url(" not in read.said and '</script><b>"&' in read.said
