"""`calligram build`, `clean` and `init`."""

from __future__ import annotations

import json
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import calligram
from calligram.build import lock, pool, watch
from calligram.build.digests import file_digest
from calligram.build.manifest import load
from calligram.build.run import build as build_here
from calligram.cli.build_command import as_keys
from calligram.cli.json_fields import FIELDS
from calligram.targets import gbnf, mask, regex_fsm
from tests.cli_runner import DIALECT, ROOT, TOOLS, Result, run
from tests.doc_blocks import blocks
from tests.gguf_writing import BYTE, CONTROL, write_gguf

MANIFEST = """\
[defaults]
dialect = "hermes-json"

[grammars.all]
tools = "tools.json"
targets = ["gbnf", "report"]

[grammars.one]
tools = "tools.json"
only = ["set_timer"]
output = "out/{name}.{extension}"

[grammars.each]
tools = "tools.json"
each = true
dialect = "mine.yaml"
"""
PARENT = "extends: hermes-json\nid: parent\nsource: https://example.org\n"
CHILD = "extends: base/parent.yaml\nid: mine\nsource: https://example.org\n"
OUTPUTS = [
    "grammars/all.gbnf",
    "grammars/all.report.json",
    "grammars/each/get_weather.gbnf",
    "grammars/each/send_message.gbnf",
    "grammars/each/set_timer.gbnf",
    "out/one.gbnf",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a manifest of five grammars, which is the current one."""
    shutil.copy(TOOLS, tmp_path / "tools.json")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "parent.yaml").write_text(PARENT, encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(CHILD, encoding="utf-8")
    (tmp_path / "calligram.toml").write_text(MANIFEST, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def built(*arguments: str) -> list[str]:
    """The grammars that a build compiled."""
    result = run("build", "--json", *arguments)
    assert (result.code, result.err) == (0, "")
    found: list[str] = result.json["built"]
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


def edit_tools(tool: str, **schema: Any) -> None:
    """Change the schema of one tool of tools.json."""
    tools = json.loads(Path("tools.json").read_text(encoding="utf-8"))
    for entry in tools:
        if entry["function"]["name"] == tool:
            entry["function"]["parameters"].update(schema)
    Path("tools.json").write_text(json.dumps(tools, indent=2), encoding="utf-8")


def stale() -> dict[str, str]:
    """What `--check` lists: reasons by output."""
    before = contents(Path())
    result = run("build", "--check", "--json")
    assert contents(Path()) == before
    assert result.code == (1 if result.json["stale"] else 0)
    return {entry["output"]: entry["reason"] for entry in result.json["stale"]}


def test_the_fields_of_json_documents_are_those_of_the_reference(folder: Path) -> None:
    for name in ("build --check", "build", "clean"):
        assert list(run(*name.split(), "--json").json) == list(FIELDS[name])


def test_everything_is_built_once(folder: Path) -> None:
    result = run("build")
    assert (result.code, result.out, result.err) == (0, "5 grammars built, 0 up to date\n", "")
    there = contents(folder)
    assert [name for name in there if name.startswith(("grammars/", "out/"))] == OUTPUTS
    tools = (folder / "tools.json").read_text(encoding="utf-8")
    grammar = calligram.compile_tools(tools, DIALECT)
    assert there["grammars/all.gbnf"].decode() == gbnf.emit(grammar)
    assert json.loads(there["grammars/all.report.json"]) == grammar.report.to_json()
    assert run("build").out == "5 grammars up to date\n"
    assert contents(folder) == there
    assert run("build", "--check").out == "5 grammars up to date\n"


def test_one_tool_rebuilds_what_depends_on_it(folder: Path) -> None:
    built()
    edit_tools("set_timer", minProperties=1)
    assert built() == ["all", "each/set_timer", "one"]
    edit_tools("send_message", minProperties=1)
    assert stale() == {
        "grammars/all.gbnf": "stale",
        "grammars/all.report.json": "stale",
        "grammars/each/send_message.gbnf": "stale",
    }
    assert built() == ["all", "each/send_message"]
    assert built() == []


def test_a_parent_of_a_dialect_counts(folder: Path) -> None:
    built()
    (folder / "base" / "parent.yaml").write_text(PARENT + "# more\n", encoding="utf-8")
    assert set(stale().values()) == {"stale"}
    each = ["each/get_weather", "each/send_message", "each/set_timer"]
    assert built() == each
    record = json.loads((folder / "calligram.lock").read_text(encoding="utf-8"))
    assert list(record["grammars"]["each/set_timer"]["more"]) == ["base/parent.yaml", "shipped"]
    (folder / "base" / "parent.yaml").unlink()
    result = run("build", "--json")
    assert result.code == 2
    assert [p["code"] for p in result.problems] == ["spec-unreadable"]


def test_a_time_alone_rebuilds_nothing(folder: Path) -> None:
    built()
    for path in folder.rglob("*"):
        path.touch()
    assert built() == []
    text = (folder / "tools.json").read_text(encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps(json.loads(text)), encoding="utf-8")
    assert built() == []  # Written otherwise, it says the same.


def test_edited_and_missing_outputs_are_noticed(folder: Path) -> None:
    built()
    right = contents(folder)
    (folder / "out" / "one.gbnf").write_text("root ::= \n", encoding="utf-8")
    (folder / "grammars" / "all.gbnf").unlink()
    assert stale() == {"out/one.gbnf": "edited", "grammars/all.gbnf": "missing"}
    lines = run("build", "--check")
    assert lines.code == 1
    assert lines.out.splitlines() == [
        "grammars/all.gbnf: was built, and is not there any more",
        "out/one.gbnf: was changed since it was built",
    ]
    assert built() == ["all", "one"]
    assert contents(folder) == right


def test_outputs_that_are_right_keep_their_time(folder: Path) -> None:
    built()
    times = {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()}
    assert len(built("--force")) == 5
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("*") if p.is_file()} == times


def test_what_is_named_no_longer_is_removed_unless_it_was_changed(folder: Path) -> None:
    built()
    text = MANIFEST.replace("each = true", 'only = ["get_weather"]').replace('"report"', '"regex"')
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    (folder / "grammars" / "each" / "set_timer.gbnf").write_text("mine", encoding="utf-8")
    found = stale()
    gone = {name for name, reason in found.items() if reason == "unnamed"}
    assert gone == {n for n in OUTPUTS if n.startswith("grammars/each/")} | {
        "grammars/all.report.json"
    }
    result = run("build", "--json")
    assert result.code == 0
    assert set(result.json["removed"]) == gone - {"grammars/each/set_timer.gbnf"}
    assert "grammars/each/set_timer.gbnf" in result.json["notes"][0]
    assert (folder / "grammars" / "each" / "set_timer.gbnf").exists()
    assert stale() == {}


def test_a_failure_tells_all_and_leaves_the_others_right(folder: Path) -> None:
    built()
    old = contents(folder)
    wrong = {"a": {"type": "strin"}, "b": {"type": "string", "pattern": "("}}
    edit_tools("set_timer", properties=wrong, required=[])
    edit_tools("get_weather", maxProperties=1)
    text = MANIFEST + '[grammars.gone]\ntools = "gone.json"\n'
    (folder / "calligram.toml").write_text(text.replace('"regex"', '"gbnf"'), encoding="utf-8")
    result = run("build", "--json")
    assert result.code == 3
    assert result.json == {
        "built": ["each/get_weather"], "fresh": 1, "removed": [], "notes": [],
        "failed": ["all", "each/set_timer", "gone", "one"],
    }  # fmt: skip
    problems = [
        (p["file"], p.get("tool"), p["pointer"], p["grammars"]) for p in result.problems
    ]  # fmt: skip
    of = ["all", "each/set_timer", "one"]
    assert problems == [
        ("tools.json", "set_timer", "/properties/a/type", of),
        ("tools.json", "set_timer", "/properties/b/pattern", of),
        ("calligram.toml", None, "/grammars/gone/tools", ["gone"]),
    ]
    new = contents(folder)
    assert {n for n in OUTPUTS if new[n] != old[n]} == {"grammars/each/get_weather.gbnf"}
    assert set(stale_of_the_failed()) == {"all", "each/set_timer", "one"}
    result = run("build")
    assert result.out == "" and "2 grammars up to date, 4 failed" in result.err
    assert "  of grammars 'all', 'each/set_timer', 'one'\n" in result.err
    shutil.copy(TOOLS, folder / "tools.json")
    (folder / "calligram.toml").write_text(MANIFEST, encoding="utf-8")
    assert built() == ["each/get_weather"]  # The others are what they were.
    assert contents(folder) == old


def stale_of_the_failed() -> set[str]:
    """The grammars that `--check` lists beside problems."""
    result = run("build", "--check")
    assert result.code == 2  # A file is missing.
    listed = [line.partition(": ")[0] for line in result.err.splitlines()]
    owners = {"grammars/all.gbnf": "all", "out/one.gbnf": "one"}
    owners["grammars/each/set_timer.gbnf"] = "each/set_timer"
    return {owners[name] for name in listed if name in owners}


def test_a_mistake_in_the_defaults_is_told_once_and_there(folder: Path) -> None:
    text = MANIFEST.replace('dialect = "hermes-json"', 'dialect = "hermes-jsn"')
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    result = run("build", "--json")
    (problem,) = result.problems
    assert (result.code, problem["code"]) == (2, "unknown-dialect")
    assert (problem["pointer"], problem["line"], problem["column"]) == ("/defaults/dialect", 2, 1)


def test_nothing_is_removed_when_something_fails(folder: Path) -> None:
    built()
    text = MANIFEST.replace("grammars.one", "grammars.two").replace("hermes-json", "hermes")
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    assert run("build").code == 2
    assert (folder / "out" / "one.gbnf").exists()
    (folder / "calligram.toml").write_text(
        MANIFEST.replace("grammars.one", "grammars.two"), encoding="utf-8"
    )
    assert built() == ["two"]
    assert not (folder / "out" / "one.gbnf").exists()


def test_hints_are_in_the_words_of_a_manifest() -> None:
    assert as_keys('try on_unsupported="relax"') == 'try on_unsupported = "relax"'
    assert as_keys("openapi=True, bounds=None") == 'openapi = true, bounds = "none"'


def test_an_unsupported_schema_is_refused_with_the_key_that_helps(folder: Path) -> None:
    doubtful = {"a": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}}
    edit_tools("set_timer", properties=doubtful, required=[])
    result = run("build")
    assert result.code == 3
    assert re.search(r'on_unsupported = "(relax|drop-tool)"', result.err)
    assert "--on-unsupported" not in result.err
    text = MANIFEST.replace("[defaults]", '[defaults]\non_unsupported = "relax"')
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    result = run("build", "--json")
    assert result.code == 0 and any("set_timer" in note for note in result.json["notes"])


@pytest.fixture
def vocabulary(folder: Path) -> str:
    tokens = [(f"<0x{byte:02X}>", BYTE) for byte in range(256)] + [("</s>", CONTROL)]
    write_gguf(folder / "v.gguf", "llama", tokens, eos_token_id=256)
    return "v.gguf"


def test_files_for_a_vocabulary(folder: Path, vocabulary: str) -> None:
    text = f"""
[grammars.a]
tools = "tools.json"
only = ["set_timer"]
dialect = "hermes-json"
bounds = {{ string = 4 }}
targets = ["mask", "fsm", "regex"]
vocabulary = "{vocabulary}"
budget = {{ states = 30 }}
samples = ["sample.txt"]
"""
    sample = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 10}}\n</tool_call>'
    (folder / "sample.txt").write_text(sample, encoding="utf-8")
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    assert built("--jobs", "2") == ["a"]
    known = calligram.Vocabulary.from_gguf(vocabulary)
    tools = json.loads((folder / "tools.json").read_text(encoding="utf-8"))
    only = [t for t in tools if t["function"]["name"] == "set_timer"]
    grammar = calligram.compile_tools(only, DIALECT, bounds=calligram.Bounds(string=4))
    # The tools taken as the program that loads it would give them.
    automaton = mask.load("grammars/a.cgm", known, grammar=grammar)
    matcher = automaton.matcher()
    assert all(matcher.accept_token(byte) for byte in sample.encode())
    assert not automaton.is_compiled
    table = regex_fsm.load("grammars/a.npz", known)
    assert table.guide().accepts_tokens(list(sample.encode()))
    expression = (folder / "grammars" / "a.regex").read_text(encoding="utf-8")
    assert re.fullmatch(expression, sample)
    assert built() == []
    (folder / "sample.txt").write_text("other", encoding="utf-8")
    assert stale().keys() == {"grammars/a.cgm", "grammars/a.npz", "grammars/a.regex"}


def test_what_is_cut_of_recursion_is_told(folder: Path) -> None:
    edit_tools("set_timer", properties={"any": {}}, required=[])
    text = """
[grammars.a]
tools = "tools.json"
only = ["set_timer"]
dialect = "hermes-json"
bounds = "none"
max_depth = 1
targets = ["report", "regex"]
"""
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    [note] = run("build", "--json").json["notes"]
    assert note == "a: values of any type: nested at most 1 deep (max_depth)"
    report = json.loads((folder / "grammars" / "a.report.json").read_text(encoding="utf-8"))
    assert [(cut["tool"], cut["depth"]) for cut in report["cuts"]] == [(None, 1)]
    (folder / "calligram.toml").write_text(text.replace(', "regex"', "").replace(
        "max_depth = 1", ""), encoding="utf-8")  # fmt: skip
    assert run("build", "--json").json["notes"] == []
    report = json.loads((folder / "grammars" / "a.report.json").read_text(encoding="utf-8"))
    assert "cuts" not in report


def test_a_target_that_cannot_be_made_is_named_and_nothing_is_written(folder: Path) -> None:
    wrong = {"a": {"type": "string", "format": "email"}}
    edit_tools("set_timer", properties=wrong, required=[])
    text = """
[grammars.a]
tools = "tools.json"
only = ["set_timer"]
dialect = "hermes-json"
targets = ["gbnf", "regex"]
"""
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    result = run("build", "--json")
    assert (result.code, result.json["failed"]) == (3, ["a"])
    [problem] = result.problems
    assert (problem["grammars"], problem["target"]) == (["a"], "regex")
    assert problem["pointer"] == "/properties/a" and problem["file"] == "tools.json"
    assert "  of grammar 'a', target regex; none of its files was written\n" in run("build").err
    assert not (folder / "grammars").exists()


def test_processes_make_the_same_bytes_as_one(folder: Path, monkeypatch: Any) -> None:
    built("--jobs", "1")
    alone = contents(folder)
    assert run("clean").out == "6 files removed\n"
    monkeypatch.setattr(pool, "ALONE", 0)
    edit_tools("set_timer")
    assert len(built("--jobs", "2")) == 5
    assert contents(folder) == {**alone, "tools.json": (folder / "tools.json").read_bytes()}


def test_a_process_that_dies_fails_its_grammar_alone(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(pool, "ALONE", 0)
    summary = build_here("calligram.toml", 2)
    assert len(summary.built) == 5
    ask = pool._Worker.ask

    def killed(self: Any, unit: Any, write: Any) -> Any:
        if unit.name == "one":
            self._process.kill()
        return ask(self, unit, write)

    monkeypatch.setattr(pool._Worker, "ask", killed)
    summary = build_here("calligram.toml", 2, force=True)
    assert len(summary.built) == 4
    assert [p.code for p in summary.failed["one"]] == ["build-worker"]


def test_check_with_force_compares_what_comes_out(folder: Path) -> None:
    built()
    assert run("build", "--check", "--force").code == 0
    # As if another version of calligram had written it: file and record agree.
    record = json.loads((folder / "calligram.lock").read_text(encoding="utf-8"))
    (folder / "out" / "one.gbnf").write_text("root ::= \n", encoding="utf-8")
    outputs = record["grammars"]["one"]["outputs"]
    outputs["out/one.gbnf"] = file_digest("out/one.gbnf")
    (folder / "calligram.lock").write_text(json.dumps(record), encoding="utf-8")
    assert stale() == {}
    before = contents(folder)
    result = run("build", "--check", "--force", "--json")
    assert result.code == 1 and contents(folder) == before
    assert result.json["stale"] == [
        {"output": "out/one.gbnf", "grammar": "one", "reason": "differs"}
    ]
    assert len(built("--force")) == 5
    assert run("build", "--check", "--force").code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"calligram": 2}', "its format is 2, not 1"),
        ('{"calligram": 1}', "it is of another form"),
        ('{\n"calligram": 1,', "line 2 is not JSON"),
        ("", "line 1 is not JSON"),
    ],
)
def test_a_broken_record_is_made_anew(folder: Path, text: str, said: str) -> None:
    built()
    right = contents(folder)
    (folder / "calligram.lock").write_text(text, encoding="utf-8")
    result = run("build", "--check")
    assert result.code == 1 and "calligram.lock: is no record of a build" in result.out
    assert said in run("clean").err
    assert run("clean").code == 2
    result = run("build")
    assert result.code == 0 and "warning: calligram.lock" in result.err
    assert contents(folder) == right


def test_clean_removes_what_was_built_and_nothing_else(folder: Path) -> None:
    before = contents(folder)
    built()
    (folder / "grammars" / "notes.txt").write_text("mine", encoding="utf-8")
    (folder / "out" / "one.gbnf").write_text("changed", encoding="utf-8")
    result = run("clean", "--json")
    assert (result.code, result.json["left"]) == (0, ["out/one.gbnf"])
    assert result.json["removed"] == [name for name in OUTPUTS if name != "out/one.gbnf"]
    kept = {"grammars/notes.txt": b"mine", "out/one.gbnf": b"changed"}
    left = contents(folder)
    # What was left is the build's still: the next one replaces it.
    assert list(json.loads(left.pop("calligram.lock"))["grammars"]) == ["one"]
    assert left == {**before, **kept}
    assert run("clean").out == "0 files removed\n"
    assert stale()["out/one.gbnf"] == "edited"
    assert len(built()) == 5
    assert stale() == {}
    run("clean")
    assert contents(folder) == {**before, "grammars/notes.txt": b"mine"}


def test_an_output_that_cannot_be_written_is_told(folder: Path) -> None:
    (folder / "out").write_text("in the way", encoding="utf-8")
    result = run("build", "--json")
    assert result.code == 2
    assert [(p["code"], p["file"]) for p in result.problems] == [("cannot-write", "out/one.gbnf")]
    assert (folder / "grammars" / "all.gbnf").exists()


def test_a_manifest_elsewhere_and_in_pyproject(folder: Path, tmp_path: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    text = MANIFEST.replace("[grammars.", "[tool.calligram.grammars.")
    text = text.replace("[defaults]", "[tool.calligram.defaults]").replace(
        '"tools.json"', '"../tools.json"'
    )
    text = text.replace("mine.yaml", "../mine.yaml")
    (inner / "pyproject.toml").write_text(text, encoding="utf-8")
    assert len(built("--manifest", "inner")) == 5
    assert built("-m", "inner/pyproject.toml") == []
    made = {n for n in contents(inner) if n.startswith(("grammars", "out"))}
    assert made == set(OUTPUTS)


@pytest.mark.parametrize(
    "arguments", [("--watch", "--check"), ("--watch", "--json"), ("--jobs", "0"), ("--chek",)]
)
def test_usage_errors(folder: Path, arguments: tuple[str, ...]) -> None:
    result = run("build", *arguments)
    assert result.code == 2
    assert "Usage: calligram build" in result.err or '"code": "usage"' in result.err


# -- starting quickly


def test_a_build_with_nothing_to_do_imports_nothing_heavy(folder: Path) -> None:
    built()
    program = (
        "import sys; from calligram.cli import main; code = main(['build']);"
        "print(code, *sorted({m.split('.')[0] for m in sys.modules}), *sys.modules)"
    )
    done = child("-c", program)
    out = done.communicate(timeout=60)[0]
    assert out.startswith("5 grammars up to date\n0 ")
    modules = set(out.split())
    assert "calligram.build.run" in modules
    heavy = {
        "numpy", "jsonschema", "rich", "interegular", "calligram.compiler.pipeline",
        "calligram.targets",
    }  # fmt: skip
    assert modules & heavy == set()


# -- killed, watched, locked


def child(*arguments: str) -> subprocess.Popen[str]:
    """Python in a process of its own, in the current folder."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "CALLIGRAM_CACHE_DIR": ""},
    )


