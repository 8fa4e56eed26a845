"""Every ```python and ```console block of README and docs runs; generated pages are current.

The forms of blocks are described in tests/doc_blocks.py. The ```python blocks of a page share one
namespace.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from calligram.compiler.codes import CODES
from tests.doc_blocks import PAGES, ROOT, Workspace, blocks, brought_up_to_date, matches, transcript


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


def test_outputs_are_brought_up_to_date(tmp_path: Path) -> None:
    page = "a\n```console\n$ echo 1\n2\n$ echo 3; echo 4\n3\n...\n```\nb\n"
    assert brought_up_to_date(page, Workspace(tmp_path)) == page.replace("\n2\n", "\n1\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__docs__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.file is not None:
            workspace.write(block)
        elif block.language == "python":
            run_python(block.text, where, namespace)
        elif block.language == "console":
            for command, expected in transcript(block.text):
                actual = workspace.run(command)
                told = f"{where}: $ {command}\n" + "\n".join(actual)
                assert matches(expected, actual), f"{told}\n(`make docs` takes it over)"


def run_python(source: str, where: str, namespace: dict[str, object]) -> None:
    """Run a block; each ``# -> text`` comment is what the block prints next."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, where, "exec"), namespace)
        gc.unfreeze()  # What a page tells servers to do is not for a process of tests.
    expected = re.findall(r"# -> ?(.*)$", source, re.M)
    assert not expected or out.getvalue().splitlines() == expected, where


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "usage: python request.py URL"),
        (["a", "b"], 2, "usage: python request.py URL"),
        (["http://127.0.0.1:9"], 1, "no answer from http://127.0.0.1:9: "),
        (["nowhere"], 1, "no answer from nowhere: "),
    ],
)
def test_the_example_client_says_what_it_lacks_in_one_line(
    arguments: list[str], code: int, said: str
) -> None:
    command = [sys.executable, str(ROOT / "examples" / "request.py"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1


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


@pytest.mark.parametrize(
    "name",
    [
        "reference/cli.md",
        "reference/errors.md",
        "reference/api.md",
        "reference/keywords.md",
        "reference/manifest.md",
        "reference/serve.md",
    ],
)
def test_generated_pages_are_current(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    page = {
        "reference/cli.md": "cli_page",
        "reference/errors.md": "errors_page",
        "reference/api.md": "api_page",
        "reference/keywords.md": "keywords_page",
        "reference/manifest.md": "manifest_page",
        "reference/serve.md": "serve_page",
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
