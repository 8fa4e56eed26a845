"""The record beside a manifest: what was built of what, by digests. Fit to be committed.

    {"calligram": 1, "grammars": {"weather": {
        "key": "<SHA-256 of all that the manifest names for it>",
        "more": {"<file>": "<SHA-256>"},      what its dialect extends
        "outputs": {"<file>": "<SHA-256>"}}}}

Paths are relative to the manifest's folder, with `/`. No dates, sorted keys: the same build writes
the same bytes everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..compiler.errors import reason_of
from ..compiler.origin import Origin
from ..compiler.replace_file import replace_if_changed
from .inputs import InputFileError

FORMAT: Final = 1


class RecordError(InputFileError):
    """A record that cannot be read or written."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One grammar that was built; see the module."""

    key: str
    more: Mapping[str, str]
    outputs: Mapping[str, str]


def read(path: str) -> dict[str, Entry]:
    """The entries by the grammars' names; none if there is no record yet.

    Raises:
        RecordError: it is no record (code ``record-format``), or cannot be read.
    """
    origin = Origin(file=path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise RecordError.at("cannot-read", message, origin) from None
    except ValueError as error:
        raise _broken(str(error), origin) from None
    try:
        data = json.loads(text)
        if data["calligram"] != FORMAT:
            raise _broken(f"its format is {data['calligram']!r}, not {FORMAT}", origin)
        return {name: _entry(entry) for name, entry in data["grammars"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _broken(str(error), origin) from None


def write(path: str, entries: Mapping[str, Entry]) -> None:
    """Replace the record, if it says something else; without entries there is none.

    Raises:
        RecordError: it cannot be written.
    """
    file = Path(path)
    data = dumps(entries)
    try:
        if not entries:
            file.unlink(missing_ok=True)
        else:
            replace_if_changed(file, data)
    except (OSError, ValueError) as error:
        message = f"cannot be written: {reason_of(error)}"
        raise RecordError.at("cannot-write", message, Origin(file=path)) from None


def dumps(entries: Mapping[str, Entry]) -> bytes:
    """The text of a record."""
    document = {
        "calligram": FORMAT,
        "grammars": {
            name: {"key": e.key, "more": dict(e.more), "outputs": dict(e.outputs)}
            for name, e in entries.items()
        },
    }
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


def _entry(data: object) -> Entry:
    if not isinstance(data, dict) or set(data) != {"key", "more", "outputs"}:
        raise ValueError("an entry has key, more and outputs")
    parts = [data["key"], *data["more"].items(), *data["outputs"].items()]
    if not all(isinstance(p, str) or all(isinstance(s, str) for s in p) for p in parts):
        raise ValueError("an entry holds texts")
    return Entry(data["key"], data["more"], data["outputs"])


def _broken(reason: str, origin: Origin) -> RecordError:
    message = f"is no record of a build: {reason}"
    return RecordError.at("record-format", message, origin, "`calligram build` makes it anew")
