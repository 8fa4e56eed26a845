"""JSON Schema formats as regular languages."""

from __future__ import annotations

from functools import lru_cache

from .regex_compile import compile_regex
from .table import Table

_PATTERNS: dict[str, str] = {
    "uuid": r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
}
KNOWN_FORMATS = frozenset(_PATTERNS)


@lru_cache(maxsize=64)
def format_table(name: str) -> Table:
    return compile_regex(_PATTERNS[name])


def what(name: str) -> str:
    return f"a {name}"
