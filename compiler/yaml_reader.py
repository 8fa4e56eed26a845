"""YAML text -> tree of located nodes.

Reads the part of YAML 1.2 that specs need: one document of mappings, lists and scalars. Anchors,
aliases, tags and merge keys are refused, so a document is never larger than its text. Plain scalars
follow the core schema (YAML 1.2.2 section 10.3): `null`, `true`, `false`, numbers; `yes`, `on` and
dates are text. Keys are always text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Protocol

import yaml

from .errors import LimitExceeded, SpecError
from .origin import Origin, Problem, escape_pointer

MAX_BYTES = 262_144
MAX_DEPTH = 32

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONSTANTS = {"null": None, "Null": None, "NULL": None, "~": None, "": None} | {
    word: value
    for value, words in {True: ("true", "True", "TRUE"), False: ("false", "False", "FALSE")}.items()
    for word in words
}


@dataclass(frozen=True, slots=True)
class ScalarNode:
    """``text`` as written, ``plain`` if it had no quotes."""

    text: str
    plain: bool
    origin: Origin

    @property
    def value(self) -> str | int | float | bool | None:
        """The value that the core schema gives the text."""
        if not self.plain:
            return self.text
        if self.text in _CONSTANTS:
            return _CONSTANTS[self.text]
        if _INTEGER.match(self.text):
            return int(self.text)
        return float(self.text) if _FLOAT.match(self.text) else self.text


@dataclass(frozen=True, slots=True)
class ListNode:
    items: tuple[Node, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class MapNode:
    """Keys in the order written; ``key_origins`` has the position of each key itself."""

    entries: dict[str, Node]
    key_origins: dict[str, Origin]
    origin: Origin


Node = ScalarNode | ListNode | MapNode


def read_yaml(text: str, file: str | None = None) -> MapNode:
    """The document's top mapping.

    Raises:
        SpecError: it is not YAML, not one document, not a mapping, or uses what is refused; all
            duplicate keys at once.
        LimitExceeded: more than ``MAX_BYTES`` bytes or ``MAX_DEPTH`` levels.
    """
    origin = Origin(file=file, line=1, column=1)
    if len(text) > MAX_BYTES:
        message = f"a spec has at most {MAX_BYTES:,} bytes"
        raise LimitExceeded.at("spec-too-large", message, origin)
    builder = _Builder(file)
    try:
        # The pure Python parser everywhere: its messages do not depend on libyaml.
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        at = builder.origin(mark) if mark else origin
        message = (error.problem or error.context or "cannot be read").replace("\n", " ")
        raise SpecError.at("spec-yaml", f"not YAML: {message}", at) from None
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        message = str(error).splitlines()[0] if str(error) else "cannot be read"
        raise SpecError.at("spec-yaml", f"not YAML: {message}", origin) from None
    if builder.problems:
        raise SpecError(builder.problems)
    top = builder.top
    if not isinstance(top, MapNode):
        what = "empty" if top is None else describe(top)
        raise SpecError.at(
            "spec-not-mapping", f"a spec is a mapping of keys to values, not {what}", origin
        )
    return top


def describe(node: Node) -> str:
    """What a node is, for a message."""
    match node:
        case MapNode():
            return "a mapping"
        case ListNode():
            return "a list"
        case ScalarNode():
            value = node.value
            if value is None:
                return "null"
            if isinstance(value, bool):
                return "true" if value else "false"
            if isinstance(value, str):
                shown = value if len(value) <= 40 else value[:39] + "…"
                return f"the text {shown!r}"
            return f"the number {node.text}"


class _Mark(Protocol):
    line: int
    column: int


@dataclass(slots=True)
class _Open:
    """A collection being read; a mapping while it waits for a value has `key` set."""

    pointer: str
    origin: Origin
    mapping: bool
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Node] = field(default_factory=dict)
    key_origins: dict[str, Origin] = field(default_factory=dict)
    key: str | None = None
    ignored: bool = False


def _below(pointer: str, key: str) -> str:
    return f"{pointer}/{escape_pointer(key)}"


class _Builder:
    """Builds the tree from parser events with a stack of its own: no recursion."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.top: Node | None = None
        self.problems: list[Problem] = []
        self._stack: list[_Open] = []
        self._documents = 0

    def origin(self, mark: _Mark | None, pointer: str = "") -> Origin:
        assert mark is not None, "the pure Python parser marks every event"
        return Origin(pointer, None, self.file, mark.line + 1, mark.column + 1)

    def take(self, event: yaml.Event) -> None:
        here = self.origin(event.start_mark, self._pointer())
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents == 2:
                    self._refuse("spec-documents", "a file holds one spec", here)
            case yaml.AliasEvent():
                self._refuse("spec-yaml", "aliases are not used in specs", here, "use `vars`")
                self._add(ScalarNode("", True, here))
            case yaml.ScalarEvent():
                self._check_node(event, here)
                self._scalar(event, here)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_node(event, here)
                self._open(isinstance(event, yaml.MappingStartEvent), here)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close()
            case _:
                pass

    def _pointer(self) -> str:
        if not self._stack:
            return ""
        top = self._stack[-1]
        if not top.mapping:
            return f"{top.pointer}/{len(top.items)}"
        return top.pointer if top.key is None else _below(top.pointer, top.key)

    def _check_node(self, event: yaml.NodeEvent, here: Origin) -> None:
        if event.anchor is not None:
            self._refuse("spec-yaml", "anchors are not used in specs", here, "use `vars`")
        if getattr(event, "tag", None) is not None:
            self._refuse("spec-yaml", "tags are not used in specs", here, "remove the tag")

    def _scalar(self, event: yaml.ScalarEvent, here: Origin) -> None:
        text = event.value
        if _SURROGATE.search(text):
            hint = "write a character beyond U+FFFF as \\U and eight digits, or as itself"
            self._refuse("spec-yaml", "a surrogate is not a character", here, hint)
            text = _SURROGATE.sub("\ufffd", text)
        top = self._stack[-1] if self._stack else None
        if top is not None and top.mapping and top.key is None:
            self._key(top, text, here)
        else:
            self._add(ScalarNode(text, event.style is None, here))

    def _key(self, top: _Open, text: str, here: Origin) -> None:
        top.key = text
        at = replace(here, pointer=_below(top.pointer, text))
        if text in top.entries:
            first = top.key_origins[text]
            message = f"the key `{text}` stands here a second time"
            self._refuse("spec-duplicate-key", message, at, f"first at line {first.line}")
        else:
            top.key_origins[text] = at

    def _open(self, mapping: bool, here: Origin) -> None:
        if len(self._stack) >= MAX_DEPTH:
            message = f"nested more than {MAX_DEPTH} levels deep"
            raise LimitExceeded.at("spec-too-deep", message, here)
        top = self._stack[-1] if self._stack else None
        if top is not None and top.mapping and top.key is None:
            self._refuse("spec-yaml", "a key is text, not a mapping or a list", here)
            top.key = ""
            self._stack.append(_Open(here.pointer, here, mapping, ignored=True))
            return
        self._stack.append(_Open(here.pointer, here, mapping))

    def _close(self) -> None:
        done = self._stack.pop()
        if done.ignored:
            return
        if done.mapping:
            self._add(MapNode(done.entries, done.key_origins, done.origin))
        else:
            self._add(ListNode(tuple(done.items), done.origin))

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.top = node if self.top is None else self.top
            return
        top = self._stack[-1]
        if not top.mapping:
            top.items.append(node)
        elif top.key is None:
            top.key = ""
        else:
            top.entries.setdefault(top.key, node)
            top.key = None

    def _refuse(self, code: str, message: str, at: Origin, hint: str | None = None) -> None:
        self.problems.append(Problem(code, message, at, hint))
