"""Where default bounds and the options narrow a schema, for the report.

Each keyword has one finding: what narrows a keyword that is there replaces the reader's "enforced";
what narrows a value that has no such keyword is a finding at the value's schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .findings import Finding
from .ir import (
    AnyValue,
    ArrayValue,
    Bounds,
    Call,
    EnumValue,
    IntegerValue,
    Key,
    NumberValue,
    ObjectValue,
    OpenKeys,
    StringValue,
    UnionValue,
    Value,
)
from .json_schema.resources import is_draft_4
from .origin import Origin
from .regular.language import Language
from .regular.numbers import spells_exponents

Narrowed = Callable[[Origin, str, str], None]


class Narrowings:
    """Findings on values: one for each keyword of a place, whatever narrows it."""

    def __init__(self) -> None:
        self._found: dict[tuple[Origin, str], Finding] = {}

    def add(self, origin: Origin, keyword: str, how: str) -> None:
        """Say how the keyword at a place is narrowed, once."""
        known = self._found.get((origin, keyword))
        if known is None:
            self._found[origin, keyword] = Finding("narrowed", keyword, how, origin)
        elif how not in known.how:
            self._found[origin, keyword] = replace(known, how=f"{known.how}; {how}")

    def sorted(self) -> list[Finding]:
        """All of them, by tool and place."""
        return sorted(
            self._found.values(),
            key=lambda f: (f.origin.tool or "", f.origin.pointer, f.keyword),
        )


def places(
    call: Call, kept: Callable[[Value], Value] = lambda value: value
) -> Iterator[tuple[Value, Origin]]:
    """The values of a tool with their places; below a value only those of what is `kept` of it."""
    todo = [(call.arguments.value, call.origin)]
    todo += [(value, call.origin) for value in call.arguments.definitions.values()]
    seen: set[tuple[int, Origin]] = set()
    while todo:
        value, near = todo.pop()
        # Values that many places share have no place of their own.
        origin = value.origin if value.origin.pointer else replace(near, tool=call.name or None)
        if (id(value), origin) in seen:
            continue
        seen.add((id(value), origin))
        yield value, origin
        todo += inner_values(kept(value), origin)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """What of the spelling is fixed everywhere in a schema.

    Attributes:
        ordered: keys come in the schema's order.
        fractions: whole numbers may have a fraction of zeros.
        lexical: a number with a fraction of zeros is no integer (draft 4).
    """

    ordered: bool
    fractions: bool
    lexical: bool


def bounds_findings(
    calls: Sequence[Call], bounds: Bounds | None, key_order: str, *, fractions: bool = False
) -> list[Finding]:
    """One finding for each value that only a default bound ends, or whose spelling is fixed.

    The origin is that of the value's schema; see :func:`merged`. `fractions`: whole numbers may be
    written with a fraction of zeros.
    """
    found = Narrowings()
    for call in calls:
        spelling = _Spelling(key_order == "schema", fractions, is_draft_4(call.schema))
        for value, origin in places(call):
            _spelling(value, origin, spelling, found.add)
            if bounds is not None:
                _bounds(value, origin, bounds, found.add)
    return found.sorted()


def merged(findings: Sequence[Finding], notes: Sequence[Finding]) -> tuple[Finding, ...]:
    """The reader's findings with the notes worked in: one finding for each keyword."""
    out = list(findings)
    places = {(f.origin.tool, f.origin.pointer): i for i, f in enumerate(out) if _at_keyword(f)}
    for note in notes:
        tool = note.origin.tool
        pointers = [note.origin.child(word).pointer for word in _words(note.keyword)]
        if note.keyword == "enum":  # The origin of listed values is the keyword itself.
            pointers.append(note.origin.pointer)
        at = next((places[tool, p] for p in pointers if (tool, p) in places), None)
        if at is None:
            out.append(note)
        elif out[at].status == "enforced":
            out[at] = replace(out[at], status="narrowed", how=note.how)
        elif out[at].status == "narrowed" and note.how not in out[at].how:
            out[at] = replace(out[at], how=f"{out[at].how}; {note.how}")
    return tuple(out)


def _at_keyword(finding: Finding) -> bool:
    return finding.origin.pointer.endswith(f"/{finding.keyword}")


