"""Speculative decoding: masks for tokens that a draft model has proposed, in one call.

Nothing here changes a matcher: drafts are followed through the automaton's states.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .bitmask import as_numpy
from .states import DEAD

Accept = Callable[[int, int], int]
"""(state, token) -> the state after it, or DEAD."""

Write = Callable[[int, Any], object]
"""(state, row) -> nothing; writes the state's mask into the row."""


def fill_run(state: int, tokens: Sequence[int], bitmask: Any, accept: Accept, write: Write) -> int:
    """The masks along a run of tokens, see `Matcher.fill_next_token_bitmask_run`."""
    rows = as_numpy(bitmask)
    if rows.ndim != 2 or rows.shape[0] < len(tokens) + 1:
        raise ValueError(
            f"{len(tokens)} tokens need {len(tokens) + 1} rows, the mask's shape is {rows.shape}"
        )
    write(state, rows[0])
    for index, token in enumerate(tokens):
        state = accept(state, int(token))
        if state == DEAD:
            return index
        write(state, rows[index + 1])
    return len(tokens)


def fill_tree(
    state: int,
    tree: tuple[Any, Any, Any],
    bitmask: Any,
    accept: Accept,
    write: Write,
    ended: int,
    seconds: float,
) -> bool:
    """The masks of a tree of tokens, see `Matcher.traverse_draft_tree`.

    Args:
        tree: first children, next siblings and tokens of the nodes.
        ended: the state of a text that has ended, whose row is empty as nothing can follow.
        seconds: stop after this time; no limit if it is not positive.
    """
    child, sibling, tokens = (_integers(part) for part in tree)
    rows = as_numpy(bitmask)
    count = len(tokens)
    if not len(child) == len(sibling) == count or rows.ndim != 2 or rows.shape[0] < count:
        raise ValueError(
            f"a tree of {count} tokens needs as many children ({len(child)}), siblings "
            f"({len(sibling)}) and rows (shape {rows.shape})"
        )
    for node in (*child, *sibling):
        if not -1 <= node < count:
            raise ValueError(f"the tree names node {node}, there are {count}")
    if not count:
        return True
    until = time.monotonic() + seconds if seconds > 0 else None
    write(state, rows[0])
    todo = [(child[0], state)]
    visited = 0
    while todo:
        node, before = todo.pop()
        if node < 0:
            continue
        visited += 1
        if visited >= count:
            raise ValueError("the tree's links run in a circle")
        if until is not None and time.monotonic() > until:
            return False
        todo.append((sibling[node], before))
        after = accept(before, tokens[node])
        if after in (DEAD, ended):
            rows[node].fill(0)
        else:
            write(after, rows[node])
        if after != DEAD:
            todo.append((child[node], after))
    return True


def _integers(values: Any) -> list[int]:
    """A list out of a sequence, an array or a tensor of integers."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    return [int(v) for v in listed]
