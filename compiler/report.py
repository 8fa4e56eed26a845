"""The enforcement report: what became of each keyword, and how long a call can get."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .findings import Finding, Status
from .ir import Bounds

_ORDER: tuple[Status, ...] = ("refused", "relaxed", "narrowed", "annotation", "enforced")


@dataclass(frozen=True, slots=True)
class Report:
    """What a grammar enforces.

    Attributes:
        findings: one for each occurrence of a keyword, in reading order.
        bounds: the default bounds in force, None if lifted.
        longest_call: the most bytes the calls of a turn can take (content and reasoning aside);
            None if there is no limit.
        dropped: the tools left out (``on_unsupported="drop-tool"``).
    """

    findings: tuple[Finding, ...]
    bounds: Bounds | None
    longest_call: int | None
    dropped: tuple[str, ...] = ()

    def by_status(self, *statuses: Status) -> tuple[Finding, ...]:
        """The findings of these statuses."""
        return tuple(f for f in self.findings if f.status in statuses)

    def counts(self) -> dict[Status, int]:
        """How many keywords have each status."""
        found = Counter(f.status for f in self.findings)
        return {status: found[status] for status in _ORDER}

    def to_json(self) -> dict[str, object]:
        """A plain dict."""
        bounds = self.bounds
        return {
            "counts": dict(self.counts()),
            "longest_call_bytes": self.longest_call,
            "bounds": None
            if bounds is None
            else {name: getattr(bounds, name) for name in Bounds.__slots__},
            "dropped_tools": list(self.dropped),
            "findings": [f.to_json() for f in self.findings],
        }

    def __str__(self) -> str:
        lines = []
        longest = "no limit" if self.longest_call is None else f"{self.longest_call:,} bytes"
        lines.append(f"longest call: {longest}")
        lines.append(", ".join(f"{n} {status}" for status, n in self.counts().items() if n))
        told = ("refused", "relaxed", "narrowed")
        lines += _lines(f for f in self.findings if f.status in told or _noted(f))
        return "\n".join(line for line in lines if line)


def _noted(finding: Finding) -> bool:
    """Is it enforced exactly, with something to say about it?"""
    return finding.status == "enforced" and bool(finding.how)


def _lines(findings: Iterable[Finding]) -> list[str]:
    return [
        f"{f.origin}: {f.status}[{f.keyword}]" + (f": {f.how}" if f.how else "") for f in findings
    ]
