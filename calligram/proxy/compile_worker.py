"""The process that compiles grammars for the proxy: what takes too long, or wants too much, ends
only this one.

It reads orders and writes what became of them; each is a length of eight bytes and a pickle.
"""

from __future__ import annotations

import pickle
import sys
from typing import BinaryIO, Final

from ..compiler.errors import CalligramError, LimitExceeded
from ..compiler.origin import Problem
from ..compiler.spec_loader import load_shipped, shipped_ids
from ..process_limits import alarm, limit_memory
from .options import Policy
from .prepared import Order, packed, prepare

MAX_MEMORY: Final = 2**30
"""Bytes of address space beyond what the process has when it starts."""
MAX_PACKED: Final = 16 * 2**20
"""Bytes of one grammar; more would hold up whoever reads it."""
LENGTH: Final = 8
Reply = bytes | tuple[Problem, ...]
"""A packed grammar, or what is wrong."""


def main() -> None:
    """Answer orders until there are no more. The argument is the seconds that each may take."""
    seconds = float(sys.argv[1])
    out = sys.stdout.buffer
    _warm_up()
    limit_memory(MAX_MEMORY)
    write(out, b"ready")
    while (data := read(sys.stdin.buffer)) is not None:
        # The one who asked may be gone: then nobody else stops a compile that does not end.
        alarm(int(seconds) + 2)
        reply = _reply(pickle.loads(data))
        alarm(0)
        write(out, pickle.dumps(reply))


def _reply(order: Order) -> Reply:
    try:
        data = packed(prepare(order))
        if len(data) > MAX_PACKED:
            message = f"the grammar takes {len(data):,} bytes, more than {MAX_PACKED:,}"
            return (Problem("proxy-grammar-size", message),)
        return data
    except CalligramError as error:
        return error.problems
    except MemoryError:
        problem = Problem("proxy-grammar-size", "the grammar takes too much memory to compile")
        return (problem,)
    except RecursionError:
        return LimitExceeded.at("schema-too-deep", "a schema nests too deep").problems


def _warm_up() -> None:
    """Import and fill what the first compile would wait for."""
    spec = load_shipped(shipped_ids()[0]).spec
    prepare(Order('[{"name": "a"}]', spec, "auto", True, "allow", "lazy", Policy()))


def read(stream: BinaryIO) -> bytes | None:
    """The next message; None at the end."""
    head = stream.read(LENGTH)
    if len(head) < LENGTH:
        return None
    return stream.read(int.from_bytes(head, "big"))


def write(stream: BinaryIO, data: bytes) -> None:
    """One message."""
    stream.write(len(data).to_bytes(LENGTH, "big") + data)
    stream.flush()
