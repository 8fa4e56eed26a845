"""One unit -> the contents of its outputs. The only module here that compiles anything."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..cli.compiling import chosen, doubtful, left_out
from ..cli.documents import DocumentFiles, identifier
from ..compiler import spec_loader
from ..compiler.compiled import CompiledGrammar
from ..compiler.errors import CalligramError, SpecError
from ..compiler.ir import Bounds
from ..compiler.json_text import read_json
from ..compiler.origin import Origin, Problem, in_file
from ..compiler.pipeline import compile_tools
from ..compiler.spec import DialectSpec
from ..compiler.spec_merge import Source
from ..compiler.tools import read_tools, tool_entries
from ..compiler.vocabulary.any_file import from_file
from ..compiler.vocabulary.vocabulary import Vocabulary
from .digests import SHIPPED, Digests, is_shipped, text_digest
from .inputs import InputFileError, read_file
from .plan import Unit
from .targets import TARGETS, TargetOptions


@dataclass(frozen=True, slots=True)
class Made:
    """What a unit came to.

    Attributes:
        contents: of each output, by path.
        more: digests of the files that its dialect extends.
        warnings: sentences about what is not enforced, or left out.
    """

    contents: Mapping[str, bytes]
    more: Mapping[str, str]
    warnings: tuple[str, ...]


class TargetFailed(Exception):
    """A target of a grammar cannot be made; `error` says why, with the file and place."""

    def __init__(self, target: str, error: CalligramError) -> None:
        super().__init__(target, error)
        self.target, self.error = target, error


def make(unit: Unit) -> Made:
    """Compile a unit for all its targets; nothing is written.

    Raises:
        TargetFailed: one of the targets cannot be made.
        CalligramError: what else is wrong, with the file and place.
    """
    settings = unit.settings
    spec, more = _dialect(unit)
    documents = _documents(unit)
    text = read_file(unit.path(unit.tools))
    target = None
    try:
        grammar = _compiled(unit, text, spec, documents)
        warnings = [f"left out: {tool} ({why})" for tool, why in left_out(grammar).items()]
        warnings += doubtful(grammar)
        vocabulary = None
        if settings.vocabulary and any(TARGETS[t].vocabulary for t, _ in unit.outputs):
            vocabulary = _vocabulary(unit.path(settings.vocabulary), settings.vocabulary_size)
        options = TargetOptions(
            settings.max_depth,
            settings.budget.model_dump(exclude_none=True) if settings.budget else {},
            [_text(unit.path(s)) for s in settings.samples or ()],
            any(TARGETS[name].regular for name, _ in unit.outputs),
        )
        contents = {}
        for target, path in unit.outputs:
            contents[path] = TARGETS[target].emit(grammar, vocabulary, options)
        if options.regular:
            warnings += _cuts(grammar, options)
    except SpecError:
        raise
    except CalligramError as error:
        problems = documents.located(error.problems)
        found = type(error)(in_file(problems, unit.path(unit.tools)))
        if target is None:
            raise found from None
        raise TargetFailed(target, found) from None
    return Made(contents, more, tuple(warnings))


def _cuts(grammar: CompiledGrammar, options: TargetOptions) -> list[str]:
    """What automata leave out of values that nest without end, in words."""
    from ..targets import regex_fsm

    found = regex_fsm.cuts(grammar, max_depth=options.depth)
    return [f"{cut} (max_depth)" for cut in found]


def _compiled(
    unit: Unit, text: bytes, spec: DialectSpec, documents: DocumentFiles
) -> CompiledGrammar:
    settings = unit.settings
    tools: Any = read_json(text, "tool definitions")
    if unit.only is not None:
        by_name = zip((t.name for t in read_tools(tools)), tool_entries(tools), strict=True)
        tools = [entry for name, entry in by_name if name in unit.only]
    given = settings.model_dump(
        include={
            "parallel_tool_calls", "max_calls", "reasoning", "key_order", "on_unsupported",
            "open_objects", "openapi", "formats", "unknown_formats",
        },
        exclude_none=True,
    )  # fmt: skip
    return compile_tools(
        tools,
        spec,
        tool_choice=chosen(settings.tool_choice or "required", settings.tool or ()),
        bounds=_bounds(unit),
        whitespace="flexible" if settings.whitespace == "flexible" else None,
        documents=documents.schemas,
        **given,
    )


def _bounds(unit: Unit) -> Bounds | None:
    settings = unit.settings
    if settings.bounds is None:
        return Bounds()
    if settings.bounds == "none":
        return None
    try:
        return Bounds(**settings.bounds.model_dump(exclude_none=True))
    except ValueError as error:
        raise InputFileError.at("manifest-value", str(error), unit.place.child("bounds")) from None


def _dialect(unit: Unit) -> tuple[DialectSpec, dict[str, str]]:
    """The spec, and digests of what it extends."""
    if is_shipped(unit.dialect):
        try:
            return spec_loader.find_spec(unit.dialect).spec, {}
        except SpecError as error:
            place = unit.place.child("dialect")
            raise SpecError(
                replace(p, origin=place) if p.origin.file is None else p for p in error.problems
            ) from None
    more: dict[str, str] = {}
    digests = Digests()

    def resolve(reference: str, child: Source, origin: Origin) -> Source:
        found = spec_loader.extends_resolver(reference, child, origin)
        if spec_loader.is_path(reference):
            path = os.path.relpath(found.key, os.path.realpath(unit.folder or "."))
            # Of what was read, rather than what is there by now.
            more[Path(path).as_posix()] = text_digest(found.text)
        else:
            more[SHIPPED] = digests.of_shipped()
        return found

    return spec_loader.load_spec(unit.path(unit.dialect), resolve).spec, more


def _documents(unit: Unit) -> DocumentFiles:
    given = unit.settings.documents or ()
    pairs = given.items() if isinstance(given, dict) else (("", name) for name in given)
    schemas: dict[str, Any] = {}
    files: dict[str, str] = {}
    for uri, name in pairs:
        file = unit.path(name)
        try:
            schema = read_json(read_file(file), "schema documents")
        except CalligramError as error:
            raise type(error)(in_file(error.problems, file)) from None
        uri = (uri or identifier(schema, file)).removesuffix("#")
        if uri in schemas:
            problem = Problem("duplicate-document", f"{files[uri]} has this URI too: {uri}")
            raise InputFileError(in_file([problem], file))
        schemas[uri], files[uri] = schema, file
    return DocumentFiles(schemas, files)


@functools.lru_cache(maxsize=1)  # Units come ordered by vocabulary.
def _vocabulary(path: str, size: int | None) -> Vocabulary:
    try:
        return from_file(path, size=size)
    except CalligramError as error:
        raise type(error)(in_file(error.problems, path)) from None


def _text(path: str) -> str:
    data = read_file(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"the byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8"
        raise InputFileError.at("not-utf-8", message, Origin(file=path, line=line)) from None
