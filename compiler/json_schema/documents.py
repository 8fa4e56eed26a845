"""Documents that references may lead to: given by the caller, never fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import SchemaError, ToolError
from ..json_text import file_hint
from ..origin import Origin, Problem
from .resources import Draft, Index, Resource, root_resource
from .shape import check_shape, same
from .uris import without_fragment


@dataclass(frozen=True, slots=True, eq=False)
class Roots:
    """Documents as one schema sees them.

    Attributes:
        index: the URIs and anchors in all of them.
        by_start: each document and its resource, by where its pointers begin.
    """

    index: Index
    by_start: Mapping[str, tuple[Any, Resource]]


class Documents:
    """Schemas by URI, checked. Each is also known by its own ``$id``.

    A document that states no draft has that of the schema which is read.

    Args:
        given: the schemas (objects or booleans) by URI. A URI has no fragment, or an empty one,
            and may be relative where a reference is written just so.
        max_depth: nesting of schemas.

    Raises:
        ToolError: `given` is no mapping.
        SchemaError: all documents that are no schemas, or that share a URI and differ.
        LimitExceeded: a document that nests too deep.
    """

    def __init__(self, given: object = None, max_depth: int = 256) -> None:
        self._schemas: dict[str, Any] = {}
        self._named: dict[str, str] = {}
        self._roots: dict[tuple[Draft, bool], Roots] = {}
        if given is None:
            return
        if not isinstance(given, Mapping):
            message = f"documents must be a mapping of URIs to schemas, not {type(given).__name__}"
            raise ToolError.at("invalid-option", message)
        problems: list[Problem] = []
        for uri, schema in given.items():
            problem = _wrong(uri, schema) or self._take(uri.removesuffix("#"), schema, max_depth)
            if problem is not None:
                problems.append(problem)
        if problems:
            raise SchemaError(problems)

    def __bool__(self) -> bool:
        return bool(self._schemas)

    def __iter__(self) -> Iterator[str]:
        """The URIs under which the documents were given."""
        return iter(self._schemas)

    def _take(self, uri: str, schema: Any, max_depth: int) -> Problem | None:
        check_shape(schema, Origin(start_of(uri)), max_depth)
        own = root_resource(schema, uri, start_of(uri)).uri
        for name in dict.fromkeys((uri, own)):
            other = self._named.setdefault(name, uri)
            if not same(self._schemas.get(other, schema), schema):
                message = f"this document and the one given as '{other}' both have the URI '{name}'"
                return Problem("duplicate-document", message, Origin(start_of(uri)))
        self._schemas[uri] = schema
        return None

    def check_against(self, schema: Any, uri: str, origin: Origin) -> None:
        """Refuse a schema whose own URI is that of a document which says something else.

        Raises:
            SchemaError: code ``duplicate-document``.
        """
        other = self._named.get(uri)
        if other is not None and not same(self._schemas[other], schema):
            raise SchemaError.at(
                "duplicate-document",
                f"the schema's URI '{uri}' is also that of another document, given as '{other}'",
                origin,
            )

    def roots(self, outer: Resource) -> Roots:
        """The documents, read in the draft of `outer` where they state none."""
        key = (outer.draft, outer.stated)
        made = self._roots.get(key)
        if made is None:
            made = self._roots[key] = self._indexed(outer)
        return made

    def _indexed(self, outer: Resource) -> Roots:
        index = Index()
        by_start = {}
        for uri, schema in self._schemas.items():
            start = start_of(uri)
            resource = root_resource(schema, uri, start, outer)
            by_start[start] = (schema, resource)
            # What a document is given as comes before what others call a part of themselves.
            index.resources[uri] = start
        for start, (_, resource) in by_start.items():
            index.resources.setdefault(resource.uri, start)
        for schema, resource in by_start.values():
            index.add(schema, resource)
        return Roots(index, by_start)


def start_of(uri: str) -> str:
    """What the pointers into the document of that URI begin with."""
    return f"{uri}#"


def _wrong(uri: object, schema: Any) -> Problem | None:
    """What is wrong with one entry of the mapping by itself."""
    if not isinstance(uri, str):
        return Problem("invalid-document", f"a document's URI is a string, not {uri!r:.40}")
    origin = Origin(start_of(without_fragment(uri)))
    if not uri.removesuffix("#") or uri.startswith("/") or "#" in uri[:-1]:
        return Problem(
            "invalid-document",
            f"'{uri}' cannot be a document's URI",
            origin,
            "write it without fragment: absolute, or as references name it, if that is no path "
            "from `/`",
        )
    if not isinstance(schema, (dict, bool)):
        kind = type(schema).__name__
        message = f"a document is a schema, an object or a boolean, not {kind}"
        return Problem("invalid-document", message, origin, file_hint(schema, parsed=True))
    return None
