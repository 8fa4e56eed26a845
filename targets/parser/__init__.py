"""The parser target: calls back out of text, by the captures of the dialect's reading grammar.

``compile(grammar)`` gives a :class:`Reader`; ``parse`` and ``Stream`` are conveniences that compile
with default options and keep what they compiled.
"""

from .reader import Reader, Stream, compile, parse
from .result import Delta, Incomplete, ParseResult, Recovery, to_openai_chunks

__all__ = [
    "Delta",
    "Incomplete",
    "ParseResult",
    "Reader",
    "Recovery",
    "Stream",
    "compile",
    "parse",
    "to_openai_chunks",
]
