"""Where default bounds and the options narrow a schema that has no word on it, for the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .findings import Finding
from .ir import (
    AnyValue,
    ArrayValue,
    Bounds,
    Call,
    EnumValue,
    IntegerValue,
    NumberValue,
    ObjectValue,
    StringValue,
    UnionValue,
    Value,
)
from .origin import Origin


def bounds_findings(calls: Sequence[Call], bounds: Bounds | None, key_order: str) -> list[Finding]:
    """One finding for each value that only a default bound ends, or whose spelling is fixed."""
    found: dict[tuple[Origin, str], Finding] = {}

    def narrowed(origin: Origin, keyword: str, how: str) -> None:
        found.setdefault((origin, keyword), Finding("narrowed", keyword, how, origin))

    for call in calls:
        todo: list[Value] = [call.arguments.value, *call.arguments.definitions.values()]
        seen: set[int] = set()
        while todo:
            value = todo.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            _spelling(value, key_order, narrowed)
            if bounds is not None:
                _bounds(value, bounds, narrowed)
            todo += _inner(value)
    return sorted(found.values(), key=lambda f: (f.origin.tool or "", f.origin.pointer, f.keyword))


def _spelling(value: Value, key_order: str, narrowed: Callable[[Origin, str, str], None]) -> None:
    match value:
        case ObjectValue(keys) if len(keys) > 1 and key_order == "schema":
            narrowed(value.origin, "properties", "keys come in the schema's order")
        case StringValue(language=language) if language is not None:
            narrowed(value.origin, "pattern", "characters in their shortest spelling only")
        case EnumValue():
            narrowed(value.origin, "enum", "members in one spelling only")
        case NumberValue(minimum=low, maximum=high) if low or high:
            narrowed(value.origin, "type", "bounded numbers are written without an exponent")
        case _:
            pass


def _bounds(value: Value, bounds: Bounds, narrowed: Callable[[Origin, str, str], None]) -> None:
    match value:
        case StringValue(max_length=None):
            narrowed(value.origin, "maxLength", f"at most {bounds.string} code points by default")
        case ArrayValue(max_items=None, items=items) if items is not None:
            narrowed(value.origin, "maxItems", f"at most {bounds.items} items by default")
        case ObjectValue(max_keys=None, open_keys=opened) if opened:
            narrowed(
                value.origin, "maxProperties", f"at most {bounds.keys} undeclared keys by default"
            )
        case AnyValue():
            narrowed(value.origin, "type", f"untyped JSON at most {bounds.depth} deep by default")
        case IntegerValue(minimum=low, maximum=high) if low is None or high is None:
            narrowed(value.origin, "type", f"at most {bounds.digits} digits by default")
        case NumberValue():
            narrowed(
                value.origin,
                "type",
                f"at most {bounds.digits} digits a side and {bounds.exponent} in the exponent "
                "by default",
            )
        case _:
            pass


def _inner(value: Value) -> list[Value]:
    match value:
        case UnionValue(options):
            return list(options)
        case ArrayValue(prefix, items):
            return [*prefix, *([] if items is None else [items])]
        case ObjectValue(keys, opened):
            return [*(k.value for k in keys), *(o.value for o in opened)]
        case _:
            return []
