"""The guide against `outlines_core.Guide`: whatever is called on both, both do the same."""

from __future__ import annotations

import copy
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from operator import index
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calligram
from calligram import Vocabulary
from calligram.targets import regex_fsm
from tests.regexes import outlines_core

END = 9
TOKENS = [b'"', b"a", b"b", b"ab", b"ba", b"a", b"c", b'a"', b'b"', b"<end>"]
VOCABULARY = Vocabulary(TOKENS, eos_ids=[END])
SCHEMA = {"type": "string", "pattern": "^(ab?)*c?$", "maxLength": 12}


def table() -> regex_fsm.TokenTable:
    return regex_fsm.compile(calligram.compile_schema(SCHEMA, bounds=None), VOCABULARY)


def theirs(max_rollback: int | None = None) -> Any:
    """The same grammar as outlines-core has it."""
    if outlines_core is None:
        pytest.skip("outlines-core is not installed")
    tokens: dict[bytes, list[int]] = {}
    for number, token in enumerate(TOKENS[:END]):
        tokens.setdefault(token, []).append(number)
    pattern = regex_fsm.regex(calligram.compile_schema(SCHEMA, bounds=None))
    index = outlines_core.Index(pattern, outlines_core.Vocabulary(END, tokens))
    more = {} if max_rollback is None else {"max_rollback": max_rollback}
    return outlines_core.Guide(index, **more)


def mask_of(guide: Any, words: int, size: int) -> Any:
    memory = np.full(words, -1, dtype=np.int32)
    guide.write_mask_into(memory.ctypes.data, size, 4)
    return memory.tolist()


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the type of what it raises; for ValueErrors also the words."""
    try:
        found = call()
    except Exception as error:
        words = str(error) if type(error) is ValueError else ""
        return type(error).__name__, words.partition("state: ")[0]
    return sorted(found) if isinstance(found, list) else found


steps = st.one_of(
    st.tuples(st.just("advance"), st.integers(-1, 10)),
    st.tuples(st.just("advance"), st.integers(0, 9), st.sampled_from([True, False, None])),
    st.tuples(st.just("rollback_state"), st.integers(-1, 5)),
    st.tuples(st.just("accepts_tokens"), st.lists(st.integers(0, 10), max_size=4)),
    st.tuples(st.just("reset")),
)


@given(st.lists(steps, max_size=25), st.sampled_from([None, 1, 3]))
def test_any_calls_do_the_same(calls: list[tuple[Any, ...]], most: int | None) -> None:
    ours, other = table().guide() if most is None else table().guide(most), theirs(most)
    states: dict[int, int] = {}
    for name, *arguments in [("get_tokens",), *calls]:
        mine = outcome(lambda: getattr(ours, name)(*arguments))  # noqa: B023
        assert mine == outcome(lambda: getattr(other, name)(*arguments)), (name, arguments)  # noqa: B023
        assert sorted(ours.get_tokens()) == sorted(other.get_tokens())
        assert ours.is_finished() == other.is_finished()
        assert ours.get_allowed_rollback() == other.get_allowed_rollback()
        assert mask_of(ours, 3, 1) == mask_of(other, 3, 1)
        assert mask_of(ours, 3, 3) == mask_of(other, 3, 3)
        # States are numbered otherwise, but one for one.
        assert states.setdefault(ours.get_state(), other.get_state()) == other.get_state()
    assert len(set(states.values())) == len(states)


class Three:
    def __index__(self) -> int:
        return 3


class Listed:
    def __getitem__(self, at: int) -> int:
        return [0, 1][at]

    def __len__(self) -> int:
        return 2


NUMBERS: list[Any] = [
    -5, -1, 0, 1, 2**32, 2**63, 2**64 - 1, 2**64, 2**70, -(2**70), True, False, None, 1.0, 4.0, "1",
    np.int64(4), np.int64(-1), np.bool_(True), np.float64(4), Three(), [1],
]  # fmt: skip
"""What may be given where a number is wanted."""


def odd_calls(make: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Calls with arguments of every kind, none of which writes beyond its memory."""
    memory = np.zeros(4, dtype=np.int32)
    address = memory.ctypes.data
    for number in NUMBERS:
        guide = make()
        write = partial(guide.write_mask_into, address)
        yield f"size {number!r}", partial(write, 1, number)
        yield f"rollback {number!r}", partial(guide.rollback_state, number)
        yield f"token {number!r}", partial(make().advance, number, False)
        yield f"return {number!r}", partial(make().advance, 0, number)
        yield f"tokens {number!r}", partial(guide.accepts_tokens, [number])
        yield f"pointer {number!r}", partial(guide.write_mask_into, number, 1, 8)
        wild = not isinstance(number, float) and number is not None
        if not wild or number in (0, "1") or abs(index_of(number)) >= 2**64:
            yield f"written to {number!r}", partial(guide.write_mask_into, number, 1, 4)
        if not wild or isinstance(number, (str, list)) or not 4 < index_of(number) < 2**64:
            yield f"words {number!r}", partial(write, number, 4)
    guide = make()
    yield "right", partial(guide.write_mask_into, np.int64(address), np.int64(1), np.int64(4))
    sequences: list[Any] = [
        [0], (0,), [], iter([0]), {0}, {0: 1}, {0: 1}.keys(), (x for x in [0]), np.array([0]),
        np.array([[0]]), np.array(0), np.array([0.0]), range(1), b"\0", bytearray(b"\0"), "", "ab",
        memoryview(b"\0"), deque([0]), array("i", [0]), Listed(), MappingProxyType({0: 0}), Three(),
    ]  # fmt: skip
    for sequence in sequences:
        yield f"{type(sequence).__name__}", partial(guide.accepts_tokens, sequence)