BUILDER = "from calligram.build import pool, run; pool.ALONE = 0; run.build('calligram.toml', {})"

# Programs in the background of a shell are started with interrupts ignored.
INTERRUPTIBLE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from calligram.cli import main; raise SystemExit(main({}))"
)


@pytest.mark.parametrize(("jobs", "rounds"), [(1, 3), (2, 2)])
def test_a_killed_build_leaves_no_half_written_output(folder: Path, jobs: int, rounds: int) -> None:
    text = MANIFEST + "".join(
        f'[grammars.more{i}]\ntools = "tools.json"\nmax_calls = {i + 1}\n' for i in range(40)
    )
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    assert len(build_here("calligram.toml", 1).built) == 45
    right = contents(folder)
    moment = random.Random(jobs)
    begun = 0
    for number in range(rounds):
        for name in ("grammars", "out"):
            shutil.rmtree(folder / name, ignore_errors=True)
        (folder / "calligram.lock").unlink(missing_ok=True)
        process = child("-c", BUILDER.format(jobs))
        deadline = time.monotonic() + 20
        # Killed from the first output on: before, there is nothing to break.
        while not (folder / "grammars").exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(moment.uniform(0, 0.1) if number else 0)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)  # Until the last worker has let go of the pipe.
        there = contents(folder)
        for name, content in there.items():
            if not Path(name).name.startswith(".") and name != "calligram.lock":
                assert right[name] == content
        if "calligram.lock" in there:
            json.loads(there["calligram.lock"])
        begun += len(there) < len(right)
    assert begun  # At least one was killed before it was done.
    part = folder / "grammars" / ".all.gbnf.abcd_123.calligram-part"
    part.write_text("root", encoding="utf-8")
    for name in (".mine.abcd_123.calligram-part", ".all.gbnf.original"):
        (folder / "grammars" / name).write_text("not ours", encoding="utf-8")
        right[f"grammars/{name}"] = b"not ours"
    assert run("build").code == 0
    assert contents(folder) == right