def _words(keyword: str) -> tuple[str, ...]:
    """The keywords that may have said what the note is about."""
    return ("pattern", "format") if keyword == "pattern" else (keyword,)


def _spelling(value: Value, origin: Origin, spelling: _Spelling, narrowed: Narrowed) -> None:
    match value:
        case ObjectValue(keys) if len(keys) > 1 and spelling.ordered:
            narrowed(origin, "properties", "keys come in the schema's order")
        case StringValue(language=language) if language is not None:
            narrowed(origin, "pattern", "characters in their shortest spelling only")
        case EnumValue():
            narrowed(origin, "enum", "members in one spelling only")
        case IntegerValue():
            without = "an exponent" if spelling.fractions else "fraction or exponent"
            narrowed(origin, "type", f"written without {without}")
        case NumberValue(minimum=low, maximum=high, multiple_of=step, not_multiple_of=avoid):
            if spelling.lexical and any(factor == int(factor) for factor in avoid):
                how = "numbers like 1.0 are taken for integers, which they are not in draft 4"
                narrowed(origin, "type", how)
            if not spells_exponents(low, high, step, avoid):
                narrowed(origin, "type", "bounded numbers are written without an exponent")
        case _:
            pass


def _bounds(value: Value, origin: Origin, bounds: Bounds, narrowed: Narrowed) -> None:
    match value:
        case StringValue(max_length=None, language=None):
            narrowed(origin, "maxLength", f"at most {bounds.string} code points by default")
        case StringValue(max_length=None, language=language) if not _ends(language):
            how = f"what may repeat without end, at most {bounds.string} times by default"
            narrowed(origin, "maxLength", how)
        case ArrayValue(steps=steps) if any(s.target == i for i, r in enumerate(steps) for s in r):
            how = f"at most {bounds.items} items in a row by default"
            narrowed(origin, "maxItems", how)
        case ArrayValue(max_items=None, items=items) if items is not None:
            narrowed(origin, "maxItems", f"at most {bounds.items} items by default")
        case ObjectValue(max_keys=None, open_keys=opened) if opened:
            narrowed(origin, "maxProperties", f"at most {bounds.keys} undeclared keys by default")
        case AnyValue():
            narrowed(origin, "type", f"untyped JSON at most {bounds.depth} deep by default")
        case IntegerValue(minimum=low, maximum=high) if low is None or high is None:
            narrowed(origin, "type", f"at most {bounds.digits} digits by default")
        case NumberValue():
            narrowed(
                origin,
                "type",
                f"at most {bounds.digits} digits a side and {bounds.exponent} in the exponent "
                "by default",
            )
        case _:
            pass


def default_bounds(value: Value) -> frozenset[str]:
    """The names of the default bounds on length and nesting that hold for a value."""
    match value:
        case StringValue(max_length=None, language=language) if not _ends(language):
            return frozenset({"string"})
        case ArrayValue(steps=steps) if any(s.target == i for i, r in enumerate(steps) for s in r):
            return frozenset({"items"})
        case ArrayValue(max_items=None, items=items) if items is not None:
            return frozenset({"items"})
        case ObjectValue(max_keys=None, open_keys=opened) if opened:
            return frozenset({"keys"})
        case AnyValue():
            return frozenset({"depth", "keys", "items", "string"})
        case _:
            return frozenset()


def _ends(language: Language | None) -> bool:
    return language is not None and language.dfa.is_finite


def inner_values(value: Value, origin: Origin) -> Iterator[tuple[Value, Origin]]:
    """The values inside, each with the place of what holds it."""
    match value:
        case UnionValue(options):
            yield from ((option, origin) for option in options)
        case ArrayValue(prefix, items, steps=steps):
            yield from ((step.value, origin) for row in steps for step in row)
            yield from ((member, origin.child("prefixItems", i)) for i, member in enumerate(prefix))
            if items is not None:
                yield items, origin.child("items")
        case ObjectValue(keys, opened):
            kinds: tuple[Key | OpenKeys, ...] = (*keys, *opened)
            for kind in kinds:
                yield kind.value, kind.origin
                yield from ((variant.value, kind.origin) for variant in kind.variants)
        case _:
            pass
