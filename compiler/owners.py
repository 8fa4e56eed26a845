"""References from a part back to its owner.

What a grammar and its automata are made of is large and is made anew for each request. It must go
when the last user lets go of it, not when the garbage collector comes by: until then it takes
memory, and a collection that finds many of them stops a server for a second. So no object refers to
what owns it but through here.
"""

from __future__ import annotations

import weakref
from typing import TypeVar

T = TypeVar("T")


def back_to(owner: T) -> T:
    """The owner, for a part of it to keep: used like itself, and not kept alive.

    Only for parts that nobody asks after their owner is gone; `type(...)` of it is another.
    """
    proxy: T = weakref.proxy(owner)
    return proxy
