"""YAML -> :class:`DialectSpec`, every key with its place.

The stages: ``yaml_reader`` (text -> located tree), ``spec_merge`` (extends, vars), here
(tree -> model, pydantic's errors as located problems), ``lint`` (what no type can say). Shipped
specs are package data; a spec outside works everywhere a shipped one does.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from .errors import SpecError, reason_of
from .origin import Origin, Problem, closest_first, escape_pointer
from .prebuilt_specs import PACKAGE, prebuilt_spec
from .spec import ArgsSpec, DialectShape, DialectSpec
from .spec_errors import spec_problems
from .spec_merge import Resolver, Source, load_tree
from .yaml_reader import MAX_BYTES, ListNode, MapNode, Node, ScalarNode

LISTED: Final = "`calligram dialects list` or calligram.dialects() names all that are shipped"
"""What a hint says of the shipped dialects: there are too many to list."""


@dataclass(frozen=True, slots=True)
class LoadedSpec:
    """A spec and where its parts stand.

    ``origins`` maps JSON pointers into the merged document to the place of the value, ``keys`` to
    the place of the key. ``warnings`` come from loading; :func:`~.lint.lint` finds the others.
    """

    spec: DialectSpec
    origins: Mapping[str, Origin]
    keys: Mapping[str, Origin]
    warnings: tuple[Problem, ...] = ()

    def origin(self, pointer: str) -> Origin:
        """The place of a value, or of the nearest part around it that is written down."""
        while pointer not in self.origins and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.origins.get(pointer, Origin(pointer))


def shipped_ids() -> list[str]:
    """The ids of the specs that come with the package, sorted."""
    names = (entry.name for entry in resources.files(PACKAGE).iterdir())
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


@functools.cache
def load_shipped(dialect: str) -> LoadedSpec:
    """A shipped spec by its id.

    Raises:
        SpecError: no such id (``unknown-dialect``).
    """
    # The tests lint what is shipped; a user need not wait for it.
    return read_spec(_shipped_source(dialect, Origin()), extends_resolver)


def shipped_sources(dialect: str) -> tuple[str, ...]:
    """The ids of the shipped specs that a shipped one is made of, itself first."""
    source = _shipped_source(dialect, Origin())
    found = [source.key]

    def resolve(reference: str, child: Source, origin: Origin) -> Source:
        parent = extends_resolver(reference, child, origin)
        found.append(parent.key)
        return parent

    load_tree(source, resolve)
    return tuple(key.removeprefix("shipped:") for key in found)


def load_spec(path: str | Path, resolver: Resolver | None = None) -> LoadedSpec:
    """A spec out of a file.

    Raises:
        SpecError: the file cannot be read or says something wrong; all problems at once.
        LimitExceeded: too large, nested too deep, too many ancestors.
    """
    return _load(_file_source(Path(path), Origin(file=str(path))), resolver or extends_resolver)


def load_spec_text(
    text: str, file: str | None = None, resolver: Resolver | None = None
) -> LoadedSpec:
    """A spec out of YAML text; `file` is the name that messages use."""
    return _load(Source(text, file, file or ""), resolver or extends_resolver)


def load_dialect(dialect: str | Path | DialectSpec) -> DialectSpec:
    """A dialect by id, by path (ends in .yaml or .yml, or has a separator), or as it is."""
    if isinstance(dialect, DialectSpec):
        return dialect
    prebuilt = None if is_path(dialect) else prebuilt_spec(str(dialect))
    return find_spec(dialect).spec if prebuilt is None else prebuilt


def find_spec(dialect: str | Path) -> LoadedSpec:
    """The loaded spec behind an id or a path."""
    if is_path(dialect):
        return load_spec(dialect)
    if dialect == "auto":
        raise SpecError.at(
            "dialect-auto",
            "a dialect is not detected by itself",
            hint=f"name one; {LISTED}",
        )
    return load_shipped(str(dialect))


def is_path(dialect: str | Path) -> bool:
    """Whether a dialect is given as a file, not as an id."""
    text = str(dialect)
    named = text.endswith((".yaml", ".yml")) or "/" in text or "\\" in text
    return isinstance(dialect, Path) or named


def extends_resolver(reference: str, child: Source, origin: Origin) -> Source:
    """The parent that `extends` names: a shipped id, or a file relative to the child's folder."""
    if is_path(reference):
        return _file_source(Path(child.base or ".") / reference, origin)
    return _shipped_source(reference, origin)


def _shipped_source(dialect: str, origin: Origin) -> Source:
    ids = shipped_ids()
    if dialect not in ids:
        rest = f"{LISTED}; a file of your own is named with its .yaml"
        hint = closest_first(dialect, ids, rest)
        raise SpecError.at("unknown-dialect", f"unknown dialect '{dialect}'", origin, hint)
    name = f"{dialect}.yaml"
    text = (resources.files(PACKAGE) / name).read_text(encoding="utf-8")
    return Source(text, f"dialect_specs/{name}", f"shipped:{dialect}")


