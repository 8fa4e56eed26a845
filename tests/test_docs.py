"""Every ```python and ```console block of README and docs runs; generated pages are current.

In a ```console block, lines after ``$ `` are commands for bash, the lines up to the next command
are their output, where a line of ``...`` stands for any lines. All blocks of one page share one
folder, which holds examples/ and what earlier blocks wrote; its ```python blocks share one
namespace. A fence ``yaml file=NAME`` (any language) writes that file.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from calligram.compiler.codes import CODES

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@dataclass(frozen=True)
class Block:
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
    pattern = "\n".join(re.escape(line) if line.strip() != "..." else "\0" for line in expected)
    return re.fullmatch(pattern.replace("\0", ".*?"), "\n".join(actual), re.S) is not None


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (["a", "b"], ["a", "b"], True),
        (["a", "..."], ["a", "b", "c"], True),
        (["a"], ["a", "b"], False),
        (["a.c"], ["abc"], False),
        ([], [], True),
        ([], ["x"], False),
    ],
)
def test_output_is_compared(expected: list[str], actual: list[str], same: bool) -> None:
    assert matches(expected, actual) == same


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with examples/ in it and `calligram` on the path."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    command = tmp_path / "bin" / "calligram"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m calligram "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page: Path, folder: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__docs__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.file is not None:
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block.text, where, namespace)
        elif block.language == "console":
            for command, expected in transcript(block.text):
                actual = run_shell(command, folder)
                assert matches(expected, actual), f"{where}: $ {command}\n" + "\n".join(actual)


def run_python(source: str, where: str, namespace: dict[str, object]) -> None:
    """Run a block; each ``# -> text`` comment is what the block prints next."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, where, "exec"), namespace)
    expected = re.findall(r"# -> ?(.*)$", source, re.M)
    assert not expected or out.getvalue().splitlines() == expected, where


def run_shell(command: str, folder: Path) -> list[str]:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in PAGES
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]
    assert broken == []


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["reference/cli.md", "reference/errors.md", "reference/api.md"])
def test_generated_pages_are_current(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = {
        "reference/cli.md": "cli_page",
        "reference/errors.md": "errors_page",
        "reference/api.md": "api_page",
    }[name]
    wanted = getattr(generator(), page)().rstrip("\n") + "\n"
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == wanted, "run `make docs`"


def library() -> Iterator[Path]:
    for folder in ("calligram", "compiler", "targets"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            linked = folder == "calligram" and path.relative_to(ROOT / folder).parts[0] in (
                "compiler",
                "targets",
                "dialect_specs",
            )
            if not linked and path.name != "codes.py":
                yield path


def codes_used(source: str) -> set[str]:
    """Codes that a module gives to problems: arguments of the makers, values of `code = ...`."""
    used = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and is_maker(node.func):
            used |= strings(node.args[0])
        if isinstance(node, ast.keyword) and node.arg == "code":
            used |= strings(node.value)
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "code":
            used |= strings(node.value)
    return used


def is_maker(function: ast.expr) -> bool:
    """`Problem`, `….problem`, `…Error.at` and their like."""
    if isinstance(function, ast.Attribute) and function.attr == "at":
        name = getattr(function.value, "id", "")
        return name.endswith("Error") or name == "LimitExceeded"
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name.lstrip("_") in ("Problem", "fail", "problem", "refuse", "wrong")


def strings(value: ast.expr) -> set[str]:
    """The non-empty strings that `value` can be."""
    if isinstance(value, ast.IfExp):
        return strings(value.body) | strings(value.orelse)
    if isinstance(value, ast.Constant) and isinstance(value.value, str) and value.value:
        return {value.value}
    return set()


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ('Problem("a-b", "m")', {"a-b"}),
        ('SpecError.at("a-b", "m")', {"a-b"}),
        ('self.problem("a-b", "m")', {"a-b"}),
        ('code = "a" if x else "b"', {"a", "b"}),
        ('place.at("type")', set()),
        ('print("a-b")', set()),
    ],
)
def test_codes_are_found_in_source(source: str, codes: set[str]) -> None:
    assert codes_used(source) == codes


def test_every_code_is_explained() -> None:
    explained = {code for codes in CODES.values() for code in codes}
    unexplained = {
        str(path.relative_to(ROOT)): sorted(missing)
        for path in library()
        if (missing := codes_used(path.read_text(encoding="utf-8")) - explained)
    }
    assert unexplained == {}


def test_every_explained_code_is_used() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in library())
    unused = [
        code
        for codes in CODES.values()
        for code in codes
        # Some are put together: f"param-without-{name}".
        if f'"{code}"' not in text and f'"{code.rpartition("-")[0]}-{{' not in text
    ]
    assert unused == []
