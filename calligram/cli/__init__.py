"""The command line: thin over the public API. Exit codes are in docs/reference/cli.md."""

from __future__ import annotations

import sys
from collections.abc import Sequence

LIGHT = ("build", "clean")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code. Errors are printed, never raised."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    # The other commands import all targets; a build with nothing to do is over before that.
    if arguments and arguments[0] in LIGHT:
        from .light_app import main as light

        return light(arguments)
    from .app import main as whole

    return whole(arguments)


__all__ = ["main"]
