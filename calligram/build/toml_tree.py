"""TOML data -> the located tree that the checks of dialect specs speak about."""

from __future__ import annotations

from typing import Any

from ..compiler.origin import Origin
from ..compiler.yaml_reader import ListNode, MapNode, Node, ScalarNode


def tree_of(value: Any, origin: Origin) -> Node:
    """The tree; places are pointers, as `tomllib` tells no lines of what it has read."""
    match value:
        case dict():
            places = {key: origin.child(key) for key in value}
            return MapNode(
                {key: tree_of(inner, places[key]) for key, inner in value.items()}, places, origin
            )
        case list():
            items = (tree_of(inner, origin.child(i)) for i, inner in enumerate(value))
            return ListNode(tuple(items), origin)
        case bool():
            return ScalarNode("true" if value else "false", True, origin)
        case str():
            return ScalarNode(value, False, origin)
        case _:  # Numbers, dates and times.
            return ScalarNode(str(value), True, origin)
