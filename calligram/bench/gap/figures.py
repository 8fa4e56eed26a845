"""Answers made into figures, mode by mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .job import MODES, Mode
from .judge import Answer
from .runner import Result


@dataclass(frozen=True, slots=True)
class Figures:
    """One mode's counts over the same cases.

    Attributes:
        cases: how many; `wanted`: of them, those that want a call.
        started: answers that begin a call; `valid_started`: of them, those that are whole,
            schema-valid calls.
        schema_valid: answers that are schema-valid calls, by both judges.
        right_tool: answers that call the expected tool, or none where none is expected;
            `right_wanted`: of those that want a call.
        lenient_valid, lenient_right: the same in lenient reading.
        cut: answers that met the limit; `failed`: those that the server broke off.
        tokens, seconds: of all answers together; `longest`: tokens of the longest one.
    """

    cases: int
    wanted: int
    started: int
    valid_started: int
    schema_valid: int
    right_tool: int
    right_wanted: int
    lenient_valid: int
    lenient_right: int
    cut: int
    failed: int
    tokens: int
    seconds: float
    longest: int

    @property
    def valid_if_started(self) -> float | None:
        """Share of the started answers; None if none was started."""
        return self.valid_started / self.started if self.started else None

    def to_json(self) -> dict[str, Any]:
        """Shares from 0 to 1 of all answers (`valid_if_started` of the started ones), averages an
        answer, and the counts behind them."""
        return {
            "started": _share(self.started, self.cases),
            "valid_if_started": self.valid_if_started,
            "schema_valid": _share(self.schema_valid, self.cases),
            "right_tool": _share(self.right_tool, self.cases),
            "lenient": {
                "schema_valid": _share(self.lenient_valid, self.cases),
                "right_tool": _share(self.lenient_right, self.cases),
            },
            "tokens": self.tokens / self.cases if self.cases else None,
            "seconds": self.seconds / self.cases if self.cases else None,
            "counts": {
                "cases": self.cases,
                "call_wanted": self.wanted,
                "started": self.started,
                "valid_if_started": self.valid_started,
                "schema_valid": self.schema_valid,
                "right_tool": self.right_tool,
                "right_tool_if_wanted": self.right_wanted,
                "lenient_schema_valid": self.lenient_valid,
                "lenient_right_tool": self.lenient_right,
                "cut": self.cut,
                "failed": self.failed,
                "tokens": self.tokens,
                "longest": self.longest,
            },
        }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def sum_up(results: Sequence[Result], mode: Mode) -> Figures:
    """One mode's figures."""
    pairs = [(r.case, r.answers[mode]) for r in results]

    def count(holds: Callable[[Answer], bool]) -> int:
        return sum(holds(answer) for _, answer in pairs)

    return Figures(
        cases=len(pairs),
        wanted=sum(case.tool is not None for case, _ in pairs),
        started=count(lambda a: a.started),
        valid_started=count(lambda a: a.started and a.strict.valid),
        schema_valid=count(lambda a: a.strict.valid),
        right_tool=count(lambda a: a.strict.right_tool),
        right_wanted=sum(a.strict.right_tool for case, a in pairs if case.tool is not None),
        lenient_valid=count(lambda a: a.lenient.valid),
        lenient_right=count(lambda a: a.lenient.right_tool),
        cut=count(lambda a: a.completion.cut),
        failed=count(lambda a: a.completion.error is not None),
        tokens=sum(a.completion.tokens for _, a in pairs),
        seconds=sum(a.completion.seconds for _, a in pairs),
        longest=max((a.completion.tokens for _, a in pairs), default=0),
    )


def by_kind(results: Sequence[Result]) -> dict[str, dict[Mode, Figures]]:
    """The figures of each kind of case, in the order of the kinds' first cases."""
    kinds = dict.fromkeys(r.case.kind for r in results)
    return {
        kind: {mode: sum_up([r for r in results if r.case.kind == kind], mode) for mode in MODES}
        for kind in kinds
    }


BARS: Final[tuple[tuple[str, Callable[[Figures], float | None]], ...]] = (
    ("started", lambda f: _share(f.started, f.cases)),
    ("valid if started", lambda f: f.valid_if_started),
    ("schema-valid call", lambda f: _share(f.schema_valid, f.cases)),
    ("right tool, or none", lambda f: _share(f.right_tool, f.cases)),
)
"""What the bar chart shows: words, and the share."""
