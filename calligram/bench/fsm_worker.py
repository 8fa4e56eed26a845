"""One token table measured in a process of its own: `python -m calligram.bench.fsm_worker`.

Reads a job as one JSON document from standard input and writes one back::

    {"engine": name, "vocabulary": path, "seconds": n, "bytes": n, ...}

`calligram` compiles a schema and also gives the regular expression and the ways through the table;
`outlines-core` makes an Index of that expression and goes the same ways. A process that needs more
than so many seconds of the processor, or bytes of memory, is ended by the system.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import random
import sys
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO

import numpy as np
from numpy.typing import NDArray

from .. import compile_schema
from ..compiler.errors import CalligramError
from ..compiler.vocabulary.vocabulary import Vocabulary
from ..process_limits import address_space
from ..targets import regex_fsm
from .bench_error import BenchError
from .vocabularies import encode, restore

LONGEST: Final = 80
"""Tokens of one random walk."""

BATCH: Final = 64
"""Sequences of one batch."""


def main(source: TextIO, out: TextIO) -> None:
    """Do one job."""
    job = json.load(source)
    vocabulary = one_end(restore(Path(job["vocabulary"])))
    measure = {"calligram": own, "outlines-core": theirs}[job["engine"]]
    out.write(json.dumps(measure(job, vocabulary)) + "\n")


def one_end(whole: Vocabulary) -> Vocabulary:
    """The vocabulary with its first end token alone: outlines-core knows no others."""
    others = set(whole.eos_ids[1:]) - whole.special_ids
    padding = whole.padding_ids | others
    return Vocabulary(whole.tokens, whole.special_ids, whole.eos_ids[:1], padding)


def own(job: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """Time and size of calligram's table, from the schema on; the expression; ways through it."""
    vocabulary.digest  # noqa: B018
    before, start = memory(), time.process_time()
    try:
        grammar = compile_schema(job["schema"], whitespace=job["whitespace"], bounds=None)
        table = regex_fsm.compile(grammar, vocabulary, max_depth=job["max_depth"])
    except CalligramError as error:
        return {"refused": str(error)}
    seconds = time.process_time() - start
    grown = memory() - before
    ways = [w for text in job["texts"] if (w := tokens_of(table, vocabulary, text)) is not None]
    ways += [walk(table, random.Random(f"{job['seed']}/{n}")) for n in range(job["walks"])]
    try:
        regex = regex_fsm.regex(grammar, max_depth=job["max_depth"])
    except CalligramError as error:
        return {"refused": f"as an expression: {error}"}
    return {
        "refused": None, "seconds": seconds, "grown": grown, "bytes": table.nbytes,
        "states": len(table), "classes": table.next.shape[1], "regex": regex, "ways": ways,
        "masks": [digest(table.mask(s) for s in states(table, way)) for way in ways],
        "steps": steps(table),
    }  # fmt: skip


def tokens_of(table: regex_fsm.TokenTable, vocabulary: Vocabulary, text: str) -> list[int] | None:
    """The text as tokens, if the table takes them."""
    try:
        way = encode(vocabulary, text)
    except BenchError:
        return None
    return way if table.may_end(table.walk(way)) else None


def walk(table: regex_fsm.TokenTable, rng: random.Random) -> list[int]:
    """Tokens drawn at random from those that are allowed, without the end."""
    state, way = table.start, list[int]()
    while len(way) < LONGEST:
        # Most tokens of a string lead to the same place: draw the place, then the token.
        behind = table.row(state)
        after = rng.choice(np.unique(behind[behind > regex_fsm.ENDED]).tolist() or [0])
        if not after:
            break
        token = rng.choice(np.flatnonzero(behind[table.class_of] == after).tolist())
        way.append(token)
        state = after
    return way


def states(table: regex_fsm.TokenTable, way: Sequence[int]) -> list[int]:
    """The states along a way, the first and the last included."""
    found = [table.start]
    for token in way:
        found.append(table.next_state(found[-1], token))
    return found


def theirs(job: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """Time and size of outlines-core's index of the same expression, and its masks."""
    library = importlib.import_module("outlines_core")
    listed: dict[bytes, list[int]] = {}
    for token in vocabulary.ordinary:
        if vocabulary.tokens[token]:
            listed.setdefault(vocabulary.tokens[token], []).append(token)
    words = library.Vocabulary(vocabulary.eos_ids[0], listed)
    limited(job["seconds"], job["bytes"])
    before, start = memory(), time.process_time()
    try:
        index = library.Index(job["regex"], words)
    except ValueError as error:
        return {"refused": str(error)[:300]}
    seconds = time.process_time() - start
    grown = memory() - before
    limited(None, None)
    row = np.zeros(vocabulary.words, dtype=np.int32)
    masks = []
    for way in job["ways"]:
        guide = library.Guide(index)
        rows = [read(guide, row)]
        for token in way:
            try:
                guide.advance(token, return_tokens=False)
            except ValueError:
                rows.append(row * 0 - 1)
                break
            rows.append(read(guide, row))
        masks.append(digest(rows))
    return {"refused": None, "seconds": seconds, "grown": grown, "masks": masks}


def read(guide: Any, row: NDArray[np.int32]) -> NDArray[np.int32]:
    """A guide's mask."""
    guide.write_mask_into(row.ctypes.data, row.size, 4)
    return row.copy()


def digest(rows: Any) -> str:
    """The same for the same masks in the same order."""
    found = hashlib.sha256()
    for row in rows:
        found.update(row.tobytes())
    return found.hexdigest()


def steps(table: regex_fsm.TokenTable) -> dict[str, float]:
    """Microseconds of one step in states that were seen before, and of plain copies of the same."""
    live = (state for state in range(2, len(table)) if table.row(state).any())
    seen = list(islice(live, 512)) or [table.start]
    rows = np.zeros((BATCH, table.words), dtype=np.int32)
    many = np.array([seen[at % len(seen)] for at in range(BATCH)])
    table.fill_bitmask_batch(many, rows)
    out = np.zeros_like(rows)
    kept, places = table.kept_rows(many)
    state, token = seen[-1], table.allowed_tokens(seen[-1])[0]
    row, same = out[0], table.mask(state).copy()
    calls: dict[str, Callable[[], object]] = {
        "next": lambda: table.next_state(state, token),
        "mask": lambda: table.fill_bitmask(state, row),
        "copy": lambda: np.copyto(row, same),
        "batch": lambda: table.fill_bitmask_batch(many, out),
        "take": lambda: np.take(kept, places, axis=0, out=out, mode="clip"),
    }
    # In turn, so that what else the machine does meanwhile weighs on all of them alike.
    rounds = [
        {name: timeit.timeit(call, number=50) for name, call in calls.items()} for _ in range(40)
    ]
    return {name: min(r[name] for r in rounds) / 50 * 1e6 for name in calls}


def memory() -> int:
    """Bytes of memory that this process has now; 0 where that cannot be told."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def limited(seconds: float | None, size: int | None) -> None:
    """Let the system end this process beyond so many more seconds or bytes; None: no limit."""
    try:
        import resource
    except ImportError:
        return
    used = time.process_time()
    wanted = (
        (resource.RLIMIT_CPU, None if seconds is None else int(used + seconds) + 1),
        (resource.RLIMIT_AS, None if size is None else _space() + size),
    )
    for kind, soft in wanted:
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (resource.RLIM_INFINITY if soft is None else soft, hard))


def _space() -> int:
    """Bytes of addresses that this process has; 0 where that cannot be told."""
    try:
        return address_space()
    except OSError:
        return 0


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
