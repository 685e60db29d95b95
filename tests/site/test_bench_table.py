"""The tables of `make bench-site`, made of figures that nobody measured."""

import pytest

from app.bench.command import arguments
from app.bench.line import FULL_SPEED, Wire
from app.bench.table import aims, tables, troubles

NAMES = {"site": "ours", "plain": "plain", "bare": "bare"}


def record(side: str, visit: str = "cold", run: int = 1, **figures: float) -> dict:
    return {"side": side, "network": FULL_SPEED.name, "visit": visit, "run": run, **figures}


def rows(text: str) -> dict[str, list[str]]:
    """Cells by the words of the row; columns are two blanks or more apart."""
    lines = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return {cells[0]: cells[1:] for cells in lines if cells}


def test_a_cell_is_the_median_with_its_range_and_the_ratio_is_of_medians() -> None:
    records = [record("site", run=n, interactive=t) for n, t in enumerate((4.0, 3.0, 9.0))]
    records += [record("plain", run=n, interactive=t) for n, t in enumerate((10.0, 11.0, 8.0))]
    got = rows(tables(records, NAMES))
    assert got[f"{FULL_SPEED.name}, cold"] == ["ours", "plain", "bare", "site ÷ plain"]
    assert got["Python interactive, s"] == ["4.00 (3.00–9.00)", "10.00 (8.00–11.00)", "–", "0.40"]
    # Plain has no replay of its own that could be moved before Python answers.
    assert got["replay scrubbable, s"] == ["–", "10.00 (8.00–11.00)", "–", "–"]
    assert "learner worker ready, s" not in got


def test_nothing_is_divided_by_next_to_nothing() -> None:
    for size, ratio in ((4_999.0, "–"), (5_100.0, "1.00")):  # 0.00 and 0.01 MB
        records = [record(side, "warm", bytes_until=size) for side in NAMES]
        assert rows(tables(records, NAMES))["sent until interactive, MB"][-1] == ratio


def test_each_network_and_each_kind_of_visit_has_a_table() -> None:
    records = [record("bare", "cold", bytes_until=4_990_000.0), record("bare", "warm", bytes_until=0.0)]
    records.append({**records[0], "network": "slow", "bytes_until": 5_000_000.0})
    found = [rows(part) for part in tables(records, {"bare": "bare"}).split("\n\n")]
    assert [part["sent until interactive, MB"] for part in found] == [["4.99"], ["0.00"], ["5.00"]]
    assert [next(iter(part)) for part in found] == [
        f"{FULL_SPEED.name}, cold",
        f"{FULL_SPEED.name}, warm",
        "slow, cold",
    ]


@pytest.mark.parametrize(("ours", "said"), [(3.99, "met"), (4.0, "met"), (4.05, "NOT MET")])
def test_an_aim_is_met_up_to_its_bound(ours: float, said: str) -> None:
    records = [record("site", interactive=ours, bytes_until=10e6), record("plain", interactive=10.0)]
    lines = aims(records, FULL_SPEED.name)
    assert (
        lines[0]
        == f"Python interactive ÷ plain's, cold: {ours / 10:.2f} ({ours / 10:.2f}–{ours / 10:.2f}), aim ≤ 0.4: {said}"
    )
    assert lines[1] == "MB sent until Python is interactive, cold: 10.00 (10.00–10.00), aim ≤ 10: met"
    assert len(lines) == 2  # nothing is said of what was not measured


def test_scrubbing_is_judged_by_when_plain_can_do_it() -> None:
    records = [record("site", scrubbable=1.5, content=1.6), record("plain", interactive=10.0, content=0.1)]
    content, scrubbable = aims(records, FULL_SPEED.name)
    assert content.endswith("0.16 (0.16–0.16), aim ≤ 0.15: NOT MET")
    assert scrubbable.endswith("0.15 (0.15–0.15), aim ≤ 0.15: met")


def test_the_range_of_an_aim_is_that_of_the_runs_ratios() -> None:
    records = [record("site", run=n, interactive=t) for n, t in enumerate((2.0, 6.0, 4.0))]
    records += [record("plain", run=n, interactive=t) for n, t in enumerate((10.0, 20.0, 40.0))]
    assert aims(records, FULL_SPEED.name) == ["Python interactive ÷ plain's, cold: 0.20 (0.10–0.30), aim ≤ 0.4: met"]


def test_the_most_sent_within_a_second() -> None:
    wire = Wire(sent=[(0.0, 5), (0.4, 7), (1.0, 4), (1.3, 8), (3.0, 18)])
    assert wire.fastest() == 19  # 7 + 4 + 8: what was sent a whole second before no longer counts
    assert (wire.bytes(0.39), wire.bytes(0.4), wire.bytes()) == (5, 12, 42)
    assert Wire().fastest() == 0


def test_failed_visits_and_missing_files_are_told_and_do_not_count() -> None:
    records = [record("site", interactive=1.0), {**record("site", run=2), "failed": "Python stopped"}]
    records.append({**record("plain", interactive=2.0), "missing": ["/a.svg"]})
    assert rows(tables(records, NAMES))["Python interactive, s"] == ["1.00", "2.00", "–", "0.50"]
    assert troubles(records) == [
        f"failed: site, {FULL_SPEED.name}, cold, run 2: Python stopped",
        "not found: plain asked for /a.svg",
    ]


@pytest.mark.parametrize("given", [["--runs", "0"], ["--runs", "101"], ["--runs", "x"], ["--only", "site,fast"]])
def test_what_cannot_be_measured_is_refused(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments(given)
    assert given[1].split(",")[-1] in capsys.readouterr().err


def test_the_usual_measurement() -> None:
    usual = arguments([])
    assert (usual.runs, usual.only, usual.no_throttled) == (5, ["site", "plain", "bare"], False)
    assert arguments(["--only", "bare,site", "--runs", "100"]).only == ["site", "bare"]
