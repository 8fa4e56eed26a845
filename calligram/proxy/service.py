"""What all requests of one proxy share."""

from __future__ import annotations

from dataclasses import dataclass, field

from .compile_pool import CompilePool, Compiler, patience
from .grammars import Grammars
from .knowledge import Knowledge
from .log import Log
from .metrics import Gauge, Metrics
from .options import Policy
from .settings import Settings
from .upstream import Upstream


@dataclass
class Service:
    """The parts; made by :func:`make_service`."""

    settings: Settings
    policy: Policy
    upstream: Upstream
    knowledge: Knowledge
    grammars: Grammars
    log: Log
    metrics: Metrics = field(default_factory=Metrics)

    def __post_init__(self) -> None:
        kept = self.grammars
        self.metrics.gauges += [
            Gauge("calligram_grammars", "Grammars kept.", lambda: len(kept)),
            Gauge("calligram_grammars_bytes", "Bytes of them.", lambda: kept.size),
            Gauge("calligram_grammars_found", "Grammars that were there.", lambda: kept.hits),
            Gauge("calligram_grammars_made", "Grammars that were not.", lambda: kept.misses),
        ]

    async def start(self) -> None:
        """Begin."""
        await self.grammars.pool.start()

    async def close(self) -> None:
        """End what is at work."""
        await self.knowledge.close()
        await self.grammars.close()


def make_service(
    settings: Settings,
    log: Log | None = None,
    pool: Compiler | None = None,
) -> Service:
    """The parts of a proxy.

    Args:
        pool: in place of processes that compile.

    Raises:
        SpecError: the dialect that is named cannot be read.
    """
    upstream = Upstream(
        settings.upstream,
        connect=settings.connect_seconds,
        read=settings.read_seconds,
    )
    grammars = Grammars(
        pool or CompilePool(settings.compile_workers, settings.compile_seconds),
        settings.cache_grammars,
        settings.cache_bytes,
        max(1, settings.compile_workers - 1),
        patience(settings.compile_seconds),
    )
    knowledge = Knowledge(upstream, settings.dialect, settings.upstream_special)
    log = log or Log(style=settings.log)
    return Service(settings, settings.policy(), upstream, knowledge, grammars, log)
