"""pattern and format as languages, and what becomes of the keywords where there is none."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ..errors import SchemaError
from ..findings import Status
from ..origin import Origin, did_you_mean
from ..regular.formats import ANNOTATION_FORMATS, KNOWN_FORMATS, NARROWED
from ..regular.language import Language
from .options import ReadOptions
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
    if not known_format(name) and reader.options.unknown_formats == "refuse":
        _refuse(reader, name, origin)
        return None
    language, said = format_status(name, reader.options)
    if said is not None:
        reader.found(said[0], "format", said[1], origin)
    return language


def known_format(name: str) -> bool:
    """Whether somebody defined the format, though it may say nothing about the text."""
    return name in KNOWN_FORMATS or name in ANNOTATION_FORMATS


def format_status(
    name: str, options: ReadOptions
) -> tuple[Language | None, tuple[Status, str] | None]:
    """The language of a format, None if it is an annotation; and what is to be said of it."""
    if not known_format(name):
        hint = _near(name)
        how = f"unknown format '{name}': not asserted" + (f"; {hint}" if hint else "")
        return None, ("annotation", how)
    if options.formats == "annotate":
        return None, ("annotation", "formats are not asserted")
    language = Language.format(name)
    if language is None:
        return None, ("annotation", f"'{name}' says nothing about the text")
    return language, ("narrowed", NARROWED[name]) if name in NARROWED else None


@lru_cache(maxsize=256)
def _near(name: str) -> str | None:
    return did_you_mean(name, sorted(KNOWN_FORMATS | ANNOTATION_FORMATS))


def _refuse(reader: Reader, name: str, origin: Origin) -> None:
    what = f"unknown format '{name}'"
    reader.found("refused", "format", what, origin)
    hint = _near(name) or 'unknown_formats="annotate" reports it and goes on'
    reader.problem("unknown-format", what, origin, hint)
