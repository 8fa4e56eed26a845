"""Tools in requests to other paths than those that are constrained: noticed as the bytes pass."""

from __future__ import annotations

import re
from typing import Final

from ..compiler.origin import Problem

CODE: Final = "proxy-path"
REASON: Final = "path"
"""Why such a request was sent on, as log and metrics have it."""
_TOOLS: Final = re.compile(rb'(?<!\\)"tools"\s*:\s*\[\s*[^\s\]]')
_CARRY: Final = 1024
"""Bytes that are looked at again, since a key may be cut anywhere."""
_NO_ANSWER: Final = ("apply-template", "count_tokens", "input_tokens", "tokenize")
"""What ends a path that only renders or counts: there is nothing to constrain."""


class Elsewhere:
    """Looks for a list of tools in one request's body. The body is not read as JSON: it passes as
    it is, whatever it is, and may be large.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._looks = not path.rstrip("/").endswith(_NO_ANSWER)
        self._carry = b""
        self.found = False

    def feed(self, data: bytes) -> None:
        """Look at more of it."""
        if self._looks and not self.found:
            data = self._carry + data
            self.found = _TOOLS.search(data) is not None
            self._carry = data[-_CARRY:]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The notice, if there are tools."""
        if not self.found:
            return ()
        message = f"the path {self._path} is sent on as it comes: its tools are not constrained"
        hint = "chats are constrained at /v1/chat/completions and /v1/messages"
        return (Problem(CODE, message, hint=hint, severity="warning"),)
