"""Calligram: one declarative grammar for how a model calls tools, for every back end.

``compile_tools`` and ``compile_schema`` give a :class:`CompiledGrammar`; the targets
(``calligram.targets``: ``gbnf``, ``parser``) start from it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from .compiler.read_back import use_reader
from .compiler.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable

    from .chat_templates.detect import detect_dialect
    from .chat_templates.names import find_dialect
    from .public import *
    from .targets.parser import ParseResult

__version__ = VERSION

__all__ = [
    "ArtefactError",
    "Bounds",
    "CalligramError",
    "CompiledGrammar",
    "DialectSpec",
    "Finding",
    "GrammarError",
    "LimitExceeded",
    "Origin",
    "Problem",
    "RenderError",
    "Report",
    "SchemaError",
    "SpecError",
    "TargetError",
    "ToolError",
    "Trigger",
    "Verdict",
    "Vocabulary",
    "VocabularyError",
    "compile_schema",
    "compile_tools",
    "detect_dialect",
    "dialects",
    "find_dialect",
    "render",
]

_HOMES = ("public", "chat_templates.detect", "chat_templates.names")
"""Where the names are; the later ones no compile needs."""


def __getattr__(name: str) -> object:
    """Names are imported when one is asked for: `calligram build` with nothing to do needs none.

    All that compiling takes at once, so that it is not the first request's compile that waits for
    the other ones.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(".compiler.detection", __name__).use_detector(_dialect_of)
    for home in _HOMES:
        found = vars(importlib.import_module(f".{home}", __name__))
        globals().update({known: found[known] for known in __all__ if known in found})
        if name in found:
            break
    value: object = globals()[name]
    return value


def _dialect_of(template: object) -> str:
    """Detects a dialect; what renders templates is imported when one comes."""
    from .chat_templates.detect import dialect_of

    return dialect_of(template)


def _reading_of(grammar: CompiledGrammar) -> Callable[[str], ParseResult]:
    """Reads a grammar's turns; what parses is imported when a turn is to be read back."""
    from .targets import parser

    return parser.compile(grammar).parse


use_reader(_reading_of)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
