"""The command line as a program among others: files, pipes, signals, locales."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import calligram
from tests.cli_runner import BASE, DIALECT, ROOT, Result, one_tool, program, run, write


def test_output_is_replaced_in_one_step(tmp_path: Path) -> None:
    target = tmp_path / "out.gbnf"
    target.write_text("old")
    target.chmod(0o640)
    assert run("compile", *BASE, "-o", str(target)) == Result(0, "", "")
    assert "root ::=" in target.read_text(encoding="utf-8")
    assert target.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["out.gbnf"]


def test_a_failed_compile_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "out.gbnf"
    target.write_text("old")
    bad = write(
        tmp_path / "tools.json", one_tool({"type": "object", "properties": {"a": False}}, "a")
    )
    result = run("compile", "--tools", bad, "--dialect", DIALECT, "-o", str(target))
    assert result.code == 3
    assert target.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.gbnf", "tools.json"]


@pytest.mark.parametrize("where", ["nodir/out.gbnf", "."])
def test_a_place_that_cannot_be_written_is_an_input_error(tmp_path: Path, where: str) -> None:
    result = run("compile", *BASE, "-o", str(tmp_path / where), "--json")
    assert result.code == 2 and result.out == ""
    assert [p["code"] for p in result.problems] == ["cannot-write"]
    assert list(tmp_path.iterdir()) == []


def test_output_to_a_device_is_written_through() -> None:
    assert run("compile", *BASE, "-o", os.devnull).code == 0
    assert not Path(os.devnull).is_file()


def test_the_program_runs_and_says_its_version() -> None:
    done = program("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().strip() == f"calligram {calligram.__version__}"


def test_invalid_utf8_on_the_command_line_is_an_input_error() -> None:
    command = [sys.executable.encode(), b"-m", b"calligram", b"check", b"--text", b"a\xff"]
    command += [a.encode() for a in BASE]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=60)
    assert done.returncode == 2
    assert b"not-utf-8" in done.stderr and b"Traceback" not in done.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_output_is_utf8_whatever_the_locale(locale: str, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"größe": {"const": "日本"}}}
    tools = json.dumps([{"name": "t", "input_schema": schema}], ensure_ascii=False).encode()
    environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = program("compile", "--tools", "-", "--dialect", DIALECT, stdin=tools, env=environment)
    assert done.returncode == 0, done.stderr
    assert re.search("größe", done.stdout.decode("utf-8")) or "\\u" in done.stdout.decode("utf-8")


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    read, write_end = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "calligram", "compile", *BASE]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, cwd=ROOT, timeout=60)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (141, b"")


def test_ctrl_c_ends_it_quietly() -> None:
    # A parallel test worker ignores the signal, and its children would inherit that.
    source = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from calligram.cli import main; raise SystemExit(main())"
    )
    command = [sys.executable, "-c", source, "compile", "--tools", "-", "--dialect", DIALECT]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT) as process:
        assert process.stdin is not None
        # More than a pipe holds: once it is written, the program is reading.
        process.stdin.write(b" " * 2**20)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (130, b"", b"")
