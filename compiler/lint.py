"""What no type can say about a spec: :class:`LoadedSpec` -> problems.

Errors make a spec useless or ambiguous, and loading raises them; warnings are for
``calligram dialects lint``. Every accepted shape is checked like the dialect itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from .boundaries import ambiguous_boundaries
from .lint_args import check_args
from .lint_shape import Shape
from .lint_triggers import check_triggers
from .lint_turn import check_turn
from .origin import Origin, Problem, did_you_mean, escape_pointer
from .regex_check import regex_problem
from .spec import ArgsSpec
from .spec_loader import LoadedSpec
from .template import (
    ALL_HOLES,
    BODY_HOLES,
    CALL_HOLES,
    Hole,
    Part,
    literal_after,
    parse_call,
    parse_param,
    parse_template,
    suspicious_holes,
)


def lint(loaded: LoadedSpec) -> list[Problem]:
    """All problems, errors and warnings, in the order of the document; no place twice.

    Where nothing else is wrong it is also proven, on the reading automaton, that calls have one
    reading only. It takes some tens of milliseconds.
    """
    shapes = _shapes(loaded)
    too_long = list(_check_lengths(loaded))
    if too_long:
        return too_long
    found = [p for shape in shapes for p in (*_check_call(shape), *check_args(shape))]
    found += check_triggers(loaded, shapes)
    found += _check_tokens(loaded)
    found += _check_tool_kinds(loaded)
    found += _check_openers(loaded, shapes)
    found += check_turn(loaded, shapes)
    if not any(p.severity == "error" for p in found):
        found += [
            replace(p, origin=loaded.origin(p.origin.pointer))
            for p in ambiguous_boundaries(loaded.spec)
        ]
    distinct = {(p.code, p.message, p.origin): _inherited(p, loaded) for p in found}
    return sorted(distinct.values(), key=_position)


def _inherited(problem: Problem, loaded: LoadedSpec) -> Problem:
    """A problem in an ancestor's text says which spec makes it one."""
    file = loaded.origin("").file
    if problem.origin.file == file or file is None:
        return problem
    note = f"inherited by {file}"
    return replace(problem, hint=f"{problem.hint}; {note}" if problem.hint else note)


def _position(problem: Problem) -> tuple[str, int, int, str]:
    at = problem.origin
    return (at.file or "", at.line or 0, at.column or 0, at.pointer)


def _shapes(loaded: LoadedSpec) -> list[Shape]:
    specs = loaded.spec.shapes()
    enforced = [True, *(shape.constrain for shape in loaded.spec.accept)]
    prefixes = ["", *(f"/accept/{i}" for i in range(len(loaded.spec.accept)))]
    return [Shape(loaded, s, p, e) for s, p, e in zip(specs, prefixes, enforced, strict=True)]


def _check_call(shape: Shape) -> Iterator[Problem]:
    parts = parse_call(shape.spec.call)
    at = shape.at("/call")
    names = [p.name for p in parts if isinstance(p, Hole)]
    if "name" not in names:
        hint = "write {name} or {name:json} where the tool's name stands"
        yield Problem("call-without-name", "the call does not say which tool", at, hint)
    if names.count("args") != 1:
        code = "call-repeats-args" if "args" in names else "call-without-args"
        message = f"the call has {{args}} {names.count('args')} times, not once"
        yield Problem(code, message, at, "write {args} where the arguments stand")
    yield from unknown_holes(shape.spec.call, CALL_HOLES, at)
    yield from _check_neighbours(shape, parts, at)
    yield from _check_ids(shape, names)
    yield from _check_calls(shape, parts)
    for name in ("id", "index"):
        if names.count(name) > 1:
            message = f"the call has {{{name}}} {names.count(name)} times; they could differ"
            yield Problem("call-repeats-id", message, at)


