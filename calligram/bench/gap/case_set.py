"""What is asked: tools, examples, and prompts that each know the right tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, ValidationError

from ...build.toml_tree import tree_of
from ...compiler.errors import CalligramError
from ...compiler.json_text import read_json
from ...compiler.origin import Origin, Problem, did_you_mean, in_file
from ...compiler.spec import Part, Text, with_tuples
from ...compiler.spec_errors import spec_problems
from ...compiler.tools import read_tools
from ..bench_error import BenchError

BUNDLED: Final = Path(__file__).with_name("cases.json")

Kind = Literal[
    "plain",
    "alike",
    "extra_key",
    "forbidden_enum",
    "long_text",
    "markup",
    "no_call",
    "number_as_string",
    "out_of_range",
    "unit_mix_up",
]
"""What makes a prompt hard: two tools are alike, an undeclared key or a value outside an enum is
asked for, the text is very long, it holds quotes, braces or markers, no call is wanted, a number
stands in quotes, it is out of range, a unit can be mistaken. Plain ones are not hard."""


class Example(Part):
    """A prompt with the call that answers it."""

    prompt: Text
    call: dict[str, Any]


class Form(Part):
    """A made-up tool and a call of it, which shows models how calls are written."""

    tool: dict[str, Any]
    call: dict[str, Any]


class Case(Part):
    """One prompt.

    Attributes:
        tool: the tool to call; None: none is to be called.
    """

    prompt: Text
    tool: str | None
    kind: Kind = "plain"


class SetFile(Part):
    """The file's keys.

    Attributes:
        dialect: an id or a file, unless another is asked for.
        bounds: default bounds by name, see `calligram.Bounds`; they keep the longest call short.
        system: the system message; `{tools}` and `{call}` are filled in.
        tools: definitions in any form that `compile_tools` takes.
    """

    dialect: Text
    bounds: dict[str, int] = Field(default_factory=dict)
    system: Text
    form: Form
    examples: tuple[Example, ...] = ()
    tools: tuple[Any, ...]
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class CaseSet:
    """A set that was read; `tools`, `form` and `examples` are as JSON has them, numbers exact."""

    file: str
    dialect: str
    bounds: dict[str, int]
    system: str
    tools: list[Any]
    form: dict[str, Any]
    examples: list[dict[str, Any]]
    cases: tuple[Case, ...]


def read_set(text: str, file: str) -> CaseSet:
    """Read a set of cases.

    Raises:
        CalligramError: it is no JSON (with line and column), has not the shape that
            :class:`SetFile` says, expects a tool that it does not offer, or its tools cannot be
            read; all problems of the stage that failed, each with file and pointer.
    """
    try:
        data = read_json(text, "sets of cases")
        if not isinstance(data, dict):
            raise _wrong(Problem("bench-cases", "a set of cases is an object"))
        try:
            read = SetFile.model_validate(with_tuples(data))
        except ValidationError as error:
            found = spec_problems(error, tree_of(data, Origin()), SetFile)
            raise _wrong(
                *(replace(p, code="bench-cases", hint=_hint(p.hint)) for p in found)
            ) from None
        if not read.cases:
            raise _wrong(Problem("bench-cases", "`cases` must not be empty", Origin("/cases")))
        names = [tool.name for tool in read_tools(data["tools"])]
        if unknown := _unknown_tools(read.cases, names):
            raise _wrong(*unknown)
    except CalligramError as error:
        raise type(error)(in_file(error.problems, file)) from None
    return CaseSet(
        file, read.dialect, read.bounds, read.system, data["tools"], data["form"],
        data.get("examples", []), read.cases,
    )  # fmt: skip


def _unknown_tools(cases: Sequence[Case], names: Sequence[str]) -> list[Problem]:
    return [
        Problem(
            "bench-cases",
            f"the set has no tool '{case.tool}'",
            Origin(f"/cases/{index}/tool"),
            did_you_mean(case.tool, names) or f"its tools: {', '.join(names)}",
        )
        for index, case in enumerate(cases)
        if case.tool is not None and case.tool not in names
    ]


def _hint(hint: str | None) -> str | None:
    # These belong to dialect specs alone.
    return hint.replace("extends, vars, ", "") if hint else hint


def _wrong(*problems: Problem) -> BenchError:
    return BenchError(problems)
