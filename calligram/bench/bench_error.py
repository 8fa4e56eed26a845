"""The error of the benchmarks, apart from them: it costs nothing to import."""

from __future__ import annotations

from ..compiler.errors import CalligramError


class BenchError(CalligramError):
    """What to measure with cannot be read or is not installed."""
