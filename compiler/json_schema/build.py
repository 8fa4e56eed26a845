"""The graph of goals -> IR values, bottom up; a goal inside itself becomes a definition."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from ..conditions import kept_bits
from ..ir import (
    AnyValue,
    ArrayValue,
    BooleanValue,
    EnumValue,
    IntegerValue,
    ItemStep,
    Key,
    Meeting,
    NeverValue,
    NullValue,
    NumberValue,
    ObjectValue,
    OpenKeys,
    ReferenceValue,
    SchemaValue,
    StringValue,
    UnionValue,
    Value,
)
from ..origin import Origin
from ..regular.language import Language
from ..regular.multiples import PLAIN_FACTOR, without_two_and_five
from ..regular.numbers import are_few
from .forms import (
    Alternative,
    Arrays,
    Booleans,
    Goal,
    KeyClass,
    MeetingGoal,
    Member,
    Nulls,
    Numbers,
    Objects,
    Strings,
    Track,
    Values,
    trivial,
)
from .lookup import open_names
from .resolve import Graph, Node, children, key_of
from .track import cut, fewest

if TYPE_CHECKING:
    from .reading import Reader

_ANY = AnyValue()
# A key that is declared there is spoken of, not offered.
_IN_TESTS = {"if", "not"}


class Builder:
    """Builds each goal's value once; equal goals share one value."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.reader: Reader = graph.reader
        self._done: dict[Hashable, Value] = {}
        self._names: dict[Hashable, str] = {}
        self._taken: set[str] = set()
        self._definitions: dict[str, Value] = {}
        # Declared keys: those that some alternative has; those that some lacks, with their goal.
        self._given: set[Origin] = set()
        self._lacking: dict[Origin, Goal | None] = {}

    def build(self) -> SchemaValue:
        """The value of the root, and the definitions of goals that lie inside themselves."""
        root = self.graph.root
        if not root:
            return SchemaValue(_ANY, {})
        value = self._walk(self.graph.node(root))
        self._report_lacking()
        return SchemaValue(value, self._definitions)

    def _walk(self, root: Node) -> Value:
        """Post-order without recursion: schemas may nest deeper than Python's stack."""
        stack: list[tuple[Node, list[Goal]]] = [(root, self._parts(root))]
        open_keys = {key_of(root.goal)}
        value: Value = NeverValue(root.origin)
        while stack:
            node, parts = stack[-1]
            key = key_of(node.goal)
            while parts:
                goal = parts.pop()
                part_key = key_of(goal)
                if part_key in open_keys:
                    self._name(self.graph.node(goal))
                elif part_key not in self._done:
                    part = self.graph.node(goal)
                    open_keys.add(part_key)
                    stack.append((part, self._parts(part)))
                    break
            else:
                stack.pop()
                open_keys.discard(key)
                value = self._value(node)
                self._done[key] = value
                name = self._names.get(key)
                if name is not None:
                    self._definitions[name] = value
                    self._done[key] = ReferenceValue(name, node.origin)
        return value

    def _parts(self, node: Node) -> list[Goal]:
        if not node.alive:
            return []
        found = [g for x in node.alternatives if self.graph.live(x) for g in children(x)]
        return [g for g in reversed(found) if self.graph.alive(g)]

    def _name(self, node: Node) -> str:
        """The name of a recursive definition: the last word of its place, numbered if taken."""
        key = key_of(node.goal)
        name = self._names.get(key)
        if name is None:
            pointer = node.goal[0].place.pointer
            base = pointer.rpartition("/")[2].rstrip("#").replace("~1", "/").replace("~0", "~")
            base = base or "root"
            name, n = base, 1
            while name in self._taken:
                n += 1
                name = f"{base}-{n}"
            self._taken.add(name)
            self._names[key] = name
        return name

    def _goal_value(self, goal: Goal) -> Value:
        if not goal:
            return _ANY
        key = key_of(goal)
        done = self._done.get(key)
        if done is not None:
            return done
        return ReferenceValue(self._names[key], goal[0].place.origin)

    # -- values

    def _value(self, node: Node) -> Value:
        alternatives = [x for x in node.alternatives if self.graph.live(x)]
        if not alternatives:
            return NeverValue(node.origin)
        if len(alternatives) >= 6:
            kinds = {type(x) for x in alternatives if trivial(x)}
            if len(kinds) == 6:
                return AnyValue(node.origin)
        values = [self._alternative(x) for x in alternatives]
        return values[0] if len(values) == 1 else UnionValue(tuple(values), node.origin)

    def _alternative(self, x: Alternative) -> Value:
        match x:
            case Nulls():
                return NullValue(x.origin)
            case Booleans():
                return BooleanValue(x.origin)
            case Numbers():
                return self._number(x)
            case Strings():
                return string_value(x)
            case Arrays():
                return self._array(x)
            case Objects():
                return self._object(x)
            case Values():
                return EnumValue(x.values, x.origin)

    def _number(self, x: Numbers) -> Value:
        x = self._without_large_factor(x)
        if x.kind == "integer":
            multiple = None if x.multiple is None or x.multiple == 1 else int(x.multiple)
            low, high = _whole(x.low, x.low_open, 1), _whole(x.high, x.high_open, -1)
            factors = tuple(int(factor) for factor in x.avoid)
            return IntegerValue(low, high, multiple, factors, x.origin)
        return NumberValue(x.low, x.high, x.low_open, x.high_open, x.multiple, x.avoid, x.origin)

    def _without_large_factor(self, x: Numbers) -> Numbers:
        """What may be dropped is dropped where not every target can say the multiples."""
        if x.multiple is None or self.reader.options.on_unsupported != "relax":
            return x
        factor = x.multiple
        low, high = _whole(x.low, x.low_open, 1), _whole(x.high, x.high_open, -1)
        if factor != factor.to_integral_value() or are_few(low, high, int(factor)):
            return x
        if without_two_and_five(int(factor)) <= PLAIN_FACTOR:
            return x
        at = x.origin.child("multipleOf")
        self.reader.unsupported("multipleOf", at, "with so large a factor")
        return replace(x, multiple=None)

    def _steps(self, x: Arrays, track: Track) -> Value:
        live = cut(track, self.graph.alive)
        steps = tuple(
            tuple(ItemStep(self._goal_value(s.goal), s.target) for s in row) for row in live.steps
        )
        return ArrayValue((), None, fewest(live), None, x.origin, steps, live.ends)

    def _array(self, x: Arrays) -> Value:
        if x.track is not None:
            return self._steps(x, x.track)
        prefix: list[Value] = []
        rest = x.rest
        for i, item in enumerate(x.prefix):
            if x.longest == i or not self.graph.alive(item.goal):
                rest = None
                break
            prefix.append(self._goal_value(item.goal))
        if rest is not None and not self.graph.alive(rest.goal):
            rest = None
        longest = x.longest
        if longest is not None and longest <= len(prefix):
            rest = None
        items = None if rest is None else self._goal_value(rest.goal)
        if items is None and (longest is None or longest >= len(prefix)):
            longest = len(prefix)
        unique = x.unique is not None
        return ArrayValue(tuple(prefix), items, x.shortest, longest, x.origin, unique=unique)

    def _object(self, x: Objects) -> Value:
        x = self._without_met(x)
        required = sum(m.required for m in x.members.values())
        full = x.most is not None and x.most <= required
        keys: list[Key] = []
        for name, m in x.members.items():
            if m.goal is None or (full and not m.required) or not self.graph.alive(m.goal):
                if m.declared and m.origin not in self.reader.forbidden:
                    self._lacking.setdefault(m.origin, m.goal)
                continue
            self._given.add(m.origin)
            value = self._goal_value(m.goal)
            keys.append(Key(name, value, m.required, m.origin, m.meets, self._meetings(m)))
        opened: list[OpenKeys] = []
        for c in () if full else x.classes:
            if self.graph.alive(c.goal):
                names = open_names(c.names, x.members)
                language = Language.any() if names is None else names
                value = self._goal_value(c.goal)
                opened.append(OpenKeys(language, value, c.origin, c.meets, self._meetings(c)))
        fewest = x.fewest if x.fewest > required else 0
        if opened and fewest - required >= 2:
            fewest = self._remembered_keys(x, fewest, required)
        most = x.most if x.most is not None and (opened or x.most < len(keys)) else None
        return ObjectValue(tuple(keys), tuple(opened), fewest, most, x.origin, x.conditions)

    def _meetings(self, kind: Member | KeyClass) -> tuple[Meeting, ...]:
        return tuple(
            Meeting(self._goal_value(v.goal), v.meets)
            for v in kind.variants
            if self.graph.alive(v.goal)
        )

    def _without_met(self, x: Objects) -> Objects:
        """The object without conditions that a key meets that can never be there."""
        possible = {
            n for n, m in x.members.items() if m.goal is not None and self.graph.alive(m.goal)
        }
        kept = [i for i, c in enumerate(x.conditions) if possible.issuperset(c.absent)]
        if len(kept) == len(x.conditions):
            return x
        members = {n: replace(m, **_bits_of(m, kept)) for n, m in x.members.items()}
        classes = tuple(replace(c, **_bits_of(c, kept)) for c in x.classes)
        conditions = tuple(x.conditions[i] for i in kept)
        return replace(x, members=members, classes=classes, conditions=conditions)

    def _report_lacking(self) -> None:
        """Say which optional keys no object can have: the schema lets no value stand there."""
        for origin, goal in self._lacking.items():
            words = origin.pointer.split("/")
            if origin in self._given or words[-2:-1] != ["properties"] or _IN_TESTS & {*words}:
                continue
            why = "what stands beside it leaves it no value"
            if goal and not self.graph.alive(goal):
                why = self.graph.why_dead(goal)[0].text
            how = f"no object can have the key: {why}"
            self.reader.found("enforced", "properties", how, origin)

    def _remembered_keys(self, x: Objects, fewest: int, required: int) -> int:
        """How many members there must be where undeclared keys count, so that they must differ.

        What may be dropped is dropped, as not every target can remember keys.
        """
        at = x.origin.child("minProperties")
        if self.reader.options.on_unsupported == "relax":
            self.reader.unsupported("minProperties", at, "where it takes two undeclared keys")
            return required + 1
        how = "undeclared keys have one spelling, and none is written twice"
        self.reader.found("narrowed", "minProperties", how, at)
        return fewest


