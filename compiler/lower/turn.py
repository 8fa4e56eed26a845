"""The enforcing strictness: dialect spec and envelope -> the grammar of a turn.

What a turn covers under each tool_choice is the table in docs/explanation/what-a-grammar-covers.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..errors import CalligramError, ToolError
from ..grammar import (
    EMPTY,
    Choice,
    Expr,
    FreeText,
    Grammar,
    Literal,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    choice,
    optional,
    sequence,
)
from ..ir import Bounds, Call, EnumValue, Envelope, StringValue
from ..origin import Origin, Problem
from ..regular.language import Language
from ..spec import ContentForm, DialectSpec, TokenSpec
from ..template import Hole
from .arguments import ArgumentsLowering
from .free_text import content_language
from .kinds import body_key, body_stops, kind_of, kind_parts
from .layout import Gaps, Layout, value_layout
from .openers import without_openers
from .prefill import behind
from .shape import Shape, markup, shapes, string_markers
from .shared import Shared
from .spelling import DIGIT, NONZERO, PLAIN, escaped, spell
from .tool_name import tool_name
from .tree import TreeArguments
from .trie import trie
from .values import ValueLowering

MAX_INDEX_DIGITS = 4
"""Digits of a call counter: a conversation holds fewer than 10,000 calls."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The grammar of a turn, and its calls alone (for the longest text)."""

    grammar: Grammar
    calls: Expr | None


