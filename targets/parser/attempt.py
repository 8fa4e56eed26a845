"""One attempt to read calls, in shapes that nobody taught the model, from a place on.

Only tools that are offered are called, and no value is made up: what does not end, or whose type
neither its spelling nor the schema tells, is no call but content. The end of the turn ends no
value and no arguments: it cuts them off.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ...compiler.decode import TooDeep, decode_untyped
from ...compiler.ir import Call, UnionValue, Value
from ...compiler.lower.arguments import object_parts
from ...compiler.spec import ArgsSpec
from .envelope import ARGUMENTS, NAMES, Refused, not_understood, read_envelope, twice
from .found import Found, Note
from .frames import Place, Span
from .loose import Loose, NoValue
from .markers import Ahead, Marks
from .tagged import Param, read_argument

_FENCE: Final = re.compile(rb"```[\w-]*+")
_FENCE_END: Final = re.compile(rb"\s*+```(?!\w)")
_INDEX: Final = re.compile(rb":(\d+)")
_PLAIN: Final = ArgsSpec(notation="tagged")
"""How unquoted text is read: JSON, else a string."""

_BRACKETS: Final = re.compile(rb"(?:\s*+[\]})])++")
_SPACE: Final = re.compile(rb"\s*+")
_QUOTED: Final = re.compile(rb"\(\s*+\{")
_AROUND: Final = "what stands before the call is not quite as the dialect has it"
_SPELLED: Final = "the call, or what stands behind it, is not quite as the dialect has it"
_OTHER: Final = "the call is in another shape than the dialect's"
_ONLY_NAMED: Final = "it has neither arguments nor what marks a call"


class Attempt:
    """One attempt to read calls from a place on."""

    def __init__(
        self,
        marks: Marks,
        tools: Mapping[str, Call],
        text: bytes,
        at: int,
        end: int,
        ahead: Ahead,
    ) -> None:
        self._ahead = ahead
        self.marks = marks
        self.tools = tools
        self.start = at
        self.loose = Loose(text, at, end, self._ends, python=marks.python_strings)
        self.found: list[Found] = []
        # Whoever begins before this and fails behind it fails from wherever he begins.
        self.headed = at
        # What looks like a call, and why it is none.
        self.refused: Refused | None = None
        # Does a code fence stand before the calls that nothing has closed?
        self.fenced = False
        # What stands once before the calls, if it is there.
        self._opener = b""
        # How many calls have their end.
        self._ended = 0
        # What should have ended calls before, unless another one follows.
        self._owed: Note | None = None

    def calls(self) -> list[Found]:
        """The calls that are complete; none if there is none."""
        self._read()
        if self._holds_more():
            # What stands between the last call and its end may be another one, or more of it.
            self.headed = max(self.headed, self.found[-1].end)
            del self.found[self._ended :]
            self._owed = None
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
                    self._ended = len(self.found)
                    return
                if self.loose.space() in (0x2C, 0x3B):
                    self.loose.at += 1
        except Refused as refused:
            self.refused = refused
        except NoValue:
            return

    def _holds_more(self) -> bool:
        """Are there calls without their end, which stands behind something else?"""
        if self._ended == len(self.found):
            return False
        end = self.found[-1].end
        closer = self._ahead.tail(end, self.loose.end) if self.marks.closes else None
        return closer is not None and _SPACE.fullmatch(self.loose.text, end, closer) is None

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
        loose = self.loose
        read = read_envelope(entry, place, self.tools)
        if read.key is None and any(code == "missing-bracket" for code, *_ in loose.noted):
            # They may have been in what is missing.
            raise NoValue
        if read.key is None and not self.marks.is_marked(loose.text, self.start, place.span[0]):
            raise Refused(read.name, place.span, _ONLY_NAMED)
        self._repeated(read.name, place.span)
        inner = None if read.key is None else read.place.inner[read.key]
        if read.quoted and inner is not None:
            loose.note("quoted-arguments", "the arguments are quoted", *inner.span)
        return {"name": read.name, "arguments": read.arguments, "id": read.id}, inner

    def _repeated(self, name: str, span: Span) -> None:
        """A key that comes twice has two values, one of which would be lost."""
        if self.loose.repeated is not None:
            raise Refused(name, span, twice(self.loose.repeated))

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
        self._repeated(tool.name, place.span)
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
        known = {key, *NAMES, *ARGUMENTS}
        if not (known & members.keys()):
            self.loose.note("other-shape", _OTHER, *place.span)
            return members, place
        names = [members[k] for k in NAMES if k in members]
        keys = [k for k in {key, *ARGUMENTS} if k in members]
        one = len(keys) == 1 and names in ([], [tool.name])
        if not_understood(members, known) or not one or not isinstance(members[keys[0]], dict):
            # Nor is the object a call without what stands before it.
            if not self.found:
                self.headed = self.loose.at
            raise NoValue
        return members[keys[0]], place.inner[keys[0]]

    def _goes_on(self) -> bool:
        """Do the calls end here, or does another one begin?"""
        return self._any((*self.marks.tails, *self.marks.safe), self.loose.at)

    def _cut_off(self) -> bool:
        """Does the text end here, or inside what ends a call?"""
        return self.marks.cut.match(self.loose.text, self.loose.at, self.loose.end) is not None

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

    def _typed(self, tool: Call, key: str, text: str, args: ArgsSpec = _PLAIN) -> tuple[Any] | None:
        """What an unquoted text is by the schema of the argument; None if that does not tell."""
        kinds = [k.value for p in self._parts(tool) for k in p.keys if k.name == key]
        if not kinds:
            return None
        kind: Value = kinds[0] if len(kinds) == 1 else UnionValue(tuple(kinds))
        repeated: list[str] = []
        try:
            told = decode_untyped(text, kind, tool.arguments.definitions, args, repeated)
        except TooDeep:
            return None
        if not isinstance(told, str):
            self.loose.repeat(repeated)
        return (told,)

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
            begun = [p for p in self.marks.params if self._begins(p)]
            # Shapes differ behind what their arguments begin with.
            param = next((p for p in begun if self._heads(p)), begun[0] if begun else None)
            if param is None:
                break
            key, value, span = read_argument(
                loose, param, lambda k, t, a: self._typed(tool, k, t, a), self._marker
            )
            if key in arguments:
                loose.repeated = key
            arguments[key] = value
            place.inner[key] = Place(span)
        # Without arguments there must be something that ends the call, and with some there must not
        # be what may be another one.
        loose.space()
        if not (self._cut_off() or self._goes_on() if arguments else self._ends(loose.at)):
            raise NoValue
        place.span = (start, loose.at)
        return arguments, place

    def _marker(self, start: int, end: int) -> int | None:
        return self.marks.first(self.loose.text, start, end)

    def _heads(self, param: Param) -> bool:
        return bool(param.head.match(self.loose.text, self.loose.at, self.loose.end))

    def _begins(self, param: Param) -> bool:
        self.loose.space()
        return bool(param.begin.match(self.loose.text, self.loose.at, self.loose.end))
