"""A model's name -> the dialects whose families it may belong to.

Names are words and numbers: `unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF` is qwen, 3, coder and some
that say nothing of the dialect. A family is found where its words stand in the name in order, with
nothing but such words between them. What is left over makes it less than sure: a `-VL` or `-Omni`
may write calls in another way than the family that it is named after.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ..compiler.spec_loader import load_shipped, shipped_ids

_WORD: Final = re.compile(
    # Sizes such as 30b and a3b, versions, then letters.
    r"(?:[ae]?\d+x)?[ae]?\d+(?:\.\d+)?[bmt](?![a-z0-9])|\d+(?:\.\d+)*|[a-z]+"
)
_SIZE: Final = re.compile(r"(?:[ae]?\d+x)?[ae]?\d+(?:\.\d+)?[bmt]")
_DATE: Final = re.compile(r"\d{4,8}")
_QUANTISED: Final = re.compile(
    r"(?<![a-z0-9])(?:ud[-_])?(?:i?q\d+(?:[_-](?:[klms]+|xx?s|xl|nl|\d))*|tq\d_\d|i1|imatrix"
    r"|(?:mx|nv)?fp\d+(?:[_-]e\d+m\d+(?:fn)?)?|bf16|f16|f32|int\d|w\d+a\d+|\d+[-_]?bit|awq|gptq"
    r"|exl\d|mlx|gguf|ggml|bnb|dynamic|safetensors|onnx)(?![a-z0-9])"
)
_NEUTRAL: Final = frozenset(
    "instruct chat it base thinking reasoning preview exp experimental latest release hf model"
    " small medium large mini micro tiny nano pro max plus lite air flash turbo xl xs instant"
    " meta nousresearch nvidia ibm google openai mistralai microsoft ai org community unsloth"
    " deepseek v h dpo sft rl".split()
)
_NEXT: Final = (
    "`calligram dialects detect FILE` goes by the model's chat template; "
    "`calligram dialects list` has all families"
)
_OF_A_NAME: Final = 0.72
"""How alike two names must be for "did you mean"."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A dialect that a name points to.

    Attributes:
        family: the family that was found in the name.
        sure: whether nothing in the name speaks against it.
        reason: one sentence.
    """

    dialect: str
    family: str
    sure: bool
    reason: str

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "dialect": self.dialect,
            "family": self.family,
            "sure": self.sure,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class NameSearch:
    """What a name points to.

    Attributes:
        dialect: the id, or "unknown" unless one dialect is sure.
        matches: all that may be meant, the likeliest first.
        near: families with names like it, unless one is sure.
        hint: what to do next unless one is sure, else "".
    """

    dialect: str
    matches: tuple[NameMatch, ...]
    near: tuple[NameMatch, ...]
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "dialect": self.dialect,
            "matches": [m.to_json() for m in self.matches],
            "near": [m.to_json() for m in self.near],
            "hint": self.hint,
        }


def find_dialect(name: str) -> NameSearch:
    """The dialects of the models called so, by the families that the shipped specs list.

    Args:
        name: as on a model hub or of a file: owner, size, quantisation and suffixes may be there.
    """
    words = _words(name)
    found = sorted(_found(words), key=lambda m: m[0], reverse=True)
    matches: dict[str, NameMatch] = {}
    for _, match in found:
        matches.setdefault(match.dialect, match)
    ranked = tuple(matches.values())
    sure = [m for m in ranked if m.sure]
    if sure and sure[0] is ranked[0]:
        return NameSearch(sure[0].dialect, ranked, ())
    known = {m.dialect for m in ranked}
    near = tuple(m for m in _near(name) if m.dialect not in known)
    return NameSearch("unknown", ranked, near, _NEXT)


_Words = tuple[str, ...]
_Rank = tuple[int, int, int]


@lru_cache(maxsize=1)
def _families(dialects: tuple[str, ...]) -> tuple[tuple[str, str, _Words], ...]:
    """Dialect, family and the family's words; once more without its size, where that leaves more
    than a word: a family is listed by the sizes that there are."""
    found = []
    for name in dialects:
        for family in load_shipped(name).spec.families:
            own = _words(re.sub(r"\(.*?\)", " ", family))
            any_size = tuple(w for w in own if not _SIZE.fullmatch(w))
            found.append((name, family, own))
            if len(any_size) > 1 and any_size != own:
                found.append((name, family, any_size))
    return tuple(found)


def _words(name: str) -> _Words:
    """The words of a name, lower case, without owner and quantisation; 4.0 is 4."""
    tail = re.split(r"[/\\]", name.strip().rstrip("/\\"))[-1]
    text = _QUANTISED.sub(" ", re.sub(r"\.(?:gguf|jinja|json)$", "", tail.lower()))
    return tuple(re.sub(r"^(\d+)(?:\.0)+$", r"\1", w) for w in _WORD.findall(text))


def _found(words: _Words) -> Iterator[tuple[_Rank, NameMatch]]:
    every = [
        (dialect, family, own, _place(own, words), _place(own, words, minor=True))
        for dialect, family, own in _families(tuple(shipped_ids()))
        if own
    ]
    exact = {(own, at) for _, _, own, at, _ in every if at is not None}
    for dialect, family, own, at, minor in every:
        if at is None and minor is None:
            continue
        length = sum(map(len, own))
        if at is None:
            assert minor is not None
            version = words[minor[-1]]
            reason = f"the family is listed, version {version} is not"
            yield (0, length, -minor[0]), NameMatch(dialect, family, False, reason)
            continue
        others = {d for d, _, o, a, _ in every if o == own and a == at}
        # Another family behind it is what it was made from, or distilled into.
        behind = {n for o, a in exact if a is not None and a[0] > at[-1] for n in a}
        # Owners like to put the family's name in front once more.
        idle = {*at, *behind, *(n for n, w in enumerate(words) if w in own or _is_neutral(w))}
        left = [w for n, w in enumerate(words) if n not in idle]
        if len(others) > 1:
            reason = f"several dialects list this family: {', '.join(sorted(others))}"
        elif left:
            reason = f"what `{'-'.join(left)}` means for calls is not known"
        else:
            reason = "the name is of this family"
        sure = len(others) == 1 and not left
        yield (1, length - 100 * at[0], -len(left)), NameMatch(dialect, family, sure, reason)


def _place(own: _Words, words: _Words, minor: bool = False) -> tuple[int, ...] | None:
    """Where a family's words stand in a name, in order, with only neutral ones between them.

    `minor`: the last version in the name may be a later one, 4.1 for 4.
    """
    for start in range(len(words)):
        at: list[int] = []
        position = start
        for word in own:
            while position < len(words) and not _same(word, words[position], minor):
                if not at or not _is_neutral(words[position]):
                    position = len(words)
                    break
                position += 1
            if position == len(words):
                break
            at.append(position)
            position += 1
        if len(at) == len(own) and at[0] == start:
            return tuple(at)
    return None


def _same(own: str, word: str, minor: bool) -> bool:
    return own == word or (minor and own.isdigit() and word.startswith(f"{own}."))


def _is_neutral(word: str) -> bool:
    return word in _NEUTRAL or bool(_SIZE.fullmatch(word)) or bool(_DATE.fullmatch(word))


def _near(name: str) -> Iterator[NameMatch]:
    """Families whose names look like it."""
    plain = "".join(w for w in _words(name) if not _is_neutral(w))
    scored: list[tuple[float, str, str]] = []
    for dialect, family, own in _families(tuple(shipped_ids())):
        ratio = difflib.SequenceMatcher(None, plain, "".join(own)).ratio()
        if ratio >= _OF_A_NAME:
            scored.append((ratio, dialect, family))
    for _, dialect, family in _best_of_each(sorted(scored, reverse=True))[:3]:
        yield NameMatch(dialect, family, False, "a similar name")


def _best_of_each(scored: Sequence[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    seen: dict[str, tuple[float, str, str]] = {}
    for entry in scored:
        seen.setdefault(entry[1], entry)
    return list(seen.values())


__all__ = ["NameMatch", "NameSearch", "find_dialect"]
