"""What a manifest may say: strict models, from which docs/reference/manifest.md is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from ..compiler.spec import Part, Text
from .targets import Name

Count = Annotated[int, Field(ge=1)]


class BoundsSettings(Part):
    """What holds where a schema has no bound; what is not said is as by default."""

    string: Count | None = Field(default=None, description="Characters of a string.")
    items: Count | None = Field(default=None, description="Items of an array.")
    keys: Count | None = Field(default=None, description="Keys of an open object.")
    depth: Count | None = Field(default=None, description="Levels of values of any type.")
    recursion: Count | None = Field(
        default=None, description="Levels of a schema that refers to itself."
    )
    digits: Count | None = Field(default=None, description="Digits of a number's parts.")
    exponent: Count | None = Field(default=None, description="Digits of an exponent.")
    whitespace: Count | None = Field(default=None, description="Blanks in one gap.")
    calls: Count | None = Field(default=None, description="Calls of one turn.")


def _form(value: object) -> str:
    return "table" if isinstance(value, (dict, BoundsSettings)) else "plain"


# Told apart by their form, so that what is wrong inside a table is all that is said.
Bounds = Annotated[
    Annotated[BoundsSettings, Tag("table")] | Annotated[Literal["none"], Tag("plain")],
    Discriminator(_form),
]
Documents = Annotated[
    Annotated[dict[Text, Text], Tag("table")] | Annotated[tuple[Text, ...], Tag("plain")],
    Discriminator(_form),
]
Output = Annotated[
    Annotated[dict[Name, Text], Tag("table")] | Annotated[Text, Tag("plain")],
    Discriminator(_form),
]


class BudgetSettings(Part):
    """How far the search for masks goes; what is not said is as by default."""

    states: Count | None = Field(default=None, description="The most states.")
    bytes: Count | None = Field(default=None, description="Bytes of the file, about.")


class GrammarSettings(Part):
    """One grammar, or what holds for all of them. Paths are relative to the manifest's folder."""

    tools: Text | None = Field(
        default=None,
        description="Required. A JSON file with tool definitions (OpenAI, Anthropic or MCP form).",
    )
    only: Annotated[tuple[Text, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Take only these of the file's tools, in the file's order. What the other "
        "tools say no longer matters: if they change, nothing is rebuilt.",
    )
    each: bool | None = Field(
        default=None,
        description="Make one grammar of each tool (of `only`, or of all), rebuilt on its own.",
    )
    dialect: Text | Annotated[tuple[Text, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Required. A shipped dialect's id or a spec file; of a list, one grammar each.",
    )
    targets: Annotated[tuple[Name, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="What to make of it: any of `gbnf`, `regex`, `fsm` (a token table), `mask` (a "
        'mask automaton with masks worked out) and `report` (the report as JSON). `["gbnf"]` '
        "unless given.",
    )
    output: Output | None = Field(
        default=None,
        description="Where files go: a folder if it ends in `/`, else a file's name with holes, "
        "see below; or one for each target. `grammars/` unless given.",
    )
    vocabulary: Text | None = Field(
        default=None,
        description="`fsm` and `mask` need it: a GGUF file, a tokenizer.json or its folder, a "
        "tekken.json or a SentencePiece model.",
    )
    vocabulary_size: Count | None = Field(
        default=None, description="The number of the model's logits, if larger than the file's."
    )
    tool_choice: Literal["required", "auto", "none"] | None = Field(
        default=None,
        description="Must the model call a tool, may it, or must it not. `required` unless given.",
    )
    tool: Annotated[tuple[Text, ...], Field(min_length=1)] | None = Field(
        default=None,
        description="Only these tools may be called, though all are offered (`tool_choice` of "
        "an API that names tools).",
    )
    parallel_tool_calls: bool | None = Field(
        default=None, description="More than one call in one turn. `true` unless given."
    )
    max_calls: Count | None = Field(default=None, description="The most calls in one turn.")
    reasoning: Literal["allow", "none", "opened"] | None = Field(
        default=None,
        description="The reasoning block; `opened`: the prompt has opened it already. `allow` "
        "unless given.",
    )
    key_order: Literal["schema", "any"] | None = Field(
        default=None, description="The order in which keys may come. `schema` unless given."
    )
    on_unsupported: Literal["error", "relax", "drop-tool"] | None = Field(
        default=None,
        description="What to do about a schema that cannot be enforced exactly. `error` unless "
        "given.",
    )
    open_objects: bool | None = Field(
        default=None, description="Objects that do not forbid undeclared keys allow them."
    )
    openapi: bool | None = Field(
        default=None, description="Read `nullable` and `discriminator` as OpenAPI does."
    )
    formats: Literal["assert", "annotate"] | None = Field(
        default=None,
        description="Enforce formats that are known, or only report them. `assert` unless given.",
    )
    unknown_formats: Literal["annotate", "refuse"] | None = Field(
        default=None,
        description="Report formats that nobody defined, or refuse them. `annotate` unless given.",
    )
    whitespace: Literal["exact", "flexible"] | None = Field(
        default=None,
        description="The dialect's own layout, or anything that its notation allows. `exact` "
        "unless given.",
    )
    documents: Documents | None = Field(
        default=None,
        description="Schemas that references may lead to: files that name themselves by `$id`, or "
        "a table from URIs to files.",
    )
    bounds: Bounds | None = Field(
        default=None, description="Bounds where the schema has none; `none` lifts them all."
    )
    max_depth: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="`regex`, `fsm`: how deep values nest that have no bound; only "
        '`bounds = "none"` leaves any.',
    )
    budget: BudgetSettings | None = Field(
        default=None, description="`mask`: how far to search for states."
    )
    samples: tuple[Text, ...] | None = Field(
        default=None, description="`mask`: files with texts that are likely: their masks are kept."
    )


def without_effect(settings: GrammarSettings) -> Iterator[tuple[str, str]]:
    """Keys that are given and change nothing, each with why."""
    targets: Sequence[Name] = settings.targets or ("gbnf",)
    needs: tuple[tuple[str, tuple[Name, ...]], ...] = (
        ("vocabulary", ("fsm", "mask")), ("vocabulary_size", ("fsm", "mask")),
        ("max_depth", ("regex", "fsm")), ("budget", ("mask",)), ("samples", ("mask",)),
    )  # fmt: skip
    for key, wanted in needs:
        if getattr(settings, key) is not None and not set(wanted) & set(targets):
            shown = " and ".join(f"`{target}`" for target in wanted)
            plural = "s" if len(wanted) > 1 else ""
            yield key, f"`{key}` is for the target{plural} {shown}, and `targets` has none of them"
        elif key == "max_depth" and settings.max_depth is not None and settings.bounds != "none":
            yield key, 'with bounds nothing nests without end: `max_depth` is for `bounds = "none"`'
    if settings.tool is not None and settings.tool_choice == "none":
        yield (
            "tool",
            '`tool` says which tools may be called, and with `tool_choice = "none"` none may',
        )


class Manifest(Part):
    """The whole file; in pyproject.toml, the table `tool.calligram`."""

    record: Text | None = Field(
        default=None,
        description="The file that says what was built of what. Commit it with the outputs. "
        "`calligram.lock` unless given; beside another manifest `NAME.toml`, "
        "`NAME.calligram.lock`.",
    )
    defaults: GrammarSettings = Field(
        default=GrammarSettings(),
        description="What holds for every grammar that does not say otherwise.",
    )
    # The values are validated one by one, so that a grammar may have the name of a key.
    grammars: dict[Text, dict[str, Any]] = Field(
        default={}, description="Required. The grammars by name: `[grammars.NAME]`."
    )
