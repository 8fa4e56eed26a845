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

The header's ``arrays`` is the SHA-256 of what follows it, and ``header`` that of the rest of the
header. A file is taken only if the table in it would be written as that very file: nothing that was
cut off, altered, added or made for another vocabulary is.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ...compiler.compiled import CompiledGrammar
from ...compiler.errors import ArtefactError, reason_of
from ...compiler.origin import Origin
from ...compiler.regular_file import regular_file
from ...compiler.replace_file import replace_file
from ...compiler.vocabulary.vocabulary import Vocabulary
from . import counted_files
from .build import MAX_BYTES
from .counted_files import TooLarge, Unfit
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
_KINDS: Final = ("|u1", *counted_files.SMALL, "<i8")
"""The types of arrays."""

_NPY: Final = re.compile(
    rb"\x93NUMPY\x01\x00(..)"
    rb"\{'descr': '([|<][ui]\d)', 'fortran_order': False, 'shape': \((\d{1,18}),\), \} *\n",
    re.DOTALL,
)
"""How an array begins: numpy's own reader takes any Python there, and warns of some."""

Arrays = dict[str, NDArray[Any]]


def save(table: TokenTable, path: str | os.PathLike[str]) -> None:
    """Write a table in one step; see `TokenTable.save`."""
    try:
        replace_file(Path(path), dumps(table))
    except (OSError, ValueError) as error:
        message = f"cannot be written: {reason_of(error)}"
        raise ArtefactError.at("table-unwritable", message, Origin(file=os.fspath(path))) from None


def load(
    path: str | os.PathLike[str],
    vocabulary: Vocabulary,
    *,
    grammar: CompiledGrammar | None = None,
    max_bytes: int = MAX_BYTES,
) -> TokenTable:
    """Read a table that `TokenTable.save` wrote.

    Args:
        vocabulary: the vocabulary that it was made for.
        grammar: the grammar that it should be of, compiled from the same input with the same
            options; if not given, what the file holds is taken.
        max_bytes: bytes of the table, as for :func:`~.compile`. A small file may hold a large one.

    Raises:
        ArtefactError: ``table-unreadable``; ``table-format``: no such table, cut off or altered;
            ``table-version``; ``table-vocabulary``, ``table-grammar``: made for another
            vocabulary or grammar; ``table-too-large``: larger than `max_bytes`.
        TypeError: not a vocabulary.
    """
    if not isinstance(vocabulary, Vocabulary):
        raise TypeError(f"a Vocabulary is wanted, not {type(vocabulary).__name__}")
    name = os.fspath(path)
    try:
        with open(regular_file(name), "rb") as file:
            data = file.read()
    except (OSError, ValueError, MemoryError) as error:
        reason = "there is no memory for it" if isinstance(error, MemoryError) else reason_of(error)
        message = f"cannot be read: {reason}"
        raise ArtefactError.at("table-unreadable", message, Origin(file=name)) from None
    return loads(data, vocabulary, name, grammar, max_bytes)


def dumps(table: TokenTable) -> bytes:
    """The file of a table."""
    counted = isinstance(table, CountedTable)
    arrays = counted_files.packed(table) if isinstance(table, CountedTable) else _packed(table)
    members = {name: npy_bytes(array) for name, array in arrays.items()}
    header = {
        **table.header,
        "format": FORMAT,
        "version": COUNTED_VERSION if counted else VERSION,
        "vocabulary": table.vocabulary.digest,
        "arrays": digest_of(members),
    }
    return sealed(header, members)


def sealed(header: Mapping[str, Any], members: Mapping[str, bytes]) -> bytes:
    """The file of a header, its own checksum aside, and of members."""
    seal = hashlib.sha256(_json(header)).hexdigest()
    shown = np.frombuffer(_json({**header, "header": seal}), dtype=np.uint8)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name, content in {"header": npy_bytes(shown), **members}.items():
            # What zipfile would fill in says when, by whom and on what the file was made.
            info = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)
    return out.getvalue()


def loads(
    data: bytes,
    vocabulary: Vocabulary,
    name: str = "",
    grammar: CompiledGrammar | None = None,
    max_bytes: int = MAX_BYTES,
) -> TokenTable:
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
        del header["header"]
        if header["arrays"] != digest_of(members):
            raise Unfit("its arrays were altered")
        if sealed(header, members) != data:
            raise Unfit("its header or its archive was altered")
        if grammar is not None:
            check_grammar(header, grammar, origin)
        arrays = {member: _array(content) for member, content in members.items()}
        left_out = ("format", "version", "vocabulary", "arrays")
        own = {k: v for k, v in header.items() if k not in left_out}
        if header["version"] == COUNTED_VERSION:
            return counted_files.unpacked(arrays, vocabulary, own, max_bytes)
        return _unpacked(arrays, vocabulary, own, max_bytes)
    except _FAULTS as error:
        reason = f": {error}" if isinstance(error, Unfit) else ""
        raise ArtefactError.at(
            "table-format", f"is no token table, or is cut off or altered{reason}", origin
        ) from None
    except (TooLarge, MemoryError) as error:
        reason = str(error) if isinstance(error, TooLarge) else "there is no memory for it"
        hint = f"raise max_bytes ({max_bytes:,})" if isinstance(error, TooLarge) else None
        raise ArtefactError.at(
            "table-too-large", f"holds too large a table: {reason}", origin, hint
        ) from None


