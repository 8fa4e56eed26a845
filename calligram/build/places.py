"""Names of files -> which file is meant, and one spelling for each.

A manifest may spell one path in many ways (`out/a`, `./out/a`, an absolute path, through a link).
What is written where is decided by the file that is meant; the record has one spelling of it.
"""

from __future__ import annotations

import os
from pathlib import Path


def unusable(path: str) -> str | None:
    """Why no file can have this name; None if one can."""
    if not path:
        return "it is empty"
    if "\0" in path:
        return "it holds a NUL character"
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        return "it holds half of a surrogate pair"
    return None


def spelled(folder: str, path: str) -> str:
    """The spelling of a path in the record: relative to the folder where it leads inside, with `/`
    and without detours."""
    if os.path.isabs(path):
        base = os.path.abspath(folder)
        inside = os.path.relpath(path, base) if _same_drive(path, base) else path
        path = path if inside.startswith(os.pardir) else inside
    return Path(os.path.normpath(path)).as_posix()


def file_of(folder: str, path: str) -> str:
    """The file that a path leads to, links followed: equal for equal files, there or not."""
    return os.path.normcase(os.path.realpath(os.path.join(folder, path)))


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]
