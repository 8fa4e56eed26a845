"""Vocabularies that were read before, kept on disk by what they were read from.

One file a vocabulary, named by the SHA-256 of its source: a mark, a checksum, and an ``.npz`` (no
pickle) of the tokens, their classes and the order of their bytes. A file that is cut off, altered,
of another version or not ours is no error: the vocabulary is read from its source and the file is
written anew. Files are replaced in one step, so several processes may share the folder. The cache
only saves time: whatever goes wrong with it (a read-only home, a full disk), loading goes on
without.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from .files import Named, opened
from .loaded import Loaded

FORMAT: Final = 1
"""Raised when the entries' layout changes, or what loaders make of a file."""

MAX_FOLDER_BYTES: Final = 256 * 2**20
"""Bytes of all entries together; beyond, those that were not used for longest are removed."""

_WHOLE: Final = 64 * 2**20
"""Files up to this size are told apart by all their bytes, larger ones (models) by size, time and
the first mebibyte."""

_MARK: Final = b"calligram vocabulary\n"
_HEAD: Final = 2**20
_SETTLED: Final = 2.0
"""Seconds after which a file's time tells a later change from this one, on any file system."""

Arrays = dict[str, NDArray[np.generic]]


def cached(
    cache: bool,
    what: str,
    files: Sequence[Named],
    make: Callable[[], Loaded],
    limit: int = MAX_FOLDER_BYTES,
) -> Loaded:
    """What `make` makes of `files`, or what it made of them before."""
    folder = cache_folder() if cache else None
    key = fingerprint(what, files) if folder is not None else None
    if folder is None or key is None:
        return make()
    entry = folder / f"vocabulary-{key}.bin"
    found = read_entry(entry, key)
    if found is not None:
        return found
    made = make()
    # Files that changed meanwhile may have been read before or after.
    if fingerprint(what, files) == key:
        with contextlib.suppress(OSError):
            write_entry(entry, key, made)
            prune(folder, limit)
    return made


def cache_folder() -> Path | None:
    """Where entries are kept; None if nowhere.

    ``CALLIGRAM_CACHE_DIR``, which may be empty to keep nothing; else the platform's folder for
    caches (``XDG_CACHE_HOME`` or ``~/.cache``; ``~/Library/Caches``; ``LOCALAPPDATA``).
    """
    named = os.environ.get("CALLIGRAM_CACHE_DIR")
    if named is not None:
        return Path(named) if named else None
    try:
        home = Path.home()
    except RuntimeError:  # No home at all.
        return None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        # The specification has relative paths ignored.
        given = os.environ.get("XDG_CACHE_HOME", "")
        base = given if os.path.isabs(given) else home / ".cache"
    return Path(base) / "calligram"


def fingerprint(what: str, files: Sequence[Named]) -> str | None:
    """A digest that differs for other contents; None if that cannot be told.

    A file that is not there counts as such: if it comes to be, the digest changes.
    """
    state = hashlib.sha256(f"{FORMAT} {what} {len(files)}\n".encode())
    for path in files:
        try:
            with opened(path) as file:
                status = os.fstat(file.fileno())
                state.update(f"{status.st_size}\n".encode())
                if status.st_size <= _WHOLE:
                    while block := file.read(_HEAD):
                        state.update(block)
                    continue
                if abs(time.time() - status.st_mtime) < _SETTLED:
                    return None
                state.update(f"{status.st_mtime_ns}\n".encode())
                state.update(file.read(_HEAD))
        except FileNotFoundError:
            state.update(b"none\n")
        except (OSError, ValueError):
            return None
    return state.hexdigest()


def read_entry(entry: Path, key: str) -> Loaded | None:
    """The vocabulary of an entry; None if there is none or it is not whole."""
    try:
        with open(entry, "rb") as file:
            content = file.read()
        payload = content[len(_MARK) + 32 :]
        if content != _sealed(key, payload):
            return None
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            found = _unpacked(dict(arrays))
    except (OSError, ValueError, KeyError, BadZipFile):
        return None
    with contextlib.suppress(OSError):
        os.utime(entry)  # The time of last use, for `prune`.
    return found


def write_entry(entry: Path, key: str, loaded: Loaded) -> None:
    """Write an entry in one step. Raises OSError."""
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **_packed(loaded))
    entry.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=entry.parent, prefix=".vocabulary-", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_sealed(key, out.getvalue()))
        os.replace(temporary, entry)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def prune(folder: Path, limit: int) -> None:
    """Remove the entries that were not used for longest until the rest takes `limit` bytes.

    Files that a process began and did not finish are removed after a day.
    """
    entries = []
    for path in folder.glob("vocabulary-*.bin"):
        with contextlib.suppress(OSError):
            status = path.stat()
            entries.append((status.st_mtime_ns, path, status.st_size))
    total = sum(size for _, _, size in entries)
    for _, path, size in sorted(entries):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            path.unlink()
        total -= size
    for path in folder.glob(".vocabulary-*.part"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > 86_400:
                path.unlink()


def _packed(loaded: Loaded) -> Arrays:
    tokens = loaded.tokens
    return {
        "data": np.frombuffer(b"".join(tokens), dtype=np.uint8),
        "sizes": np.fromiter(map(len, tokens), dtype="<u4", count=len(tokens)),
        "order": loaded.order.astype("<i4"),
        "special": np.asarray(loaded.special_ids, dtype="<i4"),
        "eos": np.asarray(loaded.eos_ids, dtype="<i4"),
        "padding": np.asarray(loaded.padding_ids, dtype="<i4"),
        "kind": np.frombuffer(loaded.kind.encode(), dtype=np.uint8),
        "least_size": np.asarray([loaded.least_size], dtype="<i8"),
    }


def _unpacked(arrays: Arrays) -> Loaded:
    """The checksum has shown that the arrays are those that were written."""
    data = arrays["data"].tobytes()
    ends = np.cumsum(arrays["sizes"], dtype=np.int64).tolist()
    tokens = [data[low:high] for low, high in zip([0, *ends], ends, strict=False)]
    ids = {name: tuple(arrays[name].tolist()) for name in ("special", "eos", "padding")}
    return Loaded(
        arrays["kind"].tobytes().decode(),
        tokens,
        ids["special"],
        ids["eos"],
        ids["padding"],
        arrays["order"].astype(np.int32),
        int(arrays["least_size"].tolist()[0]),
    )


def _sealed(key: str, payload: bytes) -> bytes:
    """Mark, checksum, payload. The key counts: an entry under another's name is not taken."""
    return _MARK + hashlib.sha256(key.encode() + payload).digest() + payload
