"""The targets that a manifest may name, one entry each."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from ..compiler.compiled import CompiledGrammar
    from ..compiler.vocabulary.vocabulary import Vocabulary

Name: TypeAlias = Literal["gbnf", "regex", "fsm", "mask", "report"]


@dataclass(frozen=True, slots=True)
class TargetOptions:
    """What only some targets look at.

    Attributes:
        max_depth: regex, fsm: how deep values nest that have no bound; None: as by default.
        budget: mask: how far to search for states, by the names of ``mask.SaveBudget``.
        samples: mask: texts whose masks are all kept.
    """

    max_depth: int | None = None
    budget: Mapping[str, int] = field(default_factory=dict)
    samples: Sequence[str] = ()


Emit: TypeAlias = "Callable[[CompiledGrammar, Vocabulary | None, TargetOptions], bytes]"


@dataclass(frozen=True, slots=True)
class Target:
    """One kind of artefact.

    Attributes:
        extension: what its files' names end with.
        vocabulary: whether it is made for a vocabulary.
        emit: the content of the file. It imports what it needs when it is called.
    """

    extension: str
    vocabulary: bool
    emit: Emit


def _gbnf(grammar: CompiledGrammar, _: Vocabulary | None, __: TargetOptions) -> bytes:
    from ..targets import gbnf

    return gbnf.emit(grammar).encode()


def _regex(grammar: CompiledGrammar, _: Vocabulary | None, options: TargetOptions) -> bytes:
    from ..targets import regex_fsm

    depth = regex_fsm.MAX_DEPTH if options.max_depth is None else options.max_depth
    return (regex_fsm.regex(grammar, max_depth=depth) + "\n").encode()


def _fsm(grammar: CompiledGrammar, vocabulary: Vocabulary | None, options: TargetOptions) -> bytes:
    from ..targets import regex_fsm
    from ..targets.regex_fsm.files import dumps

    assert vocabulary is not None
    depth = regex_fsm.MAX_DEPTH if options.max_depth is None else options.max_depth
    return dumps(regex_fsm.compile(grammar, vocabulary, max_depth=depth))


def _mask(grammar: CompiledGrammar, vocabulary: Vocabulary | None, options: TargetOptions) -> bytes:
    from ..targets import mask

    assert vocabulary is not None
    automaton = mask.compile(grammar, vocabulary)
    with tempfile.TemporaryDirectory(prefix="calligram-") as folder:
        file = Path(folder, "mask")
        automaton.save(file, budget=mask.SaveBudget(**options.budget), samples=options.samples)
        return file.read_bytes()


def _report(grammar: CompiledGrammar, _: Vocabulary | None, __: TargetOptions) -> bytes:
    text = json.dumps(grammar.report.to_json(), indent=1, ensure_ascii=False) + "\n"
    # A lone surrogate of a schema, which no encoding can write, becomes its escape again.
    return text.encode("utf-8", "backslashreplace")


TARGETS: Final[Mapping[Name, Target]] = {
    "gbnf": Target("gbnf", False, _gbnf),
    "regex": Target("regex", False, _regex),
    "fsm": Target("npz", True, _fsm),
    "mask": Target("cgm", True, _mask),
    "report": Target("report.json", False, _report),
}
"""The targets by name. A new one is an entry here, and its name in `Name`."""
