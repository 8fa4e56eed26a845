"""Keywords that speak of one type of value: the alternatives of a schema without applicators."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import SchemaError
from ..regular.language import Language
from .array_keywords import array_part
from .checks import Part, count, number_of
from .forms import (
    ANY,
    Alternative,
    Booleans,
    Form,
    Nulls,
    NumberKind,
    Numbers,
    Reason,
    Strings,
    Values,
)
from .json_values import distinct, exact_json
from .keywords import (
    ARRAY_KEYWORDS,
    NUMBER_KEYWORDS,
    OBJECT_KEYWORDS,
    STRING_KEYWORDS,
    TYPE_HINTS,
    TYPES,
)
from .languages import format_language, pattern_language
from .meet import meet
from .meet_scalars import numbers, strings
from .object_keywords import object_part, required_keys
from .places import Place
from .resources import Draft

if TYPE_CHECKING:
    from .reading import Reader


def direct_form(reader: Reader, place: Place) -> Form:
    """What the schema's own type, value and range keywords let through."""
    schema: dict[str, Any] = place.schema
    form = _typed_form(reader, place, schema)
    for keyword in ("enum", "const"):
        if keyword in schema and reader.applies(place, keyword):
            values = _values(reader, place, keyword, schema[keyword])
            if values is not None:
                form = meet(values, form, reader)
    return form


def _typed_form(reader: Reader, place: Place, schema: dict[str, Any]) -> Form:
    types = _types(reader, place, schema.get("type")) if "type" in schema else None
    if types is None and not _RANGE_KEYWORDS.intersection(schema):
        return ANY
    if types is not None:
        _check_idle(reader, place, schema, types)
    made: list[Alternative] = []
    why: list[Reason] = []
    for name in types if types is not None else _ALL_TYPES:
        part = _PARTS[name](reader, place, schema, name)
        if isinstance(part, Reason):
            why.append(part)
        else:
            made.append(part)
    return Form(tuple(made), tuple(why) if not made else ())


def _check_idle(
    reader: Reader, place: Place, schema: dict[str, Any], types: tuple[str, ...]
) -> None:
    """Check the keywords that speak of types which the schema does not let through.

    They say nothing, but ``required: true`` beside a string is a mistake that must not pass.
    """
    for keyword in schema:
        kind = _KIND_OF.get(keyword)
        if kind is None or kind in types or (kind == "number" and "integer" in types):
            continue
        if keyword == "required":
            required_keys(reader, place, schema)
        elif keyword in _COUNTS:
            count(reader, place, keyword)
        elif kind == "number" and not isinstance(schema[keyword], bool):
            number_of(reader, place, schema, keyword)


def _types(reader: Reader, place: Place, value: Any) -> tuple[str, ...] | None:
    """The types a schema names, in order; None where they are unreadable."""
    names = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not value:
        reader.invalid(place, "type", "a type or a list of types", value)
        return None
    for i, name in enumerate(names):
        origin = place.at("type", i) if isinstance(value, list) else place.at("type")
        if not isinstance(name, str):
            reader.invalid(place, "type", "a type or a list of types", value)
            return None
        if name not in TYPES:
            hint = TYPE_HINTS.get(name.lower())
            if hint is None:
                hint = next((t for t in TYPES if t == name.lower()), None)
            note = f'; did you mean "{hint}"?' if hint else ""
            reader.problem(
                "unknown-type", f'unknown type "{name}"{note}', origin,
                None if hint else "the types are: " + ", ".join(TYPES),
            )  # fmt: skip
            return None
    if "number" in names:
        names = [n for n in names if n != "integer"]
    return tuple(dict.fromkeys(names))


def _nulls(reader: Reader, place: Place, schema: dict[str, Any], name: str) -> Part:
    return Nulls(place.origin)


def _booleans(reader: Reader, place: Place, schema: dict[str, Any], name: str) -> Part:
    return Booleans(place.origin)


def _numbers(reader: Reader, place: Place, schema: dict[str, Any], name: str) -> Part:
    kind: NumberKind = "integer" if name == "integer" else "any"
    if _NUMBER_SET.isdisjoint(schema):
        return Numbers(kind, origin=place.origin)
    low, low_open = _bound(reader, place, schema, "minimum", "exclusiveMinimum", 1)
    high, high_open = _bound(reader, place, schema, "maximum", "exclusiveMaximum", -1)
    multiple = number_of(reader, place, schema, "multipleOf")
    if multiple is not None and multiple <= 0:
        reader.invalid(place, "multipleOf", "a number above 0", schema["multipleOf"])
        multiple = None
    return numbers(kind, low, high, low_open, high_open, multiple, place.origin)


