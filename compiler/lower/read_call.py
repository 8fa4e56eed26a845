"""One call as it is read: names, ids, arguments, and the literals around them, spaced freely."""

from __future__ import annotations

import re
from collections.abc import Sequence as Seq
from typing import Final

from ..grammar import (
    EMPTY,
    Capture,
    Cut,
    Decode,
    Expr,
    Literal,
    Regular,
    Repeat,
    Sequence,
    Slot,
    choice,
    optional,
    sequence,
)
from ..regular.language import Language
from ..spec import DialectSpec
from ..template import Hole, Part
from .keys import solid_text
from .layout import Gaps, Layout, value_layout
from .raw import raw_text
from .read_tree import ReadTree
from .read_values import ANY_CHAR, ReadValues, decoding
from .shape import Shape
from .spelling import DIGIT, spell
from .texts import unopened

CUT: Final = Cut()
_PUNCTUATION: Final = "{}[]:,"
_SEAM: Final = re.compile(r">(?=[<\[{])|[\]}](?=<)")


class ReadCalls:
    """The calls of one dialect.

    Args:
        names: the declared tools; used only where nothing but its name marks a call.
    """

    def __init__(self, spec: DialectSpec, names: Seq[str], values: ReadValues) -> None:
        self.spec = spec
        self.names = sorted(names, key=lambda n: (-len(n), n))
        self.values = values

    def between(self, separator: str) -> Expr:
        """A separator whose visible part must be there; white space around it is free."""
        if self.values.exact:
            return Literal(separator)
        visible = separator.strip()
        gap = self.values.gap
        return self.merged([gap, self.literal(visible), gap]) if visible else gap

    def call(self, shape: Shape) -> Expr:
        layout = value_layout(self.spec, shape.args, shape.json, Gaps())
        last = max(i for i, p in enumerate(shape.call) if isinstance(p, Hole) and p.name == "name")
        parts: list[Expr] = []
        for at, part in enumerate(shape.call):
            if isinstance(part, str):
                parts.append(self.call_literal(self._behind(part, shape, at), shape, at))
            elif part.name == "args":
                # White space comes before the cut: on nothing but visible text does a call begin.
                tagged = shape.args.notation in ("tagged", "tree")
                parts += [self.values.gap, CUT] if tagged else [CUT]
                parts.append(self._arguments(shape, layout))
                if not tagged:
                    parts.append(self.values.gap)
            elif part.name == "name":
                slot = Slot("name", "json" if part.form == "json" else "bare")
                parts.append(Capture(slot, self._name(part, shape)))
                if at == last and "args" not in {
                    p.name for p in shape.call[at:] if isinstance(p, Hole)
                }:
                    parts.append(CUT)
            else:
                parts.append(Capture(Slot("id", "bare"), self.identity(shape, at)))
        return Capture(Slot("call"), self.merged(parts))

    def _behind(self, text: str, shape: Shape, at: int) -> str:
        """A literal of the call template. Behind tagged arguments, of which there may be none, its
        first white space is in their gaps: what comes before the cut must not be behind it too."""
        before = shape.call[at - 1] if at else ""
        args = isinstance(before, Hole) and before.name == "args"
        gaps = args and shape.args.notation == "tagged" and not shape.args.close
        return text.lstrip() if gaps and not self.values.exact else text

    def call_literal(self, text: str, shape: Shape, at: int) -> Expr:
        """A literal of the call template; JSON punctuation in it may be spaced freely."""
        if self.values.exact:
            return Literal(text)
        spaced = any(isinstance(p, Hole) and p.form == "json" for p in shape.call)
        edge = at + 1 < len(shape.call)
        if not spaced:
            return self.literal(text, keep_end=edge)
        parts: list[Expr] = []
        quoted = False
        for char in text:
            if char == '"':
                quoted = not quoted
            if not quoted and char in _PUNCTUATION:
                parts += [self.values.gap, Literal(char), self.values.gap]
            elif not quoted and char.isspace():
                parts.append(self.values.gap)
            else:
                parts.append(Literal(char))
        return self.merged(parts)

    def literal(self, text: str, *, keep_end: bool = False) -> Expr:
        """A literal whose white space may vary; with `keep_end` the last of it stays as it is
        (it may be what ends or begins a raw text)."""
        if self.values.exact:
            return Literal(text)
        parts: list[Expr] = []
        stripped = text.rstrip() if keep_end else text
        seams = self._seams(stripped)
        for at, char in enumerate(stripped):
            if at in seams:
                parts.append(self.values.gap)
            parts.append(self.values.gap if char.isspace() else Literal(char))
        if keep_end and len(stripped) < len(text):
            parts.append(self.values.gap)
        return self.merged(parts)

    def _seams(self, text: str) -> set[int]:
        """Where tags, or a tag and a bracket, touch in a literal, and not inside a token: readers
        take white space there."""
        tokens = (t.text for t in self.spec.tokens if len(t.text) > 1)
        inside = {
            at
            for token in tokens
            for found in re.finditer(re.escape(token), text)
            for at in range(found.start() + 1, found.end())
        }
        return {found.start() + 1 for found in _SEAM.finditer(text)} - inside

    def merged(self, parts: list[Expr]) -> Expr:
        """Gaps that touch are one gap."""
        out: list[Expr] = []
        for part in parts:
            for item in part.items if isinstance(part, Sequence) else (part,):
                if item is self.values.gap and out and out[-1] is self.values.gap:
                    continue
                out.append(item)
        return sequence(*out)

    def _name(self, hole: Hole, shape: Shape) -> Expr:
        if hole.form == "json":
            return self.values.json_string()
        if shape.known_by_name():
            return choice(*(Literal(n) for n in self.names)) if self.names else ANY_CHAR
        stops = tuple(dict.fromkeys((*shape.name_stops(self.spec), *self.values.avoid)))
        language = Language.avoiding(stops) - Language.words([""])
        if self.values.exact:
            # No tool's name has white space at its ends; where it is read, it is layout.
            language = language & solid_text()
        for ending in shape.after_name():
            if ending.strip():
                language = language & Language.avoiding((), ending)
        return Regular(spell(language.dfa, "none", ""), 1, None, "a tool's name")

    def identity(self, shape: Shape, at: int) -> Expr:
        part = shape.call[at]
        assert isinstance(part, Hole)
        if part.name == "index":
            return Repeat(DIGIT, 1, None)
        following = shape.call[at + 1] if at + 1 < len(shape.call) else ""
        stop = following if isinstance(following, str) else shape.args_opening()
        language = Language.avoiding((), stop) if stop else Language.any()
        return Regular(spell(language.dfa, "none", ""), 0, None, "a call id")

    def _arguments(self, shape: Shape, layout: Layout) -> Expr:
        args = shape.args
        container: Expr
        if args.notation == "json":
            container = Capture(Slot("arguments", "json"), self.values.json_object())
        elif args.notation == "bare-dict":
            container = Capture(Slot("arguments"), self.values.braces(layout))
        elif args.notation == "tree":
            slot = Slot("arguments", "tree", args.null == "omit")
            container = Capture(slot, ReadTree(self, shape).arguments())
        else:
            param = Capture(Slot("member"), self._param(shape, layout))
            between = self.between(args.separator)
            some = sequence(param, Repeat(sequence(between, param), 0, None))
            container = Capture(
                Slot("arguments"),
                sequence(
                    self.literal(args.open) if args.open else EMPTY,
                    optional(sequence(some, self.values.gap) if not args.close else some),
                    self.literal(args.close) if args.close else EMPTY,
                ),
            )
        if args.empty is not None:
            nothing, gap = args.empty, args.notation == "tagged" and not self.values.exact
            # White space is in the gap before the cut.
            nothing = nothing.lstrip() if gap else nothing
            if nothing or not gap or args.open or args.close:
                container = choice(container, Capture(Slot("arguments"), self.literal(nothing)))
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

    def _param_form(
        self, shape: Shape, layout: Layout, attribute: str | None, decode: Decode
    ) -> Expr:
        parts: list[Expr] = []
        for at, part in enumerate(shape.param):
            if isinstance(part, str):
                parts.append(self.param_literal(shape.param, at))
            elif part.name == "key":
                parts.append(self._key_hole(shape, part, at))
            elif part.name == "type":
                parts.append(Literal(attribute or ""))
            elif shape.args.notation == "kwargs":
                parts.append(self.values.value(layout))
            else:
                parts.append(self._raw_value(shape, decode))
        return sequence(*parts)

    def param_literal(self, parts: tuple[Part, ...], at: int) -> Expr:
        """A literal of the param template. Next to the value it stays exact: there, white space
        is either the tag's or the value's."""
        text = parts[at]
        assert isinstance(text, str)
        before = at > 0 and isinstance(hole := parts[at - 1], Hole) and hole.name == "value"
        behind = at + 1 < len(parts)
        after = behind and isinstance(hole := parts[at + 1], Hole) and hole.name == "value"
        if before:
            return Literal(text) if text.strip() == text else self._closing(text)
        return self.before_raw(text) if after else self.literal(text)

    def before_raw(self, text: str) -> Expr:
        """A literal with raw text behind it: its last white space is not the text's."""
        visible = text.rstrip()
        return sequence(self.literal(visible), Literal(text[len(visible) :]))

    def _closing(self, text: str) -> Expr:
        """The literal behind a raw value: its last white space may be missing."""
        visible = text.rstrip()
        if not visible or self.values.exact:
            return Literal(text)
        return sequence(Literal(visible), self.values.gap)

    def _key_hole(self, shape: Shape, hole: Hole, at: int) -> Expr:
        if hole.form == "json":
            return Capture(Slot("key", "json"), self.values.json_string())
        following = shape.param[at + 1] if at + 1 < len(shape.param) else ""
        behind_it = following if isinstance(following, str) else ""
        stops = (*shape.key_stops(behind_it), *self.values.avoid)
        # Not even together with the literal behind it may a key hold that literal earlier.
        language = Language.avoiding(stops, behind_it) - Language.words([""])
        text = Regular(spell(language.dfa, "none", ""), 1, None, "an argument's name")
        return Capture(Slot("key", "bare"), text)

    def _raw_value(self, shape: Shape, decode: Decode) -> Expr:
        """A tagged value: everything up to its closer."""
        closer = shape.value_closer
        forms = []
        for style in shape.raw_styles():
            slot = Slot("value", decoding(style, decode))
            if style.escape == "none":
                language = raw_text(style, closer, self.values.avoid)
                if style.shuns:
                    language = language & unopened(style.shuns)
                text: Expr = Regular(spell(language.dfa, "none", ""), 0, None, "a value")
            else:
                text = self.values.string_body(style)
            forms.append(sequence(Literal(style.open), Capture(slot, text), Literal(style.close)))
        if all(s.open for s in shape.raw_styles()):
            language = Language.avoiding(self.values.avoid, closer)
            plainly = Regular(spell(language.dfa, "none", ""), 0, None, "a value")
            forms.append(Capture(Slot("value", "untyped"), plainly))
        return choice(*forms)
