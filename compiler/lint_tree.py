"""Lint of the tree notation: templates of members and items, and what tells elements apart."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lint_shape import Shape
from .origin import Problem
from .spec import StringSpec
from .template import ITEM_HOLES, Hole, Part, literal_after, parse_item, suspicious_holes


def check_tree(shape: Shape) -> Iterator[Problem]:
    """What is wrong with a tree, `param` and `type_attr` by themselves aside."""
    yield from _check_item(shape)
    yield from _check_marks(shape)
    yield from _check_ends(shape)
    args = shape.spec.args
    if args.string is not None and args.string != StringSpec():
        message = "strings in a tree are raw text up to what closes their element"
        yield Problem("tree-strings", message, shape.at("/args/string"), "leave `string` out")
    if args.containers not in (None, "recurse"):
        message = f"objects and arrays in a tree are elements, not `{args.containers}`"
        yield Problem("containers", message, shape.at("/args/containers"), "`recurse`")


def _check_item(shape: Shape) -> Iterator[Problem]:
    item = shape.spec.args.item
    at = shape.at("/args/item")
    if item is None:
        hint = 'for example `item: "<item>{value}</item>"`'
        yield Problem("item-missing", "a tree needs a template for the items of arrays", at, hint)
        return
    holes = [p.name for p in parse_item(item) if isinstance(p, Hole)]
    if holes.count("value") != 1:
        message = f"the template has {{value}} {holes.count('value')} times, not once"
        yield Problem("item-value", message, at)
    elif "type" in holes and holes.index("type") > holes.index("value"):
        message = "{type} stands behind {value}, whose form depends on it"
        yield Problem("param-order", message, at)
    for _, word in suspicious_holes(item, ITEM_HOLES):
        legal = ", ".join(f"{{{h}}}" for h in sorted(ITEM_HOLES))
        message = f"{{{word}}} is not a hole here, it is literal text"
        yield Problem("unknown-hole", message, at, f"holes here: {legal}")


def _check_marks(shape: Shape) -> Iterator[Problem]:
    """Members and items say their types alike."""
    item = parse_item(shape.spec.args.item or "")
    if not item or not shape.param():
        return
    marked, other = ("member", "item") if Hole("type") in shape.param() else ("item", "member")
    if (Hole("type") in shape.param()) != (Hole("type") in item):
        message = f"each {marked} says its type, and no {other} does"
        hint = "write {type} in both templates or in none"
        pointer = "/args/item" if other == "item" else "/args/param"
        yield Problem("tree-types", message, shape.at(pointer), hint)


def _check_ends(shape: Shape) -> Iterator[Problem]:
    """Elements begin and end with texts that are told apart."""
    param, item = shape.param(), parse_item(shape.spec.args.item or "")
    elements = [(param, "/args/param"), (item, "/args/item")]
    closers = [(literal_after(parts, "value"), pointer) for parts, pointer in elements]
    closers.append((shape.after_args(), "/args/param"))
    for parts, pointer in elements:
        if Hole("value") not in parts:
            continue
        head, closer = _head(parts), literal_after(parts, "value")
        if not head or not closer:
            where = "in front of it" if not head else "behind {value}"
            message = f"nothing tells where an element {'begins' if not head else 'ends'}"
            hint = f"put a text {where}"
            yield Problem("tree-element", message, shape.at(pointer), hint)
            continue
        if not re.search(r"[^\w\s]", closer):
            message = f"ordinary text closes an element: {closer!r}"
            yield Problem("boundary-undecidable", message, shape.at(pointer))
        for other, _ in closers:
            if other and head.startswith(other):
                message = f"an element begins with {head!r}, and {other!r} ends the one around it"
                yield Problem("boundary-undecidable", message, shape.at(pointer))
                break


def _head(parts: tuple[Part, ...]) -> str:
    first = parts[0]
    return first if isinstance(first, str) else ""
