"""Runs the command line inside the test's process, and as a program."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calligram.cli import main

ROOT = Path(__file__).resolve().parent.parent
TOOLS = str(ROOT / "examples" / "tools.json")
DIALECT = "hermes-json"
BASE = ["--tools", TOOLS, "--dialect", DIALECT]
GOOD = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 10}}\n</tool_call>'


@dataclass(frozen=True)
class Result:
    """Exit code and what was written."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def problems(self) -> Any:
        return json.loads(self.err)


def run(*arguments: str) -> Result:
    """`calligram ARGUMENTS`, in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as exit_:
            code = int(exit_.code or 0)
    written = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        written.append(stream.buffer.getvalue().decode("utf-8"))
    assert "Traceback" not in written[1]
    return Result(code, written[0], written[1])


def program(*arguments: str, stdin: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
    """`python -m calligram ARGUMENTS`, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "calligram", *arguments],
        input=stdin,
        capture_output=True,
        cwd=ROOT,
        timeout=60,
        **more,
    )


def write(path: Path, content: str | bytes) -> str:
    """Write a file and return its name."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def one_tool(schema: object, *required: str) -> str:
    """Tool definitions as JSON: one tool `t` with that schema."""
    if isinstance(schema, dict) and required:
        schema = {**schema, "required": list(required)}
    return json.dumps([{"name": "t", "input_schema": schema}])
