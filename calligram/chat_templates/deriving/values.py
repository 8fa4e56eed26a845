"""How values that are no strings are written: null, true and false, objects and arrays."""

from __future__ import annotations

import ast
import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from .json_style import layout_of, same
from .notes import Notes
from .probe import Probe
from .wording import KEY, Worded, Wording

LITERALS: Final = {"null": None, "true": True, "false": False}
OBJECT: Final[dict[str, Any]] = {"qma": "qword", "qmb": [4711, {"qmc": 1.5}], "qmd": {}}
ARRAY: Final[list[Any]] = ["qword", 4711, {"qma": ["naïve ☃"]}, []]
Style = Literal["json", "python", "other", "hidden"]


@dataclass(frozen=True, slots=True)
class Containers:
    """How objects and arrays are written, and the layout of their JSON."""

    objects: Style
    arrays: Style
    layout: dict[str, Any] | None


def literals(
    probe: Probe, wording: Wording, notes: Notes, *, python: bool
) -> tuple[dict[str, list[str]], bool]:
    """The spec's `args.literals`, and whether null is left out.

    Args:
        python: the notation is Python's, so Python's spellings are no mistake, and read in any
            case.
    """
    spelled: dict[str, list[str]] = {}
    omitted = mistaken = False
    for name, value in LITERALS.items():
        text = probe.text({KEY: value})
        worded = wording.read(text)
        ours, theirs = name, str(value)
        if worded is None:
            omitted = omitted or (value is None and text is not None)
            if value is not None or text is None:
                notes.miss(f"/args/literals/{name}", f"an argument that is {name} is not shown")
        elif worded.text == ours:
            spelled[name] = [ours, theirs] if python else [ours]
        elif worded.text == theirs:
            mistaken = mistaken or not python
            spelled[name] = [theirs, ours] if python else [ours, theirs]
        elif worded.text:
            spelled[name] = [worded.text, ours]
            notes.say(f"/args/literals/{name}", f"{name} is written {worded.text!r}")
        else:
            notes.quirk(f"/args/literals/{name}", f"{name} is written as an empty text")
    firsts = {words[0] for words in spelled.values()}
    if python and firsts & {"None", "True", "False"}:
        notes.say("/args/literals", "null, true and false are written as in Python")
    elif mistaken:
        notes.quirk(
            "/args/literals",
            "null, true or false are printed as Python does, taken for a mistake of history: JSON "
            "is enforced, both are read",
        )
    changed = {name: words for name, words in spelled.items() if words != [name]}
    return changed, omitted


def containers(probe: Probe, wording: Wording) -> Containers:
    """How objects and arrays are written."""
    objects, layout = _style(wording.of(probe, OBJECT), OBJECT)
    arrays, second = _style(wording.of(probe, ARRAY), ARRAY)
    both = {**(layout or {}), **(second or {})} if layout or second else layout or second
    return Containers(objects, arrays, both)


def _style(worded: Worded | None, value: Any) -> tuple[Style, dict[str, Any] | None]:
    if worded is None:
        return "hidden", None
    text = worded.text
    try:
        if same(json.loads(text), value):
            return "json", layout_of(text, value)
    except (ValueError, RecursionError):
        pass
    try:
        if same(ast.literal_eval(text), value):
            return "python", None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        pass
    return "other", None
