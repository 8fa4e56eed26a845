"""Grammar IR: how it is spelled. Rules over a closed union of expressions, text level.

Lowering -> **this** -> passes -> targets. Terminals speak of Unicode code points; the automaton
core turns them into UTF-8 bytes. Nodes are frozen and valid by construction.

``Capture`` is the anti-drift device: the grammar that enforces is the grammar whose captures the
parser fills. A target that does not read captures treats one as its item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, TypeAlias
from typing import Literal as OneOf

from .machine import ButMachine as ButMachine
from .machine import Known as Known
from .machine import Machine as Machine
from .machine import Row as Row
from .origin import Origin

Ranges = tuple[tuple[int, int], ...]
MAX_CODE_POINT = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text. The empty literal matches the empty text."""

    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A marker that may be one vocabulary token, spelled `text`.

    Text-level targets (GBNF, check, parser) treat it as its text. Token-level targets: ``require``
    = only as the token where the vocabulary has it, ``prefer`` = the token if the vocabulary has
    it, else its text, ``either`` = both.
    """

    text: str
    match: OneOf["require", "prefer", "either"] = "prefer"


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point of the set: sorted, disjoint, non-adjacent ranges (both ends included),
    without surrogates; not empty."""

    ranges: Ranges

    def __post_init__(self) -> None:
        assert self.ranges, "an empty class matches nothing"
        last = -2
        for low, high in self.ranges:
            assert last + 1 < low <= high <= MAX_CODE_POINT, self.ranges
            assert high < SURROGATES[0] or low > SURROGATES[1], "no surrogates"
            last = high


@dataclass(frozen=True, slots=True)
class Sequence:
    """All items in order; none at all is the empty text."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options (at least one)."""

    options: tuple[Expr, ...]

    def __post_init__(self) -> None:
        assert self.options, "a choice of nothing matches nothing"


@dataclass(frozen=True, slots=True)
class Repeat:
    """`item` `min` to `max` times (None: without end)."""

    item: Expr
    min: int
    max: int | None

    def __post_init__(self) -> None:
        assert 0 <= self.min and (self.max is None or self.min <= self.max), (self.min, self.max)


@dataclass(frozen=True, slots=True)
class RuleRef:
    """The rule of that name."""

    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Regular:
    """A text that `machine` accepts with `min` to `max` (None: no bound) counts on the way.

    Used where the language is known as an automaton: patterns, formats, numeric ranges, raw text
    without its closer. `what` says it in words ("text without </x>", "a date").
    """

    machine: Machine
    min: int = 0
    max: int | None = None
    what: str = "text"
    origin: Origin = Origin()


@dataclass(frozen=True, slots=True)
class Variant:
    """A narrower way of saying a member, and the conditions that it meets, as bits."""

    body: Expr
    meets: int


@dataclass(frozen=True, slots=True)
class Member:
    """A declared key with all of its spelling: key, colon, value. `body` starts with the key.

    `meets`: the conditions that it meets in any case, as bits; by a variant it meets more.
    """

    name: str
    body: Expr
    required: bool
    meets: int = 0
    variants: tuple[Variant, ...] = ()


