"""Capture events -> calls, content and reasoning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...compiler.decode import (
    TooDeep,
    Undecodable,
    decode_json,
    decode_json_inside,
    decode_python,
    decode_untyped,
    decode_xml,
)
from ...compiler.decode_tree import Branch, Leaf, TreeDecoder, repeated_keys
from ...compiler.grammar import Slot
from ...compiler.ir import Call, Key, ObjectValue, UnionValue, Value
from ...compiler.limits import MAX_NESTING, too_deep
from ...compiler.lower.arguments import object_parts
from ...compiler.origin import Origin, Problem
from ...compiler.spec import ArgsSpec


@dataclass(slots=True)
class Frame:
    """An open capture."""

    slot: Slot
    start: int
    name: str | None = None
    id: str | None = None
    key: str | None = None
    value: Any = None
    has_value: bool = False
    members: list[tuple[str, Any]] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    arguments_start: int | None = None
    arguments_end: int | None = None


def _too_deep(name: str | None) -> Problem:
    message = f"the arguments cannot be read: nested more than {MAX_NESTING} deep"
    return Problem("invalid-json", message, Origin("/arguments", name))


class Builder:
    """Fills slots from events; knows the tools only to type what the notation leaves open.

    Args:
        slots: the automaton's slots by index.
        text: the bytes read so far; grows while the builder works.
        tools: the tools by name.
        args: how the dialect writes arguments.
    """

    def __init__(
        self,
        slots: list[Slot],
        text: bytearray,
        tools: Mapping[str, Call],
        args: ArgsSpec,
    ) -> None:
        self._slots = slots
        self._text = text
        self._tools = tools
        self._args = args
        self.stack: list[Frame] = []
        self.calls: list[dict[str, Any]] = []
        self.content: list[tuple[int, int]] = []
        self.reasoning: list[tuple[int, int]] = []
        self.problems: list[Problem] = []
        self.spans: dict[int, tuple[int, int]] = {}
        self._kinds: dict[str, list[ObjectValue]] = {}
        self._decoders: dict[tuple[str | None, bool], TreeDecoder] = {}

    def event(self, event: int, position: int) -> None:
        """Open (positive) or close (negative) a capture at a byte position."""
        if event > 0:
            frame = Frame(self._slots[event - 1], position)
            if frame.slot.kind == "arguments":
                call = self.call
                if call is not None:
                    call.arguments_start = position
            self.stack.append(frame)
        else:
            self._close(self.stack.pop(), position)

    @property
    def call(self) -> Frame | None:
        """The open call."""
        return next((f for f in reversed(self.stack) if f.slot.kind == "call"), None)

    @property
    def block(self) -> Frame | None:
        """The innermost open content or reasoning."""
        found = self.stack[-1] if self.stack else None
        return found if found and found.slot.kind in ("content", "reasoning") else None

    def slice(self, start: int, end: int) -> str:
        """The text between two positions."""
        return self._text[start:end].decode("utf-8", "replace")

    def abandon(self, position: int) -> Frame | None:
        """Give up the open call: its text becomes content, so that nothing is lost."""
        call = self.call
        self.spans.pop(len(self.calls), None)
        if call is not None:
            self.content.append((call.start, position))
        elif self.stack:
            frame = self.stack[0]
            if frame.slot.kind == "content":
                self.content.append((frame.start, position))
            elif frame.slot.kind == "reasoning":
                self.reasoning.append((frame.start, position))
        self.stack.clear()
        return call

    # Closing ----------------------------------------------------------------------------------

    def _close(self, frame: Frame, end: int) -> None:
        slot = frame.slot
        parent = self.stack[-1] if self.stack else None
        match slot.kind:
            case "content":
                self.content.append((frame.start, end))
            case "reasoning":
                self.reasoning.append((frame.start, end))
            case "call":
                arguments = frame.value if frame.has_value else {}
                if too_deep(arguments):
                    self.problems.append(_too_deep(frame.name))
                    arguments = {}
                self.calls.append({"name": frame.name, "arguments": arguments, "id": frame.id})
            case "key" if parent is not None and parent.key is not None:
                closed = self._text_of(frame, end)
                if closed != parent.key:
                    self._problem("mismatched-key", f"'{parent.key}' is closed as '{closed}'")
            case "name" | "id" | "key":
                assert parent is not None
                text = self._text_of(frame, end)
                setattr(parent, slot.kind, text)
            case "member":
                assert parent is not None and frame.key is not None
                if not self._in_tree and any(k == frame.key for k, _ in parent.members):
                    self._problem("duplicate-key", f"the key '{frame.key}' comes twice")
                parent.members.append((frame.key, frame.value))
            case "array" if self._in_tree:
                self._give(parent, Branch("array", tuple((None, item) for item in frame.items)))
            case "object" if self._in_tree:
                item = slot.value if isinstance(slot.value, str) else None
                members = tuple(frame.members)
                untyped = slot.decode == "untyped"
                self._give(parent, Branch("untyped" if untyped else "object", members, item))
            case "array":
                self._give(parent, frame.items)
            case "object":
                self._give(parent, dict(frame.members))
            case "arguments":
                if self.call is not None:
                    self.call.arguments_end = end
                if slot.decode == "json":
                    self.spans[len(self.calls)] = (frame.start, end)
                    self._give(parent, self._json(frame, end))
                elif slot.decode == "tree":
                    self._give(parent, self._tree(frame))
                else:
                    self._give(parent, dict(frame.members))
            case "value" if slot.decode in ("raw", "json", "untyped") and self._in_tree:
                self._give(parent, Leaf(self.slice(frame.start, end), slot.decode))
            case "value":
                self._give(parent, self._value(frame, end))

    def _give(self, parent: Frame | None, value: Any) -> None:
        assert parent is not None
        if parent.slot.kind == "array":
            parent.items.append(value)
        else:
            parent.value, parent.has_value = value, True

    @property
    def _in_tree(self) -> bool:
        """Are the open arguments elements that are typed as a whole?"""
        return any(f.slot.kind == "arguments" and f.slot.decode == "tree" for f in self.stack[:3])

    def _tree(self, frame: Frame) -> Any:
        """The arguments that are written as elements."""
        root = Branch("object", tuple(frame.members))
        call = self.call
        name = call.name if call else None
        tool = self._tools.get(name or "")
        if root.depth > MAX_NESTING:
            self.problems.append(_too_deep(name))
            return {}
        omits_null = frame.slot.value is True
        decoder = self._decoders.get((name, omits_null))
        if decoder is None:
            definitions = tool.arguments.definitions if tool else {}
            decoder = TreeDecoder(definitions, self._args.literals, omits_null=omits_null)
            self._decoders[name, omits_null] = decoder
        value = decoder.decode(root, tool.arguments.value if tool else None)
        for key in repeated_keys(root, value):
            self._problem("duplicate-key", f"the key '{key}' comes twice")
        return value

    def _text_of(self, frame: Frame, end: int) -> str:
        if frame.slot.decode == "literal":
            return str(frame.slot.value)
        text = self.slice(frame.start, end)
        match frame.slot.decode:
            case "json":
                try:
                    return str(decode_json(text))
                except Undecodable:
                    self._problem("invalid-json", f"{text!r} is no JSON string")
                    return text.strip('"')
            case "json-inside":
                return self._json_inside(text)
            case "python":
                return decode_python(text)
            case "xml":
                return decode_xml(text)
            case _:
                return text.strip(" \t\r\n")

    def _json_inside(self, text: str) -> str:
        try:
            return decode_json_inside(text)
        except Undecodable:
            self._problem("invalid-json", f"{text!r} is no JSON string's inside")
            return text

    def _json(self, frame: Frame, end: int) -> Any:
        text = self.slice(frame.start, end)
        duplicates: list[str] = []
        try:
            value = decode_json(text, duplicates)
        except Undecodable as error:
            self._problem("invalid-json", f"the arguments are no JSON: {error}")
            return {} if frame.slot.kind == "arguments" else text
        for key in duplicates:
            self._problem("duplicate-key", f"the key '{key}' comes twice")
        return value

    def _value(self, frame: Frame, end: int) -> Any:
        slot = frame.slot
        match slot.decode:
            case "literal":
                return slot.value
            case "json":
                return self._json(frame, end)
            case "json-inside":
                return self._json_inside(self.slice(frame.start, end))
            case "python":
                return decode_python(self.slice(frame.start, end))
            case "xml":
                return decode_xml(self.slice(frame.start, end))
            case "untyped":
                return self._untyped(self.slice(frame.start, end))
            case _:
                return self.slice(frame.start, end)

    def _untyped(self, text: str) -> Any:
        """Raw text under a key: the schema says what it is."""
        member = next((f for f in reversed(self.stack) if f.slot.kind == "member"), None)
        call = self.call
        kind: Value | None = None
        tool = self._tools.get(call.name or "") if call else None
        if tool is not None and member is not None and member.key is not None:
            kind = self._kind(tool, member.key)
        duplicates: list[str] = []
        definitions = tool.arguments.definitions if tool else {}
        try:
            value = decode_untyped(text, kind, definitions, self._args, duplicates)
        except TooDeep as error:
            self._problem("invalid-json", f"the argument cannot be read: {error}")
            return text
        for key in duplicates:
            self._problem("duplicate-key", f"the key '{key}' comes twice")
        return value

    def _kind(self, tool: Call, name: str) -> Value | None:
        """The typed value of an argument, of all the alternatives that know it."""
        parts = self._kinds.get(tool.name)
        if parts is None:
            parts = object_parts(tool.arguments.value, tool.arguments.definitions)
            self._kinds[tool.name] = parts
        found: list[Value] = []
        for part in parts:
            key: Key | None = next((k for k in part.keys if k.name == name), None)
            if key is not None:
                found.append(key.value)
            else:
                found += [o.value for o in part.open_keys if o.names.accepts(name)]
        if not found:
            return None
        return found[0] if len(found) == 1 else UnionValue(tuple(found))

    def _problem(self, code: str, message: str) -> None:
        call = self.call
        origin = Origin("/arguments", call.name if call else None)
        self.problems.append(Problem(code, message, origin))
