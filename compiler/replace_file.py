"""Files replaced in one step: whole, or as they were."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path


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
    path = path.resolve()
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
