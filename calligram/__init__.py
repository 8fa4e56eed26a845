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
    from .compiler.compiled import CompiledGrammar
    from .compiler.errors import (
        ArtefactError,
        CalligramError,
        GrammarError,
        LimitExceeded,
        RenderError,
        SchemaError,
        SpecError,
        TargetError,
        ToolError,
        VocabularyError,
    )
    from .compiler.findings import Finding
    from .compiler.ir import Bounds
    from .compiler.origin import Origin, Problem
    from .compiler.pipeline import compile_schema, compile_tools, dialects, render
    from .compiler.report import Report
    from .compiler.spec import DialectSpec
    from .compiler.trigger import Trigger
    from .compiler.verdict import Verdict
    from .compiler.vocabulary.vocabulary import Vocabulary
    from .proxy.constrain import constrain_request
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
    "constrain_request",
    "detect_dialect",
    "dialects",
    "find_dialect",
    "render",
]

_HOMES = {
    "compiled": ("CompiledGrammar",),
    "errors": (
        "ArtefactError",
        "CalligramError",
        "GrammarError",
        "LimitExceeded",
        "RenderError",
        "SchemaError",
        "SpecError",
        "TargetError",
        "ToolError",
        "VocabularyError",
    ),
    "findings": ("Finding",),
    "ir": ("Bounds",),
    "origin": ("Origin", "Problem"),
    "pipeline": ("compile_schema", "compile_tools", "dialects", "render"),
    "report": ("Report",),
    "spec": ("DialectSpec",),
    "trigger": ("Trigger",),
    "verdict": ("Verdict",),
    "vocabulary.vocabulary": ("Vocabulary",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_APART = {
    "constrain_request": "proxy.constrain",
    "detect_dialect": "chat_templates.detect",
    "find_dialect": "chat_templates.names",
}
"""What no compile needs is imported by itself."""


def __getattr__(name: str) -> object:
    """Names are imported when one is asked for: `calligram build` with nothing to do needs none.

    All at once, so that it is not the first request's compile that waits for the other ones.
    """
    if name in _APART:
        globals()[name] = getattr(importlib.import_module(f".{_APART[name]}", __name__), name)
        return globals()[name]
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(".compiler.detection", __name__).use_detector(_dialect_of)
    for known, home in _HOME_OF.items():
        module = importlib.import_module(f".compiler.{home}", __name__)
        globals()[known] = getattr(module, known)
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
