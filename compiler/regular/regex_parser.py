"""Regular expression text -> tree: ECMA-262 (section 22.2.1) with the u flag.

Two deviations, both towards what real schemas hold and neither changing what a legal pattern
means: identity escapes of any punctuation are taken (`\\-`, `\\!`), and so are lone `{`, `}` and
`]`. Letters that are no escapes in ECMA-262 (`\\Z`, `\\a`) are refused, not read as the letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import charset
from .charset import CharSet
from .regex_ast import EMPTY, END, START, Alt, Cat, Look, Node, Rep, Set
from .regex_escapes import LINE_ENDS, WORD, Escapes, RegexSyntaxError, RegexUnsupported

__all__ = ["MAX_GROUP_DEPTH", "RegexSyntaxError", "RegexUnsupported", "parse_regex"]

MAX_GROUP_DEPTH = 100
"""Deepest nesting of groups; also keeps every recursion over the tree shallow."""

_ANY_BUT_LINE_END = charset.complement(LINE_ENDS)
_WORD_BOUNDARY = Alt(
    (
        Cat((Look(Set(WORD), False, False), Look(Set(WORD), True, True))),
        Cat((Look(Set(WORD), False, True), Look(Set(WORD), True, False))),
    )
)
_NO_WORD_BOUNDARY = Alt(
    (
        Cat((Look(Set(WORD), False, False), Look(Set(WORD), True, False))),
        Cat((Look(Set(WORD), False, True), Look(Set(WORD), True, True))),
    )
)
_LOOKS = {
    "(?=": (True, False),
    "(?!": (True, True),
    "(?<=": (False, False),
    "(?<!": (False, True),
}


@dataclass(slots=True)
class _Group:
    """A group being read: where it began, what it asserts, its options so far."""

    position: int
    look: tuple[bool, bool] | None = None
    options: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)

    def close(self) -> Node:
        self.options.append(_cat(self.items))
        node = self.options[0] if len(self.options) == 1 else Alt(tuple(self.options))
        return node if self.look is None else Look(node, *self.look)


def _cat(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Cat(tuple(items))


def parse_regex(source: str) -> Node:
    """The tree of a pattern.

    Raises:
        RegexSyntaxError: the text is no regular expression; has the position and the reason.
        RegexUnsupported: it is one, but no automaton can decide it (back-references), or it uses
            a feature outside ECMA-262 or a limit of this reader.
    """
    return _Parser(source).parse()


class _Parser(Escapes):
    """Reads one pattern, groups on an explicit stack."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.stack = [_Group(0)]
        self.names: set[str] = set()

    def parse(self) -> Node:
        while self.at < len(self.source):
            self._item()
        if len(self.stack) > 1:
            raise RegexSyntaxError("missing )", self.stack[-1].position)
        return self.stack[0].close()

    def _item(self) -> None:
        start = self.at
        char = self.source[start]
        group = self.stack[-1]
        if char == "(":
            self._open()
            return
        if char == "|":
            self.at += 1
            group.options.append(_cat(group.items))
            group.items = []
            return
        if char == ")":
            self.at += 1
            if len(self.stack) == 1:
                raise RegexSyntaxError("unmatched )", start)
            closed = self.stack.pop()
            node, repeatable = closed.close(), closed.look is None
        else:
            node = self._atom()
            repeatable = isinstance(node, Set)
        self.stack[-1].items.append(self._quantified(node, repeatable))

    def _open(self) -> None:
        start = self.at
        if len(self.stack) > MAX_GROUP_DEPTH:
            raise RegexUnsupported(f"groups nested more than {MAX_GROUP_DEPTH} deep", start)
        look = None
        for opener in ("(?<=", "(?<!", "(?=", "(?!"):
            if self.source.startswith(opener, start):
                look = _LOOKS[opener]
                self.at += len(opener)
                break
        else:
            self._open_plain()
        self.stack.append(_Group(start, look))

    def _open_plain(self) -> None:
        """Step over `(`, `(?:`, `(?<name>` or Python's `(?P<name>`."""
        start = self.at
        if not self.source.startswith("(?", start):
            self.at += 1
            return
        if self.source.startswith("(?:", start):
            self.at += 3
            return
        for opener in ("(?<", "(?P<"):
            if self.source.startswith(opener, start):
                self.at += len(opener)
                self._group_name(start)
                return
        if self.source.startswith("(?>", start):
            raise RegexUnsupported("the atomic group (?>", start)
        if self.source.startswith("(?P=", start):
            raise RegexUnsupported("the back-reference (?P=", start)
        if self.source.startswith("(?#", start):
            raise RegexUnsupported("the comment (?#", start)
        end = start + 2
        while end < len(self.source) and (self.source[end].isalpha() or self.source[end] == "-"):
            end += 1
        if end > start + 2 and end < len(self.source) and self.source[end] in ":)":
            raise RegexUnsupported(f"the inline flags {self.source[start : end + 1]}", start)
        raise RegexSyntaxError("unknown kind of group", start)

    def _group_name(self, start: int) -> None:
        end = self.source.find(">", self.at)
        name = self.source[self.at : end]
        if end < 0 or not name.replace("$", "_").isidentifier():
            raise RegexSyntaxError("invalid group name", start)
        if name in self.names:
            raise RegexSyntaxError(f"duplicate group name '{name}'", start)
        self.names.add(name)
        self.at = end + 1

    def _atom(self) -> Node:
        start = self.at
        char = self.source[start]
        self.at += 1
        match char:
            case "^":
                return START
            case "$":
                return END
            case ".":
                return Set(_ANY_BUT_LINE_END)
            case "[":
                return Set(self._class(start))
            case "*" | "+" | "?":
                raise RegexSyntaxError("nothing to repeat", start)
            case "{":
                self.at = start
                if self._braces() is not None:
                    raise RegexSyntaxError("nothing to repeat", start)
                self.at = start + 1
                return Set(charset.of(char))
            case "\\":
                return self._escaped(start)
            case _:
                return Set(charset.charset([(ord(char), ord(char))]))

    def _escaped(self, start: int) -> Node:
        letter = self.source[self.at : self.at + 1]
        if letter == "b":
            self.at += 1
            return _WORD_BOUNDARY
        if letter == "B":
            self.at += 1
            return _NO_WORD_BOUNDARY
        return Set(self.escape(start))

    def _quantified(self, node: Node, repeatable: bool) -> Node:
        start = self.at
        bounds = self._quantifier()
        if bounds is None:
            return node
        if not repeatable:
            raise RegexSyntaxError("nothing to repeat: an assertion has no repeat", start)
        if self.source.startswith("?", self.at):
            self.at += 1  # Lazy: which match comes first is no matter for the language.
        follow = self.at
        if self.source.startswith("+", follow):
            raise RegexUnsupported("the possessive quantifier +", follow)
        if self._quantifier() is not None:
            raise RegexSyntaxError("nothing to repeat: a quantifier after a quantifier", follow)
        if bounds == (0, 0):
            return EMPTY
        return node if bounds == (1, 1) else Rep(node, *bounds)

    def _quantifier(self) -> tuple[int, int | None] | None:
        """Step over a quantifier; its least and most repeats. None, and no step, if none."""
        char = self.source[self.at : self.at + 1]
        if char == "{":
            return self._braces()
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if char in simple:
            self.at += 1
            return simple[char]
        return None

    def _braces(self) -> tuple[int, int | None] | None:
        """Step over `{n}`, `{n,}` or `{n,m}`; None, and no step, if the brace is a literal one."""
        start = self.at
        end = self.source.find("}", start)
        body = self.source[start + 1 : end] if end > 0 else ""
        low, comma, high = body.partition(",")
        if comma and not low and high.isdecimal() and high.isascii():
            raise RegexSyntaxError(f"{{{body}}} is no quantifier, write {{0{body}}}", start)
        if not (low.isascii() and low.isdecimal()):
            return None
        if high and not (high.isascii() and high.isdecimal()):
            return None
        if max(len(low), len(high)) > 9:
            raise RegexUnsupported(f"the repeat count of {body[:20]}...", start)
        self.at = end + 1
        least = int(low)
        if not comma:
            return least, least
        if not high:
            return least, None
        if int(high) < least:
            raise RegexSyntaxError("numbers out of order in {} quantifier", start)
        return least, int(high)

    def _class(self, start: int) -> CharSet:
        """What follows `[`, up to and with `]`."""
        negative = self.source.startswith("^", self.at)
        self.at += negative
        parts: list[CharSet] = []
        while True:
            if self.at >= len(self.source):
                raise RegexSyntaxError("missing ]", start)
            if self.source[self.at] == "]":
                self.at += 1
                break
            parts.append(self._class_part())
        found = charset.union(*parts)
        return charset.complement(found) if negative else found

    def _class_part(self) -> CharSet:
        """One member or range of a class. A `-` beside a class escape is a literal one."""
        start = self.at
        low, single = self._class_atom()
        follow = self.source[self.at : self.at + 2]
        if len(follow) < 2 or follow[0] != "-" or follow[1] == "]":
            return low
        self.at += 1
        high, single_high = self._class_atom()
        if single is None or single_high is None:
            return charset.union(low, charset.of("-"), high)
        if single_high < single:
            raise RegexSyntaxError("range out of order in character class", start)
        return charset.charset([(single, single_high)])

    def _class_atom(self) -> tuple[CharSet, int | None]:
        """A member, and its code point if it is a single one."""
        start = self.at
        char = self.source[start]
        self.at += 1
        if char != "\\":
            return charset.charset([(ord(char), ord(char))]), ord(char)
        if self.source.startswith("b", self.at):
            self.at += 1
            return ((8, 8),), 8
        code_point = self.single(start)
        if code_point is not None:
            return charset.charset([(code_point, code_point)]), code_point
        return self.escape(start), None
