"""Capture events -> calls, content and reasoning."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ...compiler.decode import (
    TooDeep,
    Undecodable,
    decode_json,
    decode_json_inside,
    decode_python,
    decode_untyped,
    decode_xml,
    only_strings,
)
from ...compiler.decode_tree import Branch, Leaf, TreeDecoder, repeated_keys
from ...compiler.grammar import Slot
from ...compiler.ir import Call, Key, ObjectValue, UnionValue, Value
from ...compiler.limits import MAX_NESTING, too_deep
from ...compiler.lower.arguments import object_parts
from ...compiler.origin import Origin, Problem
from ...compiler.spec import ArgsSpec
from .frames import Frame, Place, Span
from .result import Delta
from .telling import Telling

_PARTS: Final = ("name", "id", "key", "value")


class Builder:
    """Fills slots from events; knows the tools only to type what the notation leaves open.

    Args:
        slots: the automaton's slots by index.
        text: the bytes read so far; grows while the builder works.
        tools: the tools by name.
        args: how the dialect writes arguments.
        telling: told of everything as it is read; None if nobody listens.
        opener: what stands once before the calls of a turn; None: nothing.
        parts: where to put what is captured and where it stands, of what is no container; None:
            nowhere.

    Attributes:
        places: where the arguments of each call stand.
        starts, ends: where each call begins and ends.
    """

    def __init__(
        self,
        slots: list[Slot],
        text: bytearray,
        tools: Mapping[str, Call],
        args: ArgsSpec,
        telling: Telling | None = None,
        opener: re.Pattern[bytes] | None = None,
        parts: list[tuple[str, int, int]] | None = None,
    ) -> None:
        self._telling = telling
        self._parts = parts
        self._opener = opener
        # Where what was captured last ends, and whether it was a call.
        self._edge = (0, False)
        self._slots = slots
        self._text = text
        self._tools = tools
        self._args = args
        self.stack: list[Frame] = []
        self.calls: list[dict[str, Any]] = []
        self.content: list[tuple[int, int]] = []
        self.reasoning: list[tuple[int, int]] = []
        self.problems: list[Problem] = []
        self.places: list[Place | None] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self._kinds: dict[str, list[ObjectValue]] = {}
        self._decoders: dict[tuple[str | None, bool], TreeDecoder] = {}

    def event(self, event: int, position: int) -> None:
        """Open (positive) or close (negative) a capture at a byte position."""
        stack = self.stack
        if event > 0:
            outer = stack[-1] if stack else None
            frame = Frame(self._slots[event - 1], position, outer)
            if frame.slot.kind == "arguments":
                call = self.call
                if call is not None:
                    call.arguments_start = position
            stack.append(frame)
            if self._telling is not None:
                text_only = frame.slot.decode == "untyped" and self._is_text()
                self._telling.opened(frame, stack, text_only)
        else:
            if stack[-1].slot.kind == "call" and self._is_spoilt(stack[-1], position):
                self._refuse(position)
                return
            frame = stack.pop()
            self._close(frame, position)
            if self._telling is not None:
                self._telling.closed(frame, stack[-1] if stack else None, position)

    def told(self, sure: int) -> list[Delta]:
        """What is new, the innermost open capture reaching up to byte `sure`."""
        assert self._telling is not None
        if self.stack:
            self._telling.grow(self.stack[-1], sure)
        return self._telling.take()

    @property
    def call(self) -> Frame | None:
        """The open call."""
        for frame in reversed(self.stack):
            if frame.slot.kind == "call":
                return frame
        return None

    def slice(self, start: int, end: int) -> str:
        """The text between two positions."""
        return self._text[start:end].decode("utf-8", "replace")

    def given_back(self, position: int) -> int:
        """Where the text begins that becomes content if reading breaks off at `position`: with the
        open call, and with what opened the calls if it is the first one."""
        call = self.call
        if call is None and self.stack:
            return position
        end = position if call is None else call.start
        edge, behind_call = self._edge
        last = edge if behind_call and call is None else end
        if self._opener is not None:
            for found in self._opener.finditer(self._text, edge, end):
                if call is None or not self._text[found.end() : end].strip():
                    last = found.start()
        return last if self._text[last:position].strip() else position

    def abandon(self, position: int, *, cut: bool = False) -> Frame | None:
        """Give up the open call: its text becomes content, so that nothing is lost.

        Args:
            cut: the text ends here; a marker that may have gone on is no prose.
        """
        call = self.call
        telling = self._telling
        start = position if cut and call is None else self.given_back(position)
        if call is not None or start < position:
            if telling is not None:
                if self.stack:
                    telling.grow(self.stack[-1], position)
                telling.broken(start)
                telling.plain("content", start, position)
            self.content.append((start, position))
        elif self.stack:
            frame = self.stack[0]
            if telling is not None:
                telling.grow(frame, position, closing=True)
            if frame.slot.kind == "content":
                self.content.append((frame.start, position))
            elif frame.slot.kind == "reasoning":
                self.reasoning.append((frame.start, position))
        if call is None and start == position and telling is not None:
            telling.broken(position)
        self._edge = (position, False)
        self.stack.clear()
        return call

    def _is_spoilt(self, call: Frame, end: int) -> bool:
        """Does a call that ends hold what stands for no value?"""
        json = call.place is not None and call.place.json
        # JSON is looked through when it is decoded.
        if not (call.spoilt or json) and too_deep(call.value):
            self._spoil(call, f"nested more than {MAX_NESTING} deep", end)
        return call.spoilt

    def _spoil(self, frame: Frame, why: str, end: int) -> None:
        """A capture, and the call it is in, holds what stands for no value."""
        frame.spoilt = True
        call = self.call
        if call is not None:
            call.spoilt = True
        message = f"the arguments cannot be read, and so the call is none: {why}"
        self._problem("invalid-json", message, (frame.start, end))

    def _refuse(self, position: int) -> None:
        """The open call ends, and is none: its text becomes content."""
        start = self.given_back(position)
        self.stack.pop()
        if self._telling is not None:
            self._telling.broken(start)
            self._telling.plain("content", start, position)
        self.content.append((start, position))
        self._edge = (position, False)

    # Closing ----------------------------------------------------------------------------------

    def _close(self, frame: Frame, end: int) -> None:
        slot = frame.slot
        parent = self.stack[-1] if self.stack else None
        if self._parts is not None and (
            slot.kind in _PARTS or (slot.kind == "arguments" and slot.decode == "json")
        ):
            self._parts.append((slot.kind, frame.start, end))
        match slot.kind:
            case "content":
                self._edge = (end, False)
                self.content.append((frame.start, end))
            case "reasoning":
                self._edge = (end, False)
                self.reasoning.append((frame.start, end))
            case "call":
                self._edge = (end, True)
                # Without a capture of arguments the dialect's call has none.
                arguments = frame.value if frame.has_value else {}
                self.calls.append({"name": frame.name, "arguments": arguments, "id": frame.id})
                self.places.append(frame.place)
                self.starts.append(frame.start)
                self.ends.append(end)
            case "key" if parent is not None and parent.key is not None:
                frame.value = self._text_of(frame, end)
                if frame.value != parent.key:
                    message = f"'{parent.key}' is closed as '{frame.value}'"
                    self._problem("mismatched-key", message, (frame.start, end))
            case "name" | "id" | "key":
                assert parent is not None
                frame.value = self._text_of(frame, end)
                setattr(parent, slot.kind, frame.value)
            case "member":
                assert parent is not None and frame.key is not None
                repeated = parent.add_member(frame.key, frame.value, frame.place)
                if repeated and not self._in_tree:
                    span = (frame.start, end)
                    self._problem("duplicate-key", f"the key '{frame.key}' comes twice", span)
            case "array" if self._in_tree:
                items = tuple((None, item) for item in frame.items or ())
                self._give(parent, Branch("array", items), frame, end)
            case "object" if self._in_tree:
                item = slot.value if isinstance(slot.value, str) else None
                members, untyped = tuple(frame.members or ()), slot.decode == "untyped"
                branch = Branch("untyped" if untyped else "object", members, item)
                self._give(parent, branch, frame, end)
            case "array":
                self._give(parent, frame.items or [], frame, end)
            case "object":
                self._give(parent, dict(frame.members or ()), frame, end)
            case "arguments":
                if self.call is not None:
                    self.call.arguments_end = end
                if slot.decode == "json":
                    self._give(parent, self._json(frame, end), frame, end)
                elif slot.decode == "tree":
                    frame.value = self._tree(frame, end)
                    self._give(parent, frame.value, frame, end)
                else:
                    self._give(parent, dict(frame.members or ()), frame, end)
            case "value" if slot.decode in ("raw", "json", "untyped") and self._in_tree:
                leaf = Leaf(self.slice(frame.start, end), slot.decode)
                self._give(parent, leaf, frame, end)
            case "value":
                frame.value = self._value(frame, end)
                self._give(parent, frame.value, frame, end)

    def _give(self, parent: Frame | None, value: Any, frame: Frame, end: int) -> None:
        """Hand a value and its place to the capture around it."""
        assert parent is not None
        is_json = frame.slot.decode in ("json", "untyped") and not isinstance(value, Branch)
        place = Place((frame.start, end), frame.inner or {}, is_json)
        if parent.slot.kind == "array":
            parent.add_item(value, place)
        else:
            parent.value, parent.has_value = value, True
            parent.place = place

    @property
    def _in_tree(self) -> bool:
        """Are the open arguments elements that are typed as a whole?"""
        return any(f.slot.kind == "arguments" and f.slot.decode == "tree" for f in self.stack[:3])

    def _tree(self, frame: Frame, end: int) -> Any:
        """The arguments that are written as elements."""
        root = Branch("object", tuple(frame.members or ()))
        call = self.call
        name = call.name if call else None
        tool = self._tools.get(name or "")
        if root.depth > MAX_NESTING:
            self._spoil(frame, f"nested more than {MAX_NESTING} deep", end)
            return None
        omits_null = frame.slot.value is True
        decoder = self._decoders.get((name, omits_null))
        if decoder is None:
            definitions = tool.arguments.definitions if tool else {}
            decoder = TreeDecoder(definitions, self._args.literals, omits_null=omits_null)
            self._decoders[name, omits_null] = decoder
        value = decoder.decode(root, tool.arguments.value if tool else None)
        for key in repeated_keys(root, value):
            self._problem("duplicate-key", f"the key '{key}' comes twice", (frame.start, end))
        return value

    def _text_of(self, frame: Frame, end: int) -> str:
        if frame.slot.decode == "literal":
            return str(frame.slot.value)
        text = self.slice(frame.start, end)
        match frame.slot.decode:
            case "json":
                return str(decode_json(text))
            case "json-inside":
                return decode_json_inside(text)
            case "python":
                return decode_python(text)
            case "xml":
                return decode_xml(text)
            case "bare":
                return text.strip(" \t\r\n")
            case _:
                return text

    def _json(self, frame: Frame, end: int) -> Any:
        """JSON: the arguments, or one of them. One that is none, where the notation only says that
        it should be, stays the text it is."""
        text = self.slice(frame.start, end)
        duplicates: list[str] = []
        try:
            value = decode_json(text, duplicates)
        except Undecodable as error:
            if frame.slot.kind == "arguments":
                self._spoil(frame, str(error), end)
                return None
            message = f"the argument is no JSON, and stays the text it is: {error}"
            self._problem("invalid-json", message, (frame.start, end))
            return text
        for key in duplicates:
            self._problem("duplicate-key", f"the key '{key}' comes twice", (frame.start, end))
        return value

    def _value(self, frame: Frame, end: int) -> Any:
        slot = frame.slot
        match slot.decode:
            case "literal":
                return slot.value
            case "json":
                return self._json(frame, end)
            case "json-inside":
                return decode_json_inside(self.slice(frame.start, end))
            case "python":
                return decode_python(self.slice(frame.start, end))
            case "xml":
                return decode_xml(self.slice(frame.start, end))
            case "untyped":
                return self._untyped(frame, end)
            case _:
                return self.slice(frame.start, end)

    def _declared(self) -> tuple[Call | None, Value | None]:
        """The tool of the open call, and the typed value of the open argument."""
        member = next((f for f in reversed(self.stack) if f.slot.kind == "member"), None)
        call = self.call
        tool = self._tools.get(call.name or "") if call else None
        if tool is None or member is None or member.key is None:
            return tool, None
        return tool, self._kind(tool, member.key)

    def _is_text(self) -> bool:
        """Can the open argument be nothing but a string?"""
        tool, kind = self._declared()
        return kind is not None and only_strings(kind, tool.arguments.definitions if tool else {})

    def _untyped(self, frame: Frame, end: int) -> Any:
        """Raw text under a key: the schema says what it is."""
        text = self.slice(frame.start, end)
        tool, kind = self._declared()
        duplicates: list[str] = []
        definitions = tool.arguments.definitions if tool else {}
        try:
            value = decode_untyped(text, kind, definitions, self._args, duplicates)
        except TooDeep as error:
            span = (frame.start, end)
            self._problem("invalid-json", f"the argument cannot be read: {error}", span)
            return text
        for key in duplicates:
            self._problem("duplicate-key", f"the key '{key}' comes twice", (frame.start, end))
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

    def _problem(self, code: str, message: str, span: Span) -> None:
        call = self.call
        origin = Origin("/arguments", call.name if call else None, span=span)
        self.problems.append(Problem(code, message, origin))
