"""Places of a schema document and the references among them.

A place is one schema inside the document, known by its JSON pointer. ``$id``, ``$anchor`` and
``$schema`` open resources (JSON Schema Core 2020-12, section 8); ``$ref`` is resolved inside the
document only.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from ..errors import LimitExceeded
from ..origin import Origin, escape_pointer
from .forms import Atom


class Draft(IntEnum):
    """The drafts that are told apart."""

    DRAFT_4 = 4
    DRAFT_6 = 6
    DRAFT_7 = 7
    DRAFT_2019 = 2019
    DRAFT_2020 = 2020

    def __str__(self) -> str:
        return f"draft-0{self.value}" if self < 10 else {2019: "2019-09", 2020: "2020-12"}[self]


_DRAFT_MARKS = {
    "draft-04": Draft.DRAFT_4,
    "draft-06": Draft.DRAFT_6,
    "draft-07": Draft.DRAFT_7,
    "2019-09": Draft.DRAFT_2019,
    "2020-12": Draft.DRAFT_2020,
}

# Under these keywords stand values, not schemas.
_VALUE_KEYWORDS = frozenset({"enum", "const", "default", "examples", "example"})


def draft_of(uri: object) -> Draft | None:
    """The draft that a ``$schema`` names, None if it is none of the known ones."""
    if isinstance(uri, str):
        for mark, draft in _DRAFT_MARKS.items():
            if f"/{mark}/schema" in uri:
                return draft
    return None


class Resource:
    """A schema resource: a part of the document with a base URI and a draft of its own."""

    __slots__ = ("draft", "pointer", "stated", "uri")

    def __init__(self, uri: str, pointer: str, draft: Draft, stated: bool) -> None:
        self.uri = uri
        self.pointer = pointer
        self.draft = draft
        self.stated = stated


class Place:
    """One schema of the document. ``pointer`` is inside the document, ``origin`` for messages."""

    __slots__ = ("atom", "depth", "origin", "pointer", "resource", "schema")

    def __init__(
        self, schema: Any, pointer: str, origin: Origin, resource: Resource, depth: int
    ) -> None:
        self.schema = schema
        self.pointer = pointer
        self.origin = origin
        self.resource = resource
        self.depth = depth
        self.atom = Atom(self)

    def at(self, *tokens: str | int) -> Origin:
        """The origin of something below this schema."""
        tail = "".join(f"/{escape_pointer(t)}" for t in tokens)
        return Origin(self.origin.pointer + tail, self.origin.tool, self.origin.file)


class Document:
    """A schema document: makes places, resolves references."""

    def __init__(self, schema: Any, origin: Origin, max_depth: int) -> None:
        self._origin = origin
        self._max_depth = max_depth
        self._places: dict[str, Place] = {}
        self._resources: dict[str, str] | None = None
        self._anchors: dict[tuple[str, str], str] = {}
        self.dynamic_anchors: dict[str, list[str]] = {}
        draft = draft_of(schema.get("$schema")) if isinstance(schema, dict) else None
        base = Resource("", "", draft or Draft.DRAFT_2020, draft is not None)
        self.root = self._make(schema, "", base, 0)

    def child(self, place: Place, schema: Any, *tokens: str | int) -> Place:
        """The place of `schema`, which stands `tokens` below `place`."""
        tail = "".join(f"/{escape_pointer(t)}" for t in tokens)
        pointer = place.pointer + tail
        known = self._places.get(pointer)
        if known is not None:
            return known
        return self._make(schema, pointer, place.resource, place.depth + 1)

    def _make(self, schema: Any, pointer: str, resource: Resource, depth: int) -> Place:
        base = self._origin
        origin = Origin(base.pointer + pointer, base.tool, base.file) if pointer else base
        if depth > self._max_depth:
            raise LimitExceeded.at(
                "schema-too-deep", f"schemas nest deeper than {self._max_depth}", origin
            )
        place = Place(schema, pointer, origin, _inner_resource(schema, pointer, resource), depth)
        self._places[pointer] = place
        return place

    def resolve(self, place: Place, reference: str) -> Place | None:
        """The place that `reference`, met in `place`, points to; None if there is none."""
        if reference == "#" or reference.startswith("#/"):
            return self._walk(place.resource.pointer, unquote(reference[1:]))
        try:
            uri, fragment = urldefrag(urljoin(place.resource.uri, reference))
        except ValueError:
            return None
        fragment = unquote(fragment)
        self._index()
        assert self._resources is not None
        start = self._resources.get(uri)
        if start is None:
            return None
        if fragment and not fragment.startswith("/"):
            target = self._anchors.get((uri, fragment))
            return None if target is None else self._walk("", target)
        return self._walk(start, fragment)

    def _walk(self, start: str, pointer: str) -> Place | None:
        """Follow `pointer` down from the place at `start`, through resources on the way."""
        node: Any = self.root.schema
        resource = self.root.resource
        here = ""
        depth = 0
        for token in (start + pointer).split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and key in node:
                node = node[key]
            elif isinstance(node, list) and _index_below(key, len(node)):
                node = node[int(key)]
            else:
                return None
            here += "/" + escape_pointer(key)
            depth += 1
            resource = _inner_resource(node, here, resource)
        known = self._places.get(here)
        if known is not None:
            return known
        if not isinstance(node, (dict, bool)):
            return None
        return self._make(node, here, resource, min(depth, self._max_depth))

    def _index(self) -> None:
        """Find every resource and anchor of the document, once, when first asked for."""
        if self._resources is not None:
            return
        self._resources = {"": "", self.root.resource.uri: ""}
        for node, pointer, resource in _subschemas(self.root.schema, self.root.resource):
            self._resources.setdefault(resource.uri, resource.pointer)
            for keyword in ("$anchor", "$dynamicAnchor"):
                name = node.get(keyword)
                if isinstance(name, str):
                    self._anchors.setdefault((resource.uri, name), pointer)
                    if keyword == "$dynamicAnchor":
                        self.dynamic_anchors.setdefault(name, []).append(pointer)
            for keyword in ("$id", "id"):
                name = node.get(keyword)
                if isinstance(name, str) and name.startswith("#"):
                    self._anchors.setdefault((resource.uri, name[1:]), pointer)

    def dynamic_targets(self, name: str) -> list[str]:
        """The pointers of every ``$dynamicAnchor`` of that name."""
        self._index()
        return self.dynamic_anchors.get(name, [])


def _index_below(token: str, length: int) -> bool:
    """Whether a reference token is an array index (RFC 6901, section 4) below `length`."""
    return token.isascii() and token.isdigit() and len(token) < 10 and int(token) < length


def _inner_resource(schema: Any, pointer: str, resource: Resource) -> Resource:
    """The resource that `schema` opens with an ``$id``, else the one it stands in."""
    if not isinstance(schema, dict):
        return resource
    identifier = schema.get("$id", schema.get("id") if resource.draft <= Draft.DRAFT_4 else None)
    if not isinstance(identifier, str) or identifier.startswith("#"):
        return resource
    if resource.draft <= Draft.DRAFT_7 and "$ref" in schema:
        return resource
    try:
        uri = urldefrag(urljoin(resource.uri, identifier))[0]
    except ValueError:
        return resource
    draft = draft_of(schema.get("$schema"))
    return Resource(uri, pointer, draft or resource.draft, draft is not None or resource.stated)


def _subschemas(schema: Any, resource: Resource) -> Iterator[tuple[dict[str, Any], str, Resource]]:
    """Every object of the document that may be a schema, outside of plain values, top down."""
    stack: list[tuple[Any, str, Resource]] = [(schema, "", resource)]
    while stack:
        node, pointer, outer = stack.pop()
        below: list[tuple[Any, str, Resource]] = []
        if isinstance(node, dict):
            inner = _inner_resource(node, pointer, outer) if pointer else outer
            yield node, pointer, inner
            for key, value in node.items():
                if key not in _VALUE_KEYWORDS:
                    below.append((value, f"{pointer}/{escape_pointer(key)}", inner))
        elif isinstance(node, list):
            below = [(value, f"{pointer}/{i}", outer) for i, value in enumerate(node)]
        stack.extend(reversed(below))
