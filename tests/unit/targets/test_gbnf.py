"""GBNF of hand-built grammars, one for each node kind, judged by llama.cpp's engine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, field

import pytest

from calligram.compiler.errors import GrammarError, TargetError
from calligram.compiler.grammar import (
    MAX_CODE_POINT,
    Capture,
    Chars,
    Choice,
    Cut,
    Expr,
    Grammar,
    Literal,
    Machine,
    Member,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    Token,
)
from calligram.compiler.origin import Origin
from calligram.targets import gbnf
from calligram.targets.gbnf import emit_grammar
from tests import llguidance_opinion
from tests.engine import Engine

DIGIT = Chars(((48, 57),))
LOWER = Chars(((97, 122),))
VALID = ((0, 0xD7FF), (0xE000, MAX_CODE_POINT))


def grammar_of(start: Expr, **rules: Expr) -> Grammar:
    made = Rules()
    for name, body in rules.items():
        made.define(name.replace("_", "-"), body)
    return Grammar(made, start)


def anything_but(*stops: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The ranges of all code points outside of `stops` (sorted, below the surrogates)."""
    ranges, at = [], 0
    for low, high in stops:
        if at < low:
            ranges.append((at, low - 1))
        at = high + 1
    return (*ranges, (at, 0xD7FF), VALID[1])


def total(
    machine_ranges: tuple[tuple[int, int], ...], target: int
) -> tuple[tuple[int, int, int, int], ...]:
    return tuple((low, high, target, 1) for low, high in machine_ranges)


# Any text with a digit in it.
WITH_DIGIT = Machine(
    (
        ((0, 47, 0, 1), (48, 57, 1, 1), (58, 0xD7FF, 0, 1), (0xE000, MAX_CODE_POINT, 0, 1)),
        total(VALID, 1),
    ),
    frozenset({1}),
)
# The inside of a JSON string, where an escape is one character of the value.
JSON_STRING = Machine(
    (
        ((32, 33, 0, 1), (35, 91, 0, 1), (92, 92, 1, 0), (93, 0xD7FF, 0, 1))
        + ((0xE000, MAX_CODE_POINT, 0, 1),),
        ((34, 34, 0, 1), (92, 92, 0, 1), (110, 110, 0, 1), (117, 117, 2, 0)),
        ((48, 57, 3, 0),),
        ((48, 57, 4, 0),),
        ((48, 57, 5, 0),),
        ((48, 57, 0, 1),),
    ),
    frozenset({0}),
)
# Words of small letters joined by single dashes.
SLUG = Machine(
    (((97, 122, 1, 1),), ((45, 45, 2, 1), (97, 122, 1, 1)), ((97, 122, 1, 1),)), frozenset({1})
)
DATE_LIKE = Machine(
    tuple(
        ((45, 45, i + 1, 1),) if i in (4, 7) else ((48, 57, i + 1, 1),) if i < 10 else ()
        for i in range(11)
    ),
    frozenset({10}),
)


def member(name: str, required: bool, value: Expr = DIGIT) -> Member:
    return Member(name, Sequence((Literal(f'"{name}":'), value)), required)


OPEN_MEMBER = Sequence((Literal('"'), Repeat(LOWER, 1, 3), Literal('":'), DIGIT))


@dataclass(frozen=True)
class Case:
    name: str
    start: Expr
    accepts: list[str]
    rejects: list[str]
    rules: dict[str, Expr] = field(default_factory=dict)


