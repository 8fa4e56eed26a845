"""Grammar -> Grammar. `Regular` spelled out in right-linear rules, for targets without machines.

A rule stands for a state and the counts that are still needed and allowed; where bounds can no
longer be broken the rule is shared by all counts, and a state that only loops is a counted repeat
of its label. Where a long bound would need very many rules, the count is taken in blocks: "fewer
than a block and then the end, or a full block to one of these states and on from there".
"""

from __future__ import annotations

from itertools import chain
from math import isqrt
from typing import Literal as OneOf
from typing import TypeAlias

from ..errors import GrammarError, TargetError
from ..findings import RELAX_HINT
from ..grammar import EMPTY, Chars, Expr, Grammar, Literal, Regular, Repeat, RuleRef
from .factor import factor
from .linear import Linear, Shape, hole
from .regular_blocks import Blocks
from .regular_counts import Counts
from .regular_edges import Edges, edges_of, node_count
from .rewrite import RuleMaker, flatten, rewrite_grammar

PRODUCT_RULES = 40_000
"""Rules that one regular text may take."""
PLAIN_RULES = 400
"""Rules up to which a count is spelled out step by step without looking for something shorter."""
OPTION, RULE = 25, 65
"""Characters that an option among blocks and a rule of a step take when printed, measured."""
LOOP_ENTRIES = 8
"""Different counts at which a state that only loops is still written as a counted repeat."""


Place: TypeAlias = "tuple[Kind, int, int, int | None]"
"""What is left to be said, a rule each: a kind, a state and two numbers.

``("ending", state, low, high)``: from `state` to acceptance with `low` to `high` more counts
(None: no bound).
``("blocked", state, 0, high)``: the same with at most `high` more counts, taken in blocks.
``("short", state, left, None)``: from `state` to acceptance in less than `left` more counts, or out
of the core by then.
``("full", state, left, goal)``: from `state` by exactly `left` more counts to `goal`, ending with a
counted character.

Places are plain tuples, since there are tens of thousands of them in one text.
"""
Kind: TypeAlias = OneOf["ending", "blocked", "short", "full"]
Step: TypeAlias = "tuple[Expr | Place, ...]"


def expand_regular(grammar: Grammar) -> Grammar:
    """The same language without `Regular`.

    Raises :class:`TargetError` (``unsupported-feature``: counting) above PRODUCT_RULES, and
    :class:`GrammarError` (``unproductive-rule``) where no text of the machine is within the bounds.
    """
    expander = RegularExpander()
    return rewrite_grammar(grammar, expander.node)


class RegularExpander:
    """Expands regular nodes; equal machine and bounds give the same rules, and what is left to be
    said of one machine is said once, whatever the bounds it began with.

    ``linear`` has the rules of all expansions by name, in shapes; ``empty`` says of each rule that
    stands for a whole node whether it can match the empty text.
    """

    def __init__(self) -> None:
        self.linear: dict[str, Linear] = {}
        self.empty: dict[str, bool] = {}
        self._edges: dict[int, tuple[Regular, Edges, Counts, dict[Place, str]]] = {}
        self._known: dict[tuple[int, int, int | None], RuleRef] = {}

    def node(self, expr: Expr, maker: RuleMaker) -> Expr:
        """One node, its children done."""
        if not isinstance(expr, Regular):
            return expr
        if expr.machine.known is not None:
            raise TargetError.at(
                "unsupported-feature",
                f"multiples: {expr.what} takes too many rules",
                expr.origin,
                "give bounds with few multiples between them, or a factor of few primes but 2 and "
                f"5; {RELAX_HINT}",
            )
        key = (id(expr.machine), expr.min, expr.max)
        if key not in self._known:
            if key[0] not in self._edges:
                edges = edges_of(expr.machine)
                # The node is kept, so that the machine's identity stays its own.
                self._edges[key[0]] = (expr, edges, Counts(edges), {})
            _, edges, counts, said = self._edges[key[0]]
            rule = _Expansion(expr, edges, counts, said, maker, self.linear).expand()
            self.empty[rule.name] = expr.min == 0 and expr.machine.may_be_empty
            self._known[key] = rule
        return self._known[key]


class _TooMany(Exception):
    """The rules being collected are more than were allowed."""


