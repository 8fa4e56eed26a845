"""What a grammar was compiled from, as text: `Recipe -> JSON -> Recipe`.

The same recipe compiles to the same grammar. Its text is deterministic, so that its digest names
the grammar, and plain JSON, so that a file that holds it runs nothing when it is read.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, Literal

from pydantic import ValidationError

from .errors import ArtefactError
from .ir import Bounds
from .json_text import read_json
from .spec import DialectSpec, with_tuples
from .tools import ToolDefinition

_KEYS: Final = ("kind", "source", "dialect", "documents", "bounds", "options")


@dataclass(frozen=True, eq=False)
class Recipe:
    """The arguments of one compile.

    Attributes:
        kind: "tools" (``compile_tools``) or "schema" (``compile_schema``).
        source: the tools, or the schema, as they were given.
        dialect: the spec in full; None for a schema.
        documents: the documents for references, if there are any.
        bounds: the bounds; None: lifted.
        options: the other options by name.
    """

    kind: Literal["tools", "schema"]
    source: Any
    dialect: DialectSpec | None
    documents: Mapping[str, Any] | None
    bounds: Bounds | None
    options: Mapping[str, Any]

    @cached_property
    def text(self) -> str:
        """JSON, with every number as it was written and keys in the order that they were in.

        Raises:
            ArtefactError: the source holds what JSON cannot (code ``automaton-not-saveable``).
        """
        spec, source = self.dialect, self.source
        if self.kind == "tools" and isinstance(source, (str, bytes, bytearray)):
            # The same tools have the same digest whether they came as text or not.
            source = read_json(source, "tool definitions")
        out: list[str] = []
        document = {
            "kind": self.kind,
            "source": source,
            "dialect": None if spec is None else _dumped(spec),
            "documents": self.documents or None,
            "bounds": None if self.bounds is None else dataclasses.asdict(self.bounds),
            "options": self.options,
        }
        try:
            _write(document, out)
            return "".join(out)
        except RecursionError:
            raise _unsaveable("it is nested too deeply") from None
        except ValueError as error:  # Numbers beyond what Python writes.
            raise _unsaveable(str(error)) from None

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()

    @classmethod
    def read(cls, text: str) -> Recipe:
        """The recipe of a text that `text` gave.

        Raises:
            ValueError: it is no such text.
        """
        try:
            data = json.loads(text, parse_float=Decimal)
            if not isinstance(data, dict) or tuple(data) != _KEYS:
                raise ValueError("not a recipe")
            if data["kind"] not in ("tools", "schema"):
                raise ValueError("not a kind of recipe")
            spec = None
            if data["kind"] == "tools":
                spec = DialectSpec.model_validate(with_tuples(data["dialect"]))
            bounds = None if data["bounds"] is None else Bounds(**data["bounds"])
            return cls(
                data["kind"], data["source"], spec, data["documents"], bounds, data["options"]
            )
        except (TypeError, RecursionError, ValidationError, ArithmeticError) as error:
            raise ValueError(f"not a recipe: {error}") from None


def _dumped(spec: DialectSpec) -> dict[str, Any]:
    """A spec as data. What it does not say is left out: shapes inherit what is not said."""
    return spec.model_dump(by_alias=True, exclude_unset=True)


def _write(value: object, out: list[str]) -> None:
    """Append the JSON of a value, ASCII only.

    ``json.dumps`` writes no Decimals. Numbers that are none only stand where nobody looks, as
    schemas with them are refused, so they become null.
    """
    match value:
        case None:
            out.append("null")
        case bool():
            out.append("true" if value else "false")
        case str():
            out.append(json.dumps(str(value)))
        case bytes() | bytearray():
            raise _unsaveable("it holds bytes")
        case int():
            out.append(str(int(value)))
        case float():
            out.append(repr(float(value)) if math.isfinite(value) else "null")
        case Decimal():
            out.append(str(value) if value.is_finite() else "null")
        case Mapping():
            _write_mapping(value, out)
        case Sequence():
            _write_items(value, out)
        case ToolDefinition(name=name):
            # As a choice among tools only its name counts.
            _write({"type": "function", "function": {"name": name}}, out)
        case _:
            raise _unsaveable(f"it holds a value of type {type(value).__name__}")


def _write_mapping(value: Mapping[Any, object], out: list[str]) -> None:
    before = "{"
    for key, inner in value.items():
        if not isinstance(key, str):
            raise _unsaveable(f"it holds the key {key!r}, which is no string")
        out.append(f"{before}{json.dumps(key)}:")
        _write(inner, out)
        before = ","
    out.append("}" if value else "{}")


def _write_items(value: Sequence[object], out: list[str]) -> None:
    before = "["
    for inner in value:
        out.append(before)
        _write(inner, out)
        before = ","
    out.append("]" if value else "[]")


def _unsaveable(reason: str) -> ArtefactError:
    return ArtefactError.at(
        "automaton-not-saveable", f"what the grammar was compiled from is no JSON: {reason}"
    )
