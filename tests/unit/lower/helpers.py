"""Specs written in a few lines, tools, and tables of texts."""

from __future__ import annotations

from typing import Any

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.spec import DialectSpec
from calligram.compiler.spec_loader import load_spec_text

ONE_INTEGER = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def spec(text: str) -> DialectSpec:
    """A dialect written in YAML."""
    return load_spec_text(text).spec


def tool(name: str, parameters: Any = ONE_INTEGER) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def tools(*names: str, parameters: Any = ONE_INTEGER) -> list[dict[str, Any]]:
    return [tool(name, parameters) for name in names]


def arguments(**properties: Any) -> dict[str, Any]:
    """An object schema; a name ending in an underscore is optional."""
    names = {name.removesuffix("_"): schema for name, schema in properties.items()}
    return {
        "type": "object",
        "properties": names,
        "required": [name for name in properties if not name.endswith("_")],
    }


def table(grammar: CompiledGrammar, accept: list[str], reject: list[str]) -> None:
    """The verdict on each text, by name in the failure."""
    wrong = [f"refused: {t!r}: {v.message}" for t in accept if not (v := grammar.check(t))]
    wrong += [f"accepted: {t!r}" for t in reject if grammar.check(t)]
    assert not wrong, "\n".join(wrong)


def compiled(dialect: str | DialectSpec, *names: str, **options: Any) -> CompiledGrammar:
    """Tools of these names with one integer each."""
    return calligram.compile_tools(tools(*names), dialect, **options)


def codes(error: calligram.CalligramError) -> list[str]:
    return [p.code for p in error.problems]
