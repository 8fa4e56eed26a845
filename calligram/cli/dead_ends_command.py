"""`calligram dead-ends`: can a grammar be written in a vocabulary without getting stuck?"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ..compiler.vocabulary.any_file import from_file
from ..targets import mask
from ..targets.mask.stuck import LIMIT
from .compiling import compile_grammar, left_out
from .exit_codes import ExitCode
from .files import write_out
from .options import CompileOptions, Json, takes_compile_options
from .problems import visible
from .vocabulary_command import text_of

_TAIL = 60
"""Characters of a text that are shown, the last ones."""


@takes_compile_options
def dead_ends(
    options: CompileOptions,
    vocabulary: Annotated[
        str,
        typer.Option(
            "--vocabulary",
            "-v",
            metavar="FILE",
            help="A GGUF file, a tokenizer.json or its folder, a tekken.json or a SentencePiece "
            "model.",
        ),
    ],
    limit: Annotated[
        int, typer.Option(min=1, help="The most places to look at where bytes are lacking.")
    ] = LIMIT,
    as_json: Json = False,
) -> None:
    """Say where a model can get stuck: no token of its vocabulary leads on, or to the end."""
    grammar = compile_grammar(options, as_json)
    found = mask.dead_ends(grammar, from_file(vocabulary), limit=limit)
    if as_json:
        shown = document(found) | {"left_out": left_out(grammar)}
        write_out(json.dumps(shown, ensure_ascii=False, indent=2) + "\n")
    else:
        write_out("".join(f"{visible(line)}\n" for line in lines(found)))
    if found:
        raise typer.Exit(ExitCode.REFUSED)


def lines(found: mask.DeadEnds) -> list[str]:
    """What was found, for people."""
    out = []
    if found.lacking_bytes:
        listed = " ".join(f"{byte:02X}" for byte in found.lacking_bytes)
        out.append(f"bytes that are no token by themselves: {listed}")
    if found.lacking_tokens:
        listed = ", ".join(found.lacking_tokens)
        out.append(f"special tokens that the vocabulary lacks, written as text: {listed}")
    if found.hopeless:
        out.append("no text of the grammar can be written")
    for end in found.found:
        text = text_of(end.text)
        shown = text if len(text) <= _TAIL else "..." + text[-_TAIL:]
        kind = "tokens lead on, but none to the end" if end.leads_on else "no token leads on"
        out.append(f"dead end behind `{shown}`: {kind}")
        out.append(f"  what could stand there: {', '.join(end.expected)}")
        if end.next_bytes:
            listed = " ".join(f"{byte:02X}" for byte in end.next_bytes[:16])
            more = " ..." if len(end.next_bytes) > 16 else ""
            out.append(f"  a token would have to begin with: {listed}{more}")
    if not found.decided:
        out.append(f"not decided: {found.reason}")
    elif not found.found:
        looked = f" ({found.places:,} places looked at)" if found.places else ""
        out.append(f"no dead ends{looked}")
    return out


def document(found: mask.DeadEnds) -> dict[str, object]:
    """The same for a program. Bytes that are no text become U+FFFD; `bytes` has them in
    hexadecimal."""
    return {
        "decided": found.decided,
        "reason": found.reason,
        "hopeless": found.hopeless,
        "places": found.places,
        "lacking_bytes": list(found.lacking_bytes),
        "lacking_tokens": list(found.lacking_tokens),
        "dead_ends": [
            {
                "tokens": list(end.tokens),
                "text": text_of(end.text),
                "bytes": end.text.hex(),
                "expected": list(end.expected),
                "next_bytes": list(end.next_bytes),
                "leads_on": end.leads_on,
            }
            for end in found.found
        ],
    }
