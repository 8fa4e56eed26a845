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
    Cut,
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
from ..spec import DialectSpec, ToolKindSpec
from ..template import Hole, Part
from .kinds import body_stops, kind_parts, names_itself
from .layout import BARE_KEY_STOPS, Gaps, Layout, value_layout
from .prefill import behind
from .shape import Shape, shapes
from .spelling import ALL, DIGIT, StringStyle, spell

ANY_CHAR: Final = Chars(ALL)
_WHITESPACE: Final = Chars(((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)))
_CUT: Final = Cut()
_WORD: Final = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_NO_WORD: Final = ((0, 0x2F), (0x3A, 0x40), (0x5B, 0x5E), (0x60, 0x60), (0x7B, 0xD7FF), ALL[1])
_PUNCTUATION: Final = "{}[]:,"


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
        self.names = sorted(names, key=lambda n: (-len(n), n))
        self.opened = opened
        self.rules = Rules()
        self.avoid = tuple(t.text for t in spec.tokens if t.match == "require")
        self.exact = exact
        gap = Repeat(_WHITESPACE, 0, None)
        self._gap: Expr = EMPTY if exact else self.rules.define("gap", gap)
        self._built: dict[object, RuleRef] = {}

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
            after = sequence(Literal(reasoning.close), self._literal(reasoning.after), body)
            endings = [after]
            if reasoning.implicit_close:
                endings.append(self._sections(body))
            block = sequence(_CUT, thought, choice(*endings))
            opener = self._literal(reasoning.open.rstrip())
            start = block if self.opened else choice(sequence(self._gap, opener, block), body)
        if self.spec.prefill and not self.opened:
            # What was generated goes on behind the prefill; a text that repeats it is read too.
            start = choice(behind(start, self.spec.prefill, self.rules), start)
        return Grammar(self.rules, start)

    # Around the calls -------------------------------------------------------------------------

    def _body(self) -> Expr:
        """Content and calls in any order, then perhaps the turn's end."""
        ends = [Literal(t) for t in self.spec.turn_end.tokens]
        sections = self._sections(RuleRef("body"))
        done = choice(*ends, EMPTY)
        free = self._free_text()
        options: list[Expr] = [sections, *ends]
        content = self.spec.content
        if content.open or content.close:
            options.append(self._wrapped(sections, done))
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

    def _wrapped(self, sections: Expr, done: Expr) -> Expr:
        """Content between the dialect's markers."""
        content = self.spec.content
        if content.close:
            language = Language.avoiding(self.spec.turn_end.tokens, content.close)
            text: Expr = Regular(spell(language.dfa, "none", ""), 0, None, "text")
            after = choice(sequence(self._literal(content.close), RuleRef("body")), done)
        else:
            text, after = RuleRef("more"), choice(sections, done)
        opened = (self._before_raw(content.open), _CUT)
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
        if not names_itself(template):
            parts.append(Capture(Slot("name", "literal", kind.names[0]), EMPTY))
        for at, part in enumerate(template):
            if isinstance(part, str):
                parts.append(self._before_raw(part))
            elif part.name == "name":
                names = choice(*(Literal(n) for n in kind.names))
                quoted = sequence(Literal('"'), names, Literal('"'))
                slot = Slot("name", "json" if part.form == "json" else "raw")
                parts.append(Capture(slot, quoted if part.form == "json" else names))
            elif part.name == "body":
                following = template[at + 1] if at + 1 < len(template) else ""
                closer = following if isinstance(following, str) else ""
                language = Language.avoiding(body_stops(self.spec, kind), closer)
                text = Regular(spell(language.dfa, "none", ""), 0, None, "raw text")
                key = Capture(Slot("key", "literal", kind.parameter), EMPTY)
                member = Capture(Slot("member"), sequence(key, Capture(Slot("value", "raw"), text)))
                parts += [_CUT, Capture(Slot("arguments"), member)]
        return Capture(Slot("call"), self._merged(parts))

    def _section(self, shape: Shape) -> Expr:
        call = self._call(shape)
        separator = self._between(shape.calls.separator)
        lead_in = optional(Literal(shape.lead_in)) if shape.lead_in else EMPTY
        many = EMPTY if shape.calls.max == 1 else Repeat(sequence(separator, call), 0, None)
        section = shape.section
        return sequence(
            lead_in,
            self._literal(section.open) if section.open else EMPTY,
            call,
            many,
            sequence(self._gap, self._literal(section.close)) if section.close else EMPTY,
        )

    def openings(self) -> list[tuple[str, Expr]]:
        """How the calls of each shape begin, up to the first hole: as written, and as read."""
        out: list[tuple[str, Expr]] = []
        for shape in shapes(self.spec):
            first = shape.call[0] if isinstance(shape.call[0], str) else ""
            opening = (self._literal(shape.section.open), self._call_literal(first, shape, 0))
            out.append((shape.section.open + first, self._merged(list(opening))))
        for kind in self.spec.tool_kinds.values():
            head = kind_parts(kind)[0]
            if isinstance(head, str):
                out.append((head, self._before_raw(head)))
        return out

    def exact_sections(self) -> list[Expr]:
        """One section of calls in each shape, nothing around it."""
        return [self._section(s) for s in shapes(self.spec)]

    def _between(self, separator: str) -> Expr:
        """A separator whose visible part must be there; white space around it is free."""
        if self.exact:
            return Literal(separator)
        visible = separator.strip()
        return sequence(self._gap, Literal(visible), self._gap) if visible else self._gap

    # One call ---------------------------------------------------------------------------------

    def _call(self, shape: Shape) -> Expr:
        layout = value_layout(self.spec, shape.args, shape.json, Gaps())
        last = max(i for i, p in enumerate(shape.call) if isinstance(p, Hole) and p.name == "name")
        parts: list[Expr] = []
        for at, part in enumerate(shape.call):
            if isinstance(part, str):
                parts.append(self._call_literal(part, shape, at))
            elif part.name == "args":
                # White space comes before the cut: on nothing but visible text does a call begin.
                tagged = shape.args.notation == "tagged"
                parts += [self._gap, _CUT] if tagged else [_CUT]
                parts.append(self._arguments(shape, layout))
                if not tagged:
                    parts.append(self._gap)
            elif part.name == "name":
                slot = Slot("name", "json" if part.form == "json" else "raw")
                parts.append(Capture(slot, self._name(part, shape)))
                if at == last and "args" not in {
                    p.name for p in shape.call[at:] if isinstance(p, Hole)
                }:
                    parts.append(_CUT)
            else:
                parts.append(Capture(Slot("id", "raw"), self._identity(shape, at)))
        return Capture(Slot("call"), self._merged(parts))

    def _call_literal(self, text: str, shape: Shape, at: int) -> Expr:
        """A literal of the call template; JSON punctuation in it may be spaced freely."""
        if self.exact:
            return Literal(text)
        spaced = any(isinstance(p, Hole) and p.form == "json" for p in shape.call)
        edge = at + 1 < len(shape.call)
        if not spaced:
            return self._literal(text, keep_end=edge)
        parts: list[Expr] = []
        quoted = False
        for char in text:
            if char == '"':
                quoted = not quoted
            if not quoted and char in _PUNCTUATION:
                parts += [self._gap, Literal(char), self._gap]
            elif not quoted and char.isspace():
                parts.append(self._gap)
            else:
                parts.append(Literal(char))
        return self._merged(parts)

    def _literal(self, text: str, *, keep_end: bool = False) -> Expr:
        """A literal whose white space may vary; with `keep_end` the last of it stays as it is
        (it may be what ends or begins a raw text)."""
        if self.exact:
            return Literal(text)
        parts: list[Expr] = []
        stripped = text.rstrip() if keep_end else text
        for char in stripped:
            parts.append(self._gap if char.isspace() else Literal(char))
        if keep_end and len(stripped) < len(text):
            parts.append(self._gap)
        return self._merged(parts)

    def _merged(self, parts: list[Expr]) -> Expr:
        """Gaps that touch are one gap."""
        out: list[Expr] = []
        for part in parts:
            for item in part.items if isinstance(part, Sequence) else (part,):
                if item is self._gap and out and out[-1] is self._gap:
                    continue
                out.append(item)
        return sequence(*out)

    def _name(self, hole: Hole, shape: Shape) -> Expr:
        if hole.form == "json":
            return self._json_string()
        if shape.starts_with_name():
            return choice(*(Literal(n) for n in self.names)) if self.names else ANY_CHAR
        stops = tuple(dict.fromkeys((*shape.name_stops(), *self.avoid)))
        language = Language.avoiding(stops) - Language.words([""])
        return Regular(spell(language.dfa, "none", ""), 1, None, "a tool's name")

    def _identity(self, shape: Shape, at: int) -> Expr:
        part = shape.call[at]
        assert isinstance(part, Hole)
        if part.name == "index":
            return Repeat(DIGIT, 1, None)
        following = shape.call[at + 1] if at + 1 < len(shape.call) else ""
        stop = following if isinstance(following, str) else shape.args_opening()
        language = Language.avoiding((stop,)) if stop else Language.any()
        return Regular(spell(language.dfa, "none", ""), 0, None, "a call id")

    # Arguments --------------------------------------------------------------------------------

    def _arguments(self, shape: Shape, layout: Layout) -> Expr:
        args = shape.args
        container: Expr
        if args.notation == "json":
            container = Capture(Slot("arguments", "json"), self._json_object())
        elif args.notation == "bare-dict":
            container = Capture(Slot("arguments"), self._braces(layout))
        else:
            param = Capture(Slot("member"), self._param(shape, layout))
            between = self._between(args.separator)
            some = sequence(param, Repeat(sequence(between, param), 0, None))
            container = Capture(
                Slot("arguments"),
                sequence(
                    self._literal(args.open) if args.open else EMPTY,
                    optional(sequence(some, self._gap) if not args.close else some),
                    self._literal(args.close) if args.close else EMPTY,
                ),
            )
        if args.empty is not None:
            container = choice(container, Capture(Slot("arguments"), self._literal(args.empty)))
        return container

    def _param(self, shape: Shape, layout: Layout) -> Expr:
        """One tagged or keyword argument."""
        types = shape.args.type_attr
        if types is None or shape.args.notation == "kwargs":
            return self._param_form(shape, layout, None, "untyped")
        string = types.string if types.string is not None else types.default
        data = types.model_dump(exclude_none=True)
        others = dict.fromkeys(v for k, v in data.items() if k != "string" and v != string)
        forms = [self._param_form(shape, layout, string, "raw")]
        forms += [self._param_form(shape, layout, other, "json") for other in others]
        return choice(*forms)

    def _param_form(self, shape: Shape, layout: Layout, attribute: str | None, decode: str) -> Expr:
        parts: list[Expr] = []
        for at, part in enumerate(shape.param):
            if isinstance(part, str):
                parts.append(self._param_literal(shape.param, at))
            elif part.name == "key":
                parts.append(self._key_hole(shape, part, at))
            elif part.name == "type":
                parts.append(Literal(attribute or ""))
            elif shape.args.notation == "kwargs":
                parts.append(self._value(layout))
            else:
                parts.append(self._raw_value(shape, decode))
        return sequence(*parts)

    def _param_literal(self, parts: tuple[Part, ...], at: int) -> Expr:
        """A literal of the param template. Next to the value it stays exact: there, white space
        is either the tag's or the value's."""
        text = parts[at]
        assert isinstance(text, str)
        before = at > 0 and isinstance(hole := parts[at - 1], Hole) and hole.name == "value"
        behind = at + 1 < len(parts)
        after = behind and isinstance(hole := parts[at + 1], Hole) and hole.name == "value"
        if before:
            return Literal(text) if text.strip() == text else self._closing(text)
        return self._before_raw(text) if after else self._literal(text)

    def _before_raw(self, text: str) -> Expr:
        """A literal with raw text behind it: its last white space is not the text's."""
        visible = text.rstrip()
        return sequence(self._literal(visible), Literal(text[len(visible) :]))

    def _closing(self, text: str) -> Expr:
        """The literal behind a raw value: its last white space may be missing."""
        visible = text.rstrip()
        if not visible or self.exact:
            return Literal(text)
        return sequence(Literal(visible), self._gap)

    def _key_hole(self, shape: Shape, hole: Hole, at: int) -> Expr:
        if hole.form == "json":
            return Capture(Slot("key", "json"), self._json_string())
        following = shape.param[at + 1] if at + 1 < len(shape.param) else ""
        behind_it = following if isinstance(following, str) else ""
        stops = (*shape.key_stops(behind_it), *self.avoid)
        language = Language.avoiding(stops) - Language.words([""])
        text = Regular(spell(language.dfa, "none", ""), 1, None, "an argument's name")
        return Capture(Slot("key", "raw"), text)

    def _raw_value(self, shape: Shape, decode: str) -> Expr:
        """A tagged value: everything up to its closer."""
        closer = shape.value_closer
        forms = []
        for style in shape.raw_styles():
            slot = Slot("value", decode if style.escape == "none" else style.escape)  # type: ignore[arg-type]
            if style.escape == "none":
                language = Language.avoiding(self.avoid, style.close or closer)
                text: Expr = Regular(spell(language.dfa, "none", ""), 0, None, "a value")
            else:
                text = self._string_body(style)
            forms.append(sequence(Literal(style.open), Capture(slot, text), Literal(style.close)))
        if any(s.open for s in shape.raw_styles()):
            language = Language.avoiding(self.avoid, closer)
            plainly = Regular(spell(language.dfa, "none", ""), 0, None, "a value")
            forms.append(Capture(Slot("value", "untyped"), plainly))
        return choice(*forms)

    # Values -----------------------------------------------------------------------------------

    def _once(self, key: object, name: str, build: object) -> RuleRef:
        found = self._built.get(key)
        if found is None:
            assert callable(build)
            rule = name if name not in self.rules else f"{name}-{len(self._built)}"
            found = self._built[key] = self.rules.define(rule, build)
        return found

    def _value(self, layout: Layout, depth: int = 0) -> RuleRef:
        """Any value in brackets and quotes, captured piece by piece; when exact, nested once."""
        depth = depth if self.exact else 0
        key = ("value", layout, depth)
        return self._once(key, "value", lambda: self._any_value(layout, depth))

    def _any_value(self, layout: Layout, depth: int) -> Expr:
        if layout.is_json:
            return Capture(Slot("value", "json"), self._json_value())
        options: list[Expr] = []
        for style in layout.strings:
            decode = style.escape if style.escape != "none" else "raw"
            body = self._string_body(style)
            options.append(
                sequence(
                    Literal(style.open), Capture(Slot("value", decode), body), Literal(style.close)
                )
            )
        options.append(Capture(Slot("value", "json"), self._number()))
        literals = layout.literals
        for texts, value in ((literals.true, True), (literals.false, False), (literals.null, None)):
            slot = Slot("value", "literal", value)
            options += [Capture(slot, Literal(t)) for t in dict.fromkeys(texts)]
        if self.exact and depth > 0:
            return Choice(tuple(options))
        value = self._value(layout, depth + 1)
        comma = sequence(self._gap, Literal(","), self._gap)
        items = optional(sequence(value, Repeat(sequence(comma, value), 0, None), self._gap))
        array = sequence(Literal("["), self._gap, items, Literal("]"))
        options.append(Capture(Slot("array"), array))
        options.append(Capture(Slot("object"), self._braces(layout, depth + 1)))
        return Choice(tuple(options))

    def _braces(self, layout: Layout, depth: int = 0) -> Expr:
        """An object in braces, captured member by member."""
        depth = depth if self.exact else 0

        def build() -> Expr:
            keys = []
            for style in layout.keys:
                if style.open:
                    decode = style.escape if style.escape != "none" else "raw"
                    text: Expr = Capture(Slot("key", decode), self._string_body(style))
                    keys.append(sequence(Literal(style.open), text, Literal(style.close)))
                else:
                    stops = Language.avoiding((*BARE_KEY_STOPS, *self.avoid))
                    bare = (stops - Language.words([""])).dfa
                    name = Regular(spell(bare, "none", ""), 1, None, "a key")
                    keys.append(Capture(Slot("key", "raw"), name))
            colon = sequence(self._gap, Literal(":"), self._gap)
            member = Capture(
                Slot("member"), sequence(choice(*keys), colon, self._value(layout, depth))
            )
            comma = sequence(self._gap, Literal(","), self._gap)
            members = sequence(member, Repeat(sequence(comma, member), 0, None), self._gap)
            return sequence(Literal("{"), self._gap, optional(members), Literal("}"))

        return self._once(("braces", layout, depth), "braces", build)

    def _string_body(self, style: StringStyle) -> Expr:
        """The inside of a string, broken escapes and control characters included."""
        if style.escape == "none":
            language = Language.avoiding(self.avoid, style.close)
            return Regular(spell(language.dfa, "none", ""), 0, None, "text")
        if style.escape == "xml":
            return Regular(
                spell(Language.avoiding((), style.close).dfa, "none", ""), 0, None, "text"
            )
        quote = style.close[:1]
        key = ("string", quote)
        return self._once(key, "text", lambda: _loose_string(quote))

    def _json_string(self) -> Expr:
        return self._once(
            "json-string",
            "json-string",
            lambda: sequence(Literal('"'), _loose_string('"'), Literal('"')),
        )

    def _number(self) -> Expr:
        return self._once("number", "number", _loose_number)

    def _json_value(self) -> Expr:
        def build() -> Expr:
            if self.exact:
                return Choice((self._json_string(), self._number(), Literal("null")))
            comma = sequence(self._gap, Literal(","), self._gap)
            value = RuleRef("json-value")
            items = optional(sequence(value, Repeat(sequence(comma, value), 0, None), self._gap))
            return Choice(
                (
                    self._json_string(),
                    self._number(),
                    Literal("true"),
                    Literal("false"),
                    Literal("null"),
                    sequence(Literal("["), self._gap, items, Literal("]")),
                    self._json_object(),
                )
            )

        return self._once("json-value", "json-value", build)

    def _json_object(self) -> Expr:
        def build() -> Expr:
            comma = sequence(self._gap, Literal(","), self._gap)
            colon = sequence(self._gap, Literal(":"), self._gap)
            member = sequence(self._json_string(), colon, self._json_value())
            members = sequence(member, Repeat(sequence(comma, member), 0, None), self._gap)
            return sequence(Literal("{"), self._gap, optional(members), Literal("}"))

        return self._once("json-object", "json-object", build)


def _loose_string(quote: str) -> Expr:
    """The inside of a quoted string. Control characters and unknown escapes too: what an
    unconstrained model writes is to be read, then judged."""
    loose: list[tuple[int, int]] = []
    low = 0
    for point in sorted((ord(quote), ord("\\"))):
        loose.append((low, point - 1))
        low = point + 1
    loose += [(low, ALL[0][1]), ALL[1]]
    return Repeat(Choice((Chars(tuple(loose)), sequence(Literal("\\"), ANY_CHAR))), 0, None)


def _loose_number() -> Expr:
    digits = Repeat(DIGIT, 1, None)
    sign = Chars(((0x2B, 0x2B), (0x2D, 0x2D)))
    power = Sequence((Chars(((0x45, 0x45), (0x65, 0x65))), optional(sign), digits))
    return Sequence(
        (
            optional(Literal("-")),
            digits,
            optional(Sequence((Literal("."), digits))),
            optional(power),
        )
    )
