"""One character of a shipped spec changed: `check` finds it, warns of it, or names what no turn has
shown."""

from __future__ import annotations

from typing import Any

import pytest

from calligram.chat_templates.checking import SpecCheck, check_spec
from calligram.compiler.errors import CalligramError
from calligram.compiler.spec_loader import load_shipped, shipped_ids
from tests.following import following
from tests.planting import Path, literals, load, misspelt, with_text
from tests.sampling import spread

ABOUT = {"source", "verified"}
"""Texts about the dialect, not of it."""
PATTERN = ("call_id", "pattern")
"""No text of the dialect: ids fit a pattern that allows more just as well."""


def written(dialect: str) -> dict[str, Any]:
    """A shipped spec as plain data, defaults left out."""
    spec = load_shipped(dialect).spec
    return spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def planted(dialect: str) -> list[tuple[Path, str]]:
    """Each literal of the dialect with one character changed, by its path."""
    found = literals(written(dialect))
    texts = ((p, t) for p, t in found if p[0] not in ABOUT and p != PATTERN)
    return [(p, misspelt(t, n)) for n, (p, t) in enumerate(texts)]


def checked(dialect: str, data: dict[str, Any]) -> SpecCheck | None:
    """The spec against a template that follows the shipped one; None if it makes no sense."""
    try:
        return check_spec(load(data), following(dialect))
    except CalligramError:
        return None


def is_unseen(found: SpecCheck, path: Path) -> bool:
    """Is the literal, or the part that it belongs to, among those that no turn has shown?"""
    pointer = "".join(f"/{step}" for step in path) + "/"
    fields = {u.field for u in found.unseen}
    # Nor have its arguments been seen, where the call itself has not.
    whole = "/call" in fields and path[0] in ("args", "call_id", "json")
    return whole or any(pointer.startswith(field + "/") for field in fields)


@pytest.mark.parametrize("dialect", shipped_ids())
def test_a_planted_error_is_found_or_named_as_unseen(dialect: str) -> None:
    data = written(dialect)
    right = checked(dialect, data)
    assert right is not None and right.ok, right and [str(d) for d in right.differences]
    missed = []
    for path, text in spread(planted(dialect), "planted errors", dialect, most=1):
        found = checked(dialect, with_text(data, path, text))
        if found is None or not found.ok or is_unseen(found, path):
            continue
        # A token that occurs nowhere is a warning of the lint.
        if len(found.problems) <= len(right.problems):
            missed.append((path, text))
    assert missed == []
