"""Subset construction for automata with assertions: look-around and anchors anywhere, exactly.

A thread is a state and a set of obligations. Passing a lookahead adds an obligation: its body,
run as an automaton of its own from here on, must (or must not) accept some beginning of what
follows. Lookbehinds are run from the start of the text beside everything else, so that at each
position it is known which hold; one with a lookahead inside holds under obligations. All of it is
finite, so the result is an ordinary automaton; what explodes runs into the limit on work.
"""

from __future__ import annotations

from typing import TypeAlias

from .nfa import DONE, END, Nfa
from .table import MAX_STATES, Row, Table, TooLarge

# Obligation: (whether the configuration must come to accept, configuration). Configuration: set of
# threads. Thread: (state, set of obligations). Recursive, and mypy cannot say so, hence `object`.
Obligation: TypeAlias = tuple[bool, frozenset[tuple[int, frozenset[object]]]]
Obligations: TypeAlias = frozenset[object]
Thread: TypeAlias = tuple[int, Obligations]
Configuration: TypeAlias = frozenset[Thread]
Behinds: TypeAlias = tuple[Configuration, ...]

_NONE: Obligations = frozenset()
_ACCEPTED: Configuration = frozenset([(DONE, _NONE)])


def determinise(machine: Nfa, entry: int, max_work: int) -> Table:
    """The automaton of the texts on which `entry` leads to acceptance.

    Raises:
        TooLarge: more than MAX_STATES states, or more than `max_work` steps of threads.
    """
    return _Construction(machine, max_work).run(entry)


class _Construction:
    def __init__(self, machine: Nfa, max_work: int) -> None:
        self.machine = machine
        self.alphabet, reads = machine.alphabet()
        self.reads = [frozenset(classes) for classes in reads]
        self.work = max_work

    def run(self, entry: int) -> Table:
        behinds = self._behinds_at_start()
        start = (self._normal(self._enter(entry, _NONE, behinds)), behinds)
        numbers = {start: 0}
        states = [start]
        rows: list[Row] = []
        for configuration, behinds in states:
            row: Row = []
            for c in range(self.alphabet.size):
                behinds_after = self._step_behinds(behinds, c)
                after = self._step(configuration, c, behinds_after)
                if not after:
                    row.append(-1)
                    continue
                if after == _ACCEPTED:
                    behinds_after = ()  # Nothing asks any more.
                number = numbers.setdefault((after, behinds_after), len(states))
                if number == len(states):
                    states.append((after, behinds_after))
                    if number >= MAX_STATES:
                        raise TooLarge(f"more than {MAX_STATES} states")
                row.append(number)
            rows.append(row)
        accepting = frozenset(i for i, (threads, _) in enumerate(states) if self._ends(threads))
        return Table(self.alphabet, rows, accepting)

    def _behinds_at_start(self) -> Behinds:
        known: list[Configuration] = []
        for _, entry in self.machine.behinds:
            known.append(frozenset(self._enter(entry, _NONE, tuple(known))))
        return tuple(known)

    def _step_behinds(self, behinds: Behinds, c: int) -> Behinds:
        # Inner lookbehinds come first, so an outer one finds their state after this character.
        known: list[Configuration] = []
        for configuration in behinds:
            known.append(frozenset(self._moved(configuration, c, tuple(known))))
        return tuple(known)

    def _step(self, configuration: Configuration, c: int, behinds: Behinds) -> Configuration:
        return self._normal(self._moved(configuration, c, behinds))

    def _moved(self, configuration: Configuration, c: int, behinds: Behinds) -> list[Thread]:
        """The threads after a character of class `c`; `behinds` are those after it, too."""
        threads: list[Thread] = []
        for state, obligations in configuration:
            self.work -= 1
            if state != DONE and c not in self.reads[state]:
                continue
            kept = self._step_obligations(obligations, c, behinds)
            if kept is None:
                continue
            if state == DONE:
                threads.append((DONE, kept))
            else:
                threads.extend(self._enter(self.machine.targets[state], kept, behinds))
        if self.work < 0:
            raise TooLarge("too many steps of work")
        return threads

    def _step_obligations(
        self, obligations: Obligations, c: int, behinds: Behinds
    ) -> Obligations | None:
        """What is still owed after a character; None if an obligation is broken."""
        kept: list[object] = []
        for obligation in obligations:
            assert isinstance(obligation, tuple)
            after = _settle(obligation[0], self._step(obligation[1], c, behinds))
            if after is False:
                return None
            if after is not True:
                kept.append(after)
        return frozenset(kept)

    def _enter(self, state: int, obligations: Obligations, behinds: Behinds) -> list[Thread]:
        """The threads of a state that has just been reached at this position."""
        threads: list[Thread] = []
        for target, assertions in self.machine.closure(state):
            self.work -= 1
            owed: set[object] | None = set(obligations)
            for number in sorted(assertions):
                outcome = self._assert(number, behinds)
                if outcome is False:
                    owed = None
                    break
                if outcome is not True and owed is not None:
                    owed.add(outcome)
            if owed is not None:
                threads.append((target, frozenset(owed)))
        return threads

    def _assert(self, number: int, behinds: Behinds) -> Obligation | bool:
        """Whether an assertion holds here, or what has to come for it to hold."""
        assertion = self.machine.assertions[number]
        if assertion.behind is None:
            threads = self._enter(assertion.entry, _NONE, behinds)
        else:
            accept = self.machine.behinds[assertion.behind][0]
            threads = [(DONE, owed) for q, owed in behinds[assertion.behind] if q == accept]
        return _settle(not assertion.negative, self._normal(threads))

    def _normal(self, threads: list[Thread]) -> Configuration:
        """The threads without those that owe more than another one in the same state."""
        if (DONE, _NONE) in threads:
            return _ACCEPTED
        distinct = frozenset(threads)
        by_state: dict[int, list[Obligations]] = {}
        for state, owed in distinct:
            by_state.setdefault(state, []).append(owed)
        if len(by_state) == len(distinct):
            return distinct
        self.work -= sum(len(several) ** 2 for several in by_state.values())
        return frozenset(
            (state, owed)
            for state, several in by_state.items()
            for owed in several
            if not any(other < owed for other in several)
        )

    def _ends(self, configuration: Configuration) -> bool:
        """Whether the configuration accepts if the text ends here."""
        for state, obligations in configuration:
            if state in (DONE, END) and all(self._kept_at_end(o) for o in obligations):
                return True
        return False

    def _kept_at_end(self, obligation: object) -> bool:
        assert isinstance(obligation, tuple)
        must, configuration = obligation
        return self._ends(configuration) is must


def _settle(must: bool, configuration: Configuration) -> Obligation | bool:
    """True: holds whatever follows; False: cannot hold; else the obligation itself."""
    if configuration == _ACCEPTED:
        return must
    if not configuration:
        return not must
    return must, configuration
