"""What lenient reading goes by: the markers of a dialect, as no prose holds them.

A marker is safe if it is one of the dialect's tokens or looks like a tag. Words, braces and
brackets, which prose and code hold, begin no call.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ...compiler.lower.shape import Shape, shapes
from ...compiler.spec import DialectSpec
from ...compiler.template import Hole, Part
from .envelope import NAMES
from .patterns import any_of, loose
from .tagged import param_of

_TAG: Final = re.compile(r"</?[^\s<>=]+(?:[>=]|\s+\w+=\"?)|\[/?[A-Z][A-Z_]*\]")
_BEHIND_NAME: Final = re.compile(r"[^\w\s(){}\[\],]+")
_KEY: Final = re.compile(r'"(\w+)"\s*:\s*\Z')
_SPACE: Final = re.compile(rb"[ \t\r\n]*+")
_NAMED: Final = rb"\{\s*+[\"']?(?:" + "|".join(NAMES).encode() + rb")[\"']?\s*+:\s*+[\"']"
"""How a call as an object begins, up to its name."""
_BARE: Final = (
    _NAMED + rb"(?:%s)[\"']"
    rb"|(?<![\w.-])(?:%s)\s*+[({]"
)
"""How a call begins, tools' names to be filled in: as an object, or with its name."""
_BEFORE: Final = re.compile(rb"(?:[ \t\r\n\[(]++|```[\w-]*+)*+")
_WORD: Final = re.compile(r"[^\s<>\[\]{}()\"',]+")
_PLAIN: Final = re.compile(r'"[^"]*"|[\s\[\]{}(),:"\']+')
"""What any JSON or Python may begin with."""
_NEAR: Final = (
    _NAMED + rb"(?:%s)[\"']"
    rb"|(?<=[\[>\]])\s*+(?:%s)\s*+\("
)
"""What looks like a call where markers stand before all calls, tools' names to be filled in."""
_FOREIGN: Final = (
    # In a tag, as what it is set to, as its name or tool behind other attributes, or in a pair of
    # markers.
    rb"<(?!/)[^<>\s=]{0,40}(?:(?:\s++\w{1,20}+)?\s+name\s*)?=\s*[\"']?(%(name)s)[\"']?\s*[>|]"
    rb"|<(?!/)[^<>\s=]{0,40}(?:\s++[\w:-]{1,20}+=[\"'][^\"'<>]{0,40}[\"']){0,4}"
    rb"\s++(?:tool_|function_)?name=[\"'](%(name)s)[\"']"
    rb"|\b(?:call|invoke|function)\s++(?:tool|function|name)=[\"'](%(name)s)[\"']"
    # Behind a marker; behind one of another form, if it speaks of tools or calls.
    rb"|(?:<\|[^<>|\s]{1,40}\|>|(?i:[<\[][^<>\[\]\s]{0,40}(?:tool|call|func|invoke)[^<>\[\]\s]{0,40}[>\]]))"
    rb"[\s\[{(\"']*+(?:call[:.])?(?:functions?[.:])?(%(name)s)(?![\w-])"
    # In a header, in JSON, on a line before an object, before an object in parentheses.
    rb"|\bto=(?:functions\.)?(%(name)s)(?![\w-])"
    rb"|[\"'](?:tool|function)_name[\"']\s*+:\s*+[\"'](%(name)s)[\"']"
    rb"|(?m:^)(%(name)s)[ \t]*+\r?\n\s*+\{\s*+[\"'}]"
    rb"|(?m:^)[ \t]*+(%(name)s)[ \t]*+\(\s*+\{\s*+[\"'}]"
)
"""What stands before calls in tags, markers and headers of other dialects, whatever they are."""


