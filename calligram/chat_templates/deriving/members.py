"""Arguments that are written one by one: where each begins and what is around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .notes import Notes
from .probe import KEYS, VALUES, Probe
from .texts import Joint, Piece, Slot, common_prefix, common_suffix, cut, joints, ugliness

_WORDS: Final = {
    KEYS[0]: Slot("key", 0),
    KEYS[1]: Slot("key", 1),
    VALUES[0]: Slot("value", 0),
    VALUES[1]: Slot("value", 1),
}


@dataclass(frozen=True, slots=True)
class Members:
    """One argument is `head`, `inner` and `tail`; all of them stand between `before` and `behind`.

    Attributes:
        before, behind: of the whole turn with one call.
        opener, closer: around the arguments if there are any.
        empty: in place of everything if there are none; None: nothing.
        inner: from the key to the value, or to the key that is repeated behind it.
    """

    before: str
    behind: str
    opener: str
    closer: str
    empty: str | None
    separator: str
    head: str
    tail: str
    inner: tuple[Piece, ...]

    def param(self, key: str, value: str) -> str:
        """The text of one argument."""
        words = {"key": key, "value": value}
        return self.head + filled(self.inner, words) + self.tail


def filled(pieces: tuple[Piece, ...], words: dict[str, str]) -> str:
    """The text of pieces, slots replaced by the word of their kind."""
    return "".join(p if isinstance(p, str) else words[p.kind] for p in pieces)


def members(probe: Probe, notes: Notes) -> Members | None:
    """How arguments stand together, None if that cannot be made out."""
    one = probe.text({KEYS[0]: VALUES[0]})
    if one is None:
        notes.miss("/args", "a call with one argument is not shown")
        return None
    pieces = cut(one, _WORDS)
    inner = _inner(pieces)
    if inner is None:
        notes.miss("/args", "a call with one argument does not show its key before its value")
        return None
    before, behind = str(pieces[0]), str(pieces[-1])
    bare = probe.text({})
    joint = _joint(probe, notes, before, behind, inner, bare)
    if joint is None:
        return None
    before = before[: len(before) - len(joint.head)]
    behind = behind[len(joint.tail) :]
    opener = closer = ""
    empty: str | None = None
    if bare is None:
        notes.miss("/args/empty", "a call without arguments is not shown")
    elif bare != before + behind:
        opener, closer, empty = _container(bare, before, behind)
        before = before[: len(before) - len(opener)]
        behind = behind[len(closer) :]
        notes.say("/args/empty", f"a call without arguments has {empty!r} in their place")
    return Members(
        before, behind, opener, closer, empty, joint.separator, joint.head, joint.tail, inner
    )


def _inner(pieces: list[Piece]) -> tuple[Piece, ...] | None:
    """From the first slot to the last, if they are one key, one value and perhaps the key again."""
    kinds = [p.kind for p in pieces if isinstance(p, Slot)]
    if kinds not in (["key", "value"], ["key", "value", "key"]):
        return None
    return tuple(pieces[1:-1])


def _joint(
    probe: Probe,
    notes: Notes,
    before: str,
    behind: str,
    inner: tuple[Piece, ...],
    bare: str | None,
) -> Joint | None:
    two = probe.text(dict(zip(KEYS, VALUES, strict=True)))
    if two is None:
        notes.miss("/args/separator", "a call with two arguments is not shown")
        return Joint("", "", "")
    pieces = cut(two, _WORDS)
    length = len(inner)
    first, second = pieces[1 : 1 + length], pieces[2 + length : 2 + 2 * length]
    around = (str(pieces[0]), str(pieces[-1]))
    kinds = [_shape(p) for p in (list(inner), first, second)]
    if len(pieces) != 3 + 2 * length or kinds[1:] != kinds[:1] * 2 or around != (before, behind):
        notes.miss("/args/separator", "two arguments are written in another way than one")
        return None
    gap = str(pieces[1 + length])

    def rank(joint: Joint) -> tuple[bool, bool, int]:
        head, tail = len(joint.head), len(joint.tail)
        alone = before[: len(before) - head] + behind[tail:]
        return joint.separator.isspace(), alone != bare, ugliness(joint)

    return min(joints(before, gap, behind), key=rank)


def is_sorted(probe: Probe) -> bool:
    """Whether keys stand in alphabetical order, not as given."""
    text = probe.text(dict(zip(KEYS, VALUES, strict=True)))
    return text is not None and -1 < text.find(KEYS[1]) < text.find(KEYS[0])


def _shape(pieces: list[Piece]) -> list[str]:
    return [p if isinstance(p, str) else "\0" + p.kind for p in pieces]


def _container(bare: str, before: str, behind: str) -> tuple[str, str, str]:
    """(opener, closer, what stands in place of all): where `bare` leaves what is around it."""
    start = common_prefix(bare, before)
    end = common_suffix(bare[len(start) :], behind)
    return (
        before[len(start) :],
        behind[: len(behind) - len(end)],
        bare[len(start) : len(bare) - len(end)],
    )