def index_of(number: Any) -> int:
    try:
        return index(number)
    except TypeError:
        return 0


def test_arguments_of_any_kind_are_taken_or_refused_alike() -> None:
    pairs = zip(odd_calls(lambda: table().guide()), odd_calls(theirs), strict=True)
    for (name, mine), (_, their) in pairs:
        assert outcome(mine) == outcome(their), name


@pytest.mark.parametrize("number", [-1, 2**64, 1.0, None, "3", np.int64(3), True, np.int64(-1)])
def test_so_is_how_much_can_be_taken_back(number: Any) -> None:
    def kind(make: Callable[[Any], Any]) -> Any:
        found = outcome(lambda: make(number).get_allowed_rollback())
        return found[0] if isinstance(found, tuple) else found

    if number is None:  # Is outlines-core's own default.
        assert kind(table().guide) == "TypeError"
    else:
        assert kind(table().guide) == kind(theirs)


def test_memory_beyond_all_addresses_is_refused() -> None:
    guide = table().guide()
    memory = np.zeros(1, dtype=np.int32)
    for words in (2**62, 2**63, 2**64 - 1):
        with pytest.raises(OverflowError, match="no memory"):
            guide.write_mask_into(memory.ctypes.data, words, 4)


def wrong_calls(guide: Any) -> list[Callable[[], Any]]:
    memory = np.zeros(4, dtype=np.int32)
    address = memory.ctypes.data
    return [
        lambda: guide.advance("x"),
        lambda: guide.advance(1.0),
        lambda: guide.advance(2**32),
        lambda: guide.advance(1, "no"),
        lambda: guide.advance(1, return_tokens=0),
        lambda: guide.advance(),
        lambda: guide.rollback_state("x"),
        lambda: guide.rollback_state(33),
        lambda: guide.accepts_tokens(None),
        lambda: guide.accepts_tokens("ab"),
        lambda: guide.accepts_tokens([0, -1]),
        lambda: guide.accepts_tokens([0, "x"]),
        lambda: guide.write_mask_into(address, 0, 4),
        lambda: guide.write_mask_into(address, 1, 8),
        lambda: guide.write_mask_into(0, 1, 8),
        lambda: guide.write_mask_into(0, 0, 4),
        lambda: hash(guide),
    ]


def test_wrong_calls_raise_the_same() -> None:
    ours, other = table().guide(), theirs()
    for at, (mine, their) in enumerate(zip(wrong_calls(ours), wrong_calls(other), strict=True)):
        kind, words = outcome(mine)
        assert (kind, words) == outcome(their), at
        assert kind.endswith("Error")


def test_a_guide_alone() -> None:
    made = table()
    guide = made.guide()
    assert guide.advance(0) == guide.get_tokens() and not guide.is_finished()
    assert guide.advance(1, return_tokens=False) is None
    assert guide.accepts_tokens([2, 0]) and not guide.accepts_tokens([2, 2])
    assert guide.advance(0) == [END] and guide.is_finished()
    with pytest.raises(ValueError, match="No next state found for the current state: .* ID: 9"):
        guide.advance(END)
    with pytest.raises(ValueError, match="Cannot roll back 4"):
        guide.rollback_state(4)
    guide.rollback_state(3)
    assert guide.get_state() == made.start and guide == made.guide()
    assert guide != table().guide() and guide != 3
    assert "state=2" in repr(guide)


def test_copies_go_their_own_way() -> None:
    guide = table().guide(max_rollback=2)
    guide.advance(0)
    for other in (copy.copy(guide), copy.deepcopy(guide)):
        assert other == guide
        other.advance(1)
        assert other != guide and other.get_allowed_rollback() == 2
        other.rollback_state(2)
        assert guide.get_allowed_rollback() == 1


def test_a_guide_wants_a_table() -> None:
    with pytest.raises(TypeError, match="token table"):
        regex_fsm.Guide("x")  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        table().guide(-1)
    # outlines-core makes room for 4 steps where 0 are asked for.
    guide = table().guide(0)
    guide.advance(0)
    assert guide.get_allowed_rollback() == 0
