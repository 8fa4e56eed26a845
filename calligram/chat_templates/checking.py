"""A spec against a chat template: where what the template writes differs from what the spec says.

Three questions about each conversation: does the spec write the same bytes; does its grammar accept
the template's; does its parser read the calls back. What the spec lists as known mistakes of
history (:mod:`.ways`) is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from typing import Literal as OneOf

from ..compiler.compiled import CompiledGrammar
from ..compiler.lint import lint
from ..compiler.origin import Problem
from ..compiler.pipeline import compile_tools
from ..compiler.spec import DialectSpec
from ..compiler.spec_loader import LoadedSpec
from ..targets import parser
from .chat_template import ChatTemplate
from .chat_template_error import ChatTemplateError
from .conversations import CONVERSATIONS, Conversation, tools
from .explain import BEFORE, END, Explainer, Explanation, Shown, show, with_end
from .pieces import Literal, Match, Miss
from .seen import Unseen, unseen
from .turn import reasoning_forms, what_follows

CONTEXT: Final = 24
"""Characters shown on either side of a difference."""
SIMPLEST: Final = CONVERSATIONS[0].name
"""What breaks only on some values explains no difference here."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a template's text stops being what the spec writes.

    Attributes:
        conversation: its name.
        position: bytes from the beginning of the turn; negative: in the prompt before it.
        expected: what the spec writes from there on, by the field that says so.
        before, found: the template's text around the place.
        message: one sentence.
    """

    conversation: str
    position: int
    expected: tuple[Literal, ...]
    before: str
    found: str
    message: str

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "conversation": self.conversation,
            "position": self.position,
            "expected": [{"field": e.field, "text": e.text} for e in self.expected],
            "before": self.before,
            "found": self.found,
            "message": self.message,
        }


@dataclass(frozen=True, slots=True)
class Checked:
    """One conversation.

    Attributes:
        status: "same", "known" (a mistake of history that the spec lists), "different", or
            "skipped": nothing to compare.
        text: the turn as the template writes it, without what stands behind its end and with
            the reasoning's opening if the prompt has it; "" if it was skipped.
        accepted, read: whether the grammar takes it, and the parser reads back what was said.
        notes: what is worth knowing and no difference.
        differences: what is one.
    """

    conversation: Conversation
    status: OneOf["same", "known", "different", "skipped"]
    text: str = ""
    notes: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    accepted: bool = False
    read: bool = False


@dataclass(frozen=True, slots=True)
class SpecCheck:
    """The whole comparison.

    Attributes:
        dialect: the spec's id.
        template: the template's place.
        checked: by conversation.
        problems: what the lint finds in the spec, warnings too.
        unseen: literals of the spec that no render has shown.
    """

    dialect: str
    template: str
    checked: tuple[Checked, ...]
    problems: tuple[Problem, ...]
    unseen: tuple[Unseen, ...]

    @property
    def differences(self) -> tuple[Difference, ...]:
        """All of them, in the order of the conversations."""
        return tuple(d for c in self.checked for d in c.differences)

    @property
    def ok(self) -> bool:
        """Whether nothing differs and the lint finds no error; warnings are none."""
        return not self.differences and not any(p.severity == "error" for p in self.problems)

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "dialect": self.dialect,
            "template": self.template,
            "ok": self.ok,
            "conversations": [
                {
                    "name": c.conversation.name,
                    "status": c.status,
                    "notes": list(c.notes),
                    "differences": [d.to_json() for d in c.differences],
                }
                for c in self.checked
            ],
            "problems": [p.to_json() for p in self.problems],
            "unseen": [{"field": u.field, "text": u.text} for u in self.unseen],
        }


def check_spec(loaded: LoadedSpec, template: ChatTemplate) -> SpecCheck:
    """Compare a spec with what a template writes.

    Raises:
        ChatTemplateError: the template does not render any calls.
    """
    checker = _Checker(loaded.spec, with_end(template))
    checked = tuple(checker.check(c) for c in CONVERSATIONS)
    fields = [piece for c in checker.explained for piece in _fields(c)] + checker.ends()
    shapes = {c.shape for c in checker.explained if isinstance(c.found, Match) and _calls(c)}
    return SpecCheck(
        loaded.spec.id,
        template.place or template.name,
        checked,
        (*loaded.warnings, *lint(loaded)),
        tuple(unseen(loaded.spec, fields, shapes, {c.known for c in checker.explained})),
    )


def _calls(explanation: Explanation) -> bool:
    return bool(explanation.shown.conversation.calls)


def _fields(explanation: Explanation) -> Sequence[Literal]:
    return explanation.found.fields if explanation.found is not None else ()


class _Checker:
    def __init__(self, spec: DialectSpec, template: ChatTemplate) -> None:
        self.spec = spec
        self.template = template
        self.forms = reasoning_forms(template)
        self.explainer = Explainer(spec)
        self.explained: list[Explanation] = []
        self._compiled: tuple[CompiledGrammar, parser.Reader] | None = None

    def check(self, conversation: Conversation) -> Checked:
        reason = self._meaningless(conversation)
        if reason is not None:
            return Checked(conversation, "skipped", notes=(reason,))
        try:
            shown = show(self.template, self.forms, conversation)
        except ChatTemplateError as error:
            return Checked(conversation, "skipped", notes=(error.problems[0].message,))
        notes = [f"the template does not show {what}" for what in shown.hidden]
        explanation = self.explainer.explain(shown)
        self.explained.append(explanation)
        if explanation.status == "refused":
            return Checked(conversation, "skipped", notes=("the notation cannot carry it",))
        differences = list(self._prefill(shown))
        if explanation.status == "different":
            assert isinstance(explanation.found, Miss)
            differences.append(_difference(explanation, explanation.found))
        if explanation.known:
            notes.append(f"known: {explanation.known}")
        if isinstance(explanation.found, Match):
            notes += explanation.found.notes
        if explanation.shape.startswith("/history") and conversation.name == SIMPLEST:
            message = f"only {explanation.shape} explains it: the template never writes the call so"
            text = explanation.text[explanation.offset :]
            expected = (Literal("/call", self.spec.call),)
            differences.append(
                Difference(conversation.name, 0, expected, *_around(text, 0), message)
            )
        back = self._read_back(explanation)
        if explanation.status == "same":
            differences += back.differences
        else:
            notes += [d.message for d in back.differences]
        if explanation.status == "different" and not back.differences:
            notes.append("the grammar accepts it and the parser reads it back all the same")
        status = "different" if differences else explanation.status
        return Checked(
            conversation,
            status,
            back.text,
            tuple(notes),
            tuple(differences),
            back.accepted,
            back.read,
        )

    def ends(self) -> list[Literal]:
        """The turn ends that stand only before the next message."""
        found: list[Literal] = []
        for conversation in (c for c in CONVERSATIONS if c.name in (SIMPLEST, "content alone")):
            try:
                text = what_follows(self.template, conversation.calls, tools(), self.forms)
            except ChatTemplateError:
                continue
            for n, token in enumerate(self.spec.turn_end.tokens):
                if text.lstrip().startswith(token):
                    found.append(Literal(f"/turn_end/tokens/{n}", token))
        return found

    def _meaningless(self, conversation: Conversation) -> str | None:
        """Why the dialect has no such turn, if it has none."""
        spec, calls = self.spec, conversation.calls
        if spec.calls.max is not None and len(calls) > spec.calls.max:
            return f"the dialect has at most {spec.calls.max} call a turn"
        if calls and conversation.content is not None and spec.content.with_calls == "exclusive":
            return "the dialect has no content beside calls"
        return None

    def _prefill(self, shown: Shown) -> Iterator[Difference]:
        prefill = self.spec.prefill
        prompt = shown.turn.generation_prompt.removesuffix(shown.turn.opened)
        if prefill and not prompt.endswith(prefill):
            yield Difference(
                shown.conversation.name,
                -len(prefill.encode()),
                (Literal("/prefill", prefill),),
                "",
                prompt[-max(len(prefill), CONTEXT) :],
                "the generation prompt does not end with the dialect's `prefill`",
            )

    def _read_back(self, explanation: Explanation) -> _Back:
        """Whether grammar and parser take the template's text for what it is."""
        conversation = explanation.shown.conversation
        begun = explanation.text[: explanation.offset]
        block = self.spec.reasoning
        # A block that the prompt has closed, and a prefill, are behind the model.
        opened = block is not None and not self.spec.prefill and begun.startswith(block.open)
        opened = opened and block is not None and block.close.rstrip() not in begun
        text = explanation.text if opened else explanation.text[explanation.offset :]
        if isinstance(explanation.found, Match) and BEFORE in explanation.found.notes:
            text = text.lstrip()
        if block is not None and isinstance(explanation.found, Match):
            fields = {piece.field for piece in explanation.found.fields}
            if "/reasoning/close" in fields and "/reasoning/open" not in fields:
                # History leaves out the opening, which the prompt has.
                text = block.open + text
        text = self._without_end(text.replace(END, ""))
        if self._compiled is None:
            grammar = compile_tools(tools(), self.spec, tool_choice="auto", key_order="any")
            self._compiled = grammar, parser.compile(grammar)
        grammar, reader = self._compiled
        found: list[tuple[int, str]] = []
        verdict = grammar.check(text)
        if not verdict.accepted:
            said = f"the grammar refuses the template's text: {verdict.message}"
            found.append((verdict.position, said))
        result = reader.parse(text)
        calls = [_bare(call) for call in result.calls]
        wanted = [_bare(call) for call in conversation.calls]
        wrong = ""
        if calls != wanted:
            wrong = f"the parser reads the calls {calls}, not {wanted}"
        elif result.content.strip() != (conversation.content or ""):
            wrong = f"the parser reads the content {result.content!r}"
        elif result.reasoning.strip() != (conversation.reasoning or ""):
            wrong = f"the parser reads the reasoning {result.reasoning!r}"
        if wrong:
            found.append((0, wrong))
        differences = [
            Difference(conversation.name, at, (), *_around(text, at), said) for at, said in found
        ]
        return _Back(text, verdict.accepted, not wrong, differences)

    def _without_end(self, text: str) -> str:
        """The turn without what stands behind its end."""
        bare = text.rstrip()
        ended = any(bare.endswith(token.rstrip()) for token in self.spec.turn_end.tokens)
        return bare if ended else text.rstrip("\n")


