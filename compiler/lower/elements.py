"""The elements of the tree notation: what follows from the templates of a member and of an item.

Shared by the enforcing and the reading lowering, the writer and the lint, so that all agree on what
a key or a leaf can hold, and on what an element's type mark says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from ..origin import Origin
from ..regular.language import Language
from ..spec import ArgsSpec, TokenSpec
from ..template import Hole, Part, literal_after
from .arguments import attribute_of
from .keys import solid_text
from .shape import Shape
from .spelling import PLAIN

JSON_TYPES: Final = ("string", "number", "integer", "boolean", "null", "array", "object")
CONTAINERS: Final = frozenset({"array", "object"})
RAW: Final = (PLAIN,)
"""Strings in a tree are raw text up to what closes their element."""


@dataclass(frozen=True)
class Elements:
    """A tree's templates.

    Attributes:
        param, item: the templates of a member and of an item, parsed.
        after: the literal behind all the arguments.
        avoid: tokens that no raw text holds.
    """

    args: ArgsSpec
    param: tuple[Part, ...]
    item: tuple[Part, ...]
    after: str
    avoid: tuple[str, ...]

    @classmethod
    def of(cls, shape: Shape, avoid: tuple[str, ...]) -> Elements:
        """The elements of a shape whose notation is a tree; kept, automata of keys and all."""
        after = shape.args.close + literal_after(shape.call, "args")
        return _elements(shape.args, shape.param, shape.item, after, avoid)

    @property
    def omits_null(self) -> bool:
        """Are members that are null left out?"""
        return self.args.null == "omit"

    @cached_property
    def repeats_key(self) -> bool:
        """Does an element say its key more than once? No automaton makes two unknown keys equal."""
        return sum(isinstance(p, Hole) and p.name == "key" for p in self.param) > 1

    @cached_property
    def item_name(self) -> str | None:
        """The key whose member is written just as an item is; None if there is none."""
        pattern, seen = "", False
        for part in self.param:
            if isinstance(part, str):
                pattern += re.escape(part)
            elif part.name == "key":
                pattern += r"(?P=key)" if seen else r"(?P<key>[\s\S]+?)"
                seen = True
            else:
                pattern += re.escape(_slot(part))
        text = "".join(p if isinstance(p, str) else _slot(p) for p in self.item)
        found = re.fullmatch(pattern, text) if seen else None
        return found["key"] if found else None

    @cached_property
    def groups(self) -> tuple[tuple[str | None, frozenset[str]], ...]:
        """What `{type}` can say, each with the JSON types that it stands for."""
        found: dict[str | None, set[str]] = {}
        for name in JSON_TYPES:
            found.setdefault(attribute_of(self.args.type_attr, name), set()).add(name)
        return tuple((attribute, frozenset(types)) for attribute, types in found.items())

    def types_beside(self, name: str) -> frozenset[str]:
        """The JSON types that are marked as the type `name` is, itself among them."""
        return next(types for _, types in self.groups if name in types)

    def leaf_form(self, types: frozenset[str]) -> Literal["raw", "json", "untyped"]:
        """What raw text is where a value of these JSON types may stand."""
        if types == {"string"}:
            return "raw"
        return "untyped" if "string" in types else "json"

    # Keys -----------------------------------------------------------------------------------

    @cached_property
    def key_form(self) -> str:
        """How keys are written: "raw" or "json"."""
        return next((p.form for p in self.param if isinstance(p, Hole) and p.name == "key"), "raw")

    @cached_property
    def key_names(self) -> Language:
        """The keys that can be written raw: none that is ended early, or makes of an element's
        beginning the end of the one around it."""
        followers = tuple(dict.fromkeys(f for f in self._after_keys() if f))
        # A quote or bracket behind a key is in no key, which keeps automata of keys small.
        ends = tuple(f[0] if not (f[0].isalnum() or f[0].isspace()) else f for f in followers)
        names = Language.avoiding((*ends, "\n", *self.avoid)) & solid_text()
        for end in ends:
            names = names & Language.avoiding((), end)
        head = self.param[0] if self.param else ""
        if isinstance(head, str) and len(self.param) > 1 and isinstance(self.param[1], Hole):
            follower = next(iter(self._after_keys()), "")
            for closer in self.closers:
                if closer.startswith(head) and len(closer) > len(head):
                    names = names - _beginning(closer[len(head) :], follower)
        return names

    def carries_key(self, name: str) -> bool:
        """Can the key be written?"""
        return self.key_form == "json" or self.key_names.accepts(name)

    @property
    def closers(self) -> tuple[str, ...]:
        """What can stand behind the members or items of a container, or behind a leaf."""
        found = (literal_after(self.param, "value"), literal_after(self.item, "value"), self.after)
        return tuple(dict.fromkeys(t for t in found if t))

    def _after_keys(self) -> list[str]:
        """The literals behind the holes `{key}`, "" where another hole is."""
        out = []
        for at, part in enumerate(self.param):
            if isinstance(part, Hole) and part.name == "key":
                behind = self.param[at + 1] if at + 1 < len(self.param) else ""
                out.append(behind if isinstance(behind, str) else "")
        return out

    @cached_property
    def remembers(self) -> bool:
        """Can undeclared keys be remembered? Nothing that varies may stand in front of them."""
        holes = [p.name for p in self.param if isinstance(p, Hole)]
        return holes.index("key") == 0

    # Tokens ---------------------------------------------------------------------------------

    def holds_loose_tokens(self, tokens: tuple[TokenSpec, ...]) -> bool:
        """Is there a token in the templates that values may hold as text?"""
        literals = [p for p in (*self.param, *self.item) if isinstance(p, str)]
        return any(t.match != "require" and any(t.text in p for p in literals) for t in tokens)


@lru_cache(maxsize=64)
def _elements(
    args: ArgsSpec,
    param: tuple[Part, ...],
    item: tuple[Part, ...],
    after: str,
    avoid: tuple[str, ...],
) -> Elements:
    return Elements(args, param, item, after, avoid)


def _slot(hole: Hole) -> str:
    """A hole as a text that no template holds."""
    return f"\0{hole}\0"


def _beginning(rest: str, follower: str) -> Language:
    """The keys behind which an element's beginning reads as a closer that goes on with `rest`."""
    if follower and follower in rest:
        return Language.words([rest[: rest.index(follower)]])
    escaped = re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", rest)
    return Language.pattern(f"^{escaped}", origin=Origin("/args/param"))
