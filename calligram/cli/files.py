"""Reading input with located errors, writing output whole or not at all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..compiler.errors import reason_of
from ..compiler.origin import Origin
from ..compiler.replace_file import replace_file
from .exit_codes import ExitCode, InputError

MAX_INPUT = 256 * 2**20
"""Bytes of one input; more is refused rather than read into memory."""


def read_text(name: str) -> str:
    """The text of a file, or of standard input if `name` is "-".

    Raises:
        InputError: it cannot be opened, is too long, or is not UTF-8 (with line and column).
    """
    data = _read_bytes(name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8")) + 1
        raise InputError.at(
            "not-utf-8",
            f"the byte 0x{data[error.start]:02x} at offset {error.start} is not UTF-8",
            Origin(file=shown(name), line=line, column=column),
        ) from None


def shown(name: str) -> str:
    """How a file is named in messages."""
    return "<stdin>" if name == "-" else name


def _read_bytes(name: str) -> bytes:
    origin = Origin(file=shown(name))
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_INPUT + 1)
        else:
            with open(name, "rb") as file:
                data = file.read(MAX_INPUT + 1)
    except (OSError, ValueError) as error:
        raise InputError.at("cannot-read", f"cannot be read: {reason_of(error)}", origin) from None
    if len(data) > MAX_INPUT:
        raise InputError.at("input-too-long", f"is longer than {MAX_INPUT:,} bytes", origin)
    return data


def checked_text(text: str, where: str) -> str:
    """`text` from the command line, refused if it was not UTF-8 there.

    Raises:
        InputError: with the offset in bytes.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        offset = len(text[: error.start].encode("utf-8"))
        message = f"the byte at offset {offset} is not UTF-8"
        raise InputError.at("not-utf-8", message, Origin(file=where)) from None
    return text


def write_text(name: str, text: str) -> None:
    """Replace the file `name` with `text` in one step: on failure the old file is still there.

    A pipe or a device is written directly.

    Raises:
        InputError: it cannot be written, or is "-", where that has another meaning (see
            `file_or_none`).
    """
    if name == "-":
        message = "standard output is taken by something else here"
        raise InputError.at("cannot-write", message, Origin(file="<stdout>"), "name a file")
    try:
        replace_file(Path(name), text.encode("utf-8"))
    except (OSError, ValueError) as error:
        message = f"cannot be written: {reason_of(error)}"
        raise InputError.at("cannot-write", message, Origin(file=name)) from None


def check_folder(name: str) -> None:
    """Before long work whose result goes into the file `name`: is there a folder for it?

    Raises:
        InputError: there is none, or `name` is a folder.
    """
    path = Path(name)
    reason = None
    if path.is_dir():
        reason = "it is a folder"
    elif not os.access(path.parent, os.W_OK):
        reason = f"no folder '{path.parent}' to write into"
    if reason is not None:
        message = f"cannot be written: {reason}"
        raise InputError.at("cannot-write", message, Origin(file=name))


def file_or_none(name: str | None) -> str | None:
    """The file of an option `--output`; None for standard output, which "-" names too."""
    return None if name == "-" else name


def write_out(text: str) -> None:
    """Write to standard output; a reader that went away ends the program quietly.

    A lone surrogate, which JSON input may hold as an escape and no encoding can write, is
    written as that escape again.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would otherwise complain again when it closes the stream at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(ExitCode.BROKEN_PIPE) from None
