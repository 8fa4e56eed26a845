"""TOML text that was read -> where its keys and items stand, which `tomllib` does not tell."""

from __future__ import annotations

import re
import tomllib
from typing import Final

from ..compiler.origin import escape_pointer

Path = tuple[str, ...]
Place = tuple[int, int]
"""Line and column, counted from 1."""

_BLANK: Final = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_BARE: Final = re.compile(r"[A-Za-z0-9_-]++")
_QUOTED: Final = re.compile(r"\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'")
_STRING: Final = re.compile(
    # Up to two quotes may stand right before the closing three.
    r'"""(?:[^\\"]|\\.|""?(?!"))*+"{3,5}|' + r"'''(?:[^']|''?(?!'))*+'{3,5}|" + _QUOTED.pattern,
    re.DOTALL,
)
_PLAIN: Final = re.compile(r"[^,\]}\n#]++")


def toml_places(text: str) -> dict[str, Place]:
    """The place of every key and every item of an array, by JSON pointer.

    Args:
        text: a document that `tomllib` takes.
    """
    reader = _Reader(text.replace("\r\n", "\n"))
    reader.read()
    return reader.places


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places: dict[str, Place] = {}
        self._tables: dict[Path, int] = {}

    def read(self) -> None:
        """The whole document."""
        base: Path = ()
        while self._skips():
            if self.text.startswith("[[", self.at):
                self.at += 2
                base = self._header(more=True)
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                base = self._header(more=False)
                self.at += 1
            else:
                self._pair(base)

    def _skips(self) -> bool:
        """Skip white space and comments; -> whether anything is left."""
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.at < len(self.text)

    def _header(self, *, more: bool) -> Path:
        """The path of a table; `more`: it is one more table of an array."""
        path: Path = ()
        keys = self._keys()
        for number, (key, at) in enumerate(keys, 1):
            path = (*path, key)
            self._note(path, at)
            if more and number == len(keys):
                self._tables[path] = self._tables.get(path, -1) + 1
            if path in self._tables:
                path = (*path, str(self._tables[path]))
                self._note(path, at)
        return path

    def _pair(self, base: Path) -> None:
        """A key, perhaps dotted, and its value."""
        path = base
        for key, at in self._keys():
            path = (*path, key)
            self._note(path, at)
        self._skips()
        self.at += 1  # The equals sign.
        self._value(path)

    def _keys(self) -> list[tuple[str, int]]:
        """A dotted key: its parts, and where each stands."""
        found = []
        while True:
            self._skips()
            start = self.at
            match = _BARE.match(self.text, start)
            if match is not None:
                key = match[0]
            else:
                match = _QUOTED.match(self.text, start)
                assert match is not None
                key = str(tomllib.loads(f"key = {match[0]}")["key"])
            self.at = match.end()
            found.append((key, start))
            self._skips()
            if not self.text.startswith(".", self.at):
                return found
            self.at += 1

    def _value(self, path: Path) -> None:
        self._skips()
        match self.text[self.at]:
            case "[":
                self._list(path, "]")
            case "{":
                self._list(path, "}")
            case _:
                pattern = _STRING if self.text[self.at] in "\"'" else _PLAIN
                found = pattern.match(self.text, self.at)
                assert found is not None
                self.at = found.end()

    def _list(self, path: Path, closer: str) -> None:
        """The items of an array, or the pairs of a table on one line."""
        self.at += 1
        count = 0
        while self._skips() and self.text[self.at] != closer:
            if closer == "]":
                item = (*path, str(count))
                self._note(item, self.at)
                self._value(item)
                count += 1
            else:
                self._pair(path)
            self._skips()
            self.at += self.text[self.at] == ","
        self.at += 1

    def _note(self, path: Path, at: int) -> None:
        """The first place is the one: a table may be spoken of again."""
        pointer = "".join("/" + escape_pointer(key) for key in path)
        if pointer not in self.places:
            line = self.text.count("\n", 0, at) + 1
            self.places[pointer] = line, at - self.text.rfind("\n", 0, at)
