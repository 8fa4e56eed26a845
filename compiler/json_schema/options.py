"""What the caller decides about reading a schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .documents import Documents


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of :func:`read_schema`.

    Attributes:
        closed_objects: an object with declared properties and no word on further ones is closed
            (finding "narrowed"); False reads it as the specification does: open.
        arguments: the schema is that of a tool's arguments: only objects are let through, and an
            empty ``properties`` declares that there are no arguments.
        formats: "assert" known formats, or "annotate" all of them.
        unknown_formats: "annotate" or "refuse" formats that nobody defined.
        on_unsupported: "error" refuses what is not implemented; "relax" drops it (finding
            "relaxed").
        openapi: ``nullable`` and ``discriminator`` mean what OpenAPI 3.0 says.
        documents: what references may lead to beside the schema itself and the metaschemas.
        max_depth: nesting of schemas.
        max_nodes: distinct schemas that the value may be made of.
        max_steps: pairs of alternatives that may be put together, a bound on time.
    """

    closed_objects: bool = False
    arguments: bool = False
    formats: Literal["assert", "annotate"] = "assert"
    unknown_formats: Literal["annotate", "refuse"] = "annotate"
    on_unsupported: Literal["error", "relax"] = "error"
    openapi: bool = False
    documents: Documents | None = None
    max_depth: int = 256
    max_nodes: int = 50_000
    max_steps: int = 100_000
