"""The loop in the learner's process: one request a line in, one answer a line out, JSON both ways.

Learner code can reach all of this. The token of a request is not known before the request, so an answer cannot be
written in advance; each answer begins a line of its own, whatever was written before it.
"""

from __future__ import annotations

import os
import site
from base64 import b64decode
from json.decoder import JSONDecoder
from json.encoder import JSONEncoder, c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined]
from typing import Any

from lab.grading.child.call import Session
from lab.grading.child.pristine import BUILTINS

from .serve_codes import GONE

site.setquit()  # exit() and quit(), as an interpreter has them

globals()["__builtins__"] = BUILTINS

# Bound now, so that what a learner does to these modules later does not reach them.
_read_at = JSONDecoder().scan_once  # type: ignore[attr-defined]
_encode = c_make_encoder(None, JSONEncoder().default, encode_basestring_ascii, None, ":", ",", False, False, True)
_write, _read, _exit = os.write, os.read, os._exit


def serve(requests: int, answers: int, trouble: dict[str, str | None]) -> None:
    """Say that all is ready, then answer until there are no more requests. Never returns."""
    session: Any = None
    try:
        _send(answers, {"ready": trouble})
        left = b""
        while True:
            line, left = _line(requests, left)
            if line is None:
                _exit(0)
            request, _ = _read_at(line.decode("ascii"), 0)
            kind = request["kind"]
            if kind == "open":
                source = request["text"] if "text" in request else b64decode(request["bytes"])
                session, answer = Session(source, request["name"], request["what"]), None
            elif kind == "prepare":
                answer = session.prepare()
            else:
                answer = session.run(request["request"])
            _send(answers, {"token": request["token"], "answer": answer})
    except BaseException:
        _exit(GONE)


def _line(descriptor: int, left: bytes) -> tuple[bytes | None, bytes]:
    """The next line and what was read after it; None at the end."""
    pieces = [left]
    while b"\n" not in pieces[-1]:
        piece = _read(descriptor, 1 << 16)
        if not piece:
            return None, b""
        pieces.append(piece)
    line, _, rest = b"".join(pieces).partition(b"\n")
    return line, rest


def _send(descriptor: int, message: dict[str, Any]) -> None:
    data = b"\n" + "".join(_encode(message, 0)).encode("ascii") + b"\n"
    while data:
        data = data[_write(descriptor, data) :]
