"""Whether a regular expression in a spec is one that every target can compile."""

from __future__ import annotations

import re

MAX_PATTERN = 1_000


def regex_problem(pattern: str) -> str | None:
    """What is wrong with a pattern, or None: syntax, look-around, back references, size."""
    if len(pattern) > MAX_PATTERN:
        return f"longer than {MAX_PATTERN:,} characters"
    if construct := _irregular(pattern):
        return construct
    try:
        re.compile(pattern)
    except re.error as error:
        where = "" if error.pos is None else f" at offset {error.pos}"
        return f"{error.msg}{where}"
    except (RecursionError, OverflowError):
        return "nested too deep or counts too high"
    return None


def _irregular(pattern: str) -> str | None:
    """The first construct that is not regular, escapes and character classes left out."""
    position, in_class = 0, False
    while position < len(pattern):
        char = pattern[position]
        if char == "\\":
            following = pattern[position + 1 : position + 2]
            if not in_class and following.isdigit() and following != "0":
                return f"a back reference at offset {position} is not regular"
            position += 2
            continue
        if char == "[" and not in_class:
            in_class = True
            # A bracket right at the start of a class is a member of it.
            position += 2 if pattern[position + 1 : position + 2] == "^" else 1
            position += pattern[position : position + 1] == "]"
            continue
        if char == "]":
            in_class = False
        elif not in_class and pattern.startswith(("(?=", "(?!", "(?<=", "(?<!"), position):
            return f"look-around at offset {position} is not portable"
        elif not in_class and pattern.startswith(("(?P=", "(?("), position):
            return f"a back reference at offset {position} is not regular"
        position += 1
    return None
