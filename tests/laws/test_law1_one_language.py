"""Law 1, one language: for one compile a text is accepted by check, by llama.cpp's engine on the
emitted GBNF, by masks and token tables and by the strict parser, or by none of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import calligram
from calligram import Vocabulary
from calligram.compiler.automaton.recogniser import Recogniser
from calligram.compiler.compiled import CompiledGrammar
from calligram.compiler.grammar import Grammar
from calligram.compiler.origin import Problem
from calligram.targets import gbnf, mask, parser, regex_fsm
from calligram.targets.gbnf import repeats
from tests.corpus_format import corpus_dialects, corpus_tools, load_corpus
from tests.engine import Engine
from tests.laws.tools import (
    BOOK,
    CHOOSE,
    CHOOSE_DECLARED,
    LABEL,
    MEASURE,
    REGISTER,
    SEARCH,
    TOOLS,
    named_by_keys,
    tool,
)
from tests.sampling import SEED, Sampler, dice, fuzzed, mutations, spread

DRAWN = fuzzed(40)
DRAWN_OF_OPTIONS = fuzzed(8)


TOO_LARGE = re.compile(r"[eE][+-]?[0-9]{4}")
"""Numbers that the parser refuses to write out; only without bounds can they be said at all."""


def violations(grammar: CompiledGrammar, texts: list[str], engine: Engine) -> list[str]:
    """The texts on which the verdicts differ, with the verdicts.

    Under tool_choice auto the engine gets the whole turn, and from the trigger on what `emit`
    gives: for that part the automaton of the same expression is the reference.
    """
    automata = [mask.compile(grammar, vocabulary) for vocabulary in VOCABULARIES]
    turn = Grammar(grammar.enforced.rules, grammar.enforced.start)
    by_engine = engine.accepted(gbnf.emit_grammar(turn), texts)
    armed = grammar.enforced.armed
    expected = emitted = [False] * len(texts)
    if armed is not None:
        automaton = Recogniser(grammar.enforced.rules, armed)
        expected = [automaton.accepts(text.encode()) for text in texts]
        emitted = engine.accepted(gbnf.emit(grammar), texts)
    reading = parser.compile(grammar)
    out = []
    for at, text in enumerate(texts):
        said = {
            "check": grammar.check(text).accepted,
            "engine": by_engine[at],
            "parser": strictly(reading, text, grammar.tool_choice),
            **{f"mask {n}": walked(a, text) for n, a in enumerate(automata)},
        }
        if len(set(said.values())) > 1:
            out.append(f"{said}: {text!r} {list(map(str, reading.parse(text).problems))}")
        if expected[at] != emitted[at]:
            out.append(f"from the trigger on, check {expected[at]}, engine {emitted[at]}: {text!r}")
    return out


def _vocabulary(width: int) -> Vocabulary:
    """All single bytes, and pieces of `width` bytes that texts of calls are made of."""
    pieces = {
        b"<tool",
        b"_call",
        b'": "',
        b'", "',
        b"</",
        b"\n</",
        b'{"',
        b'"}',
        b"}}",
        b"  ",
        b"00",
    }
    pieces |= {
        b"\xc3",
        b"\xa9",
        b"\xf0\x9f",
        b"\x98\x80",
        b"ab",
        b"est",
        b"name",
        b'"a',
        b"\\u",
        b"12",
    }
    tokens = [bytes([b]) for b in range(256)] + sorted(p for p in pieces if len(p) <= width)
    return Vocabulary([*tokens, b"<end>"], eos_ids=[len(tokens)])


VOCABULARIES = (_vocabulary(1), _vocabulary(5))


def walked(automaton: mask.MaskAutomaton, text: str) -> bool:
    """The mask automaton's verdict: the longest token that fits and is allowed, then the end."""
    matcher = automaton.matcher()
    tokens = automaton.vocabulary.tokens
    data = text.encode("utf-8", "surrogatepass")
    at = 0
    while at < len(data):
        fitting = [
            i
            for i in (data[at], *range(256, len(tokens) - 1))
            if data.startswith(tokens[i], at) and matcher.fork().accept_token(i)
        ]
        if not fitting:
            return False
        token = max(fitting, key=lambda i: len(tokens[i]))
        assert matcher.accept_token(token)
        at += len(tokens[token])
    return matcher.accept_token(automaton.vocabulary.eos_ids[0])


