"""Saved tables: the same bytes always, and nothing taken that is not what was saved."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib import format as npy

import calligram
from calligram import ArtefactError, Bounds, Vocabulary
from calligram.targets import regex_fsm
from calligram.targets.regex_fsm import files

ROOT = Path(__file__).resolve().parent.parent.parent.parent
TOKENS = [*(bytes([b]) for b in range(256)), b'"a": ', b"true", b"<end>", b"<x>"]
VOCABULARY = Vocabulary(TOKENS, [258, 259], [258])
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "boolean"}, "b": {"type": "string", "maxLength": 3}, "c": {}},
    "additionalProperties": False,
}


def table(**more: Any) -> regex_fsm.TokenTable:
    grammar = calligram.compile_schema(SCHEMA, bounds=None, whitespace="exact")
    return regex_fsm.compile(grammar, VOCABULARY, max_depth=1, **more)


@pytest.fixture(scope="module")
def saved() -> bytes:
    return files.dumps(table())


def refused(data: bytes, vocabulary: Vocabulary = VOCABULARY) -> str:
    with pytest.raises(ArtefactError) as error:
        files.loads(data, vocabulary, "x.npz")
    [problem] = error.value.problems
    assert problem.origin.file == "x.npz"
    return problem.code


def read_back(
    made: regex_fsm.TokenTable, folder: Path, arrays: Sequence[str], states: Iterable[int]
) -> regex_fsm.TokenTable:
    """The table saved and loaded, which is the same and saves the same."""
    path = folder / "t.npz"
    made.save(path)
    found = regex_fsm.load(path, VOCABULARY)
    for name in arrays:
        array = getattr(found, name)
        assert (array == getattr(made, name)).all() and array.dtype == getattr(made, name).dtype
        assert not array.flags.writeable
    assert all((found.mask(s) == made.mask(s)).all() for s in states)
    assert {k: v for k, v in found.header.items() if k != "arrays"} == made.header
    found.save(folder / "again.npz")
    assert (folder / "again.npz").read_bytes() == path.read_bytes()
    return found


def saved_elsewhere(module: str) -> Iterator[bytes]:
    """What the `table()` of a test module is saved as, by processes with other hash seeds."""
    code = (
        f"import sys; from tests.unit.targets import {module} as t;"
        "sys.stdout.buffer.write(t.files.dumps(t.table()))"
    )
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        yield done.stdout


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    made = table()
    read_back(made, tmp_path, ("next", "class_of", "accepting"), range(len(made)))
    assert sorted(os.listdir(tmp_path)) == ["again.npz", "t.npz"]


def test_numpy_reads_it_without_pickle(saved: bytes) -> None:
    with np.load(io.BytesIO(saved), allow_pickle=False) as arrays:
        assert arrays["class_of"].shape == (len(TOKENS),)
        assert b'"format":"calligram token table"' in arrays["header"].tobytes()


def test_the_header_says_what_it_is() -> None:
    header = table().header
    assert header["dialect"] is None and header["bounds"] is None
    assert header["cuts"][0]["depth"] == 1 and header["states"] == len(table())
    assert header["keywords"]["enforced"] > 0
    tool = {"name": "t", "parameters": {"type": "object", "properties": {}}}
    grammar = calligram.compile_tools([tool], calligram.dialects()[0])
    found = regex_fsm.compile(grammar, VOCABULARY).header
    assert (found["dialect"], found["tools"]) == (calligram.dialects()[0], ["t"])
    assert found["bounds"]["string"] == 8192


def test_bytes_are_the_same_in_every_process(saved: bytes) -> None:
    assert list(saved_elsewhere("test_fsm_files")) == [saved, saved]


def test_cut_off_anywhere_is_refused(saved: bytes) -> None:
    for size in [*range(0, len(saved), 997), len(saved) - 1]:
        assert refused(saved[:size]) == "table-format", size


def test_a_changed_bit_is_refused_wherever_it_is(saved: bytes) -> None:
    # What is said about members stands at the end of the archive, and before each of them.
    begins = [m.start() for m in re.finditer(b"PK\x03\x04", saved)]
    directory = saved.index(b"PK\x01\x02")
    places = {p + i for p in begins for i in range(60)} | set(range(directory, len(saved)))
    for at in sorted(places | set(range(0, len(saved), 131))):
        data = bytearray(saved)
        data[at] ^= 1 << at % 8
        assert refused(bytes(data)) == "table-format", at


def test_what_stands_around_a_file_or_is_said_otherwise_is_refused(saved: bytes) -> None:
    for data in (b"x" + saved, saved + b"x", saved + saved, b"#!/bin/sh\n" + saved, saved + b"\0"):
        assert refused(data) == "table-format"
    # The same members, written by someone else.
    assert refused(rebuilt(saved)) == "table-format"
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        shown = files._array(archive.read("header.npy")).tobytes()
    spaced = np.frombuffer(json.dumps(json.loads(shown)).encode(), dtype=np.uint8)
    assert refused(rebuilt(saved, header=files.npy_bytes(spaced))) == "table-format"


def rebuilt(saved: bytes, **changes: bytes | None) -> bytes:
    """The archive with members changed or left out."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as new,
    ):
        for info in old.infolist():
            content = changes.get(info.filename.removesuffix(".npy"), old.read(info))
            if content is not None:
                new.writestr(info.filename, content)
    return out.getvalue()


