"""Vocabularies kept on disk: found again, and never believed when they are not whole."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from calligram import Vocabulary
from calligram.compiler.vocabulary import cache as caching
from calligram.compiler.vocabulary import from_gguf
from calligram.compiler.vocabulary.cache import (
    MAX_FOLDER_BYTES,
    cache_folder,
    fingerprint,
    prune,
    read_entry,
    write_entry,
)
from calligram.compiler.vocabulary.loaded import Loaded
from tests.gguf_writing import CONTROL, NORMAL, write_gguf

ROOT = Path(__file__).resolve().parents[3]
TOKENS = [("a", NORMAL), ("Ġthe", NORMAL), ("a", NORMAL), ("", NORMAL), ("Ā", NORMAL)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    tokens = [*TOKENS, ("</s>", CONTROL), ("[PAD6]", CONTROL)]
    return write_gguf(tmp_path / "v.gguf", "gpt2", tokens, eos_token_id=5)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one whenever a GGUF file is really read."""
    seen: list[object] = []
    real = from_gguf._read

    def counted(path: str | os.PathLike[str]) -> Loaded:
        seen.append(path)
        return real(path)

    monkeypatch.setattr(from_gguf, "_read", counted)
    return seen


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_the_second_time_the_file_is_not_read(file: Path, cache: Path, reads: list[object]) -> None:
    first = Vocabulary.from_gguf(file)
    again = Vocabulary.from_gguf(file)
    assert len(reads) == 1 and len(entries(cache)) == 1
    assert again.digest == first.digest and again.kind == first.kind
    assert again.ordinary == first.ordinary == (4, 1, 0, 2)
    assert (again.tokens, again.eos_ids) == (first.tokens, first.eos_ids)
    assert len(Vocabulary.from_gguf(file, size=9, eos_ids=[0])) == 9
    assert len(reads) == 1


def test_without_cache_nothing_is_looked_up_or_kept(
    file: Path, cache: Path, reads: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    Vocabulary.from_gguf(file, cache=False)
    assert len(reads) == 1 and entries(cache) == []
    monkeypatch.setenv("CALLIGRAM_CACHE_DIR", "")
    Vocabulary.from_gguf(file)
    Vocabulary.from_gguf(file)
    assert len(reads) == 3


def test_a_changed_file_of_the_same_size_and_time_is_read_anew(
    file: Path, reads: list[object]
) -> None:
    assert Vocabulary.from_gguf(file).tokens[0] == b"a"
    status = file.stat()
    data = file.read_bytes()
    file.write_bytes(data.replace("Ġthe".encode(), "Ġtho".encode()))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Vocabulary.from_gguf(file).tokens[1] == b" tho"
    assert len(reads) == 2


def damaged(whole: bytes) -> dict[str, bytes]:
    middle = len(whole) // 2
    found = {f"cut at {n}": whole[:n] for n in range(0, len(whole), 97)}
    found |= {
        f"bit at {n}": whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :]
        for n in range(0, len(whole), 41)
    }
    return found | {"text": b"hello", "pickle": b"\x80\x04N.", "twice": whole[:middle] * 2}


def test_damaged_entries_are_replaced_and_never_believed(file: Path, cache: Path) -> None:
    right = Vocabulary.from_gguf(file)
    (entry,) = entries(cache)
    whole = entry.read_bytes()
    for how, data in damaged(whole).items():
        entry.write_bytes(data)
        found = Vocabulary.from_gguf(file)
        assert (found.digest, found.ordinary) == (right.digest, right.ordinary), how
    entry.write_bytes(whole[:-50])
    Vocabulary.from_gguf(file)
    key = entry.stem.removeprefix("vocabulary-")
    assert read_entry(entry, key) is not None


def test_foreign_entries_are_not_taken(file: Path, cache: Path, tmp_path: Path) -> None:
    Vocabulary.from_gguf(file)
    (entry,) = entries(cache)
    key = entry.stem.removeprefix("vocabulary-")
    assert read_entry(entry, "0" * 64) is None  # Another source's.
    for array in (np.zeros(3), np.asarray([{"a": 1}], dtype=object)):  # The second needs pickle.
        out = io.BytesIO()
        np.savez(out, data=array)
        for content in (out.getvalue(), caching._sealed(key, out.getvalue())):
            entry.write_bytes(content)
            assert read_entry(entry, key) is None
    entry.write_bytes(caching._sealed(key, b"no zip"))
    assert read_entry(entry, key) is None
    entry.unlink()
    entry.mkdir()
    assert Vocabulary.from_gguf(file).tokens[0] == b"a"


