"""Calligram in front of llama.cpp's server.

:func:`constrain_request` says what the server must be sent for a chat request, and
:class:`Answer` reads what comes back; neither does any input or output. :mod:`.app` puts them
between clients and a server (``calligram serve``).
"""

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
