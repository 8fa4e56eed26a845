"""Token tables in files: `.npz`, no pickle, the same bytes for the same table everywhere.

A zip archive of uncompressed ``.npy`` members, dated 1980, in this order::

    header.npy     uint8[n]    JSON, UTF-8: what the table is and what it was made for
    class_of.npy   [V]         the class of each token
    sizes.npy      <i4[C]      how many states each class can be read from
    states.npy     [entries]   these states, class by class, ascending
    targets.npy    [entries]   where each leads
    accepting.npy  <i4[n]      the states in which the text may end, ascending

``[...]`` without a type is ``<i2`` or ``<i4``, the table's. Those are the members of version 1. A
counted table is of version 2 (C classes, R rows, M moves, P places of up to D counts)::

    class_of.npy   [V]         the class of each token
    next.npy       [R * C]     the move of each row and class
    offsets.npy    <i8[M]      the state that each move leads to, but for counts that go on
    worths.npy     <i8[M * D]  what one more left of each count adds to it
    accepts.npy    <i4[n]      the rows in which the text may end, ascending
    low.npy        <i4[P * D]  the least that is left of each count of a place
    top.npy        <i4[P * D]  from how much on all have the same row
    high.npy       <i4[P * D]  the most that is left
    rows.npy       <i4[n]      the rows from `low` to `top`, place by place, 0 for none
    start.npy      <i8[1]      the state that the text starts in

The header's ``arrays`` is the SHA-256
of what follows it, and ``header`` that of the rest of the header: nothing that was cut off,
altered or made for another vocabulary is taken.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ...compiler.errors import ArtefactError, reason_of
from ...compiler.origin import Origin
from ...compiler.replace_file import replace_file
from ...compiler.vocabulary.vocabulary import Vocabulary
from . import counted_files
from .counted_table import CountedTable
from .states import DEAD, START
from .table import TokenTable

FORMAT: Final = "calligram token table"
VERSION: Final = 1
COUNTED_VERSION: Final = 2

_MEMBERS: Final = {
    VERSION: ("class_of", "sizes", "states", "targets", "accepting"),
    COUNTED_VERSION: counted_files.MEMBERS,
}
_MAX_CELLS: Final = 2**31
"""States times classes of a file that is read."""

Arrays = dict[str, NDArray[Any]]


def save(table: TokenTable, path: str | os.PathLike[str]) -> None:
    """Write a table in one step; see `TokenTable.save`."""
    try:
        replace_file(Path(path).resolve(), dumps(table))
    except OSError as error:
        message = f"cannot be written: {reason_of(error)}"
        raise ArtefactError.at("table-unwritable", message, Origin(file=os.fspath(path))) from None


def load(path: str | os.PathLike[str], vocabulary: Vocabulary) -> TokenTable:
    """Read a table that `TokenTable.save` wrote.

    Raises:
        ArtefactError: ``table-unreadable``; ``table-format``: no such table, cut off or altered;
            ``table-version``; ``table-vocabulary``: made for another vocabulary.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        message = f"cannot be read: {reason_of(error)}"
        raise ArtefactError.at("table-unreadable", message, Origin(file=name)) from None
    return loads(data, vocabulary, name)


def dumps(table: TokenTable) -> bytes:
    """The file of a table."""
    counted = isinstance(table, CountedTable)
    arrays = counted_files.packed(table) if isinstance(table, CountedTable) else _packed(table)
    members = {name: _npy(array) for name, array in arrays.items()}
    header = {
        **table.header,
        "format": FORMAT,
        "version": COUNTED_VERSION if counted else VERSION,
        "vocabulary": table.vocabulary.digest,
        "arrays": _digest(members),
    }
    header["header"] = hashlib.sha256(_json(header)).hexdigest()
    shown = np.frombuffer(_json(header), dtype=np.uint8)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {"header": _npy(shown), **members}.items():
            # What zipfile would fill in says when, by whom and on what the file was made.
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return out.getvalue()


def loads(data: bytes, vocabulary: Vocabulary, name: str = "") -> TokenTable:
    """The table of a file's content; errors name the file `name`. Raises as `load` does."""
    origin = Origin(file=name or None)
    try:
        header, members = _opened(data, origin)
        if header.get("vocabulary") != vocabulary.digest:
            raise ArtefactError.at(
                "table-vocabulary",
                "was made for another vocabulary: "
                f"{_short(header.get('vocabulary'))}, not {_short(vocabulary.digest)}",
                origin,
                "compile the table again, or load the vocabulary it was made for",
            )
        seal = header.pop("header", None)
        if seal != hashlib.sha256(_json(header)).hexdigest():
            raise _Broken("its header was altered")
        if header.pop("arrays") != _digest(members):
            raise _Broken("its arrays were altered")
        arrays = {member: _array(content) for member, content in members.items()}
        own = {k: v for k, v in header.items() if k not in ("format", "version", "vocabulary")}
        if header["version"] == COUNTED_VERSION:
            return counted_files.unpacked(arrays, vocabulary, own)
        return _unpacked(arrays, vocabulary, own)
    except _FAULTS as error:
        reason = f": {error}" if isinstance(error, (_Broken, counted_files.Unfit)) else ""
        raise ArtefactError.at(
            "table-format", f"is no token table, or is cut off or altered{reason}", origin
        ) from None