class Marks:
    """The markers of a dialect.

    Args:
        names: the tools that may be called.

    Attributes:
        tools: their names.
        safe: texts that may begin a call, in bytes, the longest first.
        name: the name of an offered tool, all of it.
        header: white space, markers and words that may stand before a call's arguments, but no
            name.
        notation: the notation of the arguments.
        python_strings: are strings Python's where arguments are written as in a Python call?
        named: is the name a key of a JSON object?
        closers: what may stand behind a call, in bytes, the longest first.
        tails: those of them that belong to the calls. The others end the turn, and so cut off
            whatever is open there.
        turn_ends: those others.
        around: what ends calls, and markers that begin them.
        section_end: what ends all calls of a turn, if that is a marker, with white space before it.
        ends: what ends calls, all of it, as the group ``end``; or what begins them or ends values.
        cut: the end of the text or of the turn, where arguments in tags are all there, as far as
            what ends the call is.
        closes: does a marker end calls?
        call_closes: does one end each of them?
        brackets: the brackets that stand before the end of all calls.
        envelope: the key of the arguments in a JSON object that stands behind a name which is no
            key itself; None if the arguments stand there.
        in_parentheses: does a parenthesis stand right before the arguments?
        opener: what stands once before the calls, white space free; None: nothing.
        bare: how a call begins that nothing marks, and what it may have before it; None: markers
            stand before all calls.
        begun: how a call as an object begins, up to the end of its name; None: there are no tools.
    """

    def __init__(self, spec: DialectSpec, names: Iterable[str]) -> None:
        self.tools = frozenset(names)
        tokens = [t.text for t in spec.tokens]
        heads, tails, words = [], [], []
        tagged = []
        bare = self.call_closes = self.in_parentheses = False
        for shape in shapes(spec):
            before, after = _around(shape)
            opening = [shape.section.open, *before]
            behind_paren = before[-1:] and before[-1].rstrip().endswith("(")
            self.in_parentheses = self.in_parentheses or bool(behind_paren)
            begins = _markers(opening, tokens)
            bare = bare or not begins
            heads += begins
            ends = _markers(after, tokens)
            self.call_closes = self.call_closes or bool(ends)
            tails += [*ends, *_markers([shape.section.close], tokens)]
            words += [w for text in opening for w in _words(text, tokens)]
            words += _behind_name(shape)
            if shape.args.notation == "tagged" and shape.param:
                tagged.append(shape)
        for kind in spec.tool_kinds.values():
            heads += _markers([kind.call.split("{", 1)[0]], tokens)
        for trigger in spec.triggers:
            heads += _markers([trigger.text or trigger.token or ""], tokens)
        self.notation = spec.args.notation
        strings = spec.args.string
        self.python_strings = self.notation != "kwargs" or (
            strings is not None and strings.escape == "python"
        )
        first = next(p for p in shapes(spec)[0].call if isinstance(p, Hole) and p.name == "name")
        self.named = first.form == "json"
        self.safe = _longest_first([h for h in heads if not h.startswith(("</", "[/"))])
        self.closers = _longest_first([*tails, *spec.turn_end.tokens])
        self.tails = _longest_first(tails)
        self.turn_ends = tuple(c for c in self.closers if c not in self.tails)
        self.closes = bool(tails)
        self.envelope = None if self.named else _envelope(shapes(spec)[0])
        # Brackets that belong to what stands around the calls.
        closes = (shape.section.close.strip() for shape in shapes(spec))
        self.brackets = frozenset(c[: len(c) - len(c.lstrip("]})"))].encode() for c in closes)
        self.params = tuple(param_of(shape, self.tails, self.turn_ends) for shape in tagged)
        # A header may lack what qualifies the name.
        shorter = [w[: w.rindex("=") + 1] for w in words if "=" in w]
        known = _longest_first(self.tools)
        self.name = re.compile(rb"(?:%s)(?![\w-])" % any_of(known))
        header = rb"(?:\s++|(?!%s)(?:%s))*+"
        glue = any_of((*self.safe, *_longest_first([*words, *shorter])))
        self.header = re.compile(header % (self.name.pattern, glue))
        self.opener = section_opener(spec)
        self._heads = tuple((s.section.open, s.head) for s in shapes(spec))
        self.bare = re.compile(_BARE % ((any_of(known),) * 2)) if bare and known else None
        self.begun = (
            re.compile(rb"[\s\[]*+%s(%s)[\"']" % (_NAMED, any_of(known))) if known else None
        )
        self._begins = re.compile(rb"(?:%s)(?![\w-])|[\[({`]" % any_of(known))
        self._near = re.compile(_NEAR % ((any_of(known),) * 2))
        self._foreign = re.compile(_FOREIGN % {b"name": any_of(known)}) if known else None
        # Words and signs before a call that are more than brackets and quotes.
        openings = (s.section.open + _leading(s.call) for s in shapes(spec))
        self._own = [re.compile(loose(o)) for o in openings if _PLAIN.sub("", o)]
        self._names = known
        self._find = re.compile(b"|".join(map(re.escape, self.safe))) if self.safe else None
        self._part = _beginnings(self.safe)
        self.around = re.compile(any_of((*self.tails, *self.safe)))
        ends = [shape.section.close.strip() for shape in shapes(spec)]
        marked = _longest_first(c for c in ends if any(t in c.encode() for t in self.tails))
        self.section_end = (
            re.compile(rb"\s*+(?:%s)" % b"|".join(loose(c.decode()) for c in marked))
            if marked
            else None
        )
        self.ends = _ends(spec, self.tails, self.safe)
        self.cut = _cut(
            self.tails, self.turn_ends, [_leading(shape.param).strip() for shape in tagged]
        )
        self._longest = max(map(len, self.safe), default=0)

    def first(self, text: bytes | bytearray, start: int, end: int) -> int | None:
        """Where the first safe marker within a part of the text begins."""
        found = self._find.search(text, start, end) if self._find else None
        return found.start() if found else None

    def is_marked(self, text: bytes, start: int, head: int) -> bool:
        """Does a marker, or what the dialect has before its calls if that is more than brackets,
        stand before a call that begins at `start`, its arguments at `head`?"""
        if self._find is not None and self._find.search(text, start, head) is not None:
            return True
        return any(own.match(text, start, head) is not None for own in self._own)

    def is_head(self, text: bytes, name: str, first: bool) -> bool:
        """Is this how a call of a tool begins, up to its arguments, white space apart? `first`:
        with what opens the calls."""
        written = "".join(text.decode("utf-8", "replace").split())
        for opener, head in self._heads:
            own = "".join(head(name).split())
            own = own if first else own.removeprefix("".join(opener.split()))
            rest = own.removeprefix(written)
            if own.startswith(written) and not any(c.isalnum() for c in rest):
                return True
        return False

    def bare_places(self, text: bytearray, spans: Iterable[tuple[int, int]]) -> list[int]:
        """Where calls may begin that nothing marks."""
        bare = self._near if self.bare is None else self.bare
        return [f.start() for start, end in spans for f in bare.finditer(text, start, end)]

    def foreign(
        self, text: bytearray, spans: Iterable[tuple[int, int]]
    ) -> Iterator[tuple[str, int, int]]:
        """What stands before calls in other dialects: the tool's name, and where it stands."""
        if self._foreign is None:
            return
        for start, end in spans:
            for found in self._foreign.finditer(text, start, end):
                name = next(n for n in found.groups() if n is not None)
                yield name.decode(), found.start(), found.end()

    def starts(self, text: bytearray, start: int, end: int) -> int | None:
        """Where a message begins that begins as a call which nothing marks; None if it does not."""
        found = self.bare.search(text, start, end) if self.bare is not None else None
        if found is None or _BEFORE.fullmatch(text, start, found.start()) is None:
            return None
        space = _SPACE.match(text, start, end)
        assert space is not None
        return space.end()

    def may_start(self, text: bytearray, start: int, end: int) -> bool | None:
        """May a message that begins so begin as a call which nothing marks? None: that is not known
        yet."""
        begun = bytes(text[start:end]).lstrip(b" \t\r\n")
        if self.bare is None:
            return False
        if not begun or any(name.startswith(begun) for name in self._names):
            return None
        return self._begins.match(begun) is not None

    def sure(self, text: bytearray, start: int, end: int) -> int:
        """The end of a part, without what may yet become a marker. What ends a whole marker may
        begin another one: then the part goes on to the end."""
        if self.first(text, start, end) is not None:
            return end
        near = max(start, end - self._longest)
        found = self._part.search(text, near, end) if self._part else None
        return end if found is None else found.start()


