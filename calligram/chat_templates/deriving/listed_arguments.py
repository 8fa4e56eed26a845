"""Arguments that are written one by one: which notation that is, and all that belongs to it."""

from __future__ import annotations

from typing import Any

from .arguments import Arguments
from .members import Members, is_sorted, members
from .nested import Braces, braces, tree, type_names
from .notes import Notes
from .probe import KEYS, VALUES, Probe
from .strings import string_form
from .values import Containers, containers, literals
from .wording import Wording, wording

_QUOTES = ("'", '"')


def listed_arguments(probe: Probe, notes: Notes) -> Arguments | None:
    """Any notation but `json`, None if it is none that the spec format has."""
    around = members(probe, notes)
    said = wording(probe, around, notes) if around is not None else None
    if around is None or said is None:
        return None
    args: dict[str, Any]
    found = braces(probe, said)
    if found is not None:
        return _bare_dict(probe, around, said, found, notes)
    nested = tree(probe, said)
    if nested is not None:
        said, around = nested.wording, nested.wording.around
        notes.say("/args/notation", "every value is an element, nested ones as the outermost")
        args = {"notation": "tree", **_param(around, said), "item": nested.item}
        notes.say("/args/item", "an array with one item shows one element")
    elif said.rest in _QUOTES and said.lead.endswith(said.rest) and around.separator.strip():
        return _all_quoted(around, said, notes)
    elif said.rest:
        notes.say(
            "/args/notation",
            f"each argument is text of its own and ends with {said.rest.strip()!r}",
        )
        args = {"notation": "tagged", **_param(around, said)}
    else:
        notes.say("/args/notation", "arguments stand as keys with values, nothing ends a value")
        args = {"notation": "kwargs", **_param(around, said)}
        if not args.get("separator"):
            notes.quirk("/args/separator", "nothing stands between two arguments; a comma is taken")
            args["separator"] = ", "
    notes.say("/args/param", "so one argument is written, whatever its value")
    return _finished(probe, around, said, args, notes)


def _all_quoted(around: Members, said: Wording, notes: Notes) -> Arguments:
    """Keywords whose template puts even numbers in quotes."""
    quote = said.rest
    notes.quirk(
        "/args/string",
        f"every value stands in {quote}, numbers too, taken for a mistake of history",
    )
    notes.miss("/args/literals", "how values that are no strings are written; taken as in Python")
    bare = Wording(around, said.lead[:-1], None, "", (quote, quote))
    args = {"notation": "kwargs", **_param(around, bare)}
    args["string"] = {"open": quote, "close": quote, "escape": "python"}
    args["literals"] = {"null": ["None"], "true": ["True"], "false": ["False"]}
    return Arguments(around.opener + around.param(KEYS[0], VALUES[0]) + around.closer, args)


def _param(around: Members, said: Wording) -> dict[str, Any]:
    parts = {
        "open": around.opener,
        "close": around.closer,
        "empty": around.empty,
        "separator": around.separator,
        "param": said.param(),
    }
    return {key: value for key, value in parts.items() if value or (key == "empty" and value == "")}


def _finished(
    probe: Probe, around: Members, said: Wording, args: dict[str, Any], notes: Notes
) -> Arguments:
    notation = args["notation"]
    if said.joint is not None:
        args["type_attr"], hidden = type_names(probe, said)
        notes.say("/args/type_attr", "the text before a value differs by its type")
        if hidden:
            why = f"an argument of these types is not shown: {', '.join(hidden)}"
            notes.miss("/args/type_attr", why)
    written = containers(probe, said)
    history = _values(probe, said, args, notes, written)
    found = Arguments(
        around.opener + around.param(KEYS[0], VALUES[0]) + around.closer, args, {}, history
    )
    if notation == "tree":
        return found
    _nested(written, found, notes)
    return found


def _values(
    probe: Probe,
    said: Wording,
    args: dict[str, Any],
    notes: Notes,
    written: Containers | None = None,
) -> list[dict[str, Any]]:
    """Adds what is said of values; gives the shapes that history has by mistake."""
    notation = args["notation"]
    if is_sorted(probe):
        args["key_order"] = "sorted"
        notes.say("/args/key_order", "keys stand in alphabetical order, not as they were given")
    string, mistaken = string_form(probe, said, notes)
    if string != {"escape": "none"}:
        args["string"] = string
    python = notation == "kwargs" and not _is_json(args, written)
    spelled, omitted = literals(probe, said, notes, python=python)
    if spelled:
        args["literals"] = spelled
    if omitted and notation == "tree":
        args["null"] = "omit"
        notes.say("/args/null", "an argument that is null is not written")
    elif omitted:
        notes.quirk("/args/literals/null", "an argument that is null is left out")
    return [{"args": {"string": mistaken}}] if mistaken is not None else []


def _is_json(args: dict[str, Any], written: Containers | None) -> bool:
    """Is every value JSON, strings too?"""
    if written is None or {written.objects, written.arrays} != {"json"}:
        return False
    form = args.get("string", {})
    return (form.get("open"), form.get("escape")) == ('"', "json")


def _nested(written: Containers, found: Arguments, notes: Notes) -> None:
    """Objects and arrays in a notation that does not repeat itself."""
    args = found.args
    styles = {written.objects, written.arrays}
    found.layout = written.layout or {}
    if args["notation"] == "kwargs":
        args["containers"] = "json" if _is_json(args, written) else "python"
        if styles == {"json"} and args["containers"] == "python":
            notes.quirk(
                "/args/containers",
                "objects and arrays are written as JSON, though strings are not; as Python writes "
                "them is enforced, both are read",
            )
        elif len(styles) > 1:
            notes.quirk("/args/containers", "objects and arrays are written in different ways")
        else:
            notes.say("/args/containers", f"objects and arrays are written as {args['containers']}")
    elif "python" in styles:
        notes.quirk(
            "/args/containers",
            "objects and arrays are printed as Python does, taken for a mistake of history: JSON "
            "is enforced",
        )
        found.history.append({"args": {"containers": "python"}})
    if "hidden" in styles:
        notes.miss("/args/containers", "an argument that is an object or an array is not shown")
    elif "other" in styles:
        notes.miss(
            "/args/containers", "objects or arrays are written neither as JSON nor as Python"
        )


def _bare_dict(
    probe: Probe, around: Members, said: Wording, found: Braces, notes: Notes
) -> Arguments:
    notes.say("/args/notation", "objects are written in braces with bare keys, at every depth")
    args: dict[str, Any] = {"notation": "bare-dict"}
    if found.quoted:
        args["key_quote"] = "quoted"
    if around.empty is not None and around.empty != "{}":
        args["empty"] = around.empty
    history = _values(probe, said, args, notes)
    inner = around.param(KEYS[0], VALUES[0])
    layout = {} if found.separators == (", ", ": ") else {"separators": list(found.separators)}
    if layout:
        notes.say("/json/separators", "what stands between members, and between key and value")
    return Arguments("{" + inner + "}", args, layout, history)