def _bits_of(kind: Member | KeyClass, kept: list[int]) -> dict[str, Any]:
    """What a key meets of the conditions `kept`."""
    ways = ((v.goal, kept_bits(v.meets, kept)) for v in kind.variants)
    variants = tuple(MeetingGoal(goal, bits) for goal, bits in ways if bits)
    return {"meets": kept_bits(kind.meets, kept), "variants": variants}


def _whole(bound: Decimal | None, is_open: bool, sign: int) -> int | None:
    """The nearest whole number inside a bound; `sign` 1 for a lower bound, -1 for an upper."""
    if bound is None:
        return None
    rounded = int(bound.to_integral_value(ROUND_CEILING if sign > 0 else ROUND_FLOOR))
    return rounded + sign if is_open and rounded == bound else rounded


def schema_value(reader: Reader, root: Goal) -> SchemaValue:
    """The IR of a goal; its problems are collected in the reader."""
    graph = Graph(reader, root)
    if not graph.alive(root):
        reader.problems.append(graph.explain())
    return Builder(graph).build()


def as_objects(value: EnumValue) -> list[Value]:
    """Enumerated objects, each as an object of constants."""
    made: list[Value] = []
    for listed in value.values:
        assert isinstance(listed, dict)
        keys = tuple(
            Key(name, EnumValue((inner,), value.origin), True, value.origin)
            for name, inner in listed.items()
        )
        made.append(ObjectValue(keys, (), 0, None, value.origin))
    return made


def only_objects(value: Value, origin: Origin) -> Value:
    """`value`, whose values are all objects, without enums of them."""
    options = value.options if isinstance(value, UnionValue) else (value,)
    made: list[Value] = []
    for option in options:
        made.extend(as_objects(option) if isinstance(option, EnumValue) else [option])
    return made[0] if len(made) == 1 else UnionValue(tuple(made), origin)


def string_value(x: Strings) -> StringValue:
    """Lengths that a language holds are counted beside its automaton, not inside it."""
    if x.language is None:
        return StringValue(x.shortest, x.longest, None, x.origin)
    language, low, high = x.language.split_length()
    longest = high if x.longest is None else x.longest if high is None else min(high, x.longest)
    return StringValue(max(low, x.shortest), longest, language, x.origin)
