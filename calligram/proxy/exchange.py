"""The two paths whose requests are constrained: `/v1/chat/completions` and `/v1/messages`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from ..compiler.errors import CalligramError
from ..compiler.origin import Problem
from ..off import disabled
from ..targets.parser import Delta
from .accounting import Said, answered, passed
from .answer import Closed
from .asgi import BodyTooLarge, Reply, read_body, while_connected
from .asking import Asked, ask, both, required
from .body import LARGE, TooManyValues, read_object
from .compile_pool import Busy
from .connection import Headers
from .constrain import Plan, plan_request
from .forms import Form, Telling, Values, fault_body
from .knowledge import keys_of
from .passing import pass_on
from .pieces import Ending, UpstreamFault
from .reports import Report, counted, error_body, message_of, param_of
from .request import RequestError, Untouched
from .service import Service

SWITCH: Final = b"x-calligram"
"""The header with which a request says "on" or "off" for itself."""
_STATUS: Final = {
    "proxy-compile-time": 422, "proxy-grammar-size": 422, "proxy-compile-died": 503,
}  # fmt: skip
"""Of errors that are not the request's alone."""
_STREAM: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]


@dataclass
class Constraining:
    """One of the paths, as an ASGI application."""

    service: Service
    form: Form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await answered(
            self.service,
            scope,
            send,
            lambda r, s: self._answer(scope, receive, r, s),
            self.form.error,
        )

    async def _answer(self, scope: Scope, receive: Receive, reply: Reply, said: Said) -> None:
        service, headers = self.service, scope["headers"]
        if scope["method"] != "POST" or switched_off(headers, service.settings.default_off):
            # Switched off for all, or for this one request.
            off = "disabled" if disabled() else "off"
            said.reason = off if scope["method"] == "POST" else None
            await passed(service, scope, receive, reply, said, self.form.error)
            return
        try:
            data = await read_body(scope, receive, service.settings.max_body)
        except BodyTooLarge:
            message = f"the body is longer than {service.settings.max_body:,} bytes"
            # What is left of it is not read.
            close = (b"connection", b"close")
            error = error_body(message, 413, "proxy-body-too-large")
            await reply.json(413, self.form.error(error, 413), close)
            return
        work = Work(service, self.form, scope, receive, reply, said, data)
        await while_connected(receive, work.run(), reply)


def switched_off(headers: Headers, by_default: bool) -> bool:
    """Is this request to be left alone? CALLIGRAM_DISABLE wins over what it says itself."""
    if disabled():
        return True
    said = next((v.strip().lower() for k, v in headers if k.lower() == SWITCH), b"")
    return said == b"off" or (by_default and said != b"on")


def client_of(scope: Scope) -> tuple[str, ...]:
    """Whom a request is from: its key if it has one, and its address. Only ever compared.

    Nobody has checked the key: one who invents keys must not have more turns than others.
    """
    client = scope.get("client")
    address = f"address {client[0] if client else ''}"
    key = keys_of(scope["headers"])
    return (f"key {key.hex()}", address) if key else (address,)


