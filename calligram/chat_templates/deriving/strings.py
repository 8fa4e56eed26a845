"""How strings are written: their quotes and escapes."""

from __future__ import annotations

import ast
import html
import json
from collections.abc import Mapping
from typing import Any, Final

from .notes import Notes
from .probe import Probe
from .wording import Wording

_PROBES: Final = (
    'qa "quoted" b',
    "qa it's b",
    "qa back\\slash b",
    "qa line\nbreak b",
    "qa naïve ☃ b",
    "qa <b>bold</b> & b",
    '{"qa": 1}',
)
_PLAIN_QUOTES: Final = ("'", '"')


def string_form(
    probe: Probe, wording: Wording, notes: Notes
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The spec's `args.string`; and how history has strings by mistake, None if it has them so."""
    opener, closer = wording.quotes
    shown = {text: worded.text for text in _PROBES if (worded := wording.of(probe, text))}
    if hidden := len(_PROBES) - len(shown):
        notes.miss("/args/string", f"{hidden} of {len(_PROBES)} strings are not shown")
    form: dict[str, Any] = {"open": opener, "close": closer} if opener or closer else {}
    if not shown:
        return form | {"escape": "none"}, None
    inside = {text: _inside(written, opener, closer) for text, written in shown.items()}
    quoted = f" in {opener} and {closer}" if opener or closer else ""
    raw = all(text == written for text, written in inside.items())
    if opener in _PLAIN_QUOTES and opener == closer:
        return _quoted(opener, raw, shown, notes)
    if raw:
        notes.say("/args/string/escape", f"strings stand as they are{quoted}")
        return form | {"escape": "none"}, None
    for escape, written in (("json", _as_json), ("xml", _as_xml)):
        if all(inside[text] in written(text) for text in inside):
            notes.say("/args/string/escape", f"strings are escaped as in {escape.upper()}{quoted}")
            return form | {"escape": escape}, None
    form["escape"] = "none"
    other = _other_form(inside, shown)
    if other is not None:
        form["alternatives"] = [{"open": other[0], "close": other[1], "escape": "none"}]
        notes.say(
            "/args/string/alternatives",
            f"some strings stand between {other[0]} and {other[1]}, others as they are",
        )
    else:
        notes.quirk(
            "/args/string/escape", "some strings are altered, so they are taken as raw text"
        )
    return form, None


def _quoted(
    quote: str, raw: bool, shown: Mapping[str, str], notes: Notes
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Strings in the quotes that programs have them in."""
    form: dict[str, Any] = {"open": quote, "close": quote}
    if quote == '"' and all(written[1:-1] in _as_json(text) for text, written in shown.items()):
        notes.say("/args/string/escape", "strings are JSON strings")
        return form | {"escape": "json"}, None
    form["escape"] = "python"
    other = next(q for q in _PLAIN_QUOTES if q != quote)
    form["alternatives"] = [{"open": other, "close": other, "escape": "python"}]
    if all(_literal(written) == text for text, written in shown.items()):
        notes.say("/args/string/escape", "strings are written as Python does, in either quotes")
    elif raw:
        notes.quirk(
            "/args/string/escape",
            f"strings stand in {quote} without escapes, so one that holds {quote} cannot be told "
            "from its end; escapes are enforced",
        )
        return form, {"open": quote, "close": quote, "escape": "none"}
    else:
        notes.quirk(
            "/args/string/escape", "some strings are altered; Python's escapes are enforced"
        )
    return form, None


def _inside(written: str, opener: str, closer: str) -> str:
    if written.startswith(opener) and written.endswith(closer):
        return written[len(opener) : len(written) - len(closer)]
    return written


def _as_json(text: str) -> tuple[str, ...]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def _as_xml(text: str) -> tuple[str, ...]:
    return (
        html.escape(text, quote=False),
        html.escape(text),
        html.escape(text).replace("&#x27;", "'"),
        html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),
    )


def _literal(written: str) -> object:
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _other_form(inside: Mapping[str, str], shown: Mapping[str, str]) -> tuple[str, str] | None:
    """What stands around the strings that are not written as they are, if always the same."""
    found = set()
    for text, written in inside.items():
        if written != text:
            before, here, behind = shown[text].partition(text)
            found.add((before, behind) if here else ("", ""))
    return found.pop() if len(found) == 1 and all(all(f) for f in found) else None
