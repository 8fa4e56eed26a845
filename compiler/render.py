"""Calls -> text: the inverse of the parser, from the same shape and layout.

What the notation cannot carry is refused (code ``not-carryable``), never altered.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .decode import TooDeep, decode_untyped
from .decode_tree import Branch, TreeDecoder
from .errors import RenderError
from .ir import Call, Value
from .limits import MAX_NESTING, too_deep
from .lower.arguments import attribute_of, json_type, object_parts
from .lower.elements import Elements
from .lower.kinds import body_stops, kind_of, kind_parts
from .lower.layout import Gaps, Layout, value_layout
from .lower.shape import Shape, shapes
from .lower.spelling import PLAIN, StringStyle, preferred, raw_fits
from .lower.tree_writer import MISSING, TreeWriter, difference
from .lower.turn import MAX_INDEX_DIGITS
from .lower.writer import Writer, check_written, not_carryable, write_string
from .membership import contains
from .origin import Origin, did_you_mean
from .regular.language import Language
from .spec import DialectSpec, ToolKindSpec
from .template import Hole

_INDEX = re.compile(rf"0|[1-9][0-9]{{0,{MAX_INDEX_DIGITS - 1}}}")


class CallRenderer:
    """Writes calls in a dialect's own shape.

    Args:
        calls: the tools, by which values are typed.
        order: the grammar's key order. "schema" writes keys in schema order; "any" as the dialect
            writes its history, else as given.
        spelled: null, true and false that are arguments in the first spelling that `literals` has,
            which templates write, not as the JSON that is enforced.
    """

    def __init__(
        self, spec: DialectSpec, calls: Sequence[Call], order: str, *, spelled: bool = False
    ) -> None:
        self.spec = spec
        self.order = order
        self.spelled = spelled
        self.tools = {c.name: c for c in calls}
        self.shape: Shape = shapes(spec)[0]
        self.layout: Layout = value_layout(spec, self.shape.args, self.shape.json, Gaps())

    def render(
        self,
        calls: Sequence[Mapping[str, Any]],
        *,
        validate: bool = True,
        prefilled: bool = True,
    ) -> str:
        """The text of a turn with these calls.

        Args:
            validate: what the notation can write and no grammar of it lets through is refused too.
            prefilled: the prompt holds the prefill; without, it is part of the text.

        Raises:
            RenderError: a call of an unknown form or tool, or one that cannot be written.
        """
        if not calls:
            raise RenderError.at("no-calls", "there is no call to render")
        for index, call in enumerate(calls):
            _check_form(call, Origin(f"/{index}"))
        most = self.shape.calls.max
        if most is not None and len(calls) > most:
            message = f"a turn of this dialect holds {most} call at most"
            raise not_carryable(message, Origin(f"/{most}"))
        texts = [self._call(call, index, validate=validate) for index, call in enumerate(calls)]
        section = self.shape.section
        if self._kind(calls[0]) is not None:
            text = texts[0]
            if len(texts) > 1:
                raise not_carryable("a call with a raw body is the only one", Origin("/1"))
        else:
            text = section.open + self.shape.calls.separator.join(texts) + section.close
        prefill = self.spec.prefill
        return text.removeprefix(prefill) if prefill and prefilled else text

    def _kind(self, call: Mapping[str, Any]) -> ToolKindSpec | None:
        """The raw-body kind of a call's tool."""
        tool = self.tools.get(str(call.get("name")))
        return kind_of(self.spec, tool) if tool is not None else None

    def _raw_call(self, tool: Call, kind: ToolKindSpec, arguments: Mapping[str, Any]) -> str:
        """A call whose body is raw text."""
        origin = Origin("/arguments", tool.name)
        body = arguments.get(kind.parameter)
        if not isinstance(body, str) or len(arguments) != 1:
            raise not_carryable(
                f"the call holds '{kind.parameter}', a text, and nothing else", origin
            )
        layout = replace(self.layout, avoid=body_stops(self.spec, kind))
        parts = []
        template = kind_parts(kind)
        for at, part in enumerate(template):
            following = template[at + 1] if at + 1 < len(template) else ""
            closer = following if isinstance(following, str) else ""
            match part:
                case str():
                    parts.append(part)
                case Hole(name="body"):
                    parts.append(write_string(body, PLAIN, closer, layout, origin))
                case Hole(form="json"):
                    quoted = StringStyle('"', '"', "json")
                    parts.append(write_string(tool.name, quoted, "", layout, origin))
                case _:
                    parts.append(tool.name)
        return "".join(parts)

    def _call(self, call: Mapping[str, Any], index: int, *, validate: bool) -> str:
        at = Origin(f"/{index}")
        name, arguments = call["name"], call.get("arguments", {})
        check_written(dict(arguments), Origin("/arguments", name))
        tool = self.tools.get(name)
        if tool is None:
            raise RenderError.at(
                "unknown-tool", f"no tool is named '{name}'", at.child("name"),
                did_you_mean(name, self.tools),
            )  # fmt: skip
        kind = kind_of(self.spec, tool)
        if kind is not None:
            return self._raw_call(tool, kind, arguments)
        origin = Origin("/arguments", name)
        parts = []
        for part in self.shape.call:
            match part:
                case str():
                    parts.append(part)
                case Hole(name="name"):
                    parts.append(self._name(name, part, origin))
                case Hole(name="args"):
                    parts.append(self._arguments(dict(arguments), tool, origin, validate=validate))
                case Hole(name="index"):
                    parts.append(self._number(call, index))
                case _:
                    parts.append(self._identity(call, index, at))
        return "".join(parts)

    def _name(self, name: str, hole: Hole, origin: Origin) -> str:
        if hole.form == "json":
            style = StringStyle('"', '"', self.shape.name_escape())
            return write_string(name, style, "", self.layout, origin)
        endings = self.shape.after_name()
        if not all(raw_fits(name, e, self.layout.avoid) for e in endings) or any(
            stop in name for stop in self.shape.name_stops(self.spec)
        ):
            raise not_carryable(f"the name {name!r} would be ended early", origin)
        return name

    def _number(self, call: Mapping[str, Any], index: int) -> str:
        """The call's number: its id where that is one, else counted from the base."""
        given = call.get("id")
        if isinstance(given, str) and _INDEX.fullmatch(given):
            return given
        return str(self.shape.call_id.base + index)

    def _identity(self, call: Mapping[str, Any], index: int, at: Origin) -> str:
        """The call's id if it has one of the right form, else one made of its position."""
        pattern = self.shape.call_id.pattern or r"^[A-Za-z0-9_-]{1,64}$"
        language = Language.pattern(pattern, origin=at)
        given = call.get("id")
        if isinstance(given, str):
            if not language.accepts(given):
                raise not_carryable(f"the id {given!r} does not match {pattern}", at.child("id"))
            return given
        made = (f"{index:0{width}d}" for width in range(1, 65))
        found = next((m for m in made if language.accepts(m)), None)
        found = language.dfa.shortest() if found is None else found
        assert found is not None
        return found

    # Arguments ------------------------------------------------------------------------------

    def _arguments(
        self, arguments: dict[str, Any], tool: Call, origin: Origin, *, validate: bool
    ) -> str:
        args = self.shape.args
        definitions = tool.arguments.definitions
        parts = object_parts(tool.arguments.value, definitions)
        kind = next((p for p in parts if contains(p, definitions, arguments)), None)
        kind = kind or (parts[0] if parts else None)
        if self.order == "any" and args.key_order == "sorted":
            arguments = _sorted(arguments)
        if not arguments and args.empty is not None:
            return args.empty
        if args.notation == "tree":
            return self._tree(arguments, kind, tool, origin, validate=validate)
        writer = Writer(self.layout, definitions)
        writer.margin = self.shape.args_margin()
        if args.notation in ("json", "bare-dict"):
            if self.order == "any":
                writer.keep_order = True
            return writer.write(arguments, kind, origin)
        pairs: list[tuple[str, Value | None]] = writer.ordered(arguments, kind)
        if self.order == "any":
            kinds = dict(pairs)
            pairs = [(name, kinds[name]) for name in arguments]
            writer.keep_order = True
        texts = [self._param(n, arguments[n], k, writer, origin.child(n)) for n, k in pairs]
        return args.open + args.separator.join(texts) + args.close

    def _tree(
        self,
        arguments: dict[str, Any],
        kind: Value | None,
        tool: Call,
        origin: Origin,
        *,
        validate: bool,
    ) -> str:
        """Arguments as elements, if they read back as what they are."""
        args, definitions = self.shape.args, tool.arguments.definitions
        avoid = tuple(t.text for t in self.spec.tokens if t.match == "require")
        elements = Elements.of(self.shape, avoid)
        writer = TreeWriter(self.layout, definitions, elements, declared_only=validate)
        writer.keep_order = self.order == "any"
        text, members = writer.members(arguments, kind, origin)
        decoder = TreeDecoder(definitions, args.literals, omits_null=args.null == "omit")
        read = decoder.decode(Branch("object", members), tool.arguments.value)
        found = difference(arguments, read)
        if found is not None:
            path, value, other = found
            raise not_carryable(
                f"{_shown(value)} would be read as {_shown(other)}",
                origin.child(*path),
                "this notation does not tell them apart, and the schema does not either",
            )
        return args.empty if not text and args.empty is not None else args.open + text + args.close

    def _param(
        self, name: str, value: Any, kind: Value | None, writer: Writer, origin: Origin
    ) -> str:
        parts = []
        for at, part in enumerate(self.shape.param):
            following = self.shape.param[at + 1] if at + 1 < len(self.shape.param) else ""
            behind = following if isinstance(following, str) else ""
            match part:
                case str():
                    parts.append(part)
                case Hole(name="key", form="json"):
                    style = StringStyle('"', '"', "json")
                    parts.append(write_string(name, style, "", self.layout, origin))
                case Hole(name="key"):
                    if not self.shape.carries_key(name, behind, self.layout.avoid):
                        raise not_carryable(f"the argument name {name!r} cannot be written", origin)
                    parts.append(name)
                case Hole(name="type"):
                    parts.append(attribute_of(self.shape.args.type_attr, json_type(value)) or "")
                case _:
                    parts.append(self._value(value, kind, writer, origin))
        return "".join(parts)

    def _value(self, value: Any, kind: Value | None, writer: Writer, origin: Origin) -> str:
        """A tagged or keyword value."""
        args = self.shape.args
        plain = args.notation == "tagged" or self.layout.is_json
        if self.spelled and plain and isinstance(value, bool | None):
            writer = Writer(replace(self.layout, literals=args.literals), writer.definitions)
        if args.notation == "kwargs":
            return writer.write(value, kind, origin)
        if not isinstance(value, str):
            text = writer.write(value, kind, origin)
            if not raw_fits(text, self.shape.value_closer, self.layout.avoid):
                raise not_carryable("the value holds a marker, which would end it early", origin)
            return text
        problem: RenderError | None = None
        for style in preferred(self.shape.raw_styles(), value):
            try:
                return self._raw_text(value, kind, writer, origin, style)
            except RenderError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    def _raw_text(
        self, value: str, kind: Value | None, writer: Writer, origin: Origin, style: StringStyle
    ) -> str:
        """A tagged string in one style, if it is read back from there."""
        args = self.shape.args
        text = writer.write(value, None, origin, self.shape.value_closer, style)
        if args.type_attr is None and not style.open:
            try:
                read = decode_untyped(text, kind, writer.definitions, args)
            except TooDeep:
                read = None
            if not isinstance(read, str) or read != value:
                raise not_carryable(
                    f"the string {value!r} would be read as {json_type(read)} here: this notation "
                    "does not mark strings, and the schema allows both",
                    origin,
                )
        return text


def _check_form(call: Any, at: Origin) -> None:
    """Raise RenderError unless this is a call whose arguments can be walked."""
    arguments = call.get("arguments", {}) if isinstance(call, Mapping) else None
    if not isinstance(arguments, Mapping) or not isinstance(call.get("name"), str):
        raise RenderError.at("invalid-call", 'a call is {"name": text, "arguments": object}', at)
    if too_deep(arguments):
        at = at.child("arguments")
        raise not_carryable(f"nested more than {MAX_NESTING} deep", at)


def _sorted(value: Any) -> Any:
    match value:
        case dict():
            return {k: _sorted(value[k]) for k in sorted(value)}
        case list():
            return [_sorted(v) for v in value]
        case _:
            return value


def _shown(value: Any) -> str:
    text = repr(value) if value is MISSING else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
