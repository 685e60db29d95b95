"""The HTTP API of the CUDA backend, below `api/cuda`. Everything is JSON; an error is {"error": one sentence}.

GET    api/cuda                     what is there, and what a replay would use
POST   api/cuda/replays             {"trace", "limits"?, "options"?, "policies"?} -> 202 and how it stands
GET    api/cuda/replays/ID          how it stands, with the measurement once it is done
GET    api/cuda/replays/ID/events   the same without the measurement, as server-sent events, until it has ended
DELETE api/cuda/replays/ID          stop it

Traces are data and are checked as any trace is; nothing that is sent is ever executed.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import tornado.web
from tornado.iostream import StreamClosedError

from app.serve.cuda_queue import QueueFull, Replay, Replays
from app.serve.handler import host_name
from app.serve.headers import COMMON
from lab.cuda.job import job_from_request
from lab.errors import InputError
from lab.formats.json_text import parse_json
from lab.measurement.judge import UNCONFIRMED

MOST_BYTES = 2 * 2**20
"""Of a submitted trace."""

MOST_REQUESTS = 2000
ALIVE_SECONDS = 15.0
"""A comment is sent after so long without news, so that nothing between here and the browser gives up."""

WORDS = {
    400: "This is no request that the lab knows.",
    404: "There is no such replay here (any more).",
    405: "That cannot be done with this address.",
}


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask. hosts: as for the site; token: None where none is needed."""

    hosts: Collection[str] | None
    token: str | None


def cuda_rules(below: str, replays: Replays, access: Access) -> list[tuple]:
    """Tornado's rules for the API; `below`: the prefix as a pattern."""
    handed = {"replays": replays, "access": access}
    one = rf"{below}api/cuda/replays/([\w-]+)"
    return [
        (rf"{below}api/cuda", StatusHandler, handed),
        (rf"{below}api/cuda/replays", SubmitHandler, handed),
        (one, ReplayHandler, handed),
        (rf"{one}/events", EventsHandler, handed),
        (rf"{below}api/.*", CudaHandler, handed),
    ]


class CudaHandler(tornado.web.RequestHandler):
    """What all have in common: who may ask, headers, errors as JSON."""

    def initialize(self, replays: Replays, access: Access) -> None:
        self.replays = replays
        self.access = access

    def set_default_headers(self) -> None:
        """What also an error carries."""
        self.clear_header("Server")
        for name, value in COMMON.items():
            self.set_header(name, value)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", "application/json; charset=utf-8")

    def prepare(self) -> None:
        """Refuse who may not ask."""
        host = self.request.host or ""
        if self.access.hosts is not None and host_name(host) not in self.access.hosts:
            self.refuse(
                403, f"This server answers to its own machine only; start it with --allow-host {host_name(host)}."
            )
            return
        origin = self.request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != host:
            self.refuse(403, "Only the lab's own page may ask this.")  # another site, in the user's browser
            return
        if self.access.token is not None and not self._has_token(self.access.token):
            self.set_header("WWW-Authenticate", 'Bearer realm="serving-lab"')
            self.refuse(401, "The token is missing or wrong; it was printed when the server started.")
            return
        if type(self) is CudaHandler:
            self.refuse(404, "The API has no such address.")

    def _has_token(self, token: str) -> bool:
        scheme, _, given = self.request.headers.get("Authorization", "").partition(" ")
        right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
        return scheme.lower() == "bearer" and right

    def refuse(self, status: int, sentence: str) -> None:
        """Answer with an error, and do nothing further."""
        self.set_status(status)
        self.finish({"error": sentence})

    def found(self, name: str) -> Replay | None:
        """The replay `name`; None after a 404 has been sent."""
        replay = self.replays.get(name)
        if replay is None:
            self.refuse(404, WORDS[404])
        return replay

    def write_error(self, status_code: int, **kwargs: object) -> None:
        """Errors that Tornado raises by itself."""
        self.finish({"error": WORDS.get(status_code, "That did not work.")})


