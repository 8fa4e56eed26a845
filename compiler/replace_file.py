"""Files replaced in one step: whole, or as they were."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Make `data` the content of `path`; on failure, and if the process is killed at any moment,
    what was there before is unchanged.

    Raises:
        OSError: it cannot be written.
    """
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
    replace_file(path.resolve(), data)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
