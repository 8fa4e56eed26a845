"""What is measured: schemas, each with texts that are driven through its masks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .. import Vocabulary, compile_schema
from ..compiler.errors import CalligramError
from ..compiler.ir import Bounds
from ..compiler.origin import Origin
from ..compiler.tools import read_tools
from ..targets import mask
from .bench_error import BenchError

SAMPLES: Final = 3
"""Texts that are made for a schema that comes without any."""

LONGEST: Final = 4000
"""Bytes of a made text; one that does not end within is left out."""


_CLOSING: Final = frozenset((*b'"}],', 256))
_LETTERS: Final = frozenset(b" abcdefghilmnoprstu")


@dataclass(frozen=True, slots=True)
class Case:
    """A schema and JSON texts that it allows, in the layout of ``json.dumps``."""

    name: str
    schema: Any
    texts: tuple[str, ...]


def bundled() -> list[Case]:
    """The schemas that come with calligram, and its tools: 1, 4 and all of them in one grammar."""
    data = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
    cases = [
        Case(one["name"], one["schema"], tuple(map(_dump, one["values"])))
        for one in data["schemas"]
    ]
    tools = data["tools"]
    for count in (1, 4, len(tools)):
        some = tools[:count]
        texts = (_dump({"name": t["name"], "arguments": t["arguments"]}) for t in some)
        schema = calls_of((t["name"], t["parameters"]) for t in some)
        cases.append(Case(f"calls of {count} tools", schema, tuple(texts)))
    return cases


def from_tools(text: str, file: str) -> list[Case]:
    """One case with all tools in one grammar, and texts made for each.

    Args:
        text: OpenAI, Anthropic or MCP definitions, as JSON.

    Raises:
        ToolError: they cannot be read.
    """
    tools = [(tool.name, tool.schema) for tool in read_tools(text)]
    texts = [t for tool in tools for t in made_texts(calls_of([tool]), 1)]
    return [Case(f"{len(tools)} tools of {file}", calls_of(tools), tuple(texts))]


def calls_of(tools: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The schema of one call of one of ``(name, schema)``, as any engine reads it."""
    listed = list(tools)
    forms = []
    for index, (name, schema) in enumerate(listed):
        form = "#" if len(listed) == 1 else f"#/anyOf/{index}"
        place = f"{form}/properties/arguments"
        forms.append(
            {
                "type": "object",
                "properties": {"name": {"const": name}, "arguments": _moved(schema, place)},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    return forms[0] if len(forms) == 1 else {"anyOf": forms}


def _moved(schema: Any, place: str) -> Any:
    """A schema with its references into itself led to where it stands now."""
    if isinstance(schema, Mapping):
        moved = {key: _moved(value, place) for key, value in schema.items()}
        reference = moved.get("$ref")
        if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
            moved["$ref"] = place + reference[1:]
        return moved
    return [_moved(item, place) for item in schema] if isinstance(schema, list) else schema


def from_schemas(text: str, file: str) -> list[Case]:
    """One case a line of JSON.

    A line is a schema, or an object with a `schema` and perhaps `id` or `name`, `values` (texts
    are made of them) or `tests` (of `{"valid": bool, "data": value}`; the valid ones count).

    Raises:
        BenchError: a line is not JSON or has no schema.
    """
    cases = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        origin = Origin(file=file, line=number)
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise BenchError.at("invalid-json", f"is not JSON: {error}", origin) from None
        if isinstance(entry, dict) and "schema" in entry:
            cases.append(_entry(entry, f"line {number}", origin))
        elif isinstance(entry, (dict, bool)):
            cases.append(Case(f"line {number}", entry, tuple(made_texts(entry, SAMPLES))))
        else:
            raise BenchError.at("bench-schema", "is not a schema", origin)
    if not cases:
        raise BenchError.at("bench-schema", "holds no schemas", Origin(file=file))
    return cases


def _entry(entry: Mapping[str, Any], name: str, origin: Origin) -> Case:
    values, tests = entry.get("values"), entry.get("tests")
    if values is None and isinstance(tests, list):
        values = [t["data"] for t in tests if isinstance(t, dict) and t.get("valid")]
    if values is not None and not isinstance(values, list):
        raise BenchError.at("bench-schema", "`values` is not a list", origin)
    schema = entry["schema"]
    texts: Sequence[str] = (
        made_texts(schema, SAMPLES) if values is None else list(map(_dump, values))
    )
    return Case(str(entry.get("name", entry.get("id", name))), schema, tuple(texts))


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def made_texts(schema: Any, count: int) -> list[str]:
    """Texts that the schema allows, made at random, the same each time; none if it is refused."""
    bounds = Bounds(string=60, items=4, keys=3, depth=2, digits=4, exponent=1, whitespace=1)
    tokens = [bytes([b]) for b in range(256)] + [b"<end>"]
    vocabulary = Vocabulary(tokens, special_ids=[256], eos_ids=[256])
    try:
        grammar = compile_schema(schema, whitespace="exact", bounds=bounds)
        automaton = mask.compile(grammar, vocabulary)
        found = [_walk(automaton.matcher(), random.Random(seed)) for seed in range(count)]
    except CalligramError:
        return []
    return list(dict.fromkeys(text for text in found if text is not None))


def _walk(matcher: mask.Matcher, rng: random.Random) -> str | None:
    """A random text: mostly letters inside strings, and an early end."""
    out = bytearray()
    while len(out) < LONGEST:
        allowed = matcher.allowed_tokens()
        closing = [b for b in allowed if b in _CLOSING]
        letters = [b for b in allowed if b in _LETTERS]
        if closing and (not letters or rng.random() < 0.1):
            token = rng.choice(closing)
        else:
            token = rng.choice(letters or [b for b in allowed if b < 0x80] or allowed)
        if token == 256:
            return out.decode("utf-8")
        matcher.accept_token(token)
        out.append(token)
    return None