def sealed(**changes: Any) -> bytes:
    """A file whose checksums are right and whose arrays are not those of any table."""
    made = table()
    packed = files._packed(made)
    members = {k: files.npy_bytes(changes.get(k, v)) for k, v in packed.items()}
    header = {**made.header, "format": files.FORMAT, "version": files.VERSION,
              "vocabulary": VOCABULARY.digest, "arrays": files.digest_of(members),
              **changes.get("header", {})}  # fmt: skip
    return files.sealed(header, members)


PACKED = files._packed(table())


@pytest.mark.parametrize(
    "changes",
    [
        {"class_of": PACKED["class_of"][:-1]},
        {"class_of": PACKED["class_of"] + 10_000},
        {"class_of": PACKED["class_of"].astype("<f4")},
        {"states": PACKED["states"] - 1},
        {"states": PACKED["states"][:-1]},
        {"targets": PACKED["targets"] + 20_000},
        {"sizes": PACKED["sizes"] * 2},
        {"sizes": PACKED["sizes"][:0]},
        {"accepting": PACKED["accepting"] + 100_000},
        {"accepting": PACKED["accepting"][:, None]},
        {"accepting": PACKED["accepting"].astype("<f8")},
        {"accepting": PACKED["accepting"].astype("<i8")},
        {"accepting": PACKED["accepting"].astype(">i4")},
        {"states": PACKED["states"].astype(bool)},
        {"states": PACKED["states"].astype("<i4")},
        {"targets": PACKED["targets"].astype(complex)},
        {"sizes": PACKED["sizes"].astype("<u4")},
        {"sizes": PACKED["sizes"].astype("<f4")},
        {"class_of": PACKED["class_of"].astype("<u2")},
        {"class_of": PACKED["class_of"].astype("<M8[s]")},
        {"class_of": PACKED["class_of"].astype("<i2").view([("a", "<i2")])},
        {"header": {"states": 2}},
        {"header": {"states": "many"}},
        {"header": {"states": float(len(table()))}},
        {"header": {"states": True}},
        {"header": {"states": None}},
        {"header": {"states": -1}},
        {"header": {"format": "other"}},
    ],
)
def test_arrays_that_make_no_table_are_refused(changes: Any) -> None:
    assert refused(sealed(**changes)) == "table-format"


def test_a_small_file_may_not_hold_a_large_table() -> None:
    wide = np.zeros(128, dtype="<i4")
    none = np.zeros(0, dtype=PACKED["states"].dtype)
    bomb = sealed(sizes=wide, states=none, targets=none, accepting=none.astype("<i4"),
                  class_of=PACKED["class_of"] * 0, header={"states": 2**24})  # fmt: skip
    assert len(bomb) < 4_000
    for data in (bomb, sealed(header={"states": 10**12})):
        assert refused(data) == "table-too-large"
    made = table()
    size = made.next.nbytes
    files.loads(files.dumps(made), VOCABULARY, max_bytes=size)
    with pytest.raises(ArtefactError) as error:
        files.loads(files.dumps(made), VOCABULARY, max_bytes=size - 1)
    assert error.value.problems[0].code == "table-too-large"
    assert "max_bytes" in str(error.value.problems[0].hint)