CASES = [
    Case("literal", Literal("ab"), ["ab"], ["", "a", "abc"]),
    Case("empty_literal", Sequence((Literal(""), Literal("a"))), ["a"], ["", "aa"]),
    Case(
        "literal_with_quotes_and_controls",
        Literal('"\\\n\r\t\x01\x7f\x85é\u200b\U0001f600'),
        ['"\\\n\r\t\x01\x7f\x85é\u200b\U0001f600'],
        ['"\\\n\r\t\x01\x7f\x85e\u200b\U0001f600'],
    ),
    Case("token_is_its_text", Token("<tool>", "require"), ["<tool>"], ["<tool", ""]),
    Case("class", Chars(((48, 57), (97, 102))), ["0", "f"], ["g", "", "00"]),
    Case(
        "class_of_special_characters",
        Chars(((45, 45), (91, 91), (93, 94))),
        ["-", "[", "]", "^"],
        ["\\", "a", "Z"],
    ),
    Case(
        "class_that_is_shorter_negated",
        Chars(anything_but((0, 31), (34, 34), (92, 92))),
        [" ", "é", "\U0010ffff", "]"],
        ['"', "\\", "\n", ""],
    ),
    Case("class_of_everything", Chars(VALID), ["a", "\n", "é", "\U0001f600"], ["", "ab"]),
    Case("sequence", Sequence((Literal("a"), DIGIT, Literal("b"))), ["a1b"], ["ab", "a1"]),
    Case(
        "choice_in_sequence",
        Sequence((Choice((Literal("a"), Literal("ab"))), Literal("c"))),
        ["ac", "abc"],
        ["c", "bc"],
    ),
    Case(
        "choice_with_the_empty_text",
        Sequence((Literal("x"), Choice((Sequence(()), Literal("y"))))),
        ["x", "xy"],
        ["", "xyy"],
    ),
    Case("repeat", Repeat(Literal("ab"), 2, 3), ["abab", "ababab"], ["ab", "abababab", "aba"]),
    Case("repeat_without_end", Repeat(DIGIT, 1, None), ["1", "1234"], ["", "1a"]),
    Case("repeat_none", Sequence((Repeat(DIGIT, 0, 0), Literal("a"))), ["a"], ["1a"]),
    Case(
        "repeat_of_what_may_be_empty",
        Repeat(Repeat(Literal("a"), 0, 2), 2, 3),
        ["", "a", "aaaaaa"],
        ["aaaaaaa", "b"],
    ),
    Case(
        "recursive_rule",
        RuleRef("list"),
        ["[]", "[[],[]]", "[[[]]]"],
        ["[", "[[]", "[,]"],
        {
            "list": Sequence(
                (
                    Literal("["),
                    Repeat(Sequence((RuleRef("list"), RuleRef("more"))), 0, 1),
                    Literal("]"),
                )
            ),
            "more": Repeat(Sequence((Literal(","), RuleRef("list"))), 0, None),
        },
    ),
    Case(
        "captures_and_cuts_are_dropped",
        Capture(Slot("call"), Sequence((Cut(), Capture(Slot("name", "raw"), Literal("f")), Cut()))),
        ["f"],
        ["", "ff"],
    ),
    Case("rule_named_root", RuleRef("root"), ["1"], ["", "11"], {"root": DIGIT}),
    Case(
        "regular_class",
        Regular(Machine((((97, 122, 0, 1),),), frozenset({0})), 1, 3),
        ["a", "abc"],
        ["", "abcd", "A"],
    ),
    Case(
        "regular_found_anywhere",
        Regular(WITH_DIGIT, 0, 4),
        ["1", "a1", "ab1c", "1234"],
        ["", "abcd", "abcd1", "12345"],
    ),
    Case(
        "regular_escapes_count_once",
        Regular(JSON_STRING, 1, 2),
        ["\\n", "\\n\\u0041", "ab", "é"],
        ["", "\\", "\\nab", '"', "\\u004"],
    ),
    Case(
        "regular_slug",
        Regular(SLUG, 2, 4),
        ["ab", "a-b", "a-bc"],
        ["a", "a-", "-ab", "a--b", "abcde"],
    ),
    Case("regular_finite", Regular(DATE_LIKE), ["2024-01-31"], ["2024-1-31", "2024-01-311"]),
    Case("regular_finite_bound_too_wide", Regular(DATE_LIKE, 3, 99), ["2024-01-31"], ["2024-01-3"]),
    Case("regular_from_a_count_on", Regular(SLUG, 3, None), ["abc", "a-b-c-d"], ["ab", "a-"]),
    Case(
        "members_in_order",
        Members((member("a", True), member("ab", False), member("b", True)), Literal(",")),
        ['"a":1,"b":2', '"a":1,"ab":3,"b":2'],
        ["", '"a":1', '"b":2', '"b":2,"a":1', '"a":1,"ab":3', '"a":1,"a":1,"b":2', '"a":1,"b":2,'],
    ),
    Case(
        "members_all_optional",
        Members((member("a", False), member("b", False), member("c", False)), Literal(",")),
        ["", '"a":1', '"c":1', '"a":1,"c":1', '"a":1,"b":1,"c":1'],
        [",", '"c":1,"a":1', '"a":1,', ',"a":1', '"a":1"c":1'],
    ),
    Case(
        "members_open_after_the_keys",
        Members((member("X", False),), Literal(","), (OPEN_MEMBER,), 2),
        ["", '"X":1', '"q":1', '"X":1,"q":2', '"X":1,"q":1,"r":2'],
        ['"X":1,"q":1,"r":2,"s":3', '"q":1,"r":2,"s":3', ","],
    ),
    Case(
        "members_counted",
        Members(
            (member("a", False), member("b", True), member("c", False)),
            Literal(","),
            min_count=2,
            max_count=2,
        ),
        ['"a":1,"b":1', '"b":1,"c":1'],
        ['"b":1', '"a":1,"b":1,"c":1', '"a":1,"c":1', ""],
    ),
    Case(
        "members_at_least_with_open",
        Members((member("a", False),), Literal(","), (OPEN_MEMBER,), None, min_count=3),
        ['"a":1,"q":1,"r":1', '"q":1,"r":1,"s":1', '"q":1,"r":1,"s":1,"t":1'],
        ["", '"a":1', '"a":1,"q":1', '"q":1,"r":1'],
    ),
    Case(
        "members_in_any_order",
        Members((member("a", True), member("b", False)), Literal(","), order="any"),
        ['"a":1', '"a":1,"b":1', '"b":1,"a":1'],
        ["", '"b":1', '"a":1,"a":1', '"a":1,"b":1,"a":1'],
    ),
    Case(
        "members_in_any_order_with_open",
        Members(
            (member("key", True),),
            Literal(","),
            (Sequence((Literal('"z'), Repeat(LOWER, 0, 2), Literal('":'), DIGIT)),),
            2,
            "any",
        ),
        ['"key":1', '"z":1,"key":1', '"z":1,"key":1,"za":1', '"key":1,"z":1,"zb":2'],
        ["", '"z":1', '"z":1,"za":1,"zb":1,"key":1', '"key":1,"key":1'],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_engine_accepts_and_rejects(engine: Engine, case: Case) -> None:
    text = emit_grammar(grammar_of(case.start, **case.rules))
    wrong = dict(zip(case.accepts, engine.accepted(text, case.accepts), strict=True))
    assert all(wrong.values()), (wrong, text)
    wrong = dict(zip(case.rejects, engine.accepted(text, case.rejects), strict=True))
    assert not any(wrong.values()), (wrong, text)


# llguidance's GBNF reader drops the leading zeros of \u and \U, and Lark literals have no \x85.
UNREADABLE = {"literal_with_quotes_and_controls", "class_of_everything", "regular_found_anywhere"}


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.name not in UNREADABLE], ids=lambda case: case.name
)
def test_llguidance_agrees(case: Case) -> None:
    text = emit_grammar(grammar_of(case.start, **case.rules))
    wanted = [True] * len(case.accepts) + [False] * len(case.rejects)
    assert llguidance_opinion.accepted(text, [*case.accepts, *case.rejects]) == wanted, text


