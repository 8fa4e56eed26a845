"""A set of cases compiled for one dialect: prompts' messages, and what each mode sends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from jsonschema import Draft202012Validator

from ... import Bounds, compile_tools
from ...compiler.compiled import CompiledGrammar
from ...compiler.errors import CalligramError, SpecError
from ...compiler.origin import in_file
from ...compiler.spec import DialectSpec
from ...compiler.tools import read_tools
from ...llama_server import grammar_triggers
from ...targets import gbnf, parser
from ..bench_error import BenchError
from .case_set import CaseSet

Mode = Literal["on", "auto", "off"]
"""A call is required and constrained from the first token; armed by the dialect's trigger, prose
stays free; not constrained."""

MODES: Final[tuple[Mode, ...]] = ("on", "auto", "off")

AROUND: Final = 64
"""Tokens that may stand around a call: what leads in to it, and what ends the turn."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is sent and how answers are read.

    Attributes:
        cases: the set; `spec`: the dialect.
        fields: by mode, what it adds to the body of a request.
        start: messages before the prompt: the system's, then the examples.
        longest: tokens within which a constrained answer that begins with its call has ended: a
            token writes a byte at least, and the longest call is known in bytes.
        patterns: what begins a call, as the server searches for it.
        reader: reads any turn, constrained or not.
        validators: by tool, over a call's arguments.
    """

    cases: CaseSet
    spec: DialectSpec
    fields: Mapping[Mode, Mapping[str, Any]]
    start: tuple[Mapping[str, str], ...]
    longest: int
    patterns: tuple[str, ...]
    reader: parser.Reader
    validators: Mapping[str, Draft202012Validator]

    def messages(self, prompt: str) -> list[Mapping[str, str]]:
        """The conversation whose last message is `prompt`."""
        return [*self.start, {"role": "user", "content": prompt}]


def prepare(cases: CaseSet, dialect: str | None, examples: int) -> Job:
    """Compile the tools of a set.

    Args:
        dialect: an id or a file; None: the set's own.
        examples: how many of the set's examples stand before each prompt.

    Raises:
        BenchError: the set has fewer examples, or its bounds are none.
        CalligramError: the dialect is unknown, or the tools do not compile for it; problems of the
            tools name the set's file.
    """
    if examples > len(cases.examples):
        message = f"{examples} examples are asked for, and the set has {len(cases.examples)}"
        raise BenchError(in_file(BenchError.at("bench-cases", message).problems, cases.file))
    name = dialect or cases.dialect
    try:
        return _prepare(cases, name, examples)
    except SpecError:
        raise
    except CalligramError as error:
        raise type(error)(in_file(error.problems, cases.file)) from None


def _prepare(cases: CaseSet, dialect: str, examples: int) -> Job:
    bounds = _bounds(cases.bounds)

    def compiled(**options: Any) -> CompiledGrammar:
        return compile_tools(cases.tools, dialect=dialect, bounds=bounds, **options)

    held = compiled(max_calls=1, reasoning="none")
    armed = compiled(max_calls=1, tool_choice="auto")
    # Unconstrained models may make several calls, which is no fault of theirs.
    reader = parser.compile(compiled(tool_choice="auto"))
    assert held.dialect is not None
    longest = held.report.longest_call
    if longest is None:
        raise BenchError.at("bench-cases", "the longest call of these tools has no bound")
    tools = read_tools(cases.tools)
    shown = {tool.name: json.loads(json.dumps(tool.schema, default=float)) for tool in tools}
    form = compile_tools([cases.form["tool"]], dialect=dialect)
    listed = "\n".join(json.dumps(tool, default=float, ensure_ascii=False) for tool in cases.tools)
    system = cases.system.replace("{call}", form.render_turn([cases.form["call"]]))
    start = [{"role": "system", "content": system.replace("{tools}", listed)}]
    for example in cases.examples[:examples]:
        start.append({"role": "user", "content": example["prompt"]})
        start.append({"role": "assistant", "content": armed.render_turn([example["call"]])})
    preserved = {"preserved_tokens": list(armed.trigger.preserved)}
    triggers = grammar_triggers(armed.trigger)
    lazily = {"grammar": gbnf.emit(armed), "grammar_lazy": True, "grammar_triggers": triggers}
    return Job(
        cases=cases,
        spec=held.dialect,
        fields={
            "on": {**preserved, "grammar": gbnf.emit(held)},
            "auto": {**preserved, **lazily},
            "off": preserved,
        },
        start=tuple(start),
        longest=longest + AROUND,
        patterns=armed.trigger.patterns,
        reader=reader,
        validators={
            name: Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
            for name, schema in shown.items()
        },
    )


def _bounds(given: Mapping[str, int]) -> Bounds:
    try:
        return Bounds(**given)
    except (TypeError, ValueError) as error:
        raise BenchError.at("bench-cases", f"not default bounds: {error}") from None
