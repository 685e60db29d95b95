"""Rewrites marshalled bytecode so that equal code gives equal bytes.

CPython marks an object in the stream as "may be referred to again" when its reference count happens to be above
one, which depends on what else the interpreter holds. Here exactly the objects that are referred to again carry the
mark, so the bytes depend on the source alone. Runs inside the runtime's own Python (3.12); the layout of the code
object is that of 3.11 and 3.12.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

_FLAG = 0x80
_REF = ord("r")
_LONGS_BEFORE = 5
"""A code object starts with argcount, posonlyargcount, kwonlyargcount, stacksize and flags, 4 bytes each."""


@dataclass(eq=False)
class _Node:
    """One object in the stream: its type, what follows the type, and the objects inside it."""

    kind: int
    head: bytes = b""
    children: list[_Node] = field(default_factory=list)
    middle: bytes = b""
    """Only in a code object: the first line number, which stands before the last two of its objects."""
    used: bool = False
    """True when a later reference points here."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.marked: list[_Node] = []

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def node(self) -> _Node:
        code = self.take(1)[0]
        kind = code & ~_FLAG
        if kind == _REF:
            target = self.marked[struct.unpack("<I", self.take(4))[0]]
            target.used = True
            return target
        made = _Node(kind)
        if code & _FLAG:
            self.marked.append(made)
        self.fill(made, chr(kind))
        return made

    def fill(self, node: _Node, kind: str) -> None:
        if kind in "NFTS.0":
            return
        if kind in "zZ":
            size = self.data[self.at]
            node.head = self.take(1 + size)
        elif kind in "satuA":
            size = struct.unpack_from("<I", self.data, self.at)[0]
            node.head = self.take(4 + size)
        elif kind == "i":
            node.head = self.take(4)
        elif kind in "gI":
            node.head = self.take(8)
        elif kind == "y":
            node.head = self.take(16)
        elif kind == "l":
            digits = abs(struct.unpack_from("<i", self.data, self.at)[0])
            node.head = self.take(4 + 2 * digits)
        elif kind == ")":
            node.head = self.take(1)
            node.children = [self.node() for _ in range(node.head[0])]
        elif kind in "([<>":
            node.head = self.take(4)
            node.children = [self.node() for _ in range(struct.unpack("<I", node.head)[0])]
        elif kind == "c":
            node.head = self.take(4 * _LONGS_BEFORE)
            node.children = [self.node() for _ in range(8)]
            node.middle = self.take(4)
            node.children += [self.node() for _ in range(2)]
        else:
            raise ValueError(f"unknown type {kind!r} in marshalled bytecode at byte {self.at}")


class _Writer:
    def __init__(self) -> None:
        self.out = bytearray()
        self.numbers: dict[int, int] = {}

    def node(self, node: _Node) -> None:
        known = self.numbers.get(id(node))
        if known is not None:
            self.out += bytes([_REF]) + struct.pack("<I", known)
            return
        if node.used:
            self.numbers[id(node)] = len(self.numbers)
        self.out.append(node.kind | (_FLAG if node.used else 0))
        self.out += node.head
        before = 8 if node.middle else len(node.children)
        for child in node.children[:before]:
            self.node(child)
        self.out += node.middle
        for child in node.children[before:]:
            self.node(child)


def canonical(data: bytes) -> bytes:
    """The same marshalled object with exactly the marks that are needed.

    Raises ValueError when the stream holds a type that bytecode does not use.
    """
    reader = _Reader(data)
    root = reader.node()
    if reader.at != len(data):
        raise ValueError(f"{len(data) - reader.at} bytes follow the marshalled object")
    writer = _Writer()
    writer.node(root)
    return bytes(writer.out)