_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\[(?:[^\]\\\n]|\\.)*\]|[A-Za-z0-9-]+|::=|\{[^}]*\}|.')


def breaches(text: str) -> list[str]:
    """Where GBNF text leaves the subset that all readers share."""
    found = []
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    defined = [line.split(" ")[0] for line in lines if " ::= " in line]
    for line in lines:
        tokens = [t for t in _TOKEN.findall(line) if t != " "]
        if tokens[0] == "|":
            found.append(f"newline before |: {line[:80]}")
        for before, token in zip(["", *tokens], tokens, strict=False):
            if token in ("_", ".", "!", "<") or token in ("[]", "[^]"):
                found.append(f"{token}: {line[:80]}")
            if token[0] in "{?*+" and before == ")":
                found.append(f"repeated group: {line[:80]}")
            if (
                token[0] in "{?*+"
                and before[:1] == '"'
                and len(re.sub(r"\\(x..|u.{4}|U.{8}|.)", "_", before)) != 3
            ):
                found.append(f"repeated literal {before}: {line[:80]}")
            if token[0] == "{" and any(int(n) > 2000 for n in re.findall(r"\d+", token)):
                found.append(f"{token}: {line[:80]}")
            if re.fullmatch(r"[A-Za-z0-9-]+", token) and token not in defined:
                found.append(f"undefined {token}")
            if re.match(r"[0-9-]", token):
                found.append(f"name {token}")
            if token[0] in '"[' and re.search(r'\\[^nrtxuU"\\]', token.replace("\\\\", "")):
                found.append(f"escape in {token}")
    if len(set(defined)) != len(defined):
        found.append("a rule is defined twice")
    return found


