"""Rules named by their place: the same names in whatever order rules were built."""

from __future__ import annotations

from calligram.compiler.grammar import Choice, Expr, Grammar, Literal, RuleRef, Rules, Sequence
from calligram.compiler.lower.names import Names
from calligram.compiler.passes.name_rules import name_rules
from calligram.targets.gbnf import emit_grammar


def lazy(first: str | None = None) -> Grammar:
    """Two rules that name the rules inside them when they are built, `first` before the other."""
    rules, names = Rules(), Names()

    def outer(text: str) -> Expr:
        return rules.define(names.fresh("word"), Literal(text))

    rules.define("left", lambda: Sequence((outer("a"), outer("b"))))
    rules.define("right", lambda: Sequence((outer("c"), outer("d"))))
    if first is not None:
        rules[first]
    return Grammar(rules, Choice((RuleRef("left"), RuleRef("right"))))


def test_names_do_not_depend_on_the_order_of_building() -> None:
    texts = {first: emit_grammar(lazy(first)) for first in (None, "left", "right")}
    assert texts["right"] == texts["left"] == texts[None]


def test_names_number_their_kind_by_first_use() -> None:
    rules = name_rules(lazy("right")).rules
    assert rules["left"] == Sequence((RuleRef("word"), RuleRef("word-2")))
    assert rules["right"] == Sequence((RuleRef("word-3"), RuleRef("word-4")))
    assert [rules[n] for n in ("word", "word-2", "word-3", "word-4")] == list(map(Literal, "abcd"))


def test_rules_that_refer_to_themselves_are_renamed_throughout() -> None:
    rules = Rules()
    rules.define("list-7", Choice((Literal("a"), Sequence((Literal("a"), RuleRef("list-7"))))))
    renamed = name_rules(Grammar(rules, RuleRef("list-7")))
    assert renamed.start == RuleRef("list")
    assert renamed.rules["list"] == Choice(
        (Literal("a"), Sequence((Literal("a"), RuleRef("list"))))
    )
    assert "list-7" not in renamed.rules


def test_rules_of_the_armed_start_are_kept() -> None:
    rules = Rules()
    rules.define("a-1", Literal("a"))
    rules.define("b-1", Literal("b"))
    renamed = name_rules(Grammar(rules, RuleRef("a-1"), RuleRef("b-1")))
    assert (renamed.start, renamed.armed) == (RuleRef("a"), RuleRef("b"))
    assert renamed.rules["b"] == Literal("b")
