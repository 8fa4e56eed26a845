"""Random schemas of every draft over a wider world than :mod:`.random_schemas`: texts that must be
escaped, decimals and long numbers, patterns with lookahead, objects as tools have them; values that
follow a schema more or less; and values that nearly do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from random import Random
from typing import Any, Final

from tests.unit.json_schema import random_schemas
from tests.unit.json_schema.oracle import URIS

KEYS = ("a", "b", "ab", "c", "é", 'q"', "", "long_key", "d", "0")
MORE_KEYS = ("aab", "bb", "zz", "1", "abb")
WORDS = (
    "", "a", "b", "ab", "ba", "abc", "é", "😀", '"', "\\", "\n", "a b", "ABC", "1", "null", "a/b",
    "\u007f", "zzzzzzzz", "2020-01-01",
)  # fmt: skip
NUMBERS = (
    -1, 0, 1, 2, 3, 0.5, 2.5, 1.0, -2.5, 10, 99, 100, 101, 0.1, 0.01, 0.3, 1e-7, -7, 10**6, 0.25,
    33.33, 9007199254740993, 123456789012345678901234567890,
)  # fmt: skip
STEPS = (1, 2, 3, 0.5, 0.1, 0.01, 7, 2.5, 100, 0.25)
PATTERNS = (
    "^a", "b$", "^[ab]+$", "a.?b", "^$", "^(?!ab)", "^\\w{2,4}$", "^[^a]*$", "\\d", "^(a|bc)*$",
    "é", "\\S", "^.{1,3}$", "(?=.*a)(?=.*b)", "^[A-Z]+$|^1$",
)  # fmt: skip
_TESTED = ("object", "object", "array", "string", "number", "integer")
_BY_KEYWORD: Final = {
    "object": ("properties", "required", "additionalProperties", "patternProperties",
               "minProperties", "maxProperties", "propertyNames", "dependentRequired",
               "dependentSchemas", "unevaluatedProperties", "dependencies"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems",
              "unevaluatedItems"),
    "string": ("pattern", "minLength", "maxLength"),
    "number": ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"),
}  # fmt: skip
_EXACT = Context(prec=60)


def schema(rng: Random) -> tuple[dict[str, Any], str]:
    """A schema, and the draft that it is read in."""
    if rng.random() < 0.25:
        small = random_schemas.schema(rng)
        return (small if isinstance(small, dict) else {"allOf": [small]}), "2020"
    draft = rng.choice(("2020",) * 6 + ("2019",) * 2 + ("7",) * 2 + ("6", "4"))
    return _Writer(rng, draft).whole(), draft


def number(rng: Random) -> Any:
    """A number: one that keywords speak of, or any."""
    kind = rng.random()
    if kind < 0.7:
        return rng.choice(NUMBERS)
    return rng.randint(-20, 120) if kind < 0.85 else round(rng.uniform(-5, 5), rng.randint(0, 3))


def instance(rng: Random, depth: int = 3) -> Any:
    """A value, whatever the schema."""
    kind = rng.randrange(6 if depth else 4)
    if kind == 4:
        return [instance(rng, depth - 1) for _ in range(rng.choice((0, 1, 1, 2, 3, 4)))]
    if kind == 5:
        return {k: instance(rng, depth - 1) for k in rng.sample(KEYS, rng.randrange(5))}
    return (None, rng.random() < 0.5, number(rng), rng.choice(WORDS))[kind]


class _Writer:
    """Writes one schema of one draft; smaller ones once the budget is spent."""

    def __init__(self, rng: Random, draft: str) -> None:
        self.rng = rng
        self.draft = draft
        self.newest = draft in ("2019", "2020")
        self.place = "$defs" if self.newest else "definitions"
        self.budget = rng.choice((6, 12, 25, 50))

    def whole(self) -> dict[str, Any]:
        first = self.any(self.rng.randint(1, 4))
        made: dict[str, Any] = {"properties": {"a": first}} if isinstance(first, bool) else first
        self.budget = 12
        made[self.place] = {name: self.any(self.rng.randint(0, 2)) for name in "xy"}
        if self.draft != "2020" or self.rng.random() < 0.2:
            made["$schema"] = URIS[self.draft]
        return made

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    def any(self, depth: int) -> Any:
        self.budget -= 1
        if self.maybe(0.07):
            trivial = self.maybe(0.6)
            return trivial if self.draft != "4" else {} if trivial else {"not": {}}
        if depth <= 0 or self.budget < 0:
            return self.leaf()
        return self.rng.choice((self.typed, self.typed, self.combined, self.mixed))(depth)

    def some(self, depth: int, most: int) -> list[Any]:
        return [self.any(depth - 1) for _ in range(self.rng.randint(1, most))]

    def named(self, depth: int, most: int, names: tuple[str, ...] = KEYS) -> dict[str, Any]:
        chosen = self.rng.sample(names, self.rng.randint(0, most))
        return {name: self.any(depth - 1) for name in chosen}

    def keys(self) -> list[str]:
        return self.rng.sample(KEYS, self.rng.randint(0, 2))

    def counts(self, made: dict[str, Any], chance: float, *keywords: str) -> None:
        for keyword in keywords:
            if self.maybe(chance):
                made[keyword] = self.rng.choice((0, 0, 1, 1, 2, 2, 3, 4, 5))

    def leaf(self) -> dict[str, Any]:
        rng = self.rng
        kind = rng.random()
        if kind < 0.2:
            return {"enum": [instance(rng, 1) for _ in range(rng.randint(1, 4))]}
        if kind < 0.3:
            value = instance(rng, 2)
            return {"enum": [value]} if self.draft == "4" else {"const": value}
        if kind < 0.5:
            one = rng.choice(random_schemas.TYPES)
            return {"type": one if self.maybe(0.7) else rng.sample(random_schemas.TYPES, 2)}
        return self.scalar(rng.choice(("string", "string", "number", "integer")), self.maybe(0.7))

    def scalar(self, kind: str, typed: bool = True) -> dict[str, Any]:
        made: dict[str, Any] = {"type": kind} if typed else {}
        if kind == "string":
            self.counts(made, 0.4, "minLength", "maxLength")
            if self.maybe(0.4):
                made["pattern"] = self.rng.choice(PATTERNS)
            return made
        for bound in ("minimum", "maximum"):
            exclusive = f"exclusive{bound.capitalize()}"
            if self.maybe(0.4):
                made[bound] = number(self.rng)
                if self.draft == "4" and self.maybe(0.4):
                    made[exclusive] = self.maybe(0.7)
            if self.draft != "4" and self.maybe(0.25):
                made[exclusive] = number(self.rng)
        if self.maybe(0.3):
            made["multipleOf"] = self.rng.choice(STEPS)
        return made

    def array(self, depth: int, typed: bool = True) -> dict[str, Any]:
        made: dict[str, Any] = {"type": "array"} if typed else {}
        prefix, rest = ("items", "additionalItems")
        if self.draft == "2020":
            prefix, rest = "prefixItems", "items"
        if self.maybe(0.35):
            made[prefix] = self.some(depth, 3)
            if self.maybe(0.6):
                made[rest] = self.any(depth - 1)
        elif self.maybe(0.7):
            made["items"] = self.any(depth - 1)
        self.counts(made, 0.3, "minItems", "maxItems")
        if self.maybe(0.2):
            made["uniqueItems"] = self.maybe(0.8)
        if self.draft != "4" and self.maybe(0.25):
            made["contains"] = self.any(depth - 1)
            if self.newest:
                self.counts(made, 0.4, "minContains", "maxContains")
        if self.newest and self.maybe(0.12):
            made["unevaluatedItems"] = self.any(depth - 1)
        return made

    def object(self, depth: int, typed: bool = True) -> dict[str, Any]:
        rng = self.rng
        made: dict[str, Any] = {"type": "object"} if typed else {}
        if self.maybe(0.75):
            made["properties"] = self.named(depth, 5)
        if self.maybe(0.5):
            declared = list(made.get("properties", ()))
            required = rng.sample(declared, rng.randint(0, len(declared))) or self.keys()
            made |= {"required": required} if required else {}
        if self.maybe(0.35):
            made["additionalProperties"] = False if self.maybe(0.5) else self.any(depth - 1)
        if self.maybe(0.2):
            made["patternProperties"] = self.named(depth, 2, PATTERNS)
        if self.draft != "4" and self.maybe(0.12):
            made["propertyNames"] = self.scalar("string", False)
        self.counts(made, 0.15, "minProperties", "maxProperties")
        if self.maybe(0.15):
            lists = {key: self.keys() or ["a"] for key in self.keys()}
            made["dependentRequired" if self.newest else "dependencies"] = lists
        if self.maybe(0.1):
            made["dependentSchemas" if self.newest else "dependencies"] = self.named(depth, 2)
        if self.newest and self.maybe(0.1):
            made["unevaluatedProperties"] = False if self.maybe(0.4) else self.any(depth - 1)
        return made

    def typed(self, depth: int) -> dict[str, Any]:
        kind = self.rng.choice(_TESTED)
        if kind in ("object", "array"):
            return self.object(depth) if kind == "object" else self.array(depth)
        return self.scalar(kind)

    def combined(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.maybe(0.5):
            made = self.typed(depth) if self.maybe(0.6) else self.leaf()
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            keyword = self.rng.choice(("allOf", "anyOf", "oneOf", "oneOf", "not", "if", "$ref"))
            if keyword.endswith("Of"):
                made[keyword] = self.some(depth, 4)
            elif keyword == "$ref":
                made[keyword] = f"#/{self.place}/{self.rng.choice('xy')}"
            elif keyword == "if" and self.draft not in ("4", "6"):
                made |= {word: self.any(depth - 1) for word in ("if", "then", "else")}
            else:
                made["not"] = self.any(depth - 1)
        return made

    def mixed(self, depth: int) -> dict[str, Any]:
        """Keywords of several types side by side."""
        parts = (
            self.scalar("string", False), self.scalar("number", False), self.object(depth, False),
            self.array(depth, False), self.combined(depth), self.leaf(),
        )  # fmt: skip
        made: dict[str, Any] = {}
        for part in self.rng.sample(parts, self.rng.randint(1, 3)):
            made |= {k: v for k, v in part.items() if k not in made and self.maybe(0.7)}
        if self.draft == "4":
            for bound in ("minimum", "maximum"):
                if bound not in made:
                    made.pop(f"exclusive{bound.capitalize()}", None)
        return made


# Values that follow a schema more or less --------------------------------------------------------


class Guided:
    """Draws values by what the keywords of a schema say, one at a time."""

    def __init__(self, rng: Random, root: dict[str, Any]) -> None:
        self.rng = rng
        self.root = root

    def value(self, schema: Any, depth: int = 5) -> Any:
        """A value that stands a chance to be valid."""
        rng = self.rng
        if isinstance(schema, bool) or not schema or depth < 0:
            return instance(rng, 1)
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return rng.choice(schema["enum"])
        ways = list(self._elsewhere(schema))
        types = schema.get("type", [])
        kinds = [types] if isinstance(types, str) else list(types)
        if ways and rng.random() < (0.3 if kinds else 0.6):
            made = self.value(rng.choice(ways), depth - 1)
            if isinstance(made, dict) and ("properties" in schema or "required" in schema):
                made = {**self.object(schema, depth), **made}
            return made
        if not kinds:
            kinds = [k for k, words in _BY_KEYWORD.items() if any(w in schema for w in words)]
        kind = rng.choice(kinds) if kinds else ""
        if kind == "object":
            return self.object(schema, depth)
        if kind == "array":
            return self.array(schema, depth)
        if kind in ("number", "integer"):
            return self.number(schema, kind == "integer" or rng.random() < 0.3)
        words = (*WORDS, "aa", "aab", "bc", "abab", "é1", "1a", "ABA")
        others = {"string": rng.choice(words), "null": None, "boolean": rng.random() < 0.5}
        return others[kind] if kind in others else instance(rng, 1)

    def _elsewhere(self, schema: dict[str, Any]) -> Iterator[Any]:
        """The schemas that apply to the same value, or do not."""
        if "$ref" in schema:
            _, place, name = schema["$ref"].split("/")
            yield self.root[place][name]
        for keyword in ("anyOf", "oneOf", "allOf"):
            yield from schema.get(keyword, ())
        for keyword in ("then", "else", "if", "not"):
            if keyword in schema:
                yield schema[keyword]

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        rng = self.rng
        made: dict[str, Any] = {}
        required = schema.get("required", ())
        for key, inner in schema.get("properties", {}).items():
            if key in required or rng.random() < 0.6:
                made[key] = self.value(inner, depth - 1)
        for key in required:
            made.setdefault(key, instance(rng, 1))
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        if rng.random() < 0.5:
            for key in rng.sample((*KEYS, *MORE_KEYS), rng.randint(0, 2)):
                made.setdefault(key, self.value(others, depth - 1))
        for inner in schema.get("patternProperties", {}).values():
            made.setdefault(rng.choice((*MORE_KEYS, *KEYS)), self.value(inner, depth - 1))
        return made

    def array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        rng = self.rng
        items = schema.get("items", True)
        tuple_form = isinstance(items, list)
        prefix = schema.get("prefixItems", items if tuple_form else [])
        rest = schema.get("additionalItems", True) if tuple_form else items
        count = min(schema.get("maxItems", 5), max(schema.get("minItems", 0), rng.randrange(4)))
        schemas = [*prefix, *[rest] * count][: min(count, 6)]
        made = [self.value(inner, depth - 1) for inner in schemas]
        for keyword in ("contains", "unevaluatedItems"):
            if keyword in schema and rng.random() < 0.6:
                made.insert(rng.randint(0, len(made)), self.value(schema[keyword], depth - 1))
        return made

    def number(self, schema: dict[str, Any], whole: bool) -> Any:
        words = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        bounds = [schema[w] for w in words if not isinstance(schema.get(w, True), bool)]
        base = Decimal(repr(self.rng.choice([*bounds, number(self.rng)])))
        away = self.rng.choice(("0", "0", "1", "-1", "0.5", "0.01", "-0.01"))
        made = _EXACT.add(base, Decimal(away))
        if "multipleOf" in schema:
            step = Decimal(repr(schema["multipleOf"]))
            times = _EXACT.divide_int(made, step) + self.rng.choice((0, 0, 1, -1))
            made = _EXACT.multiply(times, step)
        if whole:
            made = made.to_integral_value(context=_EXACT)
        is_whole = made == made.to_integral_value(context=_EXACT)
        return int(made) if is_whole and self.rng.random() < 0.85 else float(made)


# Values that nearly do ---------------------------------------------------------------------------

_GONE: Final = object()


def changed(rng: Random, value: Any) -> Any:
    """The value with one part of it changed, left out or moved."""
    places = list(_places(json.loads(json.dumps(value)), ()))
    made = _with(value, rng.choice(places), lambda part: _other(rng, part))
    return instance(rng, 1) if made is _GONE else made


def _places(value: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield at
    if isinstance(value, (dict, list)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _places(part, (*at, key))


def _with(value: Any, at: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not at:
        return change(value)
    part = _with(value[at[0]], at[1:], change)
    if isinstance(value, list):
        return [*value[: at[0]], *([] if part is _GONE else [part]), *value[at[0] + 1 :]]
    made = {k: (part if k == at[0] else v) for k, v in value.items()}
    return {k: v for k, v in made.items() if v is not _GONE}


def _other(rng: Random, part: Any) -> Any:
    kind = rng.random()
    if kind < 0.12:
        return _GONE
    if kind < 0.25:
        return instance(rng, 1)
    if not part and isinstance(part, (list, dict)):
        return [part]
    if part is None or isinstance(part, bool):
        return rng.choice((0, 1, "", "true", [], None, True, False))
    if isinstance(part, (int, float)):
        near = (part + 1, part - 1, -part, str(part))
        finer = (part + 0.5, float(part), round(part + 0.01, 6), part * 10)
        return rng.choice(near + finer if abs(part) < 1e10 else near)
    if isinstance(part, str):
        at = rng.randrange(len(part) + 1)
        more = part[:at] + rng.choice('ab1 é"\\\n😀') + part[at:]
        return rng.choice((more, part[:at] + part[at + 1 :], part + part, part[::-1], [part]))
    if isinstance(part, list):
        more_items = [*part, instance(rng, 1)]
        return rng.choice((more_items, part[:-1], part[1:], part + part[:1], part[::-1], [part]))
    names = list(part)
    rng.shuffle(names)
    renamed = {(rng.choice(KEYS) if k == names[0] else k): v for k, v in part.items()}
    more_keys = {**part, rng.choice((*KEYS, *MORE_KEYS)): instance(rng, 1)}
    fewer = {k: part[k] for k in names[1:]}
    return rng.choice((more_keys, more_keys, fewer, renamed, {k: part[k] for k in names}))
