"""The panel of measured times: with a server whose device process is a fake one, and without. All times are made up."""

import http.client
import json
import re
from pathlib import Path

import pytest
from gpu_server import THERE, GpuServer, made_up
from lab_page import LabPage, opened
from playwright.sync_api import Route, expect

from lab.cuda.detect import Status
from lab.measurement.saved import parse_measurement

LANE = ".side[data-policy={}] .gpu-lane"


class Panel:
    """The panel of an open page, in the words of its user."""

    def __init__(self, lab: LabPage) -> None:
        self.lab, self.page = lab, lab.page
        self.node = lab.page.locator("#gpu")
        self.says = self.node.locator(".gpu-run .gpu-says")
        self.asked: list[str] = []
        lab.page.on("request", lambda request: self.asked.append(request.url) if "/api/" in request.url else None)

    def start(self, url: str) -> "Panel":
        self.lab.open(url)
        self.lab.reveal()
        return self

    def press(self, name: str) -> None:
        self.node.get_by_role("button", name=name, exact=True).click()

    def load(self, path: Path, button: str = "#open-measurement") -> None:
        with self.page.expect_file_chooser() as waiting:
            self.page.click(button)
        waiting.value.set_files(path)

    def saved(self, folder: Path) -> str:
        with self.page.expect_download() as waiting:
            self.press("Save as a file")
        path = folder / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path.read_text("utf-8")

    def lane(self, policy: str):
        return self.page.locator(LANE.format(policy))


def submit(server: GpuServer) -> str:
    """A replay of somebody else's."""
    trace = json.loads((Path(__file__).resolve().parents[2] / "traces" / "course.json").read_text("utf-8"))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/api/cuda/replays", json.dumps({"trace": trace}), headers)
    answer = connection.getresponse()
    assert answer.status == 202
    return str(json.loads(answer.read())["id"])


