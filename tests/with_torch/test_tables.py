"""Token tables as real tensors against the same tables as arrays."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import torch

import calligram
from calligram.targets import regex_fsm
from calligram.targets.regex_fsm import DEAD, ENDED

PIECES = [b'{"', b'": "', b'", "', b'"}', b"true", b"name", b"12"]
TOKENS = [bytes([b]) for b in range(256)] + PIECES + [b"<pad>", b"</s>"]
PAD, END = len(TOKENS) - 2, len(TOKENS) - 1
WIDTH = 320
"""Logits of a model: more than there are tokens."""

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "n": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def table() -> regex_fsm.TokenTable:
    vocabulary = calligram.Vocabulary(TOKENS, eos_ids=[END], padding_ids=[PAD])
    return regex_fsm.compile(calligram.compile_schema(SCHEMA, whitespace="exact"), vocabulary)


def test_every_state_and_token_is_the_same(table: regex_fsm.TokenTable) -> None:
    tensors = table.tensors()
    states = torch.arange(len(table))
    rows = np.zeros((len(table), table.words), dtype=np.int32)
    table.fill_bitmask_batch(states.numpy(), rows)
    assert torch.equal(tensors.bitmask(states), torch.from_numpy(rows))
    assert tensors.bitmask(states).dtype == torch.int32
    allowed = tensors.allowed(states, WIDTH)
    assert allowed.shape == (len(table), WIDTH) and not allowed[:, len(TOKENS) :].any()
    assert torch.equal(tensors.allowed(states, 100), tensors.allowed(states)[:, :100])
    for token in [*range(len(TOKENS)), -1, len(TOKENS), WIDTH]:
        after = tensors.step(states, torch.full_like(states, token))
        expected = table.next_states(states.numpy(), np.full(len(table), token))
        assert after.tolist() == expected.tolist()
    assert tensors.may_end(states).tolist() == table.accepting.tolist()


def test_a_batch_is_decoded_without_leaving_the_tensors(table: regex_fsm.TokenTable) -> None:
    torch.manual_seed(1)
    tensors = table.tensors("cpu")
    states = tensors.start(16)
    written: list[list[int]] = [[] for _ in range(16)]
    for _ in range(80):
        logits = torch.randn(16, WIDTH)
        assert tensors.mask_logits(logits, states) is logits
        tokens = logits.argmax(dim=1)
        states = tensors.step(states, tokens)
        for text, token in zip(written, tokens.tolist(), strict=True):
            text.append(token)
    assert (states == ENDED).all() and DEAD not in states.tolist()
    grammar = calligram.compile_schema(SCHEMA, whitespace="exact")
    for tokens_ in written:
        text = b"".join(TOKENS[t] for t in tokens_[: tokens_.index(END)])
        assert grammar.check(text).accepted


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32])
def test_logits_of_every_kind(table: regex_fsm.TokenTable, kind: torch.dtype) -> None:
    random = Random(2)
    tensors = table.tensors()
    states = torch.tensor([random.randrange(2, len(table)) for _ in range(8)])
    logits = torch.randn(8, WIDTH).to(kind)
    before = logits.clone()
    tensors.mask_logits(logits, states)
    for row, state in enumerate(states.tolist()):
        allowed = table.allowed_tokens(state)
        assert torch.isfinite(logits[row]).nonzero()[:, 0].tolist() == allowed
        assert torch.equal(logits[row, allowed], before[row, allowed])


def test_a_guide_writes_into_a_tensor(table: regex_fsm.TokenTable) -> None:
    guide = table.guide()
    mask = torch.full((1, table.words), -1, dtype=torch.int32)
    guide.write_mask_into(mask.data_ptr(), mask.numel(), mask.element_size())
    assert mask[0].tolist() == table.mask(guide.get_state()).tolist()


@pytest.fixture(scope="module")
def counted() -> regex_fsm.TokenTable:
    vocabulary = calligram.Vocabulary(TOKENS, eos_ids=[END], padding_ids=[PAD])
    item = {"type": "string", "minLength": 1, "maxLength": 300}
    schema = {"type": "array", "items": {"type": "array", "items": item, "maxItems": 4},
              "maxItems": 8}  # fmt: skip
    return regex_fsm.compile(calligram.compile_schema(schema, whitespace="exact"), vocabulary)


def test_states_that_count_step_as_tensors(counted: regex_fsm.TokenTable) -> None:
    tensors = counted.tensors()
    assert isinstance(tensors, regex_fsm.CountedTensors)
    random = Random(3)
    states = torch.tensor([*range(40), *(random.randrange(len(counted)) for _ in range(400))])
    rows = np.zeros((len(states), counted.words), dtype=np.int32)
    counted.fill_bitmask_batch(states.numpy(), rows)
    assert torch.equal(tensors.bitmask(states), torch.from_numpy(rows))
    for token in [*range(len(TOKENS)), -1, WIDTH]:
        after = tensors.step(states, torch.full_like(states, token))
        expected = counted.next_states(states.numpy(), np.full(len(states), token))
        assert after.tolist() == expected.tolist()
    assert tensors.may_end(states).tolist() == counted.accepting[states.numpy()].tolist()


def test_a_batch_that_counts_is_decoded(counted: regex_fsm.TokenTable) -> None:
    torch.manual_seed(2)
    tensors = counted.tensors()
    states, wanted = tensors.start(16), [counted.start] * 16
    for _ in range(200):
        tokens = tensors.mask_logits(torch.randn(16, WIDTH), states).argmax(dim=1)
        states = tensors.step(states, tokens)
        wanted = [counted.next_state(s, t) for s, t in zip(wanted, tokens.tolist(), strict=True)]
        assert states.tolist() == wanted and DEAD not in wanted


def test_integers_of_every_type_are_taken(
    table: regex_fsm.TokenTable, counted: regex_fsm.TokenTable
) -> None:
    for made in (table, counted):
        tensors = made.tensors()
        for kind in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
            states, tokens = torch.tensor([2, 0, 1]).to(kind), torch.tensor([34, 1, 0]).to(kind)
            wanted = made.next_states(states.numpy(), tokens.numpy()).tolist()
            assert tensors.step(states, tokens).tolist() == wanted
            assert tensors.step(states, tokens).dtype == torch.int64
            assert tensors.allowed(states).shape == (3, len(TOKENS))
            assert tensors.may_end(states).tolist() == [made.may_end(s) for s in (2, 0, 1)]
        right = torch.tensor([2, 0])
        for odd in (torch.tensor([True, False]), torch.tensor([2.0, 0.0])):
            for call in (
                lambda: tensors.step(odd, right),  # noqa: B023
                lambda: tensors.step(right, odd),  # noqa: B023
                lambda: tensors.allowed(odd),  # noqa: B023
                lambda: tensors.bitmask(odd),  # noqa: B023
                lambda: tensors.may_end(odd),  # noqa: B023
                lambda: tensors.mask_logits(torch.zeros(2, WIDTH), odd),  # noqa: B023
            ):
                with pytest.raises(TypeError, match="are integers"):
                    call()
        with pytest.raises(ValueError, match="as many states as tokens"):
            tensors.step(right, right[:1])


def test_what_is_no_state_is_refused(
    table: regex_fsm.TokenTable, counted: regex_fsm.TokenTable
) -> None:
    for made in (table, counted):
        tensors, size = made.tensors(), len(made)
        for state in (-1, size, -(2**62), 2**62):
            wrong = torch.tensor([2, state])
            for call in (
                lambda: tensors.step(wrong, torch.tensor([0, 0])),  # noqa: B023
                lambda: tensors.allowed(wrong),  # noqa: B023
                lambda: tensors.bitmask(wrong),  # noqa: B023
                lambda: tensors.may_end(wrong),  # noqa: B023
                lambda: tensors.mask_logits(torch.zeros(2, WIDTH), wrong),  # noqa: B023
            ):
                with pytest.raises(IndexError) as error:
                    call()
                assert str(error.value) == f"states go from 0 to {size - 1}, not {state}"
