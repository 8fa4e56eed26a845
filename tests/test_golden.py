"""Golden files: what each shipped dialect makes of each case, as it was when last looked at.

    golden/cases/<case>.json                   tools, and turns of calls
    golden/calligram.toml                      what `calligram build` makes of them:
    golden/<dialect>/<case>/grammar.gbnf       the grammar, default options
    golden/<dialect>/<case>/report.json        what became of each keyword
    golden/<dialect>/<case>/calls.json         each turn with its text, or why it cannot be written

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
from calligram.build import run
from calligram.build.make import make
from calligram.build.manifest import load
from calligram.build.plan import plan
from calligram.targets import parser
from tests.test_corpus import named, same

GOLDEN = Path(__file__).parents[1] / "golden"
UPDATE = "pytest tests/test_golden.py --update-golden"
CASES = sorted(path.stem for path in (GOLDEN / "cases").glob("*.json"))
MANIFEST = str(GOLDEN / "calligram.toml")
MOST_SHOWN = 10
"""Differences that a failure shows in full."""
MOST_BYTES = 4_000_000


@cache
def made(dialect: str, case: str) -> dict[str, str]:
    """The golden files of one dialect and case that no target makes, by name."""
    data = json.loads((GOLDEN / "cases" / f"{case}.json").read_text(encoding="utf-8"))
    grammar = calligram.compile_tools(data["tools"], dialect)
    turns = [written(grammar, calls) for calls in data["turns"]]
    return {
        "calls.json": as_text(turns),
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


def test_built_goldens(request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        assert run.build(MANIFEST, jobs=1, force=True).failed == {}
    stale, summary = run.check(MANIFEST, jobs=1, force=True)
    assert summary.failed == {}
    wrong = [s for s in stale if s.reason in ("differs", "missing")]
    units = plan(load(MANIFEST)).units
    contents = {s.grammar: make(units[s.grammar]).contents for s in wrong[:MOST_SHOWN]}
    found = [
        difference(GOLDEN / s.output, contents[s.grammar][s.output].decode("utf-8"))
        for s in wrong[:MOST_SHOWN]
    ]
    if wrong:
        pytest.fail("\n".join([*found, *(s.output for s in wrong[MOST_SHOWN:])]), pytrace=False)


def test_the_manifest_names_every_dialect_and_case() -> None:
    grammars = load(MANIFEST).grammars
    assert list(grammars) == CASES
    for name, settings in grammars.items():
        assert settings.tools == f"cases/{name}.json"
        assert settings.dialect == tuple(calligram.dialects())


def expected_files() -> set[str]:
    names = {"calligram.toml", *(f"cases/{case}.json" for case in CASES)}
    names |= {path for unit in plan(load(MANIFEST)).units.values() for _, path in unit.outputs}
    for dialect in calligram.dialects():
        for case in CASES:
            names |= {f"{dialect}/{case}/{n}" for n in made(dialect, case)}
    return names


def test_no_golden_file_is_stale(request: pytest.FixtureRequest) -> None:
    there = {p.relative_to(GOLDEN).as_posix() for p in GOLDEN.rglob("*") if p.is_file()}
    there.discard("calligram.lock")  # Of whoever ran a build; it is not committed.
    stale = sorted(there - expected_files())
    if request.config.getoption("--update-golden"):
        for name in stale:
            (GOLDEN / name).unlink()
        stale = []
    assert not stale, f"no dialect or case makes these any more; {UPDATE} deletes them"


def test_golden_files_stay_small() -> None:
    assert sum(p.stat().st_size for p in GOLDEN.rglob("*") if p.is_file()) < MOST_BYTES


def test_a_changed_golden_is_shown_with_the_way_to_renew_it() -> None:
    path = GOLDEN / "hermes-json" / "no_args" / "calls.json"
    right = made("hermes-json", "no_args")["calls.json"]
    assert difference(path, right) == ""
    shown = difference(path, right + "more\n")
    assert "+more" in shown
    assert UPDATE in shown
    assert UPDATE in difference(GOLDEN / "hermes-json" / "missing", "")
