"""Input files, read with located errors."""

from __future__ import annotations

import os
import stat
from typing import Final

from ..compiler.errors import CalligramError, reason_of
from ..compiler.origin import Origin

MAX_INPUT: Final = 256 * 2**20
"""Bytes of one input; more is refused rather than read into memory."""


class InputFileError(CalligramError):
    """A manifest, or a file that it names, that cannot be read or written, or makes no sense."""


def read_file(path: str) -> bytes:
    """The content of a file.

    Raises:
        InputFileError: it cannot be read or is too long.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("it is no regular file")
        with open(path, "rb") as file:
            data = file.read(MAX_INPUT + 1)
    except (OSError, ValueError) as error:
        message = f"cannot be read: {reason_of(error)}"
        raise InputFileError.at("cannot-read", message, Origin(file=path)) from None
    if len(data) > MAX_INPUT:
        message = f"is longer than {MAX_INPUT:,} bytes"
        raise InputFileError.at("input-too-long", message, Origin(file=path))
    return data
