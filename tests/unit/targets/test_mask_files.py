"""Files of saved automata that are damaged, foreign or for something else: always an error that
says where, never a crash or a wrong mask."""

from __future__ import annotations

import json
import os
import stat
import zlib
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.version import VERSION
from calligram.targets import mask
from calligram.targets.mask import explore, saved_file
from tests.unit.targets.test_mask_saved import BYTES, END, VOCABULARY

SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["x", "yy"]}, "b": {"type": "string", "maxLength": 3}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
GRAMMAR = calligram.compile_schema(SCHEMA, whitespace="exact")
AUTOMATON = mask.compile(GRAMMAR, VOCABULARY)
PREFIX = 40


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "saved.cgm"
    AUTOMATON.save(path, budget=mask.SaveBudget(states=15))
    return path.read_bytes()


def problem(path: Path, vocabulary: calligram.Vocabulary = VOCABULARY, **more: Any) -> str:
    """The one problem of loading a file: its code; it names the file and says a sentence."""
    with pytest.raises(calligram.ArtefactError) as caught:
        mask.load(path, vocabulary, **more)
    (found,) = caught.value.problems
    assert found.origin.file == str(path) and str(path) in str(found)
    assert found.message[0].islower()
    return found.code


def written(folder: Path, content: bytes) -> Path:
    path = folder / "given.cgm"
    path.write_bytes(content)
    return path


def sealed(content: bytes, header: dict[str, Any] | None = None) -> bytes:
    """The same file with checksums and sizes that fit what is in it."""
    size = int.from_bytes(content[20:24], "little")
    head, body = content[PREFIX : PREFIX + size], content[PREFIX + size :]
    if header is not None:
        head = json.dumps(header).encode()
        head = head.ljust(len(head) + -(PREFIX + len(head)) % 64)
    numbers = (saved_file.FORMAT, len(head), zlib.crc32(head), zlib.crc32(body))
    prefix = b"calligram masks\n" + b"".join(n.to_bytes(4, "little") for n in numbers)
    return prefix + (PREFIX + len(head) + len(body)).to_bytes(8, "little") + head + body


def header_of(content: bytes) -> dict[str, Any]:
    found = json.loads(content[PREFIX : PREFIX + int.from_bytes(content[20:24], "little")])
    assert isinstance(found, dict)
    return found


def test_sealing_an_unchanged_file_changes_nothing(whole: bytes, tmp_path: Path) -> None:
    assert sealed(whole) == whole
    assert mask.load(written(tmp_path, sealed(whole, header_of(whole))), VOCABULARY).report.states


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "automaton-format"),
        (b"calligram masks", "automaton-format"),
        (b"calligram masks\n", "automaton-format"),
        (b"\x89PNG\r\n\x1a\n" + bytes(1000), "automaton-format"),
        (b"GGUF" + bytes(1000), "automaton-format"),
        (b"calligram masks\n" + bytes(1000), "automaton-version"),
        (b"calligram masks\n\x02\0\0\0" + bytes(1000), "automaton-version"),
        (b"calligram masks\n\x01\0\0\0" + bytes(1000), "automaton-format"),
        (b"calligram masks\n\x01\0\0\0" + b"\xff" * 1000, "automaton-format"),
    ],
)
def test_foreign_files_are_told(content: bytes, code: str, tmp_path: Path) -> None:
    assert problem(written(tmp_path, content)) == code


def test_what_is_no_file_is_no_automaton(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path, tmp_path / "none", pipe, Path(os.devnull), Path("a\0b")):
        assert problem(path) == "automaton-unreadable"


