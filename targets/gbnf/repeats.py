"""Counted repetition within the engine's limits.

llama.cpp reads ``{m,n}`` up to 2,000 exactly and drops larger bounds in silence. Larger ones are
composed of blocks: "less than a block, or a full block and what is left", which has one reading
for every text.
"""

from __future__ import annotations

from collections.abc import Callable

LIMIT = 2000
"""The largest number in braces, and the size of a block."""
CHAIN = 50
"""Blocks up to which each is followed by its own rule; beyond, blocks of blocks are used."""

Name = Callable[[str], str]
"""Gives a name (one atom) to a rule body; equal bodies have one name."""


def repeated(atom: str, low: int, high: int | None, name: Name) -> str:
    """`atom` (a name, a class, a single character) `low` to `high` times, as a sequence.

    The empty text is ``""``.
    """
    if high is None:
        return _join(_exactly(atom, low - (low == 1), name), atom + ("+" if low == 1 else "*"))
    if high <= LIMIT:
        return atom + _braces(low, high) if high else '""'
    return _join(_exactly(atom, low, name), _up_to(atom, high - low, name))


def _braces(low: int, high: int) -> str:
    if low == high:
        return "" if low == 1 else f"{{{low}}}"
    return "?" if (low, high) == (0, 1) else f"{{{low},{high}}}"


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part) or '""'


def _exactly(atom: str, count: int, name: Name) -> str:
    """`count` times; "" for none."""
    parts = []
    while count > LIMIT:
        count, rest = divmod(count, LIMIT)
        if rest:
            parts.append(atom + _braces(rest, rest))
        atom = name(atom + _braces(LIMIT, LIMIT))
    if count:
        parts.append(atom + _braces(count, count))
    # The larger blocks first.
    return " ".join(reversed(parts))


def _up_to(atom: str, most: int, name: Name) -> str:
    """None to `most` times, as one atom or a simple repetition; "" for none."""
    if most <= LIMIT:
        return atom + _braces(0, most) if most else ""
    size = LIMIT
    block = name(atom + _braces(LIMIT, LIMIT))
    below = name(atom + _braces(0, LIMIT - 1))
    while most // size > CHAIN * LIMIT:
        below = name(_join(block + _braces(0, LIMIT - 1), below))
        block = name(block + _braces(LIMIT, LIMIT))
        size *= LIMIT
    if most // size > CHAIN:
        # A block of blocks: fewer than all of them and less than one, or all and the rest.
        full, rest = divmod(most, size)
        return name(_split(block, full, below, _up_to(atom, rest, name), name))
    full, rest = divmod(most, size)
    tail = _up_to(atom, rest, name)
    for _ in range(full):
        tail = name(f"{below} | {_join(block, tail)}")
    return tail


def _split(block: str, full: int, below: str, rest: str, name: Name) -> str:
    """Less than `full` blocks and less than one more, or `full` blocks and `rest`."""
    fewer = repeated(block, 0, full - 1, name)
    return f"{_join(fewer, below)} | {_join(_exactly(block, full, name), rest)}"