class _Expansion:
    """One regular node on its way into rules."""

    def __init__(
        self,
        node: Regular,
        edges: Edges,
        counts: Counts,
        said: dict[Place, str],
        maker: RuleMaker,
        linear: dict[str, Linear],
    ) -> None:
        self.node = node
        self.edges = edges
        self.counts = counts
        self.said = said
        self.maker = maker
        self.linear = linear
        self.blocks = Blocks(edges, counts)
        self.core = self.blocks.core
        self.exits = self.blocks.exits
        self.plain_loops = {q for q in counts.states if edges.is_loop(q)}
        self.loops = set(self.plain_loops)
        self.longest_exit = max((counts.longest[q] or 0 for q in self.exits), default=0)
        self.block = 0
        self._units: dict[int, Expr] = {}
        self._labels: dict[int, Expr] = {}
        self._shapes: dict[tuple[int, ...], Shape] = {}

    def expand(self) -> RuleRef:
        node = self.node
        if not self.counts.feasible(self.edges.start, node.min, node.max):
            bound = f"{node.min}..{'' if node.max is None else node.max}"
            raise GrammarError.at(
                "unproductive-rule", f"{node.what}: no text has {bound} characters", node.origin
            )
        start = self.ending(self.edges.start, node.min, node.max)
        try:
            return self.build(start, self.collect(start, PLAIN_RULES))
        except _TooMany:
            pass
        if node.max is not None and self._blocks_pay():
            self.block = self._block_size()
            start = self.ending(self.edges.start, node.min, node.max)
        try:
            return self.build(start, self.collect(start, PRODUCT_RULES))
        except _TooMany:
            raise TargetError.at(
                "unsupported-feature",
                f"counting: {node.what} of {node.min} to {node.max} characters needs more than "
                f"{PRODUCT_RULES} rules",
                node.origin,
                "give a smaller maxLength or a simpler pattern",
            ) from None

    def _blocks_pay(self) -> bool:
        """Whether blocks are expected to take less than half the text of counting step by step."""
        assert self.node.max is not None
        span, core = self.node.max - self.node.min, len(self.core)
        block = self._block_size()
        heads = len({self.blocks.back(state, block - 1)[0] for state in self.core})
        blocked = OPTION * core * (core + 1) * (span // block) + RULE * core * (heads + 1) * block
        return 2 * blocked < RULE * span * core

    def _block_size(self) -> int:
        """The size that balances the rules of a block with those that choose among blocks."""
        assert self.node.max is not None
        core = len(self.core)
        heads = len({self.blocks.back(state, core)[0] for state in self.core})
        span = self.node.max - self.node.min
        return max(2, isqrt(OPTION * span * (core + 1) // (RULE * (heads + 1))))

    def collect(self, start: Place, limit: int) -> dict[Place, list[Step] | None]:
        """Every place that `start` leads to, breadth first, with its steps; None: a repeat."""
        while True:
            said = self.shared()
            if start in said:
                return {}
            places: dict[Place, list[Step] | None] = {start: None}
            queue: list[Place] = [start]
            entries: dict[int, int] = {}
            for place in queue:
                if self.repeats(place):
                    if place[0] == "ending":
                        entries[place[1]] = entries.get(place[1], 0) + 1
                    continue
                steps = places[place] = self.steps(place)
                for item in chain.from_iterable(steps):
                    if isinstance(item, tuple) and item not in places and item not in said:
                        places[item] = None
                        queue.append(item)
                if len(places) > limit:
                    raise _TooMany
            often = {q for q, times in entries.items() if times > LOOP_ENTRIES}
            if not often:
                return places
            # Counted repeats of different lengths share nothing; a chain does.
            self.loops -= often

    def build(self, start: Place, places: dict[Place, list[Step] | None]) -> RuleRef:
        """Rules for all places; the start's is returned."""
        said = self.shared()
        if start in said:
            return RuleRef(said[start])
        names = {place: self.maker.fresh() for place in places if place != start}
        if any(start in step for steps in places.values() if steps for step in steps):
            names[start] = self.maker.fresh()
        said.update(names)
        for place, name in names.items():
            self.define(name, self.rule(place, places[place], said))
        if start in names:
            return RuleRef(names[start])
        first = self.rule(start, places[start], said)
        if isinstance(first.shape.expr, RuleRef):
            # Nothing but another rule.
            return RuleRef(first.references()[0])
        said[start] = self.maker.fresh()
        return self.define(said[start], first)

    def shared(self) -> dict[Place, str]:
        """The rules of the machine that stand for places, where places mean the same for all."""
        plain = not self.block and self.loops == self.plain_loops
        return self.said if plain else {}

    def define(self, name: str, rule: Linear) -> RuleRef:
        self.linear[name] = rule
        self.maker.finished[name] = None
        return self.maker.made.define(name, rule.expr)

    def rule(self, place: Place, steps: list[Step] | None, names: dict[Place, str]) -> Linear:
        """The rule of one place: its shape, known or new, and what stands in the holes."""
        if steps is None:
            return Linear(Shape(self.repeat(place)), ())
        holes: dict[Place, int] = {}
        # Two steps of one key differ in nothing but what the holes lead to.
        key: list[int] = []
        for step in steps:
            for item in step:
                if not isinstance(item, tuple):
                    key.append(id(item))
                elif item == place:
                    key.append(-1)
                else:
                    key.append(holes.setdefault(item, len(holes)))
            key.append(-2)
        shape = self._shapes.get(known := tuple(key))
        if shape is None:
            shape = self._shapes[known] = Shape(self.body(place, steps, holes))
        return Linear(shape, tuple([names[item] for item in holes]))

    def body(self, place: Place, steps: list[Step], holes: dict[Place, int]) -> Expr:
        loops: list[Expr] = []
        options: list[Expr] = []
        for step in steps:
            items = tuple(
                hole(holes[item]) if isinstance(item, tuple) else self.label(item)
                for item in step
                if item != place
            )
            (loops if step[-1:] == (place,) else options).append(flatten(items))
        exits = factor(tuple(options)) if options else EMPTY
        return flatten((Repeat(factor(tuple(loops)), 0, None), exits)) if loops else exits

    def ending(self, state: int, low: int, high: int | None) -> Place:
        """The place for these bounds, with bounds that hold anyway left out."""
        longest = self.counts.longest[state]
        if high is not None and longest is not None and longest <= high:
            high = None
        if self.counts.shortest[state] >= low:
            # Blocks of all states must begin at the same count: the core keeps its bound.
            low = low if self.block and longest is None else 0
        if self.block and low == 0 and longest is None and high is not None:
            if state not in self.loops and high >= self.block + self.longest_exit:
                return "blocked", state, 0, high
        return "ending", state, low, high

    def repeats(self, place: Place) -> bool:
        """Whether a place is a counted repeat of a label: at a state that only loops."""
        kind, state, _, high = place
        if kind == "blocked" or state not in self.plain_loops:
            return False
        return kind != "ending" or high is None or state in self.loops

    def repeat(self, place: Place) -> Expr:
        """The repeat that such a place is."""
        kind, state, low, high = place
        if kind == "short":
            low, high = 0, low - 1
        elif kind == "full":
            high = low
        return Repeat(self.unit(state), low, high)

    def steps(self, place: Place) -> list[Step]:
        kind, state, low, high = place
        if kind == "ending":
            return self._ending_steps(state, low, high)
        if kind == "short":
            return self._short_steps(state, low)
        assert high is not None
        if kind == "full":
            return self._full_steps(state, low, high)
        return self._blocked_steps(state, high)

    def to_ending(self, label: Expr, target: int, low: int, high: int | None) -> Step:
        if target == self.edges.final:
            return (label,)
        return label, self.ending(target, low, high)

    def _ending_steps(self, state: int, low: int, high: int | None) -> list[Step]:
        steps: list[Step] = []
        for label, target, count in self.edges.out[state]:
            after = None if high is None else high - count
            needed = low - count if low > count else 0
            if after is not None and after < 0 or not self.counts.feasible(target, needed, after):
                continue
            steps.append(self.to_ending(label, target, needed, after))
        return steps

    def _blocked_steps(self, state: int, high: int) -> list[Step]:
        steps: list[Step] = []
        if self.blocks.short_feasible(state, self.block):
            steps.append((("short", state, self.block, None),))
        rest = high - self.block
        for goal in self.blocks.goals(state, self.block):
            if self.counts.feasible(goal, 0, rest):
                before, labels = self.blocks.back(goal, self.block - 1)
                full: Place = ("full", state, self.block - len(labels), before)
                steps.append((full, *labels, self.ending(goal, 0, rest)))
        return steps

    def _short_steps(self, state: int, left: int) -> list[Step]:
        steps: list[Step] = []
        for label, target, count in self.edges.out[state]:
            if target in self.exits:
                steps.append(self.to_ending(label, target, 0, None))
            elif self.blocks.short_feasible(target, left - count):
                steps.append((label, ("short", target, left - count, None)))
        return steps

    def _full_steps(self, state: int, left: int, goal: int) -> list[Step]:
        steps: list[Step] = []
        for label, target, count in self.edges.out[state]:
            if left == 1 and count:
                if target == goal:
                    steps.append((label,))
            elif target not in self.exits and goal in self.blocks.goals(target, left - count):
                steps.append((label, ("full", target, left - count, goal)))
        return steps

    def unit(self, state: int) -> Expr:
        """One turn of a state that only loops."""
        if state not in self._units:
            edges = self.edges.out[state]
            self._units[state] = factor(
                tuple(self.label(label) for label, target, _ in edges if target == state)
            )
        return self._units[state]

    def label(self, label: Expr) -> Expr:
        """A label as it is said in a rule: long ones by name."""
        if id(label) not in self._labels:
            long = len(label.ranges) > 6 if isinstance(label, Chars) else node_count(label, 6) > 6
            plain = not long or isinstance(label, Literal)
            self._labels[id(label)] = label if plain else self.maker.define(label)
        return self._labels[id(label)]
