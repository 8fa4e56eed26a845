"""Counts and times of one proxy, in Prometheus' text format (version 0.0.4)."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
                  30.0, 60.0)  # fmt: skip

Labels = tuple[str, ...]


@dataclass
class Counter:
    """How often, by labels."""

    name: str
    help: str
    labels: tuple[str, ...] = ()
    values: dict[Labels, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, *labels: str, by: int = 1) -> None:
        """Count."""
        self.values[labels] += by

    def lines(self) -> Iterator[str]:
        """The text format."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} counter"
        if not self.labels:
            yield f"{self.name} {self.values[()]}"
            return
        for values, count in sorted(self.values.items()):
            yield f"{self.name}{braces(self.labels, values)} {count}"


@dataclass
class Gauge:
    """How much there is now."""

    name: str
    help: str
    read: Callable[[], float]

    def lines(self) -> Iterator[str]:
        """The text format."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} gauge"
        yield f"{self.name} {self.read():g}"


@dataclass
class Histogram:
    """How long, in seconds."""

    name: str
    help: str
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))
    total: float = 0.0

    def observe(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(SECONDS, seconds)] += 1
        self.total += seconds

    def lines(self) -> Iterator[str]:
        """The text format; buckets hold all that is shorter too."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} histogram"
        so_far = 0
        for edge, count in zip((*map(str, SECONDS), "+Inf"), self.counts, strict=True):
            so_far += count
            yield f'{self.name}_bucket{{le="{edge}"}} {so_far}'
        yield f"{self.name}_sum {self.total:.6f}"
        yield f"{self.name}_count {so_far}"


def braces(names: tuple[str, ...], values: Labels) -> str:
    """`{path="/x",status="200"}`."""
    pairs = ",".join(f'{n}="{escaped(v)}"' for n, v in zip(names, values, strict=True))
    return f"{{{pairs}}}"


def escaped(value: str) -> str:
    """A label's value as the format wants it."""
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class Metrics:
    """All of them."""

    def __init__(self) -> None:
        self.active = 0
        self.requests = Counter(
            "calligram_requests_total", "Requests, by what became of them.", ("route", "status")
        )
        self.untouched = Counter(
            "calligram_untouched_total",
            "Chats, and other requests with tools, sent on as they came.",
            ("reason",),
        )
        self.problems = Counter(
            "calligram_problems_total", "What was wrong with requests and answers.", ("code",)
        )
        self.faults = Counter(
            "calligram_upstream_faults_total", "Failures of the server.", ("kind",)
        )
        self.retries = Counter("calligram_retries_total", "Answers that were asked for again.")
        self.gone = Counter("calligram_clients_gone_total", "Clients that left before the end.")
        self.compile = Histogram("calligram_compile_seconds", "Waiting for grammars that are new.")
        self.first_byte = Histogram(
            "calligram_first_byte_seconds", "From a request to the first byte of its answer."
        )
        self.whole = Histogram("calligram_request_seconds", "From a request to its answer's end.")
        self.gauges = [Gauge("calligram_active_requests", "Requests at work.", lambda: self.active)]

    def text(self) -> str:
        """The text format."""
        kinds = (self.requests, self.untouched, self.problems, self.faults, self.retries, self.gone)
        times = (self.compile, self.first_byte, self.whole)
        every: list[Counter | Histogram | Gauge] = [*kinds, *times, *self.gauges]
        lines = [line for m in every for line in m.lines()]
        return "\n".join(lines) + "\n"
