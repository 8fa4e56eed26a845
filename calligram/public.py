"""What compiling takes, imported all at once; :mod:`calligram` has these names when one is asked
for."""

from .compiler.compiled import CompiledGrammar as CompiledGrammar
from .compiler.errors import ArtefactError as ArtefactError
from .compiler.errors import CalligramError as CalligramError
from .compiler.errors import GrammarError as GrammarError
from .compiler.errors import LimitExceeded as LimitExceeded
from .compiler.errors import RenderError as RenderError
from .compiler.errors import SchemaError as SchemaError
from .compiler.errors import SpecError as SpecError
from .compiler.errors import TargetError as TargetError
from .compiler.errors import ToolError as ToolError
from .compiler.errors import VocabularyError as VocabularyError
from .compiler.findings import Finding as Finding
from .compiler.ir import Bounds as Bounds
from .compiler.origin import Origin as Origin
from .compiler.origin import Problem as Problem
from .compiler.pipeline import compile_schema as compile_schema
from .compiler.pipeline import compile_tools as compile_tools
from .compiler.pipeline import dialects as dialects
from .compiler.pipeline import render as render
from .compiler.report import Report as Report
from .compiler.spec import DialectSpec as DialectSpec
from .compiler.trigger import Trigger as Trigger
from .compiler.verdict import Verdict as Verdict
from .compiler.vocabulary.vocabulary import Vocabulary as Vocabulary
