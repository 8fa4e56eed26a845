"""The table of keywords is complete, and its examples say what the table says."""

from __future__ import annotations

from typing import Any

import pytest

import calligram
from calligram.compiler.json_schema.fates import FATES, Fate
from calligram.compiler.json_schema.keywords import ANNOTATIONS, IMPLEMENTED, applies
from calligram.compiler.json_schema.resources import Draft
from calligram.compiler.validation import metaschema_keywords

TABLE = {name: fate for fates in FATES.values() for name, fate in fates.items()}


def compiled(example: Any, **options: Any) -> calligram.CompiledGrammar:
    schema = {"type": "object", "properties": {"x": example}}
    return calligram.compile_tools([{"name": "t", "input_schema": schema}], "hermes-json",
                                   **options)  # fmt: skip


def test_the_table_is_what_is_read() -> None:
    assert {name for name, fate in TABLE.items() if fate.asserts} == IMPLEMENTED
    assert {name for name, fate in TABLE.items() if not fate.asserts} == ANNOTATIONS
    assert len(TABLE) == sum(map(len, FATES.values())), "a keyword stands in two groups"


@pytest.mark.parametrize("draft", list(Draft), ids=str)
def test_every_keyword_of_the_metaschemas_is_in_the_table(draft: Draft) -> None:
    described = metaschema_keywords(draft)
    assert described >= {"type", "enum", "properties", "description"}
    assert described - TABLE.keys() == set()
    meant = {name for name in IMPLEMENTED if applies(name, draft, stated=True)}
    # Draft 4's metaschema leaves `$ref` to JSON Reference; 2020-12's keeps 2019-09's as deprecated.
    assert meant - described <= {"$ref", "dependencies"}
    assert (described & IMPLEMENTED) - meant <= {"$recursiveRef", "additionalItems"}


NARROWED = [(name, fate) for name, fate in TABLE.items() if fate.narrowed]
REFUSED = [(name, fate) for name, fate in TABLE.items() if fate.refused]


@pytest.mark.parametrize(("name", "fate"), NARROWED, ids=[name for name, _ in NARROWED])
def test_what_is_narrowed_is_reported(name: str, fate: Fate) -> None:
    assert fate.narrowed is not None
    found = compiled(fate.narrowed.example).report.by_status("narrowed")
    reported = {f.keyword for f in found if f.origin.pointer.startswith("/properties/x")}
    assert name in reported


@pytest.mark.parametrize(("name", "fate"), REFUSED, ids=[name for name, _ in REFUSED])
def test_what_is_refused_is_refused_at_its_place(name: str, fate: Fate) -> None:
    assert fate.refused is not None
    with pytest.raises(calligram.CalligramError) as caught:
        compiled(fate.refused.example)
    problem = caught.value.problems[0]
    assert problem.code == fate.refused.code
    assert problem.origin.pointer.startswith("/properties/x")
    if fate.refused.code == "unsupported-keyword":
        assert f"`{name}`" in problem.message
        relaxed = compiled(fate.refused.example, on_unsupported="relax").report
        assert name in {f.keyword for f in relaxed.by_status("relaxed")}