def _bound(
    reader: Reader, place: Place, schema: dict[str, Any], plain: str, exclusive: str, sign: int
) -> tuple[Decimal | None, bool]:
    """The stricter of both forms of a bound; draft 4 has a flag instead of a second bound."""
    flag = schema.get(exclusive)
    bound = number_of(reader, place, schema, plain)
    if isinstance(flag, bool):
        if place.resource.stated and place.resource.draft > Draft.DRAFT_4:
            reader.invalid(place, exclusive, "a number", flag)
            return bound, False
        reader.older_form(place, exclusive, "boolean form is draft 4")
        return bound, flag and bound is not None
    other = number_of(reader, place, schema, exclusive)
    if other is not None and (bound is None or (other - bound) * sign >= 0):
        return other, True
    return bound, False


def _strings(reader: Reader, place: Place, schema: dict[str, Any], name: str) -> Part:
    if _STRING_SET.isdisjoint(schema):
        return Strings(origin=place.origin)
    language: Language | None = None
    parts = 0
    for found in (_pattern(reader, place, schema), _format(reader, place, schema)):
        if found is not None:
            language = found if language is None else language & found
            parts += 1
    shortest = count(reader, place, "minLength") or 0
    longest = count(reader, place, "maxLength")
    return strings(shortest, longest, language, parts, place.origin)


def _pattern(reader: Reader, place: Place, schema: dict[str, Any]) -> Language | None:
    if "pattern" not in schema:
        return None
    source = schema["pattern"]
    if not isinstance(source, str):
        reader.invalid(place, "pattern", "a regular expression", source)
        return None
    return pattern_language(reader, place, source, "pattern")


def _format(reader: Reader, place: Place, schema: dict[str, Any]) -> Language | None:
    if "format" not in schema:
        return None
    name = schema["format"]
    if not isinstance(name, str):
        reader.invalid(place, "format", "the name of a format", name)
        return None
    return format_language(reader, place, name)


def _arrays(reader: Reader, place: Place, schema: dict[str, Any], name: str) -> Part:
    return array_part(reader, place, schema)


def _objects(reader: Reader, place: Place, schema: dict[str, Any], name: str) -> Part:
    return object_part(reader, place, schema)


def _values(reader: Reader, place: Place, keyword: str, value: Any) -> Form | None:
    """The finite set of an enum or a const."""
    origin = place.at(keyword)
    if keyword == "enum" and not isinstance(value, list):
        reader.invalid(place, keyword, "a list of values", value)
        return None
    try:
        exact = [exact_json(v, origin) for v in (value if keyword == "enum" else [value])]
    except SchemaError as error:
        reader.problems.extend(error.problems)
        return None
    if not exact:
        return Form((), (Reason("the list of values is empty", origin),))
    return Form((Values(tuple(distinct(exact)), (), origin),))


_Builder: TypeAlias = "Callable[[Reader, Place, dict[str, Any], str], Part]"
_PARTS: dict[str, _Builder] = {
    "null": _nulls,
    "boolean": _booleans,
    "number": _numbers,
    "integer": _numbers,
    "string": _strings,
    "array": _arrays,
    "object": _objects,
}
_ALL_TYPES = ("null", "boolean", "number", "string", "array", "object")
_KIND_OF = {
    keyword: kind
    for kind, keywords in (
        ("number", NUMBER_KEYWORDS), ("string", STRING_KEYWORDS), ("array", ARRAY_KEYWORDS),
        ("object", OBJECT_KEYWORDS),
    )
    for keyword in keywords
}  # fmt: skip
_COUNTS = frozenset(
    ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
)
_NUMBER_SET = frozenset(NUMBER_KEYWORDS)
_STRING_SET = frozenset(STRING_KEYWORDS)
_RANGE_KEYWORDS = frozenset((*NUMBER_KEYWORDS, *STRING_KEYWORDS, *ARRAY_KEYWORDS, *OBJECT_KEYWORDS))
