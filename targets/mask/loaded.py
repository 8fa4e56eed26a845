"""A loaded automaton: what the file holds is there at once, the rest is worked out when asked for.

Until a text leaves what the file covers nothing is compiled. Then the grammar is compiled again out
of the file, and the state that the text is in is found by reading once more the tokens that lead to
it. From there on keys (see cell_keys.py) tell when a text is back at what the file holds.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Final

from ...compiler.compiled import CompiledGrammar
from ...compiler.errors import ArtefactError
from ...compiler.origin import Origin
from ...compiler.owners import back_to
from ...compiler.pipeline import compile_recipe
from ...compiler.recipe import Recipe
from ...compiler.vocabulary.vocabulary import Vocabulary
from . import saved_file
from .automaton import MaskAutomaton
from .cell_keys import KEY_BYTES, CellKeys
from .explore import SampleCoverage
from .results import Row
from .row_codec import RowReader
from .save import SaveReport
from .saved_file import SavedFile, damaged
from .states import DEAD

_LATE: Final = frozenset({"grammar", "core", "fronts", "_memory", "_walker", "_free", "_keys"})
"""What is made when the first text leaves what the file covers."""

_UNREAD: Final[tuple[int, ...]] = (-1,)
"""In place of the continuations of a state that nobody has asked for."""


def load(
    path: str | os.PathLike[str],
    vocabulary: Vocabulary,
    *,
    grammar: CompiledGrammar | None = None,
) -> LoadedAutomaton:
    """The automaton that ``MaskAutomaton.save`` wrote; as good as a new one for every text.

    The file is mapped into memory: processes that load it share it. Replace it as `save` does,
    rather than write into it.

    Args:
        path: the file.
        vocabulary: the vocabulary that it was saved for.
        grammar: the grammar that it should be of, compiled from the same input with the same
            options; if not given, what the file holds is taken.

    Raises:
        TypeError: not a vocabulary.
        ArtefactError: the file cannot be read (``automaton-unreadable``), is no saved automaton,
            cut off or damaged (``automaton-format``), from another version of calligram
            (``automaton-version``), or for another vocabulary or grammar
            (``automaton-vocabulary``, ``automaton-grammar``).
    """
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"a Vocabulary is wanted, not {type(vocabulary).__name__}")
    saved = saved_file.read(path)
    header, place = saved.header, Origin(file=saved.name)
    if header.get("vocabulary") != vocabulary.digest:
        raise ArtefactError.at(
            "automaton-vocabulary",
            f"was saved for another vocabulary, of {header.get('tokens')} tokens; this one has "
            f"{len(vocabulary)}, and another digest",
            place,
            "save the automaton again for this vocabulary",
        )
    if grammar is not None and (
        grammar.recipe is None or header.get("grammar") != grammar.recipe.digest
    ):
        raise ArtefactError.at(
            "automaton-grammar",
            "was saved for another grammar: other tools, another dialect or other options",
            place,
            "save the automaton again for this grammar",
        )
    return LoadedAutomaton(saved, vocabulary)


class LoadedAutomaton(MaskAutomaton):
    """A mask automaton out of a file. Made by :func:`load`.

    Attributes:
        report: what the file holds.
    """

    def __init__(self, saved: SavedFile, vocabulary: Vocabulary) -> None:
        self._begin(vocabulary, None)
        self._saved = saved
        arrays = saved.arrays
        try:
            self._rows = RowReader(arrays, len(vocabulary))
            if not _within(arrays, len(vocabulary)):
                raise ValueError("tokens that the vocabulary does not have")
            self.report = report_of(saved)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(saved.name, str(error)) from None
        self._count = count = int(arrays["parents"].size)
        self._row_numbers = arrays["state_rows"]
        self._unpacked: dict[int, Row] = {}
        self._ends = arrays["ends"].tobytes()
        self._opened = bytearray(count)
        self._places = _Configs(self, count)
        self._configs = self._places
        self.known_tokens = [{} for _ in range(count)]
        self.start = 1

    @property
    def is_compiled(self) -> bool:
        """Has a text left what the file covers, or was `prepare` called?"""
        return "_keys" in self.__dict__

    def prepare(self) -> None:
        """Compile the grammar now, rather than when the first text leaves what the file covers."""
        with self._lock:
            self._keys  # noqa: B018

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there yet.
        if name not in _LATE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with self._lock:
            if name not in self.__dict__:
                self._compile()
        return self.__dict__[name]

    def _compile(self) -> None:
        try:
            grammar = compile_recipe(self._recipe_of_file()).enforced
        except TypeError as error:  # Options that nobody has.
            raise damaged(self._saved.name, str(error)) from None
        self._build(grammar, remember=True)
        arrays = self._saved.arrays
        self._numbers = _numbered(arrays["keys"].tobytes(), range(self._count))
        self._cell_numbers = _numbered(arrays["cell_keys"].tobytes(), arrays["cell_rows"].tolist())
        self._keys = CellKeys(self.core, grammar)
        first = (self.core.continuation(grammar.start),)
        self._places.settle(self.start, first)

    def _recipe_of_file(self) -> Recipe:
        try:
            return Recipe.read(self._saved.arrays["recipe"].tobytes().decode("ascii"))
        except ValueError as error:
            raise damaged(self._saved.name, str(error)) from None

    def _compiled_from(self) -> Recipe:
        return self._recipe_of_file()

    # Out of the file --------------------------------------------------------------------------

    def accept(self, state: int, token: int) -> int:
        if 0 < state < self._count and not self._opened[state]:
            self._open(state)
            found = self.known_tokens[state].get(token)
            if found is not None:
                return found
        return super().accept(state, token)

    def _open(self, state: int) -> None:
        """Take the steps from a state out of the file. Threads may do it twice."""
        arrays = self._saved.arrays
        begin, end = arrays["edge_starts"][state : state + 2].tolist()
        tokens = arrays["edge_tokens"][begin:end].tolist()
        targets = arrays["edge_targets"][begin:end].tolist()
        self.known_tokens[state].update(zip(tokens, targets, strict=True))
        self._opened[state] = 1

    def may_end(self, state: int) -> bool:
        if 0 <= state < self._count:
            return bool(self._ends[state])
        return super().may_end(state)

    def _make_row(self, state: int) -> Row:
        if 0 <= state < self._count:
            return self._row_of_file(int(self._row_numbers[state]))
        return super()._make_row(state)

    def _row_of_file(self, number: int) -> Row:
        """A row; most states share theirs with others."""
        found = self._unpacked.get(number)
        if found is None:
            found = self._rows.row(number)
            self.keep(found)
            self._unpacked[number] = found
        return found

    def _forget_rows(self) -> None:
        self._unpacked.clear()
        if self.is_compiled:
            super()._forget_rows()
        else:
            self.known_rows.clear()

    def _number_of(self, cell: int) -> int | None:
        """The number of a continuation's row in the file."""
        key = self._keys.cell(self.canonical(cell))
        return None if key is None else self._cell_numbers.get(key)

    def _result(self, cell: int) -> int | None:
        return super()._result(cell) if self._number_of(cell) is None else None

    def _make_cell_row(self, cell: int) -> Row:
        number = self._number_of(cell)
        return super()._make_cell_row(cell) if number is None else self._row_of_file(number)

    # Beyond it --------------------------------------------------------------------------------

    def _intern(self, cells: tuple[int, ...]) -> int:
        found = self._index.get(cells)
        if found is not None:
            return found
        key = self._keys.of(cells)
        found = None if key is None else self._numbers.get(key)
        if found is None:
            return super()._intern(cells)
        self._places.settle(found, cells)
        return found

    def settled(self, state: int, cells: tuple[int, ...]) -> None:
        """The continuations of a state of the file are known now."""
        self._index.setdefault(cells, state)

    def replay(self, state: int) -> None:
        """Find the continuations of a state of the file: read what leads to it."""
        parents, tokens = self._saved.arrays["parents"], self._saved.arrays["tokens"]
        with self._lock:
            self._keys  # noqa: B018
            way: list[int] = []
            while not self._places.is_settled(state):
                way.append(state)
                state = int(parents[state])
            for state in reversed(way):
                before = self._configs[int(parents[state])]
                cells = self._step(before, int(tokens[state]))
                if not cells:
                    raise damaged(self._saved.name, "its steps are not those of its grammar")
                self._places.settle(state, cells)