@dataclass(frozen=True, slots=True)
class _Back:
    """What became of a text in grammar and parser."""

    text: str
    accepted: bool
    read: bool
    differences: Sequence[Difference]


def _bare(call: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": call["name"], "arguments": call["arguments"]}


def _difference(explanation: Explanation, miss: Miss) -> Difference:
    text = explanation.text
    before = text[: miss.position]
    position = len(before.encode()) - len(text[: explanation.offset].encode())
    expected = tuple(Literal(e.field, e.text[: 2 * CONTEXT]) for e in miss.expected)
    fields = ", ".join(dict.fromkeys(e.field for e in miss.expected if e.field))
    said = f"the template differs from {fields}" if fields else "the template has other text here"
    conversation = explanation.shown.conversation
    if conversation.content is not None and conversation.calls:
        names = [text.find(str(call["name"])) for call in conversation.calls]
        if max(names) < text.find(conversation.content):
            said = "the template writes content behind the calls, see /content/with_calls"
    around = _around(text, len(before.encode()))
    return Difference(explanation.shown.conversation.name, position, expected, *around, said)


def _around(text: str, position: int) -> tuple[str, str]:
    data = text.replace(END, "").encode()
    before = data[:position].decode("utf-8", "replace")
    return before[-CONTEXT:], data[position:].decode("utf-8", "replace")[: 2 * CONTEXT]


__all__ = ["Checked", "Difference", "SpecCheck", "Unseen", "check_spec"]
