"""Specs come from ids, files and text; inheritance and variables are resolved on the way."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.compiler.errors import CalligramError, LimitExceeded, SpecError
from calligram.compiler.spec import DialectSpec, TokenSpec
from calligram.compiler.spec_loader import (
    LoadedSpec,
    load_dialect,
    load_shipped,
    load_spec,
    load_spec_text,
    shipped_ids,
)
from calligram.compiler.spec_merge import MAX_CHAIN

MINIMAL = """\
id: mine
call: "<call>{name}{args}</call>"
args: {notation: json}
triggers: [{text: "<call>"}]
"""


def load(text: str) -> DialectSpec:
    return load_spec_text(text, "f.yaml").spec


def code_of(text: str) -> str:
    with pytest.raises(SpecError) as caught:
        load(text)
    return caught.value.problems[0].code


def test_defaults() -> None:
    spec = load(MINIMAL)
    assert spec.reasoning is None
    assert spec.section.open == ""
    assert spec.json_layout.separators == (", ", ": ")
    assert spec.args.literals.null == ("null",)


def test_plain_token_is_short_for_prefer() -> None:
    spec = load(MINIMAL + 'tokens: ["<call>", {text: "</call>", match: require}]\n')
    assert spec.tokens == (
        TokenSpec(text="<call>", match="prefer"),
        TokenSpec(text="</call>", match="require"),
    )


def test_literals_are_text_quoted_or_not() -> None:
    plain = load(
        "id: x\nextends: lfm2-pythonic\nargs: {literals: {null: [null, .nan], true: [true, yes]}}\n"
    )
    assert plain.args.literals.null == ("null", ".nan")
    assert plain.args.literals.true == ("true", "yes")
    assert plain.args.literals.false == ("False", "false")


def test_a_literal_that_is_a_number_too_makes_calls_ambiguous() -> None:
    with pytest.raises(SpecError) as caught:
        load("id: x\nextends: lfm2-pythonic\nargs: {literals: {null: [null, 0]}}\n")
    assert [p.code for p in caught.value.problems] == ["ambiguous-boundary"]
    assert "=0" in caught.value.problems[0].message


def test_mappings_merge_and_lists_are_replaced() -> None:
    spec = load(
        "id: x\nextends: qwen3-coder-xml\nargs: {key_order: any}\ntokens: []\n"
        "reasoning: null\nlead_in: '  '\n"
    )
    parent = load_dialect("qwen3-coder-xml")
    assert spec.args.key_order == "any"
    assert spec.args.param == parent.args.param
    assert spec.tokens == ()
    assert spec.reasoning is None
    assert spec.lead_in == "  "
    assert spec.call == parent.call


def test_identity_is_not_inherited() -> None:
    spec = load("id: x\nextends: hermes-json\n")
    assert (spec.id, spec.families, spec.source, spec.verified) == ("x", (), "", "")
    assert code_of("extends: hermes-json\n") == "spec-missing-key"


def test_variables_of_the_child_win_before_substitution() -> None:
    spec = load("id: x\nextends: deepseek-v32-dsml\nvars: {block: calls}\n")
    assert spec.section.open == "<｜DSML｜calls>\n"
    assert spec.triggers[0].text == "<｜DSML｜calls>"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("${a}", "<A>"),
        ("${b}", "[<A>]"),
        ("${a}${b}$", "<A>[<A>]$"),
        ("$${a}", "${a}"),
        ("${a", "${a"),
        ("{a} $a", "{a} $a"),
    ],
)
def test_variables_in_strings(written: str, text: str) -> None:
    spec = load(MINIMAL + f"vars: {{a: <A>, b: '[${{a}}]'}}\nlead_in: '{written}'\n")
    assert spec.lead_in == text


def test_a_variable_never_becomes_another_type() -> None:
    assert load(MINIMAL + "vars: {t: 'true'}\nlead_in: ${t}\n").lead_in == "true"


def test_unused_variable_is_a_warning() -> None:
    loaded = load_spec_text(MINIMAL + "vars: {bloc: x}\n")
    assert [(p.code, p.severity) for p in loaded.warnings] == [("spec-unused-var", "warning")]


def test_relative_parent_and_its_places(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "base.yaml").write_text(MINIMAL)
    child = tmp_path / "sub" / "child.yml"
    child.write_text("id: child\nextends: ../base.yaml\nlead_in: x\n")
    loaded = load_spec(child)
    assert loaded.spec.id == "child"
    assert loaded.origin("/lead_in").file == str(child)
    parent = loaded.origin("/args/notation")
    assert parent.file is not None and parent.file.endswith("base.yaml")
    assert (parent.line, parent.column) == (3, 18)
    assert loaded.origin("/args/string/open") == loaded.origin("/args")


def test_long_chain_is_a_stated_limit(tmp_path: Path) -> None:
    for n in range(MAX_CHAIN + 3):
        (tmp_path / f"s{n}.yaml").write_text(f"id: s{n}\nextends: ./s{n + 1}.yaml\n")
    with pytest.raises(LimitExceeded):
        load_spec(tmp_path / "s0.yaml")


def test_resolver_of_the_caller() -> None:
    from calligram.compiler.origin import Origin
    from calligram.compiler.spec_merge import Source

    def resolve(reference: str, child: Source, origin: Origin) -> Source:
        assert (reference, child.file, origin.line) == ("base", "f.yaml", 2)
        return Source(MINIMAL, "memory", "memory")

    loaded = load_spec_text("id: x\nextends: base\n", "f.yaml", resolve)
    assert loaded.spec.call == "<call>{name}{args}</call>"
    assert loaded.origin("/call").file == "memory"


def test_shipped_ids_are_sorted_and_are_their_own_ids() -> None:
    ids = shipped_ids()
    assert ids == sorted(ids) and len(ids) >= 12
    assert [load_shipped(i).spec.id for i in ids] == ids


def test_shipped_specs_load_once() -> None:
    assert load_shipped("gemma4") is load_shipped("gemma4")


def test_dialect_by_id_path_and_itself(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINIMAL)
    spec = load_dialect(str(path))
    assert load_dialect(path) == spec
    assert load_dialect(spec) is spec
    assert load_dialect("hermes-json").id == "hermes-json"


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("hermes-jsn", "unknown-dialect", "did you mean `hermes-json`?"),
        ("hermes-jsn", "unknown-dialect", "\n  did you mean"),
        ("", "unknown-dialect", "`calligram dialects list`"),
        ("auto", "dialect-auto", "`calligram dialects list`"),
        ("./none.yaml", "spec-unreadable", "no such file"),
        ("none.yml", "spec-unreadable", "no such file"),
        ("../", "spec-unreadable", "not a file"),
        ("a\0b.yaml", "spec-unreadable", "a\0b.yaml"),
        ("x" * 5000 + ".yaml", "spec-unreadable", ""),
    ],
)
def test_names_that_lead_nowhere(name: str, code: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_dialect(name)
    assert caught.value.problems[0].code == code
    assert said in str(caught.value)


def test_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"id: \xff\n")
    with pytest.raises(SpecError, match="not UTF-8"):
        load_spec(path)


def test_byte_order_mark_and_windows_lines(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert load_spec(path).spec.id == "mine"


def test_fifo_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    with pytest.raises(SpecError, match="not a file"):
        load_spec(path)


def test_large_file_is_a_stated_limit(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(MINIMAL + "#" * 1_000_000)
    with pytest.raises(LimitExceeded):
        load_spec(path)


def test_errors_pickle() -> None:
    with pytest.raises(SpecError) as caught:
        load("id: x\nextends: hermes-json\ntriger: 1\ncal: 2\n")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == caught.value.problems
    assert [p.code for p in again.problems] == ["spec-unknown-key"] * 2


def test_shapes_are_complete_specs() -> None:
    base, first, second = load(
        "id: x\nextends: hermes-json\naccept:\n"
        "  - {call: '<c>{name} {args}</c>', section: {open: '<s>'}}\n"
        "  - {args: {empty: ''}, constrain: true}\n"
    ).shapes()
    assert base.call == second.call == load_dialect("hermes-json").call
    assert (first.call, first.section.open, second.section.open) == (
        "<c>{name} {args}</c>",
        "<s>",
        "",
    )
    assert (base.args.empty, second.args.empty, second.args.notation) == (None, "", "json")


FRAGMENTS = st.sampled_from(
    "id extends vars call args tokens triggers accept json calls reasoning x hermes-json notation "
    "tagged {name} {args} {key} {value} ${a} ${ [ ] { } : , - ' \" \\n \n \n\n null true 3 & * ! # "
    "text at pattern ( (?= a: match require literals string close".split(" ")
)


@given(st.lists(FRAGMENTS, max_size=25).map(" ".join))
def test_any_text_loads_or_is_refused(text: str) -> None:
    try:
        assert isinstance(load_spec_text(text, "f.yaml"), LoadedSpec)
    except CalligramError as error:
        assert all(p.origin.line for p in error.problems)


WORDS = st.sampled_from(["x", "{name}", "{args}", "${a}", "", "tagged", "hermes-json", "\\", "("])
INNER = st.sampled_from("notation param string open close text tokens kind call args".split())
VALUES = st.recursive(
    WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(INNER, inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from([*DialectSpec.model_fields, "json", "extends", "vars"])


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_tree_loads_or_is_refused(tree: dict[str, object]) -> None:
    import json

    try:
        load_spec_text(json.dumps({"id": "x", "extends": "qwen3-coder-xml", **tree}), "f.yaml")
    except CalligramError as error:
        assert all(p.origin.file for p in error.problems)
