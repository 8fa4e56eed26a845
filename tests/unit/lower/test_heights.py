"""How much recursion a value needs at least."""

from __future__ import annotations

import pytest

from calligram.compiler import ir
from calligram.compiler.lower.heights import heights, needed
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language

NODE = ir.ReferenceValue("node")
ANY_NAME = Language.any()
LEAF = ir.NullValue()


def obj(*, required: str = "", optional: str = "", low: int = 0, **kinds: ir.Value) -> ir.Value:
    keys = [ir.Key(n, kinds.get(n, LEAF), n in required) for n in (required + optional)]
    return ir.ObjectValue(tuple(keys), min_keys=low)


@pytest.mark.parametrize(
    ("body", "height"),
    [
        (LEAF, 0),
        (ir.UnionValue((NODE, LEAF)), 0),
        (ir.UnionValue((NODE, obj(required="a", a=NODE))), None),
        (obj(optional="a", a=NODE), 0),
        (obj(required="a", a=NODE), None),
        (ir.ArrayValue(items=NODE), 0),
        (ir.ArrayValue(items=NODE, min_items=1), None),
        (ir.ArrayValue((LEAF, NODE), None, 1), 0),
        (ir.ArrayValue((LEAF, NODE), None, 2), None),
        (ir.ArrayValue((LEAF,), None, 2), None),
        # Keys that a count asks for, not a name.
        (obj(optional="ab", low=1, a=NODE), 0),
        (obj(optional="ab", low=2, a=NODE), None),
        (obj(required="b", optional="ac", low=2, a=NODE), 0),
        (ir.ObjectValue((), (ir.OpenKeys(ANY_NAME, NODE),), min_keys=1), None),
        (ir.ObjectValue((), (ir.OpenKeys(ANY_NAME, LEAF),), min_keys=3), 0),
        (ir.ObjectValue((), (ir.OpenKeys(ANY_NAME, LEAF),), min_keys=10**30), 0),
        (ir.ObjectValue((), (ir.OpenKeys(ANY_NAME, NODE),)), 0),
        (ir.NeverValue(), None),
    ],
)  # fmt: skip
def test_heights_of_one_definition(body: ir.Value, height: int | None) -> None:
    assert heights({"node": body})["node"] == height


def test_heights_add_up_along_definitions() -> None:
    a, b, c = (ir.ReferenceValue(n) for n in "abc")
    known = heights({"a": LEAF, "b": obj(required="x", x=a), "c": ir.ArrayValue((b, a), None, 2)})
    assert known == {"a": 0, "b": 1, "c": 2}
    assert needed(c, known) == 3
    assert needed(ir.UnionValue((c, b)), known) == 2
    assert needed(obj(optional="xy", low=1, x=c, y=a), known) == 1
    assert needed(obj(optional="xy", low=2, x=c, y=a), known) == 3

    # An open key is as many keys as it takes; a lower key of its own comes first.
    opened = (ir.OpenKeys(ANY_NAME, c), ir.OpenKeys(ANY_NAME, b))
    for low, height in ((1, 1), (2, 2), (10**30, 2)):
        keys = (ir.Key("x", a, False), ir.Key("y", c, False))
        assert needed(ir.ObjectValue(keys, opened, min_keys=low), known) == height


def test_origins_play_no_part() -> None:
    located = ir.ReferenceValue("node", Origin("/somewhere"))
    assert needed(located, heights({"node": LEAF})) == 1