class Ahead:
    """What comes next in a text of what ends calls, and of markers that begin them; looked for once
    however often it is asked for from places that ascend."""

    def __init__(self, marks: Marks, text: bytes) -> None:
        self._marks = marks
        self._text = text
        self._asked = self._at = -1
        self._is_tail = False

    def tail(self, start: int, end: int) -> int | None:
        """Where the next of what ends calls begins, if no marker that begins one comes before."""
        if not self._asked <= start <= self._at:
            found = self._marks.around.search(self._text, start)
            self._asked = start
            self._at = len(self._text) if found is None else found.start()
            self._is_tail = found is not None and found[0] in self._marks.tails
        return self._at if self._is_tail and self._at < end else None


def section_opener(spec: DialectSpec) -> re.Pattern[bytes] | None:
    """What stands once before the calls of a turn, white space free; None if nothing does."""
    opens = _longest_first(s.section.open.strip() for s in shapes(spec))
    return re.compile(b"|".join(loose(o.decode()) for o in opens)) if opens else None


def _around(shape: Shape) -> tuple[list[str], list[str]]:
    """The literals of the call template before the arguments, and behind them."""
    at = next(
        (i for i, p in enumerate(shape.call) if isinstance(p, Hole) and p.name == "args"),
        len(shape.call),
    )
    before = [p for p in shape.call[:at] if isinstance(p, str)]
    return before, [p for p in shape.call[at:] if isinstance(p, str)]


