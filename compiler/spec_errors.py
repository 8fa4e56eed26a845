"""Pydantic's validation errors about a spec -> located problems in our words.

One problem a place: the branches of a union that all failed become one sentence.
"""

from __future__ import annotations

from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from .origin import Origin, Problem, closest_first, did_you_mean
from .spec import DialectSpec, Part
from .yaml_reader import ListNode, MapNode, Node, ScalarNode, describe

LOADER_KEYS = ("extends", "vars")
_GONE = {
    "whitespace": "it did nothing: take it out. Reading always lets white space between markers "
    'vary; `json: {whitespace: free}` enforces JSON so, whitespace="flexible" a compile',
}
"""Keys that older specs have, and what to do about them."""
_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


def legal_keys(part: type[Part]) -> list[str]:
    """The keys that a part may have, as they are written, in the model's order."""
    return [info.alias or name for name, info in part.model_fields.items()]


def part_in(annotation: Any) -> type[Part] | None:
    """The part of a spec that a field's type speaks of, through unions, tuples and dicts."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next((p for a in get_args(annotation) if (p := part_in(a)) is not None), None)


def spec_problems(error: ValidationError, tree: Node, model: type[Part]) -> list[Problem]:
    """The problems, in the order of the document. `tree` is what `model` was validated against."""
    places: dict[str, list[tuple[ErrorDetails, Node, str]]] = {}
    problems: list[Problem] = []
    for detail in error.errors(include_url=False, include_input=False):
        parent, node, key_origin, key = _walk(tree, detail["loc"])
        least = detail.get("ctx", {}).get("min_length", 0)
        if detail["type"] == "too_short" and isinstance(node, ListNode) and node.items:
            if len(node.items) >= least:
                continue  # It is long enough, but for the items that are wrong themselves.
        if detail["type"] == "missing" and isinstance(node, MapNode):
            problems.append(_missing(str(detail["loc"][-1]), key_origin))
        elif detail["type"] == "extra_forbidden":
            problems.append(_unknown(key, key_origin, model, detail["loc"]))
        else:
            subject = f"`{key}`" if key else "the spec"
            subject = f"an item of {subject}" if isinstance(parent, ListNode) else subject
            places.setdefault(node.origin.pointer, []).append((detail, node, subject))
    problems += [_wrong(found) for found in places.values()]
    return sorted(problems, key=_position)


def _position(problem: Problem) -> tuple[str, int, int]:
    origin = problem.origin
    return (origin.file or "", origin.line or 0, origin.column or 0)


def _walk(tree: Node, loc: tuple[int | str, ...]) -> tuple[Node | None, Node, Origin, str]:
    """(parent, node, origin of its key, its key) for a location; union tags in it are skipped."""
    parent: Node | None = None
    node, origin, key = tree, tree.origin, ""
    for step in loc:
        if isinstance(node, MapNode) and step in node.entries:
            parent, key = node, str(step)
            origin = node.key_origins[key]
            node = node.entries[key]
        elif isinstance(node, ListNode) and isinstance(step, int) and step < len(node.items):
            parent, node = node, node.items[step]
            origin = node.origin
    return parent, node, origin, key


def _missing(key: str, origin: Origin) -> Problem:
    where = "the spec" if not origin.pointer else f"`{origin.pointer.rpartition('/')[2]}`"
    return Problem("spec-missing-key", f"{where} needs the key `{key}`", origin)


def _unknown(key: str, origin: Origin, model: type[Part], loc: tuple[int | str, ...]) -> Problem:
    part: type[Part] | None = model
    for step in loc[:-1]:
        if part is None:
            break
        for name, info in part.model_fields.items():
            if step in (name, info.alias):
                part = part_in(info.annotation)
                break
    legal = legal_keys(part) if part is not None else []
    if part is DialectSpec:
        legal = [*LOADER_KEYS, *legal]
    hint = closest_first(key, legal, "legal keys: " + ", ".join(legal))
    if part is DialectSpec and key in _GONE:
        return Problem("spec-unknown-key", f"the key `{key}` is gone", origin, _GONE[key])
    return Problem("spec-unknown-key", f"unknown key `{key}`", origin, hint)


def _wrong(found: list[tuple[ErrorDetails, Node, str]]) -> Problem:
    detail, node, subject = found[0]
    origin, kind = node.origin, detail["type"]
    if kind == "string_too_short":
        return Problem("spec-value", f"{subject} must not be empty", origin)
    if kind == "string_pattern_mismatch":
        message = f"{subject} must be lower-case words joined by dashes, not {describe(node)}"
        return Problem("spec-value", message, origin)
    if kind == "greater_than_equal":
        least = detail.get("ctx", {}).get("ge")
        message = f"{subject} must be at least {least}, not {describe(node)}"
        return Problem("spec-value", message, origin)
    if kind == "too_short" and detail.get("ctx", {}).get("min_length") == 1:
        return Problem("spec-value", f"{subject} must not be empty", origin)
    if isinstance(node, ListNode) and kind in ("missing", "too_long", "too_short"):
        message = f"{subject} must be a list of two, not of {len(node.items)}"
        return Problem("spec-value", message, origin)
    words = [w for d, *_ in found for w in _expected(d)]
    allowed = [w for w in dict.fromkeys(words) if w]
    message = f"{subject}: {detail['msg']}"
    if allowed:
        message = f"{subject} must be {_or(allowed)}, not {describe(node)}"
    code = "spec-value" if kind == "literal_error" and _is_text(node) else "spec-type"
    return Problem(code, message, origin, _hint(node, allowed))


def _expected(detail: ErrorDetails) -> list[str]:
    if detail["type"] == "literal_error":
        expected = str(detail.get("ctx", {}).get("expected", ""))
        return [f"`{w.strip(chr(39))}`" for w in expected.replace(" or ", ", ").split(", ")]
    return [_KINDS.get(detail["type"], "")]


def _hint(node: Node, allowed: list[str]) -> str | None:
    if isinstance(node, ScalarNode) and not _is_text(node) and "text" in allowed:
        return "put quotes around it"
    if isinstance(node, ScalarNode) and _is_text(node):
        return did_you_mean(node.text, [w.strip("`") for w in allowed if w.startswith("`")])
    return None


def _is_text(node: Node) -> bool:
    return isinstance(node, ScalarNode) and isinstance(node.value, str)


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
