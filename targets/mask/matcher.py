"""One sequence being generated: the method names and signatures of XGrammar's matcher."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from . import drafts, jump
from .bitmask import apply_token_bitmask_inplace, as_numpy
from .states import DEAD, ENDED

if TYPE_CHECKING:
    from .automaton import MaskAutomaton

_ENDINGS: Final = b" \"',.:;-_/\\<>(){}[]\nae019AZ"
"""Bytes to try behind forced text, where a tokenizer is asked what it would do."""


class Matcher:
    """Where one text stands in a mask automaton. Holds integers only: forking copies them.

    A matcher belongs to one thread at a time; matchers of one automaton may be used by several
    threads at once.
    """

    __slots__ = ("_all", "_automaton", "_history", "_rows", "_state", "_tokens")

    def __init__(self, automaton: MaskAutomaton) -> None:
        self._automaton = automaton
        self._state = automaton.start
        self._history: list[int] = []
        # Read directly, as this is done for each token of each sequence.
        self._all = automaton.all_row
        self._rows = automaton.known_rows
        self._tokens = automaton.known_tokens

    # Masks ------------------------------------------------------------------------------------

    def fill_next_token_bitmask(
        self, bitmask: Any, index: int = 0, *, budget: int | None = None
    ) -> bool:
        """Write the mask of the allowed tokens.

        Args:
            bitmask: int32[W] or int32[B, W], W at least ceil(V / 32), numpy or a CPU torch
                tensor; bit i of word w is token 32 * w + i, 1 = allowed. Words beyond the
                vocabulary become 0: an id without a token is never allowed.
            index: the row to write, if there are several.
            budget: how many tokens may still be taken, an end token included: only those that
                leave enough to come to the end are allowed. With less than `tokens_to_end` only
                those on the shortest way known. None: no limit.

        Returns:
            False if every token but padding is allowed, so that there is nothing to apply; the mask
            is written all the same.

        Raises:
            ValueError: the mask has fewer words than the vocabulary.
            VocabularyError: there is a budget, and no way to the end is known in this vocabulary.
        """
        if type(bitmask) is not np.ndarray:
            bitmask = as_numpy(bitmask)
        out = bitmask if bitmask.ndim == 1 else bitmask[index]
        if budget is None:
            return self._write(self._state, out) is not self._all
        row = self._automaton.row_within(self._state, budget)
        _copy(row, out)
        return row is not self._all

    def _write(self, state: int, out: NDArray[np.int32]) -> NDArray[np.int32]:
        row = self._rows.get(state)
        if row is None:
            row = self._automaton.row(state)
        words = row.shape[0]
        if out.shape[0] == words:
            out[:] = row
        else:
            _copy(row, out)
        return row

    def mask_row(self, budget: int | None = None) -> NDArray[np.int32]:
        """The mask as a view of the shared row: int32[ceil(V / 32)], not to be written to.

        Args:
            budget: as in `fill_next_token_bitmask`, and so what it raises.
        """
        if budget is not None:
            return self._automaton.row_within(self._state, budget)
        row = self._rows.get(self._state)
        return self._automaton.row(self._state) if row is None else row

    def mask_logits(self, logits: Any, *, budget: int | None = None) -> None:
        """Set the logits of tokens that are not allowed to minus infinity, in place.

        Args:
            logits: float[V'] or float[B, V'] (every row alike), numpy or torch, any floating
                type; logits beyond the vocabulary are masked too.
            budget: as in `fill_next_token_bitmask`, and so what it raises.

        Raises:
            TypeError: not an array of floating point numbers.
        """
        apply_token_bitmask_inplace(logits, self.mask_row(budget))

    def allowed_tokens(self, budget: int | None = None) -> list[int]:
        """The ids that are allowed, ascending; for people and tests."""
        bits = np.unpackbits(self.mask_row(budget).view(np.uint8), bitorder="little")
        return [int(i) for i in np.flatnonzero(bits)]

    # The way to the end -----------------------------------------------------------------------

    def bytes_to_end(self) -> int:
        """The fewest bytes that make the text whole; special tokens count with their text.

        Where items or keys must differ from others there may be a shorter way than the one found.

        Raises:
            VocabularyError: no way is known.
        """
        return self._automaton.bytes_to_end(self._state)

    def tokens_to_end(self) -> int:
        """How many tokens are surely enough to make the text whole, with an end token if the
        vocabulary has one; 0 after an end token.

        These are the fewest that spell one shortest text, so that a longer text may take fewer.

        Raises:
            VocabularyError: no way is known in this vocabulary.
        """
        return self._automaton.tokens_to_end(self._state)

    # The text so far --------------------------------------------------------------------------

    def accept_token(self, token_id: int) -> bool:
        """Take a token; False, and nothing changes, if it is not allowed.

        Once a text has ended, further end tokens are taken and change nothing: hosts run ahead.
        """
        state = self._state
        nxt = None if state == ENDED else self._tokens[state].get(token_id)
        if nxt is None:
            nxt = self._automaton.accept(state, token_id)
        if nxt == DEAD:
            return False
        self._history.append(state)
        self._state = nxt
        return True

    def accept_string(self, input_str: str | bytes) -> bool:
        """Take text that no tokens are known of, as one step of `rollback`.

        Special tokens have no text: `accept_token` takes them.

        Returns:
            False, and nothing changes, if the grammar does not allow it all.
        """
        data = input_str.encode("utf-8") if isinstance(input_str, str) else bytes(input_str)
        after = self._state
        if data:
            after = self._automaton.read(after, data)
            if after == DEAD:
                return False
        self._history.append(self._state)
        self._state = after
        return True

    def rollback(self, num_tokens: int = 1) -> None:
        """Undo the last tokens.

        Raises:
            ValueError: fewer have been taken.
        """
        if not 0 <= num_tokens <= len(self._history):
            raise ValueError(f"{len(self._history)} tokens were taken, not {num_tokens}")
        if num_tokens:
            self._state = self._history[-num_tokens]
            del self._history[-num_tokens:]

    def fork(self) -> Matcher:
        """A matcher at the same place that goes its own way."""
        other = Matcher(self._automaton)
        other._state = self._state
        other._history = self._history.copy()
        return other

    def reset(self) -> None:
        """Back to the start."""
        self._state = self._automaton.start
        self._history.clear()

    def is_completed(self) -> bool:
        """May the text end here?"""
        return self._automaton.may_end(self._state)

    def is_terminated(self) -> bool:
        """Has an end token been taken?"""
        return self._state == ENDED

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids of the tokens that end a text."""
        return list(self._automaton.vocabulary.eos_ids)

    @property
    def max_rollback_tokens(self) -> int:
        """-1: any number of tokens can be undone."""
        return -1

    @property
    def state(self) -> int:
        """The automaton's state, for batches."""
        return self._state

    # What must come ---------------------------------------------------------------------------

    def find_jump_forward_bytes(self) -> bytes:
        """The bytes that must come next, as far as there is no choice."""
        return self._automaton.forced(self._state)

    def find_jump_forward_string(self) -> str:
        """The same as text, cut before a character that is not whole."""
        return jump.whole_characters(self.find_jump_forward_bytes())

    def find_jump_forward_tokens(self, encode: jump.Encode | None = None) -> list[int]:
        """Tokens for the bytes that must come: take them with `accept_token`, one by one.

        A token is left out, with all that follow it, if what comes after the forced bytes could
        make a longer one of it.

        Args:
            encode: the tokenizer's own text -> ids, without markers at the ends. Unless given,
                the longest token that matches is taken at each place, which may differ from how
                the model's tokenizer writes the text.
        """
        automaton = self._automaton
        data = automaton.forced(self._state)
        if not data:
            return []
        follow = automaton.next_bytes(automaton.read(self._state, data))
        if encode is None:
            return jump.longest_tokens(automaton.vocabulary, data, last=not follow)
        # The least byte of each run that may follow, and those that tokens often go on with.
        endings = {bytes([b]) for b in follow if b in _ENDINGS or b - 1 not in follow}
        return jump.encoded_tokens(automaton.vocabulary, data, encode, sorted(endings))

    # Speculative decoding ---------------------------------------------------------------------

    def fill_next_token_bitmask_run(self, tokens: Sequence[int], bitmask: Any) -> int:
        """The masks along a drafted run of tokens; the matcher stays where it is.

        Args:
            tokens: the drafted ids.
            bitmask: int32[at least len(tokens) + 1, W]: row i becomes the mask after i tokens.
                Rows behind the first token that is not allowed are left as they are.

        Returns:
            How many of the tokens are allowed, one after the other; so many rows and one more
            are written.

        Raises:
            ValueError: too few rows or words.
        """
        return drafts.fill_run(self._state, tokens, bitmask, self._automaton.accept, self._write)

    def traverse_draft_tree(
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
    ) -> bool:
        """The masks of a tree of drafted tokens; the matcher stays where it is.

        Node 0 is the root, the token that was taken last: it is not looked at. As XGrammar has
        it, the row of a token that is not allowed, and of one that ends the text, is all 0, and
        rows below a token that is not allowed are left as they are.

        Args:
            retrieve_next_token: integers[N], the first child of each node, -1: none.
            retrieve_next_sibling: integers[N], the next sibling of each node, -1: none.
            draft_tokens: integers[N], the nodes' ids.
            token_bitmask: int32[at least N, W]: row i becomes the mask after node i.
            time_threshold: seconds; no limit if it is not positive.

        Returns:
            False if the time was up before all was written.

        Raises:
            ValueError: lengths that do not fit, or links that lead nowhere or in a circle.
        """
        tree = (retrieve_next_token, retrieve_next_sibling, draft_tokens)
        accept = self._automaton.accept
        return drafts.fill_tree(
            self._state, tree, token_bitmask, accept, self._write, ENDED, time_threshold
        )


