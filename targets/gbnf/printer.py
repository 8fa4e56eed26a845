"""Expanded grammar (literals, classes, sequences, choices, repeats, references) -> GBNF text.

Rules are printed from the leaves up, without recursion. A rule used once and short stands where it
is used; what repeats and is more than one character gets a name, as does what nests deeply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

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
)
from ...compiler.passes.linear import HOLE, Linear, Shape
from . import spelling
from .fragments import DEPTH, EMPTY_TEXT, GROUP, INLINE, MARK, Fragment, Level
from .repeats import LIMIT, repeated
from .templates import Filling, Template, filling, gaps, is_open, template

SHARED_REPEAT = 20
"""Spread of a counted repeat from which it is a rule: the engine makes a rule for each step."""
LINE = 100

_NAMES = re.compile(f"{MARK}([^{MARK}]+){MARK}")


class Printer:
    """Prints the rules that a start expression needs.

    `uses` says how often each rule is referred to; `linear` has the rules of expanded machines.
    """

    def __init__(self, rules: Rules, uses: Mapping[str, int], linear: Mapping[str, Linear]) -> None:
        self.rules = rules
        self.uses = uses
        self.linear = linear
        self.fragments: dict[str, Fragment] = {}
        self.terminals: dict[Literal | Chars, Fragment] = {}
        self.templates: dict[tuple[int, Filling], Template | None] = {}
        self.open: dict[int, bool] = {}
        self.bodies: dict[str, str] = {}
        self.named: dict[str, str] = {}
        self.owner = "root"
        self.numbers: dict[str, int] = {}
        self.renamed = {"root": self._fresh("rule")} if "root" in rules else {}

    def print(self, start: Expr) -> str:
        """All rules that `start` needs, ``root`` first, the others in order of first use."""
        self.bodies["root"] = self._walk(start, []).text
        queue: list[str] = _NAMES.findall(self.bodies["root"])
        order: dict[str, None] = {"root": None}
        back = {new: old for old, new in self.renamed.items()}
        for name in queue:
            if name in order:
                continue
            order[name] = None
            if name not in self.bodies:
                source = back[name] if name in back else name
                self.bodies[name] = self._named(source).text
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

    def _named(self, name: str) -> Fragment:
        """Print one rule's body."""
        known = self.fragments.get(name)
        if known is not None:
            return known
        self.owner = name
        if name in self.linear:
            return self._linear(name)
        return self._walk(self.rules[name], [])

    def _walk(self, body: Expr, filled: list[Fragment]) -> Fragment:
        """Print an expression, and the bodies of the rules that may stand inside it. `filled` is
        what stands in its holes."""
        done: dict[int, Fragment] = {}
        # A node is met again, below a None, when what is inside it is done.
        stack: list[Expr | None] = [body]
        while stack:
            node = stack.pop()
            ready = node is None
            if node is None:
                node = stack.pop()
                assert node is not None
            if id(node) in done:
                continue
            if isinstance(node, RuleRef):
                name = node.name
                if name.startswith(HOLE):
                    done[id(node)] = filled[int(name[1:])]
                elif ready:
                    self.fragments[name] = done[id(self.rules[name])]
                    done[id(node)] = self._reference(name)
                elif self.uses.get(name) != 1 or name in self.fragments:
                    done[id(node)] = Fragment(self._marked(name), Level.SINGLE)
                elif name in self.linear:
                    self._linear(name)
                    done[id(node)] = self._reference(name)
                else:
                    stack += (node, None, self.rules[name])
            elif isinstance(node, Literal | Chars):
                done[id(node)] = self._terminal(node)
            elif ready or not (kids := children(node)):
                done[id(node)] = self._fragment(node, done)
            else:
                stack += (node, None)
                stack += kids[::-1]
        return done[id(body)]

    def _linear(self, name: str) -> Fragment:
        """Print a rule of a machine, after those that only it refers to."""
        fragments, uses = self.fragments, self.uses
        stack = [name]
        while stack:
            rule = self.linear[stack[-1]]
            waiting = [n for n in rule.names if uses[n] == 1 and n not in fragments]
            if waiting:
                stack.extend(reversed([n for n in rule.references() if n in waiting]))
            else:
                fragments[stack.pop()] = self._filled(rule)
        return fragments[name]

    def _filled(self, rule: Linear) -> Fragment:
        parts = [self._reference(name) for name in rule.names]
        key = (id(rule.shape), filling(parts))
        if key not in self.templates:
            self.templates[key] = self._template(rule.shape, key[1])
        known = self.templates[key]
        fragment = known.fill(parts) if known is not None else None
        return fragment if fragment is not None else self._walk(rule.shape.expr, parts)

    def _template(self, shape: Shape, filled: Filling) -> Template | None:
        """A shape printed for a way to fill its holes; None where the texts themselves matter."""
        if is_open(shape) and any(level != Level.SINGLE for level, _, _ in filled):
            return None
        number, named = self.numbers.get(self.owner, 0), len(self.named)
        found = template(self._walk(shape.expr, gaps(filled)), filled)
        if found is None:
            # Names that were given on the way are taken back.
            self.numbers[self.owner] = number
            while len(self.named) > named:
                del self.bodies[self.named.popitem()[1]]
        return found

    def _marked(self, name: str) -> str:
        return f"{MARK}{self.renamed.get(name, name)}{MARK}"

    def _reference(self, name: str) -> Fragment:
        """A rule's name; its body where it is short and used once."""
        if self.uses[name] == 1:
            fragment = self.fragments[name]
            if len(fragment.text) <= INLINE:
                return fragment
        return Fragment(self._marked(name), Level.SINGLE)

    def _terminal(self, node: Literal | Chars) -> Fragment:
        known = self.terminals.get(node)
        if known is None:
            known = self.terminals[node] = _spelled(node)
        return known

    def _fragment(self, node: Expr, done: dict[int, Fragment]) -> Fragment:
        match node:
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
        parts = [self._grouped(item) if item.level is Level.CHOICE else item for item in kept]
        text = " ".join([part.text for part in parts])
        return Fragment(text, Level.SEQUENCE, max([part.depth for part in parts]))

    def _choice(self, options: list[Fragment]) -> Fragment:
        texts = dict.fromkeys(option.text for option in options if option.text != EMPTY_TEXT)
        depth = max([option.depth for option in options])
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


def _spelled(node: Literal | Chars) -> Fragment:
    match node:
        case Literal(text):
            level = Level.SINGLE if len(text) == 1 else Level.ATOM
            return Fragment(spelling.literal(text), level)
        case Chars(((low, high),)) if low == high:
            return Fragment(spelling.literal(chr(low)), Level.SINGLE)
        case Chars(ranges):
            return Fragment(spelling.characters(ranges), Level.SINGLE)


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
