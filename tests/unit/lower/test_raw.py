"""Raw strings whose closer closes only where a value can end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import calligram
from calligram.targets import parser
from tests.unit.lower.helpers import arguments, codes, spec, table, tool

QUOTED = spec(
    'id: q\ncall: "<c>{name}({args})"\nargs:\n  notation: kwargs\n  param: "{key}={value}"\n'
    '  separator: ", "\n'
    '  string: {open: "\\"", close: "\\"", escape: none, closes_before: ",)]}:"}\n'
    'triggers: [{text: "<c>"}]\n'
)
TEXT = {"type": "string"}
GRAMMAR = calligram.compile_tools(
    [tool("f", arguments(a=TEXT, b_=TEXT, c_={"type": "array", "items": TEXT}, d_={}))], QUOTED
)


def test_a_quote_ends_the_text_only_where_the_value_can_end() -> None:
    table(
        GRAMMAR,
        ['<c>f(a="x")', '<c>f(a="")', '<c>f(a=""")', '<c>f(a="say "x" twice", b="\\")',
         '<c>f(a="q" b\\ n\n☃", c=["a "b" c", ""])', '<c>f(a="x" y, b")'],
        ['<c>f(a="x)', '<c>f(a="x"y)', '<c>f(a="x", z="y")', '<c>f(a="x" , z")', '<c>f(a="x"):")',
         '<c>f(a="x" )', "<c>f(a=x)"],
    )  # fmt: skip
    (call,) = parser.compile(GRAMMAR).parse('<c>f(a="say "x" twice", b="x" y, b")').calls
    assert call["arguments"] == {"a": 'say "x" twice', "b": 'x" y, b'}


PIECES = st.lists(st.sampled_from(['"', ",", ")", "]", "}", ":", " ", "\n", "x", "\\", "é"]))
WORDS = PIECES.map("".join)
ANYTHING = st.one_of(WORDS, st.lists(WORDS, max_size=2), st.dictionaries(WORDS, WORDS, max_size=2))


@given(WORDS, WORDS, st.lists(WORDS, max_size=3), ANYTHING)
def test_what_can_be_written_comes_back(a: str, b: str, c: list[str], d: Any) -> None:
    given_arguments = {"a": a, "b": b, "c": c, "d": d}
    try:
        text = GRAMMAR.render([{"name": "f", "arguments": given_arguments}])
    except calligram.RenderError as error:
        assert codes(error) == ["not-carryable"]
        return
    result = parser.compile(GRAMMAR).parse(text)
    assert not result.problems and result.incomplete is None
    assert [call["arguments"] for call in result.calls] == [given_arguments]


@pytest.mark.parametrize(
    ("text", "carried"),
    [('a "b" c', True), ('"', True), ('a", b', False), ('a" )', False), ('{"k": 1}', False)],
)
def test_what_cannot_be_written_is_refused(text: str, carried: bool) -> None:
    call = {"name": "f", "arguments": {"a": text}}
    if carried:
        assert GRAMMAR.check(GRAMMAR.render([call]))
        return
    with pytest.raises(calligram.RenderError) as caught:
        GRAMMAR.render([call])
    assert codes(caught.value) == ["not-carryable"]
