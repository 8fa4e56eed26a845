"""transformers: a logits processor over batches and beams.

    model.generate(**inputs, logits_processor=[TransformersLogitsProcessor(automaton)])

Source of the shape: transformers.LogitsProcessor, called with int64[B, n] ids, the prompts'
included, and float[B, V] scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..off import disabled
from ..targets.mask import MaskAutomaton, apply_token_bitmask_inplace
from .following import Followed, Text


class TransformersLogitsProcessor:
    """Masks scores by the tokens that follow the prompts.

    States follow the ids and not the rows, so that beams may change places, drafted tokens may be
    dropped, and one processor serves one generation after another. A row that has left the grammar
    (another processor forced a token, or a beam had nothing better than minus infinity) may only
    end.

    Args:
        automaton: what is allowed; None: everything, and scores pass untouched.
        prompt_length: ids of a row that belong to the prompt, padding included. Unless given, the
            first call's ids are the prompts, and rows that do not go on from rows seen before, by
            one token, are the prompts of a new generation.
    """

    def __init__(self, automaton: MaskAutomaton | None, prompt_length: int | None = None) -> None:
        self._given = prompt_length
        self._length = prompt_length
        self._prompts: set[Text] = set()
        self._followed = None if automaton is None else Followed(automaton)
        if automaton is not None:
            self._end_row = np.zeros(automaton.vocabulary.words, dtype=np.uint32)
            for token in automaton.vocabulary.eos_ids:
                self._end_row[token >> 5] |= np.uint32(1 << (token & 31))

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Mask `scores`, float[B, V], in place, and return them.

        Args:
            input_ids: integers[B, n], the prompts' and those generated so far.

        Raises:
            ValueError: a row is shorter than `prompt_length`.
        """
        if self._followed is None or disabled():
            return scores
        rows: list[list[int]] = input_ids.tolist()
        length = self._prompt_length(rows, self._followed)
        for index, row in enumerate(rows):
            matcher, left = self._followed.after(row[length:])
            mask = self._end_row if left else matcher.mask_row()
            apply_token_bitmask_inplace(scores[index], mask)
        return scores

    def reset(self) -> None:
        """Forget the prompts: the next call begins a new generation."""
        self._length = self._given
        self._prompts.clear()

    def _prompt_length(self, rows: list[list[int]], followed: Followed) -> int:
        width = len(rows[0]) if rows else 0
        if self._given is not None:
            if width < self._given:
                raise ValueError(f"the rows have {width} ids, the prompt {self._given}")
            return self._given
        length = self._length
        if (
            length is None
            or width < length
            or any(tuple(row[:length]) not in self._prompts for row in rows)
            or not all(followed.continues(row[length:]) for row in rows)
        ):
            length = self._length = width
            self._prompts = {tuple(row) for row in rows}
        return length
