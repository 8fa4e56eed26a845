"""jsonschema in each draft, made exact: decimal numbers, patterns as ECMA-262 has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import jsonschema
from jsonschema import validators
from jsonschema.exceptions import ValidationError

# What ECMA-262 and Python read differently, for the patterns that the generator uses.
_SPACE: Final = (
    "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
)
_SPELLED: Final = {"\\S": f"[^{_SPACE}]", "\\d": "[0-9]", "\\w": "[A-Za-z0-9_]", "$": "\\Z"}
_DOT: Final = "[^\\n\\r\\u2028\\u2029]"

URIS: Final = {
    "4": "http://json-schema.org/draft-04/schema#",
    "6": "http://json-schema.org/draft-06/schema#",
    "7": "http://json-schema.org/draft-07/schema#",
    "2019": "https://json-schema.org/draft/2019-09/schema",
    "2020": "https://json-schema.org/draft/2020-12/schema",
}
"""What ``$schema`` says, by draft."""


def in_python(pattern: str) -> str:
    """An ECMA-262 pattern for Python's ``re``; no escaped dots or dollars, no dots in classes."""
    for source, spelled in _SPELLED.items():
        pattern = pattern.replace(source, spelled)
    return re.sub(r"(?<!\\)\.", lambda _: _DOT, pattern)


def exact(value: Any) -> Any:
    """The value with decimals in place of floats."""
    return json.loads(json.dumps(value), parse_float=Decimal)


def parse(text: str) -> Any:
    """A JSON text with decimals; raises ArithmeticError beyond what decimals hold."""
    return json.loads(text, parse_float=Decimal)


def _translated(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_translated(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    made = {key: _translated(part) for key, part in schema.items()}
    if isinstance(made.get("pattern"), str):
        made["pattern"] = in_python(made["pattern"])
    if isinstance(made.get("patternProperties"), dict):
        patterns = made["patternProperties"].items()
        made["patternProperties"] = {in_python(source): part for source, part in patterns}
    return made


def _is_whole(checker: Any, value: Any) -> bool:
    number = isinstance(value, (int, Decimal)) and not isinstance(value, bool)
    return number and value == int(value)


def _multiple_of(judge: Any, step: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if judge.is_type(value, "number") and (Fraction(value) / Fraction(step)).denominator != 1:
        yield ValidationError(f"{value} is not a multiple of {step}")


def _kind(draft: str) -> Any:
    base = validators.validator_for({"$schema": URIS[draft]})
    keywords: dict[str, Any] = {"multipleOf": _multiple_of}
    checker = base.TYPE_CHECKER
    if draft != "4":  # There an integer has no fraction, not even .0.
        checker = checker.redefine("integer", _is_whole)
    if draft == "2019":
        # The legacy one takes the keywords of additionalProperties for names of evaluated keys.
        keywords["unevaluatedProperties"] = jsonschema.Draft202012Validator.VALIDATORS[
            "unevaluatedProperties"
        ]
    extend: Any = validators.extend
    return extend(base, keywords, type_checker=checker)


_KINDS: Final = {draft: _kind(draft) for draft in URIS}


class Judge:
    """jsonschema's verdicts for one schema."""

    def __init__(self, schema: Any, draft: str) -> None:
        self._validator = _KINDS[draft](exact(_translated(schema)))

    def __call__(self, value: Any) -> bool | None:
        """Whether an exact value is valid; None where jsonschema cannot say."""
        try:
            return bool(self._validator.is_valid(value))
        except RecursionError:
            return None
        except TypeError:
            # 2019-09's unevaluatedItems asks for the length of a boolean `items`.
            return None
        except BaseException as error:
            # The map below jsonschema turns a RecursionError into a panic of its own.
            if type(error).__name__ != "PanicException":
                raise
            return None
