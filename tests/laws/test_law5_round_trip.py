"""Law 5, round trip: reading what was rendered gives the calls back, types told apart; or render
refuses with a code."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import calligram
from calligram.compiler.spec_loader import load_dialect
from calligram.targets import parser
from tests.laws.tools import leaves_null_out, named_by_keys, tool
from tests.sampling import fuzzed
from tests.test_corpus import named, same

REFUSALS = {"not-carryable", "not-accepted"}

TOOLS = [
    tool(
        "mixed",
        {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "yes": {"type": "boolean"},
            "nothing": {"type": "null"},
            "kind": {"enum": ["a", "b c", 7, 1.5, None, True, ["x"], {"k": "v"}]},
            "list": {"type": "array", "items": {"type": "string"}},
            "maybe": {"type": ["string", "null"]},
            "either": {"type": ["string", "integer"]},
            "any": {},
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "deep": {
                "type": "object",
                "properties": {
                    "in": {"type": "array", "items": {"type": ["number", "string", "null"]}},
                    "größe": {"type": "string"},
                },
            },
        },
    ),
    tool("none", {}),
]


@cache
def reading(dialect: str) -> parser.Reader:
    """One reader a dialect; keys in any order, as values are drawn."""
    return parser.compile(calligram.compile_tools(TOOLS, dialect, key_order="any"))


def violations(dialect: str, calls: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the way of these calls into text and back."""
    read = reading(dialect)
    try:
        text = read.grammar.render(calls)
    except calligram.RenderError as error:
        codes = {p.code for p in error.problems}
        return [] if codes <= REFUSALS else [f"refused with {sorted(codes)}: {calls}"]
    result = read.parse(text)
    back = named(result.calls)
    if len(back) != len(calls) or not all(map(same, back, calls)):
        return [f"{text!r} gives {back}, not {calls}"]
    return [f"{text!r}: {problem}" for problem in result.problems]


def markers(dialect: str) -> list[str]:
    """The texts with which the dialect marks things."""
    spec = load_dialect(dialect)
    texts = [t.text for t in spec.tokens] + list(spec.turn_end.tokens)
    for template in (spec.call, spec.args.param or "", spec.section.open, spec.section.close):
        texts += [p for part in template.split("{") for p in part.split("}") if p.strip()]
    return texts


def texts(dialect: str) -> st.SearchStrategy[str]:
    """Strings of every awkward kind."""
    pieces = st.one_of(
        st.sampled_from(markers(dialect)),
        st.sampled_from(
            ['"', "'", "\\", "\\n", "\n", "\r\n", "\t", "\x00", "\x1f", "\x7f", "\u2028", "😀", "é",
             "\ufeff", "{", "}", "[", ",", ": ", "=", "</", "null", "true", "None", "3", "1.0",
             "<", ">", "&amp;", " ", "\\u0041", "\ud7ff", "\U0010ffff"]
        ),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    )  # fmt: skip
    return st.lists(pieces, max_size=4).map("".join)


numbers = st.one_of(
    st.integers(-(10**20) + 1, 10**20 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -1, 0.0, -0.0, 1e300, 5e-324, 1e21, 0.1, 123456789012345680000.0]),
)


def json_values(strings: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    leaves = st.one_of(st.none(), st.booleans(), numbers, strings)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(strings, inner, max_size=3)
        ),
        max_leaves=6,
    )


@st.composite
def arguments(draw: st.DrawFn, dialect: str) -> dict[str, Any]:
    """Arguments of the tool `all`, each key now and then."""
    string = texts(dialect)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "text": string,
        "count": st.integers(-(10**20) + 1, 10**20 - 1),
        "ratio": numbers,
        "yes": st.booleans(),
        "nothing": st.none(),
        "kind": st.sampled_from(["a", "b c", 7, 1.5, None, True, ["x"], {"k": "v"}]),
        "list": st.lists(string, max_size=3),
        "maybe": st.one_of(string, st.none()),
        "either": st.one_of(string, st.integers(-1000, 1000)),
        "any": json_values(string),
        "map": st.dictionaries(string, string, max_size=3),
        "deep": st.fixed_dictionaries(
            {},
            optional={
                "in": st.lists(st.one_of(numbers, string, st.none()), max_size=3),
                "größe": string,
            },
        ),
    }
    chosen = draw(st.lists(st.sampled_from(list(kinds)), unique=True, max_size=4))
    return {key: draw(kinds[key]) for key in chosen}


