"""pattern and format as languages, and what becomes of the keywords where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import SchemaError
from ..origin import Origin, did_you_mean
from ..regular.formats import ANNOTATION_FORMATS, KNOWN_FORMATS, NARROWED
from ..regular.language import Language
from .places import Place

if TYPE_CHECKING:
    from .reading import Reader


def pattern_language(
    reader: Reader, place: Place, source: str, *tokens: str | int
) -> Language | None:
    """The language of a regular expression, None if it is invalid or dropped."""
    origin = place.at(*tokens)
    try:
        return Language.pattern(source, origin=origin)
    except SchemaError as error:
        first = error.problems[0]
        if first.code == "unsupported-pattern" and reader.options.on_unsupported == "relax":
            reader.found("relaxed", str(tokens[0]), f"dropped: {first.message}", origin)
        else:
            reader.found("refused", str(tokens[0]), first.message, origin)
            reader.problems.extend(error.problems)
        return None


def format_language(reader: Reader, place: Place, name: str) -> Language | None:
    """The language of a format, None if it is an annotation."""
    origin = place.at("format")
    known = name in KNOWN_FORMATS or name in ANNOTATION_FORMATS
    if not known:
        _unknown_format(reader, name, origin)
        return None
    if reader.options.formats == "annotate":
        reader.found("annotation", "format", "formats are not asserted", origin)
        return None
    language = Language.format(name)
    if language is not None:
        if name in NARROWED:
            reader.found("narrowed", "format", NARROWED[name], origin)
        return language
    reader.found("annotation", "format", f"'{name}' says nothing about the text", origin)
    return None


def _unknown_format(reader: Reader, name: str, origin: Origin) -> None:
    what = f"unknown format '{name}'"
    hint = did_you_mean(name, sorted(KNOWN_FORMATS | ANNOTATION_FORMATS))
    if reader.options.unknown_formats == "refuse":
        reader.found("refused", "format", what, origin)
        reader.problem(
            "unknown-format", what, origin,
            hint or 'unknown_formats="annotate" reports it and goes on',
        )  # fmt: skip
        return
    how = f"{what}: not asserted" + (f"; {hint}" if hint else "")
    reader.found("annotation", "format", how, origin)