def through(table: regex_fsm.TokenTable, text: str) -> bool:
    """The token table's verdict: the longest token that is allowed, then the end."""
    tokens = table.vocabulary.tokens
    data = text.encode("utf-8", "surrogatepass")
    state, at = table.start, 0
    while at < len(data):
        fitting = [
            i
            for i in (data[at], *range(256, len(tokens) - 1))
            if data.startswith(tokens[i], at) and table.next_state(state, i) != regex_fsm.DEAD
        ]
        if not fitting:
            return False
        token = max(fitting, key=lambda i: len(tokens[i]))
        state = table.next_state(state, token)
        at += len(tokens[token])
    return table.next_state(state, table.vocabulary.eos_ids[0]) == regex_fsm.ENDED


def strictly(reading: parser.Reader, text: str, tool_choice: str) -> bool:
    """The strict parser's verdict: calls where they are owed, no problem, nothing cut off."""
    result = reading.parse(text)
    calls = bool(result.calls) or tool_choice != "required"
    return calls and not result.problems and result.incomplete is None


def drawn(grammar: CompiledGrammar, count: int, *names: object) -> list[str]:
    """Texts of the grammar and as many near misses."""
    random = dice(*names)
    enforced = grammar.enforced
    sampler = Sampler(enforced.rules, random)
    texts = sampler.texts(enforced.start, count)
    if enforced.armed is not None:
        texts += sampler.texts(enforced.armed, count // 2)
    texts += mutations(texts, random, count)
    return [text for text in texts if not TOO_LARGE.search(text)]


def report(wrong: list[str]) -> str:
    """A message that says how to see it again."""
    return "\n".join([f"CALLIGRAM_SEED={SEED}", *wrong[:20]])


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_check_engine_and_parser_agree(dialect: str, engine: Engine) -> None:
    grammar = calligram.compile_tools(TOOLS, dialect)
    wrong = violations(grammar, drawn(grammar, DRAWN, "law 1", dialect), engine)
    assert not wrong, report(wrong)


FEW = [BOOK, LABEL]
SMALL = calligram.Bounds(
    string=5, items=2, keys=2, depth=2, recursion=2, digits=3, exponent=1, calls=2
)
OPTIONS: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "auto": (FEW, {"tool_choice": "auto"}),
    "none": (FEW, {"tool_choice": "none"}),
    "named": (
        [*FEW, SEARCH],
        {"tool_choice": {"type": "function", "function": {"name": "label"}}},
    ),
    "subset": (
        [*FEW, SEARCH],
        {
            "tool_choice": {
                "type": "allowed_tools",
                "allowed_tools": {
                    "mode": "required",
                    "tools": [{"name": "book"}, {"name": "search"}],
                },
            }
        },
    ),
    "any order": (FEW, {"key_order": "any"}),
    "conditions": ([CHOOSE], {}),
    "conditions in any order": ([CHOOSE], {"key_order": "any", "bounds": SMALL}),
    "one call": (FEW, {"parallel_tool_calls": False}),
    "two calls": (FEW, {"max_calls": 2}),
    "no reasoning": (FEW, {"reasoning": "none"}),
    "opened reasoning": (FEW, {"reasoning": "opened", "tool_choice": "auto"}),
    "white space": (FEW, {"whitespace": "flexible"}),
    "no bounds": ([BOOK, MEASURE, REGISTER, SEARCH], {"bounds": None}),
    "small bounds": (
        [MEASURE, SEARCH],
        {"bounds": SMALL},
    ),
    "open objects": (FEW, {"open_objects": True}),
}  # fmt: skip


