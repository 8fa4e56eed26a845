"""Values of keywords, checked: a wrong one is a located problem and then no condition."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import CalligramError
from ..origin import Origin
from .forms import Alternative, Reason
from .json_values import exact_json, exact_number, is_huge, show
from .places import Place

if TYPE_CHECKING:
    from .reading import Reader

# What a group of keywords comes to: an alternative, or why it lets nothing through.
Part: TypeAlias = "Alternative | Reason"


def number_of(reader: Reader, place: Place, schema: dict[str, Any], keyword: str) -> Decimal | None:
    """A keyword that is a number, exactly."""
    if keyword not in schema:
        return None
    number = exact_number(schema[keyword])
    if number is None:
        reader.invalid(place, keyword, "a number", schema[keyword])
        return None
    if is_huge(number):
        reader.limit("number-too-large", f"{keyword} is beyond 1e±400", place.at(keyword))
    return number


def count(reader: Reader, place: Place, keyword: str) -> int | None:
    """A keyword that is a whole number of at least 0; 2.0 counts as whole."""
    value = place.schema.get(keyword)
    if value is None and keyword not in place.schema:
        return None
    if type(value) is int and value >= 0:
        return value
    number = exact_number(value)
    if number is None or number < 0 or is_huge(number) or number != number.to_integral_value():
        reader.invalid(place, keyword, "a whole number of at least 0", value)
        return None
    return int(number)


def describe_value(value: Any) -> str:
    """A keyword's wrong value, for a message."""
    try:
        exact = exact_json(value, Origin())
    except CalligramError:
        return repr(value)[:40]
    return show(exact)
