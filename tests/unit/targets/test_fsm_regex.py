"""The text of regular expressions, read by three engines, against the automaton."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calligram
from calligram import Bounds
from calligram.compiler.automaton.byte_dfa import minimal
from calligram.compiler.automaton.determinise import determinise
from calligram.compiler.errors import GrammarError, TargetError
from calligram.compiler.grammar import (
    Capture,
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    Machine,
    Member,
    Members,
    Ranges,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
)
from calligram.compiler.origin import Origin, Problem
from calligram.compiler.passes.cut_recursion import cut_recursion
from calligram.compiler.regular.charset import charset
from calligram.compiler.regular.formats import KNOWN_FORMATS
from calligram.targets import regex_fsm
from calligram.targets.regex_fsm import fragments, machines
from calligram.targets.regex_fsm.text import regex_text
from tests.laws.tools import TOOLS
from tests.regexes import CLOSED, ENGINES, python
from tests.sampling import Sampler, dice, mutations
from tests.unit.automaton.random_grammars import grammars

SHORT = ["".join(w) for n in range(6) for w in product("ab", repeat=n)] + ["é", "aé", "é€", "\n"]


def spelled(expr: Expr) -> str:
    return regex_text(Grammar(Rules(), expr), 10_000)


@settings(max_examples=40)
@given(grammars())
def test_the_expression_says_what_the_automaton_says(made: tuple[Rules, Expr]) -> None:
    try:
        grammar, _ = cut_recursion(Grammar(*made), 2)
        pattern = regex_text(grammar, 600)
    except (GrammarError, TargetError):
        return
    dfa = minimal(determinise(grammar, {}, 20_000))
    wanted = [dfa.accepts(text.encode()) for text in SHORT]
    for name, engine in ENGINES.items():
        accepts = engine(pattern)
        assert [accepts(text) for text in SHORT] == wanted, (name, pattern)


AWKWARD = "\\.^$|?*+()[]{}-&~#<>=!:,/\"'`@% aZ0_\t\n\r\x00\x07\x1f\x7f\x85\xa0é€\u2028\ufeff😀"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_character_is_itself(engine: str) -> None:
    compiled = ENGINES[engine](spelled(Literal(AWKWARD)))
    assert compiled(AWKWARD) and not compiled(AWKWARD[:-1]) and not compiled(AWKWARD + "a")
    for char in AWKWARD:
        accepts = ENGINES[engine](spelled(Sequence((Literal("x"), Literal(char), Literal("x")))))
        assert [other for other in AWKWARD if accepts(f"x{other}x")] == [char]


CLASSES: list[Ranges] = [
    *(charset([(ord(c), ord(c)), (ord("b"), ord("b"))]) for c in AWKWARD),
    *(charset([(ord(c), ord(c) + 1), (ord("x"), ord("x"))]) for c in AWKWARD),
    charset([(0x26, 0x26), (0x2D, 0x2D), (0x5B, 0x5B), (0x5D, 0x5E), (0x7C, 0x7C), (0x7E, 0x7E)]),
    charset([(0, 0x10FFFF)]),
    charset([(0, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)]),
    charset([(1, 0x10FFFF)]),
    charset([(0xD000, 0xE001)]),
    charset([(0x20, 0x7E)]),
    charset([(0x80, 0x10FFFE)]),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_class_holds_what_it_says(engine: str) -> None:
    probes = AWKWARD + "bcxyz!\ud7ff\ue000\U0010fffe\U0010ffff"
    for ranges in CLASSES:
        pattern = spelled(Sequence((Literal("<"), Chars(ranges), Literal(">"))))
        accepts = ENGINES[engine](pattern)
        for probe in probes:
            inside = any(low <= ord(probe) <= high for low, high in ranges)
            assert accepts(f"<{probe}>") == inside, (pattern, probe)


@given(
    st.lists(
        st.tuples(st.integers(0, 0x10FFFF), st.integers(0, 40)), min_size=1, max_size=4
    ).map(lambda pairs: charset((low, min(low + n, 0x10FFFF)) for low, n in pairs)),
    st.booleans(),
)  # fmt: skip
def test_any_class(ranges: Ranges, outside: bool) -> None:
    inverse = fragments._outside(ranges)
    if not (ranges and inverse):
        return
    ranges = inverse if outside else ranges
    edges = {p for low, high in ranges for p in (low - 1, low, high, high + 1)}
    accepts = python(spelled(Chars(ranges)))
    for code in edges:
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            assert accepts(chr(code)) == any(low <= code <= high for low, high in ranges)


A = Literal("a")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (Sequence(()), "(?:)"),
        (Repeat(A, 0, 0), "(?:)"),
        (Repeat(Repeat(A, 0, None), 2, 3), "(?:a*){2,3}"),
        (Repeat(Repeat(A, 0, 1), 0, 1), "(?:a?)?"),
        (Repeat(Literal("ab"), 1, None), "(?:ab)+"),
        (Repeat(A, 3, 3), "a{3}"),
        (Repeat(A, 3, None), "a{3,}"),
        (Repeat(A, 0, 8192), "a{0,8192}"),
        (Choice((A, Sequence(()))), "a?"),
        (Choice((A, A)), "a"),
        (Choice((Literal("ab"), A, Literal(""))), "(?:ab|a)?"),
        (Sequence((Choice((A, Literal("b"))), A)), "(?:a|b)a"),
        (Chars(((97, 99),)), "[a-c]"),
        (Chars(((97, 98),)), "[ab]"),
        (Chars(charset([(0, 0x60), (0x62, 0x10FFFF)])), "[^a]"),
    ],
)
def test_how_it_is_written(expr: Expr, text: str) -> None:
    assert spelled(expr) == text


def chars(machine: Machine, low: int, high: int | None) -> str:
    return spelled(Regular(machine, low, high, "text", Origin("/here")))


LETTERS = Machine((((97, 122, 0, 1),),), frozenset({0}))
NAME = Machine((((65, 90, 1, 1),), ((97, 122, 1, 1),)), frozenset({1}))
PAIRS = Machine((((97, 97, 1, 1),), ((97, 97, 0, 1),)), frozenset({0}))
MAIL = Machine((((97, 97, 0, 1), (64, 64, 1, 1)), ((97, 97, 1, 1),)), frozenset({1}))


def test_counts_stay_counts() -> None:
    assert chars(LETTERS, 0, 8192) == "[a-z]{0,8192}"
    assert chars(LETTERS, 2, None) == "[a-z]{2,}"
    assert chars(NAME, 0, 64) == "[A-Z][a-z]{0,63}"
    assert chars(NAME, 0, None) == chars(NAME, 1, None) == "[A-Z][a-z]*"


ENDS = Machine(
    (((64, 64, 1, 0), (65, 65, 1, 1), (97, 97, 0, 1)), ()), frozenset({1})
)  # fmt: skip
"""Ends with a letter that counts, or with one that does not."""


@pytest.mark.parametrize("machine", [LETTERS, NAME, PAIRS, MAIL, ENDS])
@pytest.mark.parametrize("bounds", [(0, None), (0, 3), (2, 4), (3, None), (4, 4)])
def test_counted_machines(machine: Machine, bounds: tuple[int, int | None]) -> None:
    grammar = Grammar(Rules(), Regular(machine, *bounds))
    try:
        pattern = regex_text(grammar, 10_000)
    except GrammarError:
        assert (machine, bounds) == (PAIRS, (3, 3))
        return
    dfa = minimal(determinise(grammar, {}, 1000))
    words = ["".join(w) for n in range(6) for w in product("aA@", repeat=n)]
    for name, engine in ENGINES.items():
        accepts = engine(pattern)
        assert [w for w in words if accepts(w) != dfa.accepts(w.encode())] == [], name


def test_what_has_no_text_of_that_length_is_an_error() -> None:
    with pytest.raises(GrammarError, match="no text has 3..3 characters"):
        chars(PAIRS, 3, 3)


def test_a_count_that_is_no_repeat_is_refused_when_it_grows() -> None:
    letters = Machine((((97, 97, 1, 1),), ((97, 97, 1, 1), (98, 98, 0, 1))), frozenset({1}))
    with pytest.raises(TargetError) as refused:
        chars(letters, 0, 300)
    [problem] = refused.value.problems
    assert problem.origin.pointer == "/here" and problem.hint


def test_too_many_places_are_refused() -> None:
    with pytest.raises(TargetError, match="counting"):
        chars(MAIL, 0, machines.MAX_PLACES)


def test_a_deep_expression_is_refused() -> None:
    expr: Expr = Literal("ab")
    for _ in range(101):
        expr = Repeat(Sequence((A, expr)), 0, 1)
    with pytest.raises(TargetError, match="nesting"):
        spelled(expr)


# Objects ---------------------------------------------------------------------------------------


def keys(required: str, size: int) -> tuple[Member, ...]:
    return tuple(
        Member(c, Literal(c), c in required) for c in "abcdefghijklmnopqrst"[:size]
    )  # fmt: skip


@settings(max_examples=80)
@given(
    st.sets(st.sampled_from("abc")).map("".join),
    st.integers(0, 3),
    st.booleans(),
    st.none() | st.integers(0, 2),
    st.integers(0, 3),
    st.none() | st.integers(1, 4),
    st.sampled_from(["schema", "any"]),
)
def test_members_in_every_arrangement(
    required: str, size: int, opened: bool, most: int | None, low: int, high: int | None, order: Any
) -> None:
    node = Members(
        keys(required, size), Literal(","), (Literal("x"),) if opened else (), most, order, low,
        None if high is None else max(low, high),
    )  # fmt: skip
    grammar = Grammar(Rules(), node)
    dfa = minimal(determinise(grammar, {}, 10_000))
    try:
        accepts = python(regex_text(grammar, 4000))
    except GrammarError:
        assert not dfa.accepting.any()
        return
    except TargetError as refused:
        assert "length" in str(refused)
        return
    words = [",".join(w) for n in range(5) for w in product("abc"[:size] + "x", repeat=n)]
    for word in [*words, "a,", ",a", "x,x,x,x,x"]:
        assert accepts(word) == dfa.accepts(word.encode()), word


def test_many_optional_keys_take_little() -> None:
    node = Members(tuple(Member(f"k{i}", Literal(f"k{i:02}"), False) for i in range(64)), A)
    assert len(spelled(node)) < 64 * 10 * 7


# Whole grammars --------------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_every_dialect_as_a_whole(dialect: str) -> None:
    small = calligram.Bounds(
        string=5, items=2, keys=2, depth=1, recursion=1, digits=3, exponent=1, calls=2, whitespace=2
    )
    for tool in TOOLS:
        grammar = calligram.compile_tools([tool], dialect, bounds=small)
        try:
            pattern = regex_fsm.regex(grammar)
        except TargetError as refused:
            # Raw text that must not hold its closer and is counted: no repeat says that.
            assert {p.message.split(":")[0] for p in refused.problems} <= {"counting", "length"}
            continue
        accepts = python(pattern)
        random = dice("regex", dialect, tool["function"]["name"])
        texts = Sampler(grammar.enforced.rules, random).texts(grammar.enforced.start, 15)
        texts += mutations(texts, random, 15)
        wrong = [t for t in texts if accepts(t) != grammar.check(t).accepted]
        assert wrong == [], pattern


@pytest.mark.parametrize("engine", CLOSED)
def test_a_tool_in_each_engine(engine: str) -> None:
    tool = {
        "name": "book",
        "parameters": {
            "type": "object",
            "properties": {
                "where": {"type": "string", "minLength": 1, "maxLength": 4},
                "class": {"enum": ["a+b", "[c]", "é"]},
                "nights": {"type": "integer", "minimum": -3, "maximum": 14},
                "day": {"type": "string", "format": "date"},
                "tags": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
            },
            "required": ["where"],
            "additionalProperties": False,
        },
    }
    grammar = calligram.compile_schema(tool["parameters"], whitespace="exact", bounds=None)
    accepts = CLOSED[engine](regex_fsm.regex(grammar))
    random = dice("regex", "engine")
    texts = Sampler(grammar.enforced.rules, random).texts(grammar.enforced.start, 40)
    texts += mutations(texts, random, 40)
    assert [t for t in texts if accepts(t) != grammar.check(t).accepted] == []


OPEN = {"date-time": 3000, "time": 6000, "duration": 400, "uri": 40_000, "ipv6": 20_000,
        "uri-template": 2000, "json-pointer": 200}  # fmt: skip


@pytest.mark.parametrize("name", OPEN)
def test_bounds_of_loops_are_said_once(name: str) -> None:
    # They are rules that end in each other; written out at every place they take hundreds of times
    # as much.
    schema = {"type": "string", "format": name}
    for bounds in (calligram.Bounds(), calligram.Bounds(string=3)):
        grammar = calligram.compile_schema(schema, whitespace="exact", bounds=bounds)
        pattern = regex_fsm.regex(grammar)
        assert len(pattern) < OPEN[name]
    accepts = python(pattern)
    random = dice("bounds", name)
    texts = Sampler(grammar.enforced.rules, random).texts(grammar.enforced.start, 60)
    texts += mutations(texts, random, 60)
    assert [t for t in texts if accepts(t) != grammar.check(t).accepted] == []


def test_what_is_too_long_is_refused_at_its_place_with_what_helps() -> None:
    long = {"type": "string", "format": "regex"}
    nested = {"type": "object", "properties": {"n": {"type": "integer"}, "z": long}}
    tool = {"name": "t", "parameters": {"type": "object", "properties": {"y": nested}}}
    with pytest.raises(TargetError) as refused:
        regex_fsm.regex(calligram.compile_tools([tool], "hermes-json"))
    [problem] = refused.value.problems
    assert (problem.origin.tool, problem.origin.pointer) == ("t", "/properties/y/properties/z")
    assert problem.message.startswith("length:") and "bounds=None" in (problem.hint or "")
    wide = {"type": "object", "properties": {f"k{i}": {"enum": ["a" * 90]} for i in range(30)}}
    grammar = calligram.compile_schema(
        {"type": "object", "properties": {"a": wide, "b": {}}}, bounds=None, whitespace="exact"
    )
    with pytest.raises(TargetError) as refused:
        regex_fsm.regex(grammar, max_depth=0, max_length=2000)
    [problem] = refused.value.problems
    assert problem.origin.pointer == "/properties/a"
    assert "bounds" not in (problem.hint or "") and "max_depth" in (problem.hint or "")


def test_recursion_is_cut_as_in_the_table() -> None:
    grammar = calligram.compile_schema({}, bounds=None, whitespace="exact")
    accepts = python(regex_fsm.regex(grammar, max_depth=1))
    dfa = regex_fsm.dfa(grammar, max_depth=1)
    values: list[Any] = [1, "x", [], [1], [[]], [[1]], {"a": 1}, {"a": {}}, {"a": {"b": 1}}]
    for value in values:
        text = json.dumps(value)
        assert accepts(text) == dfa.accepts(text.encode()), text
    assert dfa.accepts(b"[1]") and not dfa.accepts(b"[[1]]")
    for call in (regex_fsm.regex, regex_fsm.dfa):
        with pytest.raises(TargetError, match="recursion"):
            call(grammar, max_depth=None)
    with pytest.raises(TargetError, match="length"):
        regex_fsm.regex(grammar, max_length=1000)


@pytest.mark.parametrize("engine", CLOSED)
def test_options_that_begin_alike_are_all_read(engine: str) -> None:
    # Rust's automaton stops at the first option that matches: longer ones stand first.
    grammar = calligram.compile_schema({"enum": [1, 12, 123, "x"]}, whitespace="exact")
    accepts = CLOSED[engine](regex_fsm.regex(grammar))
    texts = ["1", "12", "123", '"x"']
    assert [t for t in [*texts, "2", "13", '"'] if accepts(t)] == texts


PREFIXES: list[Expr] = [
    Literal("a"), Literal("b"), Literal("ab"), Repeat(Literal("a"), 0, 2),
    Repeat(Literal("b"), 1, None),
    Choice((Literal("a"), Literal("ba"))), Chars(((0x61, 0x62),)),
]  # fmt: skip


@st.composite
def linear_rules(draw: st.DrawFn) -> Grammar:
    """Rules at whose end later ones stand, several of them the same."""
    count = draw(st.integers(2, 5))
    rules = Rules()
    for at in reversed(range(count)):
        options: list[Expr] = []
        for _ in range(draw(st.integers(1, 3))):
            before = draw(st.lists(st.sampled_from(PREFIXES), max_size=2))
            later = [RuleRef(f"r{n}") for n in range(at + 1, count)]
            ends: list[Expr] = [*later, *later, Literal("b"), Literal("")]
            end = draw(st.sampled_from(ends))
            if draw(st.booleans()) and later:
                end = Choice((end, Sequence((Literal("a"), draw(st.sampled_from(later))))))
            options.append(Sequence((*before, Capture(Slot("content"), end))))
        rules.define(f"r{at}", Choice(tuple(options)))
    # Once at the end, once in the middle, once repeated.
    first, other = RuleRef("r0"), RuleRef("r1")
    forms: list[Expr] = [first, Sequence((first, other)), Repeat(first, 0, 2)]
    return Grammar(rules, draw(st.sampled_from(forms)))


@settings(max_examples=60)
@given(linear_rules())
def test_rules_that_end_in_the_same_are_said_as_the_automaton_says(grammar: Grammar) -> None:
    pattern = regex_text(grammar, 20_000)
    dfa = minimal(determinise(grammar, {}, 20_000))
    wanted = [dfa.accepts(text.encode()) for text in SHORT]
    for name, engine in ENGINES.items():
        accepts = engine(pattern)
        assert [accepts(text) for text in SHORT] == wanted, (name, pattern)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_a_chain_of_rules_is_as_long_as_it_has_rules(count: int) -> None:
    rules = Rules()
    end: Expr = Literal("")
    # Rules may have any name, that of an end too.
    names = ["end", "entry", *(f"r{at}" for at in range(2, count))]
    for name in names:
        here = Choice((Sequence((Literal("a"), end)), Sequence((Literal("b"), end))))
        rules.define(name, here)
        end = RuleRef(name)
    pattern = regex_text(Grammar(rules, end), 20 * count)
    accepts = python(pattern)
    assert accepts("ab" * (count // 2)) and not accepts("ab" * count) and not accepts("ab")


FORMATS = sorted(KNOWN_FORMATS - {"regex", "email", "hostname", "idn-email", "idn-hostname"})
PATTERNS = ["^(a?b?c?){6}$", "^(?:[a-f]{2}:?)+$", r"^v\d+\.\d+(?:\.\d+)?(?:-[a-z]+)*$"]


@pytest.mark.parametrize(
    "item", [*({"format": f} for f in FORMATS), *({"pattern": p} for p in PATTERNS)], ids=str
)
def test_default_bounds_take_little_more_text_than_none(item: dict[str, str]) -> None:
    schema = {"type": "string", **item}
    bounded = calligram.compile_schema(schema, bounds=Bounds(), whitespace="exact")
    free = regex_fsm.regex(calligram.compile_schema(schema, bounds=None, whitespace="exact"))
    pattern = regex_fsm.regex(bounded)
    assert len(pattern) < 4 * len(free) + 100
    accepts = python(pattern)
    random = dice("regex", str(item))
    texts = Sampler(bounded.enforced.rules, random).texts(bounded.enforced.start, 20)
    texts += mutations(texts, random, 20)
    assert [t for t in texts if accepts(t) != bounded.check(t).accepted] == []


def test_many_formats_of_one_tool_are_one_expression() -> None:
    properties = {f: {"type": "string", "format": f} for f in FORMATS if "iri" not in f}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    grammar = calligram.compile_tools([{"name": "t", "parameters": schema}], "hermes-json")
    assert len(regex_fsm.regex(grammar)) < 500_000


def too_long(schema: dict[str, Any], bounds: Bounds | None, most: int, **more: Any) -> Problem:
    tool = {"name": "t", "parameters": {"type": "object", "properties": schema, **more}}
    grammar = calligram.compile_tools([tool], "hermes-json", bounds=bounds)
    with pytest.raises(TargetError) as error:
        regex_fsm.regex(grammar, max_length=most)
    [problem] = error.value.problems
    assert problem.origin.tool == "t" and problem.hint is not None
    return problem


def test_a_refusal_names_what_is_long_and_what_helps() -> None:
    small = {"type": "string", "maxLength": 3}
    uri = {"type": "string", "format": "uri"}
    for schema, pointer in (
        ({"a": small, "b": uri}, "/properties/b"),
        ({"a": small, "b": {"type": "array", "items": uri}}, "/properties/b"),
        ({"o": {"type": "object", "properties": {"u": uri}}}, "/properties/o/properties/u"),
    ):
        problem = too_long(schema, Bounds(), 5_000)
        assert problem.origin.pointer == pointer
        assert "smaller bounds or none (`bounds=None`, `--bounds none`)" in str(problem.hint)
        assert "max_depth" not in str(problem.hint)
    problem = too_long({"a": small, "b": uri}, None, 5_000)
    assert problem.origin.pointer == "/properties/b" and "bounds" not in str(problem.hint)
    problem = too_long({"a": {}}, None, 5_000)
    assert "lower `max_depth`" in str(problem.hint) and "bounds" not in str(problem.hint)


@pytest.mark.parametrize("count", [2**32 - 1, 2**32, 10**30])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"type": "boolean"}, "maxItems": 1},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
        {"type": "string", "maxLength": 1},
        {"type": "string", "minLength": 1},
        {"type": "string", "pattern": "^[a-z]*$", "maxLength": 1},
        {"type": "object", "additionalProperties": {"type": "null"}, "maxProperties": 1},
    ],
    ids=str,
)
def test_counts_that_engines_cannot_read_are_refused(schema: dict[str, Any], count: int) -> None:
    few = {key: 1_000 if value == 1 else value for key, value in schema.items()}
    many = {key: count + 2 if value == 1 else value for key, value in schema.items()}
    tool = {"type": "object", "properties": {"x": few, "y": many}, "required": ["x", "y"]}
    grammar = calligram.compile_schema(tool, bounds=None, whitespace="exact")
    with pytest.raises(TargetError, match="counting: .*4,294,967,294") as error:
        regex_fsm.regex(grammar)
    [problem] = error.value.problems
    assert problem.origin.pointer == "/properties/y"


def test_the_largest_count_is_read() -> None:
    text = fragments.repeat(fragments.literal("a"), 0, fragments.MAX_COUNT).text
    assert text == "a{0,4294967294}"
    assert re.compile(text).fullmatch("aaa")
    with pytest.raises(OverflowError):
        re.compile("a{0,4294967295}")


def test_levels_beyond_measure_are_refused_before_they_are_made() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {**node, "additionalProperties": False}},
    }
    tool = {"name": "t", "parameters": schema}
    grammar = calligram.compile_tools([tool], "hermes-json", bounds=None)
    vocabulary = calligram.Vocabulary([bytes([b]) for b in range(256)])
    calls: list[Callable[[int], Any]] = [
        lambda depth: regex_fsm.regex(grammar, max_depth=depth),
        lambda depth: regex_fsm.dfa(grammar, max_depth=depth),
        lambda depth: regex_fsm.compile(grammar, vocabulary, max_depth=depth),
        lambda depth: regex_fsm.cuts(grammar, max_depth=depth),
        lambda depth: regex_fsm.dfa(grammar, max_depth=depth // 1_000, max_states=500),
    ]
    for call in calls:
        for depth in (10**6, 10**30):
            with pytest.raises(TargetError, match="recursion: .* levels are too many") as error:
                call(depth)
            [problem] = error.value.problems
            assert (problem.origin.tool, problem.origin.pointer) == ("t", "/$defs/node")
            assert "lower `max_depth`" in str(problem.hint)
    assert regex_fsm.cuts(grammar, max_depth=500)[0].depth == 500
