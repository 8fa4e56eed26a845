"""Masks beside those of llguidance and XGrammar, on schemas that all of them can express.

Where they differ the reason is listed, and each reason is met.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import calligram
from calligram.bench import engines, vocabularies
from calligram.targets import mask
from tests.sampling import Sampler, dice, fuzzed

VOCABULARY = vocabularies.made_up(6000)
SIZE = len(VOCABULARY)
DRAFT_4 = "http://json-schema.org/draft-04/schema#"
"""In which 1.0 is no integer, as other engines have it in every draft."""

LAYOUT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


SCHEMAS: dict[str, Any] = {
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "enum": {"enum": ["a", "ab", "b", 1, 12, None, True]},
    "string": {"type": "string"},
    "bounded string": {"type": "string", "minLength": 2, "maxLength": 5},
    "integer": {"type": "integer"},
    "range": {"type": "integer", "minimum": -3, "maximum": 120},
    "number": {"type": "number"},
    "array": {"type": "array", "items": {"enum": [1, 2]}, "minItems": 1, "maxItems": 3},
    "arrays in arrays": {
        "type": "array",
        "items": {"type": "array", "items": {"type": "boolean"}},
    },
    "object": closed(
        {
            "a": {"type": "integer", "minimum": 0, "maximum": 99},
            "b": {"type": "string", "pattern": "^[a-z]{0,4}$"},
            "c": {"type": "boolean"},
        },
        "a",
        "c",
    ),
    "optional keys": closed({"a": {"type": "boolean"}, "b": {"type": "null"}, "c": {"enum": [1]}}),
    "options": {"anyOf": [{"type": "boolean"}, closed({"k": {"enum": ["x"]}}, "k")]},
    "recursion": {
        "$ref": "#/definitions/n",
        "definitions": {
            "n": closed({"v": {"type": "boolean"}, "n": {"$ref": "#/definitions/n"}}, "v")
        },
    },
    "date": {"type": "string", "format": "date"},
    **{
        f"pattern {pattern}": {"type": "string", "pattern": pattern}
        for pattern in (
            "^[a-c]+[0-9]{2,3}$", "^(ab|a)*c$", "^x{3,9}(y|zz)?$", "^[^a-y]{2}$", "^(a|bc){2,}-é+$",
        )
    },
}  # fmt: skip


@dataclass(frozen=True)
class Reason:
    """Why one engine allows a token that the other does not.

    Attributes:
        ours: the token is one that we allow.
        holds: told by schema, the text so far, the token, and whether the next byte is forced.
    """

    why: str
    ours: bool
    holds: Callable[[str, bytes, bytes, bool], bool]


def _escaped(name: str, text: bytes, token: bytes, forced: bool) -> bool:
    begun = text.rstrip(b"0123456789abcdefABCDEF")
    return b"\\" in token or b"\\u" in begun[-2:] or text.endswith(b"\\")


def _broken(text: bytes) -> bool:
    """Is a text no beginning of any in UTF-8?"""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError:
        return True
    # Of these Python tells at the third byte only.
    return re.search(rb"\xed[\xa0-\xbf]", text) is not None


DAYS = "it takes days that no month has, and the year 0"
LLGUIDANCE = (
    Reason("forced bytes are only taken in its own tokenisation", True, lambda n, t, k, f: f),
    Reason("of \\u escapes it takes those of control characters, and no \\/", True, _escaped),
    Reason("it takes no raw DEL in strings", True, lambda n, t, k, f: b"\x7f" in k),
    Reason("it spells the integer -0", False,
           lambda n, t, k, f: n in ("integer", "range") and (t + k).startswith(b"-0")),
    Reason("a pattern's strings have their shortest spelling here, any there", False,
           lambda n, t, k, f: n.startswith("pattern") and _escaped(n, t, k, f)),
    Reason(DAYS, False, lambda n, t, k, f: n == "date"),
)  # fmt: skip
XGRAMMAR = (
    Reason("it knows no escapes in strings of bounded length or of a pattern", True,
           lambda n, t, k, f: n != "string" and b"\\" in k),
    Reason("it takes control characters in strings of bounded length, which is no JSON", False,
           lambda n, t, k, f: n == "bounded string" and min(k) < 0x20),
    Reason("it takes halves of surrogate pairs", False,
           lambda n, t, k, f: n == "string" and _escaped(n, t, k, f)),
    Reason("it takes bytes that are no UTF-8", False, lambda n, t, k, f: _broken(t + k)),
    Reason(DAYS, False, lambda n, t, k, f: n == "date"),
)  # fmt: skip


def compared(engine: engines.Engine, name: str, reasons: tuple[Reason, ...]) -> set[str]:
    """Walk texts of the schema; -> the reasons met.

    Raises:
        AssertionError: a difference without a reason.
    """
    schema = {"$schema": DRAFT_4, **SCHEMAS[name]}
    grammar = calligram.compile_schema(schema, whitespace="exact", bounds=None)
    short = calligram.Bounds(string=8, items=3, digits=4, recursion=2, depth=1)
    bounded = calligram.compile_schema(schema, whitespace="exact", bounds=short)
    random = dice("engines", name)
    sampler = Sampler(bounded.enforced.rules, random, size=24)
    automaton = mask.compile(grammar, VOCABULARY)
    engine.compile({**SCHEMAS[name], "x-guidance": LAYOUT})
    met = set()
    for text in sampler.texts(bounded.enforced.start, fuzzed(20)):
        matcher = automaton.matcher()
        engine.start()
        data, at = text.encode(), 0
        while True:
            engine.mask()
            ours, theirs = (
                np.unpackbits(row.view(np.uint8), bitorder="little")[:SIZE]
                for row in (matcher.mask_row(), engine.row)
            )
            forced = bool(matcher.find_jump_forward_bytes())
            for token in np.flatnonzero(ours != theirs).tolist():
                piece = VOCABULARY.tokens[token]
                why = next(
                    (
                        r.why
                        for r in reasons
                        if r.ours == ours[token] and r.holds(name, data[:at], piece, forced)
                    ),
                    None,
                )
                assert why is not None, (name, data[:at], piece, bool(ours[token]))
                met.add(why)
            fits = [
                int(i)
                for i in np.flatnonzero(ours & theirs)
                if i not in VOCABULARY.eos_ids and data.startswith(VOCABULARY.tokens[i], at)
            ]
            if at == len(data) or not fits:
                # A text that the other engine does not take as it is.
                break
            token = random.choice(fits)
            assert matcher.accept_token(token) and engine.accept(token)
            at += len(VOCABULARY.tokens[token])
    return met


@pytest.mark.fuzz
@pytest.mark.parametrize(("which", "reasons"), [("llguidance", LLGUIDANCE), ("xgrammar", XGRAMMAR)])
def test_differences_have_reasons(which: str, reasons: tuple[Reason, ...]) -> None:
    lacking = engines.missing(which)
    if lacking is not None:
        pytest.skip(f"{lacking} is not installed")
    engine = engines.ENGINES[which](VOCABULARY)
    met: set[str] = set()
    for name in SCHEMAS:
        met |= compared(engine, name, reasons)
    assert met == {reason.why for reason in reasons}
