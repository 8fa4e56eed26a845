"""One engine measured in a process of its own: `python -m calligram.bench.worker`.

Reads a job as one JSON document from standard input and writes one JSON document a line: one for
each case as it is done, then one about the whole process.

    {"engine": name, "vocabulary": path, "passes": n,
     "cases": [{"schema": ..., "texts": [...]}, ...]}

The vocabulary's file is as `vocabularies.store` writes it.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from ..compiler.vocabulary.vocabulary import Vocabulary
from .engines import ENGINES, Engine
from .vocabularies import encode, restore

MICRO = 1e-3
"""Nanoseconds to microseconds."""


def main(source: TextIO, out: TextIO) -> None:
    """Do one job."""
    job = json.load(source)
    clock = time.perf_counter_ns
    vocabulary = restore(Path(job["vocabulary"]))
    bare = peak_memory()
    before = clock()
    engine = ENGINES[job["engine"]](vocabulary)
    prepared = (clock() - before) * MICRO
    for case in job["cases"]:
        result = measure(engine, vocabulary, case["schema"], case["texts"], job["passes"])
        out.write(json.dumps(result) + "\n")
        out.flush()
    most = peak_memory()
    grown = None if most is None or bare is None else most - bare
    last = {"prepared_us": prepared, "rss_mb": most, "grown_mb": grown}
    out.write(json.dumps(last) + "\n")


def measure(
    engine: Engine, vocabulary: Vocabulary, schema: Any, texts: list[str], passes: int
) -> dict[str, Any]:
    """Times of one schema, in microseconds.

    Returns:
        `refused`: the engine's reason, or None; `compile_us`; `first_us`: from the schema to the
        first mask; `texts`: a list of `accepted` and, for each pass, the times of mask and accept
        together, one a token, the end token among them.
    """
    clock = time.perf_counter_ns
    before = clock()
    try:
        engine.compile(schema)
        compiled = clock()
        engine.start()
        engine.mask()
        first = clock()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return {"refused": reason, "compile_us": None, "first_us": None, "texts": []}
    measured = []
    for text in texts:
        ids = [*encode(vocabulary, text), vocabulary.eos_ids[0]]
        rounds = [follow(engine, ids) for _ in range(passes)]
        measured.append(
            {
                "accepted": all(accepted for accepted, _ in rounds),
                "passes": [times for _, times in rounds],
            }
        )
    return {
        "refused": None,
        "compile_us": (compiled - before) * MICRO,
        "first_us": (first - before) * MICRO,
        "texts": measured,
    }


def follow(engine: Engine, ids: list[int]) -> tuple[bool, list[float]]:
    """Drive tokens through -> (was each allowed, times of mask and accept)."""
    clock = time.perf_counter_ns
    times: list[float] = []
    engine.start()
    for token in ids:
        before = clock()
        engine.mask()
        masked = clock()
        allowed = (int(engine.row[token >> 5]) >> (token & 31)) & 1
        between = clock()
        if not allowed or not engine.accept(token):
            return False, times
        times.append((masked - before + clock() - between) * MICRO)
    return True, times


def peak_memory() -> float | None:
    """The most memory this process had, in MiB; None where it cannot be told."""
    try:
        # What getrusage says here counts the process that started this one, too.
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        status = ""
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 * 1024 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
