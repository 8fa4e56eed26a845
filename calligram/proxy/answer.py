"""The text of one answer -> what it says, piece by piece: content, reasoning, calls, problems.

The same pieces make a stream and a whole answer, so that the one is the sum of the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..compiler.origin import Problem
from ..targets.parser import Delta, ParseResult, Reader

Stop: TypeAlias = Literal["end", "limit", "word"]
Finish: TypeAlias = Literal["stop", "length", "tool_calls"]


@dataclass(frozen=True, slots=True)
class Closed:
    """An answer that has ended.

    Attributes:
        deltas: what only the end made sure.
        finish: why it ended, in OpenAI's words.
        result: the whole, read.
        problems: all that is wrong with it; what `result` has, and a call that is missing.
        broken: indices of calls that were begun and are none: they broke off, or the answer stopped
            in them at a word. One that meets the token limit is not among them.
    """

    deltas: list[Delta]
    finish: Finish
    result: ParseResult
    problems: tuple[Problem, ...]
    broken: frozenset[int]

    @property
    def is_faulty(self) -> bool:
        """Is a call missing, cut off for no reason, or against its schema: worth another try?"""
        return self.finish != "length" and any(p.severity == "error" for p in self.problems)


class Answer:
    """Reads one answer, however it is cut.

    Args:
        kind: must there be a call?
        ends: texts of end tokens that the server may show at the end; taken off.
        identifier: makes ids of calls, where the dialect has none, differ between answers.
    """

    def __init__(
        self,
        reader: Reader,
        kind: Literal["required", "auto"],
        *,
        ends: tuple[str, ...] = (),
        identifier: str = "",
    ) -> None:
        self._stream = reader.stream()
        self._kind = kind
        self._ends = ends
        self._held = ""
        self._identifier = identifier
        self._begun: set[int] = set()
        self._broken: set[int] = set()
        self._counts = reader.dialect.call_id.kind != "pattern"

    def feed(self, text: str) -> list[Delta]:
        """Read more; -> what is new."""
        if self._ends:
            text = self._held + text
            self._held = self._end_of(text)
            text = text.removesuffix(self._held)
        if not text:
            return []
        return self._named(self._stream.feed(text.encode("utf-8", "surrogatepass")))

    def _end_of(self, text: str) -> str:
        """What of the text's end could be an end token's text: nothing else follows one."""
        longest = max(map(len, self._ends))
        for start in range(max(0, len(text) - longest), len(text)):
            tail = text[start:]
            if any(end.startswith(tail) for end in self._ends):
                return tail
        return ""

    def close(self, stop: Stop) -> Closed:
        """The answer has ended, at its own end, at the token limit, or at a stop word."""
        late: list[Delta] = []
        if self._held and self._held not in self._ends:
            late = self._named(self._stream.feed(self._held.encode("utf-8", "surrogatepass")))
        result = self._stream.close()
        rest = self._named(self._stream.rest)
        if stop == "limit" and self._kind == "required":
            # Only what could begin a marker is held back: here it would have been one.
            rest = [delta for delta in rest if delta.kind != "content"]
        deltas = late + rest
        finish: Finish = "tool_calls" if result.calls else "stop"
        if stop == "limit":
            finish = "length"
        problems = list(result.problems)
        if self._kind == "required" and not result.calls and stop != "limit":
            problems.insert(
                0,
                Problem(
                    "proxy-no-call",
                    "the answer holds no call that can be read, though one was required",
                    hint="the server may hide the dialect's markers, ignore grammars, or have "
                    "stopped at a word of the request's own",
                ),
            )
        broken = self._broken
        if stop != "limit":
            # Calls are told in order, so that only the last can be without an end.
            whole = sorted(self._begun - broken)[: len(result.calls)]
            broken = self._begun - set(whole)
        return Closed(deltas, finish, result, tuple(problems), frozenset(broken))

    def _named(self, deltas: list[Delta]) -> list[Delta]:
        """Calls with ids that no other answer has; calls that break off noted.

        An id that the model invents stays, as its template shows it again. A number that counts the
        calls of one turn is none: the next turn has the same.
        """
        out = []
        for delta in deltas:
            if delta.kind == "call" and (self._counts or not delta.id):
                delta = delta._replace(id=f"call_{self._identifier}{delta.index}")
            if delta.kind == "call":
                self._begun.add(delta.index)
            elif delta.kind == "broken":
                self._broken.add(delta.index)
            out.append(delta)
        return out
