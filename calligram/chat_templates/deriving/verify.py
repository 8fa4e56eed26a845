"""Whether a derived spec reads what the template writes: calls that were not used in deriving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from ...compiler.compiled import CompiledGrammar
from ...compiler.errors import CalligramError
from ...compiler.pipeline import compile_tools
from ...compiler.spec import DialectSpec
from ...targets import parser
from ..chat_template_error import ChatTemplateError
from ..conversations import CONVERSATIONS, Conversation, tools
from ..explain import END, show
from ..turn import Turn
from .probe import Probe

_Mode = tuple[Literal["required", "auto"], Literal["opened", "allow"]]


@dataclass(frozen=True, slots=True)
class Verified:
    """One turn that the template wrote.

    Attributes:
        name: what it shows.
        status: "read": the grammar accepts it and the parser gives the calls back; "refused": the
            parser alone does; "misread": it does not; "skipped": the template does not show it.
        message: what was wrong.
    """

    name: str
    status: Literal["read", "refused", "misread", "skipped"]
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {"conversation": self.name, "status": self.status, "message": self.message}


def verify(spec: DialectSpec, probe: Probe) -> tuple[Verified, ...]:
    """Each conversation through template, grammar and parser.

    Raises:
        ChatTemplateError: `template-limit`.
    """
    verifier = _Verifier(spec, probe)
    return tuple(verifier.verify(c) for c in CONVERSATIONS if c.calls)


def texts(spec: DialectSpec, turn: Turn) -> Iterator[str]:
    """The turn as the model would write it: without what the prompt has said already.

    Several, as a template may write white space behind the turn, or an empty block or text before
    the calls, that a model need not write.
    """
    text = turn.text.replace(END, "")
    for begun in _begun(spec, turn, text):
        yield from dict.fromkeys((begun, begun.rstrip("\n"), begun.rstrip()))


def _begun(spec: DialectSpec, turn: Turn, text: str) -> Iterator[str]:
    block = spec.reasoning
    starts = [text, text.lstrip()]
    if block is not None and not is_opened(spec, turn):
        bare = text.lstrip()
        if bare.startswith(block.close.strip()):
            bare = bare[len(block.close.strip()) :]
            starts += [bare, bare.removeprefix(block.after), bare.lstrip()]
    empty = spec.content.open.removeprefix(spec.prefill) + spec.content.close
    for start in starts:
        yield start
        if spec.content.open and empty in start:
            yield start.replace(empty, "", 1)


def is_opened(spec: DialectSpec, turn: Turn) -> bool:
    """Whether the prompt has opened a block of reasoning that the turn goes on with."""
    block = spec.reasoning
    if block is None:
        return False
    kept = turn.generation_prompt.removesuffix(turn.opened)
    return kept.rstrip().endswith(block.open.rstrip())


class _Verifier:
    def __init__(self, spec: DialectSpec, probe: Probe) -> None:
        self.spec = spec
        self.probe = probe
        self._grammars: dict[_Mode, CompiledGrammar] = {}
        self._readers: dict[_Mode, parser.Reader] = {}

    def verify(self, conversation: Conversation) -> Verified:
        name, most = conversation.name, self.spec.calls.max
        if most is not None and len(conversation.calls) > most:
            return Verified(name, "skipped", f"a turn holds {most} call")
        self.probe.check_time()
        try:
            shown = show(self.probe.template, self.probe.forms, conversation)
        except ChatTemplateError as error:
            return Verified(name, "skipped", error.problems[0].message)
        if shown.hidden and not conversation.is_plain:
            return Verified(name, "skipped", f"{' and '.join(shown.hidden)} not shown beside calls")
        if any(c["name"] not in shown.turn.text for c in conversation.calls):
            return Verified(name, "skipped", "the calls are not shown beside it")
        mode: _Mode = (
            "required" if shown.conversation.is_plain else "auto",
            "opened" if is_opened(self.spec, shown.turn) else "allow",
        )
        try:
            grammar = self._grammar(mode)
        except CalligramError as error:
            return Verified(name, "misread", error.problems[0].message)
        tried = list(dict.fromkeys(texts(self.spec, shown.turn)))
        verdicts = [grammar.check(text) for text in tried]
        accepted = [t for t, v in zip(tried, verdicts, strict=True) if v.accepted]
        reader = self._readers[mode]
        read = next((t for t in accepted or tried if _is_read(reader, t, shown.conversation)), None)
        if accepted and read is not None:
            return Verified(name, "read")
        best = max(verdicts, key=lambda v: v.position)
        if accepted:
            return Verified(name, "misread", "the parser reads other calls")
        return Verified(name, "misread" if read is None else "refused", best.message)

    def _grammar(self, mode: _Mode) -> CompiledGrammar:
        choice, reasoning = mode
        if mode not in self._grammars:
            grammar = compile_tools(
                tools(), self.spec, tool_choice=choice, key_order="any", reasoning=reasoning
            )
            self._readers[mode] = parser.compile(grammar)
            self._grammars[mode] = grammar
        return self._grammars[mode]


def _is_read(reader: parser.Reader, text: str, conversation: Conversation) -> bool:
    result = reader.parse(text)
    calls = [{"name": c["name"], "arguments": c["arguments"]} for c in result.calls]
    return calls == [{"name": c["name"], "arguments": c["arguments"]} for c in conversation.calls]
