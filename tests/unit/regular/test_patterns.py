"""Patterns mean what ECMA-262 says, searched anywhere; bad and hostile ones are refused."""

from __future__ import annotations

import itertools
import re
import time

import interegular
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calligram.compiler.errors import LimitExceeded, SchemaError
from calligram.compiler.origin import Origin
from calligram.compiler.regular.language import Language

HERE = Origin("/properties/x/pattern", tool="t")


def language(source: str) -> Language:
    return Language.pattern(source, origin=HERE)


MEANINGS: list[tuple[str, list[str], list[str]]] = [
    # pattern, accepted, rejected
    ("b", ["b", "abc"], ["", "a"]),
    ("^a|b$", ["a", "ax", "b", "xb"], ["", "xa", "bx"]),
    ("(^|x)y", ["y", "yes", "xy", "axy"], ["ay", "x"]),
    ("a(?:\\/|$)", ["a", "xa", "a/", "a/b"], ["ab", ""]),
    ("^$", [""], ["\n", "a"]),
    ("^a$", ["a"], ["a\n", "\na", "aa"]),
    ("^.$", ["a", "\U0001f600", "\x85"], ["\n", "\r", "\u2028", "\u2029", "ab", ""]),
    ("^\\d+$", ["0", "123"], ["\u0663", "", "1a"]),
    ("^\\w$", ["a", "Z", "_", "9"], ["\xe9", "-", "ſ"]),
    ("^\\s$", [" ", "\xa0", "\ufeff", "\u2028", "\u3000", "\v"], ["\x1c", "\x85", "\u180e", "a"]),
    ("^\\S\\D\\W$", ["aa-"], [" a-", "a1-", "aaa"]),
    ("\\bcat\\b", ["cat", "a cat.", "cat\xe9"], ["cats", "concat", "_cat"]),
    ("a\\Bb", ["ab"], ["a b", "a"]),
    ("\\B", ["", "ab", " "], ["a"]),
    ("^[a-c-]$", ["a", "b", "c", "-"], ["d"]),
    ("^[\\w-.]$", ["a", "-", "."], ["/", " "]),
    ("^[^]$", ["\n", "a"], ["", "ab"]),
    ("[]", [], ["", "a"]),
    ("^[\\]\\[]$", ["]", "["], ["\\"]),
    ("^[\\b]$", ["\b"], ["b"]),
    ("^[^a-z]$", ["A", "\n", "\U0001f600"], ["a", "m", "z"]),
    ("^\\-\\!\\/\\.\\@\\_\\ \\%$", ["-!/.@_ %"], ["-!/a@_ %"]),
    ("^\\x41\\u0042\\u{43}\\cJ\\0\\t$", ["ABC\n\0\t"], ["ABC"]),
    ("^\\ud83d\\ude00$", ["\U0001f600"], ["\ud83d", ""]),
    ("^[\\ud83d\\ude00-\\ud83d\\ude4f]$", ["\U0001f610"], ["\U0001f650"]),
    ("\\ud83d", [], ["\U0001f600", "a"]),
    ("^a{2}$", ["aa"], ["a", "aaa"]),
    ("^a{2,}$", ["aa", "aaaa"], ["a"]),
    ("^a{1,2}?$", ["a", "aa"], ["", "aaa"]),
    ("^a{0}b$", ["b"], ["ab"]),
    ("^{a}$", ["{a}"], ["a"]),
    ("^x{a,b}$", ["x{a,b}"], ["x"]),
    ("^a]}$", ["a]}"], ["a"]),
    ("^(?<year>\\d{4})$", ["2024"], ["24"]),
    ("^(?P<year>\\d{4})$", ["2024"], ["24"]),
    ("", ["", "anything"], []),
    ("^\\p{L}+$", ["aé漢"], ["a1", "-"]),
    ("^\\p{Lu}\\p{Ll}$", ["Éa"], ["éa"]),
    ("^\\P{Letter}$", ["1"], ["a"]),
    ("^\\p{Script=Greek}+$", ["αΩ"], ["a"]),
    ("^\\p{sc=Hira}$", ["あ"], ["ア"]),
    ("^[\\p{Nd}_]$", ["1", "\u0663", "_"], ["a"]),
    ("^\\p{ASCII}$", ["a"], ["é"]),
    ("^(?:)$", [""], ["a"]),
    ("^(a|)$", ["a", ""], ["b"]),
]

