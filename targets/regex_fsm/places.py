"""Where a declared key comes from: an object's place and a key's name -> the key's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from ...compiler.compiled import CompiledGrammar
from ...compiler.ir import ObjectValue
from ...compiler.origin import Origin


def key_place(grammar: CompiledGrammar, place: Origin, name: str) -> Origin:
    """The place of a declared key of the object at `place`; `place` itself if there is no such."""
    todo: list[object] = [grammar.envelope, grammar.value]
    seen: set[int] = set()
    for node in todo:
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ObjectValue) and node.origin == place:
            for key in node.keys:
                if key.name == name and key.origin != Origin():
                    return key.origin
        if isinstance(node, Mapping):
            todo += node.values()
        elif isinstance(node, (tuple, list)):
            todo += node
        elif is_dataclass(node) and not isinstance(node, (type, Origin)):
            todo += (getattr(node, field.name) for field in fields(node))
    return place
