"""Adapters driven as their libraries drive them, with numpy arrays in the place of tensors."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import calligram
from calligram.adapters import LlamaCppLogitsProcessor, TransformersLogitsProcessor
from calligram.adapters.following import MAX_KEPT, Followed
from calligram.kernel import Constraint
from calligram.targets import mask

END = 256
PAD = 0
SIZE = 260
SCHEMA = {"type": "array", "items": {"enum": ["a", "ab", "b"]}, "maxItems": 3}


@pytest.fixture
def automaton() -> mask.MaskAutomaton:
    tokens = [bytes([b]) for b in range(256)] + [b"<end>"]
    vocabulary = calligram.Vocabulary(tokens, special_ids=[END], eos_ids=[END])
    return mask.compile(calligram.compile_schema(SCHEMA, whitespace="exact"), vocabulary)


def scores(rows: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(size=(rows, SIZE)).astype(np.float32)


def allowed(row: NDArray[np.float32]) -> list[int]:
    return [int(i) for i in np.flatnonzero(np.isfinite(row))]


def after(automaton: mask.MaskAutomaton, text: str) -> list[int]:
    matcher = automaton.matcher()
    assert matcher.accept_string(text)
    return matcher.allowed_tokens()


def rows_of(*texts: str, prompts: tuple[str, ...] | None = None) -> NDArray[np.int64]:
    heads = prompts or ("??",) * len(texts)
    return np.array([[*map(ord, p), *map(ord, t)] for p, t in zip(heads, texts, strict=True)])


def generate(processor: Any, prompts: list[list[int]], steps: int = 40) -> list[list[int]]:
    """Greedy decoding as transformers does it: texts that have ended are padded."""
    ids, ended = np.array(prompts), np.zeros(len(prompts), dtype=bool)
    for step in range(steps):
        chosen = processor(ids, scores(len(ids), step)).argmax(axis=1)
        chosen[ended] = PAD
        ended |= chosen == END
        ids = np.concatenate([ids, chosen[:, None]], axis=1)
        if ended.all():
            break
    return [[int(t) for t in row[len(prompts[0]) :]] for row in ids]


def value(tokens: list[int]) -> Any:
    return json.loads(bytes(tokens[: tokens.index(END)]))


def test_a_batch_is_decoded_and_short_texts_are_padded(automaton: mask.MaskAutomaton) -> None:
    processor = TransformersLogitsProcessor(automaton)
    prompts = [[PAD, 1, 2], [3, 4, 5], [6, 7, 8], [9, 9, 9]]
    answers = generate(processor, prompts)
    for tokens in answers:
        assert all(item in ("a", "ab", "b") for item in value(tokens))
    # The same object serves the next turn of the chat, whose prompts begin with the first one's.
    longer = [[*p, *answer, 7, 8] for p, answer in zip(prompts, answers, strict=True)]
    for tokens in generate(processor, longer):
        assert all(item in ("a", "ab", "b") for item in value(tokens))


def test_states_follow_beams_that_change_places(automaton: mask.MaskAutomaton) -> None:
    processor = TransformersLogitsProcessor(automaton)
    processor(rows_of("", ""), scores(2))
    processor(rows_of("[", "["), scores(2))
    masked = processor(rows_of('["', "[]"), scores(2))
    assert [allowed(r) for r in masked] == [after(automaton, '["'), [END]]
    # Both beams now come from the first row.
    masked = processor(rows_of('["b', '["a'), scores(2))
    assert [allowed(r) for r in masked] == [after(automaton, '["b'), after(automaton, '["a')]


def test_drafted_tokens_may_be_dropped(automaton: mask.MaskAutomaton) -> None:
    processor = TransformersLogitsProcessor(automaton)
    for text in ("", "[", '["', '["a', '["b', "[]", '["ab'[:3], '["ab'):
        masked = processor(rows_of(text), scores(1))
        assert allowed(masked[0]) == after(automaton, text)


def test_a_row_that_has_left_the_grammar_may_only_end(automaton: mask.MaskAutomaton) -> None:
    processor = TransformersLogitsProcessor(automaton)
    for text in ("", "x", "x["):
        masked = processor(rows_of(text), scores(1))
    assert allowed(masked[0]) == [END]


def test_the_prompt_may_be_told_or_forgotten(automaton: mask.MaskAutomaton) -> None:
    told = TransformersLogitsProcessor(automaton, prompt_length=2)
    assert allowed(told(rows_of('["a'), scores(1))[0]) == after(automaton, '["a')
    with pytest.raises(ValueError, match="the rows have 1 ids, the prompt 2"):
        told(np.array([[1]]), scores(1))
    seen = TransformersLogitsProcessor(automaton)
    seen(rows_of(""), scores(1))
    assert allowed(seen(rows_of("["), scores(1))[0]) == after(automaton, "[")
    seen.reset()
    assert allowed(seen(rows_of("["), scores(1))[0]) == after(automaton, "")


def test_the_shape_of_llama_cpp_python(automaton: mask.MaskAutomaton) -> None:
    processor = LlamaCppLogitsProcessor(automaton)
    ids, text = [5, 6, 7], list[int]()
    for step in range(40):
        logits = scores(1, step)[0]
        found = processor(np.array(ids + text, dtype=np.intc), logits)
        assert found is logits
        text.append(int(found.argmax()))
        if text[-1] == END:
            break
    assert all(item in ("a", "ab", "b") for item in value(text))
    processor.reset()
    logits = processor(np.array([1, ord("[")], dtype=np.intc), scores(1)[0])
    assert allowed(logits) == [ord("[")]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("variable", [None, "1", "yes"])
def test_off_means_untouched(
    automaton: mask.MaskAutomaton,
    kind: type[np.floating[Any]],
    variable: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if variable is not None:
        monkeypatch.setenv("CALLIGRAM_DISABLE", variable)
    given = scores(2).astype(kind)
    given[0, :3] = [np.nan, -0.0, np.inf]
    constraint = None if variable is None else automaton
    rows, row = TransformersLogitsProcessor(constraint), LlamaCppLogitsProcessor(constraint)
    for text in ("", "zz"):
        ids, copy = rows_of(text, text), given.copy()
        assert rows(ids, copy) is copy and copy.tobytes() == given.tobytes()
        assert row(ids[0], copy[0]).tobytes() == given[0].tobytes()


@pytest.mark.parametrize("variable", [None, "", "0"])
def test_on_is_on(
    automaton: mask.MaskAutomaton, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALLIGRAM_DISABLE", raising=False)
    if variable is not None:
        monkeypatch.setenv("CALLIGRAM_DISABLE", variable)
    masked = TransformersLogitsProcessor(automaton)(rows_of(""), scores(1))
    assert allowed(masked[0]) == [ord("[")]


def test_what_is_kept_is_limited_and_forgetting_changes_nothing() -> None:
    tokens = [bytes([b]) for b in range(256)] + [b"<end>"]
    vocabulary = calligram.Vocabulary(tokens, special_ids=[END], eos_ids=[END])
    grammar = calligram.compile_schema({"type": "string"})
    followed = Followed(mask.compile(grammar, vocabulary))
    text = [ord('"')]
    matcher, left = followed.after(text)
    for step in range(MAX_KEPT + 10):
        text.append(ord("a") + step % 26)
        matcher, left = followed.after(text)
        assert not left
    assert followed.continues([*text, 0]) and not followed.continues(text[:50])
    assert followed.after(text[:50])[0].allowed_tokens() == matcher.allowed_tokens()


def test_a_matcher_keeps_the_kernel_contract(automaton: mask.MaskAutomaton) -> None:
    constraint: Constraint = automaton.matcher()
    assert isinstance(constraint, Constraint)
    assert not isinstance(object(), Constraint)
