"""The tree notation: elements in elements, lowered, read and written, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.lower.elements import Elements
from calligram.compiler.lower.shape import shapes
from calligram.compiler.spec import DialectSpec
from calligram.targets import gbnf, mask, parser, regex_fsm
from tests.engine import Engine
from tests.sampling import Sampler, dice, fuzzed
from tests.unit.lower.helpers import arguments, codes, spec, table, tool

# Nothing says types, keys stand at both ends, null is left out.
PLAIN = spec(
    "id: plain\n"
    'call: "[call {name}]{args}[/call]"\n'
    "args:\n"
    '  {notation: tree, param: "<{key}>{value}</{key}>", item: "<li>{value}</li>", "null": omit}\n'
    'triggers: [{text: "[call "}]\n'
)
# Each type has its mark.
MARKED = spec(
    "id: marked\n"
    'call: "[call {name}]{args}[/call]"\n'
    "args:\n"
    "  notation: tree\n"
    '  param: "<{key} is {type}>{value}</>"\n'
    '  item: "<is {type}>{value}</>"\n'
    "  type_attr: {string: text, integer: whole, number: number, boolean: bool, null: nil,\n"
    "              array: list, object: map}\n"
    'triggers: [{text: "[call "}]\n'
)
BOTH = pytest.mark.parametrize("dialect", [PLAIN, MARKED], ids=["plain", "marked"])


def grammar(dialect: DialectSpec, parameters: Any, **options: Any) -> CompiledGrammar:
    return calligram.compile_tools([tool("f", parameters)], dialect, max_calls=1, **options)


def call(inside: str) -> str:
    return f"[call f]{inside}[/call]"


def back(made: CompiledGrammar, value: dict[str, Any]) -> Any:
    """The arguments that reading gives for what is written for `value`."""
    result = parser.compile(made).parse(made.render([{"name": "f", "arguments": value}]))
    assert not result.problems
    return result.calls[0]["arguments"]


def narrowed(made: CompiledGrammar, keyword: str) -> dict[str, str]:
    """How the keyword is narrowed, by pointer."""
    found = made.report.by_status("narrowed")
    return {f.origin.pointer: f.how for f in found if f.keyword == keyword}


# What is enforced ---------------------------------------------------------------------------------

NESTED = arguments(
    a={"type": "object", "properties": {"b": {"type": "integer"}, "c": {"type": "string"}}},
    l_={"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 2},
)


def test_members_and_items_are_elements_at_every_depth(engine: Engine) -> None:
    made = grammar(PLAIN, NESTED)
    accept = [
        call("<a></a>"),
        call("<a><b>1</b></a>"),
        call("<a><b>-2</b><c></c></a><l><li>x</li></l>"),
        call("<a><c> y \n z </c></a><l><li>x</li><li>1</li></l>"),
    ]
    reject = [
        call(""),
        call("<a>1</a>"),
        call("<a><b>x</b></a>"),
        call("<a><b>1</c></a>"),
        call("<a><b>1</b><d>1</d></a>"),
        call("<a></a><l></l>"),
        call("<a></a><l>x</l>"),
        call("<a></a><l><li></li></l>"),
        call("<a></a><l><li>x</li><li>y</li><li>z</li></l>"),
        call("<a></a><l><it>x</it></l>"),
        call('<a>{"b": 1}</a>'),
        call("<l><li>x</li></l><a></a>"),
    ]
    table(made, accept, reject)
    said = engine.accepted(gbnf.emit(made), accept + reject)
    assert said == [True] * len(accept) + [False] * len(reject)


def test_marks_and_values_cannot_disagree(engine: Engine) -> None:
    mixed = {"type": ["string", "integer", "boolean", "null"]}
    made = grammar(MARKED, arguments(v={"anyOf": [mixed, {"type": "array", "items": mixed}]}))
    accept = [
        call("<v is text>1</>"),
        call("<v is whole>1</>"),
        call("<v is bool>true</>"),
        call("<v is nil>null</>"),
        call("<v is list></>"),
        call("<v is list><is whole>1</><is text><is whole></><is nil>null</></>"),
    ]
    reject = [
        call("<v is whole>1.5</>"),
        call("<v is number>1</>"),
        call("<v is whole>x</>"),
        call("<v is bool>null</>"),
        call("<v is nil>true</>"),
        call("<v is map></>"),
        call("<v is list>1</>"),
        call("<v is list><v is whole>1</></>"),
        call("<v is list><is list></></>"),
    ]
    table(made, accept, reject)
    said = engine.accepted(gbnf.emit(made), accept + reject)
    assert said == [True] * len(accept) + [False] * len(reject)


def test_numbers_are_marked_as_numbers_whole_ones_too() -> None:
    made = grammar(MARKED, arguments(v={"type": "number"}, e={"enum": [1, 2.5]}, a={}))
    text = call("<v is number>1</><e is whole>1</><a is list><is number>1</></>")
    table(made, [text], [text.replace("number", "whole"), text.replace("whole", "number")])
    value = {"v": 1, "e": 1, "a": [1]}
    assert made.render([{"name": "f", "arguments": value}]) == text
    assert back(made, value) == value


def test_keys_come_in_any_order_where_they_may() -> None:
    made = grammar(PLAIN, NESTED, key_order="any")
    table(
        made,
        [call("<l><li>x</li></l><a><c>x</c><b>1</b></a>")],
        [call("<l><li>x</li></l><a><c>x</c><b>1</b><c>y</c></a>")],
    )
    assert back(made, {"l": ["x"], "a": {"c": "x", "b": 1}}) == {
        "l": ["x"],
        "a": {"c": "x", "b": 1},
    }


def test_raw_text_holds_neither_what_closes_nor_what_opens_an_element() -> None:
    table(
        grammar(PLAIN, arguments(a={"type": "string"})),
        [call("<a>x > y / z [/call</a>")],
        [call("<a>x < y</a>"), call("<a></b></a>"), call("<a><b></b></a>")],
    )
    # Where the mark says that it is text, an opener in it opens nothing.
    table(
        grammar(MARKED, arguments(a={"type": "string"})),
        [call("<a is text><b is text></>"), call("<a is text>< / ></>")],
        [call("<a is text></></>")],
    )


def test_patterns_and_lengths_meet_the_closer(engine: Engine) -> None:
    made = grammar(PLAIN, arguments(a={"type": "string", "pattern": "^[a<]+$", "maxLength": 3}))
    accept, reject = [call("<a>aaa</a>")], [call("<a>aa<</a>"), call("<a>aaaa</a>")]
    table(made, accept, reject)
    assert engine.accepted(gbnf.emit(made), accept + reject) == [True, False, False]


@BOTH
def test_enums_and_constants_of_every_type(dialect: DialectSpec) -> None:
    members = ["a", 1, 2.5, True, ["x", ["y"]], {"k": {"j": [1]}, "i": "z"}]
    made = grammar(dialect, arguments(e={"enum": members}))
    for member in members:
        assert json.dumps(back(made, {"e": member})) == json.dumps({"e": member})
    for other in ("b", 3, False, ["x"], {"k": {"j": [1]}}):
        with pytest.raises(calligram.RenderError):
            made.render([{"name": "f", "arguments": {"e": other}}])


TREE: dict[str, Any] = {
    **arguments(t={"$ref": "#/$defs/t"}),
    "$defs": {
        "t": {
            "anyOf": [
                {"type": "integer"},
                {"type": "array", "items": {"$ref": "#/$defs/t"}},
                arguments(left={"$ref": "#/$defs/t"}, right_={"$ref": "#/$defs/t"}),
            ]
        }
    },
}


@BOTH
@pytest.mark.parametrize("bounds", [calligram.Bounds(recursion=5), None], ids=["bounded", "free"])
def test_recursion_goes_on_through_elements(
    dialect: DialectSpec, bounds: calligram.Bounds | None
) -> None:
    made = grammar(dialect, TREE, bounds=bounds)
    value: Any = {"t": {"left": [1, [2]], "right": 3}}
    assert back(made, value) == value
    deep: Any = 1
    for _ in range(6):
        deep = {"left": deep}
    if bounds is None:
        assert back(made, {"t": deep}) == {"t": deep}
        assert made.report.longest_call is None
    else:
        with pytest.raises(calligram.RenderError, match="not-accepted"):
            made.render([{"name": "f", "arguments": {"t": deep}}])
        assert isinstance(made.report.longest_call, int)


@BOTH
def test_items_that_differ_are_told_by_their_text(dialect: DialectSpec) -> None:
    item = arguments(k={"type": "string"}, n_={"type": ["integer", "string"]})
    unique = {"type": "array", "items": item, "uniqueItems": True}
    made = grammar(dialect, arguments(u=unique))
    value = {"u": [{"k": "a"}, {"k": "a", "n": 1}, {"k": "b"}]}
    assert back(made, value) == value
    automaton = mask.compile(made, calligram.Vocabulary([bytes([b]) for b in range(256)]))
    matcher = automaton.matcher()
    text = made.render([{"name": "f", "arguments": value}])
    assert all(matcher.accept_token(byte) for byte in text.encode())
    with pytest.raises(calligram.RenderError):
        made.render([{"name": "f", "arguments": {"u": [{"k": "a"}, {"k": "a"}]}}])


def test_elements_that_hold_loose_tokens_cannot_differ() -> None:
    loose = PLAIN.model_copy(update={"tokens": spec(TOKENS).tokens})
    unique = {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}
    with pytest.raises(calligram.ToolError) as caught:
        grammar(loose, arguments(u=unique))
    (problem,) = caught.value.problems
    assert problem.code == "unsupported-keyword"
    assert problem.origin.pointer == "/properties/u/uniqueItems"


def marked(param: str, item: str) -> DialectSpec:
    """The marked dialect with other templates."""
    given = MARKED.model_dump(exclude_unset=True, by_alias=True)
    given["args"] = {**given["args"], "param": param, "item": item}
    return DialectSpec.model_validate(given)


def test_keys_may_be_json_strings() -> None:
    made = grammar(
        marked("<m {key:json} {type}>{value}</m>", "<i {type}>{value}</i>"),
        {
            **arguments(**{'a "b"\n>': {"type": "integer"}}),
            "additionalProperties": {"type": "boolean"},
        },
    )
    value = {'a "b"\n>': 1, "": True, "é </m>": False}
    assert back(made, value) == value
    assert '<m "a \\"b\\"\\n>" whole>1</m>' in made.render([{"name": "f", "arguments": value}])


def test_types_may_stand_before_keys_but_then_no_key_is_remembered() -> None:
    dialect = marked("<{type} {key}>{value}</>", "<{type}>{value}</>")
    opened = {"type": "object", "additionalProperties": {"type": ["integer", "boolean"]}}
    made = grammar(dialect, arguments(o=opened, l={"type": "array", "items": opened}))
    value = {"o": {"a": 1, "b": True}, "l": [{"c": 2}]}
    assert back(made, value) == value
    for refused, keyword in (
        ({**opened, "minProperties": 2}, "minProperties"),
        ({"type": "array", "items": opened, "uniqueItems": True}, "uniqueItems"),
    ):
        with pytest.raises(calligram.ToolError) as caught:
            grammar(dialect, arguments(o=refused))
        assert {p.code for p in caught.value.problems} == {"unsupported-keyword"}
        assert caught.value.problems[0].origin.pointer == f"/properties/o/{keyword}"


TOKENS = (
    'id: t\ntokens: ["<li>"]\ncall: "<li>{name}: {args}"\nargs: {notation: json}\n'
    'triggers: [{text: "<li>"}]\n'
)


def test_markers_in_elements_are_the_tokens_that_they_are() -> None:
    marker = "tokens: [{text: '@:', match: require}]\n"
    args = "notation: tree, param: '@:<{key}>{value}@:</{key}>', item: '@:<li>{value}@:</li>'"
    tokened = spec(
        f"id: tokened\n{marker}call: '@:[call {{name}}]{{args}}@:[/call]'\nargs: {{{args}}}\n"
        "triggers: [{text: '@:[call '}]\n"
    )
    tokens = [*(bytes([b]) for b in range(256)), b"@:", b"</", b"@:<"]
    vocabulary = calligram.Vocabulary(tokens, special_ids=[256], eos_ids=[])
    item = arguments(k={"type": "string"})
    schema = arguments(
        l={"type": "array", "items": item, "minItems": 1},
        u={"type": "array", "items": {"type": ["string", "array"]}, "uniqueItems": True},
    )
    made = grammar(tokened, schema)
    automaton = mask.compile(made, vocabulary)
    value = {"l": [{"k": "x@"}], "u": ["a", ["b"], "c"]}
    text = made.render([{"name": "f", "arguments": value}])
    assert parser.compile(made).parse(text).calls[0]["arguments"] == value
    matcher = automaton.matcher()
    for part in text.split("@:")[1:]:
        assert not matcher.fork().accept_token(tokens.index(b"@:<")), part
        spelled = matcher.fork()
        assert not (spelled.accept_token(ord("@")) and spelled.accept_token(ord(":"))), part
        assert matcher.accept_token(256), part
        for byte in part.encode():
            assert matcher.accept_token(byte), part
    assert matcher.is_completed()
    with pytest.raises(calligram.RenderError):
        made.render([{"name": "f", "arguments": {**value, "u": [["b"], ["b"]]}}])


@BOTH
def test_schemas_may_nest_deep(dialect: DialectSpec) -> None:
    nested: dict[str, Any] = {"type": "integer"}
    value: Any = 1
    for level in range(100):
        if level % 2:
            nested, value = {"type": "array", "items": nested, "minItems": 1}, [value]
        else:
            nested, value = arguments(k=nested), {"k": value}
    made = grammar(dialect, arguments(a=nested))
    assert back(made, {"a": value}) == {"a": value}
    deeper = nested
    for _ in range(140):
        deeper = arguments(k=deeper)
    assert grammar(dialect, arguments(a=deeper)).report.longest_call is not None


@BOTH
def test_masks_and_tables_take_what_check_takes(dialect: DialectSpec) -> None:
    small = calligram.Bounds(string=3, items=2, keys=2, depth=1, recursion=1, digits=2, exponent=1)
    made = grammar(dialect, arguments(a={}, b_=NESTED, c_={"type": "boolean"}), bounds=small)
    vocabulary = calligram.Vocabulary(
        [*(bytes([b]) for b in range(256)), b"</", b"<li>", b" is ", b"<e>"], eos_ids=[259]
    )
    automaton = mask.compile(made, vocabulary)
    tokens = regex_fsm.compile(made, vocabulary)
    for text in Sampler(made.enforced.rules, dice(dialect.id)).texts(made.enforced.start, 20):
        for cut in (text, text[:-1], text.replace("</", "<", 1)):
            matcher, state, alive = automaton.matcher(), tokens.start, True
            for byte in cut.encode():
                alive = alive and matcher.accept_token(byte)
                state = tokens.next_state(state, byte) if state >= 0 else state
            ended = alive and matcher.accept_token(259)
            by_table = tokens.next_state(state, 259) == regex_fsm.ENDED
            assert ended == by_table == bool(made.check(cut)), cut


@BOTH
def test_what_is_enforced_is_read_and_valid(dialect: DialectSpec) -> None:
    loose = {
        "anyOf": [{"type": "array", "items": {}}, {"type": "string"}, {"type": "null"}, NESTED]
    }
    made = grammar(dialect, arguments(a=loose, b_=loose, t_={"type": ["object", "integer"]}))
    reader = parser.compile(made)
    sampler = Sampler(made.enforced.rules, dice("tree", dialect.id))
    for text in sampler.texts(made.enforced.start, fuzzed(40)):
        result = reader.parse(text)
        assert not result.problems, text
        again = made.render(result.calls)
        assert reader.parse(again).calls == result.calls


def test_no_arguments_may_have_a_text_of_their_own() -> None:
    given = {**PLAIN.model_dump(exclude_unset=True, by_alias=True)}
    given["args"] = {**given["args"], "open": "(", "close": ")", "empty": "-"}
    made = grammar(DialectSpec.model_validate(given), arguments(a_={"type": "integer"}))
    table(made, [call("-"), call("(<a>1</a>)")], [call(""), call("()"), call("<a>1</a>")])
    assert back(made, {}) == {}
    assert back(made, {"a": 1}) == {"a": 1}
    spaced = parser.compile(made).parse(call("( <a>1</a>\n)"))
    assert spaced.calls[0]["arguments"] == {"a": 1}


# Keys that nobody knows ---------------------------------------------------------------------------


def test_undeclared_keys_are_written_where_an_element_says_its_key_once() -> None:
    made = grammar(
        MARKED, arguments(m={"type": "object", "additionalProperties": {"type": "null"}})
    )
    assert back(made, {"m": {"x y": None, "é": None}}) == {"m": {"x y": None, "é": None}}
    assert "/properties/m/additionalProperties" not in narrowed(made, "additionalProperties")


def test_few_undeclared_keys_are_written_one_by_one() -> None:
    few = {"patternProperties": {"^(a|b)[12]$": {"type": "integer"}}, "additionalProperties": False}
    made = grammar(PLAIN, arguments(m={"type": "object", "minProperties": 2, **few}))
    assert back(made, {"m": {"a1": 1, "b2": 2}}) == {"m": {"a1": 1, "b2": 2}}
    table(made, [], [call("<m><a1>1</a1></m>"), call("<m><a1>1</a1><a3>1</a3></m>")])
    assert "/properties/m/patternProperties" not in narrowed(made, "patternProperties")


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        ({"additionalProperties": {"type": "integer"}}, "additionalProperties"),
        ({"patternProperties": {"^x": {}}, "additionalProperties": False}, "patternProperties"),
    ],
)
def test_many_undeclared_keys_are_narrowed_away(schema: Any, keyword: str) -> None:
    made = grammar(
        PLAIN, arguments(m={"type": "object", "properties": {"a": {"type": "integer"}}, **schema})
    )
    assert "not declared" in narrowed(made, keyword)[f"/properties/m/{keyword}"]
    table(made, [call("<m></m>"), call("<m><a>1</a></m>")], [call("<m><x1>1</x1></m>")])
    one = [{"name": "f", "arguments": {"m": {"x1": 1}}}]
    with pytest.raises(calligram.RenderError) as caught:
        made.render(one)
    assert codes(caught.value) == ["not-carryable"]
    assert caught.value.problems[0].origin.pointer == "/arguments/m/x1"
    # It can be written, and read, though no grammar asks for it.
    text = made.render(one, validate=False)
    assert text == call("<m><x1>1</x1></m>")
    assert parser.compile(made).parse(text).calls[0]["arguments"] == {"m": {"x1": 1}}


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"minProperties": 2, "required": ["a"]}, "/properties/m/minProperties"),
        ({"not": {"additionalProperties": {"type": "integer"}}}, "/properties/m/not"),
    ],
)
def test_undeclared_keys_that_are_asked_for_are_refused(schema: Any, pointer: str) -> None:
    opened = {"type": "object", "additionalProperties": {"type": ["integer", "string"]}, **schema}
    opened["properties"] = {"a": {"type": "integer"}}
    with pytest.raises(calligram.ToolError) as caught:
        grammar(PLAIN, arguments(m=opened))
    assert {(p.code, p.origin.pointer) for p in caught.value.problems} == {
        ("unsupported-keyword", pointer)
    }


@pytest.mark.parametrize(
    ("dialect", "bad", "good"),
    [
        (PLAIN, ["", "a>b", "/a", "a\nb", " a"], ["a b", "a/", "é", 'a"b', "li"]),
        (MARKED, ["", "a is b", "a\n", "/>", "/>x"], ["a b", "is", "a>b", "li"]),
    ],
    ids=["plain", "marked"],
)
def test_keys_that_would_be_something_else_are_refused(
    dialect: DialectSpec, bad: list[str], good: list[str]
) -> None:
    for key in good:
        assert back(grammar(dialect, arguments(**{key: {"type": "integer"}})), {key: 1}) == {key: 1}
    for key in bad:
        with pytest.raises(calligram.ToolError) as caught:
            grammar(dialect, arguments(**{key: {"type": "integer"}}))
        assert codes(caught.value) == ["not-carryable"], key


@pytest.mark.parametrize(
    ("param", "item", "name"),
    [
        ("<{key}>{value}</{key}>", "<li>{value}</li>", "li"),
        ("<{key}>{value}</{key}>", "<a>{value}</b>", None),
        ("<{key} is {type}>{value}</>", "<x is {type}>{value}</>", "x"),
        ("<{key} is {type}>{value}</>", "<is {type}>{value}</>", None),
    ],
)
def test_the_key_whose_member_looks_like_an_item(param: str, item: str, name: str | None) -> None:
    given = PLAIN.model_dump(exclude_unset=True, by_alias=True)
    given["args"] = {**given["args"], "param": param, "item": item}
    (shape,) = shapes(DialectSpec.model_validate(given))
    assert Elements.of(shape, ()).item_name == name


# Null ---------------------------------------------------------------------------------------------

MAYBE = {"type": ["integer", "null"]}


def test_null_is_left_out_and_comes_back_where_it_must() -> None:
    made = grammar(PLAIN, arguments(a=MAYBE, b={"type": "null"}, c_=MAYBE))
    table(
        made,
        [call(""), call("<a>1</a>"), call("<a>1</a><c>2</c>")],
        [call("<a></a>"), call("<a>null</a>"), call("<b></b>")],
    )
    assert back(made, {"a": None, "b": None}) == {"a": None, "b": None}
    assert back(made, {"a": 1, "b": None, "c": 2}) == {"a": 1, "b": None, "c": 2}
    how = narrowed(made, "type")
    assert "never null" in how["/properties/c/type"]
    assert "never null" not in how["/properties/a/type"]
    with pytest.raises(calligram.RenderError) as caught:
        made.render([{"name": "f", "arguments": {"a": 1, "b": None, "c": None}}])
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.pointer) == ("not-carryable", "/arguments/c")


def test_items_that_are_null_are_empty() -> None:
    made = grammar(PLAIN, arguments(l={"type": "array", "items": MAYBE}))
    table(made, [call("<l><li></li><li>1</li></l>")], [call("<l><li>null</li></l>")])
    assert back(made, {"l": [None, 1]}) == {"l": [None, 1]}


def test_null_is_written_where_it_is_not_left_out() -> None:
    made = grammar(MARKED, arguments(a=MAYBE, l={"type": "array", "items": MAYBE}, c_=MAYBE))
    for value in ({"a": None, "l": [None], "c": None}, {"a": 1, "l": []}):
        assert back(made, value) == value


def test_conditions_count_a_null_that_is_not_written() -> None:
    either = {
        **arguments(a=MAYBE, b=MAYBE, c_={"type": "boolean"}),
        "anyOf": [{"properties": {"a": {"type": "integer"}}}, {"required": ["c"]}],
    }
    made = grammar(PLAIN, arguments(o=either))
    table(
        made,
        [call("<o><a>1</a></o>"), call("<o><c>true</c></o>"), call("<o><b>2</b><c>true</c></o>")],
        [call("<o></o>"), call("<o><b>2</b></o>")],
    )
    value = {"o": {"a": None, "b": 2, "c": True}}
    assert back(made, value) == value


@pytest.mark.parametrize(
    ("count", "refused"),
    [({"minProperties": 1}, False), ({"minProperties": 2}, True), ({"maxProperties": 2}, True),
     ({"maxProperties": 3}, False)],
)  # fmt: skip
def test_numbers_of_keys_that_are_not_all_written(count: dict[str, int], refused: bool) -> None:
    more = {"type": "integer"}
    schema = arguments(o={**arguments(a=MAYBE, b_=more, c_=more), **count})
    if not refused:
        assert back(grammar(PLAIN, schema), {"o": {"a": None}}) == {"o": {"a": None}}
        return
    with pytest.raises(calligram.ToolError) as caught:
        grammar(PLAIN, schema)
    (problem,) = caught.value.problems
    assert problem.code == "unsupported-keyword"
    assert problem.origin.pointer == f"/properties/o/{next(iter(count))}"


# What does not come back --------------------------------------------------------------------------


TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT}


@pytest.mark.parametrize(
    ("schema", "carried", "refused"),
    [
        ({"type": ["string", "integer"]}, ["x", 3, "03", ""], ["3"]),
        ({"type": ["string", "array"]}, ["", "x", [1]], [[], ["1"], ["x", []]]),
        ({"type": ["array", "string"]}, [[], "x"], [""]),
        ({"anyOf": [arguments(a_={"type": "integer"}), {"type": "array"}]}, [{}, {"a": 1}], [[]]),
        ({"type": "array", "items": {"type": ["string", "null"]}}, [["", "null", "x"]], [[None]]),
        ({"type": "array", "items": {"type": ["null", "string"]}}, [[None, "x"]], [[""]]),
        ({"anyOf": [TEXTS, arguments(li=TEXT)]}, [["x"], [], ["x", "y"]], [{"li": "x"}]),
        ({"anyOf": [arguments(li=TEXT), TEXTS]}, [{"li": "x"}, [], ["x", "y"]], [["x"]]),
        ({}, ["", "x", 3, True, [1], ["x", [2]]], ["3", "true", [], {}, ["x", None]]),
    ],
)  # fmt: skip
def test_what_the_schema_does_not_tell_apart_is_refused(
    schema: Any, carried: list[Any], refused: list[Any]
) -> None:
    made = grammar(PLAIN, arguments(v=schema))
    for value in carried:
        assert json.dumps(back(made, {"v": value})) == json.dumps({"v": value})
    for value in refused:
        with pytest.raises(calligram.RenderError) as caught:
            made.render([{"name": "f", "arguments": {"v": value}}])
        assert codes(caught.value) == ["not-carryable"], value
        assert caught.value.problems[0].origin.pointer.startswith("/arguments/v")
    marked = grammar(MARKED, arguments(v=schema))
    for value in [*carried, *refused]:
        assert json.dumps(back(marked, {"v": value})) == json.dumps({"v": value})


@BOTH
def test_strings_that_hold_a_closer_are_refused(dialect: DialectSpec) -> None:
    made = grammar(dialect, arguments(a={"type": "string"}))
    for text in ("a</", "</a>", "a</>"):
        if dialect is MARKED and text != "a</>":
            assert back(made, {"a": text}) == {"a": text}
            continue
        with pytest.raises(calligram.RenderError) as caught:
            made.render([{"name": "f", "arguments": {"a": text}}], validate=False)
        assert codes(caught.value) == ["not-carryable"]


# Reading ------------------------------------------------------------------------------------------


def test_broken_trees_are_read_with_their_problems() -> None:
    made = grammar(PLAIN, NESTED)
    reader = parser.compile(made)

    def found(inside: str) -> tuple[Any, set[str]]:
        result = reader.parse(call(inside))
        return result.calls[0]["arguments"], {p.code for p in result.problems}

    assert found("<a><b>1</x></a>") == ({"a": {"b": 1}}, {"mismatched-key"})
    assert found("<a><b>1</b><b>2</b></a>") == ({"a": {"b": 2}}, {"duplicate-key"})
    assert found("<a><b>x</b><c>3</c></a>") == ({"a": {"b": "x", "c": "3"}}, {"invalid-arguments"})
    assert found("<a></a><l><li>1</li><li>2</li><li>3</li></l>") == (
        {"a": {}, "l": ["1", "2", "3"]},
        {"invalid-arguments"},
    )
    assert found("\n <a>\n <b>1</b>\n</a>\n") == ({"a": {"b": 1}}, {"not-accepted"})
    assert found("<a><z><y>1</y></z></a>") == ({"a": {"z": {"y": 1}}}, {"unknown-key"})
    # JSON where elements belong is read where no string may stand.
    assert found('<a>{"b": 1}</a>') == ({"a": {"b": 1}}, {"not-accepted"})


def test_marks_are_believed_when_reading() -> None:
    made = grammar(MARKED, arguments(a={"type": "string"}, b_={"type": "integer"}))
    reader = parser.compile(made)

    def found(inside: str) -> Any:
        result = reader.parse(call(inside))
        assert result.problems
        return result.calls[0]["arguments"]

    assert found("<a is whole>3</>") == {"a": 3}
    assert found("<a is text>x</><b is text>3</>") == {"a": "x", "b": "3"}
    assert found("<a is list><is text>x</></>") == {"a": ["x"]}
    assert found("<a is map><k is nil>null</></>") == {"a": {"k": None}}
    assert found("<a is bool>maybe</>") == {"a": "maybe"}


@BOTH
def test_trees_that_are_too_deep_are_refused_and_do_not_break_anything(
    dialect: DialectSpec,
) -> None:
    reader = parser.compile(grammar(dialect, arguments(a_={})))
    opening, closing = ("<a>", "</a>") if dialect is PLAIN else ("<a is map>", "</>")
    for depth in (100, 200, 5000):
        result = reader.parse(call(opening * depth + closing * depth))
        assert result.problems or depth == 100
        assert result.calls == [] or depth < 5000


def test_a_stream_gives_the_arguments_when_the_call_ends() -> None:
    made = grammar(PLAIN, NESTED)
    text = call("<a><b>1</b></a><l><li>x</li></l>")
    for size in (1, 2, 5):
        stream = parser.compile(made).stream()
        deltas = [d for i in range(0, len(text), size) for d in stream.feed(text[i : i + size])]
        assert stream.close().calls[0]["arguments"] == {"a": {"b": 1}, "l": ["x"]}
        deltas += stream.rest
        assert [d.kind for d in deltas] == ["call", "arguments"]
        assert json.loads(deltas[1].text) == {"a": {"b": 1}, "l": ["x"]}
