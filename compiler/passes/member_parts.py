"""Bodies of members cut into leading text, on which alternatives are factored, and a short rest."""

from __future__ import annotations

from ..grammar import EMPTY, Expr, Literal, RuleRef, Sequence
from .rewrite import RuleMaker, flatten


def split(body: Expr, maker: RuleMaker) -> tuple[Expr, Expr]:
    """A member's leading text, and the rest short enough to be said many times."""
    match body:
        case Literal():
            return body, EMPTY
        case Sequence((Literal() as head, rest)):
            return head, short(rest, maker)
        case Sequence((Literal() as head, *_)):
            return head, short(flatten(body.items[1:]), maker)
        case _:
            return EMPTY, short(body, maker)


def short(expr: Expr, maker: RuleMaker) -> Expr:
    """`expr`, or a reference to it as a rule where it is more than a terminal."""
    match expr:
        case Literal() | RuleRef() | Sequence(()):
            return expr
        case _:
            return maker.define(expr)
