"""One constrained answer: the prompt rendered, the grammar found, the server asked, pieces read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..targets.parser import Delta
from .answer import Answer, Closed
from .completion import TEMPLATE, prompt_added
from .connection import Headers
from .constrain import Constrained, Plan
from .pieces import (
    ChatPieces,
    CompletionPieces,
    Ending,
    Piece,
    PieceReader,
    UpstreamFault,
    garbage,
)
from .prepared import Order
from .service import Service
from .sse import Event, json_bytes
from .upstream import Kept


@dataclass
class Asked:
    """An answer on its way.

    Attributes:
        constrained: what was sent.
        seconds: what the grammar took, 0 if it was there.
        answer: reads the text.
        prompt: tokens of the prompt, once known.
        ending: how it ended, once it has.
    """

    constrained: Constrained
    seconds: float
    answer: Answer
    events: AsyncIterator[list[Event]]
    kept: Kept
    text: list[str] = field(default_factory=list)
    prompt: int = 0
    ending: Ending | None = None

    async def deltas(self) -> AsyncIterator[list[Delta]]:
        """What is new, as often as something comes; the first time whatever came first.

        Raises:
            UpstreamFault: the server fails.
        """
        reader: PieceReader
        reader = ChatPieces() if self.constrained.route == "chat" else CompletionPieces()
        async for events in self.events:
            told: list[Delta] = []
            for event in events:
                try:
                    piece = reader.read(event)
                except UpstreamFault:
                    if told:  # What came before is an answer's.
                        yield told
                    raise
                if piece is not None and self.ending is None:
                    told += self._take(piece)
            yield told
            if self.ending is not None:
                return
        raise UpstreamFault("broke-off", "the server broke off its answer", 502)

    def _take(self, piece: Piece) -> list[Delta]:
        self.prompt = piece.prompt or self.prompt
        self.ending = piece.ending
        self.text.append(piece.text)
        return self.answer.feed(piece.text)

    def close(self) -> Closed:
        """The answer has ended."""
        assert self.ending is not None
        return self.answer.close(self.ending.stop)

    async def finish(self) -> None:
        """Close the connection, which stops the server's work if it is not done."""
        await self.events.aclose()  # type: ignore[attr-defined]
        self.kept.close()  # Not taken, if nothing was asked of the events.


async def ask(
    service: Service, plan: Plan, headers: Headers, client: tuple[str, ...], token: str
) -> Asked:
    """Ask; the answer is on its way when the first of its deltas comes.

    Raises:
        UpstreamFault: the server fails.
        CalligramError: the grammar cannot be made.
        Busy: too many others are being made.
    """
    kept = Kept()
    try:
        made, seconds, body = await _request(service, plan, headers, client, kept)
        events = service.upstream.events(made.path, headers, body, kept)
        return Asked(made, seconds, made.answer(token), events, kept)
    except BaseException:
        kept.close()
        raise


async def _request(
    service: Service, plan: Plan, headers: Headers, client: tuple[str, ...], kept: Kept
) -> tuple[Constrained, float, Any]:
    """What is to be sent, the seconds that its grammar took, and the body: JSON, or its bytes."""
    prompt, ahead = None, _Ahead(service, plan)
    if plan.route == "completion":
        prompt = await _prompt(service, plan, headers, kept, ahead.prepare)
    order = plan.order(prompt)
    if prompt is not None and ahead.made is not None and ahead.order == order:
        service.grammars.hits += 1
        return ahead.made, 0.0, prompt_added(ahead.data, prompt)
    found = service.grammars.at_hand(order)
    if found is None:
        kept.close()  # It may take long, and others need the server's threads.
        found = await service.grammars.get(order, client)
    made = plan.constrained(found.prepared, prompt)
    return made, found.seconds, made.body


@dataclass
class _Ahead:
    """What follows if the prompt ends as prompts usually do, made while the server renders it.

    Attributes:
        order: of the grammar.
        made: the request without its prompt, and `data` its bytes; None if the grammar is not
            there.
    """

    service: Service
    plan: Plan
    order: Order | None = None
    made: Constrained | None = None
    data: bytes = b""

    def prepare(self) -> None:
        """Called by the loop."""
        self.order = self.plan.order(None)
        prepared = self.service.grammars.ahead(self.order)
        if prepared is not None:
            self.made = self.plan.constrained(prepared, None)
            self.data = json_bytes(self.made.body)


async def _prompt(
    service: Service, plan: Plan, headers: Headers, kept: Kept, meanwhile: Callable[[], None]
) -> str:
    """What the server's template makes of the request; its connection is kept."""
    answer = await service.upstream.ask(
        "POST", TEMPLATE, headers, plan.template, kept=kept, meanwhile=meanwhile
    )
    prompt = answer.get("prompt") if isinstance(answer, dict) else None
    if not isinstance(prompt, str):
        raise garbage("no prompt in answer to /apply-template")
    return prompt


def required(plan: Plan) -> Plan:
    """The same with a call required of the same tools."""
    choice: Any = plan.wanted.choice
    if plan.wanted.kind == "auto":
        choice = "required"
        given = plan.wanted.choice
        if isinstance(given, dict) and given.get("type") == "allowed_tools":
            inner = given.get("allowed_tools", given)
            inner = {**inner, "mode": "required"}
            choice = {"type": "allowed_tools", "allowed_tools": inner}
    return replace(plan, wanted=replace(plan.wanted, choice=choice, kind="required"))


def both(first: Ending, second: Ending) -> Ending:
    """The second ending, with what the first answer took added."""
    return replace(
        second,
        prompt=first.prompt + second.prompt,
        completion=first.completion + second.completion,
        cached=None
        if first.cached is None or second.cached is None
        else first.cached + second.cached,
    )
