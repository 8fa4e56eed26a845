"""The file of a saved automaton: a mark, a header of JSON, and arrays one after the other.

docs/reference/masks.md describes it byte by byte. Nothing in it is run or unpickled. The checksums
tell damage, not malice: who can write the file can make it say what he likes about masks, but every
number in it is checked before it is used to find another, so that no file makes a reader crash.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.errors import ArtefactError
from ...compiler.origin import Origin
from ...compiler.regular_file import regular_file
from ...compiler.replace_file import replace_file
from ...compiler.version import VERSION
from .row_codec import LAYOUT as ROWS

MARK: Final = b"calligram masks\n"
FORMAT: Final = 1
"""Raised when the layout changes."""

_PREFIX: Final = struct.Struct("<16sIIIIQ")
"""Mark, format, bytes of the header, its checksum, the checksum of all behind it, file size."""

_MAX_HEADER: Final = 1024 * 1024
_ALIGNED: Final = 64

ARRAYS: Final[Mapping[str, str]] = {
    "recipe": "<u1",
    # For each state: where it was reached from, by which token, its row, whether the text may end
    # there, and its key.
    "parents": "<i4",
    "tokens": "<i4",
    "state_rows": "<i4",
    "ends": "<u1",
    "keys": "<u8",
    # The tokens followed from each state, ascending, and where they lead.
    "edge_starts": "<u4",
    "edge_tokens": "<i4",
    "edge_targets": "<i4",
    # Rows of continuations by key.
    "cell_keys": "<u8",
    "cell_rows": "<i4",
    **ROWS,
}
"""The arrays in the order in which they stand, with their types."""

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class SavedFile:
    """What a file holds, checked as far as one can without the vocabulary.

    Attributes:
        name: the file, for messages.
        size: its bytes.
        header: the header; `vocabulary` and `grammar` are digests.
        arrays: views of the file, which stays mapped as long as one of them is in use.
    """

    name: str
    size: int
    header: Mapping[str, Any]
    arrays: Arrays


def write(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Arrays) -> int:
    """Write a file in one step: whole, or not at all. Gives its size in bytes.

    Raises:
        ArtefactError: it cannot be written (code ``cannot-write``).
    """
    placed, parts, at = {}, [], 0
    for name, kind in ARRAYS.items():
        data = np.ascontiguousarray(arrays[name].astype(kind)).tobytes()
        placed[name] = [at, len(data)]
        padding = b"\0" * (-len(data) % _ALIGNED)
        parts += [data, padding]
        at += len(data) + len(padding)
    body = b"".join(parts)
    text = json.dumps({**header, "calligram": VERSION, "arrays": placed}, separators=(",", ":"))
    # Blanks at the end, so that the arrays begin at a multiple of 64.
    size = len(text) + -(_PREFIX.size + len(text)) % _ALIGNED
    head = text.ljust(size).encode("ascii")
    whole = _PREFIX.size + len(head) + len(body)
    prefix = _PREFIX.pack(MARK, FORMAT, len(head), zlib.crc32(head), zlib.crc32(body), whole)
    try:
        replace_file(Path(path), b"".join((prefix, head, body)))
    except (OSError, ValueError) as error:
        raise _problem(str(path), "cannot-write", f"cannot be written: {_reason(error)}") from None
    return whole


def read(path: str | os.PathLike[str]) -> SavedFile:
    """Map a file into memory and check that it is whole.

    Raises:
        ArtefactError: codes ``automaton-unreadable``, ``automaton-format``,
            ``automaton-version``.
    """
    name = os.fspath(path)
    try:
        with open(regular_file(name), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except (OSError, ValueError) as error:
        message = f"cannot be read: {_reason(error)}"
        raise _problem(name, "automaton-unreadable", message) from None
    view = memoryview(data)
    header, begin = _header(name, view)
    try:
        return SavedFile(name, len(view), header, _arrays(header, view[begin:]))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(name, str(error)) from None


def _header(name: str, view: memoryview) -> tuple[dict[str, Any], int]:
    """The header, and where the arrays begin."""
    if len(view) < _PREFIX.size or bytes(view[: len(MARK)]) != MARK:
        raise _problem(name, "automaton-format", "is no saved automaton")
    _, version, size, checksum, body, whole = _PREFIX.unpack_from(view)
    if version != FORMAT:
        message = f"has format {version}, this version of calligram reads format {FORMAT}"
        raise _problem(name, "automaton-version", message, "save the automaton again")
    begin = _PREFIX.size + size
    if len(view) != whole:
        message = f"has {len(view):,} bytes and should have {whole:,}"
        raise damaged(name, message)
    if size > _MAX_HEADER or begin > whole:
        raise damaged(name, "its header is too long")
    head = bytes(view[_PREFIX.size : begin])
    if zlib.crc32(head) != checksum:
        raise damaged(name, "the checksum of its header is wrong")
    try:
        header = json.loads(head)
        written = header["calligram"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise damaged(name, "its header cannot be read") from None
    if written != VERSION:
        message = f"was saved by calligram {written}, this is {VERSION}"
        raise _problem(name, "automaton-version", message, "save the automaton again")
    if zlib.crc32(view[begin:]) != body:
        raise damaged(name, "the checksum of its arrays is wrong")
    return header, begin


def _arrays(header: Mapping[str, Any], body: memoryview) -> Arrays:
    """Views of the arrays. Raises KeyError, TypeError or ValueError where they do not fit."""
    found: Arrays = {}
    for name, kind in ARRAYS.items():
        at, size = header["arrays"][name]
        if type(at) is not int or type(size) is not int:
            raise ValueError(f"no place for {name}")
        if not 0 <= at <= at + size <= len(body) or at % _ALIGNED:
            raise ValueError(f"{name} lies outside of the file")
        found[name] = np.frombuffer(body[at : at + size], dtype=np.dtype(kind))
    _check(found)
    return found


def _check(arrays: Arrays) -> None:
    """Raises ValueError where an index leads nowhere."""
    states, edges = arrays["parents"].size, arrays["edge_tokens"].size
    rows, starts = arrays["row_forms"].size, arrays["edge_starts"]
    parents, targets = arrays["parents"], arrays["edge_targets"]
    sizes = {"tokens": states, "state_rows": states, "ends": states, "keys": 2 * states,
             "edge_starts": states + 1, "edge_targets": edges,
             "cell_keys": 2 * arrays["cell_rows"].size}  # fmt: skip
    for name, size in sizes.items():
        if arrays[name].size != size:
            raise ValueError(f"{name} has another size than it should")
    if states < 2:
        raise ValueError("there are no states")
    numbers = np.arange(states)
    if not (
        # The replay of a state ends: what it was reached from stands before it.
        (parents[:2] == 0).all()
        and (parents[2:] >= 1).all()
        and (parents[2:] < numbers[2:]).all()
        and starts[0] == 0
        and (np.diff(starts.astype(np.int64)) >= 0).all()
        and starts[-1] == edges
        and (targets >= -1).all()
        and (targets < states).all()
        and all(
            (arrays[name] >= 0).all() and (arrays[name] < rows).all()
            for name in ("state_rows", "cell_rows")
        )
    ):
        raise ValueError("its arrays do not fit each other")


def damaged(name: str, message: str) -> ArtefactError:
    """The error for a file that is not what was written."""
    return _problem(name, "automaton-format", f"is cut off or damaged: {message}",
                    "save the automaton again")  # fmt: skip


def _problem(name: str, code: str, message: str, hint: str | None = None) -> ArtefactError:
    return ArtefactError.at(code, message, Origin(file=name), hint)


def _reason(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
