"""How far a place in a call's arguments is one that the tool's schema names: the rest is data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..compiler.origin import escape_pointer

_ROOT: Final = "/arguments"
_INNER: Final = ("allOf", "anyOf", "oneOf")
_MOST: Final = 1000
"""Schemas looked at for one place."""


def declared(pointer: str, schema: Any) -> str:
    """The beginning of `pointer` (``/arguments/…``) whose keys `schema` declares."""
    if pointer != _ROOT and not pointer.startswith(_ROOT + "/"):
        return ""
    kept, here = _ROOT, [schema]
    for token in pointer.removeprefix(_ROOT).split("/")[1:]:
        here = [inner for one in _all(here, schema) for inner in _step(one, token)]
        if not here:
            break
        kept += "/" + token
    return kept


def _step(schema: Mapping[str, Any], token: str) -> Iterator[Any]:
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        yield from (inner for name, inner in properties.items() if escape_pointer(name) == token)
    if token.isdecimal() and len(token) < 6:
        if isinstance(schema.get("items"), Mapping):
            yield schema["items"]
        listed = schema.get("prefixItems")
        if isinstance(listed, list):
            yield from listed[int(token) : int(token) + 1]


def _all(schemas: Iterable[Any], root: Any) -> Iterator[Mapping[str, Any]]:
    """The schemas and what they are made of, each once."""
    seen: set[int] = set()
    waiting = list(schemas)
    while waiting and len(seen) < _MOST:
        schema = waiting.pop()
        if not isinstance(schema, Mapping) or id(schema) in seen:
            continue
        seen.add(id(schema))
        yield schema
        for key in _INNER:
            if isinstance(schema.get(key), list):
                waiting += schema[key]
        target = schema.get("$ref")
        if isinstance(target, str) and target.startswith("#"):
            waiting.append(_at(root, target[1:]))


def _at(root: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        if not isinstance(root, Mapping):
            return None
        root = next((v for k, v in root.items() if escape_pointer(k) == token), None)
    return root
