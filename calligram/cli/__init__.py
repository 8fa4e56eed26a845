"""The command line: thin over the public API. Exit codes are in docs/reference/cli.md."""

from .app import app, main

__all__ = ["app", "main"]
