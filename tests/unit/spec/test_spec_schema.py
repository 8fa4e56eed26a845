"""The written-out format is current, and the editors' schema agrees with the loader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from calligram.compiler.spec_loader import shipped_ids
from calligram.compiler.spec_schema import SCHEMA, json_schema, main, stale

SPECS = SCHEMA.parent
BAD = Path(__file__).resolve().parents[2] / "bad_specs"


def valid(document: Any) -> bool:
    return jsonschema.Draft202012Validator(json_schema()).is_valid(document)


def test_generated_files_are_current() -> None:
    assert stale() == [], "run python -m calligram.compiler.spec_schema --write"


def test_check_tells_by_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert main(["--chek"]) == 2
    assert "usage" in capsys.readouterr().err


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("dialect", shipped_ids())
def test_shipped_specs_fit_the_schema(dialect: str) -> None:
    text = (SPECS / f"{dialect}.yaml").read_text(encoding="utf-8")
    jsonschema.validate(yaml.safe_load(text), json_schema())


@pytest.mark.parametrize(
    "document",
    [
        {"id": "x", "extends": "hermes-json"},
        {"id": "x", "extends": "./y.yaml", "vars": {"a": "b"}, "args": {"key_order": "any"}},
        {"id": "x", "call": "{name} {args}", "args": {"notation": "json"}},
        {"id": "x", "extends": "y", "tokens": ["<a>", {"text": "<b>", "match": "require"}]},
        {"id": "x", "extends": "y", "args": {"literals": {"null": [None, "None"]}}},
        {"id": "x", "extends": "y", "accept": [{"args": {"empty": ""}}]},
    ],
)
def test_fits(document: dict[str, Any]) -> None:
    assert valid(document)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"id": "x"},
        {"id": "X", "extends": "y"},
        {"id": "x", "extends": "y", "triger": []},
        {"id": "x", "extends": "y", "vars": {"a": 1}},
        {"id": "x", "extends": "y", "args": {"notaton": "json"}},
        {"id": "x", "extends": "y", "tokens": [{"match": "require"}]},
        {"id": "x", "extends": "y", "calls": {"max": 0}},
        {"id": "x", "extends": "y", "accept": [{"args": {"notation": "xml"}}]},
    ],
)
def test_does_not_fit(document: dict[str, Any]) -> None:
    assert not valid(document)


@pytest.mark.parametrize(
    "name", ["unknown_key", "misspelt_nested_key", "wrong_types", "wrong_values"]
)
def test_editors_see_what_the_loader_refuses(name: str) -> None:
    document = yaml.safe_load((BAD / f"{name}.yaml").read_text(encoding="utf-8"))
    assert not valid(json.loads(json.dumps(document)))