DRAWN_OF_TABLES = fuzzed(20)
FLAT = calligram.Bounds(
    string=3, items=2, keys=1, depth=1, recursion=1, digits=2, exponent=1, calls=1, whitespace=1
)
"""Bounds with which an automaton that writes out every count stays small."""


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_tables_agree_with_all_the_others(dialect: str, engine: Engine) -> None:
    wrong: list[str] = []
    for which in spread(TOOLS, "tables", dialect, most=2):
        grammar = calligram.compile_tools([which], dialect, bounds=FLAT)
        texts = drawn(grammar, DRAWN_OF_TABLES, "tables", dialect, which["function"]["name"])
        wrong += violations(grammar, texts, engine)
        tables = [regex_fsm.compile(grammar, vocabulary) for vocabulary in VOCABULARIES]
        for text in texts:
            said = {grammar.check(text).accepted, *(through(t, text) for t in tables)}
            if len(said) > 1:
                wrong.append(f"a table: {text!r}")
    assert not wrong, report(wrong)


ROOMY = calligram.Bounds(
    string=24, items=3, keys=1, depth=1, recursion=1, digits=6, exponent=2, calls=3, whitespace=2
)
"""Bounds that a good part of the corpus keeps to, and with which tables can still be made."""


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", spread(corpus_dialects(), "corpus tables", most=3))
def test_tables_agree_with_the_others_on_the_corpus(dialect: str) -> None:
    tools = {tool["function"]["name"]: tool for tool in corpus_tools()}
    made: dict[
        str, tuple[CompiledGrammar, regex_fsm.TokenTable, mask.MaskAutomaton, parser.Reader]
    ] = {}
    wrong, accepted = [], 0
    for case in load_corpus(dialect):
        # Tables of the tools that the text speaks of: of all together they would be large.
        told = [name for name in tools if name in f"{case.text}{json.dumps(case.tool_choice)}"]
        key = json.dumps([case.tool_choice, told])
        if key not in made:
            chosen = [tools[name] for name in told or list(tools)[:1]]
            grammar = calligram.compile_tools(
                chosen, dialect, tool_choice=case.tool_choice, bounds=ROOMY
            )
            table = regex_fsm.compile(grammar, VOCABULARIES[1])
            automaton = mask.compile(grammar, VOCABULARIES[1])
            made[key] = grammar, table, automaton, parser.compile(grammar)
        grammar, table, automaton, reading = made[key]
        said = {
            "check": grammar.check(case.text).accepted,
            "table": through(table, case.text),
            "mask": walked(automaton, case.text),
            "parser": strictly(reading, case.text, grammar.tool_choice),
        }
        accepted += said["check"]
        if len(set(said.values())) > 1:
            wrong.append(f"{case.name}: {said}")
    assert not wrong, report(wrong)
    assert accepted >= 10


@pytest.mark.fuzz
@pytest.mark.parametrize("name", OPTIONS)
def test_they_agree_under_every_option(name: str, engine: Engine) -> None:
    tools, options = OPTIONS[name]
    wrong: list[str] = []
    for dialect in spread(calligram.dialects(), "options", name):
        if named_by_keys(dialect):
            given = [CHOOSE_DECLARED if one is CHOOSE else one for one in tools]
        else:
            given = tools
        grammar = calligram.compile_tools(given, dialect, **options)
        texts = drawn(grammar, DRAWN_OF_OPTIONS, "law 1", dialect, name)
        wrong += [f"{dialect}: {line}" for line in violations(grammar, texts, engine)]
    assert not wrong, report(wrong)


# What GBNF refuses, the others must agree on.
REMEMBERED: dict[str, Any] = {
    "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "minItems": 2},
    "any": {"type": "array", "uniqueItems": True, "maxItems": 3},
    "counts": {
        "type": "object",
        "additionalProperties": {"type": "integer"},
        "minProperties": 2,
    },
    "labels": {
        "type": "object",
        "additionalProperties": {"type": ["integer", "string"]},
        "not": {"additionalProperties": {"type": "integer"}},
    },
}
REMEMBERING = tool("remember", REMEMBERED, "tags", "counts")