LOOKAROUND: list[tuple[str, list[str], list[str]]] = [
    ("^(?=.*\\d)(?=.*[A-Z]).{4}$", ["a1B.", "AAA1"], ["aaa1", "AAAA", "A1"]),
    ("^(?!.*\\.\\.)[a-z.]+$", ["a.b", "."], ["a..b", ""]),
    ("^(?!-)[a-z-]+(?<!-)$", ["a-b", "a"], ["-a", "a-", "-"]),
    ("foo(?!bar)", ["foo", "foobaz", "foobarfoo"], ["foobar", "fo"]),
    ("(?<=\\$)\\d+", ["$1", "a$42"], ["1", "$", "$a1"]),
    ("(?<!\\$)\\b\\d+$", ["1", "a 42"], ["$1", "a1"]),
    ("^(?:(?!ab).)*$", ["", "ba", "acb"], ["ab", "cabc"]),
    ("^(?:a(?=b)|b(?!b))+$", ["ab", "abab", "b"], ["a", "abb", "ba"]),
    ("(?<=^a(?=b))b+$", ["ab", "abbb"], ["b", "aab", "a"]),
    ("(?<=(?<!x)y)z", ["yz", "ayz"], ["xyz", "z"]),
    ("(?=(?!ab)a)", ["a", "aa", "aba"], ["ab", "b"]),
    ("a(?=b$)", ["ab", "aab"], ["abc", "a"]),
    ("(?!)", [], ["", "a"]),
    ("(?=^)a", ["a", "ab"], ["ba"]),
]


@pytest.mark.parametrize(("source", "accepts", "rejects"), MEANINGS + LOOKAROUND)
def test_meaning(source: str, accepts: list[str], rejects: list[str]) -> None:
    found = language(source)
    assert [text for text in accepts if not found.accepts(text)] == []
    assert [text for text in rejects if found.accepts(text)] == []


INVALID = [
    # pattern, reason, position
    ("([a-z", "missing ]", 1),
    ("(a", "missing )", 0),
    ("a(b(c)", "missing )", 1),
    ("a)", "unmatched )", 1),
    ("*a", "nothing to repeat", 0),
    ("a|+", "nothing to repeat", 2),
    ("a**", "nothing to repeat: a quantifier after a quantifier", 2),
    ("{2}", "nothing to repeat", 0),
    ("^*", "nothing to repeat: an assertion has no repeat", 1),
    ("\\b+", "nothing to repeat: an assertion has no repeat", 2),
    ("(?=a)*", "nothing to repeat: an assertion has no repeat", 5),
    ("a{2,1}", "numbers out of order in {} quantifier", 1),
    ("a{,3}", "{,3} is no quantifier, write {0,3}", 1),
    ("[z-a]", "range out of order in character class", 1),
    ("a\\", "\\ at end of pattern", 1),
    ("[\\", "\\ at end of pattern", 1),
    ("\\x4", "invalid escape \\x", 0),
    ("\\u{110000}", "code point beyond U+10FFFF", 0),
    ("\\01", "invalid decimal escape", 0),
    ("\\c1", "invalid escape \\c", 0),
    ("a\\Z", "\\Z is not ECMA-262, write $", 1),
    ("\\Aa", "\\A is not ECMA-262, write ^", 0),
    ("\\a", "invalid escape \\a", 0),
    ("\\pL", "invalid property escape, write \\p{L}", 0),
    ("(?<1>a)", "invalid group name", 0),
    ("(?<a>x)(?<a>y)", "duplicate group name 'a'", 7),
    ("(?*a)", "unknown kind of group", 0),
    ("(?", "unknown kind of group", 0),
]
UNSUPPORTED = [
    ("(a)\\1", "the back-reference \\1", 3),
    ("(?<x>a)\\k<x>", "the back-reference \\k", 7),
    ("(?P<x>a)(?P=x)", "the back-reference (?P=", 8),
    ("(?i)abc", "the inline flags (?i)", 0),
    ("a(?i:b)", "the inline flags (?i:", 1),
    ("(?>a)", "the atomic group (?>", 0),
    ("a++", "the possessive quantifier +", 2),
    ("(?#x)a", "the comment (?#", 0),
    ("\\p{Emoji}", "the Unicode property \\p{Emoji}", 0),
    ("\\p{Script=Klingon}", "the Unicode property \\p{Script=Klingon}", 0),
]


@pytest.mark.parametrize(("source", "reason", "position"), INVALID)
def test_invalid_pattern_has_reason_and_position(source: str, reason: str, position: int) -> None:
    with pytest.raises(SchemaError) as caught:
        language(source)
    (problem,) = caught.value.problems
    assert problem.code == "invalid-pattern"
    assert problem.origin == HERE
    assert problem.message == (
        f"invalid regular expression '{source}': {reason} at position {position}"
    )


@pytest.mark.parametrize(("source", "what", "position"), UNSUPPORTED)
def test_unsupported_pattern_names_the_construct(source: str, what: str, position: int) -> None:
    with pytest.raises(SchemaError) as caught:
        language(source)
    (problem,) = caught.value.problems
    assert problem.code == "unsupported-pattern"
    assert problem.message == (
        f"regular expression '{source}' uses {what} at position {position}, which is not supported"
    )


