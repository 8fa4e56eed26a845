"""Regular expressions as trees. Parser -> **this** -> automata."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .charset import ALL, CharSet


@dataclass(frozen=True, slots=True)
class Set:
    """One code point of the set; nothing at all if the set is empty."""

    chars: CharSet


@dataclass(frozen=True, slots=True)
class Cat:
    """All items in order; () is the empty text."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of the options."""

    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Rep:
    """`item`, `min` to `max` times (None: without end)."""

    item: Node
    min: int
    max: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """The empty text, where `item` can (`negative`: cannot) be matched from here on (`ahead`) or
    up to here."""

    item: Node
    ahead: bool
    negative: bool


Node: TypeAlias = Set | Cat | Alt | Rep | Look

EMPTY = Cat(())
ANY = Set(ALL)
START = Look(ANY, ahead=False, negative=True)
END = Look(ANY, ahead=True, negative=True)


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside, left to right."""
    match node:
        case Cat(items):
            return items
        case Alt(options):
            return options
        case Rep(item=item) | Look(item=item):
            return (item,)
        case _:
            return ()


def has_look(node: Node) -> bool:
    """Whether there is an assertion (look-around, anchor, word boundary) anywhere in it."""
    return isinstance(node, Look) or any(has_look(child) for child in children(node))


def nullable(node: Node) -> bool:
    """Whether it matches the empty text, taking every assertion to hold."""
    match node:
        case Set():
            return False
        case Cat(items):
            return all(nullable(item) for item in items)
        case Alt(options):
            return any(nullable(option) for option in options)
        case Rep():
            return node.min == 0 or nullable(node.item)
        case Look():
            return True


def size(node: Node) -> int:
    """Characters of the expression once its repeats are written out: the states it will need."""
    match node:
        case Set():
            return 1
        case Rep():
            return size(node.item) * max(1, node.min, node.max or 0) + 1
        case _:
            return 1 + sum(size(child) for child in children(node))