def test_builds_of_one_manifest_wait_for_each_other(folder: Path) -> None:
    waited: list[bool] = []
    with lock.held("calligram.toml", lambda: waited.append(True)) as first:
        assert first is not None
        process = child("-m", "calligram", "build")
        assert process.stdout is not None
        assert process.stdout.readline().startswith("another build in this folder is at work")
        assert not (folder / "grammars").exists()
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "5 grammars built, 0 up to date\n")
    assert waited == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_build_is_over_at_once_and_can_be_taken_up(folder: Path, jobs: int) -> None:
    text = MANIFEST + "".join(
        f'[grammars.more{i}]\ntools = "tools.json"\nmax_calls = {i + 1}\n' for i in range(40)
    )
    (folder / "calligram.toml").write_text(text, encoding="utf-8")
    program = "from calligram.build import pool; pool.ALONE = 0;"
    program += INTERRUPTIBLE.format(["build", "-j", str(jobs)])
    process = child("-c", program)
    while not (folder / "grammars").exists():
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    there = [name for name in contents(folder) if name.startswith(("grammars/", "out/"))]
    assert len(there) < 46
    assert run("build", "--json").json["fresh"] <= len(there)
    assert run("build", "--check").code == 0


def test_watching_builds_again_and_goes_on_after_errors(folder: Path) -> None:
    process = child("-u", "-c", INTERRUPTIBLE.format(["build", "--watch"]))
    out = process.stdout
    assert out is not None
    overdue = threading.Timer(240, process.kill)
    overdue.start()
    try:
        assert out.readline().startswith("watching")
        assert out.readline() == "5 grammars built, 0 up to date\n"
        (folder / "new").write_text("x = 1\n" + MANIFEST, encoding="utf-8")
        (folder / "new").replace(folder / "calligram.toml")  # Never half of it.
        assert "manifest-unknown-key" in out.readline()
        assert "legal keys" in out.readline()
        (folder / "new").write_text(MANIFEST, encoding="utf-8")
        (folder / "new").replace(folder / "calligram.toml")
        assert out.readline() == "5 grammars up to date; all is well again\n"
        time.sleep(0.7)
        edit_tools("set_timer", minProperties=1)
        assert out.readline() == "3 grammars built, 2 up to date\n"
        (folder / "out" / "one.gbnf").unlink()
        assert out.readline() == "1 grammar built, 4 up to date\n"
        (folder / "grammars" / "all.gbnf").write_text("mine", encoding="utf-8")
        assert out.readline() == "1 grammar built, 4 up to date\n"
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        overdue.cancel()
        process.kill()
    assert (process.returncode, rest) == (0, "")


