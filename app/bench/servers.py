"""The servers of a measurement, in a thread of their own: one, with an origin of its own, for each thing measured."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

import tornado.web
from tornado.netutil import bind_sockets

from app.bench.guard import Guard
from app.bench.line import LineServer, Network, Wire

T = TypeVar("T")


class Servers:
    """`with Servers({name: application}) as servers`: `url(name)`, `wire(name)`, `guard`."""

    def __init__(self, applications: Mapping[str, tornado.web.Application]) -> None:
        self._applications = applications
        self._servers: dict[str, LineServer] = {}
        self._ports: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.guard = Guard()

    def __enter__(self) -> Servers:
        self._thread.start()
        self._do(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def url(self, name: str) -> str:
        """Where `name` is served."""
        return f"http://127.0.0.1:{self._ports[name]}/"

    def wire(self, name: str) -> Wire:
        """What `name` has sent since `begin`."""
        return self._servers[name].wire

    def begin(self, name: str, network: Network) -> None:
        """From now on `name` is served over `network`, and what it sends is counted from nought."""

        async def begin() -> None:
            self._servers[name].network = network
            self._servers[name].wire.clear()

        self._do(begin())

    async def _start(self) -> None:
        await self.guard.start()
        for name, application in self._applications.items():
            server = LineServer(application)
            sockets = bind_sockets(0, "127.0.0.1")
            server.add_sockets(sockets)
            self._servers[name], self._ports[name] = server, sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        for server in self._servers.values():
            server.stop()
            await server.close_all_connections()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        done: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return done.result()