@pytest.mark.fuzz
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_what_is_remembered_is_one_language_too(dialect: str) -> None:
    remembering = REMEMBERING
    if named_by_keys(dialect):
        # There are no undeclared keys to remember.
        with pytest.raises(calligram.ToolError) as beyond:
            calligram.compile_tools([REMEMBERING], dialect)
        assert {p.origin.pointer for p in beyond.value.problems} == {
            "/properties/counts/minProperties",
            "/properties/labels/not",
        }
        remembering = tool("remember", {n: REMEMBERED[n] for n in ("tags", "any")}, "tags")
    grammar = calligram.compile_tools([remembering], dialect)
    with pytest.raises(calligram.TargetError) as refused:
        gbnf.emit(grammar)
    assert refused.value.problems[0].origin.pointer.startswith("/properties/")
    automata = [mask.compile(grammar, vocabulary) for vocabulary in VOCABULARIES]
    reading = parser.compile(grammar)
    wrong = []
    for text in drawn(grammar, fuzzed(3), "law 1", "remembering", dialect):
        said = {
            grammar.check(text).accepted,
            strictly(reading, text, grammar.tool_choice),
            *(walked(automaton, text) for automaton in automata),
        }
        if len(said) > 1:
            wrong.append(text)
    assert not wrong, report(wrong)


# Special tokens -----------------------------------------------------------------------------------

FOREIGN = [b"<|box|>", b"<|/box|>", "<\u00e9>".encode(), b"<|box|>", b"[UNUSED]", b"\n\n", b"\xff"]
"""Special tokens that no dialect knows: two of one text, and one that is no text."""


def with_specials(grammar: CompiledGrammar) -> Vocabulary:
    """A vocabulary that has these, and those that mean something in the grammar."""
    enforced = grammar.enforced
    known = {token.text.encode() for token in enforced.markers}
    if enforced.free is not None:
        known |= {text.encode() for text in enforced.free.markers}
    specials = [*FOREIGN, *sorted(known), b"<end>"]
    tokens = [*(bytes([b]) for b in range(256)), *specials, b"ab", b'": "', b"<tool"]
    return Vocabulary(tokens, range(256, 256 + len(specials)), [255 + len(specials)])


def differences(grammar: CompiledGrammar, *names: object, walks: int = 6) -> tuple[list[str], int]:
    """Where the masks of an automaton and a table differ along walks that like special tokens,
    and how often foreign ones were allowed."""
    vocabulary, random = with_specials(grammar), dice(*names)
    automaton, table = mask.compile(grammar, vocabulary), regex_fsm.compile(grammar, vocabulary)
    [end] = vocabulary.eos_ids
    wrong, met = [], 0
    for _ in range(walks):
        matcher, state, way = automaton.matcher(), table.start, list[int]()
        for _ in range(30):
            allowed = matcher.allowed_tokens()
            if allowed != table.allowed_tokens(state):
                other = set(allowed) ^ set(table.allowed_tokens(state))
                wrong.append(f"{[vocabulary.tokens[t] for t in way]}: {sorted(other)}")
                break
            met += 256 in allowed
            onward = [token for token in allowed if token != end]
            liked = [token for token in onward if token >= 256]
            if not onward:
                break
            token = random.choice(liked if liked and random.random() < 0.6 else onward)
            assert matcher.accept_token(token)
            state = table.next_state(state, token)
            way.append(token)
    return wrong, met


SWITCH = tool("switch", {"on": {"type": "boolean"}}, "on")
LONG = tool("say", {"text": {"type": "string", "maxLength": 30_000}}, "text")


@pytest.mark.parametrize("tool_choice", ["auto", "none", "required"])
@pytest.mark.parametrize("dialect", calligram.dialects())
def test_masks_and_tables_agree_on_special_tokens(dialect: str, tool_choice: str) -> None:
    grammar = calligram.compile_tools([SWITCH], dialect, tool_choice=tool_choice)
    wrong, met = differences(grammar, "law 1", "specials", dialect, tool_choice)
    assert not wrong, report(wrong)
    if tool_choice == "required":
        # Nothing is free where a call is owed.
        assert met == 0


