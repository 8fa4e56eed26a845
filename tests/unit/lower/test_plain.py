"""What is lowered later: the same grammar as if it were lowered at once, and the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from threading import Barrier, Thread
from typing import Any

import pytest

import calligram
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.lower.arguments import ArgumentsLowering
from calligram.compiler.lower.plain import PlainValues
from calligram.targets import gbnf, mask
from tests.unit.lower.helpers import tool

# Names that some notation has no way to write, beside those that all have.
NAMES = (
    *("a", "b_c", "d-e", "ünï", "f g", "h:i", "j</", "k=l", '"m"', " n", "o,p", "{q}", ""),
    *(
        "</parameter>",
        "<|tool_call>",
        "r>",
        "s\n",
        "\ud800",
        "\udfffx",
        "y\udc00",
        "</arg_key>",
        "<|",
        "|>",
    ),
)
TEXTS = (*NAMES, "t</arg_value>u", '<|"|>', "v" * 30, "w\n</parameter>", "'", "\\")
BYTES = calligram.Vocabulary(tokens=[bytes([n]) for n in range(256)], special_ids=[], eos_ids=[0])
SCALARS: tuple[Any, ...] = (
    {"type": "string"},
    {"type": "string", "minLength": 2},
    {"type": "string", "maxLength": 3},
    {"type": "integer"},
    {"type": "integer", "minimum": 3, "maximum": 40},
    {"type": ["string", "null"]},
    {"type": "number"},
    {"type": "boolean"},
    {"type": "string", "format": "date"},
    True,
)


def schema(rng: Random, depth: int, rare: float) -> Any:
    """Mostly plain; `rare`: how often a name or a text is one that may not be carried."""
    kind = rng.randrange(5 if depth else 3)
    if kind <= 1:
        return rng.choice(SCALARS)
    if kind == 2:
        return {"type": "string", "enum": [word(rng, TEXTS, rare) for _ in range(3)]}
    if kind == 3:
        return {
            "type": "array",
            "items": schema(rng, depth - 1, rare),
            "minItems": rng.randrange(2),
        }
    return an_object(rng, depth, rare)


def word(rng: Random, words: tuple[str, ...], rare: float) -> str:
    return rng.choice(words if rng.random() < rare else words[:3])


def an_object(rng: Random, depth: int, rare: float) -> dict[str, Any]:
    names = [word(rng, NAMES, rare) for _ in range(rng.randrange(4))]
    made: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema(rng, depth - 1, rare) for name in names},
        "required": names[:1],
    }
    if rng.random() < 0.2:
        made["additionalProperties"] = schema(rng, 0, rare)
    return made


def some_tools(rng: Random, rare: float) -> list[dict[str, Any]]:
    return [tool(f"tool-{n}", an_object(rng, 2, rare)) for n in range(3)]


Outcome = str | list[str]


def outcome(tools: Any, dialect: str, **options: Any) -> Outcome:
    """The GBNF text, or the problems."""
    try:
        return gbnf.emit(calligram.compile_tools(tools, dialect, **options))
    except calligram.CalligramError as error:
        return [str(p) for p in error.problems]


def at_once(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Outcome]) -> Outcome:
    """The outcome where nothing is lowered later."""

    def never(*_: object) -> bool:
        return False

    with monkeypatch.context() as patched:
        patched.setattr(PlainValues, "value", never)
        patched.setattr(ArgumentsLowering, "is_plain", never)
        return ask()


@pytest.mark.parametrize("dialect", calligram.dialects())
@pytest.mark.parametrize("rare", [0.0, 0.4])
def test_nothing_depends_on_when_it_is_lowered(
    dialect: str, rare: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"{dialect} {rare}")
    seen: set[bool] = set()
    for n in range(12):
        tools = some_tools(rng, rare)
        if rare and n == 11:
            # No notation has a lone surrogate.
            tools[0] = tool(tools[0]["function"]["name"], {"properties": {"\ud800": True}})
        options: dict[str, Any] = {"whitespace": "flexible"} if n % 3 == 0 else {}
        if n % 5 == 0:
            options["bounds"] = None

        def ask(tools: Any = tools, options: dict[str, Any] = options) -> Outcome:
            return outcome(tools, dialect, **options)

        later = ask()
        assert later == at_once(monkeypatch, ask), tools
        seen.add(isinstance(later, str))
    assert True in seen
    assert rare == 0.0 or False in seen


def pending(grammar: CompiledGrammar) -> list[str]:
    return list(grammar.enforced.rules._pending)


def visit(grammar: CompiledGrammar, rng: Random) -> int:
    """Build every rule, in any order; how many there were."""
    count = 0
    while names := pending(grammar):
        grammar.enforced.rules[rng.choice(names)]
        count += 1
    return count


@pytest.mark.parametrize("dialect", calligram.dialects())
def test_nothing_depends_on_which_rule_is_visited_first(dialect: str) -> None:
    rng = Random(dialect)
    for n in range(5):
        tools = some_tools(rng, 0.0)
        fresh = calligram.compile_tools(tools, dialect)
        expected = gbnf.emit(fresh)
        for _ in range(3):
            grammar = calligram.compile_tools(tools, dialect)
            visit(grammar, rng)
            assert gbnf.emit(grammar) == expected, (n, tools)


def test_arguments_wait_for_their_call() -> None:
    parameters = {
        "type": "object",
        "properties": {f"key_{n}": {"type": "string", "enum": ["a", "b"]} for n in range(50)},
    }
    tools = [tool(f"tool_{n}", parameters) for n in range(20)]
    call = [{"name": "tool_3", "arguments": {"key_1": "a"}}]
    text = calligram.compile_tools(tools, "hermes-json").render(call)
    in_masks = calligram.compile_tools(tools, "hermes-json")
    matcher = mask.compile(in_masks, BYTES).matcher()
    for byte in text.encode():
        assert byte in matcher.allowed_tokens()
        assert matcher.accept_token(byte)
    assert len(waiting(calligram.compile_tools(tools, "hermes-json"))) == 20
    assert len(waiting(in_masks)) == 19


def waiting(grammar: CompiledGrammar) -> list[str]:
    return [name for name in pending(grammar) if name.endswith("-args")]


def test_what_cannot_be_written_is_told_at_once() -> None:
    bad = {"type": "object", "properties": {"a": {"type": "string", "enum": ["\ud800"]}}}
    with pytest.raises(calligram.CalligramError, match="surrogate"):
        calligram.compile_tools([tool("good"), tool("bad", bad)], "hermes-json")


def test_later_changes_of_the_tools_change_nothing() -> None:
    tools = [tool("a_tool", {"type": "object", "properties": {"a": {"type": "string"}}})]
    expected = gbnf.emit(calligram.compile_tools(tools, "hermes-json"))
    grammar = calligram.compile_tools(tools, "hermes-json")
    properties = tools[0]["function"]["parameters"]["properties"]
    properties["a"]["type"] = "integer"
    properties["b"] = {"type": "string"}
    assert gbnf.emit(grammar) == expected


def test_values_of_a_schema_wait_too() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
    schema = {"type": "object", "properties": {"a": inner}, "required": ["a"]}
    grammar = calligram.compile_schema(schema)
    assert pending(grammar)
    assert grammar.check('{"a": {"b": 1}}')
    assert not grammar.check('{"a": {"b": "1"}}')


def test_threads_may_visit_one_rule_at_the_same_time() -> None:
    keys = {f"key_{n}": {"type": "string", "enum": ["a", "b", "c"]} for n in range(30)}
    tools = [tool(f"tool_{n}", {"type": "object", "properties": keys}) for n in range(30)]
    expected = gbnf.emit(calligram.compile_tools(tools, "hermes-json"))
    for _ in range(5):
        grammar = calligram.compile_tools(tools, "hermes-json")
        start = Barrier(4)
        found: list[Any] = []

        def ask(
            grammar: CompiledGrammar = grammar, start: Barrier = start, found: list[Any] = found
        ) -> None:
            start.wait()
            try:
                rules = grammar.enforced.rules
                found.append([rules[name] for name in pending(grammar)])
            except BaseException as error:
                found.append(error)

        threads = [Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(isinstance(rules, list) for rules in found), found
        assert gbnf.emit(grammar) == expected
