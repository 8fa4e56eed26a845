"""Files replaced in one step: whole, or as they were."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

PART: Final = ".calligram-part"
"""What the names of files end with that are not whole yet: no user's file is called so."""

_KEPT: Final = 200
"""Bytes of a name that are part of the name meanwhile, which must not be longer than 255."""


def replace_file(path: Path, data: bytes) -> None:
    """Make `data` the content of `path`; on failure, and if the process is killed at any moment,
    what was there before is unchanged.

    A link stays one: what it leads to is replaced. A pipe or a device is written to directly.

    Raises:
        OSError, ValueError: it cannot be written.
    """
    # Asked of the link, not of where it leads: what `/dev/stdout` leads to may have no name.
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        path.write_bytes(data)
        return
    path = Path(os.path.realpath(path))
    if path.is_symlink():
        raise OSError("it is a link that leads to itself")
    prefix = f".{begun_name(path.name)}."
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=prefix, suffix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def replace_if_changed(path: Path, data: bytes) -> None:
    """The same, folders made where there are none, unless the file is that already.

    Raises:
        OSError, ValueError: it cannot be read or written.
    """
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, data)


def begun_name(name: str) -> str:
    """What is left of a file's name in that of the file that is to replace it."""
    return os.fsdecode(os.fsencode(name)[:_KEPT]) if len(name) > _KEPT // 4 else name


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