def unknown_holes(text: str, holes: frozenset[str], at: Origin) -> Iterator[Problem]:
    """Braces around a word that is no hole here: an error if it was meant as one."""
    legal = "holes here: " + ", ".join(f"{{{h}}}" for h in sorted(holes))
    for _, word in suspicious_holes(text, holes):
        near = did_you_mean(word, sorted(holes))
        meant = near is not None or word.partition(":")[0] in ALL_HOLES
        message = f"{{{word}}} is not a hole here, it is literal text"
        hint = f"{near} {legal}" if near else legal
        yield Problem("unknown-hole", message, at, hint, "error" if meant else "warning")


def _check_neighbours(shape: Shape, parts: Sequence[Part], at: Origin) -> Iterator[Problem]:
    for left, right in zip(parts, parts[1:], strict=False):
        if isinstance(left, Hole) and left.form == "raw" and left.name != "args":
            if isinstance(right, Hole) and not _delimits_itself(
                right, shape.spec.args, literal_after(tuple(parts), "args")
            ):
                message = f"nothing separates {left} from {right}"
                yield Problem("adjacent-holes", message, at, "put a literal between them")
            elif isinstance(right, str) and left.name == "index" and right[0].isdigit():
                message = f"the digit after {left} could belong to the number"
                yield Problem("boundary-undecidable", message, at)
            elif isinstance(right, str) and left.name == "name" and all(map(_in_name, right)):
                message = f"the text after {left} begins like a name: {right[0]!r}"
                hint = "a tool whose name continues that way cannot be told apart"
                yield Problem("name-boundary", message, at, hint, "warning")


def _delimits_itself(hole: Hole, args: ArgsSpec, behind: str) -> bool:
    if hole.form == "json":
        return True
    if hole.name != "args":
        return False
    if args.notation in ("json", "bare-dict") or args.open:
        return True
    # Where there are no arguments, what follows them comes right behind.
    opener = parse_param(args.param or "")[:1]
    return bool(behind) and bool(opener) and isinstance(opener[0], str)


def _in_name(char: str) -> bool:
    return char.isalnum() or char in "_-."


def _check_ids(shape: Shape, holes: Sequence[str]) -> Iterator[Problem]:
    kind, pattern = shape.spec.call_id.kind, shape.spec.call_id.pattern
    where = shape.at("/call_id")
    if "index" in holes and kind != "counter":
        hint = "say `call_id: {kind: counter}`"
        yield Problem("call-id-kind", "{index} needs a counter", shape.at("/call"), hint)
    if "id" in holes and kind == "none":
        hint = "say `call_id: {kind: pattern, pattern: …}` or `{kind: counter}`"
        yield Problem("call-id-kind", "{id} needs a `call_id`", shape.at("/call"), hint)
    if kind != "none" and not {"id", "index"} & set(holes):
        message = "the call has no hole {id} or {index} to fill"
        yield Problem("call-id-unused", message, where, severity="warning")
    if kind == "pattern" and pattern is None:
        yield Problem("call-id-pattern", "`kind: pattern` needs a `pattern`", where)
    if pattern is not None:
        at = shape.at("/call_id/pattern")
        if kind != "pattern":
            yield Problem("call-id-pattern", f"`kind: {kind}` takes no `pattern`", at)
        if reason := regex_problem(pattern):
            yield Problem("invalid-pattern", f"not usable as a pattern: {reason}", at)


def _check_calls(shape: Shape, parts: Sequence[Part]) -> Iterator[Problem]:
    """Whether the end of one call can be told from the beginning of the next."""
    spec = shape.spec
    if spec.calls.max == 1 or spec.calls.separator or not parts:
        return
    last, first = parts[-1], parts[0]
    if isinstance(last, Hole) and isinstance(first, Hole) and not _closed(last, spec.args):
        message = f"one call ends with {last} and the next begins with {first}"
        hint = "give `calls` a separator, or `max: 1`"
        yield Problem("calls-run-together", message, shape.at("/call"), hint)


def _closed(last: Hole, args: ArgsSpec) -> bool:
    if last.name != "args":
        return last.form == "json"
    if args.notation in ("json", "bare-dict") or args.close:
        return True
    return not (args.param or "").endswith("{value}")


