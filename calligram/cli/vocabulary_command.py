"""`calligram vocabulary`: what a model's vocabulary holds."""

from __future__ import annotations

from typing import Annotated

import typer

from ..compiler.vocabulary.any_file import from_file
from ..compiler.vocabulary.vocabulary import Vocabulary
from .files import write_out
from .options import Json
from .parse_command import dump
from .problems import visible

_NAMED = 8
"""End tokens that are named on one line."""


def vocabulary(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A GGUF file, a tokenizer.json or its folder, a tekken.json or a SentencePiece "
            "model.",
        ),
    ],
    size: Annotated[
        int | None,
        typer.Option(min=1, help="The number of the model's logits, if larger than the file's."),
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Read the file itself, and keep nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what a model's vocabulary holds: size, special, end and padding tokens."""
    found = from_file(file, size=size, cache=not no_cache)
    if as_json:
        write_out(dump(document(found)))
        return
    ends = [f"{i} {named(found.tokens[i])}" for i in found.eos_ids[:_NAMED]]
    if len(found.eos_ids) > _NAMED:
        ends.append(f"{len(found.eos_ids) - _NAMED} more")
    lines = {
        "kind": found.kind,
        "size": f"{len(found):,}",
        "ordinary": f"{len(found.ordinary):,}, the longest {found.longest} bytes",
        "special": f"{len(found.special_ids):,}",
        "end": ", ".join(ends),
        "padding": f"{len(found.padding_ids):,}",
        "digest": found.digest,
    }
    width = max(map(len, lines)) + 1
    write_out("".join(f"{name + ':':<{width}} {text}\n" for name, text in lines.items()))


def document(found: Vocabulary) -> dict[str, object]:
    """The same for a program."""
    return {
        "kind": found.kind,
        "size": len(found),
        "ordinary": len(found.ordinary),
        "longest_bytes": found.longest,
        "special": len(found.special_ids),
        "end": [{"id": i, "text": text_of(found.tokens[i])} for i in found.eos_ids],
        "padding": len(found.padding_ids),
        "digest": found.digest,
    }


def text_of(token: bytes) -> str:
    """A token as text; bytes that are none become U+FFFD."""
    return token.decode("utf-8", "replace")


def named(token: bytes) -> str:
    """A token on one line, safe to print."""
    return visible(text_of(token)).replace("\n", "\\n")