def test_every_cut_and_every_flipped_bit_is_noticed(whole: bytes, tmp_path: Path) -> None:
    random = Random(0)
    for at in range(0, len(whole), max(1, len(whole) // 400)):
        assert problem(written(tmp_path, whole[:at])) == "automaton-format"
        flipped = bytearray(whole)
        flipped[at] ^= 1 << random.randrange(8)
        code = problem(written(tmp_path, bytes(flipped)))
        assert code == "automaton-format" or (16 <= at < 20 and code == "automaton-version")
    assert problem(written(tmp_path, whole + b"\0")) == "automaton-format"


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_numbers_that_lead_nowhere_do_no_harm(
    seed: int, whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With checksums that fit, so that only the checks behind them are left."""
    random = Random(seed)
    forged = bytearray(whole)
    begin = PREFIX + int.from_bytes(whole[20:24], "little")
    places = header_of(whole)["arrays"]
    name = random.choice([n for n, (_, size) in places.items() if size])
    at = begin + places[name][0] + random.randrange(places[name][1])
    forged[at] = random.choice([0, 1, 0x7F, 0x80, 0xFF, forged[at] ^ 1])
    path = written(tmp_path_factory.mktemp("forged"), sealed(bytes(forged)))
    try:
        loaded = mask.load(path, VOCABULARY)
        for _ in range(5):
            matcher = loaded.matcher()
            for _ in range(12):
                matcher.is_completed()
                matcher.find_jump_forward_bytes()
                allowed = matcher.allowed_tokens()
                assert all(0 <= token < 32 * VOCABULARY.words for token in allowed)
                if not allowed or not matcher.accept_token(random.choice(allowed)):
                    break
    except calligram.CalligramError as error:
        assert error.problems


@pytest.mark.parametrize(
    "change",
    [
        {"arrays": {}},
        {"arrays": None},
        {"arrays": {"recipe": [0, 10**9]}},
        {"arrays": {"recipe": [-64, 64]}},
        {"arrays": {"recipe": [64, -64]}},
        {"arrays": {"recipe": [1, 64]}},
        {"arrays": {"recipe": ["0", 64]}},
        {"arrays": {"recipe": [0, True]}},
        {"arrays": {"recipe": [0]}},
        {"arrays": {"parents": [0, 3]}},
        {"arrays": {"parents": [0, 0]}},
        {"arrays": {"tokens": [0, 0]}},
        {"report": None},
        {"report": {}},
        {"report": {"samples": []}},
        {"calligram": None},
    ],
)
def test_headers_that_do_not_fit(change: dict[str, Any], whole: bytes, tmp_path: Path) -> None:
    header = header_of(whole)
    for key, value in change.items():
        header[key] = {**header[key], **value} if key == "arrays" and value else value
    if change == {"report": {}}:
        del header["report"]
    code = problem(written(tmp_path, sealed(whole, header)))
    assert code == ("automaton-version" if "calligram" in change else "automaton-format")


@pytest.mark.parametrize("text", [b"[]", b"null", b"9" * 8, b"\xff", b"[" * 5000, b'{"a": 1'])
def test_headers_that_are_no_json_object(text: bytes, whole: bytes, tmp_path: Path) -> None:
    size = int.from_bytes(whole[20:24], "little")
    head = text.ljust(len(text) + -(PREFIX + len(text)) % 64)
    given_ = whole[:20] + len(head).to_bytes(4, "little") + whole[24:PREFIX]
    forged = sealed(given_ + head + whole[PREFIX + size :])
    assert problem(written(tmp_path, forged)) == "automaton-format"


def test_a_recipe_that_is_none_is_told_when_it_is_needed(whole: bytes, tmp_path: Path) -> None:
    begin = PREFIX + int.from_bytes(whole[20:24], "little")
    at, size = header_of(whole)["arrays"]["recipe"]
    recipe = json.loads(whole[begin + at : begin + at + size])
    changed: list[dict[str, Any]] = [
        {"kind": "x"},
        {"kind": "tools"},
        {"options": {"colour": "red"}},
        {"options": {}, "bounds": {"colour": 1}},
        {"source": {"enum": ["zz"]}},
    ]
    others = [b"", b"[]", b"\xff", b"[" * 300, b'{"kind": 1}']
    others += [json.dumps({**recipe, **c}, separators=(",", ":")).encode() for c in changed]
    for other in others:
        assert len(other) <= size, other
        forged = whole[: begin + at] + other.ljust(size) + whole[begin + at + size :]
        loaded = mask.load(written(tmp_path, sealed(forged)), VOCABULARY)
        matcher = loaded.matcher()
        assert matcher.allowed_tokens() == AUTOMATON.matcher().allowed_tokens()
        with pytest.raises(calligram.ArtefactError) as caught:
            matcher.accept_token(ord("{"))
            matcher.find_jump_forward_bytes()
        assert caught.value.problems[0].code == "automaton-format"


def test_other_versions_are_refused(whole: bytes, tmp_path: Path) -> None:
    header = {**header_of(whole), "calligram": VERSION + ".post1"}
    assert problem(written(tmp_path, sealed(whole, header))) == "automaton-version"


def test_another_vocabulary_is_refused(whole: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, whole)
    tokens = list(VOCABULARY.tokens)
    for other in (
        calligram.Vocabulary([*tokens, b"more"], special_ids=[END], eos_ids=[END]),
        calligram.Vocabulary([*tokens[:-1], b"more"], special_ids=[END], eos_ids=[END]),
        calligram.Vocabulary(tokens, eos_ids=[END]),
        calligram.Vocabulary(tokens, special_ids=[END], eos_ids=[END, 3]),
        calligram.Vocabulary(tokens, special_ids=[END], eos_ids=[END], padding_ids=[9]),
        calligram.Vocabulary([*BYTES, b"<end>"], special_ids=[END], eos_ids=[END]),
    ):
        assert problem(path, other) == "automaton-vocabulary"
    mask.load(path, calligram.Vocabulary(tokens, special_ids=[END], eos_ids=[END]))


def test_what_is_no_vocabulary_is_a_mistake_of_the_program(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="a Vocabulary is wanted, not list"):
        mask.load(tmp_path, [b"a"])  # type: ignore[arg-type]


def test_another_grammar_is_refused(whole: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, whole)
    for other in (
        calligram.compile_schema(SCHEMA),
        calligram.compile_schema(SCHEMA, whitespace="exact", key_order="any"),
        calligram.compile_schema({**SCHEMA, "title": "X"}, whitespace="exact"),
        calligram.compile_schema(SCHEMA, whitespace="exact", bounds=calligram.Bounds()),
    ):
        assert problem(path, grammar=other) == "automaton-grammar"
    same = calligram.compile_schema(json.loads(json.dumps(SCHEMA)), whitespace="exact")
    assert mask.load(path, VOCABULARY, grammar=same).matcher().accept_token(ord("{"))


# Writing ----------------------------------------------------------------------------------------

BUDGET = mask.SaveBudget(states=5)


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path, link = tmp_path / "a.cgm", tmp_path / "link.cgm"
    old = os.umask(0o027)
    try:
        AUTOMATON.save(path, budget=BUDGET)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.write_bytes(b"old")
    path.chmod(0o604)
    link.symlink_to(path)
    AUTOMATON.save(str(link), budget=BUDGET)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604 and link.is_symlink()
    assert mask.load(path, VOCABULARY).report.states == 5
    assert sorted(os.listdir(tmp_path)) == ["a.cgm", "link.cgm"]


def test_what_cannot_be_written_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old.cgm"
    old.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    for path, wrong in ((tmp_path / "no" / "a", None), (tmp_path, None), (old, full)):
        with monkeypatch.context() as patch:
            if wrong is not None:
                patch.setattr(os, "fsync", wrong)
            with pytest.raises(calligram.ArtefactError) as caught:
                AUTOMATON.save(path, budget=BUDGET)
        (found,) = caught.value.problems
        assert (found.code, found.origin.file) == ("cannot-write", str(path))
    assert os.listdir(tmp_path) == ["old.cgm"] and old.read_bytes() == b"old"


def test_samples_have_a_limit_and_are_several(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explore, "MAX_SAMPLE_BYTES", 9)
    with pytest.raises(calligram.LimitExceeded, match="10 characters"):
        AUTOMATON.save(tmp_path / "a", samples=["12345", [1, 2, 3, 4, 5]])
    with pytest.raises(TypeError, match="not one text"):
        AUTOMATON.save(tmp_path / "a", samples="text")
    assert os.listdir(tmp_path) == []


def test_a_grammar_of_nobody_knows_what_is_not_saved(tmp_path: Path) -> None:
    made = mask.MaskAutomaton(GRAMMAR.enforced, VOCABULARY)
    with pytest.raises(calligram.ArtefactError) as caught:
        made.save(tmp_path / "a")
    assert caught.value.problems[0].code == "automaton-not-saveable"


def test_progress_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "_PROGRESS", 2)
    told: list[tuple[int, int]] = []
    AUTOMATON.save(tmp_path / "a", budget=BUDGET, progress=lambda *d: told.append(d))
    assert told == [(2, 5), (4, 5)]
