"""Where in the text a value stands, by its path."""

from __future__ import annotations

import re
from collections.abc import Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Final

from .frames import Place, Span

_SPACE: Final = re.compile(r"[ \t\n\r]*+")
_SCALAR: Final = re.compile(r"[^\s,\]}]*+")


def locate(place: Place | None, path: Sequence[str | int], text: bytearray) -> Span | None:
    """The bytes of the value at `path` below a place, or of the innermost one that is there."""
    if place is None:
        return None
    for step in path:
        if place.json and not place.inner:
            read_places(place, text)
        if step not in place.inner:
            break
        place = place.inner[step]
    return place.span


def read_places(place: Place, text: bytearray) -> None:
    """Find the values inside a JSON text; as many as there are, if it is none."""
    source = text[place.span[0] : place.span[1]].decode("utf-8", "replace")
    ascii_only = source.isascii()
    # An offset of characters to one of bytes.
    sizes = [0]
    if not ascii_only:
        total = 0
        for char in source:
            total += len(char.encode("utf-8", "surrogatepass"))
            sizes.append(total)

    def span(start: int, end: int) -> Span:
        first = place.span[0]
        if ascii_only:
            return first + start, first + end
        return first + sizes[start], first + sizes[end]

    at = 0
    # The open containers: the place, the offset it starts at, the key or index of the next value.
    stack: list[tuple[Place, int, str | int]] = []
    try:
        while True:
            at = _SPACE.match(source, at).end()  # type: ignore[union-attr]
            start, char = at, source[at]
            here = place if not stack else Place((0, 0))
            if char in "{[":
                at = _SPACE.match(source, at + 1).end()  # type: ignore[union-attr]
                stack.append((here, start, 0))
                if source[at] not in "]}":
                    at = _key(source, at, stack, char == "{")
                    continue
            elif char == '"':
                _, at = scanstring(source, at + 1, False)
                _put(stack, here, span(start, at))
            else:
                at = _SCALAR.match(source, at).end()  # type: ignore[union-attr]
                _put(stack, here, span(start, at))
            while stack:
                at = _SPACE.match(source, at).end()  # type: ignore[union-attr]
                if source[at] == ",":
                    at = _SPACE.match(source, at + 1).end()  # type: ignore[union-attr]
                    top, began, step = stack[-1]
                    if isinstance(step, int):
                        stack[-1] = (top, began, step + 1)
                    at = _key(source, at, stack, isinstance(step, str))
                    break
                at += 1
                done, began, _ = stack.pop()
                if stack:
                    _put(stack, done, span(began, at))
            else:
                return
    except (IndexError, ValueError):
        return


def _key(source: str, at: int, stack: list[tuple[Place, int, str | int]], keyed: bool) -> int:
    """Read a key and its colon, if the open container has keys; -> where its value may begin."""
    if not keyed:
        return at
    if source[at] != '"':
        raise ValueError("no key")
    key, at = scanstring(source, at + 1, False)
    place, began, _ = stack[-1]
    stack[-1] = (place, began, key)
    at = _SPACE.match(source, at).end()  # type: ignore[union-attr]
    if source[at] != ":":
        raise ValueError("no colon")
    return at + 1


def _put(stack: list[tuple[Place, int, str | int]], place: Place, span: Span) -> None:
    if stack:
        place.span = span
        stack[-1][0].inner[stack[-1][2]] = place
