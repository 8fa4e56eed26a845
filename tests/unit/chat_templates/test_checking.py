"""`check` finds every difference between a spec and a template, and no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from calligram.chat_templates import ChatTemplate
from calligram.chat_templates.checking import SpecCheck, check_spec
from calligram.chat_templates.conversations import CONVERSATIONS, tools
from calligram.chat_templates.corpus import corpus_text
from calligram.compiler.errors import SpecError
from calligram.compiler.spec_loader import LoadedSpec, load_spec_text
from tests.corpus_format import corpus_tools, parse_corpus
from tests.own_templates import NAMES, own_spec, own_template


def load(data: dict[str, Any]) -> LoadedSpec:
    return load_spec_text(yaml.safe_dump(data, allow_unicode=True), "spec.yaml")


def written(name: str) -> dict[str, Any]:
    """A spec as plain data, defaults left out."""
    spec = own_spec(name).spec
    return spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_spec_that_fits(name: str) -> None:
    found = check_spec(own_spec(name), own_template(name))
    assert [str(d) for d in found.differences] == []
    assert found.ok
    # What stands for it in the template is one of its mistakes.
    assert [u.field for u in found.unseen if not u.field.startswith("/args/literals")] == []
    compared = [c for c in found.checked if c.status != "skipped"]
    assert len(compared) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_a_spec_of_another_template(name: str) -> None:
    other = NAMES[NAMES.index(name) - 1]
    found = check_spec(own_spec(name), own_template(other))
    assert not found.ok
    assert "one call" in {d.conversation for d in found.differences}


WORDS = {
    "id", "families", "notation", "kind", "escape", "match", "with_calls", "key_order", "at",
    "containers",
}  # fmt: skip
HOLE = re.compile(r"\{[a-z]+(?::json)?\}")


def literals(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The texts of a spec that are texts of its dialect, with where they stand."""
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in WORDS:
                yield from literals(value, (*path, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from literals(value, (*path, index))
    elif isinstance(data, str) and HOLE.sub("", data):
        yield path, data


def misspelt(text: str, count: int) -> str:
    """The text with one character changed, another one from literal to literal, holes apart."""
    inside = {n for m in HOLE.finditer(text) for n in range(*m.span())}
    places = [n for n in range(len(text)) if n not in inside]
    at = places[count * 7 % len(places)]
    return text[:at] + ("\t" if text[at] in " \n" else "Z") + text[at + 1 :]


def with_text(data: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    key, *rest = path
    if isinstance(data, dict):
        return {**data, key: with_text(data[key], tuple(rest), text)}
    return [with_text(v, tuple(rest), text) if n == key else v for n, v in enumerate(data)]


def reported(data: dict[str, Any], template: ChatTemplate) -> bool:
    try:
        found = check_spec(load(data), template)
        return not found.ok or bool(found.problems)
    except SpecError:  # The spec makes no sense any more, and where is said.
        return True


@pytest.mark.parametrize("name", NAMES)
def test_a_planted_error_is_found(name: str) -> None:
    data, template = written(name), own_template(name)
    planted = [(path, misspelt(text, n)) for n, (path, text) in enumerate(literals(data))]
    missed = [(p, w) for p, w in planted if not reported(with_text(data, p, w), template)]
    assert len(planted) > 8
    assert missed == []


def test_a_difference_has_its_place() -> None:
    data = with_text(written("json-lines"), ("reasoning", "after"), "\n")
    found = check_spec(load(data), own_template("json-lines"))
    difference = next(d for d in found.differences if d.conversation == "reasoning and content")
    assert difference.position == len("<think>\nQthought of what to do.\n</think>\n")
    assert difference.before.endswith("</think>\n")
    assert difference.found.startswith("\nQsaid this first.")
    assert difference.to_json()["position"] == difference.position


def test_positions_count_bytes_of_the_turn() -> None:
    data = with_text(written("json-lines"), ("call",), written("json-lines")["call"][:-1] + "¿")
    found = check_spec(load(data), own_template("json-lines"))
    text = next(c for c in CONVERSATIONS if c.name == "unicode").calls[0]["arguments"]["query"]
    difference = next(d for d in found.differences if d.conversation == "unicode")
    call = (
        f'<tool_call>\n{{"name": "search-docs", "arguments": {{"query": "{text}"}}}}\n</tool_call'
    )
    assert difference.position == len(call.encode())


def test_known_history_is_no_difference_and_is_told() -> None:
    found = check_spec(own_spec("tagged"), own_template("tagged"))
    (checked,) = (c for c in found.checked if c.conversation.name == "null")
    assert (checked.status, checked.accepted, checked.read) == ("known", False, True)
    assert "known: null as None, true as True, false as False" in checked.notes


def test_history_that_is_not_written_down_is_a_difference() -> None:
    data = written("keywords")
    del data["history"]
    found = check_spec(load(data), own_template("keywords"))
    assert {d.conversation for d in found.differences} == {"quotes", "apostrophe", "line breaks"}


def test_a_prefill_that_the_prompt_does_not_end_with() -> None:
    data = {**written("array"), "prefill": "[CALLS]"}
    found = check_spec(load(data), own_template("array"))
    assert "/prefill" in {e.field for d in found.differences for e in d.expected}


def test_content_behind_calls_is_named() -> None:
    data = written("bare")
    del data["content"]
    found = check_spec(load(data), own_template("bare"))
    (difference,) = found.differences
    assert difference.conversation == "content before the call"
    assert "behind the calls" in difference.message


def test_what_was_not_seen() -> None:
    data = written("json-lines")
    data["turn_end"]["tokens"].append("<|other|>")
    data["accept"] = [{"call": "<call>{name}{args}</call>"}]
    found = check_spec(load(data), own_template("json-lines"))
    assert [(u.field, u.text) for u in found.unseen] == [
        ("/accept/0", "<call>{name}{args}</call>"),
        ("/turn_end/tokens/1", "<|other|>"),
    ]


def test_an_unknown_end_token_is_not_held_against_the_spec() -> None:
    template = replace(own_template("typed"), special={})
    found = check_spec(own_spec("typed"), template)
    assert found.ok
    assert [u.field for u in found.unseen] == ["/turn_end/tokens/0"]


def test_conversations_speak_of_the_tools_of_corpora() -> None:
    assert tools() == corpus_tools()


@pytest.mark.parametrize("name", NAMES)
def test_the_corpus_is_read_and_true(name: str) -> None:
    found: SpecCheck = check_spec(own_spec(name), own_template(name))
    rows = parse_corpus(corpus_text(found, own_spec(name).spec), name)
    by_name = {c.conversation.name: c for c in found.checked}
    assert [r.name for r in rows] == [n for n, c in by_name.items() if c.read]
    assert len(rows) >= 14
    for row in rows:
        assert row.calls == [
            {"name": c["name"], "arguments": c["arguments"]}
            for c in by_name[row.name].conversation.calls
        ]
        assert row.read == (not by_name[row.name].accepted)
        assert row.text == by_name[row.name].text


def test_history_without_the_opening_that_the_prompt_has() -> None:
    source = own_template("tagged").source
    template = ChatTemplate(source.replace("'<why>' + (message.reasoning or '')", "''"))
    assert template.source != source
    found = check_spec(own_spec("tagged"), template)
    assert [d.message for d in found.differences] == []
    one = found.checked[0]
    assert one.text.startswith("<why></why>\n\n<calls>\n")
    assert one.accepted and one.read
