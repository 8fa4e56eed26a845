"""One build in a folder at a time, and what a killed one left behind."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ..compiler.replace_file import PART, begun_name

try:
    import fcntl
except ImportError:  # Windows has none; builds there are not kept apart.
    fcntl = None  # type: ignore[assignment]


_PART: Final = re.compile(rf"\.(.+)\.[a-z0-9_]{{8}}{re.escape(PART)}", re.DOTALL)


@contextlib.contextmanager
def held(file: str, waiting: Callable[[], None]) -> Iterator[int | None]:
    """Hold the lock of a manifest's folder; gives a descriptor that keeps it.

    The folder's and not the manifest's: editors replace files, and whoever had the lock of the old
    one would no longer keep others away. The lock ends with the last process that has the
    descriptor open, however it ends. None: locks are not to be had here.

    Args:
        waiting: called once if somebody else has it.
    """
    if fcntl is None:
        yield None
        return
    descriptor = _locked(os.path.dirname(file) or os.curdir, waiting)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _locked(folder: str, waiting: Callable[[], None]) -> int | None:
    assert fcntl is not None
    told = False
    while True:
        try:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except (OSError, ValueError):
            return None  # Reading the manifest says why.
        kept = False
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not told:
                    waiting()
                told = True
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            # The folder may have been replaced meanwhile, and the new one be locked by others.
            kept = os.path.samestat(os.fstat(descriptor), os.stat(folder))
            if kept:
                return descriptor
        except OSError:  # Some network file systems have no locks.
            return None
        finally:
            if not kept:
                os.close(descriptor)


def sweep(paths: Iterable[str]) -> None:
    """Remove what `replace_file` had begun to write for `paths` when its process was killed.

    To be called by whoever holds the lock: nobody else is writing them.
    """
    names: dict[str, set[str]] = {}
    for path in paths:
        folder, name = os.path.split(os.path.realpath(path))
        names.setdefault(folder, set()).add(begun_name(name))
    for folder, known in names.items():
        with contextlib.suppress(OSError):
            for entry in os.listdir(folder):
                begun = _PART.fullmatch(entry)
                if begun is not None and begun[1] in known:
                    os.unlink(os.path.join(folder, entry))
