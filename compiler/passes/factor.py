"""Options -> expression. Choices of sequences that begin with literals become radix tries.

A top-down engine pays for every option that is open at a position; in a trie the open options
differ in their next character. Options that are a single character become one class. Only text
that stands outside captures is pulled out, so that a capture keeps what it held.
"""

from __future__ import annotations

from ..grammar import EMPTY, Chars, Choice, Expr, Literal, Ranges, RuleRef, Sequence

Entry = tuple[str, Expr]


def factor(options: tuple[Expr, ...]) -> Expr:
    """The choice among `options`: literals by their text, then the rest in the order given."""
    entries: list[Entry] = []
    others: list[Expr] = []
    stack = list(reversed(options))
    while stack:
        option = stack.pop()
        if isinstance(option, Literal):
            entries.append((option.text, EMPTY))
        elif isinstance(option, Choice):
            stack += option.options[::-1]
        elif not isinstance(option, Sequence):
            others.append(option)
        elif not (items := option.items):
            entries.append(("", EMPTY))
        elif isinstance(head := items[0], Literal):
            entries.append((head.text, items[1] if len(items) == 2 else Sequence(items[1:])))
        else:
            others.append(option)
    if not entries:
        return _choice(others)
    if len(entries) == 1:
        text, tail = entries[0]
        return _choice([_prefixed(text, tail) if text else tail, *others])
    # Python's sort is stable, so equal texts keep the order of their options.
    entries.sort(key=_text)
    return _choice([*_trie(entries), *others])


def _text(entry: Entry) -> str:
    return entry[0]


class _Node:
    """A trie node under construction: the text that leads here and what may follow."""

    __slots__ = ("branches", "depth", "options")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.options: list[Expr] = []
        self.branches = 0


def _trie(entries: list[Entry]) -> list[Expr]:
    """The options of the root of the radix trie over sorted entries.

    The nodes from the root to the latest entry are kept on a stack; an entry closes those that
    are deeper than what it has in common with its predecessor.
    """
    root = _Node(0)
    path = [root]
    previous = ""
    for text, tail in entries:
        common = _common(previous, text)
        _close(path, previous, common)
        if path[-1].depth < len(text):
            path.append(_Node(len(text)))
        path[-1].options.append(tail)
        previous = text
    _close(path, previous, 0)
    return root.options


def _close(path: list[_Node], text: str, depth: int) -> None:
    """Fold the nodes deeper than `depth` into their parents; `text` leads to the deepest."""
    while path[-1].depth > depth:
        node = path.pop()
        if path[-1].depth < depth:
            path.append(_Node(depth))
        start = path[-1].depth
        path[-1].options.append(_prefixed(text[start : node.depth], _choice(node.options)))


def _prefixed(text: str, rest: Expr) -> Expr:
    if isinstance(rest, Literal):
        return Literal(text + rest.text)
    if not isinstance(rest, Sequence):
        return Sequence((Literal(text), rest))
    items = rest.items
    if not items:
        return Literal(text)
    if isinstance(head := items[0], Literal):
        return Sequence((Literal(text + head.text), *items[1:]))
    return Sequence((Literal(text), *items))


def _common(a: str, b: str) -> int:
    """The length of the longest common prefix."""
    if b.startswith(a):
        return len(a)
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _choice(options: list[Expr]) -> Expr:
    """The choice without plain repetitions, single characters merged into one class."""
    if len(options) == 1:
        return options[0]
    kept: list[Expr] = []
    ranges: list[tuple[int, int]] = []
    where = -1
    plain: set[Expr] = set()
    same: set[int] = set()
    for option in options:
        if isinstance(option, Chars):
            new: Ranges = option.ranges
        elif isinstance(option, Literal) and len(option.text) == 1:
            new = ((ord(option.text), ord(option.text)),)
        elif isinstance(option, Literal | RuleRef) or option == EMPTY:
            if option not in plain:
                plain.add(option)
                kept.append(option)
            continue
        else:
            if id(option) not in same:
                same.add(id(option))
                kept.append(option)
            continue
        if where < 0:
            where = len(kept)
            kept.append(option)
        ranges.extend(new)
    if where >= 0:
        kept[where] = characters(ranges)
    return kept[0] if len(kept) == 1 else Choice(tuple(kept))


def characters(ranges: list[tuple[int, int]]) -> Expr:
    """The class of ranges in any order; a literal where it is a single character."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    if len(merged) == 1 and merged[0][0] == merged[0][1]:
        return Literal(chr(merged[0][0]))
    return Chars(tuple(merged))
