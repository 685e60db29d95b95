"""Finds a port to listen on."""

from __future__ import annotations

import errno
import socket

from tornado.netutil import bind_sockets

DEFAULT = 8000
TRIES = 20
"""How many ports after the default one are tried when nobody asked for a certain one."""


class PortError(Exception):
    """No port to listen on; the message is one line with the remedy."""


def listen(host: str, port: int | None) -> tuple[list[socket.socket], int]:
    """Sockets that listen on `host`, and their port. `port` None: the first free one from the default on.

    Raises PortError when that cannot be.
    """
    wanted = [port] if port is not None else [*range(DEFAULT, DEFAULT + TRIES), 0]
    for candidate in wanted:
        try:
            sockets = bind_sockets(candidate, host, reuse_port=False)
        except socket.gaierror:
            raise PortError(f"--host {host} is not a name or address of this machine.") from None
        except OSError as problem:
            if port is None and problem.errno in (errno.EADDRINUSE, errno.EACCES):
                continue
            raise PortError(_reason(host, candidate, problem)) from None
        return sockets, sockets[0].getsockname()[1]
    raise PortError(f"No port from {DEFAULT} to {DEFAULT + TRIES - 1} is free. Name a free one with --port.")


def _reason(host: str, port: int, problem: OSError) -> str:
    if problem.errno == errno.EADDRINUSE:
        return f"Port {port} is in use. Stop what uses it, or name another with --port, or leave --port out."
    if problem.errno == errno.EACCES:
        return f"Port {port} is not allowed for this user. Name one above 1023 with --port."
    if problem.errno == errno.EADDRNOTAVAIL:
        return f"--host {host} is not an address of this machine. 127.0.0.1 is this machine only, 0.0.0.0 is everybody."
    return f"Port {port} on {host} cannot be used: {problem.strerror or problem}. Name another with --port."
