"""Rules printed from templates are the rules printed one by one."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.grammar import (
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Regular,
    Rules,
    Sequence,
)
from calligram.compiler.passes.expand_regular import RegularExpander
from calligram.compiler.passes.linear import Linear, Shape, hole
from calligram.compiler.passes.rewrite import rewrite_grammar
from calligram.compiler.passes.survey import survey
from calligram.targets.gbnf.printer import Printer
from calligram.targets.gbnf.templates import is_open
from tests.unit.targets.test_gbnf_random import machines

CLOSER = "\n</value>\n"


def without(closer: str) -> Machine:
    """Text in which `closer` does not occur, each character counted (Knuth, Morris and Pratt)."""
    rows = []
    for state, wanted in enumerate(closer):
        targets: dict[str, int] = {}
        for character in dict.fromkeys(closer):
            text = closer[:state] + character
            targets[character] = max(
                n for n in range(len(text) + 1) if text.endswith(closer[:n]) and n <= len(text)
            )
        assert targets[wanted] == state + 1
        codes = sorted((ord(c), target) for c, target in targets.items() if target < len(closer))
        row, at = [], 0
        for code in sorted(map(ord, targets)):
            if at < code:
                row.append((at, code - 1, 0, 1))
            at = code + 1
        row.append((at, 0xD7FF, 0, 1))
        rows.append(tuple(sorted([*row, *((code, code, target, 1) for code, target in codes)])))
    return Machine(tuple(rows), frozenset(range(len(closer))))


def both_ways(*nodes: Regular) -> tuple[str, str]:
    """The text by templates, and the text with every rule an expression of its own."""
    regular = RegularExpander()
    done = rewrite_grammar(Grammar(Rules(), Sequence(nodes)), regular.node)
    texts = []
    tables: list[dict[str, Linear]] = [regular.linear, {}]
    for linear in tables:
        texts.append(Printer(done.rules, survey(done, linear).uses, linear).print(done.start))
    return texts[0], texts[1]


@settings(max_examples=200, deadline=None)
@given(machine=machines(), spread=st.integers(0, 30), more=st.integers(0, 9))
def test_templates_print_what_expressions_print(machine: Machine, spread: int, more: int) -> None:
    # Four states and no lower bound: there always is a text of so few counts.
    nodes = (Regular(machine, 0, 4 + spread), Regular(machine, 0, 4 + spread + more))
    templates, expressions = both_ways(*nodes)
    assert templates == expressions


def test_templates_with_rules_inside_rules_and_blocks() -> None:
    machine = without(CLOSER)
    for low, high in ((0, 5), (3, 40), (0, 700), (0, 9000)):
        templates, expressions = both_ways(Regular(machine, low, high))
        assert templates == expressions, (low, high)


def test_percent_signs_and_marks_are_text() -> None:
    # Words over %, %s and the characters that mark holes and gaps.
    codes = sorted(map(ord, "%s\x01\x02{}"))
    row = tuple((code, code, 1, 1) for code in codes)
    machine = Machine((row, (*row[:2], (44, 44, 0, 0), *row[3:])), frozenset({1}))
    templates, expressions = both_ways(Regular(machine, 0, 30))
    assert templates == expressions
    assert "%" in templates and "\\x01" in templates and "\\x02" in templates


def test_shapes_whose_options_begin_with_a_hole_are_told() -> None:
    label = Literal("a")
    opened: list[Expr] = [
        Choice((label, hole(0))),
        Choice((Sequence((hole(0), label)), label)),
        Sequence((label, Choice((hole(1), label)))),
    ]
    closed: list[Expr] = [
        hole(0),
        Sequence((hole(0), hole(1))),
        Choice((Sequence((label, hole(0))), Literal("b"))),
    ]
    assert [is_open(Shape(expr)) for expr in opened] == [True] * len(opened)
    assert [is_open(Shape(expr)) for expr in closed] == [False] * len(closed)