@dataclass(frozen=True, slots=True)
class Members:
    """The members of one object, `separator` between two.

    ``order`` "schema": `keys` as listed, optional ones may be left out, then members of `open`, up
    to `max_open` (None: no bound) in all. ``order`` "any": keys and open members mixed in every
    order, each key at most once, every required one exactly once. In both the number of all
    members lies within ``min_count..max_count``.

    With `names`, one for each of `open`, an open member is its name and then its `open`: the names
    are remembered, and they are ``"distinct"``, or ``"ascending"`` in the order of their bytes. No
    two of `names` have a text in common; names hold no tokens.

    Each of `conditions` must be met: by a member that meets it, or by the absence of one of the
    keys that it is the bits of. `open_meets` and `open_variants` say what open members meet, for
    each of `open` (empty: nothing).
    """

    keys: tuple[Member, ...]
    separator: Expr
    open: tuple[Expr, ...] = ()
    max_open: int | None = None
    order: OneOf["schema", "any"] = "schema"
    min_count: int = 0
    max_count: int | None = None
    origin: Origin = Origin()
    names: tuple[Expr, ...] = ()
    memory: OneOf["distinct", "ascending"] = "distinct"
    conditions: tuple[int, ...] = ()
    open_meets: tuple[int, ...] = ()
    open_variants: tuple[tuple[Variant, ...], ...] = ()

    def __post_init__(self) -> None:
        assert not self.conditions or self.memory == "distinct" or not self.names
        assert not self.names or len(self.names) == len(self.open), "a name for each open member"


@dataclass(frozen=True, slots=True)
class Distinct:
    """The items of an array, no two of one text, `separator` between two.

    First those of `prefix`, item by item, then any number of `rest` (None: no more); the number of
    all lies within ``min_count..max_count`` (None: no bound). Items hold no tokens.
    """

    prefix: tuple[Expr, ...]
    rest: Expr | None
    separator: Expr
    min_count: int = 0
    max_count: int | None = None
    origin: Origin = Origin()

    def __post_init__(self) -> None:
        most = self.max_count
        assert self.min_count >= 0 and (most is None or self.min_count <= most)
        if self.rest is None:
            assert most is not None and most <= len(self.prefix), "every item has its place"


Decode = OneOf[
    "raw", "bare", "json", "json-inside", "python", "xml", "untyped", "literal", "tree", ""
]


@dataclass(frozen=True, slots=True)
class Slot:
    """What a capture holds.

    kind:
        ``content``, ``reasoning``: text beside the calls.
        ``call``: one call; holds ``name``, perhaps ``id``, and the argument values.
        ``name``, ``id``: text, decoded as `decode` says.
        ``arguments``: the argument container (an object whose members are ``member`` captures);
        with decode "json", one JSON object as text; with decode "tree", typed as a whole by the
        schema (`value`: required keys that are missing may be null).
        ``member``: holds a ``key`` and one value. ``key``: text, decoded; a second one is the same
        key, closed.
        ``object`` (of members), ``array`` (of values): nested containers. In a tree an object with
        decode "untyped" may be an array too, if each of its keys is `value`.
        ``value``: a leaf, decoded as `decode` says.
    decode:
        ``raw`` the text itself; ``bare`` the text without the white space around it; ``json`` a
        JSON text; ``json-inside`` the inside of a JSON string
        in any quotes; ``python`` a Python string literal's inside;
        ``xml`` text with entities; ``untyped`` raw text whose type the schema decides (JSON first,
        else string); ``literal`` stands for `value`.
    """

    kind: OneOf[
        "content",
        "reasoning",
        "call",
        "name",
        "id",
        "arguments",
        "member",
        "key",
        "object",
        "array",
        "value",
    ]
    decode: Decode = ""
    value: bool | str | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """`item`, whose text or inner captures fill `slot`."""

    slot: Slot
    item: Expr


@dataclass(frozen=True, slots=True)
class Cut:
    """Matches the empty text. For the parser: from here on this reading is the only one, a call
    has begun and what goes wrong in it is a broken call, not prose."""


Expr: TypeAlias = (
    Literal
    | Token
    | Chars
    | Sequence
    | Choice
    | Repeat
    | RuleRef
    | Regular
    | Members
    | Distinct
    | Capture
    | Cut
)

EMPTY = Sequence(())


