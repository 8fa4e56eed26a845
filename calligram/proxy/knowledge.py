"""What is known of the server: its dialect, and what its replies show. Asked when first needed,
and again from time to time, as a server may come back with another model."""

from __future__ import annotations

import asyncio
import contextlib
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
from .options import Capabilities, markers
from .pieces import UpstreamFault
from .upstream import Headers, Upstream

FRESH: Final = 60.0
"""Seconds for which what was heard is taken for true."""
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
        self._asking = asyncio.Lock()
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
            async with self._asking:
                if self.known is None:
                    self.known = await self._ask(headers)
                return self.known
        if time.monotonic() - known.since > FRESH and self._renewing is None:
            # This request does not wait: most servers keep their model.
            self._renewing = asyncio.create_task(self._renew(headers))
        return known

    async def _renew(self, headers: Headers) -> None:
        try:
            with contextlib.suppress(UpstreamFault, CalligramError):
                self.known = await self._ask(headers)
        finally:
            self._renewing = None

    async def close(self) -> None:
        """Stop asking."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)

    async def _ask(self, headers: Headers) -> Known:
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


def _text(props: dict[str, Any], key: str) -> str:
    value = props.get(key)
    return value if isinstance(value, str) else ""
