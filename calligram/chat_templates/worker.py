"""The process that renders. A template that does not end, or wants too much, ends only this one.

It reads requests and writes answers, one JSON object a line; what it may use is limited by the
operating system where that has limits, and by whoever started it everywhere.
"""

from __future__ import annotations

import functools
import json
import sys
import traceback
from typing import Any, Final

from jinja2 import Template
from jinja2.exceptions import TemplateError, TemplateSyntaxError

from ..process_limits import alarm, limit_memory
from .environment import RaisedByTemplate, environment

MAX_MEMORY: Final = 1 << 30
"""Bytes of address space beyond what the process has when it starts."""


def main() -> None:
    """Answer requests until there are no more."""
    limit_memory(MAX_MEMORY)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        # The one who asked may be gone: then nobody else stops a render that does not end.
        alarm(int(request["seconds"]) + 2)
        answer = _answer(request)
        alarm(0)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


@functools.lru_cache(maxsize=256)
def _template(source: str) -> Template:
    return environment().from_string(source)


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    """``{"text"}``, or ``{"error", "kind", "line"}``."""
    try:
        template = _template(request["source"])
        parts: list[str] = []
        size = 0
        for part in template.generate(request["variables"]):
            size += len(part)
            if size > request["characters"]:
                message = f"it writes more than {request['characters']:,} characters"
                return {"kind": "limit", "error": message}
            parts.append(part)
        return {"text": "".join(parts)}
    except TemplateSyntaxError as error:
        return {"kind": "syntax", "error": error.message or "", "line": error.lineno}
    except RaisedByTemplate as error:
        return {"kind": "raised", "error": error.message or ""}
    except TemplateError as error:
        return {
            "kind": "failed",
            "error": error.message or type(error).__name__,
            "line": _line(error),
        }
    except MemoryError:
        return {"kind": "limit", "error": "it needs too much memory"}
    except RecursionError:
        return {"kind": "failed", "error": "it nests too deep"}
    except Exception as error:
        # Templates fail with whatever Python raises for what they do.
        error_text = f"{type(error).__name__}: {error}"
        return {"kind": "failed", "error": error_text, "line": _line(error)}


def _line(error: Exception) -> int | None:
    """The template's innermost line that an error went through; jinja2 puts such lines into the
    traceback, under the name of templates without a file."""
    line = None
    for frame, at in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == "<template>":
            line = at
    return line
