"""Driving the capturing automaton over bytes: histories, commitment, recovery.

One history (a linked list of events) is kept per reading; as soon as all readings share an event it
is handed to the builder. Where a call breaks, its text is given back as content and reading goes
on behind it; nothing is lost and nothing raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ...compiler.automaton.capturing import DEAD, CapturingAutomaton, Step
from ...compiler.errors import LimitExceeded
from ...compiler.origin import Origin, Problem
from .build import Builder
from .frames import Frame

History = tuple["History", tuple[int, ...], int] | None
"""(what was before, events, position of the byte they precede)."""

_WORTH_A_RUN: Final = 16
"""Bytes from which a search for the end of a loop is faster than steps."""

_MOVES: Final = ("content", "call", "name")
"""The captures that change where a reading is."""

_TOO_DEEP = Step(DEAD, ())
"""In place of a step that the automaton's limit forbids."""


class Place(NamedTuple):
    """Where a reading is: since when, in prose or not, in a call whose name is told or not."""

    start: int
    prose: bool
    named: bool


class Run:
    """One text being read.

    Args:
        automaton: the reading grammar from its start.
        text: the bytes read so far, shared with `builder`.
        markers: what begins a call, for texts that are cut off right behind it.
        on_break: told the position where a call or block breaks off, before it is given up, and
            where the call began.
    """

    def __init__(
        self,
        automaton: CapturingAutomaton,
        builder: Builder,
        text: bytearray,
        on_break: Callable[[int, int], None],
        markers: tuple[bytes, ...],
    ) -> None:
        self._on_break = on_break
        self._markers = markers
        self._automaton = automaton
        self.quiet = automaton.quiet
        self.plain, self.known_plain = automaton.plain, automaton.known_plain
        self.prose = automaton.prose
        self._builder = builder
        self._text = text
        self._config = automaton.start
        self._histories: list[History] = [None]
        self._place = Place(0, False, False)
        self._sure: int | None = None
        self.position = 0
        # What broke off, and where the call began.
        self.broken: list[tuple[Problem, int]] = []

    def feed(self, data: bytes) -> None:
        """Read more bytes of well-formed UTF-8 (whole characters at a time)."""
        base = len(self._text)
        self._text += data
        automaton = self._automaton
        quiet = self.quiet
        config, histories = self._config, self._histories
        # Where the last character of several bytes began: it may lead back there.
        before = config
        at, end = 0, len(data)
        while at < end:
            byte = data[at]
            onward = quiet[config].get(byte)
            if onward is not None:
                at += 1
                if byte >= 0xC0:
                    before = config
                elif (onward == config or onward == before) and end - at >= _WORTH_A_RUN:
                    loop = automaton.loop(onward)
                    found = loop.match(data, at) if loop is not None else None
                    at = at if found is None else found.end()
                config = onward
                continue
            try:
                step = automaton.step(config, byte)
            except LimitExceeded:
                step = _TOO_DEEP
            if step.target == DEAD:
                self._config, self._histories, self.position = config, histories, base + at
                at = self._recover(base + at, too_deep=step is _TOO_DEEP) - base
                config, histories = self._config, self._histories
                continue
            if step.moves is not None:
                self._sure = None
                histories = [
                    (histories[m.source], m.events, base + at) if m.events else histories[m.source]
                    for m in step.moves
                ]
                target = step.target
                if step.decides and len(histories) > 1:
                    # Shared first, so that what is left does not depend on how the text is cut.
                    self._histories = histories
                    self._share()
                    kept = self._alike(self._histories, base + at)
                    if len(kept) < len(histories):
                        self._histories = [self._histories[index] for index in kept]
                        self._share()
                        target = automaton.only(target, kept)
                    histories = self._histories
                if len(histories) == 1:
                    if histories[0] is not None:
                        self._commit(histories[0])
                    histories = [None]
                config = target
            else:
                config = step.target
            at += 1
        self._config, self._histories, self.position = config, histories, base + at

    @property
    def config(self) -> int:
        """The configuration behind what has been read."""
        return self._config

    def skip(self, config: int) -> None:
        """What came since was read by the caller, quietly, and led here."""
        self._config, self.position = config, len(self._text)

    def _alike(self, histories: list[History], at: int) -> tuple[int, ...]:
        """The readings in which the same has happened before their call as in the first.

        Only those that are in a call already, and the first of them is: a block that begins at
        `at` may be read in several ways yet. So may what is in a call: where its arguments end is
        not known.
        """
        slots = self._automaton.core.slots
        keys: list[list[tuple[int, int]]] = []
        for history in histories:
            events = _flat(history)
            while events:
                event, position = events[-1]
                if event > 0 and position < at and slots[event - 1].kind == "call":
                    break
                events.pop()
            keys.append(events)
        first = keys[0]
        return tuple(i for i, key in enumerate(keys) if not first or not key or key == first)

    def _commit(self, history: History) -> None:
        """Hand a history's events to the builder, oldest first."""
        for event, position in _flat(history):
            self._tell(event, position)

    def _recover(self, at: int, *, too_deep: bool) -> int:
        """No reading goes on at `at`: say so, give the text back, go on reading content."""
        start = at
        while start > 0 and self._text[start] & 0xC0 == 0x80:
            start -= 1
        expected: tuple[str, ...] = ("less nesting",)
        if not too_deep:
            expected = self._automaton.expected(self._config)
        self._commit(self._histories[0])
        call = self._builder.call
        # With what opened the calls, and without: lenient reading may go on from either.
        for begins in (self._builder.given_back(start), start if call is None else call.start):
            self._on_break(start, begins)
        call = self._builder.abandon(start)
        begun = start if call is None else call.start
        self.broken.append((self._broken(call, start, expected), begun))
        self._config, self._histories = self._automaton.resume, [None]
        self._sure = None
        self._place = Place(start, False, False)
        return start

    def _broken(self, call: Frame | None, at: int, expected: tuple[str, ...]) -> Problem:
        # One character: more may not have come yet, and the message must not depend on that.
        found = bytes(self._text[at : at + 4]).decode("utf-8", "ignore")[:1]
        wanted = " or ".join(expected[:4]) or "nothing more"
        where = f"the call of '{call.name}'" if call and call.name else "the calls"
        return Problem(
            "broken-call",
            f"{where} break off at byte {at}: expected {wanted}, found {found!r}"
            if not call
            else f"{where} breaks off at byte {at}: expected {wanted}, found {found!r}",
            Origin(tool=call.name if call else None, span=(at, at)),
        )

    def settle(self) -> tuple[int, bool]:
        """Commit what all readings share; -> the position up to which the innermost open capture
        is sure to reach, and whether that is as far as has been read whatever quietly follows."""
        histories = self._histories
        if len(histories) == 1 and histories[0] is None:
            return self.position, True
        if self._sure is None:
            self._sure = self._share()
        return (self.position, True) if self._sure < 0 else (self._sure, False)

    def _share(self) -> int:
        """Commit what all readings share; -> the first position that they disagree about; -1 if
        they do not."""
        if None in self._histories:
            # Nothing is shared with a reading in which nothing has happened.
            return min((_since(h) for h in self._histories if h is not None), default=-1)
        flat = [_flat(h) for h in self._histories]
        first = flat[0]
        shared = min(map(len, flat))
        for other in flat[1:]:
            if first[:shared] != other[:shared]:
                shared = next(n for n in range(shared) if first[n] != other[n])
        if shared:
            for event, position in first[:shared]:
                self._tell(event, position)
            flat = [f[shared:] for f in flat]
            self._histories = [_linked(f) for f in flat]
        return min((f[0][1] for f in flat if f), default=-1)

    def close(self) -> bool:
        """The text has ended. -> whether it may end here.

        A reading in which a call has begun is preferred to one that takes the beginning for
        prose: the text was cut off, and what is known of the call is worth more.
        """
        final = self._automaton.final(self._config)
        if final is not None and (final[0] == 0 or not self._has_begun(final[0])):
            index, events = final
            self._commit(self._histories[index])
            for event in events:
                self._tell(event, self.position)
            return True
        self._commit(self._histories[0])
        self._complete()
        return False

    def _has_begun(self, other: int) -> bool:
        """Has a call begun in the preferred reading, which the reading `other` takes for prose: is
        a call told, or a name, or what arms a call?"""
        slots = self._automaton.core.slots
        mine, theirs = _flat(self._histories[0]), _flat(self._histories[other])
        place, apart = self._place, False
        for index, (event, position) in enumerate(mine):
            place = self._moved(place, event, position)
            apart = apart or index >= len(theirs) or theirs[index] != mine[index]
            if apart and event < 0 and slots[-event - 1].kind == "call":
                return True
        if place.named:
            return True
        return not place.prose and bytes(self._text[place.start :]).lstrip().startswith(
            self._markers
        )

    def _moved(self, place: Place, event: int, position: int) -> Place:
        """Where a reading is after one more event."""
        kind = self._automaton.core.slots[abs(event) - 1].kind
        if kind == "content":
            return Place(position, event > 0, False)
        if kind == "call":
            return Place(place.start if event > 0 else position, False, False)
        if kind == "name" and event < 0:
            return Place(place.start, place.prose, True)
        return place

    def _tell(self, event: int, position: int) -> None:
        """Hand an event to the builder."""
        if self._automaton.core.slots[abs(event) - 1].kind in _MOVES:
            self._place = self._moved(self._place, event, position)
        self._builder.event(event, position)

    def _complete(self) -> None:
        """If the open call is all there, only what stands around the calls is missing: close it."""
        slots = self._automaton.core.slots
        thread = self._automaton.threads(self._config)[0]
        for arc in self._automaton.core.expand(thread).arcs:
            closing: list[int] = []
            for event in arc.events:
                if event >= 0:
                    break
                closing.append(event)
                if slots[-event - 1].kind == "call":
                    for each in closing:
                        self._tell(each, self.position)
                    return


def _since(history: History) -> int:
    """Where the first event of a history is."""
    at = 0
    while history is not None:
        history, _, at = history
    return at


def _flat(history: History) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    while history is not None:
        history, events, position = history
        if len(events) == 1:
            out.append((events[0], position))
        else:
            out += [(event, position) for event in reversed(events)]
    out.reverse()
    return out


def _linked(flat: list[tuple[int, int]]) -> History:
    history: History = None
    for event, position in flat:
        history = (history, (event,), position)
    return history
