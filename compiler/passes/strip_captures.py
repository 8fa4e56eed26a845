"""Grammar -> Grammar. Captures become their item, cuts nothing, tokens their text.

For targets that read text only and fill no slots.
"""

from __future__ import annotations

from ..grammar import EMPTY, Capture, Cut, Expr, Grammar, Literal, Sequence, Token
from .rewrite import RuleMaker, flatten, rewrite_grammar


def strip_captures(grammar: Grammar) -> Grammar:
    """The same language without `Capture`, `Cut` and `Token`."""
    return rewrite_grammar(grammar, strip_node)


def strip_node(expr: Expr, maker: RuleMaker) -> Expr:
    """One node, its children done."""
    match expr:
        case Capture(item=item):
            return item
        case Cut():
            return EMPTY
        case Token(text=text):
            return Literal(text)
        case Sequence(items=items):
            return flatten(items)
        case _:
            return expr