def test_a_look_sees_what_changed(tmp_path: Path) -> None:
    file = tmp_path / "a"
    seen = watch.look([str(file)])
    assert watch.look(seen) == seen
    file.write_text("x", encoding="utf-8")
    watch.wait(seen)  # Returns at once.
    seen = watch.look([str(file)])
    file.write_text("xy", encoding="utf-8")
    assert watch.look(seen) != seen


# -- init


def test_init_writes_a_manifest_that_builds(folder: Path) -> None:
    (folder / "calligram.toml").unlink()
    result = run("init", "--tools", "tools.json", "--dialect", "mine.yaml")
    assert result.code == 0 and result.out.startswith("calligram.toml written")
    text = (folder / "calligram.toml").read_text(encoding="utf-8")
    assert "# get_weather, set_timer, send_message" in text
    assert built() == ["tools"]
    assert (folder / "grammars" / "tools.gbnf").exists()
    # What is commented out is right too.
    for line in ('only = ["get_weather"]', "each = true", 'tool_choice = "required"'):
        assert f"# {line}" in text
    more = re.sub(
        r"^# (only|each|tool_choice|bounds|\[defaults\]|key_order)", r"\1", text, flags=re.M
    )
    (folder / "calligram.toml").write_text(more, encoding="utf-8")
    assert built() == ["tools/get_weather"]


