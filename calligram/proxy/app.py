"""The proxy as an ASGI application: its own paths, the two that are constrained, and all others,
which are passed on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from ..compiler.errors import CalligramError
from ..compiler.version import VERSION
from ..off import disabled
from .accounting import Said, answered, passed
from .asgi import Reply
from .elsewhere import Elsewhere
from .exchange import Constraining, switched_off
from .forms import AnthropicForm, ChatForm
from .metrics import MEDIA_TYPE
from .pieces import UpstreamFault
from .service import Service
from .upstream import read_whole

HEALTH = "/calligram/health"
OWN_METRICS = "/calligram/metrics"
_SECONDS = 2.0


@dataclass
class Passing:
    """Every other path."""

    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return

        async def work(reply: Reply, said: Said) -> None:
            off = switched_off(scope["headers"], self.service.settings.default_off)
            elsewhere = None if off else Elsewhere(scope["path"])
            await passed(self.service, scope, receive, reply, said, elsewhere=elsewhere)

        await answered(self.service, scope, send, work)


@dataclass
class Health:
    """How the proxy is, and the server as it sees it."""

    service: Service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """200 if requests would be answered, else 503; after two seconds at the latest."""
        service, headers = self.service, scope["headers"]
        found: dict[str, Any] = {"status": "ok", "version": VERSION, "disabled": disabled()}
        part = "upstream"
        try:
            async with asyncio.timeout(_SECONDS):
                await service.upstream.ask("GET", "/health", headers, seconds=_SECONDS)
                found[part] = "ok"
                if not disabled():
                    part = "props"
                    known = await service.knowledge.get(headers)
                    found["dialect"] = known.spec.id
        except UpstreamFault as fault:
            found["status"] = "error"
            found |= {part: fault.kind, "message": fault.message}
        except TimeoutError:
            message = f"the server does not say within {_SECONDS:g} seconds"
            found |= {"status": "error", part: "slow", "message": message}
        except CalligramError as error:
            found["status"] = "error"
            found["problems"] = [p.to_json() for p in error.problems]
        await Reply(send).json(200 if found["status"] == "ok" else 503, found)


@dataclass
class Measures:
    """The proxy's metrics, and behind them the server's if it has any."""

    service: Service
    merged: bool

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Prometheus' text format."""
        if self.merged and disabled():
            await Passing(self.service)(scope, receive, send)
            return
        text = self.service.metrics.text().encode()
        if self.merged:
            text += await self._theirs(scope)
        reply = Reply(send)
        head = [(b"content-type", MEDIA_TYPE.encode()),
                (b"content-length", str(len(text)).encode())]  # fmt: skip
        await reply.start(200, head)
        await reply.end(text)

    async def _theirs(self, scope: Scope) -> bytes:
        upstream = self.service.upstream
        dropped = (b"accept-encoding", b"content-length")
        kept = [(k, v) for k, v in scope["headers"] if k.lower() not in dropped]
        try:
            response = await upstream.send("GET", b"/metrics", kept, seconds=_SECONDS)
            try:
                data = await read_whole(response) if response.status == 200 else b""
            finally:
                response.close()
        except UpstreamFault:  # Ours are worth something without theirs.
            return b""
        return data if data.endswith(b"\n") or not data else data + b"\n"


def make_app(service: Service) -> Router:
    """The application; its lifespan starts and ends what the service has at work.

    A router and no more: what starlette's applications put around it, :func:`.answered` does.
    """

    @contextlib.asynccontextmanager
    async def lifespan(_: Router) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.close()

    chat = Constraining(service, ChatForm())
    routes = [
        Route("/v1/chat/completions", chat),
        Route("/chat/completions", chat),
        Route("/v1/messages", Constraining(service, AnthropicForm())),
        Route(HEALTH, Health(service)),
        Route(OWN_METRICS, Measures(service, merged=False)),
        Route("/metrics", Measures(service, merged=True)),
    ]
    return Router(routes, redirect_slashes=False, default=Passing(service), lifespan=lifespan)