@pytest.mark.parametrize(
    ("dialect", "tool_choice"),
    [
        ("hermes-json", "auto"),
        ("llama3-builtin-python-tag", "auto"),
        ("mistral-args", "auto"),
        # Its strings are quoted with special tokens.
        ("gemma4", "required"),
    ],
)
def test_so_they_do_where_tables_count(dialect: str, tool_choice: str) -> None:
    grammar = calligram.compile_tools([LONG], dialect, tool_choice=tool_choice)
    table = regex_fsm.compile(grammar, with_specials(grammar))
    assert isinstance(table, regex_fsm.CountedTable)
    wrong, met = differences(grammar, "law 1", "specials", "counted", dialect)
    assert not wrong, report(wrong)
    assert (met > 0) == (tool_choice == "auto")


def test_thousands_of_special_tokens_cost_no_more_than_a_few() -> None:
    grammar = calligram.compile_tools([SWITCH], "hermes-json", tool_choice="auto")
    odd = b"<tool_call"  # Leads elsewhere than others do.
    unused = [b"<unused%d>" % number for number in range(3_000)]
    tables = []
    for count in (3, len(unused)):
        specials = [odd, *unused[:count], b"<end>"]
        tokens = [*(bytes([b]) for b in range(256)), *specials]
        ids = range(256, len(tokens))
        vocabulary = Vocabulary(tokens, ids, [len(tokens) - 1])
        tables.append(regex_fsm.compile(grammar, vocabulary))
    few, many = tables
    assert few.next.shape == many.next.shape and (few.next == many.next).all()
    state = many.walk([ord("a"), 300])
    allowed = mask.compile(grammar, many.vocabulary).matcher()
    assert allowed.accept_token(ord("a")) and allowed.accept_token(300)
    assert many.allowed_tokens(state) == allowed.allowed_tokens()
    assert many.next_state(state, 256) != many.next_state(state, 257)


# The law can be broken --------------------------------------------------------------------------


def break_and_look(engine: Engine, tools: list[dict[str, Any]]) -> list[str]:
    grammar = calligram.compile_tools(tools, "hermes-json")
    return violations(grammar, drawn(grammar, 60, "broken"), engine)


def test_a_bound_emitted_one_too_low_is_noticed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not break_and_look(engine, [BOOK])

    def lower(atom: str, low: int, high: int | None, name: Any) -> str:
        return repeats.repeated(atom, low, high if high is None else max(low, high - 1), name)

    monkeypatch.setattr("calligram.targets.gbnf.printer.repeated", lower)
    assert break_and_look(engine, [BOOK])


def test_a_parser_that_finds_fault_with_null_is_noticed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judge(grammar: CompiledGrammar, calls: Any, locate: Any) -> list[Problem]:
        faulty = any(None in call["arguments"].values() for call in calls)
        return [Problem("invalid-arguments", "no null here")] if faulty else []

    monkeypatch.setattr("calligram.targets.parser.finish.judge", judge)
    # Where nothing is relaxed the judge is not asked about accepted texts.
    monkeypatch.setattr(CompiledGrammar, "is_relaxed", True)
    assert break_and_look(engine, [BOOK])


def test_a_check_that_takes_texts_cut_short_is_noticed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recogniser, "accepting", lambda self, config: True)
    assert break_and_look(engine, [BOOK])


def test_a_table_that_takes_texts_cut_short_is_noticed() -> None:
    grammar = calligram.compile_tools([BOOK], "hermes-json", bounds=FLAT)
    table = regex_fsm.compile(grammar, VOCABULARIES[1])
    texts = drawn(grammar, 60, "broken")

    def differ() -> list[str]:
        return [t for t in texts if through(table, t) != grammar.check(t).accepted]

    assert not differ()
    broken = table.next.copy()
    broken[2:, table.class_of[-1]] = regex_fsm.ENDED
    table = regex_fsm.TokenTable(
        table.vocabulary, broken, table.class_of.copy(), table.accepting.copy(), {}
    )
    assert differ()
