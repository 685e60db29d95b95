"""The standard library as the browser gets it: the runtime's own, as stored bytecode, less what cannot work there."""

from __future__ import annotations

from app.build.archive import unzip_bytes, zip_bytes
from app.build.compiler import Unit, compile_units
from app.build.node import Runtime
from app.build.store import Store

SHOWN = "/lib/python312.zip/"
"""Where the runtime keeps the archive; tracebacks show paths under it."""

LEFT_OUT = (
    # Servers and clients of protocols that a browser has no sockets for.
    *("wsgiref/", "xmlrpc/", "imaplib.py", "nntplib.py", "poplib.py", "telnetlib.py", "mailbox.py"),
    # Python twins of modules that are compiled into the runtime, and sources of frozen ones: never imported.
    *("_pyio.py", "_pydatetime.py", "_py_abc.py", "importlib/_bootstrap.py", "importlib/_bootstrap_external.py"),
    # Jokes, demonstrations, and another system's files.
    *("__phello__/", "__hello__.py", "antigravity.py", "ctypes/macholib/", "site-packages/"),
)

LEVEL = 2
"""Without docstrings and assertions: a sixth less to fetch. (What learners write is compiled where it runs.)"""


def stdlib_zip(runtime: Runtime, store: Store) -> bytes:
    """The archive that the runtime starts from in place of its own: bytecode only, nothing to inflate."""
    sources = {
        name: content
        for name, content in unzip_bytes(runtime.files["python_stdlib.zip"]).items()
        if not name.startswith(LEFT_OUT)
    }
    names = sorted(name for name in sources if name.endswith(".py"))
    compiled = compile_units([Unit(SHOWN + name, sources[name], LEVEL) for name in names], runtime, store)
    return zip_bytes({f"{name}c": code for name, code in zip(names, compiled, strict=True) if code is not None})
