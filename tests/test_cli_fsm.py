"""`calligram compile --target regex|fsm` and `calligram bench fsm`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import calligram
from calligram.bench import fsm
from calligram.cli.bench_fsm_command import lines, listed, summed
from calligram.targets import regex_fsm
from tests.cli_runner import BASE, GOOD, run
from tests.gguf_writing import BYTE, CONTROL, NORMAL, write_gguf


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    """A file of all single bytes, some pieces and an end."""
    tokens = [(f"<0x{byte:02X}>", BYTE) for byte in range(256)] + [("</s>", CONTROL)]
    tokens += [(piece, NORMAL) for piece in ("tool", "_call", "name", "minutes")]
    return str(write_gguf(tmp_path / "v.gguf", "llama", tokens, eos_token_id=256))


ANYTHING = {
    "name": "store",
    "parameters": {"type": "object", "properties": {"value": {}}, "required": ["value"]},
}


def test_an_expression_is_printed() -> None:
    result = run("compile", *BASE, "--bounds", "none", "--target", "regex")
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(result.out.removesuffix("\n"), GOOD)


def test_an_expression_as_json_and_to_a_file(tmp_path: Path) -> None:
    document = run("compile", *BASE, "--bounds", "none", "--target", "regex", "--json").json
    assert document["target"] == "regex" and document["cuts"] == []
    file = tmp_path / "x.txt"
    result = run(
        "compile", *BASE, "--bounds", "none", "--target", "regex", "-o", str(file)
    )  # fmt: skip
    assert (result.code, result.out) == (0, "")
    assert file.read_bytes().decode() == document["regex"]
    for more in ((), ("-o", "-")):
        result = run("compile", *BASE, "--bounds", "none", "--target", "regex", *more)
        assert result.out == document["regex"] + "\n"
    assert not Path("-").exists()


def test_what_is_cut_is_said(tmp_path: Path, vocabulary: str) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([ANYTHING]), encoding="utf-8")
    base = ["compile", "--tools", str(tools), "--dialect", "hermes-json", "--bounds", "none"]
    said = "nested at most 1 deep (--max-depth)"
    result = run(*base, "--target", "regex", "--max-depth", "1")
    assert result.code == 0 and said in result.err
    result = run(*base, "--target", "regex", "--max-depth", "1", "--json")
    assert result.err == "" and result.json["cuts"][0]["depth"] == 1
    more = ["--vocab", vocabulary, "-o", str(tmp_path / "t.npz"), "--max-depth", "1"]
    assert said in run(*base, "--target", "fsm", *more).err
    assert run(*base, "--target", "fsm", *more, "--json").json["table"]["cuts"][0]["depth"] == 1


def test_a_table_is_written(tmp_path: Path, vocabulary: str) -> None:
    file = tmp_path / "t.npz"
    result = run("compile", *BASE, "--bounds", "none", "--target", "fsm", "--vocab", vocabulary,
                 "-o", str(file))  # fmt: skip
    assert (result.code, result.err) == (0, "") and "classes of 261 tokens" in result.out
    assert result.out.endswith(" KiB\n")
    words = calligram.Vocabulary.from_gguf(vocabulary, cache=False)
    table = regex_fsm.load(file, words)
    state = table.walk(list(GOOD.encode()))
    assert table.may_end(state) and table.header["dialect"] == "hermes-json"
    document = run("compile", *BASE, "--bounds", "none", "--target", "fsm", "--vocab", vocabulary,
                   "--vocab-size", "300", "-o", str(file), "--json").json["table"]  # fmt: skip
    assert (document["output"], document["dead_ends"]) == (str(file), 0)
    words = calligram.Vocabulary.from_gguf(vocabulary, cache=False, size=300)
    again = regex_fsm.load(file, words)
    assert (document["classes"], document["bytes"]) == (again.next.shape[1], again.nbytes)


def test_dead_ends_are_counted(tmp_path: Path) -> None:
    tokens = [(f"<0x{byte:02X}>", BYTE) for byte in range(256) if byte != ord("}")]
    small = write_gguf(tmp_path / "s.gguf", "llama", [*tokens, ("</s>", CONTROL)], eos_token_id=255)
    base = ["compile", *BASE, "--bounds", "none", "--target", "fsm", "--vocab", str(small),
            "-o", str(tmp_path / "t.npz")]  # fmt: skip
    result = run(*base)
    assert result.code == 0 and "states are dead ends: no tokens lead" in result.out
    assert run(*base, "--json").json["table"]["dead_ends"] > 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "fsm", "-o", "x"], "fsm needs --vocab\n"),
        (["--target", "fsm", "--vocab", "x"], "fsm needs --output (a file)\n"),
        (["--target", "fsm", "--vocab", "x", "-o", "-"], "fsm needs --output (a file)\n"),
        (["--target", "mask"], "mask needs --vocab and --output (a file)\n"),
        (["--target", "regex", "--vocab", "x"], "is for --target mask and fsm, not for regex"),
        (["--vocab", "x"], "is for --target mask and fsm, not for gbnf"),
        (["--target", "fsm", "--budget", "x"], "is for --target mask, not for fsm"),
        (["--max-depth", "1"], "is for --target regex and fsm, not for gbnf"),
        (["--target", "regex", "--max-depth", "1"], "it is for --bounds none"),
        (["--target", "regex", "--max-depth", "-1"], "--max-depth"),
    ],
)
def test_options_that_make_no_sense(options: list[str], said: str) -> None:
    result = run("compile", *BASE, *options)
    assert result.code == 2 and said in result.err


def test_what_is_refused_is_said_and_leaves_the_file(tmp_path: Path, vocabulary: str) -> None:
    file = tmp_path / "t.npz"
    file.write_bytes(b"before")
    tools = tmp_path / "tools.json"
    items = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    tools.write_text(json.dumps([{"name": "t", "parameters": {
        "type": "object", "properties": {"tags": items}}}]), encoding="utf-8")  # fmt: skip
    result = run("compile", "--tools", str(tools), "--dialect", "hermes-json", "--target", "fsm",
                 "--vocab", vocabulary, "-o", str(file))  # fmt: skip
    assert result.code == 3 and "distinct-items" in result.err and "/properties/tags" in result.err
    assert file.read_bytes() == b"before"


def test_bench_measures_tables(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([ANYTHING, {"name": "u", "parameters": {
        "type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"},
                                                  "uniqueItems": True}}}}]),
        encoding="utf-8")  # fmt: skip
    base = ["bench", "fsm", "--tools", str(tools), "--walks", "2", "--max-depth", "1"]
    document = run(*base, "--json").json
    one, other = document["tools"]
    assert one["calligram"]["states"] > 50 and one["calligram"]["steps"]["next"] > 0
    assert one["same"] in (True, None) and "regex" not in one["calligram"]
    assert "distinct-items" in other["calligram"]["refused"]
    assert document["sum"]["made"] == 1 and document["sum"]["tools"] == 2
    text = run(*base, "--alone").out
    assert "1 of 2 tools made into tables" in text and "outlines-core:" not in text
    lines = text.splitlines()
    assert lines[0].startswith("2 tools, 32,768 tokens")
    refused = next(at for at, line in enumerate(lines) if line.endswith("refused"))
    assert lines[refused].startswith("u ") and "distinct-items" in lines[refused + 1]


def measured(seconds: float, other: float | None, grown: int = 0) -> fsm.Measured:
    steps = {"next": 0.1, "mask": 0.2, "copy": 0.0, "batch": 1.0, "take": 0.0}
    own = {"refused": None, "seconds": seconds, "bytes": 100, "steps": steps, "states": 5,
           "classes": 3}  # fmt: skip
    theirs = None if other is None else {"refused": None, "seconds": other, "grown": grown}
    return fsm.Measured("t", own, theirs)


@pytest.mark.parametrize(
    ("seconds", "other", "said"),
    [
        (0.5, 0.0, "takes an unknown part of the time (? × at worst)"),
        (0.0, 0.0, "takes an unknown part of the time (? × at worst)"),
        (0.5, 0.01, "takes 50.0 times the time (50.00 × at worst)"),
        (0.01, 0.5, "takes 0.0200 of the time (0.02 × at worst)"),
    ],
)
def test_what_takes_no_time_divides_nothing(seconds: float, other: float, said: str) -> None:
    shown = lines(summed([measured(seconds, other)]))
    assert said in shown[-1] and "an unknown part of the memory" in shown[-1]
    assert "(? × a copy)" in shown[1]
    assert listed(measured(seconds, other))[0].startswith("t ")


def test_rows_come_one_by_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, progress: Any, **__: object) -> None:
        progress(1, measured(0.5, None))
        raise KeyboardInterrupt

    monkeypatch.setattr(fsm, "measure", broken)
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([ANYTHING]), encoding="utf-8")
    result = run("bench", "fsm", "--tools", str(tools))
    assert result.code == 130 and "0.50 s" in result.out
    assert result.out.startswith("1 tool, ")


def test_what_goes_beyond_the_limits_counts_as_the_limits(tmp_path: Path) -> None:
    found = fsm.measure(
        [fsm.Tool("x", {"type": "string"}, ())], tmp_path / "none.npz", walks=0,
        limits=fsm.Limits(1, 2), whitespace="exact", max_depth=0, progress=lambda done, made: None,
    )  # fmt: skip
    assert "exceeded" in found[0].own and found[0].other is None and found[0].same is None
