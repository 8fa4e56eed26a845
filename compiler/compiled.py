"""The compiled grammar: one object from which every target starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from . import verdict
from .automaton.recogniser import Recogniser
from .bounds_findings import merged
from .errors import RenderError
from .findings import Finding
from .given_calls import listed
from .grammar import Expr, Grammar
from .ir import Bounds, Call, Envelope, SchemaValue
from .json_schema.documents import Documents
from .limits import MAX_NESTING, too_deep
from .lower.layout import Layout
from .lower.read import ReadLowering
from .lower.writer import Writer, as_json, check_written, not_carryable
from .origin import Origin, Problem
from .passes.longest_text import longest_text
from .read_back import Reading, Turn, reading_of
from .recipe import Recipe
from .render import CallRenderer
from .render_turn import render_turn
from .report import Report
from .spec import DialectSpec
from .trigger import Trigger, make_trigger
from .verdict import Verdict

MAX_KEPT_CELLS = 200_000
"""Continuations kept from one text to the next; some hundred bytes each."""


@dataclass(frozen=True, eq=False)
class CompiledGrammar:
    """One compile: tools, dialect and options, lowered.

    Made by :func:`calligram.compile_tools` and :func:`calligram.compile_schema`. Everything costly
    (report, automaton, reading grammar) is made when first asked for and kept.

    Attributes:
        enforced: the grammar that targets emit.
        dialect: the spec; None for :func:`calligram.compile_schema`.
        envelope: the tools and the turn; None for ``compile_schema``.
        value: the schema's value, for ``compile_schema``.
        bounds: default bounds; None: lifted.
        key_order: "schema" or "any".
        documents: what references in the schemas lead to, for validators.
        tool_choice: "required", "auto" or "none"; a named tool or a subset counts as what it says.
        recipe: what it was compiled from, for whoever writes it to a file.
    """

    enforced: Grammar
    calls_only: Expr | None
    dialect: DialectSpec | None
    envelope: Envelope | None
    bounds: Bounds | None
    key_order: str
    tool_choice: str = "required"
    value: SchemaValue | None = None
    layout: Layout | None = None
    findings: Sequence[Finding] = ()
    dropped: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    documents: Documents | None = None
    recipe: Recipe | None = field(default=None, repr=False)
    notes: Sequence[Callable[[], Sequence[Finding]]] = field(default=(), repr=False)
    _kept: list[Recogniser] = field(default_factory=list, init=False, repr=False)

    @property
    def calls(self) -> tuple[Call, ...]:
        """The tools that may be called."""
        return self.envelope.calls if self.envelope else ()

    @property
    def recogniser(self) -> Recogniser:
        """The automaton of the whole turn. It grows with the texts it has seen; past
        `MAX_KEPT_CELLS` continuations it is made anew."""
        kept: list[Recogniser] = self._kept
        if not kept or kept[0].core.size > MAX_KEPT_CELLS:
            kept[:] = [Recogniser(self.enforced.rules, self.enforced.start)]
        return kept[0]

    @cached_property
    def reading(self) -> Grammar:
        """The grammar that reads what unconstrained models write; a superset of `enforced`."""
        assert self.dialect is not None and self.envelope is not None
        opened = self.envelope.reasoning == "opened"
        return ReadLowering(self.dialect, self.offered, opened=opened).lower()

    @cached_property
    def is_relaxed(self) -> bool:
        """Does the grammar allow more than the schemas somewhere (``on_unsupported="relax"``)?"""
        return any(f.status == "relaxed" for f in self.findings)

    @cached_property
    def trigger(self) -> Trigger:
        """What arms the grammar under tool_choice auto."""
        if self.dialect is None:
            return Trigger((), ())
        return make_trigger(self.dialect, self.calls)

    @cached_property
    def report(self) -> Report:
        """What is enforced, keyword by keyword, and the longest call in bytes."""
        longest: int | None = 0
        if self.calls_only is not None:
            longest = longest_text(Grammar(self.enforced.rules, self.calls_only)).longest
        more = [f for note in self.notes for f in note()]
        return Report(merged(self.findings, more), self.bounds, longest, self.dropped)

    def check(self, text: str | bytes) -> Verdict:
        """The reference verdict on a text: the whole turn, or the whole JSON value."""
        return verdict.check(self.recogniser, text)

    def render(self, calls: Any, *, validate: bool = True) -> str:
        """The text of these calls (or, for ``compile_schema``, of this JSON value).

        Args:
            calls: a sequence of ``{"name": str, "arguments": dict}``, perhaps with an "id", or of
                the `tool_calls` of OpenAI's chat API, arguments as JSON text.
            validate: refuse what the grammar does not accept. The notation's own limits always
                hold.

        Raises:
            RenderError: code ``not-carryable`` for what the notation cannot hold,
                ``not-accepted`` for what the schemas do not allow: each value that they refuse, as
                ``/0/arguments/key``, else ``/``.
        """
        if self.dialect is None:
            assert self.value is not None and self.layout is not None
            if too_deep(calls):
                raise not_carryable(f"nested more than {MAX_NESTING} deep", Origin())
            check_written(calls, Origin())
            writer = Writer(self.layout, self.value.definitions)
            writer.keep_order = self.key_order == "any"
            text = writer.write(calls, self.value.value, Origin())
        else:
            calls = listed(calls)
            text = self._renderer.render(calls, validate=validate)
        if validate:
            self._hold(text, calls)
        return text

    def render_turn(
        self, calls: Any = (), *, content: str = "", reasoning: str = "", validate: bool = True
    ) -> str:
        """A whole turn as it stands in a prompt: for examples, and for history.

        Calls are spelled as the dialect spells history (its key order, its prefill kept); a turn's
        end is the chat template's.

        Args:
            calls: as for ``render``; none for a turn of plain text.
            content: plain text before the calls.
            reasoning: what stands in the reasoning block. White space around it is written, though
                it is not read.
            validate: as for ``render``; content and reasoning are always held to what the dialect
                can tell apart from the rest: the turn is read back.

        Raises:
            RenderError: as ``render`` does, and code ``not-carryable`` for content and reasoning
                that would be read as something else, or make the calls so: the pointer of each part
                that is, ``/content``, ``/reasoning`` or ``/calls``.
        """
        if self.dialect is None:
            raise RenderError.at("unsupported-feature", "a grammar of one JSON value has no turns")
        made = listed(calls)
        if made and validate:
            block = self.dialect.reasoning
            opened = self.envelope is not None and self.envelope.reasoning == "opened"
            # The grammar begins in the block that the prompt has opened; history does not.
            before = block.close + block.after if block is not None and opened else ""
            self._hold(before + self._renderer.render(made), made)
        return render_turn(
            self.dialect, self.calls, self.trigger, made, content, reasoning, self._read_back
        )

    def _hold(self, text: str, calls: Any) -> None:
        """Refuse a text that the grammar does not accept: by what is wrong with the calls, else by
        where the text leaves the grammar."""
        found = self.check(text)
        if not found.accepted:
            wrong = self._violations(calls) if self.dialect is not None else []
            raise RenderError(wrong or [self._refusal(text, found)])

    def _violations(self, calls: Sequence[Mapping[str, Any]]) -> list[Problem]:
        """What the calls' own schemas do not allow, at its place in the list of calls."""
        from .judge import judge  # Imports the validator, which only a refusal needs.

        found = []
        for index, call in enumerate(calls):
            plain = {"name": call["name"], "arguments": as_json(call.get("arguments", {}))}
            for problem in judge(self, [plain], lambda *_: None):
                origin = replace(problem.origin, pointer=f"/{index}{problem.origin.pointer}")
                found.append(replace(problem, code="not-accepted", origin=origin))
        return found

    def _read_back(self, text: str) -> Turn:
        """What a turn of history is read as."""
        return self._history(text)

    @cached_property
    def _history(self) -> Reading:
        """Reads turns as they stand in a prompt, what opens a block of reasoning in them."""
        envelope = self.envelope
        if envelope is None or envelope.reasoning != "opened":
            return reading_of(self)
        return reading_of(replace(self, envelope=replace(envelope, reasoning="allow")))

    @cached_property
    def _renderer(self) -> CallRenderer:
        assert self.dialect is not None
        return CallRenderer(self.dialect, self.calls, self.key_order)

    def _refusal(self, text: str, found: Verdict) -> Problem:
        near = text.encode()[: found.position].decode("utf-8", "replace")[-40:]
        return Problem(
            "not-accepted",
            f"the calls are not in the grammar: behind {near!r} {found.message}",
            Origin("/"),
        )
