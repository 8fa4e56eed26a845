"""Calls against their schemas: what is wrong with what was read or is to be written, located."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from .identity import ByIdentity
from .ir import ArrayValue, Call, ObjectValue, ReferenceValue, UnionValue, Value
from .json_schema.documents import Documents
from .membership import contains
from .origin import Origin, Problem, did_you_mean
from .validation import validator

if TYPE_CHECKING:
    from .compiled import CompiledGrammar

MOST = 20
"""Problems reported for one call; a hopeless one would drown the others."""


Path = tuple[str | int, ...]
Locate = Callable[[int, Path], tuple[int, int] | None]
"""Where in the text a value of a call's arguments stands."""


def judge(
    grammar: CompiledGrammar, calls: Sequence[Mapping[str, Any]], locate: Locate
) -> list[Problem]:
    """The problems of each call: unknown tool, arguments that break the schema, undeclared keys."""
    tools = {c.name: c for c in grammar.calls}
    problems: list[Problem] = []
    for index, call in enumerate(calls):
        name = call["name"]
        tool = tools.get(name)
        if tool is None:
            origin = Origin(f"/{index}/name", name, span=locate(index, ()))
            known = "not offered" if name in grammar.offered else "not among the tools"
            problems.append(
                Problem("unknown-tool", f"'{name}' is {known}", origin, did_you_mean(name, tools))
            )
            continue
        found = _violations(tool, grammar.documents, call["arguments"])
        if not grammar.is_relaxed and _fits(tool, call["arguments"]):
            found = iter(())  # All that the schema says is in the typed value, and cheaper to ask.
        for problem, path in islice(found, MOST):
            origin = replace(problem.origin, span=locate(index, path))
            problems.append(replace(problem, origin=origin))
        most = grammar.envelope.max_calls if grammar.envelope else None
        if most is not None and index >= most > 0:
            problems.append(
                Problem(
                    "too-many-calls",
                    f"call {index + 1} of at most {most}",
                    Origin("", name, span=locate(index, ())),
                )
            )
    return problems


def _violations(
    tool: Call, documents: Documents | None, arguments: Any
) -> Iterator[tuple[Problem, Path]]:
    """What is wrong, and the path of the offending value."""
    errors = False
    for error in _errors(tool, documents, arguments):
        errors = True
        path = tuple(error.absolute_path)
        origin = Origin("/arguments", tool.name).child(*path)
        yield Problem("invalid-arguments", _sentence(error), origin), path
    value, definitions = tool.arguments.value, tool.arguments.definitions
    for pointer, key, legal in undeclared(value, definitions, arguments, ("arguments",)):
        errors = True
        origin = Origin("", tool.name).child(*pointer, key)
        hint = did_you_mean(key, legal)
        yield Problem("unknown-key", f"'{key}' is no key here", origin, hint), (*pointer[1:], key)
    if not errors and not _fits(tool, arguments):
        origin = Origin("/arguments", tool.name)
        yield (
            Problem("invalid-arguments", "the arguments are not what the schema allows", origin),
            (),
        )


def _fits(tool: Call, arguments: Any) -> bool:
    return contains(tool.arguments.value, tool.arguments.definitions, arguments)


def _sentence(error: ValidationError) -> str:
    message = str(error.message)
    return message if len(message) <= 200 else message[:197] + "..."


def _errors(tool: Call, documents: Documents | None, arguments: Any) -> Iterator[ValidationError]:
    """What the independent validator says; nothing where it cannot work with the schema."""
    try:
        yield from _validator(tool, documents).iter_errors(arguments)
    except Exception:
        # A schema that the validator stumbles over was compiled all the same; membership decides.
        return


def _validator(tool: Call, documents: Documents | None) -> Validator:
    # Tools hash by content, which is costly.
    return _made(ByIdentity(tool), ByIdentity(documents))


@lru_cache(maxsize=512)
def _made(tool: ByIdentity[Call], documents: ByIdentity[Documents | None]) -> Validator:
    return validator(tool.value.schema, documents.value)


def undeclared(
    value: Value,
    definitions: Mapping[str, Value],
    instance: Any,
    pointer: tuple[str | int, ...],
) -> Iterator[tuple[tuple[str | int, ...], str, list[str]]]:
    """Keys that closed objects do not have: (where, key, the keys there are)."""
    match value:
        case ReferenceValue(name):
            yield from undeclared(definitions[name], definitions, instance, pointer)
        case UnionValue(options):
            if any(contains(o, definitions, instance) for o in options):
                return
            objects = [o for o in options if isinstance(o, (ObjectValue, ReferenceValue))]
            if len(objects) == 1:
                yield from undeclared(objects[0], definitions, instance, pointer)
        case ObjectValue(keys, opened) if isinstance(instance, dict):
            declared = {k.name: k for k in keys}
            for name, inner in instance.items():
                if name in declared:
                    below = (*pointer, name)
                    yield from undeclared(declared[name].value, definitions, inner, below)
                elif not any(o.names.accepts(name) for o in opened):
                    yield pointer, name, list(declared)
        case ArrayValue(prefix, items) if isinstance(instance, list):
            for index, inner in enumerate(instance):
                kind = prefix[index] if index < len(prefix) else items
                if kind is not None:
                    yield from undeclared(kind, definitions, inner, (*pointer, index))
        case _:
            pass
