"""A forward proxy on loopback that a browser is sent through: it hears of every request, whoever makes it.

Pages, workers, service workers and the browser itself all go through it, so what it did not hear of did not
happen. Requests to the one allowed origin are passed on; everything else is written down and refused.
"""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import urlsplit

HOP_BY_HOP = {"connection", "proxy-connection", "keep-alive", "transfer-encoding", "te", "upgrade"}


class Heard(NamedTuple):
    method: str
    url: str
    status: int  # what the browser was answered
    cookies: bool


class Recorder:
    """`with Recorder("127.0.0.1:8000") as recorder`: `recorder.url` is the proxy, `recorder.heard` what it saw."""

    def __init__(self, allowed: str) -> None:
        self.allowed = allowed
        self.heard: list[Heard] = []
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: object) -> None:
                pass

            def refuse(self) -> None:
                recorder.heard.append(Heard(self.command, self.path, 403, "Cookie" in self.headers))
                self.send_response(403)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def forward(self) -> None:
                parts = urlsplit(self.path)
                if parts.netloc != recorder.allowed or parts.scheme != "http":
                    self.refuse()
                    return
                target = parts.path + (f"?{parts.query}" if parts.query else "")
                headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
                size = int(self.headers.get("Content-Length") or 0)
                connection = http.client.HTTPConnection(parts.netloc, timeout=60)
                try:
                    connection.request(self.command, target, self.rfile.read(size) if size else None, headers)
                    answer = connection.getresponse()
                    body = answer.read()
                except OSError:
                    self.close_connection = True
                    recorder.heard.append(Heard(self.command, self.path, 0, "Cookie" in self.headers))
                    return  # as a stopped server looks: the connection ends without an answer
                finally:
                    connection.close()
                recorder.heard.append(Heard(self.command, self.path, answer.status, "Cookie" in self.headers))
                self.send_response_only(answer.status, answer.reason)
                for name, value in answer.getheaders():
                    if name.lower() not in {*HOP_BY_HOP, "content-length"}:
                        self.send_header(name, value)
                if self.command != "HEAD" and answer.status not in (204, 304):
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = forward
            do_CONNECT = refuse

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Recorder":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def elsewhere(self) -> list[Heard]:
        """What was asked of anybody but the allowed origin."""
        return [heard for heard in self.heard if not heard.url.startswith(f"http://{self.allowed}/")]
