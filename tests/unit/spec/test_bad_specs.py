"""Every broken spec under tests/bad_specs is refused with the words of its own top comment.

The comment holds all problems, one a line and its hint below, positions counted with the comment.
``python tests/unit/spec/test_bad_specs.py`` in a checkout rewrites the comments; read the diff.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from calligram.compiler.errors import CalligramError, LimitExceeded, SpecError
from calligram.compiler.lint import lint
from calligram.compiler.spec_loader import load_spec

FOLDER = Path(__file__).resolve().parents[2] / "bad_specs"
FILES = sorted(FOLDER.glob("*.yaml"))


def comment_of(text: str) -> str:
    """The top comment without its number signs."""
    lines = re.match(r"(#[^\n]*\n)*", text)
    assert lines is not None
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines[0].splitlines())


def problems_of(path: Path) -> str:
    """All problems of a spec file, files named without their folder."""
    try:
        loaded = load_spec(path)
    except CalligramError as error:
        text = str(error)
    else:
        found = [*loaded.warnings, *lint(loaded)]
        assert all(p.severity == "warning" for p in found)
        text = "\n".join(map(str, found))
    return text.replace(f"{FOLDER}/", "")


def test_there_are_broken_specs() -> None:
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_problems_are_those_of_the_comment(path: Path) -> None:
    expected = comment_of(path.read_text(encoding="utf-8"))
    assert re.search(r"(error|warning)\[[a-z-]+\]", expected), "the comment names no problem"
    assert problems_of(path) == expected


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_problem_has_a_place(path: Path) -> None:
    try:
        load_spec(path)
    except (SpecError, LimitExceeded) as error:
        for problem in error.problems:
            assert problem.origin.file is not None and problem.origin.line is not None


def rewrite() -> None:
    """Put the problems found into the comments; twice, for a comment moves the lines."""
    for path in FILES:
        for _ in range(3):
            text = path.read_text(encoding="utf-8")
            body = re.sub(r"\A(#[^\n]*\n)*", "", text)
            comment = "".join(f"# {line}".rstrip() + "\n" for line in problems_of(path).split("\n"))
            path.write_text(comment + body, encoding="utf-8")


if __name__ == "__main__":
    rewrite()
