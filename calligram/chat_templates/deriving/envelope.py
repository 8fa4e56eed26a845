"""What stands around the arguments: one call, several calls, and their ids and numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from .arguments import Arguments
from .notes import Notes
from .probe import IDS, KEYS, NAMES, VALUES, Probe, call
from .texts import Joint, Piece, Slot, cut, joints, ugliness

_DIGITS: Final = re.compile(r"\d+")
_ARGUMENTS: Final = {KEYS[0]: VALUES[0]}


@dataclass(slots=True)
class Envelope:
    """The calls of a turn.

    Attributes:
        before: of a turn with one call, up to the call: what opens the section, and what stands
            before it.
        call: the template of one call.
        behind: from the call on: what closes the section, and the turn's end.
        separator: between calls.
        most: 1 if a turn cannot hold two calls.
        call_id: the spec's `call_id`, empty if calls have none.
        alone: as `behind` where a turn with one call is closed in another way, else None.
    """

    before: str
    call: str
    behind: str
    separator: str = ""
    most: int | None = None
    call_id: dict[str, Any] = field(default_factory=dict)
    alone: str | None = None


def envelope(probe: Probe, arguments: Arguments, notes: Notes) -> Envelope | None:
    """How calls are written around their arguments, None if that cannot be made out."""
    one = _pieces(probe, arguments, 1)
    if one is None:
        notes.miss(
            "/call", "the arguments stand inside the call in more than one place, or in none"
        )
        return None
    two, three = _pieces(probe, arguments, 2), _pieces(probe, arguments, 3)
    slots = _slots(one)
    most = None
    if two is None or not _repeats(two, slots, 2):
        most = 1
        shown = _shown(probe)
        if shown == 2:
            notes.miss("/calls", "two calls are written in another way than one; one is taken")
        else:
            said = probe.errors[-1] if shown == 0 and probe.errors else "only one of two is shown"
            notes.say("/calls/max", f"a turn holds one call: {said}")
        result = _alone(one)
    else:
        if three is None or not _repeats(three, slots, 3):
            three = None
            notes.miss("/calls/max", "three calls are written in another way than two")
        result = _several(one, two, three, notes)
    result.most = most
    _ids(probe, result, slots, notes)
    _quote_name(result)
    notes.say("/call", "one call, its name and arguments taken out")
    return result


def _pieces(probe: Probe, arguments: Arguments, count: int) -> list[Piece] | None:
    """The turn with so many calls, cut at names, ids and arguments."""
    turn = probe.turn([call(n, _ARGUMENTS) for n in range(count)])
    if turn is None:
        return None
    words = {arguments.region: Slot("args")}
    for number in range(count):
        words[NAMES[number]] = Slot("name", number)
        words[IDS[number]] = Slot("id", number)
    pieces = cut(turn.text, words)
    kinds = [p.kind for p in pieces if isinstance(p, Slot)]
    return pieces if kinds.count("args") == count and "name" in kinds else None


def _slots(pieces: list[Piece]) -> list[str]:
    return [p.kind for p in pieces if isinstance(p, Slot)]


def _repeats(pieces: list[Piece], slots: list[str], count: int) -> bool:
    """Whether these are so many calls, each with the same slots in the same order."""
    found = [p for p in pieces if isinstance(p, Slot)]
    numbers = [p.number for p in found if p.kind != "args"]
    return [p.kind for p in found] == slots * count and numbers == sorted(numbers)


def _shown(probe: Probe) -> int:
    turn = probe.turn([call(n, _ARGUMENTS) for n in range(2)])
    return sum(name in turn.text for name in NAMES[:2]) if turn is not None else 0


def _alone(one: list[Piece]) -> Envelope:
    """One call: all literals belong to it, as nothing tells what stands around several."""
    return Envelope("", _joined(one[:-1]), str(one[-1]))


def _joined(pieces: list[Piece]) -> str:
    return "".join(p if isinstance(p, str) else f"{{{p.kind}}}" for p in pieces)


def _several(
    one: list[Piece], two: list[Piece], three: list[Piece] | None, notes: Notes
) -> Envelope:
    width = len(one) - 2  # From a call's first slot to its last.
    inners = [one[1:-1], two[1 : 1 + width], two[2 + width : -1]]
    gaps = [str(two[1 + width])]
    if three is not None:
        inners.append(three[3 + 2 * width : -1])
        gaps = [str(three[1 + width]), str(three[2 + 2 * width])]
    before, behind = str(two[0]), str(two[-1])
    inner, base = _numbered(inners)
    gap = gaps[0]
    if base is None and three is not None:
        before, gap, behind, base = _numbered_gap(before, gaps, behind, str(three[-1]))
    joint = _joint(before, gap, behind)
    differs = one[-1] != two[-1] and "{index}" not in behind
    if differs:
        notes.quirk(
            "/section/close", "one call is closed in another way than two, which is what is taken"
        )
    result = Envelope(
        before[: len(before) - len(joint.head)],
        joint.head + _joined(inner) + joint.tail,
        behind[len(joint.tail) :],
        joint.separator,
    )
    if differs and str(one[-1]).startswith(joint.tail):
        result.alone = str(one[-1])[len(joint.tail) :]
    if base is not None:
        result.call_id = {"kind": "counter", "base": base}
        notes.say("/call_id", f"calls are numbered from {base}")
    return result


def _joint(before: str, gap: str, behind: str) -> Joint:
    return min(joints(before, gap, behind), key=ugliness)


def _numbered(inners: list[list[Piece]]) -> tuple[list[Piece], int | None]:
    """The call with ``{index}`` in place of a number that counts: of calls 1, 1, 2 (and 3)."""
    made: list[Piece] = []
    base: int | None = None
    for row in zip(*inners, strict=True):
        texts = [p for p in row if isinstance(p, str)]
        if len(texts) < len(row):
            made.append(row[0])
            continue
        text = texts[0]
        for runs in _aligned(texts):
            numbers = [int(run[0]) for run in runs]
            first = numbers[0]
            if (
                numbers[1] == first
                and [n - first for n in numbers[2:]] == [1, 2][: len(numbers) - 2]
            ):
                text = text[: runs[0].start()] + "{index}" + text[runs[0].end() :]
                base = first
                break
        made.append(text)
    return made, base


def _aligned(texts: list[str]) -> list[tuple[re.Match[str], ...]]:
    """The runs of digits that stand in the same places of all texts, the last first."""
    found = [list(_DIGITS.finditer(text)) for text in texts]
    if len({len(runs) for runs in found}) != 1:
        return []
    if len({_DIGITS.sub("0", text) for text in texts}) != 1:
        return []
    rows = [row for row in zip(*found, strict=True) if all(len(run[0]) < 9 for run in row)]
    return rows[::-1]


def _numbered_gap(
    before: str, gaps: list[str], behind: str, last: str
) -> tuple[str, str, str, int | None]:
    """The same for a number between the calls, which opens the later or closes the earlier one.

    `last` stands behind the third call, as `behind` does behind the second one.
    """
    for first, second in _aligned(gaps):
        number = int(first[0])
        if int(second[0]) != number + 1:
            continue
        rest, start = gaps[0][first.end() :], gaps[0][: first.start()]
        marked = start + "{index}" + rest
        opening = f"{number - 1}{rest}"
        if before.endswith(opening):
            kept = before[: len(before) - len(opening)]
            return kept + "{index}" + rest, marked, behind, number - 1
        closing = f"{start}{number + 2}"
        if last.startswith(closing):
            return before, marked, start + "{index}" + last[len(closing) :], number
    return before, gaps[0], behind, None


def _ids(probe: Probe, result: Envelope, slots: list[str], notes: Notes) -> None:
    if "id" in slots:
        other = {**call(0, _ARGUMENTS), "id": "call_Qd-0123456789abc"}
        turn = probe.turn([other])
        if turn is None:
            result.call_id = {"kind": "pattern", "pattern": "^[A-Za-z0-9]{9}$"}
            notes.say("/call_id", f"each call has an id; of another form: {probe.errors[-1]}")
        else:
            result.call_id = {"kind": "pattern", "pattern": "^[A-Za-z0-9_-]{1,64}$"}
            notes.say("/call_id", "each call has an id of any form")
    elif result.call_id:
        text = probe.second_turn()
        head, found, rest = result.call.partition("{index}")
        number = result.call_id["base"]
        before = head.rpartition("}")[2] if "}" in head else head
        after = rest.partition("{")[0]
        if not found or text is None:
            notes.miss("/call_id/scope", "a second turn with calls is not shown")
        elif f"{before[-8:]}{number + 1}{after[:8]}" in text:
            result.call_id["scope"] = "conversation"
            notes.say("/call_id/scope", "the number goes on in the next turn")
        else:
            notes.say("/call_id/scope", "the number starts anew in the next turn")


def _quote_name(result: Envelope) -> None:
    """A name between quotes inside braces is a JSON string."""
    head, name, rest = result.call.partition("{name}")
    whole = result.before + head
    if name and head.endswith('"') and rest.startswith('"') and "{" in whole.replace("{index}", ""):
        result.call = head[:-1] + "{name:json}" + rest[1:]
