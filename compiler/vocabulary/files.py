"""Files of vocabularies: reading them, and the errors about them."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO, Final

from ..errors import VocabularyError, reason_of
from ..origin import Origin

MAX_BYTES: Final = 512 * 2**20
"""Bytes of a file that is read as a whole; tokenizers have a tenth of that at most."""

Named = str | os.PathLike[str]


def is_path(value: object) -> bool:
    """Is it a path, rather than an object to load from?"""
    return isinstance(value, (str, os.PathLike))


def unreadable(error: Exception, path: Named) -> VocabularyError:
    """The error for a file that the system does not let us read."""
    message = f"cannot be read: {reason_of(error)}"
    return VocabularyError.at("vocabulary-unreadable", message, Origin(file=os.fspath(path)))


def malformed(path: Named | None, message: str, hint: str | None = None) -> VocabularyError:
    """The error for a file that is not of the format it is read as."""
    file = None if path is None else os.fspath(path)
    return VocabularyError.at("vocabulary-format", message, Origin(file=file), hint)


def opened(path: Named) -> BinaryIO:
    """A file, to be read. Of a pipe nobody knows when it ends, or whether it begins.

    Raises:
        OSError, ValueError: it cannot be opened, or is no regular file.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise ValueError("it is a folder" if stat.S_ISDIR(mode) else "it is no regular file")
    return open(path, "rb")


def read(path: Named) -> bytes:
    """The bytes of a file.

    Raises:
        VocabularyError: it cannot be read, or is longer than `MAX_BYTES`.
    """
    try:
        with opened(path) as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise unreadable(error, path) from None
    if len(data) > MAX_BYTES:
        raise malformed(path, f"is longer than {MAX_BYTES:,} bytes")
    return data
