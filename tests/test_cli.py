"""The commands: what they print, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import calligram
from calligram.targets import gbnf
from tests.cli_runner import BASE, DIALECT, GOOD, TOOLS, Result, program, run, write
from tests.own_templates import FOLDER


def test_compile_prints_what_the_api_emits() -> None:
    result = run("compile", *BASE)
    tools = Path(TOOLS).read_text(encoding="utf-8")
    expected = gbnf.emit(calligram.compile_tools(tools, dialect=DIALECT))
    assert result == Result(0, expected, "")


def test_compile_options_reach_the_compiler() -> None:
    options = "--max-calls 1 --bounds string=5,items=2 --reasoning none --key-order any".split()
    result = run("compile", *BASE, *options)
    tools = Path(TOOLS).read_text(encoding="utf-8")
    grammar = calligram.compile_tools(
        tools,
        dialect=DIALECT,
        max_calls=1,
        bounds=calligram.Bounds(string=5, items=2),
        reasoning="none",
        key_order="any",
    )
    assert result.out == gbnf.emit(grammar)


@pytest.mark.parametrize(
    ("options", "accepted", "refused"),
    [
        (["--tool", "set_timer"], ["set_timer"], ["get_weather", "send_message"]),
        (
            ["--tool", "set_timer", "--tool", "get_weather"],
            ["set_timer", "get_weather"],
            ["send_message"],
        ),
        ([], ["set_timer", "get_weather", "send_message"], []),
        (["--tool-choice", "none"], [], ["set_timer", "get_weather", "send_message"]),
        (
            ["--tool-choice", "auto", "--tool", "set_timer"],
            ["set_timer"],
            ["get_weather", "send_message"],
        ),
    ],
)
def test_tool_and_tool_choice_say_which_tools_may_be_called(
    options: list[str], accepted: list[str], refused: list[str]
) -> None:
    arguments = {
        "set_timer": {"minutes": 1},
        "get_weather": {"location": "Oslo"},
        "send_message": {"to": "Ann", "text": "hi"},
    }
    for name in (*accepted, *refused):
        call = json.dumps({"name": name, "arguments": arguments[name]})
        text = f"<tool_call>\n{call}\n</tool_call>"
        assert run("check", *BASE, *options, "--text", text).code == (name in refused), name


def test_compile_json_holds_grammar_trigger_and_report() -> None:
    document = run("compile", *BASE, "--tool-choice", "auto", "--json").json
    assert sorted(document) == ["grammar", "report", "target", "trigger"]
    assert document["target"] == "gbnf" and "root ::=" in document["grammar"]
    assert document["trigger"]
    assert run("compile", *BASE, "--json").json["report"]


def test_tools_are_read_from_standard_input() -> None:
    tools = Path(TOOLS).read_bytes()
    done = program("compile", "--tools", "-", "--dialect", DIALECT, stdin=tools)
    assert done.returncode == 0
    assert done.stdout.startswith(b"#") or b"root ::=" in done.stdout


def test_check_accepts() -> None:
    assert run("check", *BASE, "--text", GOOD) == Result(0, "accepted\n", "")


def test_check_points_at_the_first_refused_byte() -> None:
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"place": "Oslo"}}\n</tool_call>'
    result = run("check", *BASE, "--text", text)
    assert result.code == 1
    head, *lines = result.out.splitlines()
    position = text.index("place")
    assert head.startswith(f"refused at byte {position} (line 2, column {position - 11})")
    marked = lines.index(" " * (4 + position - 12) + "^")
    assert lines[marked - 1][4 + position - 12] == "p"
    assert "location" in "\n".join(lines[marked + 1 :])


def test_check_json_is_the_verdict() -> None:
    document = run("check", *BASE, "--text", GOOD[:-3], "--json").json
    assert document["accepted"] is False
    assert document["position"] == len(GOOD) - 3
    assert document["expected"] and document["message"]
    assert run("check", *BASE, "--text", GOOD, "--json").json["accepted"] is True


def test_check_reads_a_file_byte_for_byte(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(GOOD.encode())
    assert run("check", *BASE, "--text-file", str(file)).code == 0
    file.write_bytes(GOOD.encode() + b"\n")
    result = run("check", *BASE, "--text-file", str(file))
    assert result.code == 1
    assert "without its final line break" in result.out


def test_check_takes_control_characters_as_text() -> None:
    result = run("check", *BASE, "--text", "\x1b[31m\x00\n\u202e")
    assert result.code == 1
    assert all(c.isprintable() or c == "\n" for c in result.out)


def test_parse_prints_the_calls() -> None:
    assert run("parse", *BASE, "--text", GOOD) == Result(0, 'set_timer {"minutes": 10}\n', "")


def test_parse_json_has_calls_and_problems() -> None:
    document = run("parse", *BASE, "--text", GOOD, "--json").json
    assert document["calls"][0]["arguments"] == {"minutes": 10}
    assert (document["problems"], document["incomplete"]) == ([], None)
    message = run("parse", *BASE, "--text", GOOD, "--openai").json
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"minutes": 10}


def test_parse_says_what_breaks_the_schema() -> None:
    result = run("parse", *BASE, "--text", GOOD.replace("10", '"ten"'))
    assert result.code == 1
    assert 'set_timer {"minutes": "ten"}' in result.out
    assert "/arguments/minutes" in result.err and "error[" in result.err


def test_parse_of_a_cut_text_is_incomplete() -> None:
    result = run("parse", *BASE, "--text", GOOD[:60], "--json")
    assert result.code == 1
    assert result.json["incomplete"]["name"] == "set_timer"


def test_report_lists_statuses_by_tool_and_pointer() -> None:
    text = run("report", *BASE).out
    assert "get_weather" in text and "/properties/unit/enum" in text and "enforced" in text
    document = run("report", *BASE, "--json").json
    assert "/properties/unit/enum" in json.dumps(document)


LONG = "a_rather_long_name_of_a_property"
SPELLED = "maxLenght"
MIXED = [
    {
        "name": "good",
        "input_schema": {
            "properties": {
                LONG: {"type": "array", "items": {"type": "string"}},
                "a": {"type": "string", SPELLED: 3, "format": "postcode", "title": "A"},
            }
        },
    },
    {
        "name": "unsupported",
        "input_schema": {
            "properties": {"a": {"type": "array", "contains": {"const": 1}, "uniqueItems": True}}
        },
    },
    {"name": "broken", "input_schema": {"properties": {"b": False}, "required": ["b"]}},
]


@pytest.fixture
def mixed(tmp_path: Path) -> list[str]:
    """Options for one good tool among broken ones."""
    file = write(tmp_path / "mixed.json", json.dumps(MIXED))
    return ["--tools", file, "--dialect", DIALECT, "--on-unsupported", "drop-tool"]


@pytest.mark.parametrize("columns", ["48", "60", "80", "97", "200", None])
def test_report_loses_nothing_at_any_width(
    mixed: list[str], columns: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    findings = run("report", *mixed, "--json").json["findings"]
    table = run("report", *mixed).out.partition("\n\n")[0].splitlines()
    assert columns is None or all(len(line) <= int(columns) for line in table)
    start, stop = table[0].index("how"), table[0].index("status")
    words = "".join("".join(line[start:].split()) for line in table)
    places = "".join("".join(line[table[0].index("pointer") : stop].split()) for line in table)
    for finding in findings:
        if finding["status"] != "annotation" or "how" in finding:
            assert "".join(finding.get("how", "").split()) in words
            assert finding["pointer"] in places


def test_report_is_one_finding_a_line_where_nobody_looks(
    mixed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = run("report", *mixed).out.splitlines()
    (line,) = [line for line in lines if "uniqueItems" in line]
    assert line.split()[0] == "unsupported" and " refused " in line


def test_report_shows_what_is_ignored_without_all(mixed: list[str]) -> None:
    text = " ".join(run("report", *mixed).out.split())
    assert SPELLED in text and "did you mean `maxLength`" in text and "postcode" in text
    assert "/title" not in text
    assert "/title" in run("report", *mixed, "--all").out


@pytest.mark.parametrize(
    ("command", "code"),
    [(["compile"], 0), (["check", "--text", "x"], 1), (["parse", "--text", "x"], 1)],
)
def test_tools_left_out_are_named_with_the_reason(
    mixed: list[str], command: list[str], code: int
) -> None:
    result = run(*command, *mixed)
    named = [line for line in result.err.splitlines() if line.startswith("left out: ")]
    assert result.code == code
    assert [line.split()[2] for line in named] == ["unsupported", "broken"]
    assert "(/properties/a/uniqueItems: " in named[0] and named[0].endswith(")")
    document = run(*command, *mixed, "--json")
    assert "left out" not in document.err
    assert {"unsupported", "broken"} <= set(
        document.json.get("left_out") or document.json["report"]["dropped_tools"]
    )
    assert run(*command, *BASE).err.count("left out") == 0


def test_dialects_list_names_each_once() -> None:
    lines = run("dialects", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == calligram.dialects()
    assert [row["id"] for row in run("dialects", "list", "--json").json] == calligram.dialects()


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_show_prints_is_a_spec_again(tmp_path: Path, dialect: str) -> None:
    shown = run("dialects", "show", dialect)
    file = write(tmp_path / "again.yaml", shown.out)
    assert (
        run("dialects", "show", file, "--json").json
        == run("dialects", "show", dialect, "--json").json
    )


def test_show_quotes_markers_and_line_breaks_doubly() -> None:
    lines = run("dialects", "show", DIALECT).out.splitlines()
    assert 'lead_in: "\\n"' in lines and '- text: "<tool_call>"' in lines
    assert "id: hermes-json" in lines and "- Hermes 2 Pro" in lines
    assert not [line for line in lines if "'" in line]


def test_lint_finds_nothing_in_the_shipped_specs() -> None:
    result = run("dialects", "lint", *calligram.dialects())
    assert (result.code, result.err) == (0, "")


def test_warnings_fail_nothing_but_strict_checks(tmp_path: Path) -> None:
    text = "id: x\nextends: hermes-json\nvars: {a: b}\nturn_end: {tokens: [<|im_end|>]}\n"
    file = write(tmp_path / "x.yaml", text)
    template = str(FOLDER / "shipped" / "hermes-json.jinja")
    linted = run("dialects", "lint", file)
    assert (linted.code, "warning[spec-unused-var]" in linted.err) == (0, True)
    checked = run("dialects", "check", file, "--template", template)
    assert (checked.code, "warning[spec-unused-var]" in checked.out) == (0, True)
    assert run("dialects", "check", file, "--template", template, "--strict").code == 1


@pytest.mark.parametrize("text", ["a: [", "id: x", "id: " + "[" * 99 + "]" * 99])
def test_a_spec_that_lint_cannot_load_is_a_finding_of_it_and_bad_input_elsewhere(
    tmp_path: Path, text: str
) -> None:
    file = write(tmp_path / "x.yaml", text)
    linted = run("dialects", "lint", file, "--json")
    assert linted.code == 1 and {p["severity"] for p in linted.json} == {"error"}
    shown = run("dialects", "show", file)
    assert shown.code == (3 if linted.json[0]["code"] == "spec-too-deep" else 2)


def test_lint_lists_problems_with_their_places(tmp_path: Path) -> None:
    spec = "id: x\ncall: '{args}'\nargs: {notation: json}\nturn_ende: {}\n"
    file = write(tmp_path / "mine.yaml", spec)
    result = run("dialects", "lint", file)
    assert result.code == 1
    assert f"{file}:4:1: " in result.err and "did you mean" in result.err
    assert run("dialects", "lint", file, "--json").json[0]["line"] == 4


def test_a_spec_outside_the_package_works_as_a_dialect(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.yaml", run("dialects", "show", DIALECT).out)
    options = ["--tools", TOOLS, "--dialect", file, "--text", GOOD]
    assert run("check", *options).out == "accepted\n"


def test_likely_misspelt_and_relaxed_keywords_are_told(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    schema = {"type": "object", "propertes": {}, "properties": {"a": {"pattern": r"(a)\1"}}}
    tools.write_text(json.dumps([{"name": "f", "input_schema": schema}]))
    command = ["compile", "--tools", str(tools), "--dialect", DIALECT, "--on-unsupported", "relax"]
    told = [line for line in run(*command).err.splitlines() if line.startswith("warning: ")]
    assert len(told) == 2
    assert told[0].startswith("warning: tool 'f': /") and "did you mean `properties`?" in "".join(
        told
    )
    assert "/properties/a/pattern: dropped" in "".join(told)
    assert "warning" not in run(*command, "--json").err
