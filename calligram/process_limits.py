"""Limits that a process sets for itself, where the operating system has them."""

from __future__ import annotations

import signal


def address_space() -> int:
    """Bytes of addresses that this process has. Raises OSError where that cannot be told."""
    import resource

    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limit_memory(more: int) -> None:
    """From now on at most `more` bytes of address space beyond what is taken."""
    try:
        import resource
    except ImportError:  # There are no such limits here.
        return
    try:
        used = address_space()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
    except (OSError, ValueError):
        return


def alarm(seconds: int) -> None:
    """End this process in so many seconds; 0: not after all."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)
