"""Files replaced in one step; what is no file is written to, and stays what it is."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import calligram
from calligram import Vocabulary
from calligram.cli.files import write_text
from calligram.compiler.replace_file import replace_file
from calligram.targets import mask, regex_fsm
from calligram.targets.regex_fsm import files

VOCABULARY = Vocabulary([bytes([b]) for b in range(256)])
GRAMMAR = calligram.compile_schema({"type": "boolean"})

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")


def through_pipe(path: Path, write: Callable[[Path], object]) -> bytes:
    """What is written to a pipe, which is one still."""
    os.mkfifo(path)
    writer = threading.Thread(target=write, args=[path])
    writer.start()
    with open(path, "rb") as pipe:
        data = pipe.read()
    writer.join()
    assert stat.S_ISFIFO(path.lstat().st_mode) and os.listdir(path.parent) == [path.name]
    return data


@needs_pipes
def test_whatever_writes_files_writes_into_pipes(tmp_path: Path) -> None:
    def folder(name: str) -> Path:
        (tmp_path / name).mkdir()
        return tmp_path / name / "pipe"

    data = b"x" * 100_000
    assert through_pipe(folder("data"), lambda path: replace_file(path, data)) == data
    assert through_pipe(folder("text"), lambda path: write_text(str(path), "\u00e4")) == b"\xc3\xa4"
    table = regex_fsm.compile(GRAMMAR, VOCABULARY)
    assert through_pipe(folder("table"), table.save) == files.dumps(table)
    automaton = mask.compile(GRAMMAR, VOCABULARY)
    automaton.save(tmp_path / "saved")
    assert through_pipe(folder("mask"), automaton.save) == (tmp_path / "saved").read_bytes()


@needs_pipes
def test_so_they_do_through_links(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "inner" / "pipe")
    data = through_pipe(tmp_path / "inner" / "pipe", lambda _: replace_file(link, b"data"))
    assert data == b"data" and link.is_symlink()


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="there is no such device")
def test_a_pipe_without_a_name_is_written_into() -> None:
    code = (
        "from pathlib import Path;"
        "from calligram.compiler.replace_file import replace_file;"
        "replace_file(Path('/dev/stdout'), b'data')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"data" and os.path.lexists("/dev/stdout")


def test_what_a_link_leads_to_is_replaced(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for data in (b"first", b"second"):
        replace_file(link, data)
        assert link.is_symlink() and target.read_bytes() == data
    target.chmod(0o640)
    replace_file(target, b"third")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    with pytest.raises(OSError):
        replace_file(tmp_path, b"data")
    with pytest.raises(ValueError, match="null"):
        replace_file(Path("a\0b"), b"data")
    assert sorted(os.listdir(tmp_path)) == ["link", "target"]
