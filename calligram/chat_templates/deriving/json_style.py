"""JSON text -> the layout that it is written in."""

from __future__ import annotations

import json
from itertools import product
from typing import Any, Final

SEPARATORS: Final = ((", ", ": "), (",", ":"), (",", ": "), (", ", ":"))
FREE: Final = 64
"""White space a gap, where indentation is enforced as free white space."""
_INDENTS: Final = (None, 4, 2, 1, 3, 8)


def layout_of(text: str, value: Any) -> dict[str, Any] | None:
    """The spec's `json` under which `value` is written as `text`; None if there is none.

    An indented text may stand deeper in a document than its own depth.
    """
    for indent, ascii_only, separators in product(_INDENTS, (False, True), SEPARATORS):
        written = json.dumps(value, ensure_ascii=ascii_only, separators=separators, indent=indent)
        found: dict[str, Any] = {}
        if indent is None:
            if written != text:
                continue
            if separators != SEPARATORS[0]:
                found["separators"] = list(separators)
        else:
            last = text.rpartition("\n")[2]
            base = last[: len(last) - len(last.lstrip(" "))]
            if written.replace("\n", "\n" + base) != text:
                continue
            found |= {"indent": indent, "whitespace": FREE}
        return found | ({"ascii": True} if ascii_only else {})
    return None


def find_json(text: str, value: Any, start: int = 0) -> tuple[int, int] | None:
    """Where the JSON of an object stands in a text: the innermost and first place."""
    decoder = json.JSONDecoder()
    at = text.find("{", start)
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            found, end = None, at
        if same(found, value):
            return at, end
        at = text.find("{", at + 1)
    return None


def same(left: Any, right: Any) -> bool:
    """Equality that tells true from 1, and keys by their order."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)
