"""Plans: units, names of outputs, and keys that change when they must and only then."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path

import pytest

from calligram.build import digests
from calligram.build.manifest import load
from calligram.build.plan import Plan, plan

TOOLS = [
    {"name": name, "input_schema": {"type": "object", "properties": {name: {"type": "string"}}}}
    for name in ("one", "two", "three")
]
SPEC = "extends: hermes-json\nid: mine\nsource: https://example.org\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(SPEC, encoding="utf-8")
    (tmp_path / "v.json").write_text("{}", encoding="utf-8")
    return tmp_path


def planned(folder: Path, *lines: str) -> Plan:
    """The plan of one grammar `g` with these lines."""
    base = {"tools": '"t.json"', "dialect": '"hermes-json"'}
    base |= {line.partition("=")[0].strip(): line.partition("=")[2].strip() for line in lines}
    text = "[grammars.g]\n" + "".join(f"{k} = {v}\n" for k, v in base.items())
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    return plan(load(str(folder / "calligram.toml")))


def outputs(made: Plan) -> list[str]:
    assert not made.failed
    return [path for unit in made.units.values() for _, path in unit.outputs]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ((), ["grammars/g.gbnf"]),
        (('targets = ["gbnf", "report"]',), ["grammars/g.gbnf", "grammars/g.report.json"]),
        (("each = true",), [f"grammars/g/{t}.gbnf" for t in ("one", "two", "three")]),
        (("each = true", 'only = ["two"]'), ["grammars/g/two.gbnf"]),
        (
            ('dialect = ["hermes-json", "mine.yaml"]', 'output = "out/"'),
            ["out/g.hermes-json.gbnf", "out/g.mine.gbnf"],
        ),
        (('output = "{dialect}/{name}.{target}.txt"',), ["hermes-json/g.gbnf.txt"]),
        (
            ('targets = ["gbnf", "regex"]', 'output = { gbnf = "x", regex = "y/" }'),
            ["x", "y/g.regex"],
        ),
        (
            ("each = true", 'only = ["one"]', 'output = "{tool}-{name}.{extension}"'),
            ["one-g.gbnf"],
        ),
    ],
)
def test_outputs_are_named(folder: Path, lines: tuple[str, ...], wanted: list[str]) -> None:
    assert outputs(planned(folder, *lines)) == wanted


@pytest.mark.parametrize(
    ("tool", "file"),
    [("a/b", "a%2Fb"), ("../x", "%2E.%2Fx"), ("a b", "a%20b"), ("é", "%C3%A9"), ("a.b-c", "a.b-c")],
)
def test_a_tools_name_stays_within_its_folder(folder: Path, tool: str, file: str) -> None:
    definitions = [{"name": tool, "input_schema": {"type": "object"}}]
    (folder / "t.json").write_text(json.dumps(definitions), encoding="utf-8")
    assert outputs(planned(folder, "each = true")) == [f"grammars/g/{file}.gbnf"]


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (('tools = "none.json"',), ["cannot-read"]),
        (('tools = "mine.yaml"',), ["invalid-json"]),
        (('dialect = "none.yaml"',), ["cannot-read"]),
        (('only = ["one", "tow", "x"]',), ["unknown-tool", "unknown-tool"]),
        (('targets = ["mask"]',), ["manifest-missing-key"]),
        (('targets = ["fsm"]', 'vocabulary = "none.gguf"'), ["cannot-read"]),
        (('output = "{nme}"',), ["manifest-value"]),
        (('output = "{tool}"',), ["manifest-value"]),
        (('tool = ["none"]',), ["unknown-tool"]),
        (('only = ["one"]', 'tool = ["two"]'), ["unknown-tool"]),
        (('tool = ["one"]', "each = true"), ["manifest-value"]),
        (('output = "t.json"',), ["manifest-output"]),
        (('output = "./calligram.toml"',), ["manifest-output"]),
        (('output = "x/../calligram.lock"',), ["manifest-output"]),
        (('output = "x"', 'targets = ["gbnf", "regex"]'), ["manifest-output"]),
        (("each = true", 'output = "x"', 'only = ["one", "two"]'), ["manifest-output"]),
        (('documents = ["none.json"]', 'output = "{x}"'), ["cannot-read", "manifest-value"]),
    ],
)
def test_what_cannot_be_planned_is_refused(
    folder: Path, lines: tuple[str, ...], codes: list[str]
) -> None:
    made = planned(folder, *lines)
    assert made.units == {}
    assert [p.code for p in made.failed["g"]] == codes
    assert all(p.origin.file for p in made.failed["g"])


@pytest.mark.parametrize(
    ("line", "pointer"),
    [
        ('tools = "none.json"', "/grammars/g/tools"),
        ('tool = ["none"]', "/grammars/g/tool"),
        ('samples = ["none.txt"]', "/grammars/g/samples"),
        ('documents = ["none.json"]', "/grammars/g/documents"),
        ('vocabulary = "none.gguf"', "/grammars/g/vocabulary"),
        ('dialect = "none.yaml"', "/grammars/g/dialect"),
    ],
)
def test_what_the_manifest_says_wrong_is_placed_in_it(
    folder: Path, line: str, pointer: str
) -> None:
    made = planned(folder, 'targets = ["mask"]', 'vocabulary = "v.json"', line)
    [problem] = made.failed["g"]
    assert (problem.origin.file, problem.origin.pointer) == (
        str(folder / "calligram.toml"), pointer,
    )  # fmt: skip


def test_hints_name_what_is_near(folder: Path) -> None:
    problems = planned(folder, 'only = ["tow"]').failed["g"]
    assert problems[0].hint == "did you mean `two`? its tools: one, two, three"
    problems = planned(folder, 'output = "{nme}"').failed["g"]
    assert "did you mean `name`?" in (problems[0].hint or "")


def keys(made: Plan) -> dict[str, str]:
    assert not made.failed
    return {name: unit.key for name, unit in made.units.items()}


def test_one_tool_changes_the_key_of_what_takes_it(folder: Path) -> None:
    before = keys(planned(folder, "each = true"))
    only = keys(planned(folder, 'only = ["one", "three"]'))
    whole = keys(planned(folder))
    changed = json.loads(json.dumps(TOOLS))
    changed[1]["input_schema"]["properties"]["new"] = {"type": "null"}
    (folder / "t.json").write_text(json.dumps(changed, indent=3), encoding="utf-8")
    after = keys(planned(folder, "each = true"))
    assert [name for name in before if before[name] != after[name]] == ["g/two"]
    assert keys(planned(folder, 'only = ["one", "three"]')) == only
    assert keys(planned(folder)) != whole


@pytest.mark.parametrize(
    "line",
    [
        'dialect = "mine.yaml"',
        'key_order = "any"',
        "bounds = { string = 3 }",
        'bounds = "none"',
        'tool_choice = "auto"',
        'tool = ["one"]',
        'documents = { "https://example.org/x" = "v.json" }',
        'targets = ["report"]',
        'whitespace = "flexible"',
    ],
)
def test_an_option_changes_the_key(folder: Path, line: str) -> None:
    assert keys(planned(folder, line)) != keys(planned(folder))


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ('dialect = "mine.yaml"', "mine.yaml"),
        ('documents = ["d.json"]', "d.json"),
        ('samples = ["s.txt"]', "s.txt"),
        ('vocabulary = "v.json"', "v.json"),
        ('vocabulary = "v.json"', "config.json"),  # Read beside a tokenizer.json.
    ],
)
def test_a_files_content_changes_the_key_and_its_time_does_not(
    folder: Path, line: str, file: str
) -> None:
    for name in ("d.json", "s.txt"):
        (folder / name).write_text("{}", encoding="utf-8")
    base = ('targets = ["mask"]', 'vocabulary = "v.json"', line)
    before = keys(planned(folder, *base))
    if (folder / file).exists():
        (folder / file).write_bytes((folder / file).read_bytes())
    assert keys(planned(folder, *base)) == before
    with (folder / file).open("a") as stream:
        stream.write(" # more")
    assert keys(planned(folder, *base)) != before


def test_where_an_output_goes_is_no_part_of_the_key(folder: Path) -> None:
    assert keys(planned(folder, 'output = "x"')) == keys(planned(folder))


def test_large_files_are_told_apart_by_their_beginning_and_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "WHOLE", 10)
    contents = [b"0123456789", b"0123456789a", b"0123456789ab", b"x123456789a", b"012345678x"]
    found = set()
    for content in contents:
        (tmp_path / "f").write_bytes(content)
        found.add(digests.file_digest(str(tmp_path / "f")))
    assert len(found) == len(contents)


def test_a_pipe_is_no_input(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert [p.code for p in planned(folder, 'tools = "pipe"').failed["g"]] == ["cannot-read"]
    made = planned(folder, 'documents = ["pipe"]')
    assert [p.code for p in made.failed["g"]] == ["cannot-read"]


def test_units_cross_processes(folder: Path) -> None:
    unit = planned(folder, "bounds = { string = 3 }").units["g"]
    assert pickle.loads(pickle.dumps(unit)) == unit
