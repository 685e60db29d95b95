"""`serving-lab serve` and what it is told about CUDA: run as a command, with a site that holds nothing."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

CODE = (
    "import sys, app.serve.command as command; from app.serve.site_folder import SiteFolder; from lab.cli import main\n"
    "command._site = lambda folder: SiteFolder('1', (), {})\n"
    "sys.exit(main(['serve', '--no-browser', '--port', '0', *sys.argv[1:]]))"
)


def started(*flags, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", CODE, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


@contextmanager
def serving(*flags, lines=1, **environment):
    """The port, and the lines that were printed."""
    process = started(*flags, **environment)
    try:
        said = [process.stdout.readline() for _ in range(lines)]
        yield int(re.search(r":(\d+)/", said[0])[1]), said
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        process.communicate()


def ask(port, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/api/cuda", headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def test_by_default_replays_are_offered_to_this_machine_without_a_token():
    with serving("--cuda-layers", "2", "--cuda-time-limit", "90") as (port, _):
        status, body = ask(port)
        told = json.loads(body)
        assert status == 200
        assert told["settings"]["layers"] == 2 and told["time_limit_s"] == 90
        assert told["sentence"].endswith(".")  # whatever this machine has or lacks


def first_words(*flags):
    """What a server says on stderr until it is stopped; it is asked once, so that it has had the time to look."""
    process = started(*flags)
    try:
        ask(int(re.search(r":(\d+)/", process.stdout.readline())[1]))
        line = process.stderr.readline() if "auto" in flags else ""
    finally:
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=20)[1]
    return line + rest


def test_who_asks_for_cuda_in_words_is_told_at_the_start_and_nobody_else_is():
    assert re.fullmatch(r"Replays on a GPU: [^\n]+\.\n", first_words("--cuda", "auto"))
    of_cpu = first_words("--cuda", "auto", "--cuda-device", "cpu")
    assert re.fullmatch(r"Replays on a GPU: (PyTorch is not installed|No GPU is used)[^\n]+\.\n", of_cpu)
    assert first_words() == ""


def test_off_is_off():
    with serving("--cuda", "off") as (port, _):
        status, body = ask(port)
        assert status == 404 and body.startswith(b"<!doctype html>")


@pytest.mark.parametrize("flags", [("--host", "0.0.0.0"), ("--allow-host", "lab.example")])
def test_where_others_may_ask_a_token_is_made_up_and_printed(flags):
    with serving(*flags, lines=2) as (port, said):
        token = re.search(r"#cuda-token=([\w-]{32,})\n", said[1])[1]
        assert ask(port)[0] == 401
        assert ask(port, {"Authorization": f"Bearer {token}"})[0] == 200


@pytest.mark.parametrize("token", ["a&b", "a%41", "two words", "schlüssel"])
def test_a_token_that_no_link_can_carry_is_one_line(token):
    process = started(SERVING_LAB_CUDA_TOKEN=token)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert "SERVING_LAB_CUDA_TOKEN: stands in a link" in err and len(err.splitlines()) == 1


def test_a_token_of_ones_own_is_asked_for_everywhere():
    with serving(SERVING_LAB_CUDA_TOKEN="mine") as (port, _):
        assert ask(port)[0] == 401
        assert ask(port, {"Authorization": "Bearer mine"})[0] == 200


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--cuda", "maybe"), "argument --cuda: invalid choice"),
        (("--cuda-layers", "9"), "--cuda-layers: must be at most 4, not 9"),
        (("--cuda-device", "first"), "--cuda-device: must be the number of a GPU or cpu"),
    ],
)
def test_a_wrong_flag_is_one_line(flags, said):
    process = started(*flags)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, "")
    assert said in err and len(err.splitlines()) == 1


def test_the_recipe_for_a_remote_gpu_is_one_that_this_server_takes():
    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    options, port, there, flags = re.search(
        r"^ssh (.*)-L (\d+):127\.0\.0\.1:(\d+) \S+ 'cd serving-lab && \.venv/bin/serving-lab serve (.*)'$", readme, re.M
    ).groups()
    assert "-t" in options.split()  # else the server there outlives Ctrl-C
    assert f"--port {there}" in flags and f"http://127.0.0.1:{port}/ here" in readme
    flags = flags.replace(f"--port {there}", "").split()
    with serving(*flags) as (chosen, _):
        # As through the tunnel, whose end here may be another port.
        status, _ = ask(chosen, {"Host": "127.0.0.1:9000", "Origin": "http://127.0.0.1:9000"})
        assert status == 200
    assert "add `--allow-host localhost`" in readme
    with serving(*flags, "--allow-host", "localhost", lines=2) as (chosen, said):
        assert "#cuda-token=" in said[1] and ask(chosen)[0] == 401
