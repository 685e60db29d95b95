"""The server, as a browser and as somebody curious sees it: run as the command that users type."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.build.site import Site

COMMAND = [sys.executable, "-c", "import sys; from lab.cli import main; sys.exit(main())", "serve", "--no-browser"]

FOREVER = "public, max-age=31536000, immutable"


class Server:
    """A running server; `ask` sends a request exactly as it is written."""

    def __init__(self, port: int, said: str, process: subprocess.Popen[str]) -> None:
        self.port, self.said, self.process = port, said, process

    def ask(
        self, path: str, headers: dict[str, str] | None = None, method: str = "GET"
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, headers=headers or {})
            response = connection.getresponse()
            return response, response.read()
        finally:
            connection.close()


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    process = subprocess.Popen(
        [*COMMAND, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    )
    assert process.stdout and process.stderr
    try:
        said = process.stdout.readline()
        address = re.search(r"http://[^ ]*:(\d+)", said)
        assert address, said + process.stderr.read()
        yield Server(int(address[1]), said, process)
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="module")
def server(site_folder: Path) -> Iterator[Server]:
    with serving("--dir", str(site_folder), "--port", "0") as running:
        yield running


def path_of(site: Site, ending: str) -> str:
    found: str = min(path for path in site.files if path.endswith(ending))
    return found


def test_the_page_is_at_the_root_and_says_to_ask_each_time(server: Server, site: Site) -> None:
    response, body = server.ask("/")
    assert (response.status, body) == (200, site.files["index.html"])
    assert response.getheader("Content-Type") == "text/html; charset=utf-8"
    assert response.getheader("Cache-Control") == "no-cache"
    assert server.ask("/index.html?with=a#query")[1] == body


def test_only_the_page_of_a_server_that_offers_replays_on_a_gpu_says_so(
    server: Server, site: Site, site_folder: Path
) -> None:
    def told(running: Server, path: str) -> str | None:
        return running.ask(path)[0].getheader("Server-Timing")

    assert told(server, "/") == told(server, "/index.html") == "serving-lab-cuda"
    assert told(server, "/site.json") is told(server, f"/{path_of(site, '.css')}") is None
    with serving("--dir", str(site_folder), "--port", "0", "--cuda", "off") as running:
        assert told(running, "/") is None


@pytest.mark.parametrize("name", ["sw.js", "site.json"])
def test_what_may_change_is_asked_for_each_time(server: Server, name: str) -> None:
    assert server.ask(f"/{name}")[0].getheader("Cache-Control") == "no-cache"


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("/worker.js", "text/javascript; charset=utf-8"),
        ("/pyodide.mjs", "text/javascript; charset=utf-8"),
        (".wasm", "application/wasm"),
        (".css", "text/css; charset=utf-8"),
        (".json", "application/json; charset=utf-8"),
        (".svg", "image/svg+xml"),
        (".zip", "application/zip"),
    ],
)
def test_types_and_keeping_of_hashed_files(server: Server, site: Site, ending: str, kind: str) -> None:
    path = path_of(site, ending)
    response, body = server.ask(f"/{path}")
    assert (response.status, response.getheader("Content-Type"), body) == (200, kind, site.files[path])
    assert response.getheader("Cache-Control") == FOREVER
    assert response.getheader("X-Content-Type-Options") == "nosniff"


def test_every_file_of_the_site_is_served_whole(server: Server, site: Site) -> None:
    for path, content in site.files.items():
        response, body = server.ask(f"/{path}")
        if path == "_headers":  # for hosts that read it, not for browsers
            assert response.status == 404
        else:
            assert (response.status, body) == (200, content), path


@pytest.mark.parametrize(
    ("asked", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("br;q=0.1, gzip", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("GZIP", "gzip"),
        ("identity", None),
        ("gzip;q=0, br;q=0.0", None),
        ("", None),
        ("brotli, gzipped", None),
    ],
)
def test_the_best_form_that_the_browser_takes_is_sent(
    server: Server, site: Site, asked: str, coding: str | None
) -> None:
    path = path_of(site, "/worker.js")
    response, body = server.ask(f"/{path}", {"Accept-Encoding": asked})
    forms = {"br": site.compressed[f"{path}.br"], "gzip": site.compressed[f"{path}.gz"], None: site.files[path]}
    assert response.getheader("Content-Encoding") == coding
    assert body == forms[coding]
    assert response.getheader("Content-Length") == str(len(body))
    assert response.getheader("Vary") == "Accept-Encoding"
    assert response.getheader("Content-Type") == "text/javascript; charset=utf-8", "the type is the content's"


def test_gzip_is_the_file(server: Server, site: Site) -> None:
    _, body = server.ask("/", {"Accept-Encoding": "gzip"})
    assert gzip.decompress(body) == site.files["index.html"]


def test_what_a_browser_has_is_not_sent_again(server: Server, site: Site) -> None:
    tags = set()
    for coding in ("br", "gzip", ""):
        first, _ = server.ask("/", {"Accept-Encoding": coding})
        tag = first.getheader("ETag")
        assert tag
        tags.add(tag)
        again, body = server.ask("/", {"Accept-Encoding": coding, "If-None-Match": f'"other", {tag}'})
        assert (again.status, body) == (304, b"")
        assert again.getheader("ETag") == tag
        assert again.getheader("Content-Encoding") is None
        changed, body = server.ask("/", {"Accept-Encoding": coding, "If-None-Match": '"other"'})
        assert changed.status == 200 and body
    assert len(tags) == 3, "each form has a tag of its own"


def test_head_says_the_same_and_sends_nothing(server: Server, site: Site) -> None:
    path = path_of(site, ".wasm")
    response, body = server.ask(f"/{path}", method="HEAD")
    assert (response.status, body) == (200, b"")
    assert response.getheader("Content-Length") == str(len(site.files[path]))


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_sent(server: Server, method: str) -> None:
    response, _ = server.ask("/", method=method)
    assert response.status == 405
    assert response.getheader("Allow") == "GET, HEAD"


@pytest.mark.parametrize(
    "path",
    [
        "/../pyproject.toml",
        "/%2e%2e/pyproject.toml",
        "/..%2fpyproject.toml",
        "/..%5cpyproject.toml",
        "//etc/passwd",
        "/assets-0000000000000000/boot.js",
        "/index.html/",
        "/index.html%00.js",
        "/index.html.br",
        "/no-such-page",
        "/%ff%fe",
        "/" + "a" * 5000,
    ],
)
def test_what_is_not_listed_does_not_exist(server: Server, path: str) -> None:
    response, body = server.ask(path)
    assert response.status in (400, 404)
    assert b"[project]" not in body and b"root:" not in body
    if response.status == 404:
        assert response.getheader("Content-Type") == "text/html; charset=utf-8"
        assert response.getheader("Content-Security-Policy")
        assert b"no such page" in body


@pytest.mark.parametrize("kind", ["assets", "vendor", "python"])
def test_folders_list_nothing(server: Server, site: Site, kind: str) -> None:
    folder = next(path for path in site.files if path.startswith(f"{kind}-")).split("/")[0]
    for path in (f"/{folder}", f"/{folder}/"):
        assert server.ask(path)[0].status == 404


def directives(policy: str | None) -> dict[str, list[str]]:
    assert policy
    return {name: values for name, *values in (part.split() for part in policy.split(";"))}


def test_the_pages_policy(server: Server) -> None:
    response, _ = server.ask("/")
    policy = directives(response.getheader("Content-Security-Policy"))
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == ["'self'"]
    assert policy["connect-src"] == policy["worker-src"] == policy["font-src"] == ["'self'"]
    assert policy["frame-ancestors"] == ["'self'", "https://courses.example.org"]
    assert policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert response.getheader("Referrer-Policy") == "no-referrer"
    assert response.getheader("Cross-Origin-Opener-Policy") == "same-origin"
    assert "camera=()" in (response.getheader("Permissions-Policy") or "")
    assert response.getheader("Server") is None


def test_only_the_workers_that_run_python_may_compile_and_only_panels_may_evaluate(server: Server, site: Site) -> None:
    may_compile = {}
    for path in site.files:
        if path.endswith((".js", ".mjs", ".html")):
            policy = directives(server.ask(f"/{path}", method="HEAD")[0].getheader("Content-Security-Policy"))
            allowed = {value for value in policy["script-src"] if "eval" in value}
            if allowed:
                may_compile[path.rsplit("/", 1)[-1]] = allowed
            assert "'unsafe-inline'" not in policy["script-src"]
    assert may_compile.pop("worker.js") == {"'unsafe-eval'", "'wasm-unsafe-eval'"}
    assert all(allowed == {"'wasm-unsafe-eval'"} for allowed in may_compile.values()), may_compile


@pytest.mark.parametrize("host", ["evil.example.org", "evil.example.org:8000", "127.0.0.1.evil.example.org", ""])
def test_a_name_that_is_not_ours_is_refused(server: Server, host: str) -> None:
    response, body = server.ask("/", {"Host": host})
    assert response.status in (400, 403)
    assert b"first-replay" not in body


def test_a_refused_name_is_said_with_the_remedy_and_without_becoming_part_of_the_page(server: Server) -> None:
    _, body = server.ask("/", {"Host": "lab.example.org"})
    assert b"--allow-host lab.example.org" in body
    _, body = server.ask("/", {"Host": "<script>x"})
    assert b"<script>" not in body


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8000", "LOCALHOST", "[::1]:8000"])
def test_this_machines_own_names_will_do(server: Server, host: str) -> None:
    assert server.ask("/", {"Host": host})[0].status == 200


def test_a_prefix_and_a_further_name(site_folder: Path, site: Site) -> None:
    options = ["--dir", str(site_folder), "--port", "0", "--prefix", "some/path", "--allow-host", "lab.example.org"]
    with serving(*options) as server:
        assert f":{server.port}/some/path/" in server.said
        assert server.ask("/some/path/", {"Host": "lab.example.org"})[1] == site.files["index.html"]
        assert server.ask("/some/path/sw.js")[1] == site.files["sw.js"]
        response, _ = server.ask("/some/path")
        assert (response.status, response.getheader("Location")) == (302, "/some/path/")
        for path in ("/", "/sw.js", "/some/", "/some/path/../path/sw.js", "/elsewhere/some/path/"):
            assert server.ask(path)[0].status == 404, path


def test_a_server_open_to_others_answers_to_any_name(site_folder: Path) -> None:
    with serving("--dir", str(site_folder), "--port", "0", "--host", "0.0.0.0") as server:
        assert "http://127.0.0.1:" in server.said
        response, _ = server.ask("/", {"Host": "lab.example.org"})
        assert (response.status, response.getheader("Server-Timing")) == (200, 'serving-lab-cuda;desc="token"')


@contextmanager
def busy(port: int = 0) -> Iterator[int]:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        yield taken.getsockname()[1]


def refused(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def test_a_busy_port_that_was_asked_for_is_one_line_with_the_remedy(site_folder: Path) -> None:
    with busy() as port:
        done = refused("--dir", str(site_folder), "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"Port {port} is in use" in done.stderr and "--port" in done.stderr


def test_a_busy_default_port_gives_way_to_the_next_and_says_so(site_folder: Path) -> None:
    try:
        taken = busy(8000)
        with taken, serving("--dir", str(site_folder)) as server:
            assert server.port != 8000
            server.process.terminate()
            _, said = server.process.communicate(timeout=20)
            assert f"Port 8000 is in use, so this is port {server.port}." in said
    except OSError:  # somebody else has it: then that is the busy port of this test
        with serving("--dir", str(site_folder)) as server:
            assert server.port != 8000


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "eight"], "not a port number"),
        (["--port", "70000"], "not a port number"),
        (["--host", "no.such.host.invalid", "--port", "0"], "not a name or address"),
        (["--host", "192.0.2.1", "--port", "0"], "not an address of this machine"),
    ],
)
def test_a_wrong_call_is_one_line(site_folder: Path, options: list[str], words: str) -> None:
    done = refused("--dir", str(site_folder), *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_site_is_one_line(tmp_path: Path) -> None:
    done = refused("--dir", str(tmp_path), "--port", "0")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "not a site built by serving-lab" in done.stderr


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly(site_folder: Path, how: signal.Signals) -> None:
    with serving("--dir", str(site_folder), "--port", "0") as server:
        assert server.ask("/")[0].status == 200
        server.process.send_signal(how)
        out, err = server.process.communicate(timeout=20)
        assert (server.process.returncode, out, err) == (0, "", "")


def test_rude_clients_leave_no_trace(site_folder: Path, site: Site) -> None:
    with serving("--dir", str(site_folder), "--port", "0") as server:
        for sent in (b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00"):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as rude:
                rude.sendall(sent)
        # Asks for the biggest file and goes away while it is sent.
        path = max(site.files, key=lambda name: len(site.files[name]))
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as rude:
            rude.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert rude.recv(1000)
        assert server.ask("/")[0].status == 200
        server.process.terminate()
        assert server.process.communicate(timeout=20) == ("", "")


def test_a_site_that_is_deleted_under_the_server_is_not_found(site: Site, tmp_path: Path) -> None:
    from app.build.out import write_site

    write_site(site, tmp_path / "site")
    with serving("--dir", str(tmp_path / "site"), "--port", "0") as server:
        (tmp_path / "site" / "index.html").unlink()
        assert server.ask("/")[0].status == 404


def test_hosts_that_read_a_headers_file_get_the_same_rules(server: Server, site: Site) -> None:
    rules: dict[str, dict[str, str]] = {}
    for line in site.files["_headers"].decode().splitlines():
        if line.startswith("/"):
            rules[place := line] = {}
        else:
            name, value = line.strip().split(": ", 1)
            rules[place][name] = value
    for path in ["", "sw.js", "site.json", *site.files]:
        if path == "_headers":
            continue
        joined: dict[str, list[str]] = {}
        for pattern, headers in rules.items():
            if pattern == f"/{path}" or (pattern.endswith("*") and f"/{path}".startswith(pattern[:-1])):
                for name, value in headers.items():
                    joined.setdefault(name, []).append(value)
        assert all(len(values) == 1 for values in joined.values()), (path, joined)
        response, _ = server.ask(f"/{path}", method="HEAD")
        for name, (value,) in joined.items():
            assert response.getheader(name) == value, (path, name)
        assert "Cache-Control" in joined, path


def test_site_json_is_the_list(server: Server, site: Site) -> None:
    assert json.loads(server.ask("/site.json")[1])["version"] == site.version
