"""Expanded grammar (literals, classes, sequences, choices, repeats, references) -> GBNF text.

Rules are printed from the leaves up, without recursion. A rule used once and short stands where it
is used; what repeats and is more than one character gets a name, as does what nests deeply.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from ...compiler.grammar import (
    Chars,
    Choice,
    Expr,
    Literal,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    children,
    references,
)
from . import spelling
from .repeats import LIMIT, repeated

INLINE = 60
"""Characters up to which a rule used once is printed where it is used."""
GROUP = 1000
"""Characters up to which a group is printed in place."""
DEPTH = 16
"""Groups inside groups; deeper ones get a name."""
SHARED_REPEAT = 20
"""Spread of a counted repeat from which it is a rule: the engine makes a rule for each step."""
LINE = 100

# Names in printed text are marked, so that they are told from the text of literals.
MARK = "\x00"
_NAMES = re.compile("\x00([^\x00]+)\x00")


class Level(IntEnum):
    """How tightly a fragment holds together."""

    CHOICE = 0
    SEQUENCE = 1
    ATOM = 2
    SINGLE = 3
    """An atom that may be repeated: a name, a class, a single character."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """Printed text with its level and the depth of groups in it."""

    text: str
    level: Level
    depth: int = 0


EMPTY_TEXT = '""'


class Printer:
    """Prints the rules that a start expression needs."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.bodies: dict[str, str] = {}
        self.named: dict[str, str] = {}
        self.owner = "root"
        self.numbers: dict[str, int] = {}
        self.renamed = {"root": self._fresh("rule")} if "root" in rules else {}

    def print(self, start: Expr) -> str:
        """All rules that `start` needs, ``root`` first, the others in order of first use."""
        self.uses: dict[str, int] = {}
        seen: dict[str, None] = {}
        waiting = [start]
        for expr in waiting:
            for name in references(expr):
                self.uses[name] = self.uses.get(name, 0) + 1
                if name not in seen:
                    seen[name] = None
                    waiting.append(self.rules[name])
        self.fragments: dict[str, Fragment] = {}
        self.bodies["root"] = self._rule("root", start).text
        queue: list[str] = _NAMES.findall(self.bodies["root"])
        order: dict[str, None] = {"root": None}
        back = {new: old for old, new in self.renamed.items()}
        for name in queue:
            if name in order:
                continue
            order[name] = None
            if name not in self.bodies:
                source = back[name] if name in back else name
                self.bodies[name] = self._rule(source, self.rules[source]).text
            queue.extend(_NAMES.findall(self.bodies[name]))
        return "".join(_line(name, self.bodies[name].replace(MARK, "")) for name in order)

    def _fresh(self, owner: str) -> str:
        number = self.numbers.get(owner, 0)
        while True:
            number += 1
            name = f"{owner}-{number}"
            if name not in self.rules and name not in self.bodies:
                self.numbers[owner] = number
                return name

    def _name(self, body: str) -> str:
        """A rule with this body, known or new, as an atom."""
        if body not in self.named:
            name = self.named[body] = self._fresh(self.owner)
            self.bodies[name] = body
        return f"{MARK}{self.named[body]}{MARK}"

    def _rule(self, owner: str, body: Expr) -> Fragment:
        """Print one rule's body, and the bodies of the rules that may stand inside it."""
        known = self.fragments.get(owner)
        if known is not None:
            return known
        self.owner = owner
        done: dict[int, Fragment] = {}
        stack: list[tuple[Expr, bool]] = [(body, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in done:
                continue
            if isinstance(node, RuleRef):
                inner = self._inside(node)
                if inner is None:
                    done[id(node)] = self._reference(node.name)
                elif ready:
                    fragment = done[id(inner)]
                    self.fragments[node.name] = fragment
                    short = len(fragment.text) <= INLINE
                    done[id(node)] = fragment if short else self._reference(node.name)
                else:
                    stack += [(node, True), (inner, False)]
            elif ready or not (kids := children(node)):
                done[id(node)] = self._fragment(node, done)
            else:
                stack.append((node, True))
                stack.extend((kid, False) for kid in reversed(kids))
        return done[id(body)]

    def _inside(self, node: RuleRef) -> Expr | None:
        """The body of a rule that may be printed where it is used: of one that is used once."""
        if self.uses.get(node.name) != 1 or node.name in self.fragments:
            return None
        return self.rules[node.name]

    def _reference(self, name: str) -> Fragment:
        return Fragment(f"{MARK}{self.renamed.get(name, name)}{MARK}", Level.SINGLE)

    def _fragment(self, node: Expr, done: dict[int, Fragment]) -> Fragment:
        match node:
            case Literal(text):
                level = Level.SINGLE if len(text) == 1 else Level.ATOM
                return Fragment(spelling.literal(text), level)
            case Chars(((low, high),)) if low == high:
                return Fragment(spelling.literal(chr(low)), Level.SINGLE)
            case Chars(ranges):
                return Fragment(spelling.characters(ranges), Level.SINGLE)
            case Sequence(items):
                return self._sequence([done[id(item)] for item in items])
            case Choice(options):
                return self._choice([done[id(option)] for option in options])
            case Repeat(item, low, high):
                return self._repeat(done[id(item)], low, high)
            case _:
                raise AssertionError(f"{type(node).__name__} is not expanded")

    def _sequence(self, items: list[Fragment]) -> Fragment:
        kept = [item for item in items if item.text != EMPTY_TEXT]
        if not kept:
            return Fragment(EMPTY_TEXT, Level.ATOM)
        if len(kept) == 1:
            return kept[0]
        parts = [self._grouped(item) if item.level == Level.CHOICE else item for item in kept]
        text = " ".join([part.text for part in parts])
        return Fragment(text, Level.SEQUENCE, max(part.depth for part in parts))

    def _choice(self, options: list[Fragment]) -> Fragment:
        texts = dict.fromkeys(option.text for option in options if option.text != EMPTY_TEXT)
        depth = max(option.depth for option in options)
        if len(texts) < len(options) and any(option.text == EMPTY_TEXT for option in options):
            # The empty option stands last and once.
            texts[EMPTY_TEXT] = None
        if len(texts) == 1:
            return options[0]
        return Fragment(" | ".join(texts), Level.CHOICE, depth)

    def _grouped(self, item: Fragment) -> Fragment:
        if len(item.text) > GROUP or item.depth >= DEPTH:
            return Fragment(self._name(item.text), Level.SINGLE)
        return Fragment(f"({item.text})", Level.ATOM, item.depth + 1)

    def _repeat(self, item: Fragment, low: int, high: int | None) -> Fragment:
        if high == 0 or item.text == EMPTY_TEXT:
            return Fragment(EMPTY_TEXT, Level.ATOM)
        if (low, high) == (1, 1):
            return item
        atom = item.text if item.level == Level.SINGLE else self._name(item.text)
        text = repeated(atom, low, high, self._name)
        wide = high is not None and (high - low >= SHARED_REPEAT or high > LIMIT)
        if wide and not (text.startswith(MARK) and _NAMES.fullmatch(text)):
            return Fragment(self._name(text), Level.SINGLE)
        return Fragment(text, Level.SEQUENCE if " " in text else Level.ATOM)


def _line(name: str, body: str) -> str:
    """One rule. A long choice is broken after `|`, the only place where all readers allow it."""
    line = f"{name} ::= {body}\n"
    if len(line) <= LINE:
        return line
    return f"{name} ::= {_broken(body)}\n"


def _broken(body: str) -> str:
    """`body` with its outermost options on lines of their own."""
    parts: list[str] = []
    depth = start = 0
    for match in _TOKENS.finditer(body):
        token = match.group()
        if token == "(":
            depth += 1
        elif token == ")":
            depth -= 1
        elif token == "|" and not depth:
            parts.append(body[start : match.end()])
            start = match.end() + 1
    parts.append(body[start:])
    return "\n    ".join(parts)


_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|[()|]')
