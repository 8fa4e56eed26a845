"""Optional libraries, imported when asked for."""

from __future__ import annotations

import importlib
from typing import Any

from ..errors import VocabularyError


def optional(module: str, package: str) -> Any:
    """A module of an optional library.

    Raises:
        VocabularyError: it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise VocabularyError.at(
            "vocabulary-library",
            f"this needs {package}, which cannot be imported: {error}",
            hint=f"pip install {package}, or all of them: pip install 'calligram[vocab]'",
        ) from None