@dataclass(frozen=True, eq=False)
class Rules:
    """Rules by name, built when first asked for, so that nothing unvisited costs anything.

    Names are ``[a-z0-9-]+``, start with a letter, and are deterministic. Threads may share rules:
    one builds at a time.
    """

    _built: dict[str, Expr] = field(default_factory=dict)
    _pending: dict[str, Callable[[], Expr]] = field(default_factory=dict)
    _building: AbstractContextManager[Any] = field(default_factory=RLock, repr=False)

    def define(self, name: str, build: Callable[[], Expr] | Expr) -> RuleRef:
        """Name a rule (once) and return a reference to it."""
        assert name not in self._built and name not in self._pending, name
        if callable(build):
            self._pending[name] = build
        else:
            self._built[name] = build
        return RuleRef(name)

    def __contains__(self, name: str) -> bool:
        return name in self._built or name in self._pending

    def __getitem__(self, name: str) -> Expr:
        expr = self._built.get(name)
        return self._build(name) if expr is None else expr

    def _build(self, name: str) -> Expr:
        with self._building:
            expr = self._built.get(name)
            if expr is None:
                # Still pending while it is built: the name stays taken.
                expr = self._built[name] = self._pending[name]()
                del self._pending[name]
            return expr

    def reachable(self, start: Expr) -> Iterator[tuple[str, Expr]]:
        """Every rule that `start` reaches, breadth first in order of first use."""
        seen: dict[str, None] = {}
        queue = list(references(start))
        for name in queue:
            if name in seen:
                continue
            seen[name] = None
            expr = self[name]
            yield name, expr
            queue.extend(references(expr))


@dataclass(frozen=True, slots=True, eq=False)
class FreeText:
    """What a model writes outside of calls, as it would with no grammar.

    Attributes:
        texts: the nodes of content and reasoning; nothing is counted in them.
        markers: the special tokens that mean something to the dialect, by text.
    """

    texts: tuple[Regular, ...] = ()
    markers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Grammar:
    """Rules and where to start.

    ``start`` is the whole turn. ``armed`` is the text from the trigger on, where the turn may
    begin with free content (tool_choice auto); None where it is the same. ``markers`` are tokens
    that literals hold as text: those that strings are quoted with. ``free`` is what is not
    enforced, where the turn may be without a call.
    """

    rules: Rules
    start: Expr
    armed: Expr | None = None
    markers: tuple[Token, ...] = ()
    free: FreeText | None = None


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside `expr`, left to right."""
    match expr:
        case Sequence(items):
            return items
        case Choice(options):
            return options
        case Repeat(item=item) | Capture(item=item):
            return (item,)
        case Members():
            bodies = (k.body for k in expr.keys)
            return (*bodies, expr.separator, *expr.open, *expr.names, *variants(expr))
        case Distinct(prefix, rest, separator):
            return (separator, *prefix, *(() if rest is None else (rest,)))
        case _:
            return ()


def variants(members: Members) -> tuple[Expr, ...]:
    """The bodies of all variants, those of declared keys first."""
    of_keys = (v.body for key in members.keys for v in key.variants)
    return (*of_keys, *(v.body for kind in members.open_variants for v in kind))


def references(expr: Expr) -> Iterator[str]:
    """The names of the rules that `expr` mentions, left to right, repeats included."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, RuleRef):
            yield node.name
        else:
            stack.extend(reversed(children(node)))


def sequence(*items: Expr) -> Expr:
    """A sequence without nested sequences and empty texts, adjacent literals joined."""
    flat: list[Expr] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            if isinstance(part, Literal):
                if not part.text:
                    continue
                if flat and isinstance(flat[-1], Literal):
                    flat[-1] = Literal(flat[-1].text + part.text)
                    continue
            flat.append(part)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(*options: Expr) -> Expr:
    """A choice without nested choices and repeated options."""
    distinct: dict[Expr, None] = {}
    for option in options:
        for part in option.options if isinstance(option, Choice) else (option,):
            distinct[part] = None
    flat = tuple(distinct)
    return flat[0] if len(flat) == 1 else Choice(flat)


def optional(item: Expr) -> Expr:
    """`item` or nothing."""
    return Repeat(item, 0, 1)
