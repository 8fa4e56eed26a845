"""Saving an automaton: `recipe, vocabulary, budget, samples -> file`.

The automaton is compiled anew for it, so that the file does not depend on what was asked before.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...compiler.errors import ArtefactError
from ...compiler.pipeline import compile_recipe
from ...compiler.recipe import Recipe
from ...compiler.vocabulary.vocabulary import Vocabulary
from . import saved_file
from .automaton import MaskAutomaton
from .cell_keys import KEY_BYTES, CellKeys
from .explore import Explorer, Sample, SampleCoverage, check_samples
from .states import ENDED

NO_KEY: Final = b"\0" * KEY_BYTES


@dataclass(frozen=True, slots=True)
class SaveBudget:
    """How far the search for states goes. What samples reach is kept in any case.

    Attributes:
        states: the most states in all.
        bytes: bytes of the file, about, at which the search stops.

    Raises:
        ValueError: not whole numbers of at least 1.
    """

    states: int = 20_000
    bytes: int = 16 * 2**20

    def __post_init__(self) -> None:
        for name, value in (("states", self.states), ("bytes", self.bytes)):
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} is a whole number of at least 1, not {value!r}")


@dataclass(frozen=True, slots=True)
class SaveReport:
    """What a file holds.

    Attributes:
        states: states whose masks are in the file.
        edges: tokens that lead from one of them to another.
        rows: masks that differ.
        as_ids, as_words, as_changes: how many of them are kept as lists of ids, as they are, and
            as the words in which they differ from another.
        bytes: the size of the file.
        depth: tokens from the start within which every state that the search tells apart is there.
        cut: the budget ended the search; without, all such states are in the file.
        samples: how far each sample goes.
    """

    states: int
    edges: int
    rows: int
    as_ids: int
    as_words: int
    as_changes: int
    bytes: int
    depth: int
    cut: bool
    samples: tuple[SampleCoverage, ...]

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return dataclasses.asdict(self)


def save(
    vocabulary: Vocabulary,
    recipe: Recipe | None,
    path: str | os.PathLike[str],
    budget: SaveBudget | None,
    samples: Sequence[Sample],
    progress: Callable[[int, int], None] | None,
) -> SaveReport:
    """See :meth:`MaskAutomaton.save`."""
    budget = SaveBudget() if budget is None else budget
    if isinstance(samples, (str, bytes)):
        raise TypeError("samples is a sequence of texts, not one text")
    if recipe is None:
        message = "nobody knows what this grammar was compiled from"
        raise ArtefactError.at("automaton-not-saveable", message)
    check_samples(samples)
    text = recipe.text
    # Read back, so that what can be saved can be loaded.
    grammar = compile_recipe(Recipe.read(text)).enforced
    automaton = MaskAutomaton(grammar, vocabulary)
    keys = CellKeys(automaton.core, grammar)
    explorer = Explorer(automaton)
    covered = tuple(explorer.along(sample) for sample in samples)
    explorer.breadth_first(budget.states, budget.bytes, progress)
    arrays = _arrays(explorer, keys)
    arrays["recipe"] = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    as_ids, as_words, as_changes = explorer.writer.forms
    report = SaveReport(
        states=len(explorer.order),
        edges=arrays["edge_tokens"].size,
        rows=len(explorer.writer),
        as_ids=as_ids,
        as_words=as_words,
        as_changes=as_changes,
        bytes=0,
        depth=explorer.depth,
        cut=explorer.cut,
        samples=covered,
    )
    said = report.to_json()
    del said["bytes"]  # Known when the file is written.
    header = {
        "grammar": recipe.digest,
        "vocabulary": vocabulary.digest,
        "tokens": len(vocabulary),
        "budget": dataclasses.asdict(budget),
        "report": said,
    }
    size = saved_file.write(path, header, arrays)
    return dataclasses.replace(report, bytes=size)


def _arrays(explorer: Explorer, keys: CellKeys) -> saved_file.Arrays:
    """The arrays of a file. State 0 is DEAD, the start is 1."""
    automaton = explorer.automaton
    numbers = {state: at for at, state in enumerate(explorer.order, 1)}
    nothing = explorer.writer.add(np.zeros(automaton.vocabulary.words, dtype=np.uint32))
    parents, tokens = [0], [0]
    edge_starts, edge_tokens, edge_targets = [0, 0], [], []
    state_keys = [NO_KEY]
    for state in explorer.order:
        before, token = explorer.reached[state]
        parents.append(numbers.get(before, 0))
        tokens.append(token)
        state_keys.append(keys.of(automaton.cells(state)) or NO_KEY)
        for step, after in sorted(explorer.edges[state].items()):
            if after == ENDED or after in numbers:
                edge_tokens.append(step)
                edge_targets.append(ENDED if after == ENDED else numbers[after])
        edge_starts.append(len(edge_tokens))
    cells = {
        key: row for cell, row in explorer.cells.items() if (key := keys.cell(cell)) is not None
    }
    return {
        "parents": np.array(parents),
        "tokens": np.array(tokens),
        "state_rows": np.array([nothing, *(explorer.rows[s] for s in explorer.order)]),
        "ends": np.array([0, *(automaton.may_end(s) for s in explorer.order)]),
        "keys": _joined(state_keys),
        "edge_starts": np.array(edge_starts),
        "edge_tokens": np.array(edge_tokens, dtype=np.int64),
        "edge_targets": np.array(edge_targets, dtype=np.int64),
        "cell_keys": _joined(list(cells)),
        "cell_rows": np.array(list(cells.values()), dtype=np.int64),
        **explorer.writer.arrays(),
    }


def _joined(keys: Sequence[bytes]) -> NDArray[Any]:
    return np.frombuffer(b"".join(keys), dtype="<u8")