BIG: dict[str, Expr] = {
    "long_string": Regular(JSON_STRING, 0, 10_000),
    "long_list": Repeat(Sequence((Literal(", "), DIGIT)), 0, 5_000),
    "slug": Regular(SLUG, 0, 8192),
    "with_digit": Regular(WITH_DIGIT, 0, 8192),
    "words": Choice(tuple(Literal(f'"{n * 7919 % 100_000:05d}"') for n in range(5_000))),
    "many_keys": Members(tuple(member(f"key_{n}", n % 40 == 0) for n in range(200)), Literal(",")),
}


@pytest.mark.parametrize("start", [*(c.start for c in CASES if not c.rules), *BIG.values()])
def test_text_stays_in_the_common_subset(start: Expr) -> None:
    assert breaches(emit_grammar(grammar_of(start))) == []


def test_the_subset_check_notices_breaches() -> None:
    bad = {
        "root ::= a_b": "_",
        'root ::= ("a"){2}': "repeated group",
        'root ::= "ab"*': "repeated literal",
        "root ::= [a]{0,2001}": "{0,2001}",
        "root ::= x": "undefined x",
        "root ::= [a\\-z]": "escape",
        "root ::= .": ".",
        'root ::= "a"\n| "b"': "newline",
    }
    for text, what in bad.items():
        assert any(what in breach for breach in breaches(text)), text
    assert breaches('root ::= x{3} "\\""? |\n    "a"\nx ::= [^\\x2D\\\\]') == []


@pytest.mark.parametrize("most", [1, 1999, 2000, 2001, 3999, 4000, 4001, 8192, 10_000])
def test_long_strings_are_bounded_exactly(engine: Engine, most: int) -> None:
    text = emit_grammar(grammar_of(Regular(JSON_STRING, 0, most)))
    texts = ["a" * (most - 1), "a" * most, "\\n" * most, "a" * (most + 1), "\\n" * most + "a"]
    assert engine.accepted(text, texts) == [True, True, True, False, False]


@pytest.mark.parametrize("least", [1, 2000, 2001, 3000, 6000])
@pytest.mark.parametrize("more", [0, 500, 2500, None])
def test_long_minimums_are_exact(engine: Engine, least: int, more: int | None) -> None:
    most = None if more is None else least + more
    text = emit_grammar(grammar_of(Sequence((Repeat(LOWER, least, most), Literal(".")))))
    counts = [least - 1, least, least + 1]
    expected = [False, True, more != 0]
    if most is not None:
        counts += [most, most + 1]
        expected += [True, False]
    assert engine.accepted(text, ["a" * count + "." for count in counts]) == expected


def test_five_thousand_items_are_bounded_exactly(engine: Engine) -> None:
    text = emit_grammar(grammar_of(BIG["long_list"]))
    texts = [", 1" * count for count in (0, 4_999, 5_000, 5_001)]
    assert engine.accepted(text, texts) == [True, True, True, False]


