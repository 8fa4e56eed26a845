"""`calligram dialects derive`: a spec out of a chat template."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..chat_templates.chat_template import ChatTemplate
from ..chat_templates.deriving import Derived, derive_spec, dialect_id, known_tokens
from .exit_codes import ExitCode
from .files import file_or_none, write_out, write_text
from .options import Json
from .problems import visible
from .templates_commands import Named, Template


def derive(
    template: Template,
    name: Named = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="The spec's id; made of the file's name if absent."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write the spec here, not to stdout."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the spec of the dialect that a chat template writes calls in.

    Calls with marked names and values are rendered, and what stands around the marks is read out.
    Comments say where each part is from, what was not found, and which of other calls the spec does
    not read.
    """
    output = file_or_none(output)
    chat = ChatTemplate.from_path(template, name)
    known = known_tokens(template)
    found = derive_spec(chat, dialect or dialect_id(chat.model or Path(template).stem), known)
    if output is not None:
        write_text(output, found.yaml)
    if as_json:
        document = {**found.to_json(), "yaml": found.yaml}
        write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    elif output is None:
        write_out(found.yaml)
    else:
        write_out("".join(f"{visible(line)}\n" for line in _report(found)))
    if found.hint and not as_json:
        sys.stderr.write(f"no spec that can be used: {found.hint}\n")
    if not found.ok:
        raise typer.Exit(ExitCode.REFUSED)


def _report(found: Derived) -> list[str]:
    lines = [f"{f.field[1:]}: {'not followed: ' if f.quirk else ''}{f.why}" for f in found.found]
    lines += [f"not found: {u.field[1:]}: {u.why}" for u in found.unknown]
    lines += [str(problem) for problem in found.problems]
    for row in found.verified:
        if row.status in ("refused", "misread"):
            said = "refused by the grammar" if row.status == "refused" else "not read back"
            lines.append(f"{row.name}: {said}: {row.message}")
    summary = found.data["verified"] if found.loaded is not None else "cannot be used as it is"
    return [*lines, f"{found.data['id']}: {summary}"]
