"""The dialect model: how one model family writes tool calls, as data.

YAML -> ``spec_loader`` -> **this** -> ``lower``. Keys are strict: an unknown one is an error. The
meaning of each field is its description here; docs/reference/spec-format.md and the editors' JSON
Schema are generated from them. ``extends`` and ``vars`` are resolved by the loader and never seen
here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(min_length=1)]


class Part(BaseModel):
    """Base of every part of a spec: unknown keys are refused, values are fixed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def with_tuples(value: Any) -> Any:
    """The same data with tuples for lists, as the models are strict about."""
    if isinstance(value, list):
        return tuple(map(with_tuples, value))
    if isinstance(value, dict):
        return {key: with_tuples(inner) for key, inner in value.items()}
    return value


class TokenSpec(Part):
    """A marker that the model's vocabulary has as one token."""

    text: Text = Field(description="How the token is spelled.")
    match: Literal["require", "prefer", "either"] = Field(
        default="prefer",
        description="`require`: as the token only, its text is forbidden in raw values. `prefer`: "
        "as the token if the vocabulary has it, else as text. `either`: both are taken.",
    )


class ReasoningSpec(Part):
    """The block of reasoning before the answer."""

    open: Text = Field(description="Opens the block.")
    close: Text = Field(description="Closes it.")
    after: str = Field(
        default="", description="What the template writes between the block and the answer."
    )
    implicit_close: tuple[Text, ...] = Field(
        default=(),
        description="Texts that end the block although it was not closed (a call's opener).",
    )


class ContentForm(Part):
    """One way to wrap plain text."""

    open: str = Field(default="", description="Before plain text.")
    close: str = Field(default="", description="After plain text.")


class ContentSpec(ContentForm):
    """How plain text is wrapped, and whether it may accompany calls."""

    alternatives: tuple[ContentForm, ...] = Field(
        default=(), description="Other ways to wrap it; all are taken."
    )
    with_calls: Literal["before", "exclusive", "after", "any"] = Field(
        default="before", description="Where plain text may stand in a turn that also has calls."
    )


class SectionSpec(Part):
    """What stands once around all the calls of a turn."""

    open: str = Field(default="", description="Before the first call.")
    close: str = Field(default="", description="After the last call.")


class CallsSpec(Part):
    """How several calls stand together."""

    separator: str = Field(default="", description="Between two calls.")
    max: Annotated[int, Field(ge=1)] | None = Field(
        default=None,
        description="The most calls one turn can hold; 1 = the dialect has no parallel calls.",
    )


class CallIdSpec(Part):
    """How the holes `{id}` and `{index}` are filled."""

    kind: Literal["none", "pattern", "counter"] = Field(
        default="none",
        description="`pattern`: the model invents it. `counter`: calls are numbered.",
    )
    pattern: str | None = Field(
        default=None, description="Anchored regular expression an id must match."
    )
    base: Annotated[int, Field(ge=0)] = Field(default=0, description="The counter's first number.")
    scope: Literal["turn", "conversation"] = Field(
        default="turn", description="Where the counter starts anew."
    )
    optional: bool = Field(default=False, description="The id may be missing.")


class StringForm(Part):
    """One way to write a string."""

    open: str = Field(default="", description="Before the text.")
    close: str = Field(
        default="",
        description="After the text. Empty in a tagged dialect: the literal after `{value}`.",
    )
    escape: Literal["none", "json", "python", "xml"] = Field(
        default="none",
        description="How characters are escaped; `none` = any text without the closer.",
    )
    when: tuple[Text, ...] = Field(
        default=(),
        description="A text that holds one of these is written in this form; all forms are "
        "accepted for every text.",
    )
    closes_before: str = Field(
        default="",
        description="Characters one of which stands behind a string (white space may come first): "
        "`close` before anything else belongs to the text. Only with `escape: none`.",
    )


class StringSpec(StringForm):
    """How strings are written; the first form is the one to write."""

    alternatives: tuple[StringForm, ...] = Field(
        default=(), description="Other forms that are accepted."
    )


class LiteralsSpec(Part):
    """Spellings of null, true and false: the first is written and enforced, others are read."""

    null: tuple[Text, ...] = Field(default=("null",), description="Spellings of null.")
    true: tuple[Text, ...] = Field(default=("true",), description="Spellings of true.")
    false: tuple[Text, ...] = Field(default=("false",), description="Spellings of false.")