def test_an_enum_of_five_thousand_is_quick_and_exact(engine: Engine) -> None:
    begun = time.perf_counter()
    text = emit_grammar(grammar_of(BIG["words"]))
    assert time.perf_counter() - begun < 2
    words = sorted(f'"{n * 7919 % 100_000:05d}"' for n in range(5_000))
    others = [f'"{n:05d}"' for n in range(0, 100_000, 37)]
    assert all(engine.accepted(text, words))
    assert engine.accepted(text, others) == [word in set(words) for word in others]


@pytest.mark.parametrize("most", [8192, 700])
def test_counted_machines_of_several_states_are_exact(engine: Engine, most: int) -> None:
    text = emit_grammar(grammar_of(Regular(WITH_DIGIT, 0, most)))
    half = most // 2
    accepts = [
        "1",
        "a" * (most - 1) + "1",
        "1" + "a" * (most - 1),
        "a" * half + "1" + "b" * (half - 1),
    ]
    rejects = ["", "a" * most, "a" * most + "1", "1" + "a" * most, "a" * half + "1" + "b" * half]
    assert engine.accepted(text, accepts) == [True] * len(accepts)
    assert engine.accepted(text, rejects) == [False] * len(rejects)
    assert len(text) < 60_000


def test_two_hundred_keys_stay_small_and_exact(engine: Engine) -> None:
    text = emit_grammar(grammar_of(BIG["many_keys"]))
    assert len(text) < 60_000
    required = [n for n in range(200) if n % 40 == 0]

    def spelled(keys: list[int]) -> str:
        return ",".join(f'"key_{n}":1' for n in keys)

    accepts = [spelled(required), spelled(list(range(200))), spelled(sorted({*required, 199, 41}))]
    rejects = [spelled(required[1:]), spelled(required[:-1]), spelled([*required, 41]), ""]
    assert engine.accepted(text, accepts) == [True] * len(accepts)
    assert engine.accepted(text, rejects) == [False] * len(rejects)


def test_armed_is_emitted_where_there_is_one(engine: Engine) -> None:
    grammar = Grammar(Rules(), Literal("prose"), Literal("call"))

    class Compiled:
        enforced = grammar

    assert engine.accepted(gbnf.emit(Compiled()), ["call", "prose"]) == [True, False]


def test_options_that_differ_late_are_one_option_until_then() -> None:
    text = emit_grammar(grammar_of(Choice((Literal("celsius"), Literal("celestial")))))
    assert text.splitlines()[1:] == ['root ::= "cel" ("estial" | "sius")']


def test_rules_stand_in_order_of_first_use() -> None:
    shared = Sequence((Literal("<"), Repeat(LOWER, 1, 9), Literal(">")))
    start = Sequence(tuple(RuleRef(n) for n in ("zeta", "alpha", "zeta", "alpha")))
    text = emit_grammar(grammar_of(start, alpha=shared, zeta=Sequence((DIGIT, RuleRef("alpha")))))
    names = [line.split()[0] for line in text.splitlines()[1:]]
    assert names == ["root", "zeta", "alpha"]


def test_text_does_not_depend_on_the_hash_seed() -> None:
    code = (
        "from tests.unit.targets.test_gbnf import BIG, CASES, grammar_of\n"
        "from calligram.targets.gbnf import emit_grammar\n"
        "import hashlib\n"
        "texts = [emit_grammar(grammar_of(c.start, **c.rules)) for c in CASES]\n"
        "texts += [emit_grammar(grammar_of(start)) for start in BIG.values()]\n"
        "print(hashlib.sha256('\\0'.join(texts).encode()).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.getcwd()},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "424242")
    }
    assert len(digests) == 1


def test_hidden_left_recursion_does_not_reach_the_engine() -> None:
    empty = Repeat(Literal("x"), 0, 1)
    rule = Choice((Sequence((RuleRef("n"), RuleRef("r"), Literal("a"))), Literal("b")))
    with pytest.raises(GrammarError) as caught:
        emit_grammar(grammar_of(RuleRef("r"), r=rule, n=empty))
    assert [p.code for p in caught.value.problems] == ["left-recursion"]
    assert "r -> r" in caught.value.problems[0].message


