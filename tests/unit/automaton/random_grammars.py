"""Random small grammars over two letters, every kind of node in them."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from calligram.compiler.grammar import (
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Literal,
    Machine,
    Member,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    Token,
    Variant,
)

A, B = ord("a"), ord("b")
MACHINES = (
    Machine((((A, A, 1, 1),), ((B, B, 0, 0),)), frozenset({0, 1})),
    Machine((((A, B, 0, 1),),), frozenset({0})),
    Machine((((A, A, 0, 1), (B, B, 1, 0)), ((A, A, 2, 1),), ()), frozenset({0, 2})),
)
SLOTS = (Slot("content"), Slot("value", "raw"), Slot("name", "raw"))

leaves: st.SearchStrategy[Expr] = st.one_of(
    st.sampled_from(["", "a", "b", "ab", "é"]).map(Literal),
    st.sampled_from([Token("ab"), Token("ba", "require"), Cut()]),
    st.sampled_from([((A, A),), ((A, B),), ((B, B), (0xE9, 0x20AC))]).map(Chars),
    st.builds(
        lambda machine, low, more: Regular(machine, low, None if more is None else low + more),
        st.sampled_from(MACHINES),
        st.integers(0, 2),
        st.none() | st.integers(0, 2),
    ),
    st.sampled_from([RuleRef("x"), RuleRef("y")]),
)


def _members(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    key = st.builds(
        lambda body, required: (body, required),
        inner.map(lambda e: Sequence((Literal("a"), e))),
        st.booleans(),
    )
    plain = st.builds(
        lambda keys, opened, most, order, low, more: Members(
            tuple(Member(str(i), body, required) for i, (body, required) in enumerate(keys)),
            Literal("b"),
            tuple(Sequence((Literal("b"), e)) for e in opened),
            most,
            order,
            low,
            None if more is None else low + more,
        ),
        st.lists(key, max_size=2),
        st.lists(inner, max_size=1),
        st.none() | st.integers(1, 2),
        st.sampled_from(["schema", "any"]),
        st.integers(0, 2),
        st.none() | st.integers(0, 2),
    )
    return st.builds(
        _with_conditions, plain, st.lists(st.integers(0, 3), max_size=2),
        st.lists(st.integers(0, 3), min_size=3, max_size=3),
        inner.map(lambda e: Sequence((Literal("ab"), e))), st.integers(0, 3),
    )  # fmt: skip


def _with_conditions(
    node: Members, conditions: list[int], meets: list[int], body: Expr, more: int
) -> Members:
    """The members with conditions, which a key or an open member may meet by a variant."""
    if not conditions:
        return node
    kept = (1 << len(conditions)) - 1
    extra = (Variant(body, more & kept),) if more & kept else ()
    keys = tuple(
        replace(key, body=Choice((key.body, body)), meets=bits & kept, variants=extra)
        if i == 0
        else replace(key, meets=bits & kept)
        for i, (key, bits) in enumerate(zip(node.keys, meets, strict=False))
    )
    all_keys = (1 << len(keys)) - 1
    return replace(
        node, keys=keys, conditions=tuple(c & all_keys for c in conditions),
        open=tuple(Choice((whole, body)) for whole in node.open),
        open_meets=tuple(meets[2] & kept for _ in node.open),
        open_variants=tuple(extra for _ in node.open),
    )  # fmt: skip


texts: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(
        st.sampled_from(["a", "b", "ab", "ba"]).map(Literal),
        st.sampled_from([((A, A),), ((A, B),)]).map(Chars),
        st.sampled_from([Regular(MACHINES[1], 0, 2), Regular(MACHINES[2], 1)]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda items: Choice(tuple(items))),
        st.lists(inner, min_size=1, max_size=2).map(lambda items: Sequence(tuple(items))),
        st.builds(lambda e, low, more: Repeat(e, low, low + more), inner, st.integers(0, 1),
                  st.integers(0, 2)),
        inner.map(lambda e: Repeat(Sequence((Literal("a"), e)), 0, None)),
    ),
    max_leaves=4,
)  # fmt: skip
"""Texts of one letter or more kinds, finitely many or not, that all have an end."""


def _distinct(
    prefix: list[Expr], rest: Expr | None, low: int, more: int | None, separator: str
) -> Distinct:
    high = None if more is None else low + more
    if rest is None:
        high = len(prefix) if high is None else min(high, len(prefix))
        low = min(low, high)
    return Distinct(tuple(prefix), rest, Literal(separator), low, high)


distinct_items: st.SearchStrategy[Expr] = st.builds(
    _distinct,
    st.lists(texts, max_size=3),
    st.none() | texts,
    st.integers(0, 3),
    st.none() | st.integers(0, 2),
    st.sampled_from([",", "", "a"]),
)
"""Distinct items; there may be too few different ones."""

remembered_keys: st.SearchStrategy[Members] = st.builds(
    lambda keys, name, most, order, memory, low, more: Members(
        tuple(Member(str(i), Literal(f"{i}:"), required) for i, required in enumerate(keys)),
        Literal(","),
        (Literal(":"),),
        most,
        order,
        low if memory == "distinct" else min(low, sum(keys) + 1),
        None if more is None else low + more,
        names=(name,),
        memory=memory,
    ),
    st.lists(st.booleans(), max_size=2),
    texts,
    st.none() | st.integers(1, 3),
    st.sampled_from(["schema", "any"]),
    st.sampled_from(["distinct", "ascending"]),
    st.integers(0, 3),
    st.none() | st.integers(0, 2),
)
"""Objects whose undeclared keys are remembered."""


def _some_key_holds(node: Members, absent: int, by_name: bool) -> Members:
    """Some undeclared key must hold `b`, or be there at all, or a declared one must be missing."""
    held = () if by_name else (Variant(Literal(":b"), 1),)
    return replace(
        node, open=(Choice((Literal(":"), Literal(":b"))),), memory="distinct",
        conditions=(absent & (1 << len(node.keys)) - 1,), open_meets=(int(by_name),),
        open_variants=(held,),
    )  # fmt: skip


keys_that_hold: st.SearchStrategy[Members] = st.builds(
    _some_key_holds, remembered_keys, st.integers(0, 3), st.booleans()
)
"""Objects of remembered keys, one of which meets a condition."""


def _grown(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    consuming = inner.map(lambda e: Sequence((Chars(((A, B),)), e)))
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Sequence(tuple(items))),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: Choice(tuple(items))),
        st.builds(lambda e, low, more: Repeat(e, low, low + more), inner, st.integers(0, 2),
                  st.integers(0, 2)),
        consuming.map(lambda e: Repeat(e, 0, None)),
        st.builds(Capture, st.sampled_from(SLOTS), inner),
        _members(inner),
    )  # fmt: skip


expressions = st.recursive(leaves, _grown, max_leaves=8)


@st.composite
def grammars(draw: st.DrawFn) -> tuple[Rules, Expr]:
    """Rules `x` and `y`, the first recursive behind a letter, and a start."""
    rules = Rules()
    backs: list[Expr] = [Literal("b"), Sequence((Literal("a"), RuleRef("x")))]
    others: list[Expr] = [RuleRef("x"), Literal("ab")]
    back = draw(st.sampled_from(backs))
    rules.define("x", Choice((back, Sequence((Literal("a"), RuleRef("x"), Literal("b"))))))
    rules.define("y", draw(st.sampled_from(others)))
    return rules, draw(expressions)
