"""The switch that turns constraints off for a whole process, without a change to any program."""

from __future__ import annotations

import os
from typing import Final

VARIABLE: Final = "CALLIGRAM_DISABLE"


def disabled() -> bool:
    """Is CALLIGRAM_DISABLE set, to anything but the empty string or 0? Read anew each time."""
    return os.environ.get(VARIABLE, "") not in ("", "0")
