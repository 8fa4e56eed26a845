"""The shapes of a dialect: its own and those it also accepts, each complete.

A shape's call template is parsed here once; everything that lowers, reads or writes works from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..grammar import Expr, Literal, Sequence, Token, sequence
from ..spec import ArgsSpec, CallIdSpec, CallsSpec, DialectSpec, JsonSpec, SectionSpec, TokenSpec
from ..template import Hole, Part, literal_after, parse_call, parse_item, parse_param
from .spelling import PLAIN, WHITESPACE, Escape, StringStyle, raw_fits, styles


@dataclass(frozen=True, slots=True)
class Shape:
    """One way to write the calls of a turn."""

    constrain: bool
    lead_in: str
    section: SectionSpec
    calls: CallsSpec
    call: tuple[Part, ...]
    call_id: CallIdSpec
    args: ArgsSpec
    json: JsonSpec
    param: tuple[Part, ...]
    item: tuple[Part, ...] = ()

    @property
    def value_closer(self) -> str:
        """The literal behind `{value}` (tagged, kwargs, tree)."""
        return literal_after(self.param, "value")

    def raw_styles(self) -> tuple[StringStyle, ...]:
        """How plain strings are written in `tagged`."""
        spec = self.args.string
        if spec is None:
            return (PLAIN,)
        return styles(spec)

    def name_escape(self) -> Escape:
        """How a name in quotes is escaped."""
        return "ascii" if self.json.ascii else "json"

    def args_margin(self) -> int:
        """The spaces that the line of `{args}` begins with."""
        at = next(i for i, p in enumerate(self.call) if isinstance(p, Hole) and p.name == "args")
        before = "".join(p if isinstance(p, str) else "." for p in self.call[:at])
        line = before.rpartition("\n")[2]
        return len(line) - len(line.lstrip(" "))

    def args_opening(self) -> str:
        """The literal that the arguments begin with, "" if that varies."""
        if self.args.notation in ("json", "bare-dict"):
            return "{"
        if self.args.open:
            return self.args.open
        first = self.param[0] if self.param else ""
        return first if isinstance(first, str) else ""

    def after_name(self) -> tuple[str, ...]:
        """The literals that may follow the name and so end it; the first is the regular one."""
        at = next(i for i, p in enumerate(self.call) if isinstance(p, Hole) and p.name == "name")
        return tuple(dict.fromkeys(t for t in self._following(at) if t))

    def name_stops(self, spec: DialectSpec) -> tuple[str, ...]:
        """What no name written raw can hold: all the visible literals behind it, and the dialect's
        tokens, which other shapes of its calls may have there."""
        at = next(i for i, p in enumerate(self.call) if isinstance(p, Hole) and p.name == "name")
        later = (p.strip() for p in self.call[at + 1 :] if isinstance(p, str))
        own = [e.lstrip() or e for e in self.after_name()]
        if any(e.isspace() for e in self.after_name()):
            # Only white space ends the name, and a call begins with what is visible behind it.
            own += [e.lstrip()[:1] for e in (*self.after_name(), literal_after(self.call, "args"))]
        tokens = (t.text for t in spec.tokens if not t.text.isalnum() and t.text.strip())
        # Where a call begins with its name, the section may as well end there, or begin anew.
        around = (self.section.open, self.section.close) if isinstance(self.call[0], Hole) else ()
        texts = (*own, *later, *tokens, *(t.strip() for t in around))
        return tuple(dict.fromkeys(t for t in texts if t))

    def after_id(self) -> str:
        """The literal behind `{id}`, which no id can hold."""
        return literal_after(self.call, "id")

    def key_stops(self, following: str) -> tuple[str, ...]:
        """What no key written raw can hold, the literal behind it among them."""
        stops = [following, "\n"]
        if self.args.notation == "kwargs":
            behind = self.args.close + literal_after(self.call, "args")
            stops += [self.args.separator.strip(), behind.strip()[:1], '"', "'"]
        return tuple(dict.fromkeys(t for t in stops if t))

    def carries_key(self, name: str, following: str, avoid: tuple[str, ...]) -> bool:
        """Can a key be written raw?"""
        if not name or name != name.strip(WHITESPACE) or not raw_fits(name, following, avoid):
            return False
        return not any(stop in name for stop in self.key_stops(following))

    def _following(self, at: int) -> Iterator[str]:
        for part in self.call[at + 1 :]:
            if isinstance(part, str):
                yield part
                if part.strip():
                    return
            elif part.name == "args":
                yield self.args_opening()
                if self.args.empty:
                    yield self.args.empty

    def starts_with_name(self) -> bool:
        """Does a call begin with the tool's name, no marker before it?"""
        return isinstance(self.call[0], Hole) and not self.section.open

    def known_by_name(self) -> bool:
        """Does nothing but a tool's name tell a call from prose? One sign before it, as the bracket
        of a list, is no marker: prose begins so too."""
        return isinstance(self.call[0], Hole) and len(self.section.open.strip()) <= 1

    def begins_with(self, text: str) -> bool:
        """Do calls begin with this text? It may have ``{name}`` where the name stands."""
        opener = self.head("{name}")
        return opener.startswith(text) or (self.lead_in + opener).startswith(text)

    def head(self, name: str) -> str:
        """How a call of a tool begins, up to the first hole that is not its name."""
        text = self.section.open
        for part in self.call:
            if isinstance(part, Hole) and part.name != "name":
                break
            quoted = isinstance(part, Hole) and part.form == "json"
            text += part if isinstance(part, str) else f'"{name}"' if quoted else name
        return text


