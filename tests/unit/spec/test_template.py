"""Templates are cut at the holes they may have, and nowhere else."""

from __future__ import annotations

import pytest

from calligram.compiler.template import (
    CALL_HOLES,
    PARAM_HOLES,
    Hole,
    Part,
    literal_after,
    parse_call,
    parse_param,
    parse_template,
    suspicious_holes,
)

NAME, ARGS, KEY, VALUE = Hole("name"), Hole("args"), Hole("key"), Hole("value")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("x", ("x",)),
        ("{name}({args})", (NAME, "(", ARGS, ")")),
        (
            '{"name": {name:json}, "arguments": {args}}',
            ('{"name": ', Hole("name", "json"), ', "arguments": ', ARGS, "}"),
        ),
        ("{{name}}", ("{", NAME, "}")),
        ("{name}{name}", (NAME, NAME)),
        ("{ name }{Name}{key}{}{", ("{ name }{Name}{key}{}{",)),
        ("{name:jso}", ("{name:jso}",)),
        ("f.{name}:{index}|{id}", ("f.", NAME, ":", Hole("index"), "|", Hole("id"))),
    ],
)
def test_call_templates(text: str, parts: tuple[Part, ...]) -> None:
    assert parse_call(text) == parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("{key}={value}", (KEY, "=", VALUE)),
        ("{key:json}: {value}", (Hole("key", "json"), ": ", VALUE)),
        (
            '<p n="{key}" t="{type}">{value}</p>',
            ('<p n="', KEY, '" t="', Hole("type"), '">', VALUE, "</p>"),
        ),
        ("{name}{args}", ("{name}{args}",)),
    ],
)
def test_param_templates(text: str, parts: tuple[Part, ...]) -> None:
    assert parse_param(text) == parts


def test_the_text_comes_back_from_the_parts() -> None:
    text = '<a>{name:json}{"x": {args}} {id}{index}{nothing}'
    assert "".join(map(str, parse_template(text, CALL_HOLES))) == text


@pytest.mark.parametrize(
    ("text", "hole", "literal"),
    [
        ("<p={key}>{value}</p>", "value", "</p>"),
        ("{key}={value}", "value", ""),
        ("{value}{key}", "value", ""),
        ("{value}a{value}b", "value", "b"),
        ("x", "value", ""),
    ],
)
def test_literal_after_a_hole(text: str, hole: str, literal: str) -> None:
    assert literal_after(parse_param(text), hole) == literal


def test_what_looks_like_a_hole() -> None:
    assert suspicious_holes('{nmae} {key} {"a": 1} {value:json} {x y}', PARAM_HOLES) == [
        (0, "nmae"),
        (22, "value:json"),
    ]
