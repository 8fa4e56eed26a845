"""Printed shapes: the text of a right-linear rule with gaps for what it leads to.

A machine's rules come in few shapes, so each shape is printed once for each way in which its holes
are filled, by the printer itself, with marks in the holes; after that a rule is one formatting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...compiler.grammar import Choice, Expr, RuleRef, Sequence, children
from ...compiler.passes.linear import HOLE, Shape
from .fragments import EMPTY_TEXT, GROUP, Fragment, Level

GAP = "\x02"
_GAPS = re.compile(f"{GAP}([0-9]+){GAP}")

Filling = tuple[tuple[Level, int, bool], ...]
"""Of what stands in each hole: its level, its depth, whether it is the empty text."""


@dataclass(frozen=True, slots=True)
class Template:
    """A rule's text for ``%`` formatting with the texts of `order`'s holes."""

    text: str
    order: tuple[int, ...]
    level: Level
    depth: int

    def fill(self, parts: list[Fragment]) -> Fragment | None:
        """None if the text is so long that groups in it would be printed in another way."""
        text = self.text % tuple([parts[at].text for at in self.order])
        return Fragment(text, self.level, self.depth) if len(text) <= GROUP else None


def filling(fragments: list[Fragment]) -> Filling:
    return tuple([(f.level, f.depth, f.text == EMPTY_TEXT) for f in fragments])


def gaps(filled: Filling) -> list[Fragment]:
    """What stands in the holes while a template is printed."""
    return [
        Fragment(EMPTY_TEXT if empty else f"{GAP}{at}{GAP}", level, depth)
        for at, (level, depth, empty) in enumerate(filled)
    ]


def template(printed: Fragment, filled: Filling) -> Template | None:
    """The template of a shape printed with gaps; None if not all gaps are in it."""
    order = tuple([int(at) for at in _GAPS.findall(printed.text)])
    if len(printed.text) > GROUP or {*order} != {at for at, f in enumerate(filled) if not f[2]}:
        return None
    text = _GAPS.sub("%s", printed.text.replace("%", "%%"))
    return Template(text, order, printed.level, printed.depth)


def is_open(shape: Shape) -> bool:
    """Whether some option begins with a hole: as texts, such options could turn out the same."""
    stack: list[Expr] = [shape.expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Choice):
            for option in node.options:
                first = option.items[:1] if isinstance(option, Sequence) else (option,)
                if any(isinstance(item, RuleRef) and item.name.startswith(HOLE) for item in first):
                    return True
        stack.extend(children(node))
    return False
