"""Files of which one knows when they end."""

from __future__ import annotations

import os
import stat


def regular_file(name: str) -> str:
    """The name of a file; of a pipe or a device nobody knows when it ends.

    Raises:
        OSError: there is none.
        ValueError: it is no regular file, or its name is none.
    """
    mode = os.stat(name).st_mode
    if stat.S_ISDIR(mode):
        raise ValueError("it is a directory")
    if not stat.S_ISREG(mode):
        raise ValueError("it is no regular file")
    return name
