"""Token tables tool by tool, calligram's and outlines-core's, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..compiler.tools import read_tools
from .cases import calls_of, made_texts
from .runner import paths


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool's name, the schema of one call of it, and texts that it allows."""

    name: str
    schema: Any
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What another engine may take for one tool: processor seconds and bytes."""

    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of one tool.

    Attributes:
        own: what `fsm_worker.own` wrote.
        other: what `fsm_worker.theirs` wrote; with `exceeded` if it was ended, and then the limits
            are its figures; None if it was not asked.
        same: whether all masks along all ways were the same; None if that cannot be said.
    """

    name: str
    own: dict[str, Any]
    other: dict[str, Any] | None

    @property
    def same(self) -> bool | None:
        if self.other is None or "masks" not in self.other or "masks" not in self.own:
            return None
        return bool(self.own["masks"] == self.other["masks"])


def tools_of(text: str, count: int) -> list[Tool]:
    """The tools of a file, with `count` made texts each at most.

    Objects with declared properties are closed, as compile_tools closes them and as outlines
    reads them.

    Raises:
        ToolError: they cannot be read.
    """
    found = []
    for tool in read_tools(text):
        schema = calls_of([(tool.name, closed(tool.schema))])
        found.append(Tool(tool.name, schema, tuple(made_texts(schema, count))))
    return found


def closed(schema: Any) -> Any:
    """The schema with objects closed that declare properties and do not say."""
    if isinstance(schema, Mapping):
        made = {
            key: {name: closed(value) for name, value in part.items()}
            if key in ("properties", "$defs", "definitions") and isinstance(part, Mapping)
            else closed(part)
            for key, part in schema.items()
            if key not in ("enum", "const", "default", "examples")
        }
        made |= {key: schema[key] for key in ("enum", "const") if key in schema}
        if "properties" in made:
            made.setdefault("additionalProperties", False)
        return made
    return [closed(item) for item in schema] if isinstance(schema, list) else schema


def measure(
    tools: Sequence[Tool],
    vocabulary: Path,
    *,
    walks: int,
    limits: Limits | None,
    whitespace: str,
    max_depth: int,
    progress: Callable[[int, Measured], None],
) -> list[Measured]:
    """Measure each tool; `limits` for outlines-core, None to leave it out.

    Args:
        progress: told after each tool how many are done, and what came of it.
    """
    found = []
    for number, tool in enumerate(tools, 1):
        job = {
            "engine": "calligram", "vocabulary": str(vocabulary), "schema": tool.schema,
            "texts": tool.texts, "walks": walks, "seed": tool.name, "whitespace": whitespace,
            "max_depth": max_depth,
        }  # fmt: skip
        own = _child(job)
        other = None
        if limits is not None and own.get("refused") is None:
            asked = {
                "engine": "outlines-core", "vocabulary": str(vocabulary), "regex": own["regex"],
                "ways": own["ways"], "seconds": limits.seconds, "bytes": limits.bytes,
            }  # fmt: skip
            other = _child(asked)
            if "exceeded" in other:
                other |= {"refused": None, "seconds": limits.seconds, "grown": limits.bytes}
        found.append(Measured(tool.name, own, other))
        progress(number, found[-1])
    return found


def _child(job: Mapping[str, Any]) -> dict[str, Any]:
    """What a worker made of a job; how it ended if it made nothing of it."""
    done = subprocess.run(
        [sys.executable, "-m", "calligram.bench.fsm_worker"],
        input=json.dumps(job, default=float),
        capture_output=True,
        text=True,
        env=paths(),
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()
        reason = said[-1] if said else f"ended by signal {-done.returncode}"
        return {"exceeded": reason[:300], "refused": reason[:300]}
    made: dict[str, Any] = json.loads(done.stdout)
    return made