class StatusHandler(CudaHandler):
    """What is there."""

    async def get(self) -> None:
        """Whether CUDA can be used, with which device, shape and limits; and what no GPU has confirmed yet."""
        status = await self.replays.status()
        self.finish(
            {
                **status.to_dict(),
                "settings": self.replays.settings.to_dict(),
                "time_limit_s": self.replays.seconds,
                "most_bytes": MOST_BYTES,
                "most_requests": MOST_REQUESTS,
                "most_waiting": self.replays.most_waiting,
                "unconfirmed": list(UNCONFIRMED),
            }
        )


@tornado.web.stream_request_body
class SubmitHandler(CudaHandler):
    """Takes a trace. The body is looked at while it comes, so that too much of it is never kept."""

    def prepare(self) -> None:
        """Refuse before the body is read."""
        super().prepare()
        self.body = bytearray()
        if self._finished or self.request.method != "POST":
            return
        # Tornado cuts a connection off without a word; up to here it leaves the word to us.
        self.request.connection.set_max_body_size(2 * MOST_BYTES)  # type: ignore[union-attr]
        kind = self.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        length = self.request.headers.get("Content-Length", "0")
        if kind != "application/json":  # also what keeps other sites' forms out
            self.refuse(415, "Send JSON, with Content-Type: application/json.")
        elif length.isdecimal() and int(length) > MOST_BYTES:
            self._too_large()

    def data_received(self, chunk: bytes) -> None:
        """One part of the body."""
        if self._finished:
            return
        self.body += chunk
        if len(self.body) > MOST_BYTES:
            self._too_large()

    def _too_large(self) -> None:
        self.body.clear()
        self.set_header("Connection", "close")
        self.refuse(413, f"The trace is too large: at most {MOST_BYTES} bytes are taken.")

    async def post(self) -> None:
        """Check what was sent, and queue it."""
        if self._finished:
            return
        try:
            job = job_from_request(parse_json(bytes(self.body), "the request"), self.replays.settings, MOST_REQUESTS)
        except InputError as error:
            self.refuse(400, str(error))
            return
        status = await self.replays.status()
        if not status.available:
            self.refuse(503, status.sentence)
            return
        try:
            replay = self.replays.submit(job)
        except QueueFull:
            self.set_header("Retry-After", "30")
            self.refuse(429, f"{self.replays.most_waiting} replays wait already; try again when one has ended.")
            return
        self.set_status(202)
        self.set_header("Location", f"replays/{replay.id}")
        self.finish(self.replays.snapshot(replay))


class ReplayHandler(CudaHandler):
    """One replay."""

    def get(self, name: str) -> None:
        """How it stands, with the measurement when it is done."""
        replay = self.found(name)
        if replay is None:
            return
        answer = self.replays.snapshot(replay)
        if replay.ending is not None and replay.ending.measurement is not None:
            answer["measurement"] = replay.ending.measurement
        self.finish(answer)

    async def delete(self, name: str) -> None:
        """Stop it; answers once it has ended."""
        replay = self.found(name)
        if replay is None:
            return
        self.replays.cancel(replay)
        while replay.ending is None:
            await replay.changed(replay.version, ALIVE_SECONDS)
        self.finish(self.replays.snapshot(replay))


class EventsHandler(CudaHandler):
    """Server-sent events. A slow listener misses what was in between and always gets the newest; one that goes away
    leaves the replay as it is."""

    gone = False

    def on_connection_close(self) -> None:
        """The client went away."""
        self.gone = True

    async def get(self, name: str) -> None:
        """`event: state` for each change, the last one with how it ended."""
        replay = self.found(name)
        if replay is None:
            return
        self.set_header("Content-Type", "text/event-stream; charset=utf-8")
        self.set_header("X-Accel-Buffering", "no")
        sent = -1
        while not self.gone:
            text = ": still here\n\n"
            ended = replay.ending is not None
            if replay.version > sent:
                sent = replay.version
                text = f"event: state\nid: {sent}\ndata: {_line(self.replays.snapshot(replay))}\n\n"
            try:
                self.write(text)
                await self.flush()
            except StreamClosedError:
                return
            if ended:
                return
            await replay.changed(sent, ALIVE_SECONDS)


def _line(value: dict[str, Any]) -> str:
    """JSON on one line, whatever is in it."""
    return re.sub(r"[\r\n]", " ", json.dumps(value))
