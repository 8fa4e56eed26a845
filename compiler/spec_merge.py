"""Inheritance and variables: located YAML trees -> one tree without ``extends`` and ``vars``.

Mappings are merged key by key, lists and scalars are replaced. What identifies a dialect (`id`,
`families`, `source`, `verified`) is not inherited. Variables are collected over the whole chain
first, a child's over its parent's, and then put in place of ``${name}`` in every string;
``$${name}`` is the literal text ``${name}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from .errors import LimitExceeded, SpecError
from .origin import Origin, Problem, closest_first, did_you_mean
from .yaml_reader import ListNode, MapNode, Node, ScalarNode, describe, read_yaml

MAX_CHAIN = 16
MAX_EXPANDED = 1_048_576
IDENTITY = ("id", "families", "source", "verified")

_VARIABLE = re.compile(r"(\$?)\$\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a spec. ``file`` is how messages call it; ``key`` tells two files apart."""

    text: str
    file: str | None
    key: str
    base: str | None = None


Resolver = Callable[[str, Source, Origin], Source]
"""(what `extends` says, the file that says it, where) -> the parent; raises SpecError."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The tree of one spec, and warnings about variables that nothing uses."""

    tree: MapNode
    warnings: tuple[Problem, ...]


def load_tree(source: Source, resolve: Resolver) -> Merged:
    """Read a spec and its ancestors, merge them and put the variables in.

    Raises:
        SpecError: unreadable YAML, a parent that is unknown or its own ancestor, an unknown or
            circular variable.
        LimitExceeded: more than ``MAX_CHAIN`` ancestors, more than ``MAX_EXPANDED`` characters.
    """
    chain = _read_chain(source, resolve)
    tree = chain[-1]
    for child in reversed(chain[:-1]):
        inherited = {k: v for k, v in tree.entries.items() if k not in IDENTITY}
        tree = _merge(replace(tree, entries=inherited), child)
    return _substitute(tree)


def _read_chain(source: Source, resolve: Resolver) -> list[MapNode]:
    names, keys, trees = [source.file or "the spec"], [source.key], []
    while True:
        tree = read_yaml(source.text, source.file)
        parent = tree.entries.get("extends")
        trees.append(_without(tree, "extends"))
        if parent is None:
            return trees
        if not isinstance(parent, ScalarNode) or not isinstance(parent.value, str):
            message = f"`extends` names one dialect or file, not {describe(parent)}"
            raise SpecError.at("spec-type", message, parent.origin)
        source = resolve(parent.text, source, parent.origin)
        names.append(source.file or source.key)
        if source.key in keys:
            message = "a spec cannot extend itself: " + " -> ".join(names)
            raise SpecError.at("extends-cycle", message, parent.origin)
        if len(keys) > MAX_CHAIN:
            message = f"more than {MAX_CHAIN} specs extend one another"
            raise LimitExceeded.at("extends-too-deep", message, parent.origin)
        keys.append(source.key)


def _without(tree: MapNode, key: str) -> MapNode:
    entries = {k: v for k, v in tree.entries.items() if k != key}
    return replace(tree, entries=entries)


def _merge(parent: MapNode, child: MapNode) -> MapNode:
    """Depth is bounded by the reader, so recursion is safe."""
    entries = dict(parent.entries)
    for key, node in child.entries.items():
        below = entries.get(key)
        if isinstance(below, MapNode) and isinstance(node, MapNode):
            node = _merge(below, node)
        entries[key] = node
    return MapNode(entries, {**parent.key_origins, **child.key_origins}, child.origin)


def _substitute(tree: MapNode) -> Merged:
    node = tree.entries.get("vars")
    if node is None:
        variables: Mapping[str, ScalarNode] = {}
    elif isinstance(node, MapNode):
        variables = _string_variables(node)
    else:
        message = f"`vars` is a mapping of names to text, not {describe(node)}"
        raise SpecError.at("spec-type", message, node.origin)
    substitution = _Substitution(variables)
    done = substitution.visit(_without(tree, "vars"))
    assert isinstance(done, MapNode)
    if substitution.problems:
        raise SpecError(substitution.problems)
    unused = [name for name in variables if name not in substitution.used]
    warnings = tuple(
        Problem(
            "spec-unused-var",
            f"nothing uses the variable `{name}`",
            variables[name].origin,
            did_you_mean(name, [v for v in variables if v != name]),
            "warning",
        )
        for name in unused
    )
    return Merged(done, warnings)


def _string_variables(node: MapNode) -> dict[str, ScalarNode]:
    problems, variables = [], {}
    for name, value in node.entries.items():
        if isinstance(value, ScalarNode) and isinstance(value.value, str):
            variables[name] = value
            continue
        hint = "put quotes around it" if isinstance(value, ScalarNode) else None
        message = f"the variable `{name}` must be text, not {describe(value)}"
        problems.append(Problem("spec-type", message, value.origin, hint))
    if problems:
        raise SpecError(problems)
    return variables


class _Substitution:
    """Puts variables into strings; counts what it writes, so that nothing can explode."""

    def __init__(self, variables: Mapping[str, ScalarNode]) -> None:
        self.variables = variables
        self.problems: list[Problem] = []
        self.used: set[str] = set()
        self._values: dict[str, str] = {}
        self._active: list[str] = []
        self._written = 0

    def visit(self, node: Node) -> Node:
        match node:
            case MapNode(entries=entries):
                return replace(node, entries={k: self.visit(v) for k, v in entries.items()})
            case ListNode(items=items):
                return replace(node, items=tuple(self.visit(v) for v in items))
            case ScalarNode(text=text):
                if "${" not in text:
                    return node
                return ScalarNode(self._expand(text, node.origin), False, node.origin)

    def _expand(self, text: str, origin: Origin) -> str:
        out: list[str] = []
        position = 0
        for found in _VARIABLE.finditer(text):
            out.append(text[position : found.start()])
            escaped, name = found.groups()
            out.append(found[0][1:] if escaped else self._value(name, origin))
            position = found.end()
            self._written += len(out[-1])
            if self._written > MAX_EXPANDED:
                message = f"variables expand to more than {MAX_EXPANDED:,} characters"
                raise LimitExceeded.at("spec-too-large", message, origin)
        out.append(text[position:])
        return "".join(out)

    def _value(self, name: str, origin: Origin) -> str:
        if name in self._values:
            return self._values[name]
        if name in self._active:
            loop = " -> ".join([*self._active[self._active.index(name) :], name])
            message = f"a variable cannot mention itself: {loop}"
            raise SpecError.at("vars-cycle", message, self.variables[name].origin)
        node = self.variables.get(name)
        if node is None:
            known = ", ".join(sorted(self.variables)) or "none"
            hint = closest_first(name, self.variables, f"known variables: {known}")
            self.problems.append(
                Problem("spec-unknown-var", f"unknown variable `{name}`", origin, hint)
            )
            return ""
        if len(self._active) >= MAX_CHAIN:
            message = f"variables mention one another more than {MAX_CHAIN} deep"
            raise LimitExceeded.at("vars-too-deep", message, origin)
        self.used.add(name)
        self._active.append(name)
        value = self._expand(node.text, node.origin)
        self._active.pop()
        self._values[name] = value
        return value
