"""Who tells a dialect by a chat template.

The compiler does not render templates. The package that does is put in here by the public face, so
that `dialect="auto"` works wherever a dialect is named.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import SpecError, ToolError
from .spec import DialectSpec
from .spec_loader import LISTED, load_dialect

AUTO = "auto"

_detectors: list[Callable[[Any], str]] = []


def use_detector(detector: Callable[[Any], str]) -> None:
    """From now on `detector` tells dialects: chat template -> id; it raises if it is not sure."""
    _detectors[:] = [detector]


def dialect_for(dialect: str | Path | DialectSpec, chat_template: Any) -> DialectSpec:
    """The dialect that is named, or the one of the template if it is "auto".

    Raises:
        SpecError: there is no such dialect, or it cannot be told.
        ToolError: a template beside a dialect that is named.
    """
    if dialect != AUTO:
        if chat_template is not None:
            message = 'a chat_template is for dialect="auto"; this dialect is named'
            hint = "leave out the template, or the dialect"
            raise ToolError.at("invalid-option", message, hint=hint)
        return load_dialect(dialect)
    if chat_template is None or not _detectors:
        raise SpecError.at(
            "dialect-auto",
            "a dialect is detected from a chat template, and there is none",
            hint=f"pass chat_template, or name a dialect; {LISTED}",
        )
    return load_dialect(_detectors[0](chat_template))
