"""`constrain_request`: a chat request -> what llama-server is sent, and how its answer is read.

Two routes. The chat route takes a grammar only from the first token on, and hides special tokens.
The other renders the prompt first (`/apply-template`) and sends it to `/completion`, where markers
can be preserved and a grammar armed lazily.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ..compiler.compiled import CompiledGrammar
from ..compiler.errors import CalligramError
from ..compiler.origin import Problem
from ..compiler.spec import DialectSpec
from ..compiler.spec_loader import load_dialect
from .answer import Answer
from .completion import (
    CHAT,
    COMPLETION,
    chat_body,
    check_body,
    completion_body,
    template_body,
)
from .options import Capabilities, Policy
from .prepared import Form, Order, Prepared, prepare
from .prompt_end import PromptEnd, read_end
from .request import Reason, RequestError, Untouched, Wanted, read_request

Route: TypeAlias = Literal["untouched", "chat", "completion"]

_DEFAULTS: Final = Policy()
_UNKNOWN: Final = Capabilities()


@dataclass(frozen=True)
class Plan:
    """What is to be done with a request, before anything is compiled."""

    body: Mapping[str, Any]
    wanted: Wanted
    spec: DialectSpec
    capabilities: Capabilities
    policy: Policy
    route: Route

    @property
    def template(self) -> dict[str, Any]:
        """The body for `/apply-template`."""
        return template_body(self.body, self.wanted.offered)

    def order(self, prompt: str | None) -> Order:
        """What to compile for this prompt; None: the one that the template usually makes."""
        spec = self.spec
        known = prompt if prompt is not None else self.capabilities.generation_prompt
        end = (
            PromptEnd("allow", True)
            if known is None
            else read_end(known, spec, begun_by(self.body), self.capabilities.generation_prompt)
        )
        if spec.prefill and not end.prefilled:
            spec = spec.model_copy(update={"prefill": ""})
        return Order(
            self.wanted.tools,
            spec,
            self.wanted.choice,
            self.wanted.parallel,
            end.reasoning,
            self._form(end),
            self.policy,
        )

    def _form(self, end: PromptEnd) -> Form:
        if self.wanted.kind == "required":
            return "required"
        thinking = end.reasoning == "opened" or (
            end.reasoning == "allow" and self.capabilities.may_think(self.spec)
        )
        return "whole" if thinking else "lazy"

    def constrained(self, made: Prepared, prompt: str | None) -> Constrained:
        """The request, once its grammar is there."""
        if self.route == "chat":
            path, body = CHAT, chat_body(self.body, self.wanted.offered, made)
        else:
            path, body = COMPLETION, completion_body(self.body, made, prompt)
        template = self.template if self.route == "completion" else None
        return Constrained(
            self.route, path, body, template=template, kind=self.wanted.kind, prepared=made,
            plan=self,
        )  # fmt: skip


@dataclass(frozen=True)
class Constrained:
    """What to send, and how to read what comes back.

    Attributes:
        route: ``untouched``: send the request as it came. ``chat``: send `body` to `path`.
            ``completion``: send `template` to `/apply-template`, hand the ``prompt`` of its answer
            to :meth:`with_prompt`, and send the `body` of what that gives to `path`.
        path: where `body` goes.
        body: JSON. It always asks for a stream. On the route ``completion`` it has no prompt until
            :meth:`with_prompt` was called.
        template: what `/apply-template` is sent.
        reason: why the request is untouched.
        problems: what is wrong with an untouched one that the policy lets pass.
        kind: must the answer call ("required"), or may it ("auto")?
        prepared: the grammar as it is sent.
    """

    route: Route
    path: str
    body: Mapping[str, Any]
    template: Mapping[str, Any] | None = None
    reason: Reason | None = None
    problems: tuple[Problem, ...] = ()
    kind: Literal["required", "auto"] = "auto"
    prepared: Prepared | None = field(default=None, repr=False)
    plan: Plan | None = field(default=None, repr=False)

    @property
    def grammar(self) -> CompiledGrammar | None:
        """The grammar; None if the request is untouched."""
        return self.prepared.grammar if self.prepared is not None else None

    @property
    def gbnf(self) -> str:
        """Its text; "" if the request is untouched."""
        return self.prepared.text if self.prepared is not None else ""

    @property
    def triggers(self) -> list[dict[str, object]]:
        """What arms the grammar, as `grammar_triggers` has it; empty if it holds from the start."""
        return self.prepared.triggers if self.prepared is not None else []

    @property
    def preserved(self) -> list[str]:
        """Tokens that must stay visible in the answer."""
        return self.prepared.preserved if self.prepared is not None else []

    def with_prompt(self, prompt: str) -> Constrained:
        """The same for the prompt that `/apply-template` gave.

        Compiled anew only if the prompt ends otherwise than was assumed: with a block of reasoning
        opened, say.

        Raises:
            ValueError: the request does not go that way.
            CalligramError: as :func:`constrain_request`.
        """
        if self.plan is None or self.prepared is None or self.route != "completion":
            raise ValueError("only a request on the route 'completion' takes a prompt")
        order = self.plan.order(prompt)
        made = self.prepared if order == self.plan.order(None) else prepare(order)
        return replace(self, body=completion_body(self.plan.body, made, prompt), prepared=made)

    def answer(self, identifier: str = "") -> Answer:
        """Reads one answer to this request.

        Args:
            identifier: what makes the ids of its calls differ from those of other answers.

        Raises:
            ValueError: the request is untouched, and so is its answer.
        """
        if self.prepared is None or self.plan is None:
            raise ValueError("the answer to an untouched request is the server's own")
        ends = self.plan.capabilities.ends if self.plan.capabilities.special else ()
        return Answer(self.prepared.reader, self.kind, ends=ends, identifier=identifier)


def plan_request(
    body: Mapping[str, Any], spec: DialectSpec, capabilities: Capabilities, policy: Policy
) -> Plan | Untouched:
    """What is to be done with a request.

    Raises:
        CalligramError: as :func:`constrain_request`, schemas aside.
    """
    try:
        wanted = read_request(body, policy)
        if isinstance(wanted, Untouched):
            return wanted
        check_body(body)
    except CalligramError as error:
        return let_pass(error, policy)
    chat = (
        wanted.kind == "required"
        and not spec.prefill
        and capabilities.shows(spec)
        and capabilities.generation_prompt is not None
        # Where the model may think, a message ("/no_think") or a tool's result can make the
        # template end otherwise, and only the prompt itself says how.
        and not capabilities.may_think(spec)
        and ends_as_usual(body)
        # That route does not say at which word an answer stopped.
        and not body.get("stop")
    )
    return Plan(body, wanted, spec, capabilities, policy, "chat" if chat else "completion")


def ends_as_usual(body: Mapping[str, Any]) -> bool:
    """Does the prompt end as after any user's message? Not if the request asks the template for
    something, or brings the beginning of the answer, which may open a block of reasoning."""
    if any(body.get(key) for key in ("chat_template_kwargs", "reasoning_effort")):
        return False
    if body.get("add_generation_prompt", True) is not True or body.get("continue_final_message"):
        return False
    return _last_of_assistant(body) is None


def begun_by(body: Mapping[str, Any]) -> str:
    """What the client has begun the answer with: the last message, if it is the assistant's."""
    last = _last_of_assistant(body)
    if last is None:
        return ""
    content = last.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [p.get("text") for p in parts if isinstance(p, Mapping)]
    return "".join(t for t in texts if isinstance(t, str))


