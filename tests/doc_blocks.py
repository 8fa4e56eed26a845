"""Fenced blocks of README and docs: found, run, compared, and brought up to date by `make docs`.

In a ```console block, lines after ``$ `` are commands for bash, the lines up to the next command
are their output, where a line of ``...`` stands for any lines. All blocks of one page share one
folder, which holds examples/ and what earlier blocks wrote. A fence ``json file=NAME`` (any
language) writes that file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
    """One fenced block; `line` is where its fence stands."""

    language: str
    file: str | None
    line: int
    text: str


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    fence = re.compile(r"^```([a-z]*)(?: file=(\S+))?[^\n]*\n(.*?)^```$", re.M | re.S)
    for match in fence.finditer(page):
        line = page[: match.start()].count("\n") + 1
        yield Block(match[1], match[2], line, match[3])


def transcript(text: str) -> Iterator[tuple[str, list[str]]]:
    """Commands with their expected output; a backslash at the end continues a command."""
    command, output = "", list[str]()
    for line in text.splitlines():
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:], []
        elif command.endswith("\\") and not output:
            command += "\n" + line
        else:
            output.append(line)
    if command:
        yield command, output


def matches(expected: list[str], actual: list[str]) -> bool:
    """Whether the output is as expected; a line of ``...`` stands for any lines."""
    lines = [r"(?:.*\n)*?" if e.strip() == "..." else re.escape(e) + "\n" for e in expected]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in actual)) is not None


class Workspace:
    """A folder with examples/ in it, and an environment with `calligram` on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "examples", folder / "examples")
        command = folder / "bin" / "calligram"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m calligram "$@"\n')
        command.chmod(0o755)
        # `make test` tells a `make` in a page that it is a part of it.
        own = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
        self.environment = {
            **own,
            "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "COLUMNS": "100",
            "CALLIGRAM_CACHE_DIR": "",
        }

    def write(self, block: Block) -> None:
        """Write the file that a block names."""
        assert block.file is not None
        (self.folder / block.file).write_text(block.text, encoding="utf-8")

    def run(self, command: str) -> list[str]:
        """The lines that a command prints, to either stream."""
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        assert not any(line.startswith("bash: ") for line in lines), f"no command: {command}"
        return lines


def brought_up_to_date(page: str, workspace: Workspace) -> str:
    """The page with the outputs that its commands print now; those that match stay as written."""
    for block in blocks(page):
        if block.file is not None:
            workspace.write(block)
        elif block.language == "console":
            lines: list[str] = []
            for command, expected in transcript(block.text):
                actual = workspace.run(command)
                kept = expected if matches(expected, actual) else actual
                lines += [f"$ {command}", *kept]
            page = page.replace(block.text, "".join(f"{line}\n" for line in lines), 1)
    return page
