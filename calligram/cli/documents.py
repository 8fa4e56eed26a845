"""`--document`: files with schemas that references lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from ..compiler.errors import CalligramError
from ..compiler.json_text import read_json
from ..compiler.origin import Problem, in_file
from .exit_codes import InputError
from .files import read_text


@dataclass(frozen=True, slots=True)
class DocumentFiles:
    """The documents by URI, and from which file each is."""

    schemas: Mapping[str, Any]
    files: Mapping[str, str]

    def located(self, problems: Sequence[Problem]) -> list[Problem]:
        """`problems` with the file filled in where they are about a document."""
        found = []
        for problem in problems:
            uri, inside, _ = problem.origin.pointer.partition("#")
            file = self.files.get(uri) if inside and problem.origin.file is None else None
            if file is not None:
                problem = replace(problem, origin=replace(problem.origin, file=file))
            found.append(problem)
        return found


def read_documents(options: Sequence[str]) -> DocumentFiles:
    """Read `URI=FILE`s and `FILE`s, the latter named by the ``$id`` inside.

    What is a file's name as a whole is taken for one; else the last `=` divides.

    Raises:
        typer.BadParameter: standard input, or one URI given twice.
        CalligramError: a file that cannot be read, is no JSON, or has no name; with the file.
    """
    schemas: dict[str, Any] = {}
    files: dict[str, str] = {}
    for option in options:
        uri, divided, file = option.rpartition("=")
        if not divided or Path(option).exists():
            uri, file = "", option
        if file == "-":
            raise wrong_document("a document is a file, not standard input")
        schema = _read(file)
        uri = (uri or identifier(schema, file)).removesuffix("#")
        if uri in schemas:
            raise wrong_document(f"'{uri}' is given twice: {files[uri]} and {file}")
        schemas[uri], files[uri] = schema, file
    return DocumentFiles(schemas, files)


def wrong_document(message: str) -> typer.BadParameter:
    """The usage error for a `--document`."""
    return typer.BadParameter(message, param_hint="'--document'")


def _read(file: str) -> Any:
    text = read_text(file)
    try:
        return read_json(text, "schema documents")
    except CalligramError as error:
        raise type(error)(in_file(error.problems, file)) from None


def identifier(schema: Any, file: str) -> str:
    """The URI that a document gives itself (``id`` in draft 4).

    Raises:
        InputError: it gives itself none.
    """
    identifier = schema.get("$id", schema.get("id")) if isinstance(schema, dict) else None
    if isinstance(identifier, str) and identifier.removesuffix("#"):
        return identifier
    problem = Problem(
        "invalid-document",
        "the document does not name itself: it has no $id",
        hint=f"give its URI: --document URI={file}",
    )
    raise InputError(in_file([problem], file))
