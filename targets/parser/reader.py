"""The reader of one grammar, and the convenience of reading with default options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ...compiler.automaton.capturing import CapturingAutomaton
from ...compiler.compiled import MAX_KEPT_CELLS, CompiledGrammar
from ...compiler.errors import TargetError
from ...compiler.ir import Call
from ...compiler.pipeline import cached
from ...compiler.spec import DialectSpec
from .build import Builder
from .markers import Marks, section_opener
from .result import ParseResult
from .run import Run
from .stream import TextStream, as_bytes
from .telling import Telling


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


def parse(
    text: str | bytes, *, tools: Any, dialect: str | Path | DialectSpec, lenient: bool = False
) -> ParseResult:
    """Read a text with a reader compiled with default options, keys in any order.

    Plain text beside the calls is no problem here, as under tool_choice "auto".
    """
    return _reader(cached(tools, dialect)).parse(text, lenient=lenient)


@lru_cache(maxsize=64)
def _reader(grammar: CompiledGrammar) -> Reader:
    return compile(grammar)


class Reader:
    """Reads turns. Holds no state of a text; may be shared."""

    def __init__(self, grammar: CompiledGrammar) -> None:
        assert grammar.dialect is not None
        self.grammar = grammar
        self.dialect = grammar.dialect
        self.tools: Mapping[str, Call] = {c.name: c for c in grammar.calls}
        self._automaton = self._fresh()
        self._triggers = tuple(t.encode() for t in grammar.trigger.texts)
        self._opener = section_opener(grammar.dialect)

    def _fresh(self) -> CapturingAutomaton:
        reading = self.grammar.reading
        return CapturingAutomaton(reading.rules, reading.start, resume=reading.rules["body"])

    @cached_property
    def marks(self) -> Marks:
        """What lenient reading goes by."""
        return Marks(self.dialect, self.tools)

    def parse(self, text: str | bytes, *, lenient: bool = False) -> ParseResult:
        """Read a whole text. Never raises on text, whatever it holds.

        Args:
            lenient: also read calls that are not quite as the dialect has them, behind its markers;
                what was overlooked is in the result's `recoveries`.
        """
        data = as_bytes(text)
        stream = TextStream(self, lenient=lenient, telling=False)
        stream.read(data)
        return stream.close()

    def stream(self, *, lenient: bool = False) -> Stream:
        """A stream: feed it bytes as they come.

        Args:
            lenient: as for ``parse``. From the first marker that does not begin a call on, nothing
                is told before the end.
        """
        return Stream(self, lenient=lenient)

    def start(
        self,
        text: bytearray,
        telling: Telling | None,
        on_break: Callable[[int, int], None],
        parts: list[tuple[str, int, int]] | None = None,
    ) -> tuple[Run, Builder]:
        """The machinery for one text. The automaton grows with what it reads, nesting above all;
        past a limit it is made anew.

        Args:
            parts: where to put what is captured, as the builder does; None: nowhere.
        """
        if self._automaton.core.size > MAX_KEPT_CELLS:
            self._automaton = self._fresh()
        args = self.dialect.args
        slots = self._automaton.core.slots
        builder = Builder(slots, text, self.tools, args, telling, self._opener, parts)
        return Run(self._automaton, builder, text, on_break, self._triggers), builder


class Stream(TextStream):
    """One text, read piece by piece, however it is cut.

    Made by :meth:`Reader.stream`, or from tools and a dialect as ``parse`` does.
    """

    def __init__(
        self,
        reader: Reader | None = None,
        *,
        tools: Any = None,
        dialect: str | Path | DialectSpec | None = None,
        lenient: bool = False,
    ) -> None:
        if reader is None:
            if dialect is None:
                raise TypeError("a Stream needs a reader, or tools and a dialect")
            reader = _reader(cached(tools, dialect))
        super().__init__(reader, lenient=lenient, telling=True)