def _last_of_assistant(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    messages = body.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return last if isinstance(last, Mapping) and last.get("role") == "assistant" else None


def let_pass(error: CalligramError, policy: Policy) -> Untouched:
    """The request as it came, if the policy is to let pass what cannot be enforced.

    Raises:
        CalligramError: `error`, if it is not.
    """
    if policy.on_unsupported != "pass":
        raise error
    return Untouched("unsupported", error.problems)


def constrain_request(
    body: Mapping[str, Any],
    dialect: str | Path | DialectSpec,
    *,
    prompt: str | None = None,
    capabilities: Capabilities = _UNKNOWN,
    policy: Policy = _DEFAULTS,
) -> Constrained:
    """What llama-server must be sent for a chat request, so that its calls are right.

    A required, named or allowed call gets a grammar for the whole turn; under "auto" the grammar
    is armed by what begins a call, and prose stays free. Left alone, as `route` "untouched": a
    request without tools, with tool_choice "none", with a grammar of its own, and any request
    while CALLIGRAM_DISABLE is set. `body` is not changed.

    Args:
        body: of a request to `/v1/chat/completions`, tools in OpenAI's, Anthropic's or MCP's form.
        dialect: a shipped id, a path to a spec, or a spec.
        prompt: what `/apply-template` gave for this request, if that is known already.
        capabilities: what is known of the server.
        policy: how requests are constrained.

    Raises:
        RequestError: `body` is no object (code ``proxy-body``).
        CalligramError: tools, a choice or a schema that cannot be enforced, unless
            ``policy.on_unsupported`` is "pass"; each problem with its place.
    """
    if not isinstance(body, Mapping):
        message = f"the request is an object, not {type(body).__name__}"
        raise RequestError.at("proxy-body", message)
    spec = load_dialect(dialect)
    plan = plan_request(body, spec, capabilities, policy)
    if isinstance(plan, Untouched):
        return untouched(body, plan)
    try:
        made = prepare(plan.order(prompt))
    except CalligramError as error:
        return untouched(body, let_pass(error, policy))
    return plan.constrained(made, prompt)


def untouched(body: Mapping[str, Any], why: Untouched) -> Constrained:
    """A request that is sent on as it came."""
    return Constrained("untouched", CHAT, body, reason=why.reason, problems=why.problems)
