"""Manifests: what is read, and what is refused where."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from calligram import Bounds
from calligram.build import targets
from calligram.build.inputs import InputFileError
from calligram.build.manifest import ManifestError, find, load
from calligram.build.settings import BoundsSettings, BudgetSettings, GrammarSettings
from calligram.compiler.pipeline import compile_tools
from calligram.targets import mask
from tests.test_public_api import parameters


def manifest(folder: Path, text: str, name: str = "calligram.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def refused(folder: Path, text: str, name: str = "calligram.toml") -> list[tuple[str, str]]:
    """(code, pointer) of each problem."""
    with pytest.raises(ManifestError) as caught:
        load(manifest(folder, text, name))
    assert all(p.origin.file == str(folder / name) for p in caught.value.problems)
    return [(p.code, p.origin.pointer) for p in caught.value.problems]


GOOD = '[grammars.a]\ntools = "t.json"\ndialect = "hermes-json"\n'


def test_defaults_hold_where_a_grammar_says_nothing(tmp_path: Path) -> None:
    text = '[defaults]\nkey_order = "any"\nbounds = "none"\n' + GOOD
    text += '[grammars.b]\ntools = "u.json"\nbounds = { string = 5 }\n'
    grammars = load(manifest(tmp_path, text)).grammars
    assert list(grammars) == ["a", "b"]
    assert (grammars["a"].key_order, grammars["a"].bounds) == ("any", "none")
    assert (grammars["b"].key_order, grammars["b"].dialect) == ("any", None)
    assert grammars["b"].bounds == BoundsSettings(string=5)


def test_pyproject_holds_the_same_in_a_table(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\n[tool.calligram.grammars.a]\ntools = "t.json"\n'
    path = manifest(tmp_path, text, "pyproject.toml")
    assert find(str(tmp_path)) == path
    assert load(path).grammars["a"].tools == "t.json"
    wrong = "[tool.calligram.grammars.a]\ntool_s = 1\n"
    assert refused(tmp_path, wrong, "pyproject.toml") == [
        ("manifest-unknown-key", "/tool/calligram/grammars/a/tool_s")
    ]
    own = manifest(tmp_path, GOOD)
    assert find(str(tmp_path)) == own


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n", "tool = 3\n"])
def test_a_folder_without_a_manifest_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        find(str(tmp_path))
    assert caught.value.problems[0].code == "manifest-missing"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [("manifest-missing-key", "")]),
        ("[grammars]\n", [("manifest-missing-key", "")]),
        ("grammars = 3\n", [("manifest-type", "/grammars")]),
        ("grammar = {}\n" + GOOD, [("manifest-unknown-key", "/grammar")]),
        ("record = 3\n" + GOOD, [("manifest-type", "/record")]),
        ("[grammars]\na = 3\n", [("manifest-type", "/grammars/a")]),
        (GOOD + "eech = true\n", [("manifest-unknown-key", "/grammars/a/eech")]),
        (GOOD + "each = 1\n", [("manifest-type", "/grammars/a/each")]),
        (GOOD + 'reasoning = "al"\n', [("manifest-value", "/grammars/a/reasoning")]),
        (GOOD + "max_calls = 0\n", [("manifest-value", "/grammars/a/max_calls")]),
        (GOOD + 'bounds = "non"\n', [("manifest-value", "/grammars/a/bounds")]),
        (GOOD + "bounds = {strin = 1}\n", [("manifest-unknown-key", "/grammars/a/bounds/strin")]),
        (GOOD + 'targets = ["gbnf", "gbfn"]\n', [("manifest-value", "/grammars/a/targets/1")]),
        ('[grammars."a/b"]\ntools = "t"\n', [("manifest-value", "/grammars/a~1b")]),
        (
            "[defaults]\nx = 1\n[grammars.bounds]\neech = 1\n[grammars.c]\nonly = 3\n",
            [
                ("manifest-unknown-key", "/defaults/x"),
                ("manifest-unknown-key", "/grammars/bounds/eech"),
                ("manifest-type", "/grammars/c/only"),
            ],
        ),
    ],
)
def test_a_wrong_key_or_value_is_refused_at_its_place(
    tmp_path: Path, text: str, problems: list[tuple[str, str]]
) -> None:
    assert refused(tmp_path, text) == problems


def test_a_misspelt_key_gets_a_hint_whatever_the_grammar_is_called(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        load(manifest(tmp_path, "[grammars.bounds]\ndialekt = 'x'\n"))
    hint = caught.value.problems[0].hint or ""
    assert "legal keys: tools, only" in hint and "did you mean `dialect`?" in hint


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"a = 1\nb = = 2\n", "manifest-toml", 2),
        (b"a = 1\na = 2\n", "manifest-toml", 2),
        (b"a = 1\nb = '\xff'\n", "not-utf-8", 2),
        (b"a = " + b"[" * 100_000, "manifest-toml", None),
        (None, "cannot-read", None),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(
    tmp_path: Path, content: bytes | None, code: str, line: int | None
) -> None:
    path = tmp_path / "calligram.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputFileError) as caught:
        load(str(path))
    assert caught.value.problems[0].code == code
    assert caught.value.problems[0].origin.line == line


def test_every_option_of_a_compile_is_a_key() -> None:
    # A build names its dialect, so that a template that changes does not change it unseen.
    options = set(parameters(compile_tools)) - {"chat_template"}
    assert options <= set(GrammarSettings.model_fields)
    assert set(BoundsSettings.model_fields) == {f.name for f in dataclasses.fields(Bounds)}
    budget = {f.name for f in dataclasses.fields(mask.SaveBudget)}
    assert set(BudgetSettings.model_fields) == budget
    assert set(targets.TARGETS) == set(targets.Name.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[grammars.a]\ntargets = ["gbnff"]\n', [("/grammars/a/targets/0", 2, 12)]),
        ("[grammars.a]\ntools = 3\nfoo = 1\n",
         [("/grammars/a/foo", 3, 1), ("/grammars/a/tools", 2, 1)]),
        ("[defaults]\n[grammars]\n  a.bounds.strin = 1\n", [("/grammars/a/bounds/strin", 3, 12)]),
        ('[grammars.""]\n', [("/grammars/", 1, 11)]),
        ("a = [1,\n", [("", 2, 1)]), ("a = {", [("", 1, 6)]), ("a = b", [("", 1, 5)]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_once_with_its_line(
    tmp_path: Path, text: str, found: list[tuple[str, int, int]]
) -> None:
    with pytest.raises(ManifestError) as caught:
        load(manifest(tmp_path, text))
    places = [(p.origin.pointer, p.origin.line, p.origin.column) for p in caught.value.problems]
    assert sorted(places) == sorted(found)


def test_a_list_is_not_empty_because_of_what_is_in_it(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        load(manifest(tmp_path, "[grammars.a]\nonly = []\ntool = [3]\n"))
    said = {p.origin.pointer: p.message for p in caught.value.problems}
    assert said["/grammars/a/only"] == "`only` must not be empty"
    assert set(said) == {"/grammars/a/only", "/grammars/a/tool/0"}


@pytest.mark.parametrize(
    ("line", "key", "said"),
    [
        ('samples = ["s.txt"]', "samples", "is for the target `mask`"),
        ("budget = { states = 5 }", "budget", "is for the target `mask`"),
        ('vocabulary = "v.gguf"', "vocabulary", "is for the targets `fsm` and `mask`"),
        ("vocabulary_size = 9", "vocabulary_size", "is for the targets `fsm` and `mask`"),
        ("max_depth = 2", "max_depth", "is for the targets `regex` and `fsm`"),
        ('targets = ["regex"]\nmax_depth = 2', "max_depth", "nothing nests without end"),
        ('tool_choice = "none"\ntool = ["x"]', "tool", "none may"),
    ],
)
def test_keys_without_effect_are_refused_where_they_are_a_grammars_own(
    tmp_path: Path, line: str, key: str, said: str
) -> None:
    base = 'tools = "t.json"\ndialect = "hermes-json"\n'
    file = tmp_path / "calligram.toml"
    file.write_text(f"[grammars.g]\n{base}{line}\n", encoding="utf-8")
    with pytest.raises(ManifestError) as error:
        load(str(file))
    [problem] = error.value.problems
    assert problem.origin.pointer == f"/grammars/g/{key}" and said in problem.message
    assert problem.origin.line == line.count("\n") + 4
    file.write_text(f"[defaults]\n{line}\n[grammars.g]\n{base}", encoding="utf-8")
    assert load(str(file)).grammars