def stop(server: GpuServer, name: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("DELETE", f"/api/cuda/replays/{name}")
    assert connection.getresponse().status == 200


def test_a_replay_is_measured_followed_stopped_and_found_again(browser, site, tmp_path):
    go = tmp_path / "go"
    with GpuServer(site, "wait", go, most_waiting=1) as server, opened(browser) as lab:
        panel = Panel(lab).start(server.url)
        lab.page.get_by_role("button", name="Measure on the GPU").click()
        assert panel.asked == [f"{server.url}api/cuda"]
        expect(panel.node).to_contain_text("on 0: made up for tests. 12 GB of its 80 GB are free.")
        expect(panel.node).to_contain_text("No GPU has run this backend yet.")
        expect(panel.node).to_contain_text("4 layers of llama-3.1-8b in bfloat16, at most 60 s")

        # Under way; the page is left and comes back; nothing is asked of a second one.
        lab.set("Pages", "15")
        lab.wait_metric("continuous", "peak_pages", 15)
        panel.press("Measure this replay")
        expect(panel.says).to_have_text("verify static: 0 of 2")
        expect(panel.node.locator(".gpu-notices")).to_have_text("The GPU is in use by others.")
        lab.page.reload()
        lab.wait_ready()
        expect(panel.says).to_have_text("verify static: 0 of 2")
        go.touch()
        expect(panel.lane("static")).to_have_count(1)
        expect(panel.lane("continuous")).to_have_count(1)
        assert len(server.replays._all) == 1

        # What is shown is what was measured.
        measurement = parse_measurement(panel.saved(tmp_path))
        assert measurement["limits"]["num_pages"] == 15
        lab.seek(15)
        for policy in ("static", "continuous"):
            row = next(row for row in measurement["policies"][policy]["iterations"] if row["iteration"] == 15)
            expect(panel.lane(policy).locator(".gpu-now")).to_have_text(
                f"iteration 15: {row['ms']['median']:#.3g} ms ({row['ms']['p10']:#.3g}–{row['ms']['p90']:#.3g}), "
                f"floor {row['floor_ms']:#.3g}, ratio {row['ratio']:.2f}, {row['mode']}"
            )
            steps = panel.lane(policy).locator("path.median").get_attribute("d")
            assert steps.count("H") == len(measurement["policies"][policy]["iterations"])
            cells = panel.node.locator(".gpu-shown tbody tr", has_text=policy.capitalize()).first.locator("td")
            expect(cells.first).to_have_text(str(steps.count("H")))
            expect(cells.nth(3)).to_have_text("1.25")
        expect(panel.node.locator(".gpu-notes")).to_contain_text("It is the cost of a step, not the speed of a model.")
        expect(panel.node.locator(".facts")).to_contain_text("PyTorch 0, CUDA 0, Triton 0")

        # Stopped, and then stopped by its time limit, and dead.
        go.unlink()
        panel.press("Measure this replay")
        expect(panel.says).to_have_text("verify static: 0 of 2")
        panel.press("Cancel")
        expect(panel.says).to_have_text("The replay was cancelled.")
        for how, words in (
            ("signal", "died (killed by SIGKILL); it last said: CUDA error: an illegal memory access"),
            ("too-small", "GPU 0 is too small."),
            ("input", "too large to be replayed on a GPU"),
        ):
            server.how(how)
            panel.press("Measure this replay")
            expect(panel.says).to_contain_text(words)
        server.how("hang")
        server.replays.seconds = 1
        panel.press("Measure this replay")
        expect(panel.says).to_contain_text("took more than 1 s and was stopped")
        expect(panel.lane("static")).to_have_count(1)  # what was measured before stays
        server.replays.seconds = 60
        assert lab.troubles == []

        # One before it, then one too many.
        first = submit(server)
        panel.press("Measure this replay")
        expect(panel.says).to_have_text("Waiting: 1 replay is before this one.")
        panel.press("Cancel")
        expect(panel.says).to_have_text("The replay was cancelled.")
        second = submit(server)
        panel.press("Measure this replay")
        expect(panel.says).to_have_text("1 replays wait already; try again when one has ended.")
        for name in (second, first):
            stop(server, name)

        # The connection is lost, and comes back; and a server that was started again knows nothing of it.
        server.how("wait", go)
        panel.press("Measure this replay")
        expect(panel.says).to_have_text("verify static: 0 of 2")
        server.hang_up()
        expect(panel.says).to_contain_text("The connection to the server is lost.")
        expect(panel.says).to_have_text("verify static: 0 of 2")
        server.replays._all.clear()
        server.hang_up()
        expect(panel.says).to_contain_text("The server does not know this replay any more")
        expect(panel.node.get_by_role("button", name="Measure this replay")).to_be_visible()
        go.touch()


def with_sample(route: Route) -> None:
    """The page, as if a sample had come with the site."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace('"sample": null', '"sample": "sample.measurement.json"'))


def test_without_a_server_nothing_is_asked_and_measurements_open(browser, site, tmp_path):
    other = tmp_path / "other.json"
    rows = [{"id": f"r{n}", "arrival": n, "prompt_tokens": 20, "output_tokens": 6} for n in range(5)]
    limits = {"max_num_seqs": 2, "page_size": 16, "num_pages": 8}
    other.write_text(json.dumps({"schema_version": 1, "name": "other", "limits": limits, "requests": rows}), "utf-8")
    course = made_up(tmp_path / "course.measurement.json")
    elsewhere = made_up(tmp_path / "other.measurement.json", trace=other)
    fast = made_up(tmp_path / "fast.measurement.json", ratio=0.8)
    broken = tmp_path / "broken.json"
    broken.write_text(course.read_text("utf-8").replace('"graph"', '"quick"', 1), "utf-8")
    with GpuServer(site, "result", cuda=False) as server, opened(browser) as lab:
        lab.page.route(server.url, with_sample)
        lab.page.route("**/sample.measurement.json", lambda route: route.fulfill(path=course))
        panel = Panel(lab).start(server.url)
        # A file that did not come once is asked for again.
        lab.page.route("**/gpu.css", lambda route: route.abort(), times=1)
        lab.page.get_by_role("button", name="Measured times").click()
        expect(lab.page.locator("#notice-gpu")).to_contain_text("The file gpu.css did not load.")
        lab.troubles.clear()
        lab.page.get_by_role("button", name="Measured times").click()
        expect(panel.node.locator(".gpu-unconfirmed")).to_be_attached()
        assert lab.page.locator("link[href$='gpu.css']").count() == 1
        panel.press("Open the sample")
        expect(panel.lane("continuous")).to_contain_text("made up for tests")
        expect(panel.node.get_by_role("button", name="Measure this replay")).to_be_hidden()
        expect(panel.node).to_contain_text(
            "What no GPU had confirmed when this version of the lab was made: No GPU has run"
        )
        assert panel.saved(tmp_path) == course.read_text("utf-8")

        # Other limits: it is taken away, said, and the way back is there.
        lab.set("Pages", "15")
        expect(panel.node.locator(".gpu-place")).to_contain_text(
            "under other limits or options: max_num_seqs 3, num_pages 32"
        )
        expect(panel.lane("static")).to_have_count(0)
        panel.press("Show the replay that was measured")
        expect(panel.lane("static")).to_have_count(1)
        expect(lab.field("Pages")).to_have_value("32")

        # One that beat its floor.
        panel.load(fast, "#open-file")
        expect(panel.node.locator(".gpu-invalid")).to_contain_text("took less than moving their bytes must take")
        expect(panel.lane("static")).to_contain_text("NOT VALID")
        expect(panel.lane("static").locator("svg")).to_have_attribute("aria-label", re.compile("^Not valid: static on"))
        panel.node.get_by_label("Compare with").select_option(index=1)
        expect(panel.node.locator(".gpu-differences")).to_contain_text("The first is not valid")
        row = panel.node.locator(".gpu-compared tr", has_text="static, over the floor").locator("td")
        expect(row).to_have_text(["0.800", "1.25", "1.56"])
        expect(panel.lane("static").locator("path.other")).to_have_attribute("d", re.compile("^M"))

        # Of another trace.
        panel.load(elsewhere)
        expect(panel.node.locator(".gpu-place")).to_contain_text("of another trace than the one below")
        expect(panel.lane("static")).to_have_count(0)
        panel.press("Show its trace")
        expect(panel.lane("static")).to_have_count(1)
        expect(lab.page.locator("#notice-trace")).to_contain_text("5 requests")

        # What is no measurement changes nothing.
        panel.load(broken)
        expect(panel.node).to_contain_text("broken.json: policies.static.iterations[1].mode: must be one of")
        expect(panel.lane("static")).to_have_count(1)

        # On a phone, dark; nothing is wider than it, and of two that are compared both are seen.
        lab.page.set_viewport_size({"width": 360, "height": 800})
        lab.page.wait_for_function("() => document.documentElement.scrollWidth <= 360")
        lane, time = (
            lab.page.locator(f".side[data-policy=static] {part}").bounding_box()
            for part in (".gpu-lane svg", ".timeline")
        )
        assert (lane["x"], lane["width"]) == (time["x"], time["width"])
        kernel = panel.node.locator("details", has=lab.page.get_by_text("The price of paging"))
        kernel.locator("summary").click()
        ratio = kernel.get_by_role("cell", name="× 1.20").bounding_box()
        assert ratio is not None and ratio["x"] + ratio["width"] <= 360, ratio
        kernel.locator("summary").click()
        panel.node.get_by_label("Compare with").select_option(index=1)
        expect(panel.node.locator(".gpu-compared table")).to_have_count(1)
        assert panel.node.locator(".gpu-compared .gpu-scroll").evaluate(
            "(node) => node.scrollWidth <= node.clientWidth"
        )

        # They are still here after a reload, and so is what another tab has opened meanwhile.
        tab = lab.page.context.new_page()
        with_tab = Panel(LabPage(tab))
        tab.route(server.url, with_sample)
        with_tab.start(server.url)
        tab.get_by_role("button", name="Measured times").click()
        expect(with_tab.node.locator("#gpu-list option")).to_have_count(4)
        for number, opens in enumerate((panel, with_tab)):
            opens.load(made_up(tmp_path / f"{number}.json", ratio=2 + number))
            expect(opens.node.locator(".gpu-shown tbody tr").first).to_contain_text(f"{2 + number}.00")
        tab.close()
        lab.page.reload()
        lab.wait_ready()
        lab.page.get_by_role("button", name="Measured times").click()
        shelf = panel.node.get_by_role("combobox", name="Measurement")
        options = shelf.locator("option")
        expect(options).to_have_count(6)  # five, and none
        shelf.select_option(index=3)
        expect(panel.lane("static")).to_have_count(1)
        shelf.select_option("None")
        expect(panel.lane("static")).to_have_count(0)
        shelf.select_option(index=1)
        panel.press("Remove")
        expect(options).to_have_count(5)
        assert panel.asked == [] and lab.troubles == []


def test_what_stands_in_the_way_is_said_in_one_sentence(browser, site, tmp_path):
    found = [Status(False, "driver", "There is no NVIDIA driver on this machine: install it.")]
    with GpuServer(site, "result", status=lambda: found[0]) as server, opened(browser) as lab:
        panel = Panel(lab)
        with lab.page.expect_response("**/api/cuda"):
            panel.start(server.url)
        lab.page.wait_for_timeout(300)
        button = lab.page.locator("#measure-gpu")
        expect(button).not_to_have_text("Measure on the GPU")  # nobody has asked for CUDA
        panel.load(made_up(tmp_path / "a.json"))
        expect(panel.node).to_contain_text(
            "This server cannot replay on a GPU. There is no NVIDIA driver on this machine"
        )
        expect(button).to_have_text("Measured times")
        expect(lab.page.locator(".private")).to_contain_text("Nothing you do here leaves your machine")
        found[0] = Status(False, "pytorch", "There is a GPU, but PyTorch is not installed: pip install it.")
        server.replays._status = None
        panel.press("Look again")
        expect(panel.node).to_contain_text("This server cannot replay on a GPU. There is a GPU, but PyTorch is not")
        expect(button).to_have_text("Measure on the GPU")
        expect(lab.page.locator(".private")).to_contain_text("but for what you have the GPU measure")
        found[0] = Status(True, None, "CUDA is there.", THERE.devices)
        server.replays._status = None
        panel.press("Look again")
        expect(panel.node.get_by_role("button", name="Measure this replay")).to_be_visible()
        assert lab.troubles == []


def test_a_token_is_asked_for_and_taken_from_the_link(browser, site):
    with GpuServer(site, "result", token="se-cr_et") as server:
        with opened(browser) as lab:
            panel = Panel(lab).start(server.url)
            lab.page.get_by_role("button", name="Measure on the GPU").click()
            expect(panel.node).to_contain_text("This server asks for a token.")
            assert panel.asked == [] and lab.troubles == []  # it is not asked without one
            panel.node.get_by_label("Token").fill("wrong")
            panel.press("Use it")
            expect(panel.node).to_contain_text("That token is not the right one.")
            panel.node.get_by_label("Token").fill("se-cr_et")
            panel.press("Use it")
            panel.press("Measure this replay")
            expect(panel.lane("static")).to_have_count(1)
        with opened(browser) as lab:
            panel = Panel(lab).start(f"{server.url}#cuda-token=wrong")
            assert lab.page.url == server.url
            lab.page.get_by_role("button", name="Measure on the GPU").click()
            expect(panel.node).to_contain_text("That token is not the right one.")
            lab.set("Pages", "15")
            lab.page.wait_for_url("**#num_pages=15")
            lab.page.evaluate("() => { location.hash = '#cuda-token=se-cr_et'; }")
            expect(panel.node.get_by_role("button", name="Measure this replay")).to_be_visible()
            assert lab.page.url == f"{server.url}#num_pages=15"
            assert lab.page.locator("#notice-link").count() == 0


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
