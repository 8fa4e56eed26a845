"""Continuations in words, for messages: what could come next."""

from __future__ import annotations

from ..grammar import Chars, Expr, Machine, Regular
from .cells import BUT, BYTES, END, EXPR, RANGES, REGULAR
from .core import Core, Pending

MOST = 40
_LONGEST = 60
_END = "the end of the text"


def expected_words(core: Core, threads: tuple[int, ...]) -> tuple[str, ...]:
    """What may stand at the threads' place: quoted texts and kinds of characters, no repeats."""
    with core.lock:
        return _expected_words(core, threads)


def _expected_words(core: Core, threads: tuple[int, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    ends = False
    for thread in threads:
        seen: set[int] = set()
        stack = [thread]
        while stack and len(found) < MOST:
            cell = stack.pop()
            if cell in seen:
                continue
            seen.add(cell)
            if cell == END:
                ends = True
                continue
            words, more = _describe(core, cell)
            found.update(dict.fromkeys(words))
            stack.extend(reversed(more))
    if ends:
        found[_END] = None
    return tuple(found)


def _describe(core: Core, cell: int) -> tuple[list[str], list[int]]:
    """Words for the head if it reads a byte, and the cells it turns into without one."""
    inside = core.remembering.inside(cell)
    if inside is not None:
        words = [w for w in _expected_words(core, (inside,)) if w != _END]
        return words, _epsilon(core, cell) or []
    epsilon = _epsilon(core, cell)
    if epsilon is not None:
        return [], epsilon
    expr = _head_expression(core, cell)
    if isinstance(expr, Chars):
        return [class_words(expr)], []
    if isinstance(expr, Regular):
        state = _regular_state(core, cell)
        machine = core.machine(core.index(expr))
        row = machine.transitions[state[0]]
        if len(row) == 1 and row[0][0] == row[0][1]:
            return [_quoted(_run(machine, state[0]))], _after_regular(core, cell)
        if state[0] == 0:
            return [expr.what], _after_regular(core, cell)
        ranges = tuple((low, high) for low, high, _, _ in row)
        return [_ranges_words(ranges)] if ranges else [], _after_regular(core, cell)
    text = _rest_of_literal(core, cell)
    if text is not None:
        return [_quoted(text)], []
    return ["the rest of a character"], []


def _epsilon(core: Core, cell: int) -> list[int] | None:
    """What a continuation turns into without a byte; None if its head reads one."""
    head, _ = core.parts(cell)
    if head[0] in (BYTES, RANGES, REGULAR, BUT):
        return None
    if isinstance(_head_expression(core, cell), (Chars, Regular)):
        return None
    stack: Pending = []
    core.step_into(cell, (), [], stack)
    return [c for c, _ in reversed(stack)]


def _head_expression(core: Core, cell: int) -> Expr | None:
    """The expression at a continuation's head, if that is what its head is about."""
    head, _ = core.parts(cell)
    if head[0] in (EXPR, REGULAR, BUT):
        assert isinstance(head[1], int)
        return core.exprs[head[1]]
    return None


def _regular_state(core: Core, cell: int) -> tuple[int, int, int | None]:
    """State and window of counts of a head that is inside a regular text."""
    head, _ = core.parts(cell)
    if head[0] in (REGULAR, BUT):
        return head[2:5]
    expr = _head_expression(core, cell)
    assert isinstance(expr, Regular)
    return 0, expr.min, expr.max


def _after_regular(core: Core, cell: int) -> list[int]:
    """The continuation after a regular text, if it may end here."""
    stack: Pending = []
    core.step_into(cell, (), [], stack)
    return [c for c, _ in stack]


def _rest_of_literal(core: Core, cell: int) -> str | None:
    """What is left of the literal at a continuation's head."""
    head, _ = core.parts(cell)
    if head[0] != BYTES:
        return None
    _, data, at = head
    assert isinstance(data, bytes) and isinstance(at, int)
    return data[at:].decode("utf-8", "replace")


def _run(machine: Machine, state: int) -> str:
    """The text that a machine must read from a state on, as long as there is no choice."""
    text = ""
    while len(text) < _LONGEST:
        row = machine.transitions[state]
        if len(row) != 1 or row[0][0] != row[0][1] or (text and state in machine.accepting):
            break
        text += chr(row[0][0])
        state = row[0][2]
    return text


def class_words(expr: Chars) -> str:
    """A class of characters in words."""
    return _ranges_words(expr.ranges)


_NAMED = {
    ((0x30, 0x39),): "a digit",
    ((0x31, 0x39),): "a digit from 1 to 9",
    ((0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)): "white space",
    ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)): "a hexadecimal digit",
}


def _ranges_words(ranges: tuple[tuple[int, int], ...]) -> str:
    named = _NAMED.get(ranges)
    if named:
        return named
    size = sum(high - low + 1 for low, high in ranges)
    if size == 1:
        return _quoted(chr(ranges[0][0]))
    if size > 100_000:
        missing = _missing(ranges)
        return f"a character other than {missing}" if missing else "any character"
    shown = []
    for low, high in ranges[:6]:
        shown.append(repr(chr(low)) if low == high else f"{chr(low)!r}-{chr(high)!r}")
    if len(ranges) > 6:
        shown.append("...")
    return "one of " + " ".join(shown)


def _missing(ranges: tuple[tuple[int, int], ...]) -> str:
    """The few characters that a large class leaves out, in words."""
    out = []
    low = 0
    for a, b in ranges:
        if low < a and (low, a) != (0xD800, 0xE000):
            out.append((low, a - 1))
        low = b + 1
    words = []
    for a, b in out[:5]:
        if (a, b) == (0, 0x1F):
            words.append("control characters")
        else:
            words.append(repr(chr(a)) if a == b else f"{chr(a)!r}-{chr(b)!r}")
    return ", ".join(words) + (", ..." if len(out) > 5 else "")


def _quoted(text: str) -> str:
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
    return "`" + shown.replace("\n", "\\n").replace("\t", "\\t") + "`"