def calls(dialect: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    most = 1 if load_dialect(dialect).calls.max == 1 else 2
    one = st.one_of(
        arguments(dialect).map(lambda a: {"name": "mixed", "arguments": a}),
        st.just({"name": "none", "arguments": {}}),
    )
    return st.lists(one, min_size=1, max_size=most)


SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_rendered_reads_back(dialect: str) -> None:
    @settings(max_examples=fuzzed(60), suppress_health_check=SLOW, deadline=None)
    @given(calls(dialect))
    def reads_back(drawn: list[dict[str, Any]]) -> None:
        assert not violations(dialect, drawn)

    reads_back()


def test_most_values_are_not_refused() -> None:
    """Refusing everything would satisfy the law."""
    plain = {
        "text": "a \"b\" 'c' \\d\ne ☃😀",
        "count": -7,
        "ratio": 2.5,
        "yes": True,
        "nothing": None,
        "kind": {"k": "v"},
        "list": ["a", "", "b\n"],
        "maybe": None,
        "either": 3,
        "any": {"a": [1, 2.5, "x", None, True]},
        "map": {"k": "v", "ä b": ""},
        "deep": {"in": [1, "1", None], "größe": "x"},
    }
    for dialect in calligram.dialects():
        read = reading(dialect)
        given: dict[str, Any] = dict(plain)
        if named_by_keys(dialect):
            given |= {"any": [1, 2.5, "x", True, ["y"]], "map": {}}
        if leaves_null_out(dialect):
            del given["nothing"], given["maybe"]
            given |= {"deep": {"in": [1, "x", 2.5]}}
        text = read.grammar.render([{"name": "mixed", "arguments": given}])
        assert same(read.parse(text).calls[0]["arguments"], given), dialect


@pytest.mark.parametrize(
    ("dialect", "argument"),
    [
        ("glm45-xml", {"text": "a</arg_value>\nb"}),
        ("qwen3-coder-xml", {"text": "a\n</parameter>\nb"}),
        ("deepseek-v32-dsml", {"text": "a</｜DSML｜parameter>"}),
        ("gemma4", {"text": 'a<|"|>b'}),
        ("glm45-xml", {"either": "3"}),
        ("glm45-xml", {"any": "true"}),
        ("qwen3-coder-xml", {"maybe": "null"}),
    ],
)
def test_what_the_notation_cannot_hold_is_refused(dialect: str, argument: dict[str, Any]) -> None:
    with pytest.raises(calligram.RenderError) as caught:
        reading(dialect).grammar.render([{"name": "mixed", "arguments": argument}], validate=False)
    assert [p.code for p in caught.value.problems] == ["not-carryable"]


@pytest.mark.parametrize("dialect", ["harmony", "llama3-json", "paren-json"])
def test_more_calls_than_the_dialect_can_write_are_refused(dialect: str) -> None:
    call = {"name": "none", "arguments": {}}
    with pytest.raises(calligram.RenderError) as caught:
        reading(dialect).grammar.render([call, call], validate=False)
    assert [(p.code, p.origin.pointer) for p in caught.value.problems] == [("not-carryable", "/1")]


# The law can be broken --------------------------------------------------------------------------


def test_a_decoder_that_loses_an_escape_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    call = [{"name": "mixed", "arguments": {"list": ["a\nb"]}}]
    assert not violations("lfm2-pythonic", call)
    monkeypatch.setattr("calligram.targets.parser.build.decode_python", lambda text: text)
    assert violations("lfm2-pythonic", call)


def test_a_decoder_that_guesses_types_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    call = [{"name": "mixed", "arguments": {"text": "3"}}]
    assert not violations("glm45-xml", call)

    def guess(text: str, *rest: Any) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return text

    monkeypatch.setattr("calligram.targets.parser.build.decode_untyped", guess)
    assert violations("glm45-xml", call)
