"""`calligram dialects check | detect | find`: specs, chat templates and models' names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final

import typer

from ..chat_templates.chat_template import ChatTemplate
from ..chat_templates.checking import Checked, Difference, SpecCheck, check_spec
from ..chat_templates.corpus import corpus_text
from ..chat_templates.detect import Candidate, Detection, detect_dialect
from ..chat_templates.names import NameSearch, find_dialect
from ..compiler.spec_loader import find_spec
from .exit_codes import ExitCode
from .files import write_out, write_text
from .options import Json
from .problems import visible

START: Final = 1
"""Characters by which differences are told apart; --json has each of them."""

Template = Annotated[
    str,
    typer.Option(
        "--template",
        metavar="FILE",
        help="A .jinja file, a GGUF, a tokenizer_config.json, or the folder of one.",
    ),
]
Named = Annotated[
    str | None,
    typer.Option("--name", help="Which template, where the file has several."),
]


def check(
    spec: Annotated[str, typer.Argument(metavar="ID|FILE", help="A shipped id or a file.")],
    template: Template,
    name: Named = None,
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", metavar="FILE", help="Write the turns as a corpus file."),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Warnings, and literals that no turn shows, count as differences."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare a spec with what a chat template writes, byte by byte.

    Calls of every kind are rendered through both. Where the texts differ, the place is shown. The
    grammar must accept the template's text, and the parser must read the calls back.
    """
    loaded = find_spec(spec)
    chat = ChatTemplate.from_path(template, name)
    found = check_spec(loaded, chat)
    if corpus is not None:
        write_text(corpus, corpus_text(found, loaded.spec))
    if as_json:
        write_out(json.dumps(found.to_json(), ensure_ascii=False, indent=2) + "\n")
    else:
        write_out("".join(f"{line}\n" for line in _report(found)))
    if not found.ok or (strict and (found.problems or found.unseen)):
        raise typer.Exit(ExitCode.REFUSED)


def _report(found: SpecCheck) -> list[str]:
    lines = [visible(str(p)) for p in found.problems]
    groups: dict[str, list[str]] = {}
    alike: dict[object, list[Difference]] = {}
    for difference in found.differences:
        alike.setdefault(_kind(difference), []).append(difference)
    for first, *others in alike.values():
        lines += _shown(first)
        if others:
            lines.append(f"  and in    {', '.join(d.conversation for d in others)}")
    for checked in found.checked:
        groups.setdefault(_verdict(checked), []).append(checked.conversation.name)
    lines += [f"{verdict}: {', '.join(names)}" for verdict, names in groups.items()]
    for literal in found.unseen:
        lines.append(f"not seen in any turn: {literal.field}  {_quoted(literal.text)}")
    count = len(found.differences)
    differ = f"{count} difference{'s' if count != 1 else ''}" if count else "no difference"
    lines.append(f"{found.dialect}: {differ} from {found.template}")
    return lines


def _kind(difference: Difference) -> object:
    """What differences have in common that are one mistake: how the two texts begin to differ."""
    expected = [(e.field, e.text[:START]) for e in difference.expected]
    words = difference.message.partition(":")[0]
    return words, difference.found[:START], tuple(expected)


def _verdict(checked: Checked) -> str:
    words = {"same": "the same", "known": "known history", "different": "DIFFERENT"}
    verdict = words.get(checked.status, checked.status)
    notes = [n for n in checked.notes if not n.startswith(("the grammar refuses", "the parser"))]
    return visible(f"{verdict} ({'; '.join(notes)})" if notes else verdict)


def _shown(difference: Difference) -> list[str]:
    """The place of a difference, what stands before it, and the two continuations."""
    lines = [f"{difference.conversation}: byte {difference.position}: {difference.message}"]
    lines.append(f"  behind    {_quoted(difference.before)}")
    lines.append(f"  template  {_quoted(difference.found)}")
    for literal in difference.expected:
        text = _quoted(literal.text) if literal.text else "the end of the turn"
        lines.append(f"  spec      {text}" + (f"  ({literal.field})" if literal.field else ""))
    return [visible(line) for line in lines]


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def detect(
    template: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A .jinja file, a GGUF, a tokenizer_config.json, or the folder of one.",
        ),
    ],
    name: Named = None,
    as_json: Json = False,
) -> None:
    """Tell the dialect of a chat template by what it writes, with the evidence."""
    found = detect_dialect(ChatTemplate.from_path(template, name))
    if as_json:
        write_out(json.dumps(found.to_json(), ensure_ascii=False, indent=2) + "\n")
    else:
        write_out("".join(f"{line}\n" for line in detection_lines(found)))
    if found.best is None:
        raise typer.Exit(ExitCode.REFUSED)


def detection_lines(found: Detection) -> list[str]:
    """The dialect, the evidence and the runners-up, for a person."""
    lines = [f"{found.dialect}: {found.reason}"]
    lines += [f"  {sentence}" for sentence in found.evidence]
    if found.best is not None and found.best.failed:
        lines.append(f"  not explained: {', '.join(found.best.failed)}")
    for other in found.runners_up:
        lines.append(f"  next: {other.dialect}, {_short_of(other)}")
    if found.hint:
        lines.append(f"  {found.hint}")
    return [visible(line) for line in lines]


def _short_of(other: Candidate) -> str:
    if not other.failed:
        return "which explains as much of the calls"
    return f"which does not explain: {', '.join(other.failed)}"


def find(
    model: Annotated[str, typer.Argument(metavar="NAME", help="A model's name, as on a hub.")],
    everything: Annotated[
        bool, typer.Option("--all", help="Doubtful dialects too where one is sure.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the dialect of a model by its name, among the families that the specs list.

    With --json all that may be meant is in the output, doubtful or not.
    """
    found = find_dialect(model)
    if as_json:
        write_out(json.dumps(found.to_json(), ensure_ascii=False, indent=2) + "\n")
    else:
        write_out("".join(f"{visible(line)}\n" for line in _search_lines(found, everything)))
    if found.dialect == "unknown":
        raise typer.Exit(ExitCode.REFUSED)


def _search_lines(found: NameSearch, everything: bool) -> list[str]:
    lines = [found.dialect]
    if found.dialect == "unknown" and not found.matches and not found.near:
        lines.append("  no family has a name like it")
    # What is doubtful is no help beside what is sure.
    narrow = found.dialect != "unknown" and not everything
    shown = [m for m in found.matches if m.dialect == found.dialect or not narrow]
    for match in shown:
        word = "" if match.sure else "perhaps "
        lines.append(f"  {word}{match.dialect}  (family {match.family}): {match.reason}")
    if found.near:
        lines.append(
            f"  did you mean {', '.join(f'{m.family} ({m.dialect})' for m in found.near)}?"
        )
    if found.hint:
        lines.append(f"  {found.hint}")
    return lines
