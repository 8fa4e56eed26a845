"""What a host asks of a matcher beside masks: text, jumps, drafts, logits, threads."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import calligram
from calligram.targets import mask

END = 256
LIST = {"type": "array", "items": {"enum": ["a", "ab", 1]}}
BYTES = [bytes([b]) for b in range(256)] + [b"<end>"]


def automaton(schema: Any, more: Sequence[bytes] = (), padding: int = 0) -> mask.MaskAutomaton:
    """Single bytes, an end token at 256, then `more` tokens, then ids without a token."""
    tokens = [*BYTES, *more, *[b""] * padding]
    vocabulary = calligram.Vocabulary(
        tokens,
        special_ids=[END],
        eos_ids=[END],
        padding_ids=range(len(tokens) - padding, len(tokens)),
    )
    grammar = calligram.compile_schema(schema, whitespace="exact")
    return mask.compile(grammar, vocabulary)


def at(schema: Any, text: str, more: Sequence[bytes] = ()) -> mask.Matcher:
    matcher = automaton(schema, more).matcher()
    assert matcher.accept_string(text)
    return matcher


def ids(row: NDArray[np.int32]) -> list[int]:
    bits = np.unpackbits(row.view(np.uint8), bitorder="little")
    return [int(i) for i in np.flatnonzero(bits)]


def test_text_is_one_step_and_refused_text_changes_nothing() -> None:
    matcher = automaton(LIST).matcher()
    assert matcher.accept_string('["a"')
    assert not matcher.accept_string(", 2")
    assert matcher.accept_string(b', "ab"]')
    assert matcher.is_completed()
    assert matcher.accept_token(END) and not matcher.accept_string("x")
    matcher.rollback(2)
    assert matcher.allowed_tokens() == [ord(","), ord("]")]
    matcher.rollback()
    assert matcher.allowed_tokens() == [ord("[")]


def test_ids_beyond_the_vocabulary_are_never_allowed() -> None:
    wide = mask.allocate_token_bitmask(2, 1000)
    matcher = automaton(LIST).matcher()
    assert matcher.fill_next_token_bitmask(wide, 1)
    assert ids(wide[1]) == [ord("[")]
    assert len(ids(wide[0])) == 32 * 32
    with pytest.raises(ValueError):
        matcher.fill_next_token_bitmask(np.zeros(3, dtype=np.int32))


def test_masks_of_many_matchers_go_to_the_rows_that_are_named() -> None:
    one, two = at(LIST, "["), at(LIST, '["a"')
    rows = mask.allocate_token_bitmask(3, 257)
    mask.fill_next_token_bitmask_batch([one, two], rows, indices=[2, 0])
    assert ids(rows[2]) == one.allowed_tokens() and ids(rows[0]) == two.allowed_tokens()
    mask.reset_token_bitmask(rows)
    assert (rows == -1).all()
    with pytest.raises(ValueError):
        mask.fill_next_token_bitmask_batch([one, two], rows, indices=[2])


# Jump-forward -----------------------------------------------------------------------------------

NAMED = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("more", "spelled"),
    [
        ([], [b"{", b'"', b"n", b"a", b"m", b"e", b'"', b":", b" ", b'"']),
        ([b'{"', b"na", b"name", b'": "'], [b'{"', b"name", b'": "']),
        # The last quote may become a longer token, so it is left to the model.
        ([b'{"', b"name", b'":', b' "', b' "a'], [b'{"', b"name", b'":']),
        ([b'{"name": "Jo'], []),
    ],
)
def test_forced_text_as_the_longest_tokens(more: list[bytes], spelled: list[bytes]) -> None:
    matcher = at(NAMED, "", more)
    tokens = matcher.find_jump_forward_tokens()
    assert [(BYTES + more)[t] for t in tokens] == spelled
    assert all(matcher.accept_token(t) for t in tokens)


def test_nothing_is_left_out_where_nothing_can_follow() -> None:
    more = [b'e"', b'e"}', b'e"}\n']
    matcher = at({"const": {"k": "e"}}, '{"k": "', more)
    assert [(BYTES + more)[t] for t in matcher.find_jump_forward_tokens()] == [b'e"}']


def test_a_tokenizer_is_believed_only_as_far_as_what_follows_changes_nothing() -> None:
    more = [b'{"', b"name", b'":', b' "', b' "J', b"\xc3\xa9"]
    matcher = at(NAMED, "", more)
    vocabulary = BYTES + more

    def encode(text: str) -> list[int]:
        out, data = [], text.encode()
        while data:
            piece = max((t for t in vocabulary if data.startswith(t)), key=len)
            out.append(vocabulary.index(piece))
            data = data[len(piece) :]
        return out

    def merging(text: str) -> list[int]:
        """Joins the quote before a value with the first letter, as a pre-tokenizer might."""
        found = encode(text)
        return found if text.endswith(' "') else [*found[:2], *encode('": ')]

    spelled = [b'{"', b"name", b'":']
    assert [vocabulary[t] for t in matcher.find_jump_forward_tokens(encode)] == spelled
    assert [vocabulary[t] for t in matcher.find_jump_forward_tokens(merging)] == spelled
    # Ids that do not spell the text, or are markers, end the jump.
    assert matcher.find_jump_forward_tokens(lambda _: [END, *encode('{"')]) == []
    assert matcher.find_jump_forward_tokens(lambda text: encode(text)[:1] + [0, 1]) == [257]
    assert at(LIST, '["a"').find_jump_forward_tokens(encode) == []


def test_forced_text_is_cut_before_half_a_character() -> None:
    matcher = at({"enum": ["é", "è"]}, "")
    assert matcher.find_jump_forward_string() == '"'
    assert matcher.find_jump_forward_bytes() == b'"\xc3'
    matcher = at({"const": "é"}, '"')
    assert matcher.accept_token(0xC3)
    assert matcher.find_jump_forward_string() == ""
    assert matcher.find_jump_forward_bytes() == b'\xa9"'


# Drafts -----------------------------------------------------------------------------------------


def test_masks_along_a_draft_are_those_of_one_token_at_a_time() -> None:
    matcher = at(LIST, "[")
    draft = [ord(c) for c in '"ab", 2]']
    rows = mask.allocate_token_bitmask(len(draft) + 1, 257)
    assert matcher.fill_next_token_bitmask_run(draft, rows) == 6
    one = matcher.fork()
    for index, token in enumerate(draft[:6]):
        assert ids(rows[index]) == one.allowed_tokens()
        assert one.accept_token(token)
    assert ids(rows[6]) == one.allowed_tokens()
    assert (rows[7:] == -1).all()
    assert matcher.allowed_tokens() == at(LIST, "[").allowed_tokens()
    with pytest.raises(ValueError, match="8 tokens need 9 rows"):
        matcher.fill_next_token_bitmask_run(draft, rows[:8])


def test_a_tree_of_drafts_has_the_rows_that_xgrammar_gives() -> None:
    """Rows as XGrammar 0.2.9 writes them for this tree and schema."""
    matcher = at(LIST, "[")
    # [ -> " -> a;  [ -> x (refused) -> b;  [ -> ]
    child, sibling = [1, 3, 4, -1, -1, -1], [-1, 2, 5, -1, -1, -1]
    tokens = [ord(c) for c in '["xab]']
    rows = np.full((6, 9), -7, dtype=np.int32)
    assert matcher.traverse_draft_tree(child, np.array(sibling), np.array(tokens), rows)
    assert ids(rows[0]) == [ord('"'), ord("1"), ord("]")]
    assert ids(rows[1]) == [ord("a")]
    assert (rows[2] == 0).all()
    assert ids(rows[3]) == [ord('"'), ord("b")]
    assert (rows[4] == -7).all()
    assert ids(rows[5]) == [END]


def test_nothing_follows_the_end_in_a_tree_of_drafts() -> None:
    """Rows as XGrammar 0.2.9 writes them: the end may be drafted, and has an empty row."""
    matcher = at(LIST, '["a"')
    rows = np.full((3, 9), -7, dtype=np.int32)
    assert matcher.traverse_draft_tree([1, 2, -1], [-1, -1, -1], [34, ord("]"), END], rows)
    assert [ids(row) for row in rows] == [[ord(","), ord("]")], [END], []]


def test_a_deep_tree_is_no_recursion_and_a_time_limit_holds() -> None:
    matcher = at({"type": "string"}, '"')
    count = 3000
    child, none = [*range(1, count), -1], [-1] * count
    rows = mask.allocate_token_bitmask(count, 257)
    assert matcher.traverse_draft_tree(child, none, [ord("a")] * count, rows)
    assert (rows == rows[0]).all()
    assert not matcher.traverse_draft_tree(child, none, [ord("a")] * count, rows, 1e-9)


@pytest.mark.parametrize(
    ("child", "sibling", "tokens", "message"),
    [
        ([1, -1], [-1], [0, 1], "needs as many"),
        ([1, 2], [-1, -1], [0, 91], "names node 2"),
        ([1, 1], [-1, -1], [0, 91], "circle"),
        ([1, -1, -1, -1], [-1] * 4, [0] * 4, "rows"),
    ],
)
def test_trees_that_make_no_sense(
    child: list[int], sibling: list[int], tokens: list[int], message: str
) -> None:
    matcher = automaton({"type": "array", "items": {}}).matcher()
    with pytest.raises(ValueError, match=message):
        matcher.traverse_draft_tree(child, sibling, tokens, mask.allocate_token_bitmask(3, 257))


# Logits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [257, 300, 92])
def test_logits_are_masked_in_place(kind: type[np.floating[Any]], size: int) -> None:
    matcher = at(LIST, "[")
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(2, size)).astype(kind)
    before = logits.copy()
    matcher.mask_logits(logits[1])
    assert logits[0].tobytes() == before[0].tobytes()
    allowed = [i for i in matcher.allowed_tokens() if i < size]
    assert [int(i) for i in np.flatnonzero(np.isfinite(logits[1]))] == allowed
    assert (logits[1, allowed] == before[1, allowed]).all()
    matcher.mask_logits(logits)
    assert (np.isfinite(logits[0]) == np.isfinite(logits[1])).all()


def test_rows_and_a_size_can_be_chosen() -> None:
    rows = mask.allocate_token_bitmask(2, 257)
    mask.fill_next_token_bitmask_batch([at(LIST, "["), at(LIST, '["a"')], rows)
    logits = np.zeros((2, 300), dtype=np.float32)
    mask.apply_token_bitmask_inplace(logits, rows, vocab_size=257, indices=[1])
    assert np.isfinite(logits[0]).all() and np.isfinite(logits[1, 257:]).all()
    assert [int(i) for i in np.flatnonzero(np.isfinite(logits[1, :257]))] == ids(rows[1])


@pytest.mark.parametrize(
    ("logits", "words", "kind"),
    [
        (np.zeros(300, dtype=np.int64), np.zeros(9, dtype=np.int32), TypeError),
        (np.zeros(300), np.zeros(9, dtype=np.int64), TypeError),
        ([0.0] * 300, np.zeros(9, dtype=np.int32), ValueError),
        (np.zeros(300), [0] * 9, TypeError),
        (np.zeros((1, 1, 300)), np.zeros(9, dtype=np.int32), ValueError),
        (np.zeros(300), np.zeros((1, 9), dtype=np.int32), ValueError),
        (np.zeros((2, 300)), np.zeros((1, 9), dtype=np.int32), ValueError),
    ],
)
def test_logits_and_masks_that_do_not_fit(logits: Any, words: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        mask.apply_token_bitmask_inplace(logits, words)


def test_nothing_imports_torch() -> None:
    assert "torch" not in sys.modules


# Threads ----------------------------------------------------------------------------------------


def random_walk(make: Callable[[], mask.Matcher], seed: int) -> list[int]:
    """The tokens of a random text."""
    rng, matcher, taken = random.Random(seed), make(), list[int]()
    for _ in range(60):
        token = rng.choice(matcher.allowed_tokens())
        assert matcher.accept_token(token)
        taken.append(token)
    return taken


def test_threads_share_one_automaton() -> None:
    schema = {
        "type": "object",
        "properties": {f"k{i}": {"enum": [f"v{j}" for j in range(i)]} for i in range(1, 12)},
        "additionalProperties": {"type": "array", "items": {"type": "string", "maxLength": 9}},
    }
    alone = [random_walk(automaton(schema, [b'":', b'"k', b"v1"]).matcher, s) for s in range(8)]
    shared = automaton(schema, [b'":', b'"k', b"v1"])
    together: dict[int, list[int]] = {}
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        start.wait()
        together[seed] = random_walk(shared.matcher, seed)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(s,)) for s in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert [together.get(s) for s in range(8)] == alone
