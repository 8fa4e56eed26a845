"""llguidance as a second reader of GBNF texts: what another engine makes of the same grammar."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

llguidance = pytest.importorskip("llguidance", reason="the second opinion is llguidance's")


@cache
def byte_tokenizer() -> Any:
    """A vocabulary of single bytes."""
    return llguidance.LLTokenizer("byte")


def accepted(gbnf: str, texts: Iterable[str]) -> list[bool]:
    """Whether each text is accepted in full; skips the test where llguidance cannot read GBNF."""
    if not hasattr(llguidance, "gbnf_to_lark"):
        pytest.skip("this llguidance has no gbnf_to_lark")
    lark = llguidance.gbnf_to_lark.gbnf_to_lark(gbnf)
    tokenizer = byte_tokenizer()
    verdicts = []
    for text in texts:
        matcher = llguidance.LLMatcher(tokenizer, lark)
        assert not matcher.is_error(), (matcher.get_error(), lark)
        tokens = tokenizer.tokenize_bytes(text.encode())
        verdicts.append(
            matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()
        )
    return verdicts
