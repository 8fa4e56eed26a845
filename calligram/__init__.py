"""Calligram: one declarative grammar for how a model calls tools, for every back end.

``compile_tools`` and ``compile_schema`` give a :class:`CompiledGrammar`; the targets
(``calligram.targets``: ``gbnf``, ``parser``) start from it.
"""

from __future__ import annotations

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
from .compiler.version import VERSION
from .compiler.vocabulary.vocabulary import Vocabulary

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
    "dialects",
    "render",
]