def fill_next_token_bitmask_batch(
    matchers: Sequence[Matcher],
    bitmask: Any,
    indices: Sequence[int] | None = None,
    *,
    budgets: Sequence[int | None] | None = None,
) -> None:
    """Write the masks of many matchers into int32[B, W].

    Args:
        indices: the row of each matcher; row i for matcher i unless given.
        budgets: the budget of each matcher, None for no limit; see
            `Matcher.fill_next_token_bitmask`.

    Raises:
        ValueError: not one index, or not one budget, for each matcher.
        VocabularyError: there is a budget, and no way to the end is known in this vocabulary.
    """
    if budgets is not None:
        _fill_within(matchers, bitmask, indices, budgets)
        return
    rows = range(len(matchers)) if indices is None else indices
    bitmask = as_numpy(bitmask)
    if indices is None and matchers and bitmask.flags.c_contiguous:
        masks = [matcher.mask_row() for matcher in matchers]
        if bitmask.shape == (len(masks), masks[0].size) and bitmask.dtype == np.int32:
            # One copy of all rows; automata over other vocabularies have rows of another size.
            if all(mask.size == masks[0].size for mask in masks):
                np.concatenate(masks, out=bitmask.reshape(-1))
                return
    for index, matcher in zip(rows, matchers, strict=True):
        matcher.fill_next_token_bitmask(bitmask, index)


def _fill_within(
    matchers: Sequence[Matcher],
    bitmask: Any,
    indices: Sequence[int] | None,
    budgets: Sequence[int | None],
) -> None:
    rows = range(len(matchers)) if indices is None else indices
    for index, matcher, budget in zip(rows, matchers, budgets, strict=True):
        matcher.fill_next_token_bitmask(bitmask, index, budget=budget)


def _copy(row: NDArray[np.int32], out: NDArray[np.int32]) -> None:
    """Write a row; words beyond it become 0."""
    words = row.shape[0]
    out[:words] = row
    out[words:] = 0
