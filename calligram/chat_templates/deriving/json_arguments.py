"""Arguments that are one JSON object."""

from __future__ import annotations

import json
from typing import Any, Final

from .arguments import Arguments
from .json_style import FREE, find_json, layout_of
from .notes import Notes
from .probe import KEYS, NUMBER, VALUES, Probe

_SIMPLE: Final = {KEYS[0]: VALUES[0]}
_RICH: Final[dict[str, Any]] = {
    KEYS[0]: 'naïve ☃ "q" \\ \n\t it\'s <b> &',
    KEYS[1]: [NUMBER, {"m": None, "n": [True, False, 1.5]}],
}


def json_arguments(probe: Probe, notes: Notes) -> Arguments | None:
    """The notation `json` if it is that."""
    text = probe.text(_SIMPLE)
    place = find_json(text, _SIMPLE) if text is not None else None
    if text is None:
        return None
    if place is None and str(_SIMPLE) in text:
        notes.say("/args/notation", "the arguments of a call stand as one object")
        notes.quirk("/args", "it is printed as Python does, JSON is enforced")
        return Arguments(str(_SIMPLE), {"notation": "json"})
    if place is None:
        if json.dumps(json.dumps(_SIMPLE))[1:-1] in text:
            notes.miss(
                "/args", "arguments stand as JSON text inside a JSON string, which no notation says"
            )
        return None
    notes.say("/args/notation", "the arguments of a call stand as one JSON object")
    args: dict[str, Any] = {"notation": "json"}
    found = Arguments(text[slice(*place)], args)
    found.layout = _layout(probe, notes)
    _order(probe, args, notes)
    _empty(probe, text, place, args, notes)
    return found


def _layout(probe: Probe, notes: Notes) -> dict[str, Any]:
    text = probe.text(_RICH)
    ordered = {key: _RICH[key] for key in sorted(_RICH)}
    value, place = next(
        ((v, p) for v in (_RICH, ordered) if text and (p := find_json(text, v))), (_RICH, None)
    )
    if text is None or place is None:
        notes.quirk(
            "/json",
            "nested values and strings with quotes are not written as JSON that can be read",
        )
        return {}
    layout = layout_of(text[slice(*place)], value)
    if layout is None:
        notes.say("/json/whitespace", "white space in the JSON follows no rule: all is taken")
        return {"whitespace": FREE}
    for key, why in (
        ("separators", "the separators between members, and keys and values, are these"),
        ("ascii", "other characters than ASCII are written as \\u escapes"),
        ("indent", "the JSON is indented, which is enforced as free white space"),
    ):
        if key in layout:
            notes.say(f"/json/{key}", why)
    return layout


def _order(probe: Probe, args: dict[str, Any], notes: Notes) -> None:
    text = probe.text(dict(zip(KEYS, VALUES, strict=True)))
    if text is not None and -1 < text.find(KEYS[1]) < text.find(KEYS[0]):
        args["key_order"] = "sorted"
        notes.say("/args/key_order", "keys stand in alphabetical order, not as they were given")


def _empty(
    probe: Probe, text: str, place: tuple[int, int], args: dict[str, Any], notes: Notes
) -> None:
    bare = probe.text({})
    if bare is None:
        notes.miss("/args/empty", "a call without arguments is not shown")
        return
    before, behind = text[: place[0]], text[place[1] :]
    fits = bare.startswith(before) and bare.endswith(behind)
    if not fits or len(bare) < len(before) + len(behind):
        notes.miss("/args/empty", "a call without arguments is written in another way")
        return
    written = bare[len(before) : len(bare) - len(behind)]
    if "".join(written.split()) == "{}":
        return
    args["empty"] = written
    notes.say("/args/empty", f"a call without arguments has {written!r} in their place")
