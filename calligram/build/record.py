"""The record beside a manifest: what was built of what, by digests. Fit to be committed.

    {"calligram": 1, "manifest": "calligram.toml", "grammars": {"weather": {
        "key": "<SHA-256 of all that the manifest names for it>",
        "more": {"<file>": "<SHA-256>"},      what its dialect extends
        "outputs": {"<file>": "<SHA-256>"}}}}

Paths are relative to the manifest's folder, with `/`. No dates, sorted keys: the same build writes
the same bytes everywhere. A file that is in the record is the build's to replace and to remove; any
other is somebody's.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ..compiler.errors import reason_of
from ..compiler.origin import Origin
from ..compiler.replace_file import replace_if_changed
from .inputs import InputFileError, read_file
from .places import unusable

FORMAT: Final = 1

_OUTPUT: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+"): ?"[0-9a-f]{64}"')

_MORE: Final = re.compile(r'"more": ?\{[^{}]*+\}')


class RecordError(InputFileError):
    """A record that cannot be read or written.

    Attributes:
        named: the paths that a record which is damaged still names.
        ours: whether it is, or was, a record of a build.
    """

    named: frozenset[str] = frozenset()
    ours: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One grammar that was built; see the module."""

    key: str
    more: Mapping[str, str]
    outputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """What a record says.

    Attributes:
        entries: by the grammars' names.
        manifest: the name of the manifest that it belongs to; None: it does not say.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    manifest: str | None = None

    def outputs(self) -> Iterator[tuple[str, str, str]]:
        """Name of the grammar, path and digest of every output."""
        for name, entry in self.entries.items():
            for path, digest in entry.outputs.items():
                yield name, path, digest


def read(path: str) -> Record | None:
    """The record in a file; None if there is none yet.

    Raises:
        RecordError: it is no record (code ``record-format``), or cannot be read.
    """
    if not os.path.lexists(path):
        return None
    try:
        data = read_file(path)
    except InputFileError as error:
        raise RecordError(error.problems) from None
    try:
        text = data.decode("utf-8")
        document = json.loads(text)
        if document["calligram"] != FORMAT:
            raise _Unfit(f"its format is {_short(document['calligram'])}, not {FORMAT}")
        manifest = document.get("manifest")
        if not isinstance(manifest, str | None):
            raise _Unfit("the name of its manifest is no text")
        entries = {name: _entry(entry) for name, entry in document["grammars"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _broken(data, error, path) from None
    return Record(entries, manifest)


def write(path: str, record: Record) -> None:
    """Replace the record, if it says something else; without entries there is none.

    Raises:
        RecordError: it cannot be written.
    """
    file = Path(path)
    data = dumps(record)
    try:
        if not record.entries:
            file.unlink(missing_ok=True)
        else:
            replace_if_changed(file, data)
    except (OSError, ValueError) as error:
        message = f"cannot be written: {reason_of(error)}"
        raise RecordError.at("cannot-write", message, Origin(file=path)) from None


def dumps(record: Record) -> bytes:
    """The text of a record."""
    document = {
        "calligram": FORMAT,
        "manifest": record.manifest,
        "grammars": {
            name: {"key": e.key, "more": dict(e.more), "outputs": dict(e.outputs)}
            for name, e in record.entries.items()
        },
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


class _Unfit(ValueError):
    """What is wrong with a record, in words."""


def _entry(data: object) -> Entry:
    if not isinstance(data, dict) or set(data) != {"key", "more", "outputs"}:
        raise _Unfit("an entry has key, more and outputs")
    key, more, outputs = data["key"], data["more"], data["outputs"]
    for part in (more, outputs):
        if not isinstance(part, dict) or not all(isinstance(d, str) for d in part.values()):
            raise _Unfit("an entry holds texts")
        for path in part:
            reason = unusable(path)
            if reason is not None:
                raise _Unfit(f"no file is called {path!r}: {reason}")
    if not isinstance(key, str):
        raise _Unfit("an entry holds texts")
    return Entry(key, more, outputs)


def _broken(data: bytes, error: Exception, path: str) -> RecordError:
    """The error for a file that is no record, perhaps none any more."""
    match error:
        case _Unfit():
            reason = str(error)
        case json.JSONDecodeError():
            reason = f"line {error.lineno} is not JSON"
        case UnicodeDecodeError():
            reason = "it is not UTF-8"
        case RecursionError():
            reason = "it is nested too deeply"
        case _:
            reason = "it is of another form"
    origin = Origin(file=path)
    text = data.decode("utf-8", "replace")
    if any(line.startswith("<<<<<<< ") for line in text.splitlines()):
        reason = "a merge left both sides in it"
    ours = '"calligram"' in text or not text.strip()
    hint = (
        "`calligram build` makes it anew"
        if ours
        else "a build replaces no file that was not its own: move it away, or give the manifest's "
        "`record` another name"
    )
    message = f"is no record of a build: {reason}"
    found = RecordError.at("record-format", message, origin, hint)
    found.ours = ours
    if ours:
        found.named = frozenset(_named(text))
    return found


def _named(text: str) -> Iterator[str]:
    """The outputs that a damaged record names: their lines stand there still, those of both sides
    of a merge."""
    for match in _OUTPUT.finditer(_MORE.sub("", text)):
        try:
            path = json.loads(match[1], strict=False)
        except ValueError:
            continue
        if path != "key" and unusable(path) is None:
            yield path


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:40]}…"