def _file_source(path: Path, origin: Origin) -> Source:
    try:
        if not path.is_file():
            reason = "no such file" if not path.exists() else "not a file"
            raise SpecError.at("spec-unreadable", f"{path}: {reason}", origin)
        with path.open("rb") as stream:
            # One byte more than allowed is enough for the reader to refuse it.
            text = stream.read(MAX_BYTES + 1).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 (byte {error.start})"
        raise SpecError.at("spec-unreadable", message, origin) from None
    except (OSError, ValueError) as error:
        raise SpecError.at("spec-unreadable", f"{path}: {reason_of(error)}", origin) from None
    return Source(text, str(path), str(path.resolve()), str(path.parent))


def _load(source: Source, resolver: Resolver) -> LoadedSpec:
    # lint reads what this module makes.
    from .lint import lint

    loaded = read_spec(source, resolver)
    errors = [p for p in lint(loaded) if p.severity == "error"]
    if errors:
        raise SpecError(errors)
    return loaded


def read_spec(source: Source, resolver: Resolver = extends_resolver) -> LoadedSpec:
    """Everything but the lint: a spec whose types are right, though it may make no sense."""
    merged = load_tree(source, resolver)
    tree = _normalise(merged.tree)
    origins: dict[str, Origin] = {}
    keys: dict[str, Origin] = {}
    data = _plain(tree, "", origins, keys)
    try:
        spec = DialectSpec.model_validate(data)
    except ValidationError as error:
        raise SpecError(spec_problems(error, tree, DialectSpec)) from None
    problems = _shape_problems(spec, tree)
    if problems:
        raise SpecError(problems)
    return LoadedSpec(spec, origins, keys, merged.warnings)


def _shape_problems(spec: DialectSpec, tree: MapNode) -> list[Problem]:
    """What is wrong with the partial `args` of other shapes, which the model cannot type."""
    accepted = _args_problems(spec, spec.accept, tree.entries.get("accept"))
    return [*accepted, *_args_problems(spec, spec.history, tree.entries.get("history"))]


def _args_problems(
    spec: DialectSpec, given: tuple[DialectShape, ...], shapes: Node | None
) -> list[Problem]:
    problems: list[Problem] = []
    for index, shape in enumerate(given):
        if shape.args is None or not isinstance(shapes, ListNode):
            continue
        node = shapes.items[index]
        assert isinstance(node, MapNode)
        args = node.entries["args"]
        assert isinstance(args, MapNode)
        try:
            ArgsSpec.model_validate({**spec.args.model_dump(by_alias=True), **shape.args})
        except ValidationError as error:
            problems += spec_problems(error, args, ArgsSpec)
    return problems


def _normalise(tree: MapNode) -> MapNode:
    """Shorthands in full: a plain string in `tokens`, unquoted null and true in `literals`."""
    entries = dict(tree.entries)
    tokens = entries.get("tokens")
    if isinstance(tokens, ListNode):
        entries["tokens"] = ListNode(tuple(_token(t) for t in tokens.items), tokens.origin)
    if isinstance(args := entries.get("args"), MapNode):
        entries["args"] = _text_literals(args)
    for key in ("accept", "history"):
        if isinstance(shapes := entries.get(key), ListNode):
            entries[key] = ListNode(tuple(_shape(s) for s in shapes.items), shapes.origin)
    return MapNode(entries, tree.key_origins, tree.origin)


def _token(node: Node) -> Node:
    if isinstance(node, ScalarNode) and isinstance(node.value, str):
        return MapNode({"text": node}, {"text": node.origin}, node.origin)
    return node


def _shape(node: Node) -> Node:
    if isinstance(node, MapNode) and isinstance(args := node.entries.get("args"), MapNode):
        entries = {**node.entries, "args": _text_literals(args)}
        return MapNode(entries, node.key_origins, node.origin)
    return node


def _text_literals(args: MapNode) -> MapNode:
    literals = args.entries.get("literals")
    if not isinstance(literals, MapNode):
        return args
    entries = {
        key: ListNode(tuple(_as_text(item) for item in node.items), node.origin)
        if isinstance(node, ListNode)
        else node
        for key, node in literals.entries.items()
    }
    written = MapNode(entries, literals.key_origins, literals.origin)
    return MapNode({**args.entries, "literals": written}, args.key_origins, args.origin)


def _as_text(node: Node) -> Node:
    return ScalarNode(node.text, False, node.origin) if isinstance(node, ScalarNode) else node


def _plain(node: Node, pointer: str, origins: dict[str, Origin], keys: dict[str, Origin]) -> object:
    """Plain data for pydantic (lists as tuples: the model is strict), origins on the side."""
    origins[pointer] = node.origin
    match node:
        case MapNode():
            data: dict[str, object] = {}
            for key, value in node.entries.items():
                below = f"{pointer}/{escape_pointer(key)}"
                keys[below] = node.key_origins[key]
                data[key] = _plain(value, below, origins, keys)
            return data
        case ListNode():
            return tuple(
                _plain(v, f"{pointer}/{i}", origins, keys) for i, v in enumerate(node.items)
            )
        case ScalarNode():
            return node.value
