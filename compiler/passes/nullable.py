"""Which nodes can match the empty text, and which can match any text at all.

Both are least fixed points over the graph, found with a work list in time linear in its edges.
"""

from __future__ import annotations

from typing import Literal as OneOf

from ..grammar import (
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Literal,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Sequence,
    Token,
)
from .graph import Graph

Question = OneOf["empty", "any"]


def nullable(graph: Graph) -> bytearray:
    """1 for each node that can match the empty text."""
    return _least(graph, "empty")


def productive(graph: Graph) -> bytearray:
    """1 for each node that matches some finite text. A `Regular` counts as productive."""
    return _least(graph, "any")


def _least(graph: Graph, question: Question) -> bytearray:
    known = graph.answers.get(question)
    if known is None:
        known = graph.answers[question] = _fixed_point(graph, question)
    return known


def _fixed_point(graph: Graph, question: Question) -> bytearray:
    holds = bytearray(len(graph.nodes))
    parents = graph.parents()
    queue = []
    for index in range(len(graph.nodes)):
        if _holds(graph, index, holds, question):
            holds[index] = 1
            queue.append(index)
    # A node looks again when enough kids hold, a sequence when all do.
    missing = [_wanted(node, len(kids)) for node, kids in zip(graph.nodes, graph.kids, strict=True)]
    counted = bytearray(len(graph.nodes))
    while queue:
        kid = queue.pop()
        if counted[kid]:
            continue
        counted[kid] = 1
        for parent in parents[kid]:
            missing[parent] -= 1
            if holds[parent]:
                continue
            if missing[parent] > 0:
                continue
            if isinstance(graph.nodes[parent], Sequence) or _holds(graph, parent, holds, question):
                holds[parent] = 1
                queue.append(parent)
    return holds


def _wanted(node: Expr, kids: int) -> int:
    """How many kids must have the property at least before the node can."""
    match node:
        case Sequence():
            return kids
        case Members(keys, open=opened, min_count=low):
            required = sum(key.required for key in keys)
            return required if opened else max(required, low)
        case Distinct(prefix=prefix, min_count=low):
            return min(low, len(prefix))
        case _:
            return 1


def _holds(graph: Graph, index: int, holds: bytearray, question: Question) -> bool:
    """Whether node `index` has the property, given what is known of its kids."""
    kids = graph.kids[index]
    match graph.nodes[index]:
        case Literal(text) | Token(text):
            return question == "any" or not text
        case Chars():
            return question == "any"
        case Cut():
            return True
        case Regular(machine, low):
            return question == "any" or (low == 0 and machine.may_be_empty)
        case Repeat(min=low):
            return low == 0 or bool(holds[kids[0]])
        case Choice():
            return any(holds[kid] for kid in kids)
        case Sequence():
            return all(holds[kid] for kid in kids)
        case Capture() | RuleRef():
            return bool(kids) and bool(holds[kids[0]])
        case Members() as members:
            return _members_hold(members, [bool(holds[kid]) for kid in kids])
        case Distinct() as distinct:
            return _distinct_hold(distinct, [bool(holds[kid]) for kid in kids])


def _members_hold(members: Members, holds: list[bool]) -> bool:
    """Whether enough members have the property for an object that is as small as may be."""
    keys, separator = members.keys, holds[len(members.keys)]
    opened = _open_hold(members, holds[len(members.keys) + 1 :])
    required = [ok for key, ok in zip(keys, holds, strict=False) if key.required]
    needed = max(members.min_count, len(required))
    if not all(members.conditions):
        needed = max(needed, 1)  # No absence meets that one.
    if members.max_count is not None and needed > members.max_count:
        return False
    if not all(required):
        return False
    usable = sum(holds[: len(keys)])
    if any(opened):
        usable = needed if members.max_open is None else usable + members.max_open
    return usable >= needed and (needed <= 1 or separator)


def _open_hold(members: Members, holds: list[bool]) -> list[bool]:
    """Whether each open member has the property, its name included."""
    opened = holds[: len(members.open)]
    names = holds[len(members.open) : len(members.open) + len(members.names)]
    return [a and b for a, b in zip(opened, names, strict=True)] if names else opened


def _distinct_hold(node: Distinct, holds: list[bool]) -> bool:
    """Whether as many items have the property as there must be; that they differ is not seen."""
    separator, items = holds[0], holds[1:]
    needed = node.min_count
    return all(items[:needed]) and (needed <= 1 or separator)
