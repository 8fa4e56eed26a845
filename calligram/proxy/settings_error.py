"""The error of the proxy's settings."""

from __future__ import annotations

from ..compiler.errors import CalligramError


class SettingsError(CalligramError):
    """A setting of the proxy that cannot be read or makes no sense."""
