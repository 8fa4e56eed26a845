"""Saved tables that count: as other tables, and nothing taken that leads to no state."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calligram
from calligram import ArtefactError, Vocabulary
from calligram.targets import regex_fsm
from calligram.targets.regex_fsm import CountedTable, counted_files, files
from tests.unit.targets.test_fsm_files import (
    TOKENS,
    VOCABULARY,
    read_back,
    rebuilt,
    refused,
    saved_elsewhere,
)

SCHEMA = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {"a": {"type": "boolean"}, "b": {"type": "string", "maxLength": 300}},
        "additionalProperties": False,
    },
    "maxItems": 20,
}


def table() -> CountedTable:
    grammar = calligram.compile_schema(SCHEMA, bounds=None, whitespace="exact")
    found = regex_fsm.compile(grammar, VOCABULARY)
    assert isinstance(found, CountedTable)
    return found


@pytest.fixture(scope="module")
def made() -> CountedTable:
    return table()


@pytest.fixture(scope="module")
def saved(made: CountedTable) -> bytes:
    return files.dumps(made)


def test_what_is_read_is_what_was_written(made: CountedTable, tmp_path: Path) -> None:
    arrays = ("next", "class_of", "accepting", "row_of", "left", "accepts")
    found = read_back(made, tmp_path, arrays, range(0, len(made), 997))
    assert isinstance(found, CountedTable)


def test_a_file_holds_rows_and_not_states(made: CountedTable, saved: bytes) -> None:
    assert len(made) > 50_000 and len(saved) < 5 * len(made)
    with np.load(io.BytesIO(saved), allow_pickle=False) as arrays:
        assert arrays["class_of"].shape == (len(TOKENS),)
        assert b'"version":2' in arrays["header"].tobytes()


def test_bytes_are_the_same_in_every_process(saved: bytes) -> None:
    assert list(saved_elsewhere("test_fsm_counted_files")) == [saved, saved]


def test_what_is_cut_off_or_changed_is_refused(saved: bytes) -> None:
    for size in range(0, len(saved), len(saved) // 40):
        assert refused(saved[:size]) == "table-format", size
    whole = files.loads(saved, VOCABULARY)
    for at in range(0, len(saved), len(saved) // 150):
        data = bytearray(saved)
        data[at] ^= 0x41
        try:
            found = files.loads(bytes(data), VOCABULARY)
        except ArtefactError as error:
            assert error.problems[0].code in ("table-format", "table-version", "table-vocabulary")
        else:
            # Fields of the archive that say nothing about its content.
            assert (found.next == whole.next).all()
    other = Vocabulary([*TOKENS, b"more"], [258, 259], [258])
    assert refused(saved, other) == "table-vocabulary"


def sealed(made: CountedTable, saved: bytes, changes: dict[str, Any]) -> bytes:
    """A file whose checksums are right and whose arrays are not those of any table."""
    packed = counted_files.packed(made)
    members = {k: files._npy(changes.get(k, v)) for k, v in packed.items()}
    header = {**made.header, "format": files.FORMAT, "version": files.COUNTED_VERSION,
              "vocabulary": VOCABULARY.digest, "arrays": files._digest(members),
              **changes.get("header", {})}  # fmt: skip
    header["header"] = hashlib.sha256(files._json(header)).hexdigest()
    shown = files._npy(np.frombuffer(files._json(header), dtype=np.uint8))
    return rebuilt(saved, header=shown, **members)


CHANGES: dict[str, list[Callable[[Any], Any]]] = {
    "class_of": [lambda a: a[:-1], lambda a: a + 1, lambda a: a - 1, lambda a: a[:0],
                 lambda a: a.astype("<f4")],
    "next": [lambda a: a[:-1], lambda a: a + 1, lambda a: a - 1, lambda a: a[:0],
             lambda a: np.where(a > 1, np.max(a) + 1, a)],
    "offsets": [lambda a: a[:-1], lambda a: np.where(a > 1, a + 10**6, a), lambda a: -a,
                lambda a: a[:1], lambda a: a + 1],
    "worths": [lambda a: a[:-1], lambda a: a * 1000, lambda a: a * 2**40, lambda a: a[:0]],
    "accepts": [lambda a: a + 10**6, lambda a: a - 2, lambda a: a * 0],
    "low": [lambda a: a - 1, lambda a: a[:-1], lambda a: a + 10**6],
    "top": [lambda a: a + 1, lambda a: a - 10**6],
    "high": [lambda a: a * 2, lambda a: a + 10**8, lambda a: a - 10],
    "rows": [lambda a: a[:-1], lambda a: a + 10**6, lambda a: a * 0 - 1],
    "start": [lambda a: a * 0, lambda a: a + 10**9, lambda a: a[:0]],
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_arrays_that_make_no_table_are_refused(made: CountedTable, saved: bytes, name: str) -> None:
    packed = counted_files.packed(made)
    for number, change in enumerate(CHANGES[name]):
        changed = change(packed[name])
        if changed.dtype.kind == "i":
            changed = changed.astype(packed[name].dtype)
        assert refused(sealed(made, saved, {name: changed})) == "table-format", number


def test_sealing_alone_is_no_fault(made: CountedTable, saved: bytes) -> None:
    assert (files.loads(sealed(made, saved, {}), VOCABULARY).next == made.next).all()
    for states in (2, 10**12, "many", len(made) + 1):
        assert refused(sealed(made, saved, {"header": {"states": states}})) == "table-format"
    for version in (3, 0, "2", None):
        assert refused(sealed(made, saved, {"header": {"version": version}})) == "table-version"
    assert refused(sealed(made, saved, {"header": {"version": 1}})) == "table-format"
