"""Which field of a spec wrote a character of rendered calls."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..compiler.spec import DialectSpec, Part
from .ways import Way

_MARK: Final = "\ue000"
"""Of no model's text: it stands behind every character that the field in question wrote."""
_HOLE: Final = re.compile(r"(\{(?:name|args|id|index|key|value|type|body)(?::json)?\})")
_TYPES: Final = ("string", "number", "integer", "boolean", "null", "array", "object", "default")
_FIELDS: Final = (
    "/section/open",
    "/section/close",
    "/calls/separator",
    "/args/open",
    "/args/close",
    "/args/empty",
    "/args/separator",
    "/args/param",
    "/args/item",
    "/args/string/open",
    "/args/string/close",
    *(f"/args/literals/{name}/0" for name in ("null", "true", "false")),
    *(f"/args/type_attr/{name}" for name in _TYPES),
    "/json/separators/0",
    "/json/separators/1",
    "/call",
)


def field_at(way: Way, calls: Sequence[Mapping[str, Any]], written: str, offset: int) -> str | None:
    """The JSON pointer of what wrote the character at `offset`; None if no field of the spec did,
    but a name or a value.

    Args:
        written: the calls as that way writes them.
    """
    for field, spec in _marked_specs(way.spec):
        text = way.with_spec(spec).render(calls)
        if text is None or text.replace(_MARK, "") != written:
            continue
        pieces = text.split(_MARK)
        # Each piece but the last ends with a character of the field.
        at = -1
        for piece in pieces[:-1]:
            at += len(piece)
            if at >= offset:
                break
        if at == offset:
            return field
    return None


def _marked_specs(spec: DialectSpec) -> Iterator[tuple[str, DialectSpec]]:
    """The spec with one field marked, for each that has a text."""
    for field in _FIELDS:
        marked = _marked(spec, field.split("/")[1:])
        if marked is not None:
            yield field, marked


def _marked(value: Any, steps: Sequence[str]) -> Any:
    """The value with the text at some steps marked; None if there is no text."""
    if not steps:
        if not isinstance(value, str) or not value:
            return None
        parts = _HOLE.split(value)
        return "".join(
            part if n % 2 else "".join(c + _MARK for c in part) for n, part in enumerate(parts)
        )
    step, *rest = steps
    if isinstance(value, tuple):
        inner = _marked(value[int(step)], rest)
        return None if inner is None else (inner, *value[1:]) if step == "0" else (value[0], inner)
    if not isinstance(value, Part):
        return None
    name = "json_layout" if step == "json" else step
    inner = _marked(getattr(value, name), rest)
    return None if inner is None else value.model_copy(update={name: inner})
