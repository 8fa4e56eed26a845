"""A ratchet over JSON Schema: what each schema of baseline/schema_cases.json comes to.

A case is a schema with instances that it lets through and instances that it does not. Its status:

* ``pass``: refuses nothing valid; a schema that lets nothing through may be refused as such;
* ``order``: refuses a valid instance only for the order of its keys;
* ``over``: refuses a valid instance (the grammar allows less than the schema);
* ``refused``: the schema does not compile.

An invalid instance is accepted nowhere, whatever the status. A worse status fails, a better one
must be recorded: ``pytest tests/test_schema_baseline.py --update-baseline``.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import validator_for

import calligram
from calligram.compiler.codes import SCHEMAS
from calligram.compiler.json_schema.keywords import IMPLEMENTED

CASES = Path(__file__).parent / "baseline" / "schema_cases.json"
STATUSES = ("pass", "order", "over", "refused")
Case = dict[str, Any]


def load() -> list[Case]:
    cases: list[Case] = json.loads(CASES.read_text(encoding="utf-8"))
    return cases


def dump(cases: list[Case]) -> str:
    """One case a line, so that a change of status is a change of one line."""
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    return f"[\n{lines}\n]\n"


def refuses(grammar: calligram.CompiledGrammar, instance: Any) -> str | None:
    """Why the grammar refuses an instance, None if it accepts it."""
    verdict = grammar.check(json.dumps(instance, ensure_ascii=False))
    return None if verdict.accepted else verdict.message


def outcome(case: Case) -> tuple[str, str]:
    """The status of a case, and why it is no better one."""
    schema = case["schema"]
    try:
        grammar = calligram.compile_schema(schema)
    except calligram.CalligramError as error:
        nothing = error.problems[0].code == "unsatisfiable" and not case["valid"]
        return ("pass", "") if nothing else ("refused", str(error.problems[0]))
    found = ("pass", "")
    for instance in case["valid"]:
        why = refuses(grammar, instance)
        if why is None:
            continue
        any_order = calligram.compile_schema(schema, key_order="any")
        if refuses(any_order, instance) is not None:
            return "over", f"{instance!r}: {why}"
        found = "order", f"{instance!r}: {why}"
    return found


ALL = load()
IDS = [case["name"] for case in ALL]


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_jsonschema_says_the_same_of_every_instance(case: Case) -> None:
    schema = case["schema"]
    kind = validator_for(schema, default=Draft202012Validator)
    kind.check_schema(schema)
    validator = kind(schema, format_checker=FormatChecker())
    assert [i for i in case["valid"] if not validator.is_valid(i)] == []
    assert [i for i in case["invalid"] if validator.is_valid(i)] == []


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_nothing_invalid_is_accepted_in_either_order_of_keys(case: Case) -> None:
    for key_order in ("schema", "any"):
        try:
            grammar = calligram.compile_schema(case["schema"], key_order=key_order)
        except calligram.CalligramError as error:
            assert all(problem.code in SCHEMAS for problem in error.problems)
            continue
        assert [i for i in case["invalid"] if refuses(grammar, i) is None] == []


def test_no_status_is_worse_and_every_better_one_is_recorded(
    request: pytest.FixtureRequest,
) -> None:
    cases = load()
    changed = []
    for case in cases:
        status, why = outcome(case)
        if status != case["status"]:
            worse = STATUSES.index(status) > STATUSES.index(case["status"])
            changed.append(
                f"{case['name']}: {'worse' if worse else 'better'}, "
                f"{case['status']} before, {status} now{': ' * bool(why)}{why}"
            )
            case["status"] = status
    if changed and request.config.getoption("--update-baseline"):
        CASES.write_text(dump(cases), encoding="utf-8", newline="\n")
        return
    assert not changed, (
        "\n".join(changed)
        + "\nif that is meant: pytest tests/test_schema_baseline.py --update-baseline"
    )


def test_the_cases_are_many_distinct_and_written_one_a_line() -> None:
    cases = load()
    assert len({case["name"] for case in cases}) == len(cases) >= 150
    assert all(case["status"] in STATUSES for case in cases)
    assert CASES.read_text(encoding="utf-8") == dump(cases)
    passing = Counter(case["status"] for case in cases)["pass"]
    assert passing / len(cases) > 0.9


def test_every_keyword_of_the_vocabulary_is_in_some_case() -> None:
    met: set[str] = set()
    pending: list[Any] = [case["schema"] for case in ALL]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            met.update(node)
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    assert sorted(IMPLEMENTED - met) == []
