"""Saved tables that count: as other tables, and nothing taken that leads to no state."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calligram
from calligram import ArtefactError, Vocabulary
from calligram.targets import regex_fsm
from calligram.targets.regex_fsm import CountedTable, counted_files, counted_table, files
from tests.unit.targets.test_fsm_files import (
    TOKENS,
    VOCABULARY,
    read_back,
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
    for at in range(0, len(saved), len(saved) // 150):
        data = bytearray(saved)
        data[at] ^= 0x41
        assert refused(bytes(data)) == "table-format"
    other = Vocabulary([*TOKENS, b"more"], [258, 259], [258])
    assert refused(saved, other) == "table-vocabulary"


def sealed(made: CountedTable, changes: dict[str, Any]) -> bytes:
    """A file whose checksums are right and whose arrays are not those of any table."""
    packed = counted_files.packed(made)
    members = {k: files.npy_bytes(changes.get(k, v)) for k, v in packed.items()}
    header = {**made.header, "format": files.FORMAT, "version": files.COUNTED_VERSION,
              "vocabulary": VOCABULARY.digest, "arrays": files.digest_of(members),
              **changes.get("header", {})}  # fmt: skip
    return files.sealed(header, members)


CHANGES: dict[str, list[Callable[[Any], Any]]] = {
    "class_of": [lambda a: a[:-1], lambda a: a + 1, lambda a: a - 1, lambda a: a[:0],
                 lambda a: a.astype("<f4"), lambda a: a.astype("<u2")],
    "next": [lambda a: a[:-1], lambda a: a + 1, lambda a: a - 1, lambda a: a[:0],
             lambda a: np.where(a > 1, np.max(a) + 1, a)],
    "offsets": [lambda a: a[:-1], lambda a: np.where(a > 1, a + 10**6, a), lambda a: -a,
                lambda a: a[:1], lambda a: a + 1, lambda a: a.astype("<f8")],
    # Around 2**61 floats are hundreds apart, and products of integers wrap around.
    "worths": [lambda a: a[:-1], lambda a: a * 1000, lambda a: a * 2**40, lambda a: a[:0],
               lambda a: np.where(a > 0, 2**61, a), lambda a: np.where(a > 0, -(2**63), a),
               lambda a: a.astype(bool)],
    "accepts": [lambda a: a + 10**6, lambda a: a - 2, lambda a: a * 0, lambda a: a.astype("<f8")],
    "low": [lambda a: a - 1, lambda a: a[:-1], lambda a: a + 10**6],
    "top": [lambda a: a + 1, lambda a: a - 10**6],
    "high": [lambda a: a * 2, lambda a: a + 10**8, lambda a: a - 10, lambda a: a.astype("<u4")],
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
        assert refused(sealed(made, {name: changed})) == "table-format", number


def bomb(most: int, worth: int = 1, offset: int = 0) -> bytes:
    """A file of one row that may be so many states, which move by what is given."""
    arrays = {
        "class_of": np.array([0, *[1] * (len(TOKENS) - 1)], "<i2"),
        "next": np.array([0, 0, 0, 1, 0, 2], "<i2"),
        "offsets": np.array([0, 1, offset], "<i8"),
        "worths": np.array([0, 0, worth], "<i8"),
        "accepts": np.array([1], "<i4"),
        **{name: np.array([0], "<i4") for name in ("low", "top")},
        "high": np.array([most], "<i4"),
        "rows": np.array([2], "<i4"),
        "start": np.array([3], "<i8"),
    }
    members = {name: files.npy_bytes(array) for name, array in arrays.items()}
    header = {"format": files.FORMAT, "version": files.COUNTED_VERSION, "states": most + 4,
              "vocabulary": VOCABULARY.digest, "arrays": files.digest_of(members)}  # fmt: skip
    return files.sealed(header, members)


def test_a_small_file_may_not_hold_a_large_table() -> None:
    found = files.loads(bomb(2**16, offset=3), VOCABULARY)
    assert len(bomb(2**16)) < 4_000 and len(found) == 2**16 + 4
    assert found.next_state(3 + 2**16, 97) == 3 + 2**16
    for most in (2**26, 2**30, 2**31 - 1):
        with pytest.raises(ArtefactError) as error:
            files.loads(bomb(most, offset=3), VOCABULARY, max_bytes=2**28)
        assert error.value.problems[0].code == "table-too-large"
    assert refused(bomb(2**30, offset=3)) == "table-too-large"
    for worth, offset in (
        (1, 4), (1, -1), (-1, 3), (2, 3), (2**61, -(2**61)), (-(2**61), 2**61 + 3), (-(2**63), 0),
        (2**62, 2), (0, -(2**63)), (0, 2**63 - 1), (2**60 - 1, 2**45),
    ):  # fmt: skip
        assert refused(bomb(2**10, worth, offset)) == "table-format", (worth, offset)


def test_rows_of_many_places_are_looked_at_only_so_long() -> None:
    count, classes = 2**17, 2**13
    table = np.zeros((3, classes), dtype=np.int32)
    table[2] = np.arange(classes)
    moves = counted_table.Moves(np.zeros(classes, np.int64), np.zeros((classes, 1), np.int64))
    flat = np.zeros((count, 1), np.int32)
    boxes = counted_table.Boxes(flat, flat, flat, np.full(count, 2, np.int32), 3)
    assert not counted_files._lead_to_states(table, moves, boxes, 3 + count)


def test_sealing_alone_is_no_fault(made: CountedTable, saved: bytes) -> None:
    assert (files.loads(sealed(made, {}), VOCABULARY).next == made.next).all()
    for states in (2, 10**12, "many", len(made) + 1, float(len(made)), None, True):
        assert refused(sealed(made, {"header": {"states": states}})) == "table-format"
    for version in (3, 0, "2", None):
        assert refused(sealed(made, {"header": {"version": version}})) == "table-version"
    assert refused(sealed(made, {"header": {"version": 1}})) == "table-format"
