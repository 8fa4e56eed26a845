"""Engines one after the other, each in a process of its own, on the same cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .cases import Case

Progress = Callable[[int], None]
"""Cases done -> nothing."""

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True, slots=True)
class Run:
    """What one engine's process wrote.

    Attributes:
        cases: one result a case, see `worker.measure`; fewer if the process died.
        end: time to prepare the vocabulary for the engine, peak memory, and by how much it grew
            from before that; empty if it died.
        failure: how it died, in one sentence.
    """

    engine: str
    cases: tuple[dict[str, Any], ...]
    end: dict[str, Any]
    failure: str | None


def run(
    engine: str, cases: Sequence[Case], vocabulary: Path, passes: int, progress: Progress
) -> Run:
    """Measure one engine.

    Args:
        vocabulary: a file that `vocabularies.store` wrote.
        passes: times that each text is driven through; the first is the one with new masks.
    """
    job = {
        "engine": engine,
        "vocabulary": str(vocabulary),
        "passes": passes,
        "cases": [{"schema": c.schema, "texts": c.texts} for c in cases],
    }
    command = [sys.executable, "-m", "calligram.bench.worker"]
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryFile("w+") as source, tempfile.TemporaryFile("w+") as errors:
        json.dump(job, source, default=float)  # numbers of tool definitions are Decimal
        source.seek(0)
        with subprocess.Popen(
            command, stdin=source, stdout=subprocess.PIPE, stderr=errors, text=True, env=paths()
        ) as child:
            assert child.stdout is not None
            try:
                for line in child.stdout:
                    lines.append(json.loads(line))
                    progress(min(len(lines), len(cases)))
            except BaseException:
                child.kill()
                raise
        errors.seek(0)
        said = errors.read().strip().splitlines()
    if child.returncode:
        reason = said[-1] if said else "it said nothing"
        failure = f"stopped with code {child.returncode}: {reason}"
        return Run(engine, tuple(lines[: len(cases)]), {}, failure)
    return Run(engine, tuple(lines[:-1]), lines[-1], None)


def paths() -> dict[str, str]:
    """The environment, with this very calligram first on the path."""
    places = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in places if p)}
