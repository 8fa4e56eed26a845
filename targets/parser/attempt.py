"""One attempt to read calls, in shapes that nobody taught the model, from a place on.

Only tools that are offered are called, and no value is made up: what does not end, or whose type
neither its spelling nor the schema tells, is no call but content. The end of the turn ends no
value and no arguments: it cuts them off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...compiler.decode import TooDeep, Undecodable, decode_json, decode_untyped
from ...compiler.ir import Call, UnionValue, Value
from ...compiler.lower.arguments import object_parts
from ...compiler.spec import ArgsSpec
from .frames import Place, Span
from .loose import Loose, NoValue
from .markers import Marks, Param
from .result import Recovery

_FENCE: Final = re.compile(rb"```[\w-]*+")
_FENCE_END: Final = re.compile(rb"\s*+```(?!\w)")
_INDEX: Final = re.compile(rb":(\d+)")
_PLAIN: Final = ArgsSpec(notation="tagged")
"""How unquoted text is read: JSON, else a string."""

_NAMES: Final = ("name", "function", "tool", "tool_name")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "kwargs")
_BRACKETS: Final = re.compile(rb"(?:\s*+[\]})])++")
_QUOTED: Final = re.compile(rb"\(\s*+\{")
_AROUND: Final = "what stands before the call is not quite as the dialect has it"
_SPELLED: Final = "the call, or what stands behind it, is not quite as the dialect has it"
_OTHER: Final = "the call is in another shape than the dialect's"


@dataclass(slots=True)
class Found:
    """A recovered call: where, and what was overlooked.

    Attributes:
        cut: may the call have had more arguments, which were cut off?
        apart: is it marked, or does it stand apart from prose?
    """

    start: int
    end: int
    call: dict[str, Any]
    place: Place | None
    recoveries: list[Note]
    cut: bool = False
    apart: bool = True


@dataclass(frozen=True, slots=True)
class Note:
    """A recovery before the calls are counted."""

    code: str
    message: str
    start: int
    end: int

    def numbered(self, call: int) -> Recovery:
        """As it is in the result."""
        return Recovery(self.code, self.message, self.start, self.end, call)


class Attempt:
    """One attempt to read calls from a place on."""

    def __init__(
        self, marks: Marks, tools: Mapping[str, Call], text: bytes, at: int, end: int
    ) -> None:
        self.marks = marks
        self.tools = tools
        self.start = at
        self.loose = Loose(text, at, end, self._ends)
        self.found: list[Found] = []
        # Whoever begins before this and fails behind it fails from wherever he begins.
        self.headed = at
        # Does a code fence stand before the calls that nothing has closed?
        self.fenced = False
        # What stands once before the calls, if it is there.
        self._opener = b""
        # What should have ended calls before, unless another one follows.
        self._owed: Note | None = None

    def calls(self) -> list[Found]:
        """The calls that are complete; none if there is none."""
        self._read()
        if self._owed is not None:
            self.found[-1].recoveries.append(self._owed)
        if self.found and not any(f.recoveries for f in self.found):
            self.found[-1].recoveries.append(self._unnamed())
        return self.found

    def _read(self) -> None:
        opener = self.loose.match(self.marks.opener) if self.marks.opener else None
        self._opener = b"" if opener is None else opener[0]
        try:
            while True:
                start = self.loose.at if self.found else self.start
                self.loose.noted = []
                self._header()
                if not self.found:
                    self.headed = self.loose.at
                if self.loose.space() in (0x7B, 0x5B):
                    self._objects(start)
                else:
                    self._named(start)
                if self._close():
                    return
                if self.loose.space() in (0x2C, 0x3B):
                    self.loose.at += 1
        except NoValue:
            return

    def is_marked(self) -> bool:
        """Does what no prose holds stand before the calls that were found?"""
        first = self.found[0]
        head = first.end if first.place is None else first.place.span[0]
        return self.marks.is_marked(self.loose.text, self.start, head)

    # Before and behind ------------------------------------------------------------------------

    def _header(self) -> None:
        """Markers, fences and the words that stand before a call, in any order."""
        loose = self.loose
        loose.match(self.marks.header)
        while True:
            at = loose.at
            if not loose.match(_FENCE):
                break
            self.fenced = True
            loose.note("code-fence", "the call is in a code fence", at)
            loose.match(self.marks.header)

    def _skip(self, texts: tuple[bytes, ...]) -> bool:
        here = next((t for t in texts if self.loose.text.startswith(t, self.loose.at)), None)
        if here is None or self.loose.at + len(here) > self.loose.end:
            return False
        self.loose.at += len(here)
        return True

    def _ends(self, at: int) -> bool:
        """Does what ends a call stand here? The end of the turn does not count."""
        return self._any(self.marks.tails, at)

    def _any(self, texts: tuple[bytes, ...], at: int) -> bool:
        return any(self.loose.text.startswith(t, at, self.loose.end) for t in texts)

    def _close(self) -> bool:
        """Read what ends the call, or say that it is missing; -> whether it was there."""
        loose = self.loose
        last = self.found[-1]
        noted: list[tuple[str, str, int, int]] = []
        ended = before = loose.at
        loose.space()
        at = loose.at
        brackets = loose.match(_BRACKETS)
        whole = brackets is not None and self._closes_section(brackets[0])
        if brackets is not None and (whole or self._then_closes()):
            if brackets[0] not in self.marks.brackets:
                noted.append(("extra-bracket", "a bracket too many", at, loose.at))
        else:
            loose.at = at
        if self.fenced and loose.match(_FENCE_END) is not None:
            self.fenced = False
            before = loose.at
        loose.space()
        behind = loose.at
        while self._skip(self.marks.closers):
            after = loose.at
            loose.space()
            if not self._any(self.marks.closers, loose.at):
                loose.at = after
                break
        closed = loose.at > behind or whole
        self._owed = None
        if self.marks.closes and not self._ends(behind) and not whole:
            missing = Note("missing-closer", "what ends the call is missing", ended, ended)
            if self.marks.call_closes:
                last.recoveries.append(missing)
            else:
                self._owed = missing
        if not closed:
            loose.at = before
        last.end = loose.at
        last.recoveries += [Note(*n) for n in noted]
        return closed

    def _closes_section(self, brackets: bytes) -> bool:
        """Do these brackets close what a bracket opened, with no marker behind them?"""
        marked = self.marks.first(bytearray(self._opener), 0, len(self._opener)) is not None
        return bool(self._opener) and not marked and brackets in self.marks.brackets

    def _unnamed(self) -> Note:
        """What is not as it should where nothing in particular is: what stands before a call, else
        the rest of it."""
        last = self.found[-1]
        start, end = self.start, last.end
        for found in self.found:
            place = found.place
            head = None if place is None else self.loose.text[found.start : place.span[0]]
            first = found is self.found[0]
            if head is None or not self.marks.is_head(head, str(found.call["name"]), first):
                return Note("loose-header", _AROUND, start, end)
        return Note("other-spelling", _SPELLED, start, end)

    def _then_closes(self) -> bool:
        at = self.loose.at
        self.loose.space()
        here, self.loose.at = self.loose.at, at
        return self._any(self.marks.closers, here)

    # Calls ------------------------------------------------------------------------------------

    def _name(self) -> bytes | None:
        """Read the name of an offered tool, if one is here."""
        found = self.loose.match(self.marks.name)
        return None if found is None else found[0]

    def _objects(self, start: int) -> None:
        """Calls as JSON objects with a name and arguments, one or a list of them."""
        loose = self.loose
        value, place = loose.value(lambda text: None)
        entries = value if isinstance(value, list) else [value]
        made = []
        for index, entry in enumerate(entries):
            inner = place.inner[index] if isinstance(value, list) else place
            made.append(self._entry(entry, inner))
        if not made:
            raise NoValue
        other = isinstance(value, list) or not self.marks.named
        for index, (call, arguments) in enumerate(made):
            if other:
                span = place.inner[index].span if isinstance(value, list) else place.span
                loose.note("other-shape", _OTHER, *span)
            self._add(start, call, arguments)
            start = loose.at

    def _entry(self, entry: Any, place: Place) -> tuple[dict[str, Any], Place | None]:
        """A call out of an object; how the keys are called is no matter."""
        if isinstance(entry, dict) and isinstance(entry.get("function"), dict):
            entry, place = entry["function"], place.inner["function"]
        if not isinstance(entry, dict):
            raise NoValue
        name = next((entry[k] for k in _NAMES if isinstance(entry.get(k), str)), None)
        key = next((k for k in _ARGUMENTS if k in entry), None)
        if name not in self.tools:
            raise NoValue
        if key is None and any(code == "missing-bracket" for code, *_ in self.loose.noted):
            # They may have been in what is missing.
            raise NoValue
        arguments: Any = {} if key is None else entry[key]
        inner = None if key is None else place.inner[key]
        if isinstance(arguments, str) and inner is not None:
            try:
                arguments = decode_json(arguments)
            except Undecodable:
                raise NoValue from None
            self.loose.note("quoted-arguments", "the arguments are quoted", *inner.span)
        if not isinstance(arguments, dict):
            raise NoValue
        return {"name": name, "arguments": arguments, "id": entry.get("id")}, inner

    def _named(self, start: int) -> None:
        """A name, and arguments in brackets or in tags."""
        loose = self.loose
        name = self._name()
        if name is None:
            raise NoValue
        tool = self.tools[name.decode()]
        index = loose.match(_INDEX)
        self._header()
        char = loose.space()
        cut = parentheses = False
        arguments: Any
        place: Place | None
        if char == 0x28 and self._quoted_object():
            arguments, place = self._in_parentheses(tool)
            parentheses = self.marks.in_parentheses
        elif char in (0x28, 0x7B):
            arguments, place = loose.container(char, lambda k, t: self._typed(tool, k, t), 0)
            arguments, place = self._unwrapped(tool, arguments, place)
        else:
            arguments, place = self._tagged(tool)
            cut = not self._goes_on()
        usual = {"kwargs": char == 0x28, "tagged": char not in (0x28, 0x7B)}
        plain = char == 0x7B or parentheses
        if self.marks.named or not usual.get(self.marks.notation, plain):
            loose.note("other-shape", _OTHER, start)
        identity = None if index is None else index[1].decode()
        self._add(
            start, {"name": tool.name, "arguments": arguments, "id": identity}, place, cut=cut
        )

    def _unwrapped(self, tool: Call, members: dict[str, Any], place: Place) -> tuple[Any, Place]:
        """The arguments, where the dialect has them in an object that says the name once more."""
        key = self.marks.envelope
        if key is None:
            return members, place
        if not ({key, *_NAMES, *_ARGUMENTS} & members.keys()):
            self.loose.note("other-shape", _OTHER, *place.span)
            return members, place
        name = next((members[k] for k in _NAMES if k in members), tool.name)
        key = next((k for k in (key, *_ARGUMENTS) if k in members), None)
        if key is None or name != tool.name or not isinstance(members[key], dict):
            # Nor is the object a call without what stands before it.
            if not self.found:
                self.headed = self.loose.at
            raise NoValue
        return members[key], place.inner[key]

    def _goes_on(self) -> bool:
        """Do the calls end here, or does another one begin?"""
        return self._any((*self.marks.tails, *self.marks.safe), self.loose.at)

    def _quoted_object(self) -> bool:
        """Is there an object in the parentheses?"""
        return _QUOTED.match(self.loose.text, self.loose.at, self.loose.end) is not None

    def _in_parentheses(self, tool: Call) -> tuple[Any, Place]:
        loose = self.loose
        loose.at += 1
        loose.space()
        made = loose.container(0x7B, lambda k, t: self._typed(tool, k, t), 0)
        if loose.space() != 0x29:
            raise NoValue
        loose.at += 1
        return made

    def _add(
        self, start: int, call: dict[str, Any], place: Place | None, *, cut: bool = False
    ) -> None:
        loose = self.loose
        identity = call["id"]
        call["id"] = identity if isinstance(identity, str) else None
        notes = [Note(*n) for n in loose.noted]
        loose.noted = []
        self.found.append(Found(start, loose.at, call, place, notes, cut))

    # Types ------------------------------------------------------------------------------------

    def _typed(self, tool: Call, key: str, text: str) -> tuple[Any] | None:
        """What an unquoted text is by the schema of the argument; None if that does not tell."""
        kinds = [k.value for p in self._parts(tool) for k in p.keys if k.name == key]
        if not kinds:
            return None
        kind: Value = kinds[0] if len(kinds) == 1 else UnionValue(tuple(kinds))
        try:
            return (decode_untyped(text, kind, tool.arguments.definitions, _PLAIN),)
        except TooDeep:
            return None

    @staticmethod
    def _parts(tool: Call) -> Any:
        return object_parts(tool.arguments.value, tool.arguments.definitions)

    def _tagged(self, tool: Call) -> tuple[dict[str, Any], Place]:
        """Arguments in the dialect's tags, some of which may be missing."""
        loose = self.loose
        start = loose.at
        arguments: dict[str, Any] = {}
        place = Place((start, start))
        while True:
            param = next((p for p in self.marks.params if self._begins(p)), None)
            if param is None:
                break
            key, value, span = self._param(tool, param)
            arguments[key] = value
            place.inner[key] = Place(span)
        # Without arguments there must be something that ends the call.
        loose.space()
        if not arguments and not self._ends(loose.at):
            raise NoValue
        place.span = (start, loose.at)
        return arguments, place

    def _begins(self, param: Param) -> bool:
        self.loose.space()
        return bool(param.begin.match(self.loose.text, self.loose.at, self.loose.end))

    def _param(self, tool: Call, param: Param) -> tuple[str, Any, Span]:
        loose = self.loose
        head = loose.match(param.head)
        if head is None:
            raise NoValue
        key = head["key"].decode("utf-8", "replace")
        start = loose.at
        found = param.stop.search(loose.text, start, loose.end)
        if found is None or found["cut"] is not None:
            loose.at = loose.end if found is None else found.start()
            raise NoValue
        end = loose.at = found.start()
        if found["close"] is not None:
            loose.at = found.end()
        else:
            loose.note("missing-closer", f"what ends the argument '{key}' is missing", end)
        text = loose.text[start:end]
        if loose.at == end and text.endswith(b"\n"):
            text = text[:-1]
        told = self._typed(tool, key, text.decode("utf-8", "replace"))
        if told is None:
            raise NoValue
        return key, told[0], (start, end)
