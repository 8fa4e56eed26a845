"""Choices become radix tries; captures keep what they hold."""

from __future__ import annotations

import random
import time

from calligram.compiler.grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Expr,
    Grammar,
    Literal,
    RuleRef,
    Rules,
    Sequence,
    Slot,
    Token,
)
from calligram.compiler.passes.factor import characters, factor
from calligram.compiler.passes.rewrite import rewrite_grammar
from tests import naive


def words(*texts: str) -> tuple[Expr, ...]:
    return tuple(Literal(text) for text in texts)


def language(expr: Expr, texts: list[str]) -> list[str]:
    return [text for text in texts if naive.accepts(Grammar(Rules(), expr), text)]


def test_common_text_is_said_once() -> None:
    assert factor(words("celsius", "celestial", "kelvin")) == Choice(
        (
            Sequence((Literal("cel"), Choice((Literal("estial"), Literal("sius"))))),
            Literal("kelvin"),
        )
    )


def test_a_word_that_begins_another_stays_a_word() -> None:
    assert factor(words("pro", "prod")) == Sequence((Literal("pro"), Choice((EMPTY, Literal("d")))))


def test_single_characters_become_a_class() -> None:
    assert factor((*words("a", "c", "b"), Chars(((48, 57),)))) == Chars(((48, 57), (97, 99)))
    assert factor(words("ab", "ac")) == Sequence((Literal("a"), Chars(((98, 99),))))
    assert characters([(98, 98)]) == Literal("b")


def test_what_follows_the_text_is_kept_with_it() -> None:
    options = (
        Sequence((Literal('"a": '), RuleRef("x"))),
        Sequence((Literal('"ab": '), RuleRef("y"), Literal("!"))),
    )
    assert factor(options) == Sequence(
        (
            Literal('"a'),
            Choice(
                (
                    Sequence((Literal('": '), RuleRef("x"))),
                    Sequence((Literal('b": '), RuleRef("y"), Literal("!"))),
                )
            ),
        )
    )


def test_equal_options_are_one() -> None:
    assert factor(words("a", "a")) == Literal("a")
    assert factor((RuleRef("r"), Literal("xy"), RuleRef("r"))) == Choice(
        (Literal("xy"), RuleRef("r"))
    )


def test_text_inside_captures_and_tokens_is_not_pulled_out() -> None:
    name = Slot("name", "raw")
    inside = tuple(Capture(name, Literal(text)) for text in ("get_time", "get_date"))
    assert factor(inside) == Choice(inside)
    tokens = (Token("<a>"), Token("<ab>"))
    assert factor(tokens) == Choice(tokens)


def test_text_before_captures_is_pulled_out() -> None:
    captures = [Capture(Slot("name", "raw"), Literal(text)) for text in ("x", "y")]
    options = tuple(Sequence((Literal("call:"), capture)) for capture in captures)
    assert factor(options) == Sequence((Literal("call:"), Choice(tuple(captures))))


def test_random_words_keep_their_language() -> None:
    chance = random.Random(7)
    texts = ["".join(chance.choice("ab") for _ in range(chance.randint(0, 6))) for _ in range(400)]
    every = sorted(set(texts))
    for _ in range(30):
        chosen = chance.sample(every, 20)
        assert language(factor(words(*chosen)), every) == sorted(chosen)


def test_nested_choices_of_a_grammar_are_factored() -> None:
    rules = Rules()
    rules.define("r", Sequence((Literal("x"), Choice(words("ab", "ac")))))
    done = rewrite_grammar(
        Grammar(rules, RuleRef("r")),
        lambda node, _: factor(node.options) if isinstance(node, Choice) else node,
    )
    assert done.rules["r"] == Sequence((Literal("x"), Sequence((Literal("a"), Chars(((98, 99),))))))


def test_five_thousand_options_are_quick() -> None:
    chance = random.Random(1)
    options = words(*("".join(chance.choices("abcdefgh", k=12)) for _ in range(5_000)))
    chain = words(*("a" * size for size in range(5_000)))
    for many in (options, chain):
        best = min(_seconds(many) for _ in range(3))
        # 0.04 s on a quiet machine; the margin is for a busy one.
        assert best < 0.5


def _seconds(options: tuple[Expr, ...]) -> float:
    begun = time.perf_counter()
    factor(options)
    return time.perf_counter() - begun
