"""Errors of one character, planted in the texts of a spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from calligram.compiler.spec_loader import LoadedSpec, load_spec_text

Path = tuple[str | int, ...]

_WORDS: Final = {
    "id", "families", "notation", "kind", "escape", "match", "with_calls", "key_order", "at",
    "containers",
}  # fmt: skip
_HOLE: Final = re.compile(r"\{[a-z]+(?::json)?\}")


def load(data: dict[str, Any]) -> LoadedSpec:
    """A spec given as plain data."""
    return load_spec_text(yaml.safe_dump(data, allow_unicode=True), "spec.yaml")


def literals(data: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The texts of a spec that are texts of its dialect, with where they stand."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in _WORDS:
                yield from literals(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from literals(value, (*path, index))
    elif isinstance(data, str) and _HOLE.sub("", data):
        yield path, data


def misspelt(text: str, count: int) -> str:
    """The text with one character changed, another one from literal to literal, holes apart."""
    inside = {n for m in _HOLE.finditer(text) for n in range(*m.span())}
    places = [n for n in range(len(text)) if n not in inside]
    at = places[count * 7 % len(places)]
    return text[:at] + ("\t" if text[at] in " \n" else "Z") + text[at + 1 :]


def with_text(data: Any, path: Path, text: str) -> Any:
    """The data with another text at a path."""
    if not path:
        return text
    key, *rest = path
    if isinstance(data, dict):
        return {**data, key: with_text(data[key], tuple(rest), text)}
    return [with_text(v, tuple(rest), text) if n == key else v for n, v in enumerate(data)]