class _Configs(list[tuple[int, ...]]):
    """The continuations of each state, where those of the file are found when asked for."""

    def __init__(self, automaton: LoadedAutomaton, count: int) -> None:
        super().__init__([_UNREAD] * count)
        self._automaton = back_to(automaton)
        super().__setitem__(DEAD, ())

    def __getitem__(self, state: Any) -> Any:
        found = super().__getitem__(state)
        if found is _UNREAD:
            self._automaton.replay(state)
            found = super().__getitem__(state)
        return found

    def is_settled(self, state: int) -> bool:
        return super().__getitem__(state) is not _UNREAD

    def settle(self, state: int, cells: tuple[int, ...]) -> None:
        super().__setitem__(state, cells)
        self._automaton.settled(state, cells)


def report_of(saved: SavedFile) -> SaveReport:
    """The report of a file. Raises KeyError or TypeError where there is none."""
    report = dict(saved.header["report"])
    samples = tuple(SampleCoverage(**sample) for sample in report.pop("samples"))
    return SaveReport(**report, bytes=saved.size, samples=samples)


def _within(arrays: saved_file.Arrays, size: int) -> bool:
    """Are all tokens ids of the vocabulary?"""
    return all(
        bool((arrays[name] >= 0).all() and (arrays[name] < size).all())
        for name in ("tokens", "edge_tokens")
    )


def _numbered(keys: bytes, numbers: Iterable[int]) -> dict[bytes, int]:
    """Numbers by key; what has no key is left out."""
    at = range(0, len(keys), KEY_BYTES)
    found = {keys[a : a + KEY_BYTES]: n for a, n in zip(at, numbers, strict=True)}
    found.pop(b"\0" * KEY_BYTES, None)
    return found
