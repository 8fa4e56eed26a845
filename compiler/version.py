"""The version of this library; files that depend on how it works name it."""

from typing import Final

VERSION: Final = "0.1.0"
