"""JSON Schema -> typed call IR.

``read`` is the entry, ``reading`` walks the schema, ``forms`` is the normal form (a union of
typed alternatives), ``meet``, ``join`` and ``negate`` are its algebra, ``resolve`` and ``build``
turn it into IR values.
"""

from __future__ import annotations

from .options import ReadOptions
from .read import read_schema

__all__ = ["ReadOptions", "read_schema"]