def test_init_writes_to_standard_output_too(folder: Path) -> None:
    before = contents(folder)
    result = run("init", "--tools", "tools.json", "--dialect", DIALECT, "-o", "-")
    assert result.code == 0 and "[grammars.tools]" in result.out
    assert "written" not in result.out and contents(folder) == before


def refusal(result: Result) -> tuple[int, str]:
    return result.code, result.err


def test_init_refuses_to_replace_and_what_is_wrong(folder: Path) -> None:
    before = contents(folder)
    base = ("init", "--tools", "tools.json", "--dialect", DIALECT)
    for arguments, said in (
        (base, "calligram.toml: error[manifest-exists]"),
        ((*base, "-o", "pyproject.toml"), "error[manifest-exists]"),
        (
            ("init", "--tools", "no.json", "--dialect", DIALECT, "-o", "x.toml"),
            "error[cannot-read]",
        ),
        (("init", "--tools", "tools.json", "--dialect", "x", "-o", "x.toml"), "unknown-dialect"),
        (("init", "--tools", "mine.yaml", "--dialect", DIALECT, "-o", "x.toml"), "mine.yaml:"),
        (("init", "--tools", "-", "--dialect", DIALECT, "-o", "x.toml"), "a manifest names a file"),
    ):
        code, err = refusal(run(*arguments))
        assert code == 2 and said in err
    assert contents(folder) == before


# -- the how-to


def test_the_files_that_the_how_to_shows_are_read(folder: Path) -> None:
    page = (ROOT / "docs" / "how-to" / "compile-at-build-time.md").read_text(encoding="utf-8")
    shown = [block for block in blocks(page) if block.language in ("toml", "yaml")]
    assert {block.language for block in shown} == {"toml", "yaml"}
    for block in shown:
        if block.language == "yaml":
            assert isinstance(yaml.safe_load(block.text), dict)
            continue
        (folder / "calligram.toml").write_text(block.text, encoding="utf-8")
        assert load("calligram.toml").grammars
