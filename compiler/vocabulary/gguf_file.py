"""The key-value part of a GGUF file, read through a memory map.

The format is described in ggml's docs/gguf.md (versions 2 and 3). The `gguf` package reads it too
and is the tests' oracle; it makes several numpy arrays for every string, which takes tens of
seconds for a vocabulary with its merges.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable
from typing import Any, Final, Literal

import numpy as np

from ..errors import VocabularyError
from .files import malformed, opened, unreadable

_STRING: Final = 8
_ARRAY: Final = 9
_SCALARS: Final = dict(
    zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "B b H h I i f ? Q q d".split(), strict=True)
)
_DTYPES: Final[dict[int, np.dtype[Any]]] = {n: np.dtype(code) for n, code in _SCALARS.items()}
_MAX_DEPTH: Final = 4
_MAX_KEYS: Final = 65_536

Value = Any
"""int, float, bool or bytes; arrays as lists of bytes or as numpy arrays."""


def read_metadata(path: str | os.PathLike[str], wanted: Callable[[str], bool]) -> dict[str, Value]:
    """The values of the keys that are wanted; the others are passed over.

    Raises:
        VocabularyError: the file cannot be read, is no GGUF, or is cut off.
    """
    try:
        with opened(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data, os.fspath(path)).read(wanted)
    except OSError as error:
        raise unreadable(error, path) from None
    except ValueError as error:
        if "empty" in str(error):  # Which cannot be mapped.
            raise malformed(path, "is empty") from None
        raise unreadable(error, path) from None


class _Reader:
    def __init__(self, data: mmap.mmap | bytes, name: str) -> None:
        self._data = data
        self._at = 0
        self._name = name
        self._order: Literal["<", ">"] = "<"

    def _broken(self, what: str) -> VocabularyError:
        return malformed(self._name, what)

    def read(self, wanted: Callable[[str], bool]) -> dict[str, Value]:
        if self._data[:4] != b"GGUF":
            raise self._broken("is no GGUF file: it does not begin with `GGUF`")
        self._at = 4
        try:
            return self._pairs(wanted)
        except (struct.error, IndexError):
            raise self._broken("is cut off, or its lengths are wrong") from None

    def _pairs(self, wanted: Callable[[str], bool]) -> dict[str, Value]:
        version = self._scalar("I")
        if not version & 0xFFFF:  # Written by a machine of the other byte order.
            self._order = ">"
            self._at = 4
            version = self._scalar("I")
        if version not in (2, 3):
            raise self._broken(f"is of GGUF version {version}; 2 and 3 are read")
        _tensors, keys = self._scalar("Q"), self._scalar("Q")
        if keys > _MAX_KEYS:
            raise self._broken(f"claims to have {keys:,} keys")
        found: dict[str, Value] = {}
        for _ in range(keys):
            key = self._string().decode("utf-8", "replace")
            kind = self._scalar("I")
            if wanted(key):
                found[key] = self._value(kind)
            else:
                self._skip(kind, 0)
        return found

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(self._order + code, self._data, self._at)
        self._at += struct.calcsize(self._order + code)
        return value

    def _string(self) -> bytes:
        length = self._scalar("Q")
        return self._bytes(length)

    def _bytes(self, length: int) -> bytes:
        end = self._at + length
        if end > len(self._data):
            raise IndexError
        found = self._data[self._at : end]
        self._at = end
        return found

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._scalar(self._code(kind))
        kind, count = self._scalar("I"), self._scalar("Q")
        if kind == _STRING:
            ends = self._string_ends(count)
            data = self._data
            return [data[end - length : end] for end, length in ends]
        dtype = _DTYPES[self._known(kind)].newbyteorder(self._order)
        return np.frombuffer(self._bytes(count * dtype.itemsize), dtype=dtype)

    def _skip(self, kind: int, depth: int) -> None:
        if kind == _STRING:
            self._string()
        elif kind != _ARRAY:
            self._scalar(self._code(kind))
        else:
            kind, count = self._scalar("I"), self._scalar("Q")
            if kind == _STRING:
                self._string_ends(count)
            elif kind == _ARRAY:
                if depth == _MAX_DEPTH:
                    raise self._broken("has arrays nested too deeply")
                for _ in range(count):
                    self._skip(_ARRAY, depth + 1)
            else:
                self._bytes(count * _DTYPES[self._known(kind)].itemsize)

    def _string_ends(self, count: int) -> list[tuple[int, int]]:
        """Where each string of an array ends, and its length."""
        if count * 8 > len(self._data) - self._at:
            raise IndexError
        length_of = struct.Struct(self._order + "Q").unpack_from
        data, at, size = self._data, self._at, len(self._data)
        ends = []
        for _ in range(count):
            (length,) = length_of(data, at)
            at += 8 + length
            if at > size:
                raise IndexError
            ends.append((at, length))
        self._at = at
        return ends

    def _code(self, kind: int) -> str:
        return _SCALARS[self._known(kind)]

    def _known(self, kind: int) -> int:
        if kind not in _SCALARS:
            raise self._broken(f"holds a value of type {kind}, which GGUF does not have")
        return kind
