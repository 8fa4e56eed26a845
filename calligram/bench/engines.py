"""The engines that are measured, each through the same five steps.

Made once a vocabulary; then, a schema: compile, start a text, write the packed mask into `row`,
take a token. All lay masks out alike: int32[ceil(V / 32)], bit i of word w is token 32 * w + i.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import sys
import types
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import __version__, compile_schema
from ..compiler.vocabulary.vocabulary import Vocabulary
from ..targets import mask
from .vocabularies import encode


class Engine(Protocol):
    """One engine over one vocabulary."""

    row: NDArray[np.int32]

    def compile(self, schema: Any) -> None:
        """Raises anything if the engine refuses the schema."""
        ...

    def start(self) -> None:
        """Begin a text of the schema that was compiled last."""
        ...

    def mask(self) -> None:
        """Write the mask into `row`."""
        ...

    def accept(self, token: int) -> bool:
        """Take a token that the mask allows."""
        ...


class Calligram:
    """This library."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.row = np.zeros(vocabulary.words, dtype=np.int32)

    def compile(self, schema: Any) -> None:
        """White space may vary, as JSON allows."""
        self._automaton = mask.compile(compile_schema(schema), self._vocabulary)

    def start(self) -> None:
        """See :class:`Engine`."""
        self._matcher = self._automaton.matcher()

    def mask(self) -> None:
        """See :class:`Engine`."""
        self._matcher.fill_next_token_bitmask(self.row)

    def accept(self, token: int) -> bool:
        """See :class:`Engine`."""
        return self._matcher.accept_token(token)


class LLGuidance:
    """https://github.com/guidance-ai/llguidance."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._engine: Any = importlib.import_module("llguidance")
        self._masks: Any = importlib.import_module("llguidance.numpy")
        tokenizer = self._engine.TokenizerWrapper(_Tokenizer(vocabulary))
        self._tokenizer = self._engine.LLTokenizer(tokenizer)
        self._rows = self._masks.allocate_token_bitmask(1, len(vocabulary))
        self.row = self._rows[0]

    def compile(self, schema: Any) -> None:
        """Raises ValueError with the engine's reason."""
        grammar = json.dumps({"grammars": [{"json_schema": schema}]})
        self._compiled = self._engine.LLMatcher(self._tokenizer, grammar)
        if self._compiled.is_error():
            raise ValueError(self._compiled.get_error())

    def start(self) -> None:
        """See :class:`Engine`."""
        self._matcher = self._compiled.deep_copy()

    def mask(self) -> None:
        """See :class:`Engine`."""
        self._masks.fill_next_token_bitmask(self._matcher, self._rows, 0)

    def accept(self, token: int) -> bool:
        """See :class:`Engine`."""
        return bool(self._matcher.consume_token(token))


class _Tokenizer:
    """What llguidance asks of a tokenizer; special tokens begin with the byte 0xFF there."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.eos_token_id = vocabulary.eos_ids[0]
        self.bos_token_id = None
        self.special_token_ids = sorted(vocabulary.special_ids)
        self.tokens = [
            b"\xff" + token if i in vocabulary.special_ids else token
            for i, token in enumerate(vocabulary.tokens)
        ]

    def __call__(self, text: str | bytes) -> list[int]:
        """Text as tokens."""
        words = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        return encode(self._vocabulary, words)


class XGrammar:
    """https://github.com/mlc-ai/xgrammar, driven through its C++ library's own bindings.

    Its Python package imports torch, which the library itself has no need of.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        core = _xgrammar_core()
        apart = vocabulary.special_ids | vocabulary.padding_ids
        texts = [b"" if i in apart else t for i, t in enumerate(vocabulary.tokens)]
        size, ends = len(texts), list(vocabulary.eos_ids)
        self._matchers: Callable[..., Any] = core.GrammarMatcher
        raw_bytes, prefix_space = 0, False
        self._info = core.TokenizerInfo(texts, raw_bytes, size, ends, prefix_space)
        threads, cache, limit, on_demand = 1, False, -1, False
        self._compiler = core.GrammarCompiler(self._info, threads, cache, limit, on_demand)
        self.row = np.zeros(vocabulary.words, dtype=np.int32)
        self._rows = self.row[None]

    def compile(self, schema: Any) -> None:
        """Its default strictness; white space as `json.dumps` has it."""
        any_space, indent, separators, strict, most_space, any_order = (
            False, None, None, True, None, False,
        )  # fmt: skip
        self._compiled = self._compiler.compile_json_schema(
            json.dumps(schema), any_space, indent, separators, strict, most_space, any_order
        )

    def start(self) -> None:
        """See :class:`Engine`."""
        stop_tokens, unended, rollback, temperature = None, False, -1, None
        self._matcher = self._matchers(self._compiled, stop_tokens, unended, rollback, temperature)

    def mask(self) -> None:
        """See :class:`Engine`."""
        self._matcher.fill_next_token_bitmask(self._rows, 0, False)

    def accept(self, token: int) -> bool:
        """See :class:`Engine`."""
        return bool(self._matcher.accept_token(token, False))


def _xgrammar_core() -> Any:
    """The bindings without the package's `__init__`, which imports torch."""
    name = "xgrammar"
    if name not in sys.modules:
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.submodule_search_locations is not None
        bare = types.ModuleType(name)
        bare.__path__ = list(spec.submodule_search_locations)
        sys.modules[name] = bare
    importlib.import_module("xgrammar.load_binding")
    return importlib.import_module("xgrammar.tvm_ffi_binding._ffi_api")


ENGINES: dict[str, Callable[[Vocabulary], Engine]] = {
    "calligram": Calligram,
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
}

NEEDS = {"calligram": (), "llguidance": ("llguidance",), "xgrammar": ("xgrammar", "tvm_ffi")}
"""Packages that must be importable, by engine."""


def missing(name: str) -> str | None:
    """The first package that an engine lacks here; None: it can be measured."""
    return next((p for p in NEEDS[name] if importlib.util.find_spec(p) is None), None)


def version(name: str) -> str:
    """The installed version of an engine."""
    return __version__ if name == "calligram" else importlib.metadata.version(name)
