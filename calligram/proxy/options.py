"""What whoever runs the proxy decides: how requests are constrained, and what a server can show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ..compiler.ir import Bounds
from ..compiler.pipeline import Formats, KeyOrder, UnknownFormats
from ..compiler.spec import DialectSpec

OnUnsupported: TypeAlias = Literal["error", "relax", "drop-tool", "pass"]

_MARKER: Final = re.compile(r"<[^<>\s{}]+>|\[/?[A-Z_]+\]|<[|｜][^<>{}]*[|｜]>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How requests are constrained.

    Attributes:
        on_unsupported: a choice of tools or a schema that cannot be enforced: ``error`` refuses the
            request, ``relax`` drops keywords and checks them afterwards, ``drop-tool`` leaves
            tools out, ``pass`` sends the request on as it came and says so.
        bounds, key_order, open_objects, openapi, max_calls, formats, unknown_formats: as in
            :func:`calligram.compile_tools`.
        parallel_tool_calls: what holds for requests that do not say.
        max_tools: the most tools of one request.
        max_schema_bytes: the most bytes of all its tool definitions, as JSON.
    """

    on_unsupported: OnUnsupported = "error"
    bounds: Bounds | None = Bounds()
    key_order: KeyOrder = "schema"
    open_objects: bool = False
    openapi: bool = False
    max_calls: int | None = None
    formats: Formats = "assert"
    unknown_formats: UnknownFormats = "annotate"
    parallel_tool_calls: bool = True
    max_tools: int = 256
    max_schema_bytes: int = 2**20

    def compile_options(self) -> dict[str, Any]:
        """The options of ``compile_tools`` that are the same for every request."""
        relaxing = self.on_unsupported
        return {
            "on_unsupported": "error" if relaxing == "pass" else relaxing,
            "bounds": self.bounds,
            "key_order": self.key_order,
            "open_objects": self.open_objects,
            "openapi": self.openapi,
            "max_calls": self.max_calls,
            "formats": self.formats,
            "unknown_formats": self.unknown_formats,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is known of a server; nothing, unless somebody has asked it.

    Attributes:
        visible: markers that its vocabulary spells with several tokens, so that no reply hides
            them.
        special: it runs with ``--special``: replies show every token, the end's too.
        ends: texts of its end tokens, which ``--special`` shows at the end of a reply.
        generation_prompt: the end of a prompt that its chat template makes, from the user's message
            on; None if unknown.
        chat_template: the template itself; None if unknown.
    """

    visible: frozenset[str] = frozenset()
    special: bool = False
    ends: tuple[str, ...] = ()
    generation_prompt: str | None = None
    chat_template: str | None = None

    def shows(self, spec: DialectSpec) -> bool:
        """Is every marker of the dialect proven to be in the text of a reply?"""
        return self.special or self.visible.issuperset(markers(spec))

    def may_think(self, spec: DialectSpec) -> bool:
        """May the model write the dialect's block of reasoning? Not if its template knows none."""
        block = spec.reasoning
        if block is None:
            return False
        return self.chat_template is None or block.open.strip() in self.chat_template


def markers(spec: DialectSpec) -> frozenset[str]:
    """The texts of a dialect that a vocabulary may have as single tokens."""
    found = {t.text for t in spec.tokens}
    for text in _texts(spec):
        found.update(_MARKER.findall(text))
    return frozenset(found)


def _texts(spec: DialectSpec) -> Iterator[str]:
    """Whatever a dialect's turns are written with, beside names and values."""
    for shape in spec.shapes():
        args = shape.args
        yield from (shape.call, shape.section.open, shape.section.close, shape.calls.separator)
        yield from (shape.lead_in, args.open, args.close, args.param or "", args.item or "")
        if args.string is not None:
            for form in (args.string, *args.string.alternatives):
                yield from (form.open, form.close)
    for kind in spec.tool_kinds.values():
        yield kind.call
    for wrap in (spec.content, *spec.content.alternatives):
        yield from (wrap.open, wrap.close)
    if spec.reasoning is not None:
        yield from (spec.reasoning.open, spec.reasoning.close, spec.reasoning.after)
