"""Goals -> IR values: the reachable goals as a graph, its dead ends removed, recursion named."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..conditions import Slot, can_meet
from ..errors import LimitExceeded
from ..origin import Origin, Problem
from ..regular.language import Language
from .admits import admits
from .beyond import TooMany, expand_beyond
from .clauses import settle
from .expand import expand_array, too_few
from .few import enough_distinct
from .forms import (
    NOWHERE,
    Alternative,
    Arrays,
    Form,
    Goal,
    KeyClass,
    Member,
    Objects,
    Reason,
    Strings,
    Track,
    Values,
)
from .json_values import is_container
from .keywords import NO_MORE_KEYS
from .lookup import open_names
from .meet_containers import objects
from .track import cut

if TYPE_CHECKING:
    from .reading import Reader


@dataclass(slots=True, eq=False)
class Node:
    """A reachable goal: its alternatives as they will be said, and whether any value exists."""

    goal: Goal
    origin: Origin
    alternatives: list[Alternative] = field(default_factory=list)
    why: list[Reason] = field(default_factory=list)
    alive: bool = False


def key_of(goal: Goal) -> Hashable:
    """What identifies a goal: the order of its atoms does not matter."""
    return goal[0] if len(goal) == 1 else frozenset(goal)


class Graph:
    """Every goal that the root reaches."""

    def __init__(self, reader: Reader, root: Goal) -> None:
        self.reader = reader
        self.root = root
        self.nodes: dict[Hashable, Node] = {}
        self._explore()
        self._find_alive()

    def node(self, goal: Goal) -> Node:
        """The node of a goal that has been reached."""
        return self.nodes[key_of(goal)]

    def alive(self, goal: Goal) -> bool:
        """Whether some value satisfies the goal."""
        return not goal or self.node(goal).alive

    def _explore(self) -> None:
        queue = [self.root]
        limit = self.reader.options.max_nodes
        for goal in queue:
            key = key_of(goal)
            if not goal or key in self.nodes:
                continue
            if len(self.nodes) >= limit:
                raise LimitExceeded.at(
                    "schema-too-large",
                    f"the schema is made of more than {limit} distinct schemas",
                    goal[0].place.origin,
                )
            node = self.nodes[key] = Node(goal, goal[0].place.origin)
            self._fill(node, self.reader.form(goal))
            for x in node.alternatives:
                queue.extend(children(x))

    def _fill(self, node: Node, form: Form) -> None:
        node.why.extend(form.why)
        for x in form.alternatives:
            for result in self._finish(x, node):
                if isinstance(result, Reason):
                    node.why.append(result)
                else:
                    node.alternatives.append(result)

    def _finish(self, x: Alternative, node: Node) -> list[Alternative | Reason]:
        """The alternative as it will be said."""
        reader = self.reader
        for residue in x.residues:
            reader.unsupported(residue.keyword, residue.origin)
        if x.origin is NOWHERE:
            x = replace(x, origin=node.origin)
        match x:
            case Strings():
                if reader.empty(x):
                    return [Reason(_no_text(x), x.origin)]
            case Values():
                return [self._finish_values(x)]
            case Objects():
                return self._finish_object(x)
            case Arrays():
                return list(expand_array(reader, x))
            case _:
                pass
        return [x]

    def _finish_values(self, x: Values) -> Alternative | Reason:
        kept = tuple(
            v
            for v in x.values
            if not is_container(v)
            or all(any(admits(self.reader, y, v) for y in check) for check in x.checks)
        )
        if not kept:
            return Reason("no listed value satisfies the schema beside it", x.origin)
        return x if len(kept) == len(x.values) else replace(x, values=kept, checks=())

    def _finish_object(self, x: Objects) -> list[Alternative | Reason]:
        closed = self._close(x)
        if isinstance(closed, Reason) or not closed.beyond:
            return [closed]
        while True:
            try:
                expanded = expand_beyond(closed, self.reader)
            except TooMany as error:
                clause = error.clause
                self.reader.unsupported(
                    clause.keyword, clause.origin, "beside so many other conditions"
                )
                closed = replace(closed, beyond=tuple(b for b in closed.beyond if b is not clause))
                continue
            # Clauses may bring conditions along that cannot be said.
            for residue in dict.fromkeys(r for y in expanded for r in y.residues):
                if residue not in closed.residues:
                    self.reader.unsupported(residue.keyword, residue.origin)
            return [y if y.conditions else _counted(y) for y in expanded]

    def _close(self, x: Objects) -> Objects | Reason:
        """Close an object that describes its keys, if the options say so; drop empty classes."""
        reader = self.reader
        classes = x.classes
        if reader.options.closed_objects and x.declares and any(c.implicit for c in classes):
            reader.found("narrowed", "additionalProperties", NO_MORE_KEYS, x.origin)
            classes = tuple(c for c in classes if not c.implicit)
            kept = {}
            for name, m in x.members.items():
                if not m.implicit or m.declared or m.goal is None:
                    kept[name] = m
                elif m.required:
                    return Reason(f"required key '{name}' is not declared", x.origin)
            x = replace(x, members=kept, classes=classes)
        if any(c.names is not None for c in classes):
            kept_classes = []
            for c in classes:
                if not _no_names(c.names, x.members):
                    kept_classes.append(c)
            x = replace(x, classes=tuple(kept_classes))
        made = _counted(x)
        return settle(made, reader) if isinstance(made, Objects) and x.beyond else made

    # -- which goals have a value

    def _find_alive(self) -> None:
        """The least fixpoint: a goal is alive if an alternative needs only goals that are."""
        pending = list(reversed(self.nodes.values()))
        while True:
            left = []
            for node in pending:
                node.alive = any(self.live(x) for x in node.alternatives)
                if not node.alive:
                    left.append(node)
            if len(left) == len(pending):
                return
            pending = left

    def live(self, x: Alternative) -> bool:
        """Whether the alternative has a value, given what is known to be alive."""
        match x:
            case Objects():
                return self._live_object(x)
            case Arrays(track=Track() as track):
                return bool(cut(track, self.alive).ends)
            case Arrays():
                items = all(
                    (item := x.at(i)) is not None and self.alive(item.goal)
                    for i in range(min(x.shortest, len(x.prefix) + 1))
                )
                return items and enough_distinct(x, self)
            case _:
                return True

    def _live_object(self, x: Objects) -> bool:
        if x.conditions:
            return self._meets_conditions(x)
        possible = 0
        for m in x.members.values():
            if m.goal is None:
                continue
            if self.alive(m.goal):
                possible += 1
            elif m.required:
                return False
        if x.fewest <= possible:
            return True
        room = 0
        for c in x.classes:
            if self.alive(c.goal):
                names = open_names(c.names, x.members)
                if names is None or not names.dfa.is_finite:
                    return True
                room += len(names.dfa.words(x.fewest))
        return x.fewest <= possible + room

    def _meets_conditions(self, x: Objects) -> bool:
        """Whether members that have values meet the conditions, as many as there must be."""
        slots = []
        for name, m in x.members.items():
            present = self._meets(m)
            if m.required and not present:
                return False
            absent = sum(1 << i for i, c in enumerate(x.conditions) if name in c.absent)
            slots.append(Slot(None if m.required else absent, present))
        opened: list[int] = []
        for c in x.classes:
            if not _no_names(c.names, x.members):
                opened += self._meets(c)
        wanted = (1 << len(x.conditions)) - 1
        return can_meet(slots, opened, wanted, x.fewest, x.most)

    def _meets(self, kind: Member | KeyClass) -> tuple[int, ...]:
        """What each way of writing the key meets, of those that have a value."""
        if kind.goal is None or not self.alive(kind.goal):
            return ()
        alive = (v.meets for v in kind.variants if self.alive(v.goal))
        return (kind.meets, *alive)

    # -- why not

    def explain(self) -> Problem:
        """Why the root has no value: the deepest clash that a required part leads to."""
        reason, path = self.why_dead(self.root)
        hint = "; ".join(path) or None
        return Problem("unsatisfiable", f"{reason.text}: no value can match", reason.origin, hint)

    def why_dead(self, goal: Goal) -> tuple[Reason, list[str]]:
        """Why a goal has no value, and the required parts that lead there."""
        node, seen, path = self.node(goal), set(), []
        while True:
            seen.add(key_of(node.goal))
            step = self._blocking(node)
            if step is None or key_of(step[1]) in seen:
                break
            path.append(step[0])
            node = self.node(step[1])
        endless = Reason("the schema needs itself without end", node.origin)
        if not node.why:
            arrays = [x for x in node.alternatives if isinstance(x, Arrays)]
            node.why += [too_few(x) for x in arrays if x.unique is not None and x.shortest > 1]
            node.why += [
                Reason("no items are as `contains` wants them", x.origin)
                for x in arrays
                if x.track is not None and not cut(x.track, self.alive).ends
            ]
        return (node.why[0] if node.why else endless), path

    def _blocking(self, node: Node) -> tuple[str, Goal] | None:
        """A required part that has no value, where nothing else explains the node."""
        if node.why:
            return None
        for x in node.alternatives:
            if isinstance(x, Objects):
                for name, m in x.members.items():
                    if m.required and m.goal and not self.alive(m.goal):
                        return f"required key '{name}' can have no value", m.goal
            elif isinstance(x, Arrays):
                for i in range(min(x.shortest, len(x.prefix) + 1)):
                    item = x.at(i)
                    if item is not None and item.goal and not self.alive(item.goal):
                        return f"required item {i} can have no value", item.goal
        return None


def _counted(x: Objects) -> Objects | Reason:
    """The object, or why its keys do not go with its counts."""
    return objects(
        dict(x.members), x.classes, x.fewest, x.most, x.declares, x.origin, x.residues, x.beyond
    )


def _no_names(names: Language | None, members: Mapping[str, object]) -> bool:
    """Whether the members leave nothing of a class of keys."""
    # Finitely many members cannot use up infinitely many keys: no automaton is needed to see that.
    if names is None or not names.dfa.is_finite:
        return False
    left = open_names(names, members)
    return left is not None and left.is_empty


def children(x: Alternative) -> list[Goal]:
    """The goals of an alternative's parts, in order."""
    match x:
        case Objects():
            kinds: list[Member | KeyClass] = [*x.members.values(), *x.classes]
            return [g for kind in kinds for g in (kind.goal, *_narrower(kind)) if g]
        case Arrays(track=Track(steps)):
            return [s.goal for row in steps for s in row if s.goal]
        case Arrays():
            prefix = [i.goal for i in x.prefix if i.goal]
            return prefix + ([x.rest.goal] if x.rest is not None and x.rest.goal else [])
        case _:
            return []


def _narrower(kind: Member | KeyClass) -> list[Goal]:
    return [variant.goal for variant in kind.variants]


def _no_text(x: Strings) -> str:
    assert x.language is not None
    lengths = ""
    if x.shortest:
        lengths += f" of at least {x.shortest} characters"
    if x.longest is not None:
        lengths += f"{' and' if lengths else ' of'} at most {x.longest} characters"
    return f"no string{lengths} is {x.language.what}"
