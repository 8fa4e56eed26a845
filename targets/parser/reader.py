"""The reader: one-shot and streaming, the same machinery and the same result."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...compiler.automaton.capturing import CapturingAutomaton
from ...compiler.compiled import MAX_KEPT_CELLS, CompiledGrammar
from ...compiler.errors import TargetError
from ...compiler.ir import Call
from ...compiler.origin import Problem
from ...compiler.owners import back_to
from ...compiler.pipeline import cached
from ...compiler.spec import DialectSpec
from .build import Builder
from .deltas import Deltas
from .judge import judge
from .result import Delta, Incomplete, ParseResult
from .run import Run

_NO_CHARACTER = re.compile("[\ud800-\udfff]")


def compile(grammar: CompiledGrammar) -> Reader:
    """The reader of a compiled grammar.

    Raises:
        TargetError: the grammar has no calls (it was made by ``compile_schema``).
    """
    if grammar.dialect is None:
        raise TargetError.at(
            "unsupported-feature",
            "a grammar of one JSON value has no calls to read",
            hint="use grammar.check, and a JSON parser",
        )
    return Reader(grammar)


def parse(text: str | bytes, *, tools: Any, dialect: str | Path | DialectSpec) -> ParseResult:
    """Read a text with a reader compiled with default options, keys in any order.

    Plain text beside the calls is no problem here, as under tool_choice "auto".
    """
    return _reader(cached(tools, dialect)).parse(text)


@lru_cache(maxsize=64)
def _reader(grammar: CompiledGrammar) -> Reader:
    return compile(grammar)


class Reader:
    """Reads turns. Holds no state of a text; may be shared."""

    def __init__(self, grammar: CompiledGrammar) -> None:
        assert grammar.dialect is not None
        self.grammar = grammar
        self._tools: Mapping[str, Call] = {c.name: c for c in grammar.calls}
        self._automaton = self._fresh()
        self._markers = tuple(t.encode() for t in grammar.trigger.texts)

    def _fresh(self) -> CapturingAutomaton:
        reading = self.grammar.reading
        return CapturingAutomaton(reading.rules, reading.start, resume=reading.rules["body"])

    def parse(self, text: str | bytes) -> ParseResult:
        """Read a whole text. Never raises on text, whatever it holds."""
        if not isinstance(text, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
        stream = self.stream()
        stream.read(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
        return stream.close()

    def stream(self) -> Stream:
        """A stream: feed it bytes as they come."""
        return Stream(self)

    def start(self, text: bytearray, on_break: Callable[[int], None]) -> tuple[Run, Builder]:
        """The machinery for one text. The automaton grows with what it reads, nesting above all;
        past a limit it is made anew."""
        assert self.grammar.dialect is not None
        if self._automaton.core.size > MAX_KEPT_CELLS:
            self._automaton = self._fresh()
        args = self.grammar.dialect.args
        builder = Builder(self._automaton.core.slots, text, self._tools, args)
        return Run(self._automaton, builder, text, on_break, self._markers), builder


class Stream:
    """One text, read piece by piece, however it is cut.

    Made by :meth:`Reader.stream`, or from tools and a dialect as ``parse`` does.
    """

    def __init__(
        self,
        reader: Reader | None = None,
        *,
        tools: Any = None,
        dialect: str | Path | DialectSpec | None = None,
    ) -> None:
        if reader is None:
            if dialect is None:
                raise TypeError("a Stream needs a reader, or tools and a dialect")
            reader = _reader(cached(tools, dialect))
        self._reader = reader
        self._text = bytearray()
        me = back_to(self)
        self._run, self._builder = reader.start(self._text, lambda at: me._breaks(at))
        self._deltas = Deltas(self._builder, self._text)
        self._waiting: list[Delta] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._invalid: int | None = None
        self._cut = b""
        self._result: ParseResult | None = None

    def feed(self, data: bytes | str) -> list[Delta]:
        """Read more; -> what is new. The pieces may be cut anywhere, inside characters too."""
        self.read(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
        sure = self._run.settle()
        out = [*self._waiting, *self._deltas.up_to(sure)]
        self._waiting.clear()
        return out

    def _breaks(self, at: int) -> None:
        # Told now, since the text is content from here on; the same for every cut.
        self._waiting += self._deltas.broken(at)

    def read(self, data: bytes) -> None:
        """Read more without saying what is new."""
        self._take(self._decoder.decode(data))

    def _take(self, text: str) -> None:
        """Read decoded text, in which a byte that is no UTF-8 is a lone surrogate (PEP 383)."""
        try:
            data = text.encode("utf-8")
        except UnicodeEncodeError as error:
            if self._invalid is None:
                self._invalid = len(self._text) + len(text[: error.start].encode("utf-8"))
            data = _NO_CHARACTER.sub("\ufffd", text).encode("utf-8")
        self._run.feed(data)

    def close(self) -> ParseResult:
        """The text has ended; -> the same result as ``parse`` of the whole."""
        if self._result is None:
            self._cut = self._decoder.getstate()[0]
            ended = self._run.close()
            self._result = self._finish(ended)
        return self._result

    @property
    def rest(self) -> list[Delta]:
        """What only the end of the text made sure, once ``close`` was called."""
        if self._result is not None:
            self._waiting += self._deltas.up_to(len(self._text))
        return list(self._waiting) if self._result is not None else []

    def _finish(self, ended: bool) -> ParseResult:
        builder = self._builder
        incomplete = None if ended else self._cut_off()
        grammar = self._reader.grammar
        problems: list[Problem] = [*self._run.problems, *builder.problems]
        if self._invalid is not None:
            problems.append(Problem("not-utf-8", f"byte {self._invalid} is no UTF-8"))
        verdict = grammar.check(bytes(self._text) + self._cut)
        if incomplete is None and self._cut:
            incomplete = Incomplete(None, "", "the text ends inside a character")
        if verdict.accepted:
            # No automaton remembers undeclared keys; the last one counts, as in JSON. What was
            # relaxed is for the validator; the rest the grammar has decided, and exactly, where a
            # validator reads numbers as floats and patterns as Python does.
            problems = [p for p in problems if p.code != "duplicate-key"]
            if grammar.is_relaxed:
                problems += judge(grammar, builder.calls)
        else:
            problems += judge(grammar, builder.calls)
            if incomplete is None and self._text and verdict.position == len(self._text):
                incomplete = Incomplete(None, "", f"the text ends early: {verdict.message}")
            if not problems:
                code = "incomplete" if incomplete else "not-accepted"
                where = f"at byte {verdict.position}: "
                problems.append(Problem(code, where + verdict.message))
        return ParseResult(
            calls=builder.calls,
            content=self._joined(builder.content),
            reasoning=self._joined(builder.reasoning).strip(),
            problems=tuple(problems),
            incomplete=incomplete,
        )

    def _joined(self, spans: list[tuple[int, int]]) -> str:
        return "".join(self._builder.slice(start, end) for start, end in spans)

    def _cut_off(self) -> Incomplete:
        builder = self._builder
        call = builder.call
        end = len(self._text)
        if call is None:
            builder.abandon(end)
            what = "before the calls are closed" if builder.calls else "inside a block"
            return Incomplete(None, "", f"the text ends {what}")
        start = call.arguments_start
        end = end if call.arguments_end is None else call.arguments_end
        arguments = "" if start is None else builder.slice(start, end)
        name = f"'{call.name}'" if call.name else "a tool"
        return Incomplete(
            call.name, arguments, f"the call of {name} is incomplete: the text ends inside it"
        )
