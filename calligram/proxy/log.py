"""One JSON object a line. No text of prompts or answers, and no header, is ever in it unless the
settings say so."""

from __future__ import annotations

import json
import logging
import sys
import threading
from datetime import UTC, datetime
from typing import Any, Literal, TextIO


class Log:
    """Writes to a stream, standard error unless another is given.

    Args:
        style: "json", "text" for a person, "auto": text if the stream is a terminal.
    """

    def __init__(
        self, stream: TextIO | None = None, style: Literal["auto", "json", "text"] = "json"
    ) -> None:
        self._stream = stream
        self._style = style
        self._lock = threading.Lock()

    def write(self, event: str, level: str = "info", **fields: Any) -> None:
        """One line; fields that are None are left out."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        record = {"time": now, "level": level, "event": event}
        record |= {k: v for k, v in fields.items() if v is not None}
        stream = self._stream or sys.stderr
        text = self._style == "text" or (self._style == "auto" and stream.isatty())
        # ASCII: a log is read by programs that may take it for anything.
        line = as_text(record) if text else json.dumps(record, default=str)
        with self._lock:
            stream.write(line + "\n")
            stream.flush()


def as_text(record: dict[str, Any]) -> str:
    """A line for a person."""
    rest = [
        f"{key}={value if isinstance(value, str) and value.isalnum() else json.dumps(value)}"
        for key, value in record.items()
        if key not in ("time", "level", "event")
    ]
    return " ".join([record["time"][11:19], record["level"], record["event"], *rest])


class LogHandler(logging.Handler):
    """What libraries log, in the same form."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One line. Messages of libraries hold no text of requests; tracebacks might."""
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        self._log.write(
            "library",
            record.levelname.lower(),
            logger=record.name,
            message=record.getMessage(),
            error=error,
        )
