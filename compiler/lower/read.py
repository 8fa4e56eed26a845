"""The reading strictness: dialect spec -> a grammar of turns with captures.

Same structure as the enforcing one, values loosened: any tool name behind a marker, any keys in any
order, any values the notation can hold, white space between markers free. It knows no schema, so
it is one grammar a dialect (and, where a call has no marker before its name, one a set of names).
The enforced language is contained in it, and a text of both reads the same.
"""

from __future__ import annotations

from collections.abc import Sequence as Seq
from typing import Final

from ..grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    choice,
    optional,
    sequence,
)
from ..regular.language import Language
from ..spec import ContentForm, DialectSpec, ToolKindSpec
from .kinds import body_stops, kind_parts, names_itself
from .prefill import behind
from .read_call import CUT, ReadCalls
from .read_values import ANY_CHAR, ReadValues
from .shape import Shape, shapes
from .spelling import ALL, spell

_WORD: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_NO_WORD: Final = ((0, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0xD7FF), ALL[1])


class ReadLowering:
    """Lowers a dialect for reading.

    Args:
        names: the declared tools; used only where nothing but its name marks a call.
        opened: the prompt has opened the reasoning block already.
        exact: white space as the spec has it, for checking the spec itself.
    """

    def __init__(
        self, spec: DialectSpec, names: Seq[str], *, opened: bool = False, exact: bool = False
    ) -> None:
        self.spec = spec
        self.opened = opened
        avoid = tuple(t.text for t in spec.tokens if t.match == "require")
        self.rules = Rules()
        self.values = ReadValues(self.rules, avoid, exact=exact)
        self.calls = ReadCalls(spec, names, self.values)

    def lower(self) -> Grammar:
        """The grammar of whole turns."""
        body = self._body()
        reasoning = self.spec.reasoning
        start = body
        if reasoning is not None:
            stops = (reasoning.close, *reasoning.implicit_close)
            language = Language.avoiding(stops, reasoning.close)
            thought = Capture(
                Slot("reasoning"), Regular(spell(language.dfa, "none", ""), 0, None, "reasoning")
            )
            after = sequence(Literal(reasoning.close), self.calls.literal(reasoning.after), body)
            endings = [after]
            if reasoning.implicit_close:
                endings.append(self._sections(body))
            block = sequence(CUT, thought, choice(*endings))
            opener = self.calls.literal(reasoning.open.rstrip())
            start = block if self.opened else choice(sequence(self.values.gap, opener, block), body)
        if self.spec.prefill and not self.opened:
            # What was generated goes on behind the prefill; a text that repeats it is read too.
            rest = behind(start, self.spec.prefill, self.rules)
            if any(s.begins_with(self.spec.prefill) for s in shapes(self.spec)):
                # Before anything that is prose, so that a call cut off is none.
                sections = self._sections(RuleRef("body"))
                wraps = self._wraps(sections, self._done())
                start = choice(sections, *wraps, rest, start)
            else:
                start = choice(start, rest)
        return Grammar(self.rules, start)

    # Around the calls -------------------------------------------------------------------------

    def _body(self) -> Expr:
        """Content and calls in any order, then perhaps the turn's end."""
        ends = [Literal(t) for t in self.spec.turn_end.tokens]
        sections = self._sections(RuleRef("body"))
        done = self._done()
        free = self._free_text()
        options: list[Expr] = [sections, *ends]
        options += self._wraps(sections, done)
        calls_anywhere = not all(t.at == "message_start" for t in self.spec.triggers)
        if calls_anywhere and any(s.starts_with_name() for s in shapes(self.spec)):
            # Nothing but a name marks a call, so it must begin where a word can.
            options.append(sequence(Capture(Slot("content"), self._to_word_edge()), sections))
            options.append(sequence(Capture(Slot("content"), free), done))
        else:
            after = choice(sections, done) if calls_anywhere or not self.spec.triggers else done
            options.append(sequence(Capture(Slot("content"), free), after))
        return self.rules.define("body", choice(*options, EMPTY))

    def _free_text(self) -> Expr:
        """Any text; as short as possible, so that what can begin a call begins one."""
        more = RuleRef("more")
        self.rules.define("more", Choice((EMPTY, Sequence((ANY_CHAR, more)))))
        return Sequence((ANY_CHAR, more))

    def _to_word_edge(self) -> Expr:
        """Any text that ends where a word can begin; as short as possible."""
        inside, edge = RuleRef("in-word"), RuleRef("word-edge")
        letters, others = Chars(_WORD), Chars(_NO_WORD)
        step = (Sequence((letters, inside)), Sequence((others, edge)))
        self.rules.define("in-word", Choice(step))
        self.rules.define("word-edge", Choice((EMPTY, *step)))
        return Choice(step)

    def _done(self) -> Expr:
        """The turn's end, or that of the text."""
        return choice(*(Literal(t) for t in self.spec.turn_end.tokens), EMPTY)

    def _wraps(self, sections: Expr, done: Expr) -> list[Expr]:
        """Content in each way that the dialect wraps it."""
        forms = (self.spec.content, *self.spec.content.alternatives)
        return [self._wrapped(f, sections, done) for f in forms if f.open or f.close]

    def _wrapped(self, content: ContentForm, sections: Expr, done: Expr) -> Expr:
        """Content between the dialect's markers."""
        if content.close:
            language = Language.avoiding(self.spec.turn_end.tokens, content.close)
            text: Expr = Regular(spell(language.dfa, "none", ""), 0, None, "text")
            after = choice(sequence(self.calls.literal(content.close), RuleRef("body")), done)
        else:
            text, after = RuleRef("more"), choice(sections, done)
        opened = (self.calls.before_raw(content.open), CUT)
        return sequence(*opened, Capture(Slot("content"), text), after)

    def _sections(self, after: Expr) -> Expr:
        """One section of calls in any shape, then `after`."""
        sections = sequence(choice(*(self._section(s) for s in shapes(self.spec))), after)
        kinds = self.spec.tool_kinds.values()
        if not kinds:
            return sections
        # What follows a raw body is no content: it would be part of the body.
        ends = [Literal(t) for t in self.spec.turn_end.tokens]
        bodies = choice(*(self._raw_call(k) for k in kinds))
        return choice(sequence(bodies, choice(sections, *ends, EMPTY)), sections)

    def _raw_call(self, kind: ToolKindSpec) -> Expr:
        """A call whose body is raw text; the argument's name is not in the text."""
        parts: list[Expr] = []
        template = kind_parts(kind)
        for at, part in enumerate(template):
            if isinstance(part, str):
                parts.append(self.calls.before_raw(part))
            elif part.name == "name":
                names = choice(*(Literal(n) for n in kind.names))
                quoted = sequence(Literal('"'), names, Literal('"'))
                slot = Slot("name", "json" if part.form == "json" else "bare")
                parts.append(Capture(slot, quoted if part.form == "json" else names))
            elif part.name == "body":
                following = template[at + 1] if at + 1 < len(template) else ""
                closer = following if isinstance(following, str) else ""
                language = Language.avoiding(body_stops(self.spec, kind), closer)
                text = Regular(spell(language.dfa, "none", ""), 0, None, "raw text")
                key = Capture(Slot("key", "literal", kind.parameter), EMPTY)
                member = Capture(Slot("member"), sequence(key, Capture(Slot("value", "raw"), text)))
                if not names_itself(template):
                    # Not known before what comes before the body is read.
                    parts.append(Capture(Slot("name", "literal", kind.names[0]), EMPTY))
                parts += [CUT, Capture(Slot("arguments"), member)]
        return Capture(Slot("call"), self.calls.merged(parts))

    def _section(self, shape: Shape) -> Expr:
        call = self.calls.call(shape)
        separator = self.calls.between(shape.calls.separator)
        lead_in = optional(Literal(shape.lead_in)) if shape.lead_in else EMPTY
        many = EMPTY if shape.calls.max == 1 else Repeat(sequence(separator, call), 0, None)
        section = shape.section
        return sequence(
            lead_in,
            self.calls.literal(section.open) if section.open else EMPTY,
            call,
            many,
            self._closing(section.close),
        )

    def _closing(self, text: str) -> Expr:
        return sequence(self.values.gap, self.calls.literal(text)) if text else EMPTY

    def openings(self) -> list[tuple[str, Expr]]:
        """How the calls of each shape that has a marker begin, up to the first hole: as written,
        and as read."""
        out: list[tuple[str, Expr]] = []
        for shape in shapes(self.spec):
            if shape.known_by_name():
                continue  # Triggers have the names.
            first = shape.call[0] if isinstance(shape.call[0], str) else ""
            opening = (
                self.calls.literal(shape.section.open),
                self.calls.call_literal(first, shape, 0),
            )
            out.append((shape.section.open + first, self.calls.merged(list(opening))))
        for kind in self.spec.tool_kinds.values():
            head = kind_parts(kind)[0]
            if isinstance(head, str):
                out.append((head, self.calls.before_raw(head)))
        return out

    def exact_sections(self) -> list[Expr]:
        """One section of calls in each shape, nothing around it."""
        return [self._section(s) for s in shapes(self.spec)]