@pytest.mark.parametrize("source", ["(" * 5000, "(?:" * 5000 + "a" + ")" * 5000, "[" * 5000])
def test_deep_or_broken_nesting_is_an_error_not_a_crash(source: str) -> None:
    with pytest.raises(SchemaError):
        language(source)


def test_deep_groups_within_the_limit_work() -> None:
    assert language("^" + "(?:" * 100 + "a" + ")*" * 100 + "$").accepts("aaa")


@pytest.mark.parametrize(
    "source",
    [
        "(a{1,1000}){1,1000}",
        "^.{0,1000}x.{0,1000}$",
        "^(?:.{0,200}a.{0,200}){9}$",
        "^(?:(?:(?:a{1,99}){1,99}){1,99}){1,99}$",
        "^(?:a?){20000}$",
        "^a{999999999}$",
        "(?=.*a.{30}b)(?!.*b.{25}a)(?:.{9})*$",
    ],
)
def test_hostile_patterns_hit_a_limit_soon(source: str) -> None:
    hostile = language(source)
    started = time.perf_counter()
    with pytest.raises(LimitExceeded) as caught:
        _ = hostile.dfa
    assert time.perf_counter() - started < 10
    problem = caught.value.problems[0]
    assert problem.code == "pattern-too-large"
    assert problem.origin == HERE


def test_a_repeat_count_of_many_digits_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        language("a{" + "9" * 10_000 + "}")
    assert caught.value.problems[0].code == "unsupported-pattern"


@pytest.mark.parametrize(
    "source",
    [
        "^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$",
        ".{0,1000}x.{0,1000}",
        "^(?:a|aa)+$",
        "(x+x+)+y",
        "((a*)*)*b",
        "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$",
        "^(?:[0-9]{1,3}\\.){3}[0-9]{1,3}(?:/[0-9]{1,2})?$",
    ],
)
def test_ordinary_patterns_are_quick(source: str) -> None:
    language("warm").dfa  # noqa: B018
    started = time.perf_counter()
    _ = language(source).dfa
    # A few milliseconds; the margin is for busy machines.
    assert time.perf_counter() - started < 0.25


ATOMS = st.sampled_from(["a", "b", " ", "[ab]", "[^a]", ".", "\\w", "\\s"])
PLAIN = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{0,3}"])).map(
            lambda p: f"(?:{p[0]}){p[1]}"
        ),
    ),
    max_leaves=8,
)
ANCHORED = st.recursive(
    ATOMS | st.sampled_from(["^", "$", "\\b", "(?<=a)", "(?<!b )", "(?<=^a)", "(?<!.(?=b))"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda p: f"(?:{p[0]}|{p[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(
            lambda p: f"(?:{p[0]}){p[1]}"
        ),
        inner.map(lambda p: f"(?={p})"),
        inner.map(lambda p: f"(?!{p})"),
    ),
    max_leaves=8,
)
WORDS = ["".join(w) for n in range(5) for w in itertools.product("ab ", repeat=n)]


@settings(max_examples=300, deadline=None)
@given(PLAIN | ANCHORED)
def test_agrees_with_python_where_the_meanings_are_the_same(source: str) -> None:
    # No line ends, ASCII only, no \B (which Python denies on the empty text).
    found = language(source)
    search = re.compile(source)
    for word in WORDS:
        assert found.accepts(word) == bool(search.search(word)), (source, word)


@settings(max_examples=60, deadline=None)
@given(PLAIN)
def test_agrees_with_interegular(source: str) -> None:
    # Interegular matches whole texts, and \s, \w and . over its own alphabet.
    found = language(f"^(?:{source})$")
    machine = interegular.parse_pattern(source).to_fsm()
    for word in WORDS:
        assert found.accepts(word) == machine.accepts(word), (source, word)


@pytest.mark.parametrize(
    ("source", "low", "high", "accepts", "rejects"),
    [
        ("^(?=.{1,253}$)(?:[a-z]{1,63}\\.)+$", 1, 253, ["a.", "ab.c."], ["", "a"]),
        ("^(?=.{3,}$)(?=[^]{0,9}$)a*$", 3, 9, ["", "aaa"], ["b"]),
        ("^(?=.{2,5}$)[^]*$", 2, 5, ["a"], ["a\nb"]),
        ("^(?!.{9}$)a*$", 0, None, ["aa"], ["a" * 9]),
        ("a", 0, None, ["xa"], ["x"]),
    ],
)
def test_a_length_asked_for_ahead_is_split_off(
    source: str, low: int, high: int | None, accepts: list[str], rejects: list[str]
) -> None:
    rest, *bounds = language(source).split_length()
    assert bounds == [low, high]
    assert [text for text in accepts if not rest.accepts(text)] == []
    assert [text for text in rejects if rest.accepts(text)] == []
    if (high or 0) < 100:
        assert rest.dfa.with_length(low, high) == language(source).dfa
