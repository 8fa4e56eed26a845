"""Adapters and logits with real tensors and a real model's `generate`, on the CPU.

`make test-torch` runs these in an environment of its own: torch is no requirement of calligram. The
model is tiny and its weights are random, so every text it writes is what the masks leave of noise.
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

import calligram
from calligram.adapters import TransformersLogitsProcessor
from calligram.targets import mask

PIECES = [b'{"', b'": "', b'", "', b'"}', b"true", b"false", b"null", b": ", b", ", b"name", b"12"]
TOKENS = [bytes([b]) for b in range(256)] + PIECES + [b"<pad>", b"<s>", b"</s>"]
PAD, BEGIN, END = range(len(TOKENS) - 3, len(TOKENS))
WIDTH = 320
"""Logits of the model: more than there are tokens, as padded embeddings have them."""

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 8},
        "on": {"type": "boolean"},
        "n": {"type": "integer", "minimum": 0, "maximum": 99},
    },
    "required": ["name", "on"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def automaton() -> mask.MaskAutomaton:
    vocabulary = calligram.Vocabulary(
        TOKENS, special_ids=[PAD, BEGIN, END], eos_ids=[END], padding_ids=[PAD]
    )
    return mask.compile(calligram.compile_schema(SCHEMA, whitespace="exact"), vocabulary)


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WIDTH,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=512,
        bos_token_id=BEGIN,
        eos_token_id=END,
        pad_token_id=PAD,
    )
    return LlamaForCausalLM(config).eval()


def texts(output: torch.Tensor, prompt: int) -> list[str]:
    """The generated texts, each up to its end token."""
    found = []
    for row in output[:, prompt:].tolist():
        assert END in row, "the text did not end"
        found.append(b"".join(TOKENS[t] for t in row[: row.index(END)]).decode())
    return found


PROMPTS = [[PAD, BEGIN, 72, 105], [BEGIN, 80, 81, 82], [PAD, PAD, BEGIN, 65]]


@pytest.mark.parametrize(
    "how",
    [
        {"do_sample": False},
        {"do_sample": True, "temperature": 1.5},
        {"do_sample": True, "num_return_sequences": 3},
        {"do_sample": False, "num_beams": 4},
        {"do_sample": False, "num_beams": 3, "num_return_sequences": 3},
    ],
    ids=["greedy", "sampling", "several", "beams", "all-beams"],
)
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
def test_a_model_of_noise_writes_only_valid_values(
    model: Any, automaton: mask.MaskAutomaton, how: dict[str, Any], kind: torch.dtype
) -> None:
    torch.manual_seed(1)
    prompts = torch.tensor(PROMPTS)
    processor = TransformersLogitsProcessor(automaton)
    for _ in range(2):  # the same processor serves the next call
        output = model.to(kind).generate(
            prompts,
            attention_mask=(prompts != PAD).long(),
            logits_processor=[processor],
            max_new_tokens=150,
            **how,
        )
        for text in texts(output, prompts.shape[1]):
            jsonschema.validate(json.loads(text), SCHEMA)


def test_drafts_of_an_assistant_model(model: Any, automaton: mask.MaskAutomaton) -> None:
    torch.manual_seed(2)
    prompt = torch.tensor([PROMPTS[1]])
    same = {
        "attention_mask": torch.ones_like(prompt),
        "max_new_tokens": 150,
        "do_sample": False,
    }
    model = model.to(torch.float32)
    plain = model.generate(
        prompt, logits_processor=[TransformersLogitsProcessor(automaton)], **same
    )
    drafted = model.generate(
        prompt,
        logits_processor=[TransformersLogitsProcessor(automaton)],
        assistant_model=model,
        **same,
    )
    assert plain.tolist() == drafted.tolist()
    for text in texts(plain, prompt.shape[1]):
        jsonschema.validate(json.loads(text), SCHEMA)


def test_without_a_constraint_a_model_writes_what_it_writes(
    model: Any, automaton: mask.MaskAutomaton, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = torch.tensor(PROMPTS)
    same = {"attention_mask": (prompts != PAD).long(), "max_new_tokens": 20, "do_sample": False}
    model = model.to(torch.float32)
    plain = model.generate(prompts, **same)
    off = model.generate(prompts, logits_processor=[TransformersLogitsProcessor(None)], **same)
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")
    processor = TransformersLogitsProcessor(automaton)
    disabled = model.generate(prompts, logits_processor=[processor], **same)
    assert plain.tolist() == off.tolist() == disabled.tolist()
    scores = torch.randn(3, WIDTH)
    before = scores.numpy().tobytes()
    assert processor(prompts, scores) is scores and scores.numpy().tobytes() == before


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_tensors_are_masked_like_arrays(kind: torch.dtype, automaton: mask.MaskAutomaton) -> None:
    matcher = automaton.matcher()
    assert matcher.accept_string('{"name": "x", "o')
    logits = torch.randn(2, WIDTH).to(kind)
    before = logits.clone()
    matcher.mask_logits(logits[1])
    assert torch.equal(logits[0], before[0])
    allowed = matcher.allowed_tokens()
    assert torch.isfinite(logits[1]).nonzero()[:, 0].tolist() == allowed
    assert torch.equal(logits[1, allowed], before[1, allowed])
    rows = torch.zeros(2, 10, dtype=torch.int32)
    matcher.fill_next_token_bitmask(rows, 1)
    mask.apply_token_bitmask_inplace(logits, rows)
    assert not torch.isfinite(logits[0]).any() and torch.isfinite(logits[1]).sum() == len(allowed)
    with pytest.raises(TypeError):
        matcher.mask_logits(torch.zeros(WIDTH, dtype=torch.int64))


def test_trees_of_drafts_come_as_tensors(automaton: mask.MaskAutomaton) -> None:
    matcher = automaton.matcher()
    rows = torch.full((3, 9), -7, dtype=torch.int32)
    child, sibling = torch.tensor([1, -1, -1]), torch.tensor([-1, 2, -1])
    tokens = torch.tensor([BEGIN, ord("{"), 256])
    assert matcher.traverse_draft_tree(child, sibling, tokens, rows)
    fork = matcher.fork()
    assert fork.accept_token(256)
    expected = np.zeros(9, dtype=np.int32)
    fork.fill_next_token_bitmask(expected)
    assert rows[2].tolist() == expected.tolist()
