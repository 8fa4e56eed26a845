"""Limits that a process sets for itself, where the operating system has them."""

from __future__ import annotations

import signal


def limit_memory(more: int) -> None:
    """From now on at most `more` bytes of address space beyond what is taken."""
    try:
        import resource
    except ImportError:  # There are no such limits here.
        return
    try:
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
    except (OSError, ValueError):
        return


def alarm(seconds: int) -> None:
    """End this process in so many seconds; 0: not after all."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
