"""Array keywords, the older drafts' tuples included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .checks import Part, count
from .forms import Arrays, Contains, Item, Reason
from .keywords import ARRAY_KEYWORDS
from .meet_containers import arrays
from .places import Place
from .resources import Draft

if TYPE_CHECKING:
    from .reading import Reader

_KEYWORDS = frozenset(ARRAY_KEYWORDS)


def array_part(reader: Reader, place: Place, schema: dict[str, Any]) -> Part:
    """The arrays that a schema lets through."""
    if _KEYWORDS.isdisjoint(schema):
        return Arrays(origin=place.origin)
    prefix, rest = _positions(reader, place, schema)
    unique = schema.get("uniqueItems", False)
    if not isinstance(unique, bool):
        reader.invalid(place, "uniqueItems", "true or false", unique)
        unique = False
    contains, shortest = _contains(reader, place, schema)
    shortest = max(shortest, count(reader, place, "minItems") or 0)
    longest = count(reader, place, "maxItems")
    return arrays(
        prefix, rest, shortest, longest, place.at("uniqueItems") if unique else None,
        contains, place.origin, (), reader,
    )  # fmt: skip


def _positions(
    reader: Reader, place: Place, schema: dict[str, Any]
) -> tuple[tuple[Item, ...], Item | None]:
    """The items by position, and what follows them (None: nothing)."""
    items = schema.get("items")
    if isinstance(items, list):
        if place.resource.stated and place.resource.draft >= Draft.DRAFT_2020:
            reader.invalid(place, "items", "a schema (a list of schemas is `prefixItems`)", items)
            return (), Item()
        reader.older_form(place, "items", "array form is the draft-07 tuple; read as prefixItems")
        rest = _rest(reader, place, schema, "additionalItems")
        return _tuple(reader, place, "items", items), rest
    prefix: tuple[Item, ...] = ()
    if "prefixItems" in schema and reader.applies(place, "prefixItems"):
        given = schema["prefixItems"]
        if isinstance(given, list):
            prefix = _tuple(reader, place, "prefixItems", given)
        else:
            reader.invalid(place, "prefixItems", "a list of schemas", given)
    return prefix, _rest(reader, place, schema, "items")


def _tuple(reader: Reader, place: Place, keyword: str, given: list[Any]) -> tuple[Item, ...]:
    return tuple(
        Item(reader.child_goal(place, schema, keyword, i), True) for i, schema in enumerate(given)
    )


def _rest(reader: Reader, place: Place, schema: dict[str, Any], keyword: str) -> Item | None:
    if keyword not in schema:
        return Item()
    given = schema[keyword]
    if given is False:
        return None
    return Item(reader.child_goal(place, given, keyword), True)


def _contains(
    reader: Reader, place: Place, schema: dict[str, Any]
) -> tuple[tuple[Contains, ...], int]:
    """The contains condition, and how many items it needs at least."""
    if "contains" not in schema or not reader.applies(place, "contains"):
        return (), 0
    goal = reader.child_goal(place, schema["contains"], "contains")
    minimum = maximum = None
    if reader.applies(place, "minContains"):
        minimum = count(reader, place, "minContains")
        maximum = count(reader, place, "maxContains")
    least = 1 if minimum is None else minimum
    return (Contains(goal, least, maximum, place.at("contains"), evaluates=True),), least


def contains_clash(c: Contains) -> Reason | None:
    """Why the counts of a contains condition exclude each other."""
    if c.maximum is not None and c.minimum > c.maximum:
        return Reason(f"minContains {c.minimum} is above maxContains {c.maximum}", c.origin)
    return None
