"""The error of this package."""

from __future__ import annotations

from ..compiler.errors import CalligramError


class ChatTemplateError(CalligramError):
    """A chat template that cannot be read, or does not render."""