class _Broken(Exception):
    """What is wrong with a file, in words."""


_FAULTS: Final = (
    _Broken, counted_files.Unfit, ValueError, KeyError, TypeError, EOFError, OSError,
    RuntimeError, zipfile.BadZipFile,
)  # fmt: skip
"""What reading a file of any content may raise; RuntimeError where it seems to be encrypted."""


def _opened(data: bytes, origin: Origin) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if not infos or any(i.compress_type != zipfile.ZIP_STORED for i in infos):
            raise _Broken("its members are compressed")
        if infos[0].filename != "header.npy":
            raise _Broken("it has no header")
        header = json.loads(_array(archive.read(infos[0])).tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise _Broken("its header is of another format")
        version = header.get("version")
        if type(version) is not int or version not in _MEMBERS:
            raise ArtefactError.at(
                "table-version",
                f"is of version {version!r}; this calligram reads versions up to {max(_MEMBERS)}",
                origin,
                "compile the table again",
            )
        names = _MEMBERS[version]
        if [i.filename for i in infos[1:]] != [f"{name}.npy" for name in names]:
            raise _Broken("it has other members")
        members = {name: archive.read(i) for name, i in zip(names, infos[1:], strict=True)}
    return header, members


def _packed(table: TokenTable) -> Arrays:
    kind = table.next.dtype.newbyteorder("<")
    classes, states = np.nonzero(table.next.T)
    return {
        "class_of": table.class_of.astype(kind),
        "sizes": np.bincount(classes, minlength=table.next.shape[1]).astype("<i4"),
        "states": states.astype(kind),
        "targets": table.next[states, classes].astype(kind),
        "accepting": np.flatnonzero(table.accepting).astype("<i4"),
    }


def _unpacked(arrays: Arrays, vocabulary: Vocabulary, header: Mapping[str, Any]) -> TokenTable:
    """The checksums have shown that the arrays are those that someone wrote; not that a table
    wrote them."""
    size = header["states"]
    sizes, states, targets = arrays["sizes"], arrays["states"], arrays["targets"]
    kind = arrays["class_of"].dtype
    if kind not in (np.dtype("<i2"), np.dtype("<i4")) or not isinstance(size, int):
        raise _Broken("its types are others")
    count = len(sizes)
    if not (START < size and 0 < count and size * count <= _MAX_CELLS):
        raise _Broken("its sizes are out of bounds")
    if arrays["class_of"].shape != (len(vocabulary),) or len(states) != len(targets):
        raise _Broken("its sizes do not fit")
    # Nothing leads on from DEAD, and nothing is kept that leads to it.
    for name, low, limit in (
        ("class_of", 0, count), ("states", DEAD + 1, size), ("targets", DEAD + 1, size),
        ("accepting", DEAD + 1, size), ("sizes", 0, size),
    ):  # fmt: skip
        array = arrays[name]
        if array.size and not low <= array.min() <= array.max() < limit:
            raise _Broken(f"its {name} are out of bounds")
    if int(sizes.sum()) != len(states) or sizes[0]:
        raise _Broken("its sizes do not fit")
    native = kind.newbyteorder("=")
    table = np.zeros((size, count), dtype=native)
    table[states, np.repeat(np.arange(count), sizes)] = targets
    accepting = np.zeros(size, dtype=bool)
    accepting[arrays["accepting"]] = True
    return TokenTable(vocabulary, table, arrays["class_of"].astype(native), accepting, header)


def _npy(array: NDArray[Any]) -> bytes:
    out = io.BytesIO()
    npy.write_array(out, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _array(content: bytes) -> NDArray[Any]:
    """The array of an ``.npy`` member. Nothing is made room for that is not there."""
    file = io.BytesIO(content)
    if npy.read_magic(file) != (1, 0):
        raise _Broken("its arrays are of another version")
    shape, _, kind = npy.read_array_header_1_0(file)
    rest = content[file.tell() :]
    if kind.hasobject or len(shape) != 1 or len(rest) != shape[0] * kind.itemsize:
        raise _Broken("its arrays are of other shapes")
    return np.frombuffer(rest, dtype=kind)


def _digest(members: Mapping[str, bytes]) -> str:
    state = hashlib.sha256()
    for name, content in members.items():
        state.update(f"{name} {len(content)}\n".encode())
        state.update(content)
    return state.hexdigest()


def _json(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _short(digest: object) -> str:
    return str(digest)[:12]
