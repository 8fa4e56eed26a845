"""Every kind of bad input: a located problem and the documented exit code, never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calligram.cli.problems import as_options
from calligram.compiler.origin import Origin, Problem
from tests.cli_runner import BASE, DIALECT, Result, one_tool, run, write

BAD_TOOLS: dict[str, tuple[str | bytes, int, str]] = {
    "nothing": (b"", 2, "tools.json:1:1"),
    "not JSON": ('[{"name": "t",]', 2, "tools.json:1:1"),
    "not UTF-8": (b'[{"name": "\xff"}]', 2, "tools.json:1:12"),
    "a number": ("7", 2, "tools.json"),
    "no tools": ("[]", 2, "tools.json"),
    "no name": ('[{"input_schema": {}}]', 2, "tools.json"),
    "two of one name": (json.dumps([{"name": "t"}] * 2), 2, "'t'"),
    "deep JSON": ("[" * 100_000, 3, "tools.json"),
    "unknown type": (one_tool({"type": "dict"}), 3, "error[unknown-type]"),
    "clashing bounds": (
        one_tool(
            {
                "type": "object",
                "properties": {"n": {"type": "integer", "minimum": 5, "maximum": 3}},
            },
            "n",
        ),
        3,
        "/properties/n",
    ),
    "bad pattern": (
        one_tool({"type": "object", "properties": {"s": {"type": "string", "pattern": "([a-z"}}}),
        3,
        "/properties/s/pattern",
    ),
    "no way out": (one_tool({"$ref": "#"}), 3, "tool 't'"),
}


@pytest.mark.parametrize("name", BAD_TOOLS)
@pytest.mark.parametrize("command", ["compile", "report"])
def test_bad_tools_are_located_and_end_with_the_documented_code(
    tmp_path: Path, name: str, command: str
) -> None:
    content, code, place = BAD_TOOLS[name]
    file = write(tmp_path / "tools.json", content)
    result = run(command, "--tools", file, "--dialect", DIALECT)
    assert (result.code, result.out) == (code, ""), result.err
    assert place in result.err and "error[" in result.err
    as_json = run(command, "--tools", file, "--dialect", DIALECT, "--json")
    assert (as_json.code, as_json.out) == (code, "")
    assert all(p["code"] and p["message"] for p in as_json.problems)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Usage: calligram"),
        (["nonsense"], "nonsense"),
        (["compile"], "--tools"),
        (["compile", "--tools", "nowhere.json", "--dialect", DIALECT], "nowhere.json"),
        (["compile", "--tools", ".", "--dialect", DIALECT], "directory"),
        (["compile", "--tools", "a\0b", "--dialect", DIALECT], "cannot be read"),
        (["compile", *BASE[:2], "--dialect", "hermes-jsn"], "hermes-json"),
        (["compile", *BASE[:2], "--dialect", "nowhere.yaml"], "nowhere.yaml"),
        (["compile", *BASE, "--target", "c"], "gbnf"),
        (["compile", *BASE, "--tool", "set_time"], "set_timer"),
        (["compile", *BASE, "--bounds", "strin=3"], "did you mean `string`"),
        (["compile", *BASE, "--bounds", "string=0"], "at least 1"),
        (["compile", *BASE, "--bounds", "string=" + "9" * 5000], "at least 1"),
        (["compile", *BASE, "--bounds", "string=1,string=2"], "twice"),
        (["compile", *BASE, "--bounds", ""], "legal names"),
        (["compile", *BASE, "--bounds", "string"], "write string=N"),
        (["compile", *BASE, "--bounds", "string=x"], "Invalid value for '--bounds': string"),
        (["compile", *BASE, "--tool-choice", "set_timer"], "use --tool set_timer"),
        (["compile", *BASE, "--max-calls", "0"], "max-calls"),
        (["check", *BASE], "--text"),
        (["check", *BASE, "--text", "a", "--text-file", "b"], "--text"),
        (["check", *BASE, "--text", "a\udcffb"], "offset 1"),
        (["check", "--tools", "-", "--dialect", DIALECT, "--text-file", "-"], "standard input"),
        (["dialects", "show", "nope"], "nope"),
        (["dialects", "lint"], "ID|FILE"),
    ],
)
def test_wrong_usage_exits_with_2(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert "Value error" not in result.err
    as_json = run(*arguments, "--json") if arguments else Result(2, "", "[]")
    assert as_json.code == 2 and isinstance(as_json.problems, list)


def test_invalid_utf8_in_a_text_file_is_located(tmp_path: Path) -> None:
    file = write(tmp_path / "text", b"one\ntw\xc3(")
    result = run("check", *BASE, "--text-file", file)
    assert result.code == 2
    assert f"{file}:2:3: " in result.err and "0xc3" in result.err


@pytest.mark.parametrize(
    ("words", "spelled"),
    [
        ('on_unsupported="relax" drops it', "--on-unsupported relax drops it"),
        ("or read with openapi=True", "or read with --openapi"),
        ('compile with key_order="schema", or', "compile with --key-order schema, or"),
        ("did you mean `key_order`?", "did you mean `key_order`?"),
        ('my_openapi=True, reasoning="', 'my_openapi=True, reasoning="'),
    ],
)
def test_hints_name_options(words: str, spelled: str) -> None:
    assert as_options(words) == spelled


def test_an_unsupported_keyword_hints_at_the_option(tmp_path: Path) -> None:
    listed = {"type": "array", "contains": {"const": 1}, "uniqueItems": True}
    schema = {"type": "object", "properties": {"a": listed}}
    file = write(tmp_path / "tools.json", one_tool(schema))
    result = run("compile", "--tools", file, "--dialect", DIALECT)
    assert result.code == 3 and "--on-unsupported relax" in result.err
    result = run("compile", "--tools", file, "--dialect", DIALECT, "--json")
    assert "--on-unsupported relax" in result.problems[0]["hint"]


@pytest.mark.parametrize(
    ("origin", "line"),
    [
        (Origin(), "error[x]: m"),
        (Origin(file="f"), "f: error[x]: m"),
        (Origin(file="f", line=2, column=3), "f:2:3: error[x]: m"),
        (Origin(pointer="/a"), "/a: error[x]: m"),
        (Origin(tool="t"), "tool 't': /: error[x]: m"),
        (Origin(tool="t", file="f", pointer="/a"), "f: tool 't': /a: error[x]: m"),
    ],
)
def test_places_that_are_not_known_are_left_out(origin: Origin, line: str) -> None:
    assert str(Problem("x", "m", origin)) == line


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_lone_surrogate_is_written_as_its_escape(tmp_path: Path, flags: list[str]) -> None:
    schema = '{"type": "object", "\\ud800": 1, "properties": {"a": {"title": "\\udfff"}}}'
    content = '[{"name": "t", "input_schema": ' + schema + "}]"
    file = write(tmp_path / "tools.json", content)
    result = run("report", "--tools", file, "--dialect", DIALECT, *flags)
    assert result.code == 0, result.err
    assert "\\ud800" in result.out
    if flags:
        json.loads(result.out)