def test_an_undefined_rule_is_named() -> None:
    with pytest.raises(GrammarError) as caught:
        emit_grammar(grammar_of(Sequence((RuleRef("space"), RuleRef("spaces"))), space=DIGIT))
    (problem,) = caught.value.problems
    assert problem.code == "undefined-rule"
    assert "`spaces`" in problem.message and problem.hint == "did you mean `space`?"


def test_deep_nesting_needs_no_stack(engine: Engine) -> None:
    expr: Expr = Literal("x")
    for _ in range(3_000):
        expr = Sequence((Literal("("), Choice((expr, DIGIT)), Literal(")")))
    text = emit_grammar(grammar_of(expr))
    deep = "(" * 3_000 + "x" + ")" * 3_000
    assert engine.accepted(text, [deep, deep[:-1], "(1)"]) == [True, False, True]


def test_any_order_above_the_limit_is_refused_by_feature_and_pointer() -> None:
    keys = tuple(member(f"k{n}", False) for n in range(9))
    origin = Origin("/properties/filter", tool="find")
    with pytest.raises(TargetError) as caught:
        emit_grammar(grammar_of(Members(keys, Literal(","), order="any", origin=origin)))
    (problem,) = caught.value.problems
    assert problem.code == "unsupported-feature" and problem.origin == origin
    assert "any-order" in problem.message and "9 keys" in problem.message
    assert "limit of 8" in problem.message


def test_eight_keys_in_any_order_are_exact(engine: Engine) -> None:
    keys = tuple(member(f"k{n}", n == 3) for n in range(8))
    text = emit_grammar(grammar_of(Members(keys, Literal(","), order="any")))
    accepts = ["7,3", "3", "0,1,2,3,4,5,6,7", "7,6,5,4,3,2,1,0", "3,0,7"]
    rejects = ["7", "3,3", "0,1,2,4,5,6,7", "3,0,7,0"]

    def spelled(order: str) -> str:
        return ",".join(f'"k{n}":1' for n in order.split(","))

    assert engine.accepted(text, map(spelled, accepts)) == [True] * len(accepts)
    assert engine.accepted(text, map(spelled, rejects)) == [False] * len(rejects)


def test_a_count_that_takes_too_many_rules_is_refused_with_its_place() -> None:
    # All of the sixty states lie on cycles, so each needs its own count.
    size = 60
    ring = tuple(
        ((97, 97, (q + 1) % size, 1), (98, 98, q * 7 % size, 1), (99, 99, q * 11 % size, 1))
        for q in range(size)
    )
    node = Regular(Machine(ring, frozenset({0})), 0, 100_000, "a ring", Origin("/properties/id"))
    with pytest.raises(TargetError) as caught:
        emit_grammar(grammar_of(node))
    (problem,) = caught.value.problems
    assert problem.code == "unsupported-feature" and problem.origin.pointer == "/properties/id"
    assert "counting" in problem.message and "40000" in problem.message


def test_a_bound_of_two_thousand_million_is_a_few_rules(engine: Engine) -> None:
    text = emit_grammar(grammar_of(Repeat(LOWER, 3, 2**31 - 1)))
    assert len(text.splitlines()) < 20
    assert engine.accepted(text, ["ab", "abc", "a" * 9_000]) == [False, True, True]


def test_the_engine_helper_refuses_and_survives_a_hang(engine: Engine) -> None:
    assert engine.run("root ::= undefined")[0] == "refused"
    short = Engine(seconds=1, memory_mb=1024)
    try:
        assert short.run('root ::= n root "a" | "b"\nn ::= "x"?\n', ["b"])[0] == "hang"
        assert short.run('root ::= "b"', ["b", "a"]) == (
            "ok",
            [(True, 1, "complete"), (False, 0, "unexpected 'a'")],
        )
    finally:
        short.close()