def test_other_versions_do_not_meet(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = fingerprint("gguf", [file])
    monkeypatch.setattr(caching, "FORMAT", caching.FORMAT + 1)
    assert fingerprint("gguf", [file]) != now
    assert fingerprint("mistral", [file]) != fingerprint("gguf", [file])


def test_large_files_are_told_by_size_time_and_head(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caching, "_WHOLE", 16)
    assert fingerprint("gguf", [file]) is None  # Just written: a change would not show.
    old = time.time() - 60
    os.utime(file, (old, old))
    before = fingerprint("gguf", [file])
    assert before is not None and before == fingerprint("gguf", [file])
    os.utime(file, (old, old + 1))
    assert fingerprint("gguf", [file]) not in (None, before)


def test_a_file_that_changes_while_it_is_read_is_not_kept(
    file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = from_gguf._read

    def changing(path: str | os.PathLike[str]) -> Loaded:
        found = real(path)
        with file.open("ab") as end:
            end.write(b"more")
        return found

    monkeypatch.setattr(from_gguf, "_read", changing)
    assert Vocabulary.from_gguf(file).tokens[0] == b"a"
    assert entries(cache) == []


@pytest.mark.parametrize("obstacle", ["a file", "below a file", "read-only"])
def test_a_folder_that_cannot_be_written_does_not_matter(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    folder = tmp_path / "obstacle"
    if obstacle == "read-only":

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError("read-only")

        monkeypatch.setattr("tempfile.mkstemp", refuse)
    else:
        folder.write_text("")
        folder = folder / "x" if obstacle == "below a file" else folder
    monkeypatch.setenv("CALLIGRAM_CACHE_DIR", str(folder))
    assert Vocabulary.from_gguf(file).tokens[0] == b"a"


def test_a_full_disk_leaves_nothing_behind(
    file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("os.replace", full)
    assert Vocabulary.from_gguf(file).tokens[0] == b"a"
    assert entries(cache) == []


def test_the_entries_used_longest_ago_go_first(tmp_path: Path) -> None:
    loaded = Loaded.of("x", [b"a", b"b"], [], [1], [])
    paths = []
    for number in range(4):
        path = tmp_path / f"vocabulary-{number}.bin"
        write_entry(path, str(number), loaded)
        os.utime(path, (1_000 + number, 1_000 + number))
        paths.append(path)
    other = tmp_path / "mine.txt"
    other.write_text("not ours")
    begun = tmp_path / ".vocabulary-x.part"
    begun.write_text("")
    os.utime(begun, (1_000, 1_000))
    assert read_entry(paths[0], "0") is not None  # Used now, so the youngest.
    prune(tmp_path, 2 * paths[0].stat().st_size)
    assert sorted(tmp_path.iterdir()) == sorted([other, paths[0], paths[3]])
    prune(tmp_path, MAX_FOLDER_BYTES)
    assert paths[3].exists()
    prune(tmp_path, 0)
    assert sorted(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"CALLIGRAM_CACHE_DIR": "/x"}, Path("/x")),
        ({"CALLIGRAM_CACHE_DIR": ""}, None),
        ({"XDG_CACHE_HOME": "/y"}, Path("/y/calligram")),
        ({"XDG_CACHE_HOME": "relative"}, Path("/home/of/me/.cache/calligram")),
        ({}, Path("/home/of/me/.cache/calligram")),
    ],
)
def test_where_the_folder_is(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], folder: Path | None
) -> None:
    for name in ("CALLIGRAM_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in ({"HOME": "/home/of/me"} | environment).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_folder() == folder


def test_processes_share_the_folder(file: Path, cache: Path) -> None:
    program = (
        "import sys, calligram\n"
        "for _ in range(20): v = calligram.Vocabulary.from_gguf(sys.argv[1])\n"
        "print(v.digest)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, str(file)]
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = {process.communicate(timeout=60)[0] for process in running}
    assert told == {Vocabulary.from_gguf(file, cache=False).digest + "\n"}
    assert [e.suffix for e in entries(cache)] == [".bin"]