_FAULTS: Final = (
    Unfit, ValueError, KeyError, TypeError, EOFError, OSError, NotImplementedError, RuntimeError,
    zipfile.BadZipFile,
)  # fmt: skip
"""What reading a file of any content may raise; RuntimeError where it seems to be encrypted."""


def check_grammar(header: Mapping[str, Any], grammar: CompiledGrammar, origin: Origin) -> None:
    """Raises ArtefactError, code ``table-grammar``, if a file is of another grammar."""
    if grammar.recipe is None or header.get("grammar") != grammar.recipe.digest:
        raise ArtefactError.at(
            "table-grammar",
            "was made of another grammar: other tools, another dialect or other options",
            origin,
            "compile the table again",
        )


def _opened(data: bytes, origin: Origin) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        infos = archive.infolist()
        if not infos or any(i.compress_type != zipfile.ZIP_STORED for i in infos):
            raise Unfit("its members are compressed")
        if infos[0].filename != "header.npy":
            raise Unfit("it has no header")
        header = json.loads(_array(archive.read(infos[0])).tobytes())
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise Unfit("its header is of another format")
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
            raise Unfit("it has other members")
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


def _unpacked(
    arrays: Arrays, vocabulary: Vocabulary, header: Mapping[str, Any], max_bytes: int
) -> TokenTable:
    """The checksums have shown that the arrays are those that someone wrote; not that a table
    wrote them."""
    size = header["states"]
    kind = arrays["class_of"].dtype
    wanted = {"class_of": kind, "states": kind, "targets": kind}
    types = all(array.dtype == wanted.get(name, "<i4") for name, array in arrays.items())
    if not types or kind.str not in counted_files.SMALL or type(size) is not int:
        raise Unfit("its types are others")
    sizes, states, targets = arrays["sizes"], arrays["states"], arrays["targets"]
    count = len(sizes)
    if not (START < size and 0 < count):
        raise Unfit("its sizes are out of bounds")
    if arrays["class_of"].shape != (len(vocabulary),) or len(states) != len(targets):
        raise Unfit("its sizes do not fit")
    counted_files.check_size(size, size * count * kind.itemsize, max_bytes)
    # Nothing leads on from DEAD, and nothing is kept that leads to it.
    for name, low, limit in (
        ("class_of", 0, count), ("states", DEAD + 1, size), ("targets", DEAD + 1, size),
        ("accepting", DEAD + 1, size), ("sizes", 0, size),
    ):  # fmt: skip
        array = arrays[name]
        if array.size and not low <= array.min() <= array.max() < limit:
            raise Unfit(f"its {name} are out of bounds")
    if int(sizes.sum(dtype=np.int64)) != len(states) or sizes[0]:
        raise Unfit("its sizes do not fit")
    native = kind.newbyteorder("=")
    table = np.zeros((size, count), dtype=native)
    table[states, np.repeat(np.arange(count), sizes)] = targets
    accepting = np.zeros(size, dtype=bool)
    accepting[arrays["accepting"]] = True
    return TokenTable(vocabulary, table, arrays["class_of"].astype(native), accepting, header)


def npy_bytes(array: NDArray[Any]) -> bytes:
    """An ``.npy`` member."""
    out = io.BytesIO()
    npy.write_array(out, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return out.getvalue()


def _array(content: bytes) -> NDArray[Any]:
    """The array of an ``.npy`` member. Nothing is made room for that is not there."""
    found = _NPY.match(content)
    if found is None or int.from_bytes(found[1], "little") != found.end() - 10:
        raise Unfit("its arrays are of another version")
    kind = found[2].decode()
    rest = memoryview(content)[found.end() :]
    if kind not in _KINDS or len(rest) != int(found[3]) * int(kind[2]):
        raise Unfit("its arrays are of other shapes")
    return np.frombuffer(rest, dtype=kind)


def digest_of(members: Mapping[str, bytes]) -> str:
    """SHA-256 of members, as the header has it."""
    state = hashlib.sha256()
    for name, content in members.items():
        state.update(f"{name} {len(content)}\n".encode())
        state.update(content)
    return state.hexdigest()


def _json(header: Mapping[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def _short(digest: object) -> str:
    return str(digest)[:12]
