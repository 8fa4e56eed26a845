"""Places of a schema document and the references among them.

A place is one schema inside the document, known by its JSON pointer and its scope. ``$id``,
``$anchor`` and ``$schema`` open resources (JSON Schema Core 2020-12, section 8); ``$ref`` is
resolved inside the document, and to the metaschemas of the drafts. The scope is what the path of
references to a schema has decided about dynamic ones (section 8.2.3.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, TypeAlias
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

# What dynamic references of the path so far have been decided to: name and pointer, by name.
Scope: TypeAlias = tuple[tuple[str, str], ...]

_RECURSIVE = "$recursiveAnchor"
"""The name, which no anchor can have, of 2019-09's one dynamic anchor."""

_OF_METASCHEMAS = frozenset({_RECURSIVE, "meta"})
"""The dynamic anchors of the drafts' own metaschemas."""

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
    """One schema of the document. ``pointer`` is inside the document, ``origin`` for messages.

    The pointer of a schema in another document begins with that document's URI and `#`.
    """

    __slots__ = ("atom", "depth", "origin", "pointer", "resource", "schema", "scope")

    def __init__(
        self,
        schema: Any,
        pointer: str,
        origin: Origin,
        resource: Resource,
        depth: int,
        scope: Scope = (),
    ) -> None:
        self.schema = schema
        self.pointer = pointer
        self.origin = origin
        self.resource = resource
        self.depth = depth
        self.scope = scope
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
        self._places: dict[tuple[str, Scope], Place] = {}
        self._roots: dict[str, tuple[Any, Resource]] = {}
        self._resources: dict[str, str] = {}
        self._anchors: dict[tuple[str, str], str] = {}
        # Per dynamic anchor and resource (by pointer) where it points.
        self._dynamic: dict[str, dict[str, str]] = {}
        draft = draft_of(schema.get("$schema")) if isinstance(schema, dict) else None
        base = Resource("", "", draft or Draft.DRAFT_2020, draft is not None)
        base = _inner_resource(schema, "", base)
        self._roots[""] = (schema, base)
        self.root = self._make(schema, "", base, 0, ())

    def child(self, place: Place, schema: Any, *tokens: str | int) -> Place:
        """The place of `schema`, which stands `tokens` below `place`."""
        tail = "".join(f"/{escape_pointer(t)}" for t in tokens)
        pointer = place.pointer + tail
        resource = _inner_resource(schema, pointer, place.resource)
        return self._make(schema, pointer, resource, place.depth + 1, place.scope)

    def _make(
        self, schema: Any, pointer: str, resource: Resource, depth: int, outer: Scope
    ) -> Place:
        scope = outer
        if resource.pointer != "" or outer:
            scope = self._entered(resource.pointer, outer)
        known = self._places.get((pointer, scope))
        if known is not None:
            return known
        base = self._origin
        whole = pointer if _is_foreign(pointer) else base.pointer + pointer
        origin = Origin(whole, base.tool, base.file) if pointer else base
        if depth > self._max_depth:
            raise LimitExceeded.at(
                "schema-too-deep", f"schemas nest deeper than {self._max_depth}", origin
            )
        place = Place(schema, pointer, origin, resource, depth, scope)
        self._places[pointer, scope] = place
        return place

    def _entered(self, resource: str, outer: Scope) -> Scope:
        """The scope inside a resource: the outermost one decides each of its dynamic anchors.

        The root is in every path, so its anchors are decided before any.
        """
        self._index()
        known = dict(outer)
        for entered in ("", resource):
            for name, found in self._dynamic.items():
                # What has one anchor only is decided; metaschemas may be taken in later.
                if entered in found and (len(found) > 1 or name in _OF_METASCHEMAS):
                    known.setdefault(name, found[entered])
        return tuple(sorted(known.items()))

    def resolve(self, place: Place, reference: str) -> Place | None:
        """The place that `reference`, met in `place`, points to; None if there is none."""
        target = self._pointer(place, reference)
        return None if target is None else self._walk(target, place.scope)

    def resolve_dynamic(self, place: Place, reference: str) -> Place | None:
        """The place that a ``$dynamicRef`` met in `place` points to; None if there is none."""
        target = self._pointer(place, reference)
        name = unquote(reference.rpartition("#")[2])
        return None if target is None else self._outermost(place, name, target)

    def resolve_recursive(self, place: Place) -> Place | None:
        """The place that 2019-09's ``$recursiveRef``, met in `place`, points to."""
        return self._outermost(place, _RECURSIVE, place.resource.pointer)

    def _outermost(self, place: Place, name: str, target: str) -> Place | None:
        """`target`, or if it is a dynamic anchor, the one that the scope has decided on."""
        self._index()
        if target in self._dynamic.get(name, {}).values():
            decided = dict(self._entered(place.resource.pointer, place.scope))
            target = decided.get(name, target)
        return self._walk(target, place.scope)

    def _pointer(self, place: Place, reference: str) -> str | None:
        """The pointer of what `reference` names, None if that is no part of a known document."""
        if reference == "#" or reference.startswith("#/"):
            return place.resource.pointer + unquote(reference[1:])
        try:
            uri, fragment = urldefrag(urljoin(place.resource.uri, reference))
        except ValueError:
            return None
        fragment = unquote(fragment)
        self._index()
        if uri not in self._resources and not self._load(uri):
            return None
        if fragment and not fragment.startswith("/"):
            return self._anchors.get((uri, fragment))
        return self._resources[uri] + fragment

    def _load(self, uri: str) -> bool:
        """Take in the metaschema of that URI, if there is one."""
        schema = metaschema(uri)
        if schema is None:
            return False
        pointer = f"{uri}#"
        draft = draft_of(schema.get("$schema")) or Draft.DRAFT_2020
        self._roots[pointer] = (schema, Resource(uri, pointer, draft, True))
        self._index_root(pointer)
        return True

    def _walk(self, target: str, scope: Scope) -> Place | None:
        """Follow a pointer down from the root of its document, through resources on the way."""
        start = target[: target.index("#") + 1] if _is_foreign(target) else ""
        node, resource = self._roots[start]
        here = start
        depth = 0
        for token in target[len(start) :].split("/")[1:]:
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
        if not isinstance(node, (dict, bool)):
            return None
        return self._make(node, here, resource, min(depth, self._max_depth), scope)

    def _index(self) -> None:
        """Find every resource and anchor of the document, once, when first asked for."""
        if not self._resources:
            self._resources[""] = ""
            self._index_root("")

    def _index_root(self, start: str) -> None:
        schema, root = self._roots[start]
        self._resources[root.uri] = start
        for node, pointer, resource in _subschemas(schema, root):
            self._resources.setdefault(resource.uri, resource.pointer)
            for keyword in ("$anchor", "$dynamicAnchor"):
                name = node.get(keyword)
                if isinstance(name, str):
                    self._anchors.setdefault((resource.uri, name), pointer)
                    if keyword == "$dynamicAnchor":
                        self._dynamic.setdefault(name, {}).setdefault(resource.pointer, pointer)
            if node.get("$recursiveAnchor") is True and pointer == resource.pointer:
                self._dynamic.setdefault(_RECURSIVE, {}).setdefault(pointer, pointer)
            for keyword in ("$id", "id"):
                name = node.get(keyword)
                if isinstance(name, str) and name.startswith("#"):
                    self._anchors.setdefault((resource.uri, name[1:]), pointer)


def metaschema(uri: str) -> dict[str, Any] | None:
    """The metaschema, or the vocabulary's part of it, that a URI without fragment names."""
    # Imported only here: loading it reads every metaschema.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    for name in (uri, f"{uri}#"):
        if name in REGISTRY:
            contents = REGISTRY.contents(name)
            return contents if isinstance(contents, dict) else None
    return None


def _is_foreign(pointer: str) -> bool:
    """Whether a place's pointer is one into another document."""
    return pointer != "" and not pointer.startswith("/")


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
    stack: list[tuple[Any, str, Resource]] = [(schema, resource.pointer, resource)]
    while stack:
        node, pointer, outer = stack.pop()
        below: list[tuple[Any, str, Resource]] = []
        if isinstance(node, dict):
            inner = outer if node is schema else _inner_resource(node, pointer, outer)
            yield node, pointer, inner
            for key, value in node.items():
                if key not in _VALUE_KEYWORDS:
                    below.append((value, f"{pointer}/{escape_pointer(key)}", inner))
        elif isinstance(node, list):
            below = [(value, f"{pointer}/{i}", outer) for i, value in enumerate(node)]
        stack.extend(reversed(below))
