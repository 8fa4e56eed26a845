"""Every request, whatever becomes of it: refused if nobody could send it on, counted and logged."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.types import Receive, Scope, Send

from ..compiler.origin import Problem
from .asgi import ClientGone, Reply
from .declared import declared
from .elsewhere import REASON, Elsewhere
from .forms import fault_body
from .passing import TargetError, check_target, pass_on
from .pieces import UpstreamFault
from .reports import error_body
from .service import Service


@dataclass
class Said:
    """What the log is told of one request."""

    route: str = "passed"
    reason: str | None = None
    kind: str | None = None
    tools: int | None = None
    dialect: str | None = None
    compile_ms: float | None = None
    problems: Sequence[Problem] = ()
    retried: bool | None = None
    fault: str | None = None
    tokens: int | None = None
    schemas: Mapping[str, Any] | None = None
    messages: Any = None
    text: str | None = None


def _as_it_is(body: dict[str, Any], status: int) -> dict[str, Any]:
    return body


async def passed(
    service: Service,
    scope: Scope,
    receive: Receive,
    reply: Reply,
    said: Said,
    form: Callable[[dict[str, Any], int], dict[str, Any]] = _as_it_is,
    elsewhere: Elsewhere | None = None,
) -> None:
    """Answer with what the server answers, or with its fault. `form` as in :func:`answered`.

    Args:
        elsewhere: looks for tools in the request.
    """
    try:
        if elsewhere is None:
            await pass_on(service.upstream, scope, receive, reply)
        else:
            await pass_on(
                service.upstream, scope, receive, reply,
                problems=lambda: elsewhere.problems, seen=elsewhere.feed,
            )  # fmt: skip
    except UpstreamFault as fault:
        if reply.status:
            raise
        service.metrics.faults.add(fault.kind)
        said.fault = fault.kind
        await reply.json(fault.status, form(fault_body(fault), fault.status))
    finally:
        if elsewhere is not None and elsewhere.found:
            said.reason, said.problems = REASON, elsewhere.problems


async def answered(
    service: Service,
    scope: Scope,
    send: Send,
    work: Callable[[Reply, Said], Awaitable[None]],
    form: Callable[[dict[str, Any], int], dict[str, Any]] = _as_it_is,
) -> None:
    """Do the work of one request, counted and logged.

    Args:
        form: gives errors the form of the client's API.
    """

    async def refuse(status: int, code: str, message: str) -> None:
        # What is left of a body is not read.
        close = (b"connection", b"close")
        await reply.json(status, form(error_body(message, status, code), status), close)

    metrics, start = service.metrics, time.perf_counter()
    reply, said = Reply(send), Said()
    metrics.active += 1
    gone = False
    try:
        check_target(scope)
        if service.upstream.comes_back(scope["headers"]):
            raise TargetError(508, "proxy-loop", "the proxy's upstream leads back to the proxy")
        await work(reply, said)
    except TargetError as error:
        said.fault = error.code
        await refuse(error.status, error.code, error.message)
    except ClientGone:
        gone = True
        metrics.gone.add()
    except UpstreamFault as fault:
        # In the middle of an answer that has no way to say so: it stays incomplete.
        said.fault = fault.kind
        metrics.faults.add(fault.kind)
    except Exception:
        said.fault = "internal"
        if not reply.status:
            await refuse(500, "proxy-internal", "the proxy failed; its log has the kind of error")
        raise  # The log is told by the server.
    finally:
        metrics.active -= 1
        end = time.perf_counter()
        metrics.requests.add(said.route, str(reply.status) if reply.status and not gone else "gone")
        if reply.first:
            metrics.first_byte.observe(reply.first - start)
        metrics.whole.observe(end - start)
        for problem in said.problems:
            metrics.problems.add(problem.code)
        if said.reason is not None:
            metrics.untouched.add(said.reason)
        service.log.write(
            "request",
            method=scope["method"],
            path=scope["path"],
            status=reply.status or None,
            gone=gone or None,
            route=said.route,
            reason=said.reason,
            kind=said.kind,
            tools=said.tools,
            dialect=said.dialect,
            compile_ms=said.compile_ms,
            first_byte_ms=round(1e3 * (reply.first - start), 2) if reply.first else None,
            ms=round(1e3 * (end - start), 2),
            problems=[_place(p, said.schemas) for p in said.problems] or None,
            retried=said.retried,
            fault=said.fault,
            tokens=said.tokens,
            messages=said.messages,
            text=said.text,
        )


def _place(problem: Problem, schemas: Mapping[str, Any] | None) -> dict[str, str | None]:
    """A problem without its sentence, which may quote what the model wrote.

    Args:
        schemas: of the tools that were offered, if the place is one in an answer: what the model
            wrote for a name or a key is left out, unless a schema has it.
    """
    origin = problem.origin
    tool, pointer = origin.tool, origin.pointer
    if schemas is not None:
        tool = tool if tool in schemas else None
        pointer = declared(pointer, schemas[tool]) if tool is not None else ""
    return {"code": problem.code, "tool": tool, "pointer": pointer}
