"""What is left of a grammar once the prompt has said its first words.

A dialect's ``prefill`` is the end of the generation prompt that belongs to its text: the model goes
on behind it. The grammar of what it writes is the quotient of the whole by that text.
"""

from __future__ import annotations

from dataclasses import replace

from ..errors import GrammarError
from ..grammar import (
    EMPTY,
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Literal,
    Machine,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Rules,
    Sequence,
    Token,
    choice,
    sequence,
)

Rest = tuple[Expr, str]
"""What is left of an expression, and of the text. Where text is left, the expression reads no
more of it, though captures may be left to close."""


def behind(expr: Expr, text: str, rules: Rules) -> Expr:
    """The texts t such that `text` + t is in `expr`.

    Raises:
        GrammarError: nothing in `expr` begins with `text`.
    """
    if not text:
        return expr
    found = [rest for rest, left in _consume(expr, text, rules) if not left]
    if not found:
        raise GrammarError.at(
            "prefill-mismatch", f"no turn begins with the prefill {text!r}",
            hint="prefill must be the beginning of a call, of content or of reasoning",
        )  # fmt: skip
    return choice(*found)


def _consume(expr: Expr, text: str, rules: Rules) -> list[Rest]:
    """All the ways to read the beginning of `text` with `expr`."""
    if not text:
        return [(expr, "")]
    match expr:
        case Literal(own) | Token(own):
            if own.startswith(text):
                return [(Literal(own[len(text) :]), "")]
            return [(EMPTY, text[len(own) :])] if text.startswith(own) else []
        case Chars(ranges):
            code = ord(text[0])
            return [(EMPTY, text[1:])] if any(a <= code <= b for a, b in ranges) else []
        case Sequence(items):
            return _sequence(items, text, rules)
        case Choice(options):
            return [rest for option in options for rest in _consume(option, text, rules)]
        case Repeat():
            return _repeat(expr, text, rules)
        case RuleRef(name):
            return _consume(rules[name], text, rules)
        case Capture(slot, item):
            return [(Capture(slot, rest), left) for rest, left in _consume(item, text, rules)]
        case Cut():
            return [(EMPTY, text)]
        case Regular():
            return _regular(expr, text)
        case Members() | Distinct():
            raise GrammarError.at(
                "prefill-mismatch", "a prefill cannot reach into arguments", expr.origin
            )


def _sequence(items: tuple[Expr, ...], text: str, rules: Rules) -> list[Rest]:
    if not items:
        return [(EMPTY, text)]
    out: list[Rest] = []
    for rest, left in _consume(items[0], text, rules):
        if left:
            # `rest` reads nothing more, but it may hold captures.
            more = _sequence(items[1:], left, rules)
            out += [(sequence(rest, after), still) for after, still in more]
        else:
            out.append((sequence(rest, *items[1:]), ""))
    return out


def _repeat(expr: Repeat, text: str, rules: Rules) -> list[Rest]:
    out: list[Rest] = [(EMPTY, text)] if expr.min == 0 else []
    if expr.max == 0:
        return out
    fewer = replace(expr, min=max(expr.min - 1, 0), max=None if expr.max is None else expr.max - 1)
    for rest, left in _consume(expr.item, text, rules):
        if not left:
            out.append((sequence(rest, fewer), ""))
        elif len(left) < len(text):
            more = _repeat(fewer, left, rules)
            out += [(sequence(rest, after), still) for after, still in more]
    return out


def _regular(expr: Regular, text: str) -> list[Rest]:
    out: list[Rest] = []
    state, counts = 0, 0
    for at, char in enumerate(text):
        if state in expr.machine.accepting and counts >= expr.min:
            out.append((EMPTY, text[at:]))
        step = next((t for t in expr.machine.transitions[state] if t[0] <= ord(char) <= t[1]), None)
        if step is None:
            return out
        state, counts = step[2], counts + step[3]
        if expr.max is not None and counts > expr.max:
            return out
    rest = replace(
        expr,
        machine=_started_at(expr.machine, state),
        min=max(expr.min - counts, 0),
        max=None if expr.max is None else expr.max - counts,
    )
    return [*out, (rest, "")]


def _started_at(machine: Machine, start: int) -> Machine:
    """The machine with another start, its states in order of discovery."""
    order = {start: 0}
    queue = [start]
    for state in queue:
        for _, _, target, _ in machine.transitions[state]:
            if target not in order:
                order[target] = len(order)
                queue.append(target)
    rows = tuple(
        tuple((low, high, order[t], counts) for low, high, t, counts in machine.transitions[s])
        for s in queue
    )
    return Machine(rows, frozenset(order[s] for s in machine.accepting if s in order))