def _leading(template: tuple[Part, ...]) -> str:
    """The literal that a template begins with; "" if it begins with a hole."""
    first = template[0]
    return first if isinstance(first, str) else ""


def _markers(texts: list[str], tokens: list[str]) -> list[str]:
    """The tokens and tags in some literals."""
    out = []
    for text in texts:
        out += [tag for tag in _TAG.findall(text) if len(tag) > 2]
        out += [t for t in tokens if t in text and not any(t in tag for tag in out)]
    return out


def _words(text: str, tokens: list[str]) -> list[str]:
    """What is left of a literal without its markers and punctuation."""
    for marker in sorted(_markers([text], tokens), key=len, reverse=True):
        text = text.replace(marker, " ")
    text = re.sub(r'"[^"]*"', " ", text)
    return [w for w in _WORD.findall(text) if any(c.isalpha() for c in w)]


def _behind_name(shape: Shape) -> list[str]:
    """What ends a name that is not quoted, such as the rest of its tag."""
    raw = any(isinstance(p, Hole) and p.name == "name" and p.form != "json" for p in shape.call)
    found = [_BEHIND_NAME.match(t.strip()) for t in shape.after_name()] if raw else []
    return [f[0] for f in found if f is not None and "<" not in f[0]]


def _longest_first(texts: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(sorted({t.encode() for t in texts if t}, key=lambda t: (-len(t), t)))


def _beginnings(markers: tuple[bytes, ...]) -> re.Pattern[bytes] | None:
    """What the beginning of a marker at the end of a text looks like."""
    parts = {m[:size] for m in markers for size in range(1, len(m))}
    if not parts:
        return None
    options = b"|".join(re.escape(p) for p in sorted(parts, key=lambda p: (-len(p), p)))
    return re.compile(b"(?:%s)\\Z" % options)


def _envelope(shape: Shape) -> str | None:
    """The key of the arguments in the JSON object behind a raw name."""
    before, _ = _around(shape)
    found = _KEY.search(before[-1]) if before else None
    return None if found is None else found[1]


def _ends(
    spec: DialectSpec, tails: tuple[bytes, ...], safe: tuple[bytes, ...]
) -> re.Pattern[bytes]:
    """What ends calls, white space free, told from what begins them and ends their values. A marker
    that does both tells nothing by itself."""
    whole: list[str] = []
    values: list[str] = []
    for shape in shapes(spec):
        texts = (*_around(shape)[1], shape.section.close)
        whole += (t.strip().lstrip(']})"') for t in texts)
        values += [shape.value_closer.strip()] if shape.param else []
    marked = [w for w in whole if any(tail in w.encode() for tail in tails)]
    ends = [loose(t.decode()) for t in _longest_first(marked)]
    ends += [re.escape(t) for t in tails if t not in safe]
    others = [loose(t.decode()) for t in _longest_first(values)]
    others += [re.escape(s) for s in safe]
    end, other = (b"|".join(texts) or rb"(?!)" for texts in (ends, others))
    return re.compile(rb"(?P<end>%s)|%s" % (end, other))


def _cut(
    tails: tuple[bytes, ...], turn_ends: tuple[bytes, ...], params: list[str]
) -> re.Pattern[bytes]:
    """The end of the text or of the turn, behind the beginning of what ends calls, if that cannot
    be the beginning of an argument."""
    parts = {t[:size] for t in tails for size in range(1, len(t))}
    parts = {p for p in parts if not any(param.encode().startswith(p) for param in params)}
    begun = b"|".join(map(re.escape, sorted(parts, key=lambda p: (-len(p), p)))) or rb"(?!)"
    return re.compile(rb"(?:%s)?(?:%s|\Z)" % (begun, any_of(turn_ends)))