def test_no_memory_is_an_error_too(monkeypatch: pytest.MonkeyPatch, saved: bytes) -> None:
    def none(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(files, "_unpacked", none)
    assert refused(saved) == "table-too-large"


def test_a_file_is_held_against_a_grammar(tmp_path: Path) -> None:
    def grammar(**more: Any) -> calligram.CompiledGrammar:
        return calligram.compile_schema(SCHEMA, **{"bounds": None, "whitespace": "exact", **more})

    path = tmp_path / "t.npz"
    table().save(path)
    found = regex_fsm.load(path, VOCABULARY, grammar=grammar())
    recipe = grammar().recipe
    assert recipe is not None and found.header["grammar"] == recipe.digest
    # Nothing in it is a special token, so that the automaton is that of the text.
    assert found.header["automaton"] == regex_fsm.dfa(grammar(), max_depth=1).digest
    # Another schema, other options; and one of which nobody knows where it comes from.
    other = calligram.compile_schema({"type": "null"}, bounds=None)
    nameless = dataclasses.replace(grammar(), recipe=None)
    for wrong in (other, grammar(whitespace="flexible"), grammar(bounds=Bounds()), nameless):
        with pytest.raises(ArtefactError) as error:
            regex_fsm.load(path, VOCABULARY, grammar=wrong)
        assert error.value.problems[0].code == "table-grammar"
        assert error.value.problems[0].origin.file == str(path)


def test_sealing_alone_is_no_fault() -> None:
    assert (files.loads(sealed(), VOCABULARY).next == table().next).all()


def test_foreign_files_are_refused(saved: bytes) -> None:
    other = io.BytesIO()
    np.savez(other, a=np.zeros(3))
    squeezed = io.BytesIO()
    with zipfile.ZipFile(squeezed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", b"0" * 1000)
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    odd = [
        files.npy_bytes(np.zeros(3, dtype="<i4")).replace(b"'<i4'", b"'<i4' "),
        b"\x93NUMPY\x01\x00\x10\x00" + b"{'descr': '<i4'\n\n",
        b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16,
        b"\x93NUMPY\x01\x00\x45\x00"
        + b"{'descr': '<i4', 'fortran_order': False, 'shape': (10L,), }"
        + b" " * 9
        + b"\n",
    ]
    huge = io.BytesIO()
    npy.write_array_header_1_0(
        huge, {"shape": (10**13,), "fortran_order": False, "descr": "|u1"}
    )  # fmt: skip
    for data in (
        b"", b"x", b"PK", b"PK\x05\x06" + bytes(18), other.getvalue(), squeezed.getvalue(),
        rebuilt(saved, targets=None), rebuilt(saved, header=None), rebuilt(saved, header=b"{}"),
        *(rebuilt(saved, header=content) for content in odd),
        rebuilt(saved, header=objects.getvalue()), rebuilt(saved, header=huge.getvalue()),
        rebuilt(saved, header=files.npy_bytes(np.frombuffer(b"[1]", dtype=np.uint8))),
        rebuilt(saved, header=files.npy_bytes(np.frombuffer(b"{", dtype=np.uint8))),
    ):  # fmt: skip
        assert refused(data) == "table-format"


def test_another_vocabulary_or_version_is_named(saved: bytes) -> None:
    other = Vocabulary([*TOKENS, b"more"], [258, 259], [258])
    assert refused(saved, other) == "table-vocabulary"
    assert refused(sealed(header={"version": 3})) == "table-version"


def test_paths_that_cannot_be_used_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError) as error:
        regex_fsm.load(tmp_path / "none.npz", VOCABULARY)
    assert error.value.problems[0].code == "table-unreadable"
    with pytest.raises(ArtefactError) as error:
        regex_fsm.load("\0", VOCABULARY)
    assert error.value.problems[0].code == "table-unreadable"
    for wrong in ("/dev/null", tmp_path):
        with pytest.raises(ArtefactError) as error:
            regex_fsm.load(wrong, VOCABULARY)
        assert error.value.problems[0].code == "table-unreadable"
    with pytest.raises(TypeError, match="Vocabulary"):
        regex_fsm.load(tmp_path, TOKENS)  # type: ignore[arg-type]
    path = tmp_path / "t.npz"
    path.write_bytes(b"before")
    for wrong in (tmp_path / "no" / "t.npz", tmp_path, "a\0b"):
        with pytest.raises(ArtefactError) as error:
            table().save(wrong)
        assert error.value.problems[0].code == "table-unwritable"
    assert path.read_bytes() == b"before" and os.listdir(tmp_path) == ["t.npz"]