class TurnLowering:
    """Lowers one envelope in one dialect."""

    def __init__(
        self, spec: DialectSpec, envelope: Envelope, bounds: Bounds | None, order: str, gaps: Gaps
    ) -> None:
        self.spec = spec
        self.envelope = envelope
        self.bounds = bounds
        self.gaps = gaps
        self.rules = Rules()
        self.shared = Shared(self.rules, bounds, order)
        self.shapes = tuple(s for s in shapes(spec) if s.constrain)
        self.free: list[Regular] = []
        self.avoid = tuple(t.text for t in spec.tokens if t.match == "require")

    def lower(self) -> Lowered:
        """The whole turn.

        Raises:
            ToolError: names, keys or values that the notation cannot carry, all of them.
        """
        calls = self.calls() if self.envelope.max_calls != 0 else None
        self.shared.find_problems()
        if self.shared.problems:
            raise ToolError(tuple(dict.fromkeys(self.shared.problems)))
        rules = self.rules
        said = None if calls is None else sequence(calls, self._content_after())
        start = behind(sequence(self._before(said), self._turn_end()), self.spec.prefill, rules)
        armed = None
        if said is not None and self.envelope.free_content:
            armed = sequence(said, self._turn_end())
            prefill = self.spec.prefill
            if prefill and any(s.begins_with(prefill) for s in self.shapes):
                # At the turn's beginning the prompt has said a part of what arms.
                armed = choice(armed, behind(armed, prefill, rules))
        markers = string_markers(self.spec)
        known = {t.text for t in self.spec.tokens} | {*self.spec.turn_end.tokens}
        free = None
        if self.envelope.free_content:
            free = FreeText(tuple(self.free), frozenset(known | {*self.spec.turn_end.not_stop}))
        return Lowered(Grammar(rules, start, armed, markers, free), calls)

    # Around the calls -------------------------------------------------------------------------

    def _turn_end(self) -> Expr:
        tokens = self.spec.turn_end.tokens
        if not tokens:
            return EMPTY
        # By id where the vocabulary has it, which need not count it among its own ends; never only
        # so: a host that stops at it does not show it.
        ends = [TokenSpec(text=t, match="either") for t in tokens]
        options = []
        for end in ends:
            # A text with other tokens in it is written by those.
            known = (*self.spec.tokens, *ends)
            parts = [t for t in known if t.text != end.text and t.text in end.text]
            options.append(markup(end.text, tuple(parts) or (end,)))
        return optional(choice(*options))

    def _before(self, calls: Expr | None) -> Expr:
        """The answer, after a block of reasoning where there may be one."""
        answer = self._answer(calls)
        reasoning = self.spec.reasoning
        mode = self.envelope.reasoning
        if reasoning is None or mode == "none":
            return answer
        ref = self.shared.rules.define(self.shared.names.fresh("answer"), answer)
        stops = (reasoning.close, *reasoning.implicit_close)
        language = Language.avoiding(stops, reasoning.close)
        if reasoning.implicit_close:
            language = without_openers(language, self.spec, stops)
        thought = Regular(
            spell(language.dfa, "none", ""), 0, None, f"reasoning until {reasoning.close!r}"
        )
        self.free.append(thought)
        close = markup(reasoning.close, self.spec.tokens)
        after = sequence(close, self._gap(reasoning.after), ref)
        if reasoning.implicit_close and calls is not None:
            after = Choice((after, calls))
        block = sequence(thought, after)
        if mode == "opened":
            return block
        return Choice((sequence(markup(reasoning.open, self.spec.tokens), block), ref))

    def _gap(self, text: str) -> Expr:
        """What follows the reasoning: as the template has it; white space may be less."""
        if not text:
            return EMPTY
        if text.strip():
            return markup(text, self.spec.tokens)
        return choice(*(Literal(text[:n]) for n in range(len(text), -1, -1)))

    def _answer(self, calls: Expr | None) -> Expr:
        lead_ins = tuple(dict.fromkeys(s.lead_in for s in self.shapes if s.lead_in))
        lead_in: Expr = EMPTY
        if lead_ins:
            lead_in = optional(choice(*(markup(t, self.spec.tokens) for t in lead_ins)))
        led = None if calls is None else sequence(lead_in, calls)
        if not self.envelope.free_content:
            assert led is not None
            return led
        alone = self._content(alone=True)
        if calls is None or led is None:
            return alone
        where = self.spec.content.with_calls
        options = [alone]
        if where in ("before", "any") and not self._calls_open_the_message():
            closed = any(form.close for form in self._content_forms())
            free = not closed and not any(map(self._is_marked, lead_ins))
            # Free content holds the lead-in too. Behind it, it could complete a trigger.
            options.append(sequence(self._content(alone=False), calls if free else led))
        else:
            options.append(led)
        return choice(*options)

    def _is_marked(self, text: str) -> bool:
        return any(t.text in text for t in self.spec.tokens)

    def _content_after(self) -> Expr:
        """Plain text behind the calls, where the dialect has it there."""
        if not self.envelope.free_content or self.spec.content.with_calls not in ("after", "any"):
            return EMPTY
        return self._content(alone=True)

    def _calls_open_the_message(self) -> bool:
        """Can calls begin nowhere but at the message's start?"""
        triggers = self.spec.triggers
        return bool(triggers) and all(t.at == "message_start" for t in triggers)

    def _content_forms(self) -> tuple[ContentForm, ...]:
        return (self.spec.content, *self.spec.content.alternatives)

    def _content(self, *, alone: bool) -> Expr:
        """Plain text in which no call begins; `alone`: no call follows it either."""
        return choice(*(self._content_in(form, alone=alone) for form in self._content_forms()))

    def _content_in(self, content: ContentForm, *, alone: bool) -> Expr:
        """Plain text wrapped in one way."""
        names = [c.name for c in self.envelope.calls]
        closer = "" if alone else content.close
        language = content_language(self.spec, names, followed=not alone, closer=closer)
        if not alone and any(s.starts_with_name() for s in self.shapes):
            language = language & Language.pattern(r"(?:^|[^A-Za-z0-9_])$", origin=Origin())
        text = Regular(spell(language.dfa, "none", ""), 0, None, "text without a call")
        self.free.append(text)
        if not content.open and not content.close:
            return text
        wrapped = sequence(
            markup(content.open, self.spec.tokens),
            text,
            optional(markup(content.close, self.spec.tokens)) if alone else EMPTY,
            EMPTY if alone else markup(content.close, self.spec.tokens),
        )
        return optional(wrapped)

    # Calls ------------------------------------------------------------------------------------

    def calls(self) -> Expr | None:
        """One call or more, in any of the enforced shapes; None if the turn can have none."""
        options = [e for s in self.shapes if (e := self._section(s)) is not None]
        options += [e for c in self.envelope.calls if (e := self._raw_call(c)) is not None]
        if not options:
            if not self.shared.problems:
                self.shared.problems.append(
                    Problem("unsatisfiable", "no tool can be called with any arguments")
                )
            return None
        return self.shared.rules.define(self.shared.names.fresh("calls"), choice(*options))

    def _section(self, shape: Shape) -> Expr | None:
        call = self._call(shape)
        if call is None:
            return None
        most = self.envelope.max_calls
        if shape.calls.max is not None:
            most = shape.calls.max if most is None else min(most, shape.calls.max)
        least = max(self.envelope.min_calls, 1)
        more = None if most is None else most - 1
        if more is not None and least - 1 > more:
            return None
        separator = markup(shape.calls.separator, self.spec.tokens)
        rest = Repeat(sequence(separator, call), least - 1, more) if more != 0 else EMPTY
        return sequence(
            markup(shape.section.open, self.spec.tokens),
            call,
            rest,
            markup(shape.section.close, self.spec.tokens),
        )

    def _call(self, shape: Shape) -> RuleRef | None:
        """One call of any tool; what stands before the name is shared, the names are a trie."""
        layout = value_layout(self.spec, shape.args, shape.json, self.gaps, shape.value_closer)
        at = next(i for i, p in enumerate(shape.call) if isinstance(p, Hole) and p.name == "name")
        before = [self._part(p, shape) for p in shape.call[:at]]
        behind_it = [None if _is_own(p) else self._part(p, shape) for p in shape.call[at + 1 :]]
        options = []
        for call in self.envelope.calls:
            if kind_of(self.spec, call) is not None:
                continue
            option = self._one_tool(call, shape, layout, behind_it)
            if option is not None:
                options.append(option)
        if not options:
            return None
        expr = sequence(*before, trie(options))
        return self.shared.rules.define(self.shared.names.fresh("call"), expr)

    def _one_tool(
        self, call: Call, shape: Shape, layout: Layout, behind_it: list[Expr | None]
    ) -> tuple[str, Expr] | None:
        """The tool's name as written, and the rest of its call.

        `behind_it`: what follows the name, None for what is the tool's own.
        """
        at = len(shape.call) - len(behind_it) - 1
        first = shape.call[at]
        assert isinstance(first, Hole)
        try:
            name = tool_name(self.spec, call, first, shape)
        except CalligramError as error:
            self.shared.problems += error.problems
            return None
        notation = TreeArguments if shape.args.notation == "tree" else ArgumentsLowering
        lowering = notation(
            self.shared, shape, layout, call.arguments.definitions, call.name, self.spec.tokens
        )
        value = call.arguments.value
        arguments: Expr | None
        if lowering.is_plain(value):
            rule = self.shared.names.fresh(call.name, "args")
            arguments = self.shared.rules.define(rule, lambda: lowering.surely(value))
        else:
            arguments = lowering.arguments(value)
        if arguments is None:
            if not self.shared.problems:
                message = "no arguments can be written for this tool"
                self.shared.problems.append(Problem("not-carryable", message, call.origin))
            return None
        if not isinstance(arguments, (RuleRef, Literal)):
            rule = self.shared.names.fresh(call.name, "args")
            arguments = self.shared.rules.define(rule, arguments)
        parts: list[Expr] = []
        for part, same in zip(shape.call[at + 1 :], behind_it, strict=True):
            if same is not None:
                parts.append(same)
            elif isinstance(part, Hole) and part.name == "args":
                parts.append(arguments)
            elif isinstance(part, Hole):
                parts.append(Literal(tool_name(self.spec, call, part, shape)))
        if isinstance(arguments, Literal):
            return name, sequence(*parts)
        # What stands behind a text is looked into where the text begins. A sequence is not, so that
        # no arguments are built before their tool's name is written.
        own = next(i for i, part in enumerate(parts) if part is arguments)
        begun = sequence(*parts[:own])
        first_items = begun.items if isinstance(begun, Sequence) else (begun,)
        later = sequence(arguments, *parts[own + 1 :])
        later = later if isinstance(later, Sequence) else Sequence((later,))
        return name, Sequence((*first_items, later))

    def _raw_call(self, call: Call) -> Expr | None:
        """The call of a tool whose body is raw text; it is the only one of its turn."""
        kind = kind_of(self.spec, call)
        if kind is None or self.envelope.min_calls > 1:
            return None
        key = body_key(kind, call)
        assert key is not None
        layout = replace(Layout("raw", is_json=False), avoid=body_stops(self.spec, kind))
        values = ValueLowering(self.shared, layout, call.arguments.definitions, call.name)
        parts: list[Expr] = []
        template = kind_parts(kind)
        for at, part in enumerate(template):
            following = template[at + 1] if at + 1 < len(template) else ""
            behind_it = following if isinstance(following, str) else ""
            if isinstance(part, str):
                parts.append(markup(part, self.spec.tokens))
            elif part.name == "body":
                raw = (PLAIN,)
                value = key.value
                expr = (
                    values.texts.enum(value, raw, behind_it)
                    if isinstance(value, EnumValue)
                    else values.texts.string(value, raw, behind_it)
                    if isinstance(value, StringValue)
                    else None
                )
                if expr is None:
                    return None
                parts.append(expr)
            elif part.name == "name":
                quoted = escaped(call.name, "json", '"')
                parts.append(Literal(f'"{quoted}"' if part.form == "json" else call.name))
        return sequence(*parts)

    def _part(self, part: str | Hole, shape: Shape) -> Expr:
        """A literal, an id or an index."""
        if isinstance(part, str):
            return markup(part, self.spec.tokens)
        if part.name == "index":
            more = Repeat(DIGIT, 0, MAX_INDEX_DIGITS - 1)
            return Choice((Literal("0"), Sequence((NONZERO, more))))
        assert part.name == "id", part
        language = Language.pattern(
            shape.call_id.pattern or r"^[A-Za-z0-9_-]{1,64}$", origin=Origin("/call_id/pattern")
        )
        following = shape.after_id()
        if following:
            language = language & Language.avoiding((), following)
        expr = Regular(spell(language.dfa, "none", ""), 0, 64, "a call id")
        return optional(expr) if shape.call_id.optional else expr


def _is_own(part: str | Hole) -> bool:
    """Whether a part of a call is another one for each tool."""
    return isinstance(part, Hole) and part.name in ("args", "name")
