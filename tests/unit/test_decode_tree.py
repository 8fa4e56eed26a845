"""Trees of elements back to values: types from the schema, alternatives in its order, in time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from calligram.compiler import ir
from calligram.compiler.decode_tree import Branch, Leaf, Node, TreeDecoder, repeated_keys
from calligram.compiler.spec import LiteralsSpec
from tests.test_corpus import same

TEXT, WHOLE, NULL, FLAG = ir.StringValue(), ir.IntegerValue(), ir.NullValue(), ir.BooleanValue()
WORDS = ir.ArrayValue(items=TEXT)


def union(*options: ir.Value) -> ir.UnionValue:
    return ir.UnionValue(options)


def obj(**values: ir.Value) -> ir.ObjectValue:
    """An object; keys that end in an underscore are optional."""
    keys = (ir.Key(n.removesuffix("_"), v, not n.endswith("_")) for n, v in values.items())
    return ir.ObjectValue(tuple(keys))


def leaf(text: str) -> Leaf:
    return Leaf(text, "untyped")


def branch(*members: tuple[str, Node]) -> Branch:
    """Elements that may be members, or items where all are called `li`."""
    return Branch("untyped", members, "li")


def decoded(
    node: Node, kind: ir.Value | None, *, omits_null: bool = False, **definitions: ir.Value
) -> Any:
    return TreeDecoder(definitions, LiteralsSpec(), omits_null=omits_null).decode(node, kind)


LI = branch(("li", leaf("1")), ("li", leaf("x")))
MIXED = union(WHOLE, TEXT, NULL, FLAG)


@pytest.mark.parametrize(
    ("node", "kind", "value"),
    [
        # Raw text: JSON first where the schema has it, else the string.
        (leaf("1"), TEXT, "1"),
        (leaf("1"), WHOLE, 1),
        (leaf("1"), union(TEXT, WHOLE), 1),
        (leaf("01"), union(TEXT, WHOLE), "01"),
        (leaf("true"), MIXED, True),
        (leaf("1.5"), MIXED, "1.5"),
        (leaf("null"), MIXED, None),
        (leaf("1"), None, 1),
        (leaf("x"), None, "x"),
        (leaf("1"), ir.EnumValue(("1", 2)), "1"),
        (leaf("2"), ir.EnumValue(("1", 2)), 2),
        (leaf("[1]"), None, "[1]"),
        (leaf('["a"]'), WORDS, ["a"]),
        # Nothing that the schema allows: what is nearest.
        (leaf("x"), WHOLE, "x"),
        (leaf("1"), FLAG, 1),
        (leaf(""), WHOLE, ""),
        # An empty element is what comes first.
        (leaf(""), None, ""),
        (leaf(""), union(WORDS, TEXT), []),
        (leaf(""), union(TEXT, WORDS), ""),
        (leaf(""), union(obj(), WORDS), {}),
        (leaf(""), union(obj(a=WHOLE), WORDS), []),
        (leaf(""), union(ir.StringValue(1), WORDS), []),
        (leaf(""), ir.EnumValue(([], "", {})), []),
        (leaf(""), obj(a=WHOLE), {}),
        (leaf(""), ir.ArrayValue(min_items=1), []),
        # Marks are believed.
        (Leaf("1", "raw"), WHOLE, "1"),
        (Leaf("1", "json"), TEXT, 1),
        (Leaf("x", "json"), TEXT, "x"),
        (Leaf("", "raw"), WHOLE, ""),
        (Branch("array", ((None, leaf("1")),)), obj(), [1]),
        (Branch("object", (("li", leaf("1")),), "li"), WORDS, {"li": 1}),
        # Elements that may be both.
        (LI, WORDS, ["1", "x"]),
        (LI, None, [1, "x"]),
        (LI, union(obj(li=TEXT), WORDS), ["1", "x"]),
        (branch(("li", leaf("1"))), union(obj(li=TEXT), WORDS), {"li": "1"}),
        (branch(("li", leaf("1"))), union(WORDS, obj(li=TEXT)), ["1"]),
        (branch(("li", leaf("1"))), union(ir.ArrayValue(items=FLAG), obj(li=TEXT)), {"li": "1"}),
        (branch(("li", leaf("1")), ("k", leaf("2"))), None, {"li": 1, "k": 2}),
        (branch(("k", leaf("1"))), ir.EnumValue(({"k": "1"}, {"k": 1})), {"k": "1"}),
        (branch(("k", leaf("1"))), obj(k=TEXT, j=WHOLE), {"k": "1"}),
        (branch(("k", leaf("1")), ("k", leaf("2"))), obj(k=WHOLE), {"k": 2}),
        (branch(("z", leaf("1")), ("k", leaf("2"))), obj(k=TEXT), {"z": 1, "k": "2"}),
        (branch(("k", leaf("1"))), union(obj(k=TEXT, j=TEXT), obj(k=WHOLE)), {"k": 1}),
        (LI, ir.ArrayValue((WHOLE, TEXT), None), [1, "x"]),
        (LI, ir.ArrayValue(items=TEXT, max_items=1), ["1", "x"]),
    ],
)  # fmt: skip
def test_what_a_node_is_read_as(node: Node, kind: ir.Value | None, value: Any) -> None:
    assert same(decoded(node, kind), value)


MAYBE = union(WHOLE, NULL)


@pytest.mark.parametrize(
    ("node", "kind", "value"),
    [
        (branch(), obj(a=MAYBE, b_=MAYBE), {"a": None}),
        (leaf(""), obj(a=MAYBE), {"a": None}),
        (branch(("li", leaf(""))), ir.ArrayValue(items=MAYBE), [None]),
        (branch(("li", leaf(""))), ir.ArrayValue(items=union(TEXT, NULL)), [""]),
        (branch(("a", leaf(""))), obj(a=MAYBE), {"a": ""}),
        (branch(("a", leaf("null"))), obj(a=union(TEXT, NULL)), {"a": "null"}),
        (branch(("a", leaf("null"))), obj(a=MAYBE), {"a": None}),
        (branch(("a", leaf("x"))), obj(a=WHOLE, b=NULL), {"a": "x", "b": None}),
        (branch(), ir.EnumValue(({"a": None},)), {"a": None}),
    ],
)
def test_null_that_is_left_out(node: Node, kind: ir.Value, value: Any) -> None:
    assert same(decoded(node, kind, omits_null=True), value)


def test_what_an_object_as_a_whole_asks_decides_between_readings() -> None:
    # `k` is a string or a number; one of them must not be a number.
    both = union(WHOLE, TEXT)
    keys = (
        ir.Key("k", both, True, meets=0, variants=(ir.Meeting(TEXT, 1),)),
        ir.Key("j", both, True),
    )
    kind = ir.ObjectValue(keys, conditions=(ir.Condition((), "not"),))
    node = branch(("k", leaf("1")), ("j", leaf("2")))
    assert same(decoded(node, kind), {"k": "1", "j": 2})
    differ = ir.ArrayValue(items=both, unique=True)
    assert same(decoded(branch(("li", leaf("1")), ("li", leaf("1"))), differ), [1, "1"])


def test_alternatives_inside_alternatives_take_no_more_than_their_number() -> None:
    one, two = ir.EnumValue((1,)), ir.EnumValue((2,))
    node_kind = ir.ReferenceValue("n")
    n = union(obj(t=one, n=node_kind), obj(t=two, n=node_kind), obj(t=WHOLE, n=node_kind), FLAG)
    node: Node = leaf("maybe")
    value: Any = "maybe"
    for level in range(100):
        node = branch(("t", leaf(str(level % 3))), ("n", node))
        value = {"t": level % 3, "n": value}
    start = time.perf_counter()
    assert decoded(node, node_kind, n=n) == value
    wide = branch(*(("li", leaf("1")) for _ in range(20_000)))
    assert decoded(wide, ir.ArrayValue(items=union(WHOLE, TEXT), min_items=30_000)) == [1] * 20_000
    assert decoded(wide, ir.ArrayValue(items=union(WHOLE, TEXT))) == [1] * 20_000
    assert time.perf_counter() - start < 5


def test_keys_that_come_twice_are_told_wherever_they_are() -> None:
    inner = branch(("k", leaf("1")), ("k", leaf("2")))
    node = branch(("a", inner), ("b", branch(("li", inner), ("li", leaf("x")))), ("a", leaf("1")))
    value = decoded(node, None)
    assert value == {"a": 1, "b": [{"k": 2}, "x"]}
    assert list(repeated_keys(node, value)) == ["k", "a"]
    array = branch(("li", leaf("1")), ("li", leaf("2")))
    assert not list(repeated_keys(array, decoded(array, WORDS)))
    assert list(repeated_keys(array, decoded(array, obj(li=TEXT)))) == ["li"]


def test_depth_is_known_without_a_walk() -> None:
    node: Node = leaf("x")
    for _ in range(50_000):
        node = Branch("object", (("k", node),))
    assert isinstance(node, Branch) and node.depth == 50_000
