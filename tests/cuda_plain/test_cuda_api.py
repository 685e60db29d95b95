"""The HTTP API of the CUDA backend over a real socket, with a fake device process."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import tornado.httpserver
from made_up import COURSE, course_job, measurement
from tornado.netutil import bind_sockets

from app.serve import cuda_queue
from app.serve.command import make_application
from app.serve.cuda_api import MOST_BYTES, MOST_REQUESTS
from app.serve.cuda_queue import Replays
from app.serve.site_folder import SiteFolder
from lab.cuda.detect import Status
from lab.cuda.job import Settings
from lab.measurement.saved import parse_measurement

FAKE = [sys.executable, str(Path(__file__).with_name("fake_child.py"))]
TRACE = json.loads(COURSE.read_text("utf-8"))
THERE = Status(True, None, "CUDA 13.0 on 0: made up.", ({"name": "made up", "memory_bytes": 1, "free_bytes": 1},))
JSON = {"Content-Type": "application/json"}


class Client:
    def __init__(self, port, replays):
        self.port, self.replays = port, replays

    def ask(self, method, path, body=None, headers=None):
        """(status, JSON, headers) of one request, sent as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, json.loads(response.read()), response.headers
        finally:
            connection.close()

    def submit(self, headers=None, **asked):
        return self.ask("POST", "/api/cuda/replays", json.dumps({"trace": TRACE, **asked}), {**JSON, **(headers or {})})

    def state(self, name):
        return self.ask("GET", f"/api/cuda/replays/{name}")[1]

    def ended(self, name):
        return self.until(name, lambda state: state["state"] not in ("waiting", "running"))

    def until(self, name, condition):
        limit = time.monotonic() + 30
        while not condition(state := self.state(name)):
            assert time.monotonic() < limit, state
            time.sleep(0.02)
        return state

    def events(self, name):
        """The data of all events, until the server ends them."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", f"/api/cuda/replays/{name}/events")
        response = connection.getresponse()
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        text = response.read().decode()
        connection.close()
        return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


@contextmanager
def serving(*how, token=None, hosts=frozenset({"127.0.0.1", "localhost"}), status=THERE, prefix="/", **options):
    """A server in a thread, whose replays are made by a fake device process that ends as `how` says."""
    started = threading.Event()
    found = {}

    async def serve():
        replays = Replays(
            Settings(compare=False),
            options.pop("seconds", 60),
            command=[*FAKE, *map(str, how)],
            looker=status if callable(status) else lambda: status,
            **options,
        )
        application = make_application(SiteFolder("1", (), {}), prefix, hosts, replays, token)
        server = tornado.httpserver.HTTPServer(application)
        sockets = bind_sockets(0, "127.0.0.1")
        server.add_sockets(sockets)
        stop = asyncio.Event()
        found.update(client=Client(sockets[0].getsockname()[1], replays), stop=stop, loop=asyncio.get_running_loop())
        started.set()
        await stop.wait()
        server.stop()
        await replays.close()
        await server.close_all_connections()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(10)
    try:
        yield found["client"]
    finally:
        found["loop"].call_soon_threadsafe(found["stop"].set)
        thread.join(20)
        assert not thread.is_alive()


def test_what_is_there_is_told():
    with serving("result") as client:
        status, told, headers = client.ask("GET", "/api/cuda")
        assert status == 200
        assert (told["available"], told["sentence"]) == (True, THERE.sentence)
        assert told["settings"]["shape"] == "llama-3.1-8b" and told["time_limit_s"] == 60
        assert all(line.endswith(".") for line in told["unconfirmed"])
        assert headers["Cache-Control"] == "no-store" and headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


def test_without_a_gpu_the_one_sentence_is_told_and_nothing_is_taken():
    missing = Status(False, "driver", "There is no NVIDIA driver on this machine: install it.")
    with serving("result", status=missing) as client:
        assert client.ask("GET", "/api/cuda")[1]["sentence"] == missing.sentence
        assert client.submit()[:2] == (503, {"error": missing.sentence})


def test_a_replay_from_submission_to_measurement():
    with serving("result") as client:
        status, taken, headers = client.submit()
        assert status == 202 and headers["Location"] == f"replays/{taken['id']}"
        events = client.events(taken["id"])
        assert [event["state"] for event in events][-1] == "done"
        assert events[-1]["progress"] == {"stage": "verify static", "done": 2, "of": 2}
        assert events[-1]["notices"] == ["The GPU is in use by others."]
        assert "measurement" not in events[-1]
        done = client.state(taken["id"])
        assert done["measurement"] == measurement(course_job(compare=False))
        parse_measurement(json.dumps(done["measurement"]))
        assert client.events(taken["id"])[-1] == events[-1]  # who comes late is told as well


def test_limits_options_and_policies_are_those_asked_for():
    with serving("result") as client:
        _, taken, _ = client.submit(limits={"num_pages": 14}, options={"victim": "largest"}, policies=["continuous"])
        made = client.ended(taken["id"])["measurement"]
        assert (made["limits"]["num_pages"], made["options"]) == (14, {"victim": "largest"})
        assert list(made["policies"]) == ["continuous"]


@pytest.mark.parametrize(
    ("how", "state", "words"),
    [
        ("signal", "crashed", "killed by SIGKILL"),
        ("exit", "crashed", "exit status 7"),
        ("too-small", "device", "GPU 0 is too small."),
        ("input", "refused", "too large to be replayed"),
        ("garbage", "fault", "no event"),
    ],
)
def test_a_child_that_fails_is_an_answer_and_the_server_goes_on(how, state, words):
    with serving(how) as client:
        for _ in range(2):
            _, taken, _ = client.submit()
            ended = client.ended(taken["id"])
            assert ended["state"] == state and words in ended["message"] and "measurement" not in ended
        assert client.ask("GET", "/api/cuda")[0] == 200


def test_a_replay_that_takes_too_long_is_stopped():
    with serving("hang", seconds=0.5) as client:
        ended = client.ended(client.submit()[1]["id"])
        assert ended["state"] == "timed_out" and "measurement" not in ended


def test_a_program_that_cannot_be_started_is_an_answer():
    with serving("result") as client:
        client.replays._command = ["/no/such/program"]
        assert client.ended(client.submit()[1]["id"])["state"] == "fault"


def test_a_fault_of_the_server_itself_ends_one_replay_only(monkeypatch):
    real = Replays._work

    def failing(replay, loop):
        monkeypatch.setattr(Replays, "_work", staticmethod(real))
        replay.running.cancel()
        real(replay, loop)
        raise RuntimeError

    monkeypatch.setattr(Replays, "_work", staticmethod(failing))
    with serving("result") as client:
        names = [client.submit()[1]["id"] for _ in range(2)]
        assert [client.ended(name)["state"] for name in names] == ["fault", "done"]


def test_one_runs_the_others_wait_in_order_and_a_full_queue_refuses(tmp_path):
    go = tmp_path / "go"
    with serving("wait", go, most_waiting=2) as client:
        names = [client.submit()[1]["id"]]
        client.until(names[0], lambda state: state["progress"])
        names += [client.submit()[1]["id"] for _ in range(2)]
        assert [client.state(name)["position"] for name in names] == [0, 1, 2]
        assert [client.state(name)["state"] for name in names] == ["running", "waiting", "waiting"]
        status, refused, headers = client.submit()
        assert (status, refused) == (429, {"error": "2 replays wait already; try again when one has ended."})
        assert int(headers["Retry-After"]) > 0
        assert client.ask("DELETE", f"/api/cuda/replays/{names[1]}")[1]["state"] == "cancelled"
        assert client.state(names[2])["position"] == 1
        names.append(client.submit()[1]["id"])  # there is room again
        go.touch()
        assert [client.ended(name)["state"] for name in names] == ["done", "cancelled", "done", "done"]


def test_a_running_replay_is_cancelled_and_the_next_one_starts():
    with serving("hang") as client:
        first, second = (client.submit()[1]["id"] for _ in range(2))
        client.until(first, lambda state: state["progress"])
        assert client.ask("DELETE", f"/api/cuda/replays/{first}")[1]["state"] == "cancelled"
        client.until(second, lambda state: state["state"] == "running")
        assert client.ask("DELETE", f"/api/cuda/replays/{first}")[0] == 200  # again: it stays as it is
    assert client.replays._current is None  # the second was stopped with the server


def test_a_listener_that_goes_away_leaves_the_replay_as_it_is(tmp_path):
    go = tmp_path / "go"
    with serving("wait", go) as client:
        name = client.submit()[1]["id"]
        for _ in range(3):
            listener = socket.create_connection(("127.0.0.1", client.port))
            listener.sendall(f"GET /api/cuda/replays/{name}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert listener.recv(100).startswith(b"HTTP/1.1 200")
            listener.close()
        client.until(name, lambda state: state["progress"])
        go.touch()
        assert client.ended(name)["state"] == "done"


def test_a_client_that_goes_away_while_it_sends_leaves_nothing():
    with serving("result") as client:
        sender = socket.create_connection(("127.0.0.1", client.port))
        head = "POST /api/cuda/replays HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        sender.sendall((head + "Content-Length: 5000\r\n\r\n{").encode())
        sender.close()
        assert client.ask("GET", "/api/cuda")[0] == 200
        assert client.replays._all == {}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the request: is empty"),
        (b"{", "the request: line 1, column 2: is not JSON"),
        (b"\xff", "the request: is not UTF-8"),
        (b"[]", "the request: must be an object"),
        (b"{}", "trace: is missing"),
        (json.dumps({"trace": {**TRACE, "code": "import os"}}).encode(), "trace: code: unknown key"),
        (json.dumps({"trace": TRACE, "settings": {"device": 1}}).encode(), "the request, settings: unknown key"),
        (b'{"trace": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "the request: is nested too deeply"),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(body, said):
    with serving("result") as client:
        status, told, _ = client.ask("POST", "/api/cuda/replays", body, JSON)
        assert status == 400
        assert told["error"].startswith(said) and "\n" not in told["error"]
        assert client.replays._all == {}


def padded_to(size):
    body = json.dumps({"trace": TRACE}).encode()
    return body + b" " * (size - len(body))


def test_a_body_of_the_most_bytes_is_taken_and_one_more_is_not():
    with serving("result") as client:
        assert client.ask("POST", "/api/cuda/replays", padded_to(MOST_BYTES), JSON)[0] == 202
        status, told, _ = client.ask("POST", "/api/cuda/replays", padded_to(MOST_BYTES + 1), JSON)
        assert (status, told) == (413, {"error": f"The trace is too large: at most {MOST_BYTES} bytes are taken."})


def test_a_body_without_a_length_is_counted_while_it_comes():
    with serving("result") as client:
        parts = (b" " * 65536 for _ in range(MOST_BYTES // 65536 + 1))
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
        connection.request("POST", "/api/cuda/replays", parts, JSON, encode_chunked=True)
        assert connection.getresponse().status == 413
        connection.close()
        assert client.replays._all == {}


def test_a_body_far_too_large_is_cut_off():
    with serving("result") as client:
        sender = socket.create_connection(("127.0.0.1", client.port), timeout=30)
        head = "POST /api/cuda/replays HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        sender.sendall((head + "Content-Length: 999999999999\r\n\r\n{").encode())
        answer = b""
        while part := sender.recv(65536):  # until the server hangs up
            answer += part
        sender.close()
        assert answer.startswith(b"HTTP/1.1 413")


def test_too_many_requests_are_refused():
    row = {"arrival": 0, "prompt_tokens": 1, "output_tokens": 1}
    trace = {**TRACE, "requests": [{"id": f"r{n}", **row} for n in range(MOST_REQUESTS + 1)]}
    with serving("result") as client:
        status, told, _ = client.submit(trace=trace)
        assert status == 400 and f"at most {MOST_REQUESTS}" in told["error"]


@pytest.mark.parametrize(
    "given", [None, "Bearer wrong", "Bearer ", "Basic secret", "secret", "Bearer secre", "Bearer é"]
)
def test_without_the_right_token_nobody_is_told_anything(given):
    headers = {"Authorization": given.encode() if given else b""} if given else {}
    with serving("result", token="secret", hosts=None) as client:
        for method, path in [
            ("GET", "/api/cuda"),
            ("POST", "/api/cuda/replays"),
            ("GET", "/api/cuda/replays/x"),
            ("GET", "/api/cuda/replays/x/events"),
            ("DELETE", "/api/cuda/replays/x"),
            ("GET", "/api/else"),
        ]:
            status, told, answer = client.ask(method, path, None, {**JSON, **headers})
            assert (status, told["error"].split(";")[0]) == (401, "The token is missing or wrong")
            assert answer["WWW-Authenticate"].startswith("Bearer")


def test_with_the_right_token_all_is_as_usual():
    right = {"Authorization": "Bearer secret"}
    with serving("result", token="secret", hosts=None) as client:
        assert client.ask("GET", "/api/cuda", None, right)[0] == 200
        assert client.submit(right)[0] == 202


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": "application/json; charset=utf-8"}, 202),
    ],
)
def test_other_sites_in_the_users_browser_cannot_submit(headers, status):
    with serving("result") as client:
        assert client.submit(headers)[0] == status
        own = {"Origin": f"http://127.0.0.1:{client.port}"}
        assert client.submit(own)[0] == 202


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/cuda/replays/none", 404),
        ("DELETE", "/api/cuda/replays/none", 404),
        ("GET", "/api/cuda/replays/none/events", 404),
        ("GET", "/api/else", 404),
        ("GET", "/api/cuda/replays", 405),
        ("PUT", "/api/cuda", 405),
    ],
)
def test_what_is_not_there_is_told_as_json(method, path, status):
    with serving("result") as client:
        told = client.ask(method, path)
        assert told[0] == status and list(told[1]) == ["error"]


def test_only_so_many_results_are_kept(monkeypatch):
    monkeypatch.setattr(cuda_queue, "KEPT", 2)
    with serving("too-small") as client:
        names = []
        for _ in range(3):
            names.append(client.submit()[1]["id"])
            client.ended(names[-1])
        assert client.ask("GET", f"/api/cuda/replays/{names[0]}")[0] == 404
        assert client.ask("GET", f"/api/cuda/replays/{names[1]}")[0] == 200


def test_the_device_is_looked_at_once_however_many_ask():
    looked = []

    def look():
        looked.append(1)
        time.sleep(0.3)
        return THERE

    with serving("result", status=look) as client:
        threads = [threading.Thread(target=client.ask, args=("GET", "/api/cuda")) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(looked) == 1


def test_nobody_looks_at_the_device_while_a_replay_is_timed(tmp_path, monkeypatch):
    monkeypatch.setattr(cuda_queue, "LOOK_AGAIN_SECONDS", 0)
    looked = []
    go = tmp_path / "go"
    with serving("wait", go, status=lambda: looked.append(1) or THERE) as client:
        name = client.submit()[1]["id"]
        client.until(name, lambda state: state["progress"])
        before = len(looked)
        assert client.ask("GET", "/api/cuda")[1]["sentence"] == THERE.sentence
        other = client.submit()[1]["id"]
        assert len(looked) == before
        go.touch()
        assert [client.ended(each)["state"] for each in (name, other)] == ["done", "done"]
        client.ask("GET", "/api/cuda")
        assert len(looked) == before + 1


def test_a_device_that_is_not_there_is_told_before_anything_is_taken():
    with serving("result") as client:
        client.replays.settings = Settings(device=1)
        told = client.ask("GET", "/api/cuda")[1]
        sentence = f"There is no GPU 1: {THERE.sentence} Choose one with --cuda-device."
        assert (told["available"], told["missing"], told["sentence"]) == (False, "gpu", sentence)
        assert client.submit()[:2] == (503, {"error": sentence})


def test_below_a_prefix_it_is_below_the_prefix():
    with serving("result", prefix="/lab/") as client:
        assert client.ask("GET", "/lab/api/cuda")[0] == 200
        connection = http.client.HTTPConnection("127.0.0.1", client.port)
        connection.request("GET", "/api/cuda")
        assert connection.getresponse().status == 404
        connection.close()


def test_a_server_that_stops_takes_what_runs_and_waits_along():
    with serving("hang") as client:
        names = [client.submit()[1]["id"] for _ in range(3)]
        client.until(names[0], lambda state: state["progress"])
        process = client.replays.get(names[0]).running._process
    assert process.returncode is not None
    assert [client.replays.get(name).ending.outcome for name in names] == ["cancelled"] * 3