def _check_tokens(loaded: LoadedSpec) -> Iterator[Problem]:
    spec = loaded.spec
    texts = list(_literals(spec.model_dump(by_alias=True, exclude={"tokens", *_PROSE})))
    seen: dict[str, int] = {}
    for index, token in enumerate(spec.tokens):
        at = loaded.origin(f"/tokens/{index}/text")
        if token.text in seen:
            hint = f"it is item {seen[token.text]} already"
            yield Problem("token-repeated", f"the token {token.text!r} is listed twice", at, hint)
        seen.setdefault(token.text, index)
        if not any(token.text in text for text in texts):
            message = f"the token {token.text!r} occurs nowhere in the dialect"
            yield Problem("token-unused", message, at, _near_token(token.text, texts), "warning")


_PROSE = ("id", "families", "source", "verified")


def _literals(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _literals(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _literals(value)


def _near_token(token: str, texts: Sequence[str]) -> str | None:
    words = {w for text in texts for w in re.findall(r"<[^<>\s]+>|\[[^\[\]\s]+\]", text)}
    return did_you_mean(token, sorted(words))


def _check_tool_kinds(loaded: LoadedSpec) -> Iterator[Problem]:
    for name, kind in loaded.spec.tool_kinds.items():
        at = loaded.origin(Origin("/tool_kinds").child(name, "call").pointer)
        bodies = sum(
            isinstance(p, Hole) and p.name == "body" for p in parse_template(kind.call, BODY_HOLES)
        )
        if bodies != 1:
            message = f"the call has {{body}} {bodies} times, not once"
            yield Problem(
                "kind-without-body", message, at, "write {body} where the raw text stands"
            )
        yield from unknown_holes(kind.call, BODY_HOLES, at)
        parts = parse_template(kind.call, BODY_HOLES)
        if any(isinstance(a, Hole) and isinstance(b, Hole) for a, b in pairwise(parts)):
            message = "two holes stand side by side"
            yield Problem("adjacent-holes", message, at, "put a literal between them")


def _check_openers(loaded: LoadedSpec, shapes: Sequence[Shape]) -> Iterator[Problem]:
    """What opens a block must not be how a call begins."""
    spec = loaded.spec
    openers = [s.spec.section.open + _head(s.spec.call) for s in shapes if s.enforced]
    blocks = [("/reasoning/open", spec.reasoning.open if spec.reasoning else "")]
    blocks.append(("/content/open", spec.content.open))
    for index, form in enumerate(spec.content.alternatives):
        blocks.append((f"/content/alternatives/{index}/open", form.open))
    for pointer, text in blocks:
        if text and any(opener.startswith(text) for opener in openers):
            message = f"{text!r} is also how a call begins"
            hint = "a text could be read as either"
            yield Problem("opener-clash", message, loaded.origin(pointer), hint)
    for index, text in enumerate(spec.reasoning.implicit_close if spec.reasoning else ()):
        begun = [s.opener() for s in shapes] + [s.spec.lead_in + s.opener() for s in shapes]
        if not any(b.startswith(text) for b in begun):
            message = f"no call begins with {text!r}"
            at = loaded.origin(f"/reasoning/implicit_close/{index}")
            yield Problem("implicit-close-mismatch", message, at, severity="warning")


def _head(template: str) -> str:
    """The literal that a template begins with."""
    first = parse_call(template)[0]
    return first if isinstance(first, str) else ""


MAX_LITERAL = 1024
"""Characters of one text in a spec; markers are a few dozen."""


def _check_lengths(loaded: LoadedSpec) -> Iterator[Problem]:
    for pointer, text in _texts(loaded.spec.model_dump(by_alias=True), ""):
        if len(text) > MAX_LITERAL:
            message = f"a text of {len(text)} characters; at most {MAX_LITERAL} are allowed"
            yield Problem("spec-too-large", message, loaded.origin(pointer))


def _texts(data: object, pointer: str) -> Iterator[tuple[str, str]]:
    """All the strings of plain data, with their pointers."""
    if isinstance(data, str):
        yield pointer, data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _texts(value, f"{pointer}/{escape_pointer(str(key))}")
    elif isinstance(data, list | tuple):
        for index, value in enumerate(data):
            yield from _texts(value, f"{pointer}/{index}")
