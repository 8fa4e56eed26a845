"""One grammar as a server is sent it, and as its answers are read: `Order -> Prepared`.

Compiling may be done in another process: what comes back (:func:`packed`) has every rule built and
leaves nothing to compile, so that a hostile schema costs only the process that compiled it.
"""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Literal, TypeAlias

from ..compiler.compiled import CompiledGrammar
from ..compiler.grammar import Grammar, Rules
from ..compiler.identity import ByIdentity
from ..compiler.pipeline import Reasoning, compile_tools
from ..compiler.spec import DialectSpec
from ..llama_server import grammar_triggers
from ..targets import gbnf, parser
from .options import Policy, markers

Form: TypeAlias = Literal["required", "lazy", "whole"]
"""``required``: the turn must call. ``lazy``: armed by a trigger, from there on. ``whole``: the
turn from its first token, prose free, so that what is written in thoughts arms nothing."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be compiled. Equal orders give equal grammars."""

    tools: str
    spec: DialectSpec
    choice: Any
    parallel: bool
    reasoning: Reasoning
    form: Form
    policy: Policy

    @property
    def digest(self) -> bytes:
        """SHA-256 of all of it."""
        rest = (self.choice, self.parallel, self.reasoning, self.form, self.policy)
        said = hashlib.sha256(_dumped(ByIdentity(self.spec)))
        for text in (self.tools, repr(rest)):
            # Each with its length: no two orders run together to the same text.
            data = text.encode("utf-8", "surrogatepass")
            said.update(len(data).to_bytes(8, "big") + data)
        return said.digest()


@lru_cache(maxsize=64)
def _dumped(spec: ByIdentity[DialectSpec]) -> bytes:
    """Specs are equal by what they say."""
    return hashlib.sha256(spec.value.model_dump_json().encode()).digest()


@dataclass(frozen=True)
class Prepared:
    """A grammar ready for use.

    Attributes:
        text: GBNF.
        lazy: it is armed by a trigger.
        grammar: reads the answers; the one that was compiled, or a portable one.
        size: bytes that it came in from another process.
    """

    text: str
    lazy: bool
    grammar: CompiledGrammar
    size: int = 0

    @cached_property
    def reader(self) -> parser.Reader:
        """Reads answers; shared by all of them."""
        return parser.compile(self.grammar)

    @cached_property
    def triggers(self) -> list[dict[str, object]]:
        """What arms the grammar, as llama.cpp's server takes it; empty if nothing needs to."""
        if not self.lazy:
            return []
        return grammar_triggers(self.grammar.trigger)

    @cached_property
    def preserved(self) -> list[str]:
        """The tokens that the server must not hide. It leaves out what its vocabulary has not as
        one token, so that every marker may be named."""
        assert self.grammar.dialect is not None
        declared = self.grammar.trigger.preserved
        return list(dict.fromkeys((*declared, *sorted(markers(self.grammar.dialect)))))


def prepare(order: Order) -> Prepared:
    """Compile and emit.

    Raises:
        CalligramError: as :func:`calligram.compile_tools` and ``gbnf.emit``.
    """
    grammar = compile_tools(
        order.tools,
        order.spec,
        tool_choice=order.choice,
        parallel_tool_calls=order.parallel,
        reasoning=order.reasoning,
        **order.policy.compile_options(),
    )
    enforced = grammar.enforced
    if order.form == "whole":
        enforced = replace(enforced, armed=None)
    return Prepared(gbnf.emit_grammar(enforced), order.form == "lazy", grammar)


def packed(made: Prepared) -> bytes:
    """A grammar with every rule built, as bytes for :func:`unpacked`."""
    grammar = made.grammar
    enforced = grammar.enforced
    fields = {name: getattr(grammar, name) for name in _FIELDS}
    fields["findings"] = tuple(f for f in grammar.findings if f.status == "relaxed")
    rules = dict(enforced.rules.reachable(enforced.start))
    # In one piece, so that what they share stays shared.
    whole = (made.text, made.lazy, fields, rules, enforced.start)
    return pickle.dumps(whole, pickle.HIGHEST_PROTOCOL)


def unpacked(data: bytes) -> Prepared:
    """What :func:`packed` was given, except that it cannot say what it was compiled from.

    Only for bytes of a process of one's own: they are a pickle.
    """
    text, lazy, fields, rules, start = pickle.loads(data)
    built = Rules()
    for name, expr in rules.items():
        built.define(name, expr)
    grammar = CompiledGrammar(enforced=Grammar(built, start), calls_only=None, **fields)
    return Prepared(text, lazy, grammar, len(data))


_FIELDS: Final = (
    "dialect", "envelope", "bounds", "key_order", "tool_choice", "dropped", "offered",
)  # fmt: skip
