"""Hears every request that a browser makes to anybody but this machine, and lets none through.

Chromium sends all but loopback addresses through the proxy that it is given, whoever asks: pages, workers, service
workers and the browser itself. What the guard did not hear of was not asked.
"""

from __future__ import annotations

import asyncio
import re

REFUSAL = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nNothing leaves this machine.\n"
)

BROWSERS_OWN = ("accounts.google.com", "update.googleapis.com", "clients2.google.com")
"""Hosts that Chromium turns to by itself, with any page: for its own updates, the time and its user."""


class Guard:
    """`await start()`; `address` is the proxy, `heard` the hosts that were asked for, one for each request."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.address = ""

    async def start(self) -> None:
        """Listens on a free port of the loopback address."""
        server = await asyncio.start_server(self._refuse, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    def of_pages(self) -> list[str]:
        """What is left of `heard` without what the browser asks for by itself."""
        return [host for host in self.heard if host not in BROWSERS_OWN]

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            line = (await reader.readline()).decode("latin-1")
            if found := re.match(r"\S+ (?:\w+://)?([^/:\s]+)", line):
                self.heard.append(found[1])
            writer.write(REFUSAL)
            await writer.drain()
        except OSError:
            pass  # a browser that goes away has been heard all the same
        finally:
            writer.close()
