"""Times made into figures, and figures into ratios."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from .runner import Run

QUANTILES: Final = (("p50", 50.0), ("p99", 99.0), ("p99.9", 99.9))


@dataclass(frozen=True, slots=True)
class Times:
    """Average and quantiles of some times, in microseconds; `count` of them."""

    count: int
    avg: float
    p50: float
    p99: float
    p999: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Times | None:
        """None if there are no times."""
        if not values:
            return None
        p50, p99, p999 = np.percentile(np.asarray(values), [q for _, q in QUANTILES]).tolist()
        return cls(len(values), float(np.mean(values)), p50, p99, p999)


@dataclass(frozen=True, slots=True)
class Figures:
    """One engine's figures. Times are over the cases and texts that all engines took.

    Attributes:
        compiled, refused: schemas.
        accepted, texts: texts that came through to their end token, of those of compiled schemas.
        compile, first_mask: a schema; the second counts from the schema to its first mask.
        token: mask and accept, a token, the first time a text is driven through.
        again: the same in all later passes.
        prepared_us: the vocabulary made ready for the engine, once a process.
        rss_mb: the process's peak memory, interpreter and vocabulary included, in MiB.
        grown_mb: what of it came after the vocabulary was read.
    """

    engine: str
    compiled: int
    refused: int
    accepted: int
    texts: int
    compile: Times | None
    first_mask: Times | None
    token: Times | None
    again: Times | None
    prepared_us: float | None
    rss_mb: float | None
    grown_mb: float | None
    failure: str | None

    def to_json(self) -> dict[str, Any]:
        """A plain dict, times in microseconds."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Figures of all engines, and the times behind them for the plot.

    Attributes:
        shared: cases that every engine compiled; `shared_texts`: texts that every engine took.
        latencies: by engine, the times of first and of later passes, in microseconds.
    """

    figures: tuple[Figures, ...]
    shared: int
    shared_texts: int
    latencies: dict[str, tuple[list[float], list[float]]]

    def ratio(self, field: str, part: str, other: str) -> float | None:
        """calligram's figure divided by another engine's; below 1 calligram is quicker."""
        by_name = {f.engine: f for f in self.figures}
        values = []
        for name in ("calligram", other):
            times = getattr(by_name[name], field) if name in by_name else None
            values.append(times if times is None else getattr(times, part))
        ours, theirs = values
        if ours is None or not theirs:
            return None
        return float(ours / theirs)


def compare(runs: Sequence[Run], cases: int) -> Comparison:
    """The figures of some runs over the same cases."""
    whole = [r for r in runs if r.failure is None]
    shared = [i for i in range(cases) if all(r.cases[i]["refused"] is None for r in whole)]
    texts = [
        (i, j)
        for i in shared
        for j in range(len(whole[0].cases[i]["texts"]) if whole else 0)
        if all(r.cases[i]["texts"][j]["accepted"] for r in whole)
    ]
    found, latencies = [], {}
    for run in runs:
        mine = [c for c in run.cases if c["refused"] is None]
        first: list[float] = []
        later: list[float] = []
        if run.failure is None:
            for i, j in texts:
                one, *others = run.cases[i]["texts"][j]["passes"]
                first += one
                later += [t for times in others for t in times]
            latencies[run.engine] = (first, later)
        usable = [run.cases[i] for i in shared] if run.failure is None else []
        found.append(
            Figures(
                engine=run.engine,
                compiled=len(mine),
                refused=len(run.cases) - len(mine),
                accepted=sum(t["accepted"] for c in mine for t in c["texts"]),
                texts=sum(len(c["texts"]) for c in mine),
                compile=Times.of([c["compile_us"] for c in usable]),
                first_mask=Times.of([c["first_us"] for c in usable]),
                token=Times.of(first),
                again=Times.of(later),
                prepared_us=run.end.get("prepared_us"),
                rss_mb=run.end.get("rss_mb"),
                grown_mb=run.end.get("grown_mb"),
                failure=run.failure,
            )
        )
    return Comparison(tuple(found), len(shared), len(texts), latencies)


def by_case(run: Run, names: Sequence[str]) -> dict[str, dict[str, float | str | None]]:
    """What each case took, in microseconds: to the first mask, and a token of the first pass on
    average and at most; or why the engine refused it."""
    found: dict[str, dict[str, float | str | None]] = {}
    for name, case in zip(names, run.cases, strict=False):
        times = [t for text in case["texts"] for t in text["passes"][0]]
        found[name] = {
            "refused": case["refused"],
            "first_mask_us": case["first_us"],
            "token_avg_us": sum(times) / len(times) if times else None,
            "token_max_us": max(times, default=None),
        }
    return found


def duration(microseconds: float | None) -> str:
    """Three significant digits with a unit: `1.24 µs`, `870 µs`, `13.6 s`."""
    if microseconds is None:
        return "–"
    value, unit = microseconds, "µs"
    for unit in ("µs", "ms", "s"):
        if value < 999.5 or unit == "s":
            break
        value /= 1000
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f} {unit}"


def ratio_words(ratio: float | None) -> str:
    """Two significant digits, below 10; whole numbers from there."""
    if ratio is None:
        return "–"
    if ratio >= 10:
        return f"{ratio:,.0f}×"
    digits = max(1, 1 - math.floor(math.log10(ratio))) if ratio > 0 else 1
    return f"{ratio:.{digits}f}×"


ROWS: Final = (
    ("compile, median", "compile", "p50"),
    ("to the first mask, average", "first_mask", "avg"),
    ("to the first mask, median", "first_mask", "p50"),
    ("mask + accept, average", "token", "avg"),
    ("mask + accept, p50", "token", "p50"),
    ("mask + accept, p99", "token", "p99"),
    ("mask + accept, p99.9", "token", "p999"),
    ("second pass, average", "again", "avg"),
    ("second pass, p50", "again", "p50"),
    ("second pass, p99", "again", "p99"),
)
"""What the table shows: words, field of :class:`Figures`, part of :class:`Times`."""


def ratios(found: Comparison, others: Iterable[str]) -> dict[str, dict[str, float | None]]:
    """calligram's figures divided by those of each other engine, by `field.part`."""
    return {
        other: {f"{field}.{part}": found.ratio(field, part, other) for _, field, part in ROWS}
        for other in others
    }
