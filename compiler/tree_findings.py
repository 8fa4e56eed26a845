"""What the tree notation leaves out of the schemas, for the report.

Elements that say their key at both ends have only declared keys; where null is left out, a key that
may be missing is never null. Each is a finding of the keyword that allowed more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from .bounds_findings import Narrowings, places
from .findings import Finding
from .ir import AnyValue, Call, EnumValue, ObjectValue, OpenKeys, Value
from .lower.elements import Elements
from .lower.shape import shapes
from .lower.tree_objects import listed_keys
from .membership import contains
from .origin import Origin
from .spec import DialectSpec

UNDECLARED = "keys that are not declared cannot be written in this notation"
ANY_OBJECT = "of untyped objects only the empty one can be written in this notation"
NULL = "never null: this notation leaves null out, and a missing key reads as missing"


def tree_findings(spec: DialectSpec, calls: Sequence[Call]) -> list[Finding]:
    """One finding for each keyword that allows more than the dialect's elements can say; none in
    another notation."""
    enforced = [s for s in shapes(spec) if s.constrain]
    if not all(s.args.notation == "tree" for s in enforced):
        return []
    elements = [Elements.of(s, ()) for s in enforced]
    declared_only = all(e.repeats_key for e in elements)
    omits_null = all(e.omits_null for e in elements)
    if not declared_only and not omits_null:
        return []

    def kept(value: Value) -> Value:
        if not declared_only or not isinstance(value, ObjectValue):
            return value
        # What keys hold that are not written is narrowed with them.
        opened = tuple(o for o in value.open_keys if listed_keys(o) is not None)
        return replace(value, open_keys=opened)

    found = Narrowings()
    for call in calls:
        for value, origin in places(call, kept):
            notes = list(_undeclared(value, origin)) if declared_only else []
            notes += _nulls(value, origin, call.arguments.definitions) if omits_null else []
            for note in notes:
                found.add(*note)
    return found.sorted()


def _undeclared(value: Value, origin: Origin) -> Iterator[tuple[Origin, str, str]]:
    """(where, keyword, how) for keys that nobody knows before they are written."""
    match value:
        case AnyValue():
            yield origin, "type", ANY_OBJECT
        case ObjectValue(open_keys=opened):
            for kind in opened:
                if listed_keys(kind) is None:
                    yield origin, _keyword(kind), UNDECLARED


def _keyword(kind: OpenKeys) -> str:
    """The keyword that lets a class of keys in."""
    words = kind.origin.pointer.split("/")
    return "patternProperties" if "patternProperties" in words[-2:] else "additionalProperties"


def _nulls(
    value: Value, origin: Origin, definitions: Mapping[str, Value]
) -> Iterator[tuple[Origin, str, str]]:
    """(where, keyword, how) for keys that may be missing or null."""
    if isinstance(value, ObjectValue):
        for key in value.keys:
            if not key.required and contains(key.value, definitions, None):
                at = key.origin if key.origin.pointer else origin
                yield at, "enum" if isinstance(key.value, EnumValue) else "type", NULL
