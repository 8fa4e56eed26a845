"""What names of tokens tell: which only fill up a vocabulary, which end a turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

MAX_IDS: Final = 1 << 22
"""More ids than any model has; a file that says so is broken or hostile."""

_PADDING: Final = re.compile(
    r"\[PAD_?\d*\]|<\|?_?pad(ding)?_?\|?>|<\uff5c\u2581?pad\u2581?\uff5c>", re.I
)
_PLACEHOLDER: Final = re.compile(
    r"[<\[]\|?(unused|reserved|extra|dummy|placeholder|SPECIAL)(_special_token|_token)?"
    r"[_-]?\d+\|?[>\]]",
    re.I,
)
_ENDS: Final = frozenset(
    {
        "</s>",
        "<eos>",
        "<|eos|>",
        "[EOS]",
        "<EOT>",
        "_<EOT>",
        "[EOT]",
        "<|eot|>",
        "<|eom|>",
        "<|eot_id|>",
        "<|eom_id|>",
        "<|im_end|>",
        "<|end|>",
        "<|call|>",
        "<|return|>",
        "<turn|>",
        "<end_of_turn>",
        "<|endoftext|>",
        "<|end_of_text|>",
        "<end_of_utterance>",
        "<|END_OF_TURN_TOKEN|>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    }
)


def is_padding(name: str) -> bool:
    """Is it a name for an id without a token: `[PAD151646]`, `<pad>`?"""
    return _PADDING.fullmatch(name) is not None


def is_placeholder(name: str) -> bool:
    """Is it a name that stands for a token to come: `<unused7>`, `<|reserved_special_token_3|>`?

    Such a token is special whatever its file says: no text means it. A model that was trained
    further may have given it a meaning, so it is not padding: a dialect can name it.
    """
    return _PLACEHOLDER.fullmatch(name) is not None


def ends_by_name(specials: Mapping[str, int]) -> Iterable[int]:
    """The ids of special tokens that end a turn by convention, ascending.

    `<|end|>` ends a message and not the turn where `<|return|>` and `<|call|>` end turns.
    """
    inside = {"<|end|>"} if {"<|return|>", "<|call|>"} <= specials.keys() else set()
    return sorted(i for name, i in specials.items() if name in _ENDS - inside)


def is_blank(text: str) -> bool:
    """Only white space: text, even if someone added it to the vocabulary as a token."""
    return bool(text) and text.isspace()
