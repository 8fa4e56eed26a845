"""One build of a manifest at a time, and what a killed one left behind."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator

try:
    import fcntl
except ImportError:  # Windows has none; builds there are not kept apart.
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def held(file: str, waiting: Callable[[], None]) -> Iterator[int | None]:
    """Hold the lock of a file, which must be there; gives a descriptor that keeps it.

    The lock ends with the last process that has the descriptor open, however it ends. None: locks
    are not to be had here.

    Args:
        waiting: called once if somebody else has it.
    """
    if fcntl is None:
        yield None
        return
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        yield None  # Reading the file says why.
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:  # Some network file systems.
            yield None
            return
        yield descriptor
    finally:
        os.close(descriptor)


def sweep(paths: Iterable[str]) -> None:
    """Remove what `replace_file` had begun to write for `paths` when its process was killed.

    To be called by whoever holds the lock: nobody else is writing them.
    """
    names: dict[str, set[str]] = {}
    for path in paths:
        folder, name = os.path.split(os.path.realpath(path))
        names.setdefault(folder, set()).add(name)
    for folder, known in names.items():
        with contextlib.suppress(OSError):
            for entry in os.listdir(folder):
                begun = re.fullmatch(r"\.(.+)\.[a-z0-9_]{8}", entry)
                if begun is not None and begun[1] in known:
                    os.unlink(os.path.join(folder, entry))
