"""`calligram compile --target mask`: the file, what is said about it, and wrong usage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import calligram
from calligram.targets import mask
from tests.cli_runner import BASE, DIALECT, GOOD, TOOLS, program, run, write
from tests.gguf_writing import CONTROL, NORMAL, write_gguf


def byte_names() -> list[str]:
    """GPT-2's names of the 256 bytes."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(b) if b in plain else chr(next(others)) for b in range(256)]


@pytest.fixture
def vocab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("CALLIGRAM_CACHE_DIR", "")
    tokens = [(name, NORMAL) for name in byte_names()] + [("</s>", CONTROL), ("name", NORMAL)]
    return str(write_gguf(tmp_path / "v.gguf", "gpt2", tokens, eos_token_id=256))


@pytest.fixture
def base(vocab: str, tmp_path: Path) -> list[str]:
    return ["compile", *BASE, "--target", "mask", "--vocab", vocab, "-o", str(tmp_path / "a.cgm")]


def test_the_file_is_what_the_api_saves(base: list[str], vocab: str, tmp_path: Path) -> None:
    good = write(tmp_path / "good.txt", GOOD)
    bad = write(tmp_path / "bad.txt", GOOD[:-4] + "x")
    short = write(tmp_path / "short.txt", GOOD[:30])
    options = ["--budget", "states=300, bytes=1000000", "--key-order", "any"]
    samples = ["--sample", good, "--sample", bad, "--sample", short]
    result = run(*base, *options, *samples)
    assert (result.code, result.err) == (0, "")
    tools = Path(TOOLS).read_text(encoding="utf-8")
    grammar = calligram.compile_tools(tools, DIALECT, key_order="any")
    vocabulary = calligram.Vocabulary.from_gguf(vocab)
    budget = mask.SaveBudget(states=300, bytes=1_000_000)
    texts = [GOOD, GOOD[:-4] + "x", GOOD[:30]]
    report = mask.compile(grammar, vocabulary).save(
        tmp_path / "b.cgm", budget=budget, samples=texts
    )
    assert (tmp_path / "a.cgm").read_bytes() == (tmp_path / "b.cgm").read_bytes()
    size = len(GOOD) - 3
    assert result.out.splitlines() == [
        f"states: {report.states}, cut at a depth of {report.depth} tokens",
        f"edges:  {report.edges:,}",
        f"masks:  {report.rows} ({report.as_ids} as ids, {report.as_words} whole, "
        f"{report.as_changes} as changes)",
        f"bytes:  {report.bytes:,}",
        f"sample: {good}: covered",
        f"sample: {bad}: leaves the grammar after {size - 1} of {size} bytes",
        f"sample: {short}: may not end there",
    ]
    loaded = mask.load(tmp_path / "a.cgm", vocabulary, grammar=grammar)
    assert all(loaded.matcher().fork().accept_token(t) for t in GOOD[:1].encode())


def test_json_is_for_programs(base: list[str], tmp_path: Path) -> None:
    sample = write(tmp_path / "good.txt", GOOD)
    done = program(*base, "--sample", sample, "--vocab-size", "300", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert found["target"] == "mask" and found["report"]["findings"]
    saved = found["saved"]
    assert saved["bytes"] == (tmp_path / "a.cgm").stat().st_size
    size = len(GOOD)
    assert saved["samples"] == [{"file": sample, "size": size, "covered": size, "complete": True}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "mask"], "mask needs --vocab and --output (a file)"),
        (["--target", "mask", "-o", "x"], "mask needs --vocab\n"),
        (["--target", "mask", "--vocab", "x"], "mask needs --output (a file)"),
        (["--vocab", "x"], "'--vocab': is for --target mask and fsm"),
        (["--sample", "x"], "'--sample': is for --target mask, not for gbnf"),
        (["--budget", "states=1"], "'--budget': is for --target mask, not for gbnf"),
        (["--vocab-size", "1"], "'--vocab-size': is for --target mask and fsm"),
    ],
)
def test_options_that_do_not_go_together(arguments: list[str], said: str) -> None:
    result = run("compile", *BASE, *arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        ("state=1", "unknown budget 'state'; did you mean `states`?"),
        ("x=1", "legal names: states, bytes"),
        ("states=1,states=2", "'states' is given twice"),
        ("states", "states must be a whole number"),
        ("states=0", "not '0'"),
        ("bytes=1e6", "not '1e6'"),
        ("", "unknown budget ''"),
    ],
)
def test_budgets_that_cannot_be_read(base: list[str], budget: str, said: str) -> None:
    result = run(*base, "--budget", budget)
    assert (result.code, result.out) == (2, "")
    assert said in result.err


def test_files_that_cannot_be_read_or_written(base: list[str], tmp_path: Path) -> None:
    for arguments, said in (
        (["--sample", str(tmp_path / "none")], "error[cannot-read]"),
        (["--vocab", str(tmp_path / "none")], "error[vocabulary-unreadable]"),
        (["--vocab", TOOLS], "error[vocabulary-"),
        (["-o", str(tmp_path / "no" / "a")], "error[cannot-write]"),
        (["--sample", "-", "--sample", "-"], "one of --tools and --sample only"),
    ):
        result = run(*base, *arguments)
        assert (result.code, result.out) == (2, ""), arguments
        assert said in result.err
    assert not (tmp_path / "a.cgm").exists()
