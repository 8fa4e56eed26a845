"""Lint of the arguments: templates, string forms, types, and whether each boundary is decidable."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .lint_shape import Shape
from .lint_tree import check_tree
from .origin import Origin, Problem
from .spec import LiteralsSpec, StringForm, StringSpec, TypeAttrSpec
from .template import PARAM_HOLES, Hole, literal_after, suspicious_holes

_TREE_KEYS = ("item", "null")
_TEMPLATE_KEYS = ("open", "close", "separator", "param", "type_attr")
_UNUSED = {
    "json": (*_TEMPLATE_KEYS, *_TREE_KEYS),
    "tagged": _TREE_KEYS,
    "kwargs": _TREE_KEYS,
    "bare-dict": (*_TEMPLATE_KEYS, *_TREE_KEYS),
    "tree": ("separator",),
}
"""What each notation has no use for."""
_JSON_TYPES = ("string", "number", "integer", "boolean", "null", "array", "object")


def check_args(shape: Shape) -> Iterator[Problem]:
    """All about `args`, and the layout of JSON."""
    if shape.spec.args.notation == "tree":
        yield from _check_param(shape)
        yield from _check_types(shape)
        yield from check_tree(shape)
    elif shape.spec.args.notation in ("tagged", "kwargs"):
        yield from _check_param(shape)
        yield from _check_types(shape)
        yield from _check_boundaries(shape)
        yield from _check_closer(shape)
    yield from _check_unused(shape)
    yield from _check_strings(shape)
    yield from _check_literals(shape)
    yield from _check_layout(shape)


def _check_param(shape: Shape) -> Iterator[Problem]:
    notation, param = shape.spec.args.notation, shape.spec.args.param
    at = shape.at("/args/param")
    if param is None:
        message = f"arguments in the notation `{notation}` need a template"
        hint = 'for example `param: "<arg name={key}>{value}</arg>"`'
        yield Problem("param-missing", message, at, hint)
        return
    holes = [p.name for p in shape.param() if isinstance(p, Hole)]
    if "key" not in holes:
        yield Problem("param-without-key", "the template has no {key}", at)
    if "value" not in holes:
        yield Problem("param-without-value", "the template has no {value}", at)
    if holes.count("value") > 1:
        yield Problem("param-repeats-value", "the template has {value} more than once", at)
    if "value" in holes:
        late = [h for h in ("key", "type") if h in holes and holes.index(h) > holes.index("value")]
        for name in late:
            message = f"{{{name}}} stands behind {{value}}, whose form depends on it"
            yield Problem("param-order", message, at)
    for left, right in zip(shape.param(), shape.param()[1:], strict=False):
        if isinstance(left, Hole) and isinstance(right, Hole) and left.form == "raw":
            message = f"nothing separates {left} from {right}"
            yield Problem("adjacent-holes", message, at, "put a literal between them")
    for _, word in suspicious_holes(param, PARAM_HOLES):
        legal = ", ".join(f"{{{h}}}" for h in sorted(PARAM_HOLES))
        message = f"{{{word}}} is not a hole here, it is literal text"
        yield Problem("unknown-hole", message, at, f"holes here: {legal}")


def _check_types(shape: Shape) -> Iterator[Problem]:
    attr: TypeAttrSpec | None = shape.spec.args.type_attr
    used = Hole("type") in shape.param()
    if used and attr is None:
        hint = 'say `type_attr: {string: "…", default: "…"}`'
        message = "the template has {type}, and nothing says its values"
        yield Problem("type-attr-missing", message, shape.at("/args/param"), hint)
    if attr is None:
        return
    at = shape.at("/args/type_attr")
    if not used:
        message = "`type_attr` without {type} in the template says nothing"
        yield Problem("type-attr-unused", message, at, severity="warning")
    if attr.default is None:
        lacking = [t for t in _JSON_TYPES if _attr(attr, t) is None]
        if lacking:
            message = f"`type_attr` has no value for {', '.join(lacking)}"
            yield Problem("type-attr-incomplete", message, at, "name them or give a `default`")


def _attr(attr: TypeAttrSpec, json_type: str) -> str | None:
    named: str | None = getattr(attr, json_type)
    # A whole number is a number where nothing else is said.
    return attr.number if named is None and json_type == "integer" else named


def _check_boundaries(shape: Shape) -> Iterator[Problem]:
    args, parts = shape.spec.args, shape.param()
    holes = [p.name for p in parts if isinstance(p, Hole)]
    if "value" not in holes:
        return
    if not args.separator and parts[-1] == Hole("value"):
        message = "nothing stands between one argument's value and the next argument"
        hint = "give `args` a separator, or end `param` with a literal"
        at = shape.at(shape.written("/args/separator", "/args/param"))
        yield Problem("args-run-together", message, at, hint)
    for text, pointer in shape.after_value():
        if text and _extends_a_value(text[0]):
            message = f"{text[0]!r} after a value could belong to it: a number goes on with it"
            hint = "begin with punctuation or white space"
            yield Problem("boundary-undecidable", message, shape.at(pointer), hint)
    opener = parts[0] if isinstance(parts[0], str) else ""
    after = shape.after_args()
    rest = after[len(opener) :] if after.startswith(opener) else None
    if after and rest is not None and (not rest or rest[0].isalnum() or rest[0] == "_"):
        message = f"what follows the arguments, {after!r}, begins as an argument does"
        yield Problem("boundary-undecidable", message, shape.at("/args/param"))


def _extends_a_value(char: str) -> bool:
    return char.isalnum() or char in ".+-_"


def _check_unused(shape: Shape) -> Iterator[Problem]:
    args = shape.spec.args
    for key in _UNUSED[args.notation]:
        if getattr(args, key) not in ("", None, "emit"):
            message = f"`{key}` has no meaning in the notation `{args.notation}`"
            at = shape.at(f"/args/{key}")
            yield Problem("args-unused-key", message, at, severity="warning")
    if args.notation == "json" and args.string is not None and args.string.escape != "json":
        message = "the notation `json` has JSON strings, whatever `string` says"
        yield Problem("args-unused-key", message, shape.at("/args/string"), severity="warning")
    if args.notation == "json" and args.literals != LiteralsSpec():
        message = "the notation `json` has JSON's null, true and false, whatever `literals` says"
        yield Problem("args-unused-key", message, shape.at("/args/literals"), severity="warning")
    if _has_json_values(shape) and args.string is not None and args.string.escape != "json":
        message = "with `containers: json` all values are JSON, strings too"
        hint = "`containers: python` lets `string` say how they are written"
        at = shape.at("/args/string")
        yield Problem("args-unused-key", message, at, hint, severity="warning")


def _has_json_values(shape: Shape) -> bool:
    """Is every argument of a Python call JSON?"""
    return shape.spec.args.notation == "kwargs" and shape.spec.args.containers == "json"


def _check_strings(shape: Shape) -> Iterator[Problem]:
    args = shape.spec.args
    if args.notation in ("json", "tree") or (args.string is None and args.notation != "tagged"):
        return
    first = args.string or StringSpec()
    yield from _check_form(shape, first, "/args/string")
    opens = {first.open: 0}
    for index, form in enumerate(first.alternatives):
        pointer = f"/args/string/alternatives/{index}"
        yield from _check_form(shape, form, pointer)
        if form.open in opens:
            message = f"two forms of strings open with {form.open!r}"
            yield Problem("string-forms", message, shape.at(pointer))
        opens[form.open] = index + 1


def _check_form(shape: Shape, form: StringForm, pointer: str) -> Iterator[Problem]:
    args = shape.spec.args
    nested = args.notation != "tagged" or args.containers == "python"
    if not nested and Hole("value") not in shape.param():
        return
    closer = form.close or ("" if nested else literal_after(shape.param(), "value"))
    at = shape.at(pointer)
    escaped = form.escape in ("json", "python")
    if not form.close and (escaped or not closer):
        message = "nothing tells where a string ends"
        hint = "give `string` a `close`" + ("" if nested else ", or put a literal after {value}")
        yield Problem("string-without-closer", message, at, hint)
        return
    forbidden = "\\" if escaped else "&" if form.escape == "xml" else ""
    if forbidden and forbidden in form.close:
        message = f"the closer {form.close!r} has the character that begins an escape"
        yield Problem("boundary-undecidable", message, shape.at(pointer + "/close"))
    yield from _check_closes_before(form, shape.at(pointer + "/closes_before"))
    if form.escape == "none" and closer and not re.search(r"[^\w\s]", closer):
        message = f"ordinary text closes a raw string: {closer!r}"
        hint = "values cannot contain it, and layout cannot be told from the value"
        yield Problem("closer-common", message, at, hint, "warning")


def _check_closes_before(form: StringForm, at: Origin) -> Iterator[Problem]:
    """Characters that tell a closer from text must be told from closer, text and white space."""
    if not form.closes_before:
        return
    if form.escape != "none" or not form.close:
        message = "`closes_before` goes with a `close` and `escape: none`"
        yield Problem("string-closes-before", message, at)
    bad = [c for c in form.closes_before if c.isalnum() or c.isspace() or c in form.close]
    if bad:
        message = f"{bad[0]!r} cannot tell that a string is closed: text goes on with it"
        yield Problem("string-closes-before", message, at, "name punctuation, as `,)`")


def _check_literals(shape: Shape) -> Iterator[Problem]:
    spellings: dict[str, str] = {}
    for name in ("null", "true", "false"):
        words: tuple[str, ...] = getattr(shape.spec.args.literals, name)
        at = shape.at(f"/args/literals/{name}")
        if not words:
            yield Problem("literals-empty", f"`{name}` needs a spelling", at)
        for word in words:
            other = spellings.setdefault(word, name)
            if other != name:
                yield Problem("literals-overlap", f"{word!r} means both {other} and {name}", at)
        json = shape.spec.args.notation == "tagged" or _has_json_values(shape)
        if json and words and words[0] != name:
            message = f"{name} is written as JSON here, so the first spelling is `{name}`"
            yield Problem("literals-not-json", message, at, severity="warning")


def _check_layout(shape: Shape) -> Iterator[Problem]:
    args = shape.spec.args
    if args.containers == "recurse" and args.notation not in ("bare-dict", "tree"):
        message = f"nested values cannot repeat the notation `{args.notation}`"
        yield Problem("containers", message, shape.at("/args/containers"), "`json` or `python`")
    member, colon = shape.spec.json_layout.separators
    for index, (text, sign) in enumerate(((member, ","), (colon, ":"))):
        if text.strip(" \t\r\n") != sign:
            message = f"the separator is {sign!r} with white space around it, not {text!r}"
            yield Problem("json-separators", message, shape.at(f"/json/separators/{index}"))


_IN_JSON = frozenset('{}[]",:.+- 0123456789truefalsn')


def _check_closer(shape: Shape) -> Iterator[Problem]:
    """What ends a tagged value must not occur in the JSON that values are written in."""
    closer = literal_after(shape.param(), "value")
    if shape.spec.args.notation == "tagged" and closer and set(closer) <= _IN_JSON:
        message = f"{closer!r} ends a value, and can stand in the JSON of one"
        hint = "end values with a text that JSON has nowhere outside strings"
        yield Problem("value-closer", message, shape.at("/args/param"), hint)
