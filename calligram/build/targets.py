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
        regular: report: whether regex or fsm is made of the grammar, too.
    """

    max_depth: int | None = None
    budget: Mapping[str, int] = field(default_factory=dict)
    samples: Sequence[str] = ()
    regular: bool = False

    @property
    def depth(self) -> int:
        """How deep values nest in automata."""
        from ..targets import regex_fsm

        return regex_fsm.MAX_DEPTH if self.max_depth is None else self.max_depth


Emit: TypeAlias = "Callable[[CompiledGrammar, Vocabulary | None, TargetOptions], bytes]"


@dataclass(frozen=True, slots=True)
class Target:
    """One kind of artefact.

    Attributes:
        extension: what its files' names end with.
        vocabulary: whether it is made for a vocabulary.
        regular: whether it is a finite automaton, for which recursion is cut.
        emit: the content of the file. It imports what it needs when it is called.
    """

    extension: str
    vocabulary: bool
    regular: bool
    emit: Emit


def _gbnf(grammar: CompiledGrammar, _: Vocabulary | None, __: TargetOptions) -> bytes:
    from ..targets import gbnf

    return gbnf.emit(grammar).encode()


def _regex(grammar: CompiledGrammar, _: Vocabulary | None, options: TargetOptions) -> bytes:
    from ..targets import regex_fsm

    # No line break behind it: whoever reads the file would have it in the expression.
    return regex_fsm.regex(grammar, max_depth=options.depth).encode()


def _fsm(grammar: CompiledGrammar, vocabulary: Vocabulary | None, options: TargetOptions) -> bytes:
    from ..targets import regex_fsm
    from ..targets.regex_fsm.files import dumps

    assert vocabulary is not None
    return dumps(regex_fsm.compile(grammar, vocabulary, max_depth=options.depth))


def _mask(grammar: CompiledGrammar, vocabulary: Vocabulary | None, options: TargetOptions) -> bytes:
    from ..targets import mask

    assert vocabulary is not None
    automaton = mask.compile(grammar, vocabulary)
    with tempfile.TemporaryDirectory(prefix="calligram-") as folder:
        file = Path(folder, "mask")
        automaton.save(file, budget=mask.SaveBudget(**options.budget), samples=options.samples)
        return file.read_bytes()


def _report(grammar: CompiledGrammar, _: Vocabulary | None, options: TargetOptions) -> bytes:
    document = grammar.report.to_json()
    if options.regular:
        from ..targets import regex_fsm

        found = regex_fsm.cuts(grammar, max_depth=options.depth)
        document |= {"cuts": [cut.to_json() for cut in found]}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    # A lone surrogate of a schema, which no encoding can write, becomes its escape again.
    return text.encode("utf-8", "backslashreplace")


TARGETS: Final[Mapping[Name, Target]] = {
    "gbnf": Target("gbnf", False, False, _gbnf),
    "regex": Target("regex", False, True, _regex),
    "fsm": Target("npz", True, True, _fsm),
    "mask": Target("cgm", True, False, _mask),
    "report": Target("report.json", False, False, _report),
}
"""The targets by name. A new one is an entry here, and its name in `Name`."""
