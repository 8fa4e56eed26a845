"""The demo on the real server and model: what it shows, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from calligram.demo import DATA, WORDS, judge, load_job
from calligram.demo_client import Answer, DemoError, ask, find_model, running_server

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_server(find_model()) as address:
        yield address


CALL = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 10}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "cut", "verdict"),
    [
        (CALL, False, "valid"),
        ("Sure.\n" + CALL, False, "valid"),
        (CALL, True, "incomplete"),
        (CALL.replace("10", '"ten"'), False, "invalid"),
        (CALL.replace("minutes", "duration"), False, "invalid"),
        (CALL.replace("set_timer", "start_timer"), False, "invalid"),
        ("I cannot do that.", False, "no_call"),
        ("", False, "no_call"),
    ],
)
def test_an_answer_is_judged_by_its_schema(text: str, cut: bool, verdict: str) -> None:
    assert judge(load_job(DATA), Answer(text, cut)).verdict == verdict


def test_the_longest_call_is_bounded() -> None:
    job = load_job(DATA)
    assert len(job.prompts) == 20 and len(job.validators) == 3
    assert job.longest is not None and job.longest < 3000


def test_the_server_is_gone_afterwards() -> None:
    with running_server(find_model()) as address:
        assert json.load(urllib.request.urlopen(f"{address}/health"))["status"] == "ok"
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{address}/health", timeout=2)


def test_a_broken_model_file_is_an_error_with_the_servers_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"not a model")
    with pytest.raises(DemoError, match="demo-server"), running_server(broken):
        raise AssertionError("it came up")


def test_a_bad_grammar_is_an_error_with_the_servers_words(address: str) -> None:
    with pytest.raises(DemoError, match="400"):
        ask(address, [{"role": "user", "content": "hi"}], 8, "root ::= (")


def test_the_example_client_gets_a_call(address: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "request.py"), address],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] in ("get_weather", "set_timer", "send_message")


@pytest.mark.slow
def test_the_demo_is_quiet_in_a_pipe_and_every_call_is_valid() -> None:
    command = [sys.executable, "-m", "calligram.demo", "--prompts", "3", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    figures = json.loads(done.stdout)
    assert (figures["prompts"], figures["tools"]) == (3, 3)
    assert figures["with_grammar"] == {**dict.fromkeys(WORDS, 0), "valid": 3}
    assert sum(figures["without_grammar"].values()) == 3


def test_the_demo_says_what_is_wrong_with_its_data(tmp_path: Path) -> None:
    data = tmp_path / "demo.json"
    data.write_text('{"tools": 3}')
    command = [sys.executable, "-m", "calligram.demo", "--data", str(data)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert done.returncode != 0
    assert f"{data}: " in done.stderr and "Traceback" not in done.stderr
