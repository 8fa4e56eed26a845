"""One walk over an expanded grammar: what refers to what, how often, and what repeats.

With it the checks cost a look at each rule instead of a graph of all nodes: only rules that lead
back to themselves can be unproductive or left-recursive. Rules of expanded machines are taken as
they are: they are right-linear, each reads a character before it leads on or leads on to less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..grammar import (
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    Repeat,
    RuleRef,
    Sequence,
)
from ..graphs import components
from .check_left_recursion import check_left_recursion, find_left_recursion
from .check_loops import check_loops
from .check_productive import check_productive, find_unproductive
from .graph import build_graph, graph_of
from .linear import Linear
from .nullable import nullable
from .rewrite import mentioned

NOTHING: list[str] = []


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """``uses``: how often each rule is referred to, in order of first use, breadth first;
    ``references``: what each rule of no machine refers to; ``repeats``: their repeats."""

    uses: dict[str, int]
    references: dict[str, list[str]]
    repeats: list[Repeat]
    undefined: bool


def survey(grammar: Grammar, linear: Mapping[str, Linear]) -> Survey:
    """What ``grammar.start`` reaches; `linear` has the rules of expanded machines."""
    rules = grammar.rules
    uses: dict[str, int] = {}
    references: dict[str, list[str]] = {}
    repeats: list[Repeat] = []
    undefined = False
    waiting: list[str] = []
    names = mentioned(grammar.start, repeats)
    at = 0
    while True:
        for name in names:
            if name in uses:
                uses[name] += 1
            else:
                uses[name] = 1
                waiting.append(name)
        if at == len(waiting):
            return Survey(uses, references, repeats, undefined)
        name = waiting[at]
        at += 1
        rule = linear.get(name)
        if rule is not None:
            names = rule.references()
        elif name in rules:
            names = references[name] = mentioned(rules[name], repeats)
        else:
            undefined = True
            names = []


def check_expanded(grammar: Grammar, found: Survey, empty: Mapping[str, bool]) -> bool:
    """Raise what the three checks raise; say whether some bounded repeat's item may be empty.

    `empty` says of the rules of machines that others refer to whether they match the empty text.
    """
    if found.undefined:
        check_productive(grammar)
    known = _empty_rules(grammar, found, empty)
    bounded = False
    for repeat in found.repeats:
        if matches_empty(repeat.item, known):
            if repeat.max is None:
                check_loops(grammar)
            bounded = True
    return bounded


def _empty_rules(grammar: Grammar, found: Survey, empty: Mapping[str, bool]) -> dict[str, bool]:
    """Which rules match the empty text. Checks those that lead back to themselves."""
    graph = {**found.references, **dict.fromkeys(empty, NOTHING)}
    known = dict(empty)
    rings: list[str] = []
    order: list[str] = []
    for component in components(graph):
        if len(component) == 1 and component[0] not in graph[component[0]]:
            order += component
        else:
            rings += sorted(component)
    if rings:
        known.update(_check_rings(grammar, rings))
    for name in order:
        if name not in known:
            known[name] = matches_empty(grammar.rules[name], known)
    return known


def _check_rings(grammar: Grammar, rings: list[str]) -> dict[str, bool]:
    """Check the rules that lead back to themselves; which of them match the empty text."""
    starts = [RuleRef(name) for name in rings]
    graph = build_graph(grammar.rules, starts)
    part = Grammar(grammar.rules, starts[0])
    if find_unproductive(part, graph) or find_left_recursion(part, graph):
        # What is wrong is told from the start of the grammar.
        whole = graph_of(grammar)
        check_productive(grammar, whole)
        check_left_recursion(grammar, whole)
    empty = nullable(graph)
    return {name: bool(empty[at]) for name, at in zip(rings, graph.starts, strict=True)}


def matches_empty(expr: Expr, known: Mapping[str, bool]) -> bool:
    """Whether `expr`, in literals, classes, sequences, choices, repeats and references, matches the
    empty text; `known` answers for the rules."""
    # All of these or one of these, the rest of them in turn.
    frames: list[tuple[bool, Iterator[Expr]]] = []
    node = expr
    while True:
        match node:
            case Literal(text):
                value = not text
            case RuleRef(name):
                value = known[name]
            case Repeat(item, low, _):
                value = True
                if low:
                    frames.append((True, iter((item,))))
            case Sequence(items):
                value = True
                frames.append((True, iter(items)))
            case Choice(options):
                value = False
                frames.append((False, iter(options)))
            case Chars():
                value = False
            case _:
                raise AssertionError(f"{type(node).__name__} is not expanded")
        while frames:
            every, rest = frames[-1]
            following = next(rest, None) if value is every else None
            if following is not None:
                node = following
                break
            frames.pop()
        else:
            return value
