"""Golden files: what each shipped dialect makes of each case, as it was when last looked at.

    golden/cases/<case>.json                   tools, and turns of calls
    golden/<dialect>/<case>/grammar.gbnf       the grammar, default options
    golden/<dialect>/<case>/calls.json         each turn with its text, or why it cannot be written
    golden/<dialect>/<case>/report.json        what became of each keyword

A golden pins what was; the corpus says what is right. ``pytest --update-golden`` rewrites them.
"""

from __future__ import annotations

import difflib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import calligram
from calligram.targets import gbnf, parser
from tests.test_corpus import named, same

GOLDEN = Path(__file__).parents[1] / "golden"
UPDATE = "pytest tests/test_golden.py --update-golden"
CASES = sorted(path.stem for path in (GOLDEN / "cases").glob("*.json"))
MOST_BYTES = 2_000_000


@cache
def made(dialect: str, case: str) -> dict[str, str]:
    """The golden files of one dialect and case by name."""
    data = json.loads((GOLDEN / "cases" / f"{case}.json").read_text(encoding="utf-8"))
    grammar = calligram.compile_tools(data["tools"], dialect)
    turns = [written(grammar, calls) for calls in data["turns"]]
    return {
        "grammar.gbnf": gbnf.emit(grammar),
        "calls.json": as_text(turns),
        "report.json": as_text(grammar.report.to_json()),
    }


def written(grammar: calligram.CompiledGrammar, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """The calls with their text, which must read back; or the codes of the refusal."""
    try:
        text = grammar.render(calls)
    except calligram.RenderError as error:
        return {"calls": calls, "refused": [str(p) for p in error.problems]}
    result = parser.compile(grammar).parse(text)
    assert same(named(result.calls), calls) and not result.problems, text
    return {"calls": calls, "text": text}


def as_text(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def difference(path: Path, new: str) -> str:
    """A unified diff and what to do about it; empty if the file is as it should be."""
    old = path.read_bytes().decode("utf-8") if path.exists() else ""
    if old == new and path.exists():
        return ""
    name = path.relative_to(GOLDEN.parent).as_posix()
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (now)"
    )
    return "".join([*list(lines)[:200], f"\nIf this is meant to be: {UPDATE}\n"])


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("case", CASES)
def test_golden(dialect: str, case: str, request: pytest.FixtureRequest) -> None:
    folder = GOLDEN / dialect / case
    files = made(dialect, case)
    if request.config.getoption("--update-golden"):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_bytes(text.encode("utf-8"))
    found = [difference(folder / name, text) for name, text in files.items()]
    if any(found):
        pytest.fail("\n".join(filter(None, found)), pytrace=False)


def expected_files() -> set[str]:
    names = {f"cases/{case}.json" for case in CASES}
    for dialect in calligram.dialects():
        for case in CASES:
            names |= {f"{dialect}/{case}/{n}" for n in made(dialect, case)}
    return names


def test_no_golden_file_is_stale(request: pytest.FixtureRequest) -> None:
    there = {p.relative_to(GOLDEN).as_posix() for p in GOLDEN.rglob("*") if p.is_file()}
    stale = sorted(there - expected_files())
    if request.config.getoption("--update-golden"):
        for name in stale:
            (GOLDEN / name).unlink()
        stale = []
    assert not stale, f"no dialect or case makes these any more; {UPDATE} deletes them"


def test_golden_files_stay_small() -> None:
    assert sum(p.stat().st_size for p in GOLDEN.rglob("*") if p.is_file()) < MOST_BYTES


def test_a_changed_golden_is_shown_with_the_way_to_renew_it() -> None:
    path = GOLDEN / "hermes-json" / "no_args" / "grammar.gbnf"
    right = made("hermes-json", "no_args")["grammar.gbnf"]
    assert difference(path, right) == ""
    shown = difference(path, right + "more ::= root\n")
    assert "+more ::= root" in shown
    assert UPDATE in shown
    assert UPDATE in difference(GOLDEN / "hermes-json" / "missing", "")
