"""Right-linear rules that come in great numbers and few shapes.

The rules of a counted machine differ in what they lead to and little else. A rule is therefore a
shape, shared, and the names that stand in its holes; it becomes an expression of its own only
where somebody asks for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..grammar import Expr, RuleRef, references
from .rewrite import rewrite

HOLE = "\x01"
"""Begins the name of a reference that stands for a hole, before the hole's number."""


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """An expression in which a reference named by :func:`hole` stands for another name.

    ``uses`` are all references in it, left to right: the number of a hole or a rule's name.
    """

    expr: Expr
    uses: tuple[int | str, ...] = field(init=False)

    def __post_init__(self) -> None:
        uses = tuple([hole_number(name) for name in references(self.expr)])
        object.__setattr__(self, "uses", uses)


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """The rule of `shape` with the rules `names` in its holes."""

    shape: Shape
    names: tuple[str, ...]

    def references(self) -> list[str]:
        """The names that it mentions, left to right, repeats included."""
        names = self.names
        return [names[use] if isinstance(use, int) else use for use in self.shape.uses]

    def expr(self) -> Expr:
        """The rule's body."""

        def change(node: Expr) -> Expr:
            if not isinstance(node, RuleRef):
                return node
            use = hole_number(node.name)
            return RuleRef(self.names[use]) if isinstance(use, int) else node

        return rewrite(self.shape.expr, change, {}) if self.names else self.shape.expr


def hole(number: int) -> RuleRef:
    """What stands in a shape for the hole of that number."""
    return RuleRef(f"{HOLE}{number}")


def hole_number(name: str) -> int | str:
    """The number of a hole; the name itself if it is no hole's."""
    return int(name[1:]) if name.startswith(HOLE) else name