class TypeAttrSpec(Part):
    """The value of the hole `{type}` by JSON type."""

    string: str | None = Field(default=None, description="For strings.")
    number: str | None = Field(default=None, description="For numbers.")
    integer: str | None = Field(default=None, description="For whole numbers, if not as numbers.")
    boolean: str | None = Field(default=None, description="For true and false.")
    null: str | None = Field(default=None, description="For null.")
    array: str | None = Field(default=None, description="For arrays.")
    object: str | None = Field(default=None, description="For objects.")
    default: str | None = Field(default=None, description="For the types not named.")


class ArgsSpec(Part):
    """How a call's arguments are written."""

    notation: Literal["json", "tagged", "kwargs", "bare-dict", "tree"] = Field(
        description="`json`: one JSON object. `tagged`: one element per argument. `kwargs`: "
        "key=value as in a Python call. `bare-dict`: braces with unquoted keys, at every depth. "
        "`tree`: one element per member and item, at every depth."
    )
    open: str = Field(default="", description="Before the arguments (tagged, kwargs, tree).")
    close: str = Field(default="", description="After the arguments (tagged, kwargs, tree).")
    empty: str | None = Field(
        default=None, description="Stands for the whole container when there are no arguments."
    )
    separator: str = Field(default="", description="Between two arguments (tagged, kwargs).")
    param: str | None = Field(
        default=None,
        description="One argument: holes `{key}`, `{value}`, perhaps `{type}` (tagged, kwargs). "
        "In `tree` one member of an object at any depth; `{key}` may repeat.",
    )
    item: str | None = Field(
        default=None,
        description="One item of an array: holes `{value}`, perhaps `{type}` (tree).",
    )
    type_attr: TypeAttrSpec | None = Field(default=None, description="What `{type}` says.")
    key_quote: Literal["bare", "quoted"] = Field(
        default="bare", description="How keys are written in a bare-dict."
    )
    key_order: Literal["schema", "sorted", "any"] = Field(
        default="schema", description="The order in which history is rendered."
    )
    string: StringSpec | None = Field(
        default=None,
        description="How strings are written. JSON strings unless given; raw in `tagged` and "
        "`tree`.",
    )
    literals: LiteralsSpec = Field(
        default=LiteralsSpec(),
        description="null, true, false. Where values are JSON (`tagged`, `containers: json`), JSON "
        "is written and enforced, and an argument that is one of these words is read.",
    )
    containers: Literal["json", "python", "recurse"] | None = Field(
        default=None,
        description="How nested objects and arrays are written. Unless given: `json` in json and "
        "tagged, `python` in kwargs, `recurse` in bare-dict and tree. With `json` in kwargs every "
        "value is JSON, strings too.",
    )
    null: Literal["emit", "omit"] = Field(
        default="emit",
        description="`omit`: a member that is null is not written, and an item that is null is "
        "empty (tree).",
    )
    read_python: bool = Field(
        default=False,
        description="Nested objects and arrays are also read as Python writes them (tagged).",
    )


class JsonSpec(Part):
    """Layout of embedded JSON."""

    separators: tuple[str, str] = Field(
        default=(", ", ": "), description="Between members, and between key and value."
    )
    ascii: bool = Field(
        default=False, description="Non-ASCII characters are written as \\u escapes."
    )
    whitespace: Literal["exact", "free"] | Annotated[int, Field(ge=1)] = Field(
        default="exact",
        description="`exact`: the separators as given. `free` or a number: JSON whitespace may "
        "stand between tokens, up to that many characters a gap.",
    )
    indent: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Indentation when rendering; enforced as `free` whitespace."
    )


class TriggerSpec(Part):
    """What arms the constraint under tool_choice auto. Exactly one of text, token, pattern."""

    text: Text | None = Field(default=None, description="Text that arms.")
    token: Text | None = Field(default=None, description="One of `tokens` that arms.")
    pattern: Text | None = Field(
        default=None, description="Regular expression without look-around."
    )
    at: str = Field(
        default="anywhere",
        description="`anywhere`, `message_start`, or `after: TEXT` with the text.",
    )
    per_tool: bool = Field(
        default=False, description="`{name}` in the text stands for each tool's name."
    )
    not_: tuple[Text, ...] = Field(
        default=(),
        alias="not",
        description="Texts that must not follow (the pattern has no look-around).",
    )


