"""Calligram in front of llama.cpp's server.

:func:`constrain_request` says what the server must be sent for a chat request, and
:class:`Answer` reads what comes back; neither does any input or output. :mod:`.app` puts them
between clients and a server (``calligram serve``).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answer import Answer, Closed
    from .constrain import Constrained, constrain_request
    from .options import Capabilities, Policy
    from .request import RequestError

__all__ = [
    "Answer",
    "Capabilities",
    "Closed",
    "Constrained",
    "Policy",
    "RequestError",
    "constrain_request",
]

_HOMES = {
    "Answer": "answer",
    "Capabilities": "options",
    "Closed": "answer",
    "Constrained": "constrain",
    "Policy": "options",
    "RequestError": "request",
    "constrain_request": "constrain",
}


def __getattr__(name: str) -> object:
    """Imported when asked for: commands that need one module must not wait for all."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
