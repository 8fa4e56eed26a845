"""A text with a caret under one place, for terminals: control characters, long lines, wide text."""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len

CONTEXT_LINES = 2
"""Lines shown before the marked one."""

PICTURES = {**{c: chr(0x2400 + c) for c in range(0x20)}, 0x7F: "␡", 0x0A: "↵", 0x09: "→"}


def character_index(text: str, position: int) -> int:
    """The index of the character that holds byte `position` of the UTF-8 text."""
    return len(text.encode("utf-8")[:position].decode("utf-8", errors="ignore"))


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Where character `index` is, counted from 1."""
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1


def caret_lines(text: str, index: int, width: int) -> list[str]:
    """The lines around character `index`, the last with a caret under it.

    Each line has its number and is cut to `width` cells around the caret. One character is one
    cell or two; control characters show as pictures (↵ for a line break), other invisible ones as
    escapes. `index` may be the text's length: the caret then stands behind the end.
    """
    number, column = line_and_column(text, index)
    lines = text.split("\n")
    gutter = len(str(number)) + 3
    room = max(20, width - gutter)
    first = max(1, number - CONTEXT_LINES)
    shown = []
    for n in range(first, number):
        cut, _ = _window(lines[n - 1] + "\n", 0, room)
        shown.append(f"{n:>{gutter - 3}} │ {cut}")
    last = lines[number - 1] + ("\n" if number < len(lines) else "")
    cut, offset = _window(last, column - 1, room)
    shown.append(f"{number:>{gutter - 3}} │ {cut}")
    shown.append(" " * (gutter + offset) + "^")
    return shown


def _window(line: str, at: int, room: int) -> tuple[str, int]:
    """`line` made visible and cut to `room` cells around character `at`; the cells before it."""
    start = max(0, at - room)
    cells = [_picture(c) for c in line[start : at + room]]
    at -= start
    left = at
    used = 0
    while left > 0 and used + cell_len(cells[left - 1]) <= room * 2 // 3:
        left -= 1
        used += cell_len(cells[left])
    right, total = at, used
    while right < len(cells) and total + cell_len(cells[right]) <= room - 2:
        total += cell_len(cells[right])
        right += 1
    before = "…" if start + left > 0 else ""
    after = "…" if start + right < len(line) else ""
    return f"{before}{''.join(cells[left:right])}{after}", len(before) + used


def _picture(character: str) -> str:
    picture = PICTURES.get(ord(character))
    if picture is not None:
        return picture
    if not character.isprintable() or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return f"\\u{{{ord(character):x}}}"
    return character