class TurnEndSpec(Part):
    """How the turn ends."""

    tokens: tuple[Text, ...] = Field(
        default=(),
        description="Tokens that end the turn. One text may hold several; it is taken one by one.",
    )
    not_stop: tuple[Text, ...] = Field(
        default=(), description="Look-alikes inside the turn that a host must not stop at."
    )


class ToolKindSpec(Part):
    """Tools whose body is raw text, not arguments."""

    names: tuple[Text, ...] = Field(description="The tools of this kind.")
    parameter: Text = Field(default="code", description="The argument that the body fills.")
    call: Text = Field(description="Template with the holes `{name}` and `{body}`.")
    raw_until: tuple[Text, ...] = Field(
        default=(), description="Texts that the body cannot contain."
    )


class DialectSpec(Part):
    """One dialect, all inheritance resolved."""

    id: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")] = Field(
        description="Lower-case words joined by dashes."
    )
    families: tuple[Text, ...] = Field(default=(), description="Model families that write it.")
    source: str = Field(
        default="", description="The chat template or document this was taken from."
    )
    verified: str = Field(default="", description="What was checked against the source, and how.")
    tokens: tuple[TokenSpec, ...] = Field(default=(), description="Markers that are single tokens.")
    prefill: str = Field(
        default="",
        description="The end of the generation prompt that belongs to the dialect's text.",
    )
    reasoning: ReasoningSpec | None = Field(
        default=None, description="The reasoning block, if any."
    )
    content: ContentSpec = Field(default=ContentSpec(), description="Plain text beside calls.")
    lead_in: str = Field(
        default="", description="Between content or reasoning and the first call; may be left out."
    )
    section: SectionSpec = Field(default=SectionSpec(), description="Around all calls.")
    calls: CallsSpec = Field(default=CallsSpec(), description="Several calls.")
    call: Text = Field(
        description="One call: literal text with the holes `{name}`, `{name:json}`, `{id}`, "
        "`{index}`, `{args}`. A hole may repeat; other braces are literal."
    )
    call_id: CallIdSpec = Field(default=CallIdSpec(), description="Ids and indices.")
    args: ArgsSpec = Field(description="The arguments' notation.")
    json_layout: JsonSpec = Field(default=JsonSpec(), alias="json", description="Layout of JSON.")
    triggers: tuple[TriggerSpec, ...] = Field(default=(), description="What arms the constraint.")
    turn_end: TurnEndSpec = Field(default=TurnEndSpec(), description="How the turn ends.")
    accept: tuple[DialectShape, ...] = Field(
        default=(),
        description="Other shapes that are read; enforced too where they say `constrain`.",
    )
    tool_kinds: dict[str, ToolKindSpec] = Field(default={}, description="Tools with a raw body.")
    history: tuple[DialectShape, ...] = Field(
        default=(),
        description="Shapes in which chat templates write history by mistake: neither enforced nor "
        "read, but no difference to `dialects check`.",
    )

    def shapes(self) -> tuple[DialectSpec, ...]:
        """The dialect itself, then as each entry of `accept` has it, in that order.

        Raises:
            pydantic.ValidationError: the `args` of an entry do not fit; the loader has checked.
        """
        base = self.model_copy(update={"accept": (), "history": ()})
        return (base, *(shape.applied_to(base) for shape in self.accept))


class DialectShape(Part):
    """A further shape of the dialect's calls: the parts that differ from the spec's own."""

    constrain: bool = Field(
        default=False, description="The grammar allows it too, not only the parser."
    )
    lead_in: str | None = Field(default=None, description="In place of `lead_in`.")
    section: SectionSpec | None = Field(default=None, description="In place of `section`.")
    calls: CallsSpec | None = Field(default=None, description="In place of `calls`.")
    call: Text | None = Field(default=None, description="In place of `call`.")
    call_id: CallIdSpec | None = Field(default=None, description="In place of `call_id`.")
    args: dict[str, object] | None = Field(
        default=None, description="The keys of `args` that differ; the others stay."
    )
    json_layout: JsonSpec | None = Field(
        default=None, alias="json", description="In place of `json`."
    )

    def applied_to(self, spec: DialectSpec) -> DialectSpec:
        """`spec` with this shape's parts in place of its own."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        parts = {k: v for k, v in given.items() if v is not None and k in type(spec).model_fields}
        if self.args is not None:
            parts["args"] = ArgsSpec.model_validate({**spec.args.model_dump(), **self.args})
        return spec.model_copy(update=parts)


DialectSpec.model_rebuild()
