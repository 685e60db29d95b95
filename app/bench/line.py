"""A server that counts what goes over the wire and can be as slow as a network.

Whoever asks, the page, a worker or a service worker, asks the same server, so counting and pacing reach them all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tornado.httpserver
import tornado.web
from tornado.iostream import IOStream

PIECE = 16 * 1024
"""Bytes that one connection sends before another has its turn."""


@dataclass(frozen=True, slots=True)
class Network:
    """`bits` a second (None: no bound) for all connections together, and `delay` seconds before every answer."""

    name: str
    bits: float | None = None
    delay: float = 0.0


FULL_SPEED = Network("full speed")
THROTTLED = Network("20 Mbit/s, 40 ms", 20e6, 0.040)


@dataclass(slots=True)
class Wire:
    """What went over the wire: (wall-clock time, bytes) of every piece, and of every answer (time, path, status)."""

    sent: list[tuple[float, int]] = field(default_factory=list)
    answers: list[tuple[float, str, int]] = field(default_factory=list)

    def clear(self) -> None:
        """Forgets all."""
        self.sent.clear()
        self.answers.clear()

    def bytes(self, until: float = float("inf")) -> int:
        """Bytes of answers, headers included, sent up to a time."""
        return sum(size for when, size in self.sent if when <= until)

    def requests(self, until: float = float("inf")) -> int:
        """Answers begun up to a time."""
        return sum(when <= until for when, _, _ in self.answers)

    def fastest(self) -> int:
        """The most bytes sent within any second, to see that the network was as slow as asked for."""
        most = total = first = 0
        for when, size in self.sent:
            total += size
            while self.sent[first][0] <= when - 1:
                total -= self.sent[first][1]
                first += 1
            most = max(most, total)
        return most

    def missing(self) -> list[str]:
        """Paths that were asked for and not found, but for the icon that browsers ask every site for."""
        return sorted({path for _, path, status in self.answers if status >= 400 and path != "/favicon.ico"})


class LineServer(tornado.httpserver.HTTPServer):
    """Serves an application over `network`, which may be changed between visits; `wire` has what was sent."""

    def initialize(self, request_callback: Any, **options: Any) -> None:  # type: ignore[override]
        """`request_callback`: the application. (Tornado makes servers through this method.)"""
        super().initialize(request_callback, **options)
        self.network = FULL_SPEED
        self.wire = Wire()
        self._link = asyncio.Lock()
        self._free = 0.0
        if isinstance(request_callback, tornado.web.Application):
            request_callback.settings["log_function"] = self._answered

    def handle_stream(self, stream: IOStream, address: Any) -> Any:
        """Takes a connection."""
        write, turn = stream.write, asyncio.Lock()

        def paced(data: bytes | memoryview) -> Any:
            if self.network.bits is None:
                self.wire.sent.append((time.time(), len(data)))
                return write(data)
            return asyncio.ensure_future(self._slowly(write, bytes(data), turn))

        stream.write = paced  # type: ignore[method-assign, assignment]
        return super().handle_stream(stream, address)

    async def _slowly(self, write: Callable[[bytes], Any], data: bytes, turn: asyncio.Lock) -> None:
        network = self.network
        async with turn:
            if data.startswith(b"HTTP/"):  # the head of an answer
                await asyncio.sleep(network.delay)
            for start in range(0, len(data), PIECE):
                piece = data[start : start + PIECE]
                async with self._link:
                    now = asyncio.get_running_loop().time()
                    self._free = max(now, self._free) + 8 * len(piece) / (network.bits or 1e12)
                    await asyncio.sleep(self._free - now)
                    self.wire.sent.append((time.time(), len(piece)))
                    sending = write(piece)
                await sending

    def _answered(self, handler: tornado.web.RequestHandler) -> None:
        took = handler.request.request_time()
        self.wire.answers.append((time.time() - took, handler.request.path, handler.get_status()))
