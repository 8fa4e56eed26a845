"""Regular expression tree -> minimal automaton, by subset construction.

A pattern is a search: it may match anywhere in the text. Anchors at the ends, which nearly every
pattern has, are taken off here; whatever assertions are left go to :mod:`.lookaround`.
"""

from __future__ import annotations

from functools import lru_cache

from . import lookaround, nfa
from .nfa import DONE, Nfa
from .regex_ast import (
    ANY,
    EMPTY,
    END,
    START,
    Alt,
    Cat,
    Look,
    Node,
    Rep,
    Set,
    has_look,
    nullable,
)
from .regex_parser import parse_regex
from .table import MAX_STATES, Row, Table, TooLarge, minimise

MAX_WORK = 3_000_000
"""Most steps of single threads in one subset construction (about a second)."""

MAX_LOOKAROUND_WORK = 500_000
"""The same where threads carry obligations and so cost more (a second or two)."""


@lru_cache(maxsize=512)
def compile_regex(source: str, any_length: bool = False) -> Table:
    """The automaton of the texts in which the pattern is found, trim and minimal.

    Args:
        any_length: without what :func:`split_length` finds.

    Raises:
        TooLarge: a limit on positions, states or work was reached.
        RegexSyntaxError, RegexUnsupported: as :func:`parse_regex`.
    """
    tree = parse_regex(source)
    return compile_tree(split_length(tree)[0] if any_length else tree)


_MANY = 15
"""Repeats beyond which counting them beside the automaton is better than as states."""


def split_length(node: Node) -> tuple[Node, int, int | None]:
    """The tree without the lengths it asks for ahead of all else, and those: `^(?=.{1,9}$)a+$`.

    A length as a lookahead multiplies the states of the rest; as bounds beside it, it is a counter.
    So it is where the rest is one class of characters, repeated often: `^[a-z]{1,99}$`.
    """
    low, high = 0, None
    if not isinstance(node, Cat) or not node.items or node.items[0] != START:
        return node, low, high
    kept: list[Node] = [START]
    rest = list(node.items[1:])
    while rest and isinstance(rest[0], Look):
        look = rest.pop(0)
        match look:
            case Look(Cat((Rep(Set() as chars, least, most), last)), True, False) if last == END:
                low = max(low, least)
                high = most if high is None else min(high, high if most is None else most)
                if chars != ANY:
                    kept.append(Look(Cat((Rep(chars, 0, None), END)), True, False))
            case _:
                kept.append(look)
    match rest:
        case [Rep(Set() as chars, least, most), last] if (
            last == END and max(least, most or 0) > _MANY
        ):
            low = max(low, least)
            high = most if high is None else min(high, high if most is None else most)
            rest = [Rep(chars, 0, None), END]
    return Cat((*kept, *rest)), low, high


def compile_tree(node: Node) -> Table:
    """The automaton of the texts in which the tree is found."""
    nfa.check_size(node)
    bare = strip_anchor(node, START)
    from_start = bare is not None
    node = _shorten(node, 0) if bare is None else bare
    bare = strip_anchor(node, END)
    to_end = bare is not None
    node = _shorten(node, -1) if bare is None else bare
    machine = Nfa()
    entry = machine.build(node, nfa.END if to_end else DONE)
    if not from_start:
        entry = machine.anywhere(entry)
    if machine.assertions:
        return minimise(lookaround.determinise(machine, entry, MAX_LOOKAROUND_WORK))
    return minimise(determinise(machine, entry))


def strip_anchor(node: Node, anchor: Node) -> Node | None:
    """The tree without the anchor that every match begins (START) or ends (END) with; None if
    some match does not."""
    if node == anchor:
        return EMPTY
    match node:
        case Cat(items) if items:
            i = 0 if anchor == START else len(items) - 1
            bare = strip_anchor(items[i], anchor)
            return None if bare is None else Cat((*items[:i], bare, *items[i + 1 :]))
        case Alt(options):
            stripped = [strip_anchor(option, anchor) for option in options]
            kept = tuple(option for option in stripped if option is not None)
            return Alt(kept) if len(kept) == len(options) else None
        case _:
            return None


def _shorten(node: Node, end: int) -> Node:
    """The tree with the first (end 0) or last (-1) repeat of each option no longer than it must be.

    Beyond a free end of a search any text may stand, so `a*b` is found where `b` is.
    """
    match node:
        case Cat(items) if items:
            i = 0 if end == 0 else len(items) - 1
            short = _shorten(items[i], end)
            rest = Cat((*items[:i], *items[i + 1 :]))
            if short == EMPTY:
                return _shorten(rest, end)
            return Cat((*items[:i], short, *items[i + 1 :]))
        case Alt(options):
            return Alt(tuple(_shorten(option, end) for option in options))
        case Rep() if not has_look(node):
            least = 0 if nullable(node.item) else node.min
            if least == 0:
                return EMPTY
            return Rep(node.item, least, least)
        case _:
            return node


def determinise(machine: Nfa, entry: int) -> Table:
    """Subset construction for an automaton without assertions.

    Raises:
        TooLarge: more than MAX_STATES states or MAX_WORK steps.
    """
    alphabet, reads = machine.alphabet()
    done = frozenset([DONE])
    work = 0

    def normal(states: frozenset[int]) -> frozenset[int]:
        return done if DONE in states else states

    start = normal(frozenset(q for q, _ in machine.closure(entry)))
    numbers = {start: 0}
    configurations = [start]
    rows: list[Row] = []
    for configuration in configurations:
        reached: list[set[int]] = [set() for _ in range(alphabet.size)]
        for q in configuration:
            if q == DONE:
                for states in reached:
                    states.add(DONE)
            elif reads[q]:
                after = [t for t, _ in machine.closure(machine.targets[q])]
                work += len(after) * len(reads[q])
                for c in reads[q]:
                    reached[c].update(after)
        if work > MAX_WORK:
            raise TooLarge(f"more than {MAX_WORK} steps of work")
        row: Row = []
        for states in reached:
            if not states:
                row.append(-1)
                continue
            key = normal(frozenset(states))
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(configurations)
                configurations.append(key)
                if number >= MAX_STATES:
                    raise TooLarge(f"more than {MAX_STATES} states")
            row.append(number)
        rows.append(row)
    accepting = frozenset(
        i for i, states in enumerate(configurations) if DONE in states or nfa.END in states
    )
    return Table(alphabet, rows, accepting)
