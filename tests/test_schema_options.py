"""The options of reading schemas, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import calligram
from tests.cli_runner import one_tool, run, write

DATE = {"type": "object", "properties": {"d": {"type": "string", "format": "date"}}}


def refusal(schema: Any, **options: Any) -> calligram.Problem:
    with pytest.raises(calligram.CalligramError) as caught:
        calligram.compile_schema(schema, **options)
    assert len(caught.value.problems) == 1
    return caught.value.problems[0]


def test_formats_are_asserted_or_annotations() -> None:
    both: list[tuple[dict[str, Any], bool]] = [({}, False), ({"formats": "annotate"}, True)]
    for options, accepted in both:
        for grammar, text in (
            (calligram.compile_schema(DATE, **options), '{"d": "soon"}'),
            (
                calligram.compile_tools([{"name": "t", "input_schema": DATE}], "hermes-json",
                                        **options),
                '<tool_call>\n{"name": "t", "arguments": {"d": "soon"}}\n</tool_call>',
            ),
        ):  # fmt: skip
            assert bool(grammar.check(text)) is accepted
            found = next(f for f in grammar.report.findings if f.keyword == "format")
            assert found.status == ("annotation" if accepted else "narrowed")


def test_unknown_formats_are_reported_or_refused_with_a_hint() -> None:
    schema = {"type": "string", "format": "dat-time"}
    report = calligram.compile_schema(schema).report
    found = next(f for f in report.findings if f.keyword == "format")
    assert (found.status, found.how) == (
        "annotation", "unknown format 'dat-time': not asserted; did you mean `date-time`?",
    )  # fmt: skip
    for formats in ("assert", "annotate"):
        problem = refusal(schema, unknown_formats="refuse", formats=formats)
        assert (problem.code, problem.origin.pointer) == ("unknown-format", "/format")
        assert problem.hint == "did you mean `date-time`?"
    far = refusal({"type": "string", "format": "qqqq"}, unknown_formats="refuse")
    assert far.hint == 'unknown_formats="annotate" reports it and goes on'
    calligram.compile_schema({"type": "string", "format": "int64"}, unknown_formats="refuse")


@pytest.mark.parametrize(
    "options",
    [{"formats": "asserted"}, {"unknown_formats": True}, {"documents": [{"$id": "urn:a"}]}],
)
def test_wrong_options_are_named(options: dict[str, Any]) -> None:
    problem = refusal(True, **options)
    assert problem.code == "invalid-option" and next(iter(options)) in problem.message


def test_documents_of_both_compile_functions() -> None:
    documents = {"https://example.com/unit.json": {"enum": ["C", "F"]}}
    schema = {"type": "object", "properties": {"u": {"$ref": "https://example.com/unit.json"}}}
    value = calligram.compile_schema(schema, documents=documents)
    assert value.check('{"u": "C"}') and not value.check('{"u": "K"}')
    grammar = calligram.compile_tools(
        [{"name": n, "input_schema": schema} for n in ("a", "b")], "hermes-json",
        documents=documents,
    )  # fmt: skip
    for name in ("a", "b"):
        text = grammar.render([{"name": name, "arguments": {"u": "F"}}])
        assert grammar.check(text) and not grammar.check(text.replace("F", "K"))
    pointers = {(f.origin.tool, f.origin.pointer) for f in grammar.report.findings}
    assert ("b", "https://example.com/unit.json#/enum") in pointers


# -- the command line

REFERRING = {"type": "object", "properties": {"u": {"$ref": "https://example.com/unit.json"}}}
CALL = '<tool_call>\n{"name": "t", "arguments": {"u": "%s"}}\n</tool_call>'


def base(tmp_path: Path, schema: Any = REFERRING) -> list[str]:
    tools = write(tmp_path / "tools.json", one_tool(schema))
    return ["--tools", tools, "--dialect", "hermes-json"]


def test_documents_are_named_by_an_option_or_by_themselves(tmp_path: Path) -> None:
    unit = {"$id": "https://example.com/unit.json", "enum": ["C", "F"]}
    named = write(tmp_path / "named.json", json.dumps(unit))
    plain = write(tmp_path / "a=b.json", json.dumps({"enum": ["C", "F"]}))
    old = write(tmp_path / "old.json", json.dumps(
        {"$schema": "http://json-schema.org/draft-04/schema#",
         "id": "https://example.com/unit.json#", "enum": ["C", "F"]}))  # fmt: skip
    for option in (named, old, f"https://example.com/unit.json={named}"):
        arguments = [*base(tmp_path), "--document", option]
        assert run("check", *arguments, "--text", CALL % "C").code == 0
        assert run("check", *arguments, "--text", CALL % "K").code == 1
        assert "root ::=" in run("compile", *arguments).out
        assert run("parse", *arguments, "--text", CALL % "C").code == 0
        found = run("report", *arguments, "--json").json["findings"]
        assert "https://example.com/unit.json#/enum" in {f["pointer"] for f in found}
    # The name of a file may hold a `=`; as a whole it names itself, which this one does not.
    result = run("compile", *base(tmp_path), "--document", plain)
    assert result.code == 2 and "it has no $id" in result.err


def test_problems_of_documents_name_their_files(tmp_path: Path) -> None:
    bad = write(tmp_path / "bad.json", '{"$id": "https://example.com/unit.json", "enum": 3}')
    result = run("compile", *base(tmp_path), "--document", bad, "--json")
    assert result.code == 3
    [problem] = result.problems
    assert problem["file"] == bad
    assert problem["pointer"] == "https://example.com/unit.json#/enum"
    listed = write(tmp_path / "list.json", "[1]")
    result = run("compile", *base(tmp_path), "--document", f"urn:x={listed}", "--json")
    assert result.code == 3 and result.problems[0]["file"] == listed
    broken = write(tmp_path / "broken.json", "{")
    result = run("compile", *base(tmp_path), "--document", f"urn:x={broken}")
    assert result.code == 2
    assert result.err.startswith(f"{broken}:1:2: error[invalid-json]: schema documents are no JSON")
    assert run("compile", *base(tmp_path), "--document", "urn:x=nowhere.json").code == 2


def test_a_missing_document_is_hinted_at_as_an_option(tmp_path: Path) -> None:
    result = run("compile", *base(tmp_path))
    assert result.code == 3
    assert "pass it in: --document https://example.com/unit.json=FILE" in result.err


def test_documents_are_files_and_have_one_name_each(tmp_path: Path) -> None:
    assert run("compile", *base(tmp_path), "--document", "urn:x=-").code == 2
    one = write(tmp_path / "one.json", "true")
    result = run("compile", *base(tmp_path), "--document", f"urn:x={one}",
                 "--document", f"urn:x#={one}")  # fmt: skip
    assert result.code == 2 and "'urn:x' is given twice" in result.err


def test_formats_on_the_command_line(tmp_path: Path) -> None:
    text = '<tool_call>\n{"name": "t", "arguments": {"d": "soon"}}\n</tool_call>'
    assert run("check", *base(tmp_path, DATE), "--text", text).code == 1
    annotated = run("check", *base(tmp_path, DATE), "--formats", "annotate", "--text", text)
    assert annotated.code == 0
    odd = {"type": "object", "properties": {"d": {"type": "string", "format": "qqqq"}}}
    result = run("compile", *base(tmp_path, odd), "--unknown-formats", "refuse")
    assert result.code == 3 and "--unknown-formats annotate reports it" in result.err
