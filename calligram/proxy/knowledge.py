"""What is known of the server: its dialect, and what its replies show. Asked when first needed,
and again from time to time, as a server may come back with another model."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from dataclasses import dataclass
from typing import Any, Final

from ..chat_templates.chat_template import ChatTemplate
from ..chat_templates.detect import dialect_of
from ..compiler.detection import AUTO
from ..compiler.errors import CalligramError
from ..compiler.spec import DialectSpec
from ..compiler.spec_loader import load_dialect
from .completion import TEMPLATE
from .connection import Headers
from .options import Capabilities, markers
from .pieces import UpstreamFault
from .upstream import Upstream

FRESH: Final = 60.0
"""Seconds for which what was heard is taken for true."""
FAILED: Final = 1.0
"""Seconds for which it is not asked again after a failure."""
_SECONDS: Final = 30.0
_USER: Final = "Quoth the raven"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known.

    Attributes:
        model: what the server calls its model.
        since: when it was heard, monotonic.
    """

    spec: DialectSpec
    capabilities: Capabilities
    model: str
    since: float


class Knowledge:
    """Asks, and remembers.

    Args:
        dialect: an id, a file, or "auto".
        special: the server runs with ``--special``.
    """

    def __init__(self, upstream: Upstream, dialect: str, special: bool) -> None:
        self._upstream = upstream
        self._named = None if dialect == AUTO else load_dialect(dialect)
        self._special = special
        # By whose keys: what the server refuses to one it may tell another.
        self._coming: dict[bytes, asyncio.Task[Known]] = {}
        self._failed: dict[bytes, tuple[float, UpstreamFault | CalligramError]] = {}
        self._renewing: asyncio.Task[None] | None = None
        self.known: Known | None = None

    async def get(self, headers: Headers) -> Known:
        """What is known now.

        Raises:
            UpstreamFault: nothing is known, and the server does not say.
            CalligramError: the dialect of its chat template cannot be told.
        """
        known = self.known
        if known is None:
            return await self._first(headers)
        if time.monotonic() - known.since > FRESH and self._renewing is None:
            # This request does not wait: most servers keep their model.
            self._renewing = asyncio.create_task(self._renew(headers))
        return known

    async def _first(self, headers: Headers) -> Known:
        """Ask, or wait with who asks already; what fails is not asked again at once."""
        key = keys_of(headers)
        now = time.monotonic()
        self._failed = {k: v for k, v in self._failed.items() if v[0] > now}
        if key in self._failed:
            raise copied(self._failed[key][1])
        task = self._coming.get(key)
        if task is None:
            task = self._coming[key] = asyncio.create_task(self._told(headers))
            task.add_done_callback(lambda done: self._came(key, done))
        try:
            # Who goes away must not take it from the others.
            return await asyncio.shield(task)
        except (UpstreamFault, CalligramError) as error:
            raise copied(error) from None

    async def _told(self, headers: Headers) -> Known:
        self.known = await self._ask(headers)
        return self.known

    def _came(self, key: bytes, task: asyncio.Task[Known]) -> None:
        self._coming.pop(key, None)
        error = None if task.cancelled() else task.exception()
        if isinstance(error, (UpstreamFault, CalligramError)):
            self._failed[key] = (time.monotonic() + FAILED, error)

    async def _renew(self, headers: Headers) -> None:
        try:
            with contextlib.suppress(UpstreamFault, CalligramError):
                self.known = await self._ask(headers)
        finally:
            self._renewing = None

    async def close(self) -> None:
        """Stop asking."""
        tasks = [*self._coming.values(), *([self._renewing] if self._renewing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask(self, headers: Headers) -> Known:
        try:
            async with asyncio.timeout(_SECONDS):
                return await self._heard(headers)
        except TimeoutError:
            raise UpstreamFault("slow", "the server stays silent about itself", 504) from None

    async def _heard(self, headers: Headers) -> Known:
        props = await self._upstream.ask("GET", "/props", headers, seconds=_SECONDS)
        props = props if isinstance(props, dict) else {}
        template = _text(props, "chat_template_tool_use") or _text(props, "chat_template")
        spec = self._named
        if spec is None:
            special = {k: _text(props, k) for k in ("bos_token", "eos_token")}
            chat = ChatTemplate(template, special=special, place="the server's chat template")
            spec = load_dialect(await asyncio.to_thread(dialect_of, chat))
        prompt, visible = await asyncio.gather(
            self._generation_prompt(headers), self._visible(spec, headers)
        )
        eos = _text(props, "eos_token")
        ends = {*spec.turn_end.tokens, *([eos] if eos else [])}
        capabilities = Capabilities(
            visible=visible,
            special=self._special,
            ends=tuple(sorted(ends)),
            generation_prompt=prompt,
            chat_template=template or None,
        )
        model = _text(props, "model_alias") or _text(props, "model_path")
        return Known(spec, capabilities, model, time.monotonic())

    async def _generation_prompt(self, headers: Headers) -> str | None:
        """How a prompt ends behind the user's message."""
        body = {"messages": [{"role": "user", "content": _USER}]}
        try:
            answer = await self._upstream.ask("POST", TEMPLATE, headers, body, _SECONDS)
        except UpstreamFault:
            return None
        prompt = answer.get("prompt") if isinstance(answer, dict) else None
        if not isinstance(prompt, str) or _USER not in prompt:
            return None
        return prompt.rpartition(_USER)[2]

    async def _visible(self, spec: DialectSpec, headers: Headers) -> frozenset[str]:
        """The dialect's markers that are several tokens, and so cannot be hidden."""

        async def several(marker: str) -> bool:
            body = {"content": marker, "add_special": False, "parse_special": True}
            try:
                answer = await self._upstream.ask("POST", "/tokenize", headers, body, _SECONDS)
            except UpstreamFault:
                return False
            tokens = answer.get("tokens") if isinstance(answer, dict) else None
            return isinstance(tokens, list) and len(tokens) > 1

        names = sorted(markers(spec))
        found = await asyncio.gather(*map(several, names))
        return frozenset(n for n, seen in zip(names, found, strict=True) if seen)


def keys_of(headers: Headers) -> bytes:
    """A digest of the keys in the headers. Only ever compared."""
    keys = [v for k, v in headers if k.lower() in (b"authorization", b"x-api-key")]
    return hashlib.sha256(b"\0".join(keys)).digest() if keys else b""


def copied(error: UpstreamFault | CalligramError) -> UpstreamFault | CalligramError:
    """The same failure for one more who waited for it."""
    if isinstance(error, UpstreamFault):
        return UpstreamFault(error.kind, error.message, error.status, error.body)
    return CalligramError(error.problems)


def _text(props: dict[str, Any], key: str) -> str:
    value = props.get(key)
    return value if isinstance(value, str) else ""