def shapes(spec: DialectSpec) -> tuple[Shape, ...]:
    """The dialect's own shape first, then the accepted ones."""
    own = Shape(
        True,
        spec.lead_in,
        spec.section,
        spec.calls,
        parse_call(spec.call),
        spec.call_id,
        spec.args,
        spec.json_layout,
        parse_param(spec.args.param or ""),
        parse_item(spec.args.item or ""),
    )
    out = [own]
    for other in spec.accept:
        args = spec.args
        if other.args is not None:
            data = {**spec.args.model_dump(by_alias=True, exclude_unset=True), **other.args}
            args = ArgsSpec.model_validate(data)
        out.append(
            Shape(
                other.constrain,
                own.lead_in if other.lead_in is None else other.lead_in,
                own.section if other.section is None else other.section,
                own.calls if other.calls is None else other.calls,
                own.call if other.call is None else parse_call(other.call),
                own.call_id if other.call_id is None else other.call_id,
                args,
                own.json if other.json_layout is None else other.json_layout,
                parse_param(args.param or ""),
                parse_item(args.item or ""),
            )
        )
    return tuple(out)


def string_markers(spec: DialectSpec) -> tuple[Token, ...]:
    """The tokens that strings are quoted with, in any of the dialect's shapes, and that no value
    holds as text: those matched by id, and raw strings' closers."""
    quotes: set[str] = set()
    required = {t.text for t in spec.tokens if t.match == "require"}
    for shape in shapes(spec):
        if shape.args.string is not None:
            for style in (shape.args.string, *shape.args.string.alternatives):
                quotes |= {style.open, style.close} & required
                if style.escape == "none" and style.open in ("", style.close):
                    quotes.add(style.close)
        if shape.args.notation == "tree":
            # Distinct items are texts, the marks of elements in them included.
            literals = [p for p in (*shape.param, *shape.item) if isinstance(p, str)]
            quotes |= {t for t in required if any(t in p for p in literals)}
    return tuple(Token(t.text, t.match) for t in spec.tokens if t.text in quotes)


def markup(text: str, tokens: tuple[TokenSpec, ...]) -> Expr:
    """A literal with the dialect's tokens in it told apart, the longest first."""
    found: list[Expr] = []
    at = 0
    while True:
        # The first that occurs; of those that begin at one place, the longest.
        places = ((text.find(t.text, at), -len(t.text), i) for i, t in enumerate(tokens))
        place, _, which = min((p for p in places if p[0] >= 0), default=(-1, 0, 0))
        if place < 0:
            break
        token = tokens[which]
        found += [Literal(text[at:place]), Token(token.text, token.match)]
        at = place + len(token.text)
    return sequence(*found, Literal(text[at:])) if found or text else Sequence(())