@dataclass
class Work:
    """The work for one request whose body is there."""

    service: Service
    form: Form
    scope: Scope
    receive: Receive
    reply: Reply
    said: Said
    data: bytes
    body: Mapping[str, Any] = field(default_factory=dict)

    async def run(self) -> None:
        """Answer it, with an error if need be."""
        try:
            await self._run()
        except RequestError as error:
            await self._refuse(400, error.problems)
        except TooManyValues:
            message = f"the body has more than {self.service.settings.max_values:,} values"
            await self._refuse(413, (Problem("proxy-body-values", message),))
        except RecursionError:
            if self.reply.status:
                raise
            problem = Problem("text-too-deep", "the body nests too deep")
            await self._refuse(400, (problem,))
        except CalligramError as error:
            await self._refuse(_STATUS.get(error.problems[0].code, 400), error.problems)
        except Busy as error:
            body = error_body(str(error), 503, "proxy-busy")
            await self.reply.json(503, self.form.error(body, 503), (b"retry-after", b"5"))
        except UpstreamFault as fault:
            self.said.fault = fault.kind
            self.service.metrics.faults.add(fault.kind)
            await self._fault(fault)

    async def _refuse(self, status: int, problems: Sequence[Problem]) -> None:
        self.said.problems = problems
        body = error_body(message_of(problems), status, problems[0].code, problems)
        body["error"]["param"] = param_of(problems, self.body)
        await self.reply.json(status, self.form.error(body, status))

    async def _fault(self, fault: UpstreamFault) -> None:
        if not self.reply.status:
            await self.reply.json(fault.status, self.form.error(fault_body(fault), fault.status))
        elif not self.reply.ended:
            await self.reply.end(self.form.fault(fault))

    async def _run(self) -> None:
        service, headers = self.service, self.scope["headers"]
        body = self.body = await read_object(self.data, headers, service.settings.max_values)
        if not body.get("tools"):
            await self._pass(Untouched("no-tools"))
            return
        request = self.form.request(body)
        try:
            known = await service.knowledge.get(headers)
        except CalligramError as error:
            self.said.problems = error.problems
            told = error_body(message_of(error.problems), 503, error.problems[0].code,
                              error.problems)  # fmt: skip
            await self.reply.json(503, self.form.error(told, 503))
            return
        self.said.dialect = known.spec.id
        if len(self.data) > LARGE:
            await asyncio.sleep(0)
        plan = plan_request(request, known.spec, known.capabilities, service.policy)
        if isinstance(plan, Untouched):
            await self._pass(plan)
            return
        if len(self.data) > LARGE:
            await asyncio.sleep(0)
        self.said.route, self.said.kind = plan.route, plan.wanted.kind
        self.said.tools = len(plan.wanted.offered)
        self.said.schemas = plan.wanted.schemas
        if service.settings.log_text:
            self.said.messages = request.get("messages")
        model = body.get("model")
        try:
            await self._constrained(plan, body, model if isinstance(model, str) else known.model)
        except CalligramError as error:
            if service.policy.on_unsupported != "pass" or self.reply.status:
                raise
            await self._pass(Untouched("unsupported", error.problems))

    async def _pass(self, why: Untouched) -> None:
        self.said.route, self.said.reason, self.said.problems = "passed", why.reason, why.problems
        await pass_on(
            self.service.upstream, self.scope, self.receive, self.reply, self.data,
            lambda: why.problems,
        )  # fmt: skip

    async def _constrained(self, plan: Plan, body: Mapping[str, Any], model: str) -> None:
        stream = body.get("stream") is True
        token = secrets.token_hex(12)
        telling = self.form.telling(token, model, body, stream)
        if stream and not self.service.settings.retry_invalid:
            await self._stream(plan, telling, token)
            return
        values, closed, report = await self._whole(plan, telling, token)
        if stream:
            await self.reply.start(200, [*_STREAM, *counted(report.problems)])
            await self.reply.end(telling.encoded(values) + telling.done())
            return
        await self.reply.json(200, telling.whole(values, closed), *counted(report.problems))

    async def _ask(self, plan: Plan, token: str) -> Asked:
        service, headers = self.service, self.scope["headers"]
        asked = await ask(service, plan, headers, client_of(self.scope), token)
        if asked.seconds:
            service.metrics.compile.observe(asked.seconds)
            self.said.compile_ms = round(1e3 * asked.seconds, 2)
        return asked

    async def _stream(self, plan: Plan, telling: Telling, token: str) -> None:
        """Tell the answer as it comes."""
        asked = await self._ask(plan, token)
        try:
            async for deltas in asked.deltas():
                values = telling.more(deltas)
                if not self.reply.status:
                    # Not before the server has answered: an error of its own has a status.
                    await self.reply.start(200, _STREAM)
                    values = telling.first(asked.prompt) + values
                if asked.ending is None:
                    if values:
                        await self.reply.write(telling.encoded(values))
                    continue
                closed = asked.close()
                report = self._report(asked, closed)
                values += telling.more(closed.deltas)
                values += telling.last(closed, asked.ending, report)
                await self.reply.end(telling.encoded(values) + telling.done())
        finally:
            await asked.finish()

    async def _whole(
        self, plan: Plan, telling: Telling, token: str
    ) -> tuple[Values, Closed, Report]:
        """The answer once it has ended, or the second one if the first was wrong."""
        deltas, closed, ending, asked = await self._one(plan, token)
        report = self._report(asked, closed)
        if self.service.settings.retry_invalid and closed.is_faulty:
            self.service.metrics.retries.add()
            self.said.retried = True
            try:
                second, again, end, asked = await self._one(required(plan), token)
            except (CalligramError, UpstreamFault, Busy) as error:
                # The first answer is wrong, and still says more than an error would.
                report = replace(report, problems=(*report.problems, self._no_retry(error)))
                self.said.problems = report.problems
            else:
                report = self._report(asked, again, closed.problems)
                deltas, closed, ending = second, again, both(ending, end)
        # Nothing has been told yet, also in a stream held back: what broke off is left out.
        kept = [
            d
            for d in deltas + closed.deltas
            if d.kind in ("content", "reasoning") or d.index not in closed.broken
        ]
        values = telling.first(ending.prompt) + telling.more(kept)
        return values + telling.last(closed, ending, report), closed, report

    def _no_retry(self, error: CalligramError | UpstreamFault | Busy) -> Problem:
        """Why the answer was not asked for again."""
        if isinstance(error, UpstreamFault):
            self.said.fault = error.kind
            self.service.metrics.faults.add(error.kind)
        message = f"the answer could not be asked for again: {error}"
        return Problem("proxy-retry", message, severity="warning")

    async def _one(self, plan: Plan, token: str) -> tuple[list[Delta], Closed, Ending, Asked]:
        asked = await self._ask(plan, token)
        told: list[Delta] = []
        try:
            async for deltas in asked.deltas():
                told += deltas
        finally:
            await asked.finish()
        assert asked.ending is not None
        return told, asked.close(), asked.ending, asked

    def _report(
        self, asked: Asked, closed: Closed, retried: tuple[Problem, ...] | None = None
    ) -> Report:
        grammar = asked.constrained.grammar
        assert grammar is not None and asked.ending is not None
        self.said.problems = closed.problems
        self.said.tokens = asked.ending.completion
        if self.service.settings.log_text:
            self.said.text = "".join(asked.text)
        assert asked.constrained.plan is not None
        dropped = (*asked.constrained.plan.wanted.dropped, *grammar.dropped)
        return Report(closed.problems, dropped, retried)
