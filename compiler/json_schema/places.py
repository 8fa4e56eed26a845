"""Places of a schema document and the references among them.

A place is one schema inside the document, known by its JSON pointer and its scope. ``$id``,
``$anchor`` and ``$schema`` open resources (JSON Schema Core 2020-12, section 8); ``$ref`` is
resolved inside the document, in the documents that the caller gave, and to the metaschemas of the
drafts; nothing is ever fetched. The scope is what the path of references to a schema has decided
about dynamic ones (section 8.2.3.2).
"""

from __future__ import annotations

from itertools import islice
from typing import Any, TypeAlias
from urllib.parse import unquote

from ..errors import LimitExceeded
from ..origin import Origin, did_you_mean, escape_pointer
from .documents import Documents, start_of
from .forms import Atom
from .resources import (
    RECURSIVE,
    Index,
    Resource,
    inner_resource,
    metaschema,
    root_resource,
)
from .uris import resolve_uri

# What dynamic references of the path so far have been decided to: name and pointer, by name.
Scope: TypeAlias = tuple[tuple[str, str], ...]

_OF_METASCHEMAS = frozenset({RECURSIVE, "meta"})
"""The dynamic anchors of the drafts' own metaschemas."""

MAX_HINTS = 20
"""References that do not resolve for which the nearest name is looked for."""

MAX_CANDIDATES = 500
"""Names among which the nearest is looked for."""


class Place:
    """One schema of the document. ``pointer`` is inside the document, ``origin`` for messages.

    The pointer of a schema in another document begins with that document's URI and `#`.
    """

    __slots__ = ("depth", "origin", "pointer", "resource", "schema", "scope")

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

    @property
    def atom(self) -> Atom:
        """What the schema lets through."""
        return Atom(self)

    def at(self, *tokens: str | int) -> Origin:
        """The origin of something below this schema."""
        tail = "".join(f"/{escape_pointer(t)}" for t in tokens)
        return Origin(self.origin.pointer + tail, self.origin.tool, self.origin.file)


class Document:
    """A schema document: makes places, resolves references."""

    def __init__(
        self, schema: Any, origin: Origin, max_depth: int, documents: Documents | None = None
    ) -> None:
        self._origin = origin
        self._max_depth = max_depth
        self._documents = documents or Documents()
        self._places: dict[tuple[str, Scope], Place] = {}
        self._known: Index | None = None
        self._hints = MAX_HINTS
        base = root_resource(schema, "", "")
        self._documents.check_against(schema, base.uri, origin)
        self._roots: dict[str, tuple[Any, Resource]] = {"": (schema, base)}
        self.root = self._make(schema, "", base, 0, ())

    def child(self, place: Place, schema: Any, *tokens: str | int) -> Place:
        """The place of `schema`, which stands `tokens` below `place`."""
        tail = "".join(f"/{escape_pointer(t)}" for t in tokens)
        pointer = place.pointer + tail
        resource = inner_resource(schema, pointer, place.resource)
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
        index = self._index
        known = dict(outer)
        for entered in ("", resource):
            for name, pointer in index.dynamic.get(entered, {}).items():
                # What has one anchor only is decided; metaschemas may be taken in later.
                if index.carriers[name] > 1 or name in _OF_METASCHEMAS:
                    known.setdefault(name, pointer)
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
        return self._outermost(place, RECURSIVE, place.resource.pointer)

    def _outermost(self, place: Place, name: str, target: str) -> Place | None:
        """`target`, or if it is a dynamic anchor, the one that the scope has decided on."""
        if (name, target) in self._index.targets:
            decided = dict(self._entered(place.resource.pointer, place.scope))
            target = decided.get(name, target)
        return self._walk(target, place.scope)

    def _pointer(self, place: Place, reference: str) -> str | None:
        """The pointer of what `reference` names, None if that is no part of a known document."""
        if reference == "#" or reference.startswith("#/"):
            return place.resource.pointer + unquote(reference[1:])
        uri, _, fragment = resolve_uri(place.resource.uri, reference).partition("#")
        fragment = unquote(fragment)
        index = self._index
        if reference.startswith("#"):
            start = place.resource.pointer
        elif uri in index.resources or self._load(uri):
            start = index.resources[uri]
        else:
            return None
        if fragment and not fragment.startswith("/"):
            return index.anchors.get((start, fragment))
        return start + fragment

    @property
    def _index(self) -> Index:
        """Every resource and anchor of the document and the given ones, once asked for."""
        if self._known is None:
            schema, root = self._roots[""]
            self._known = Index({"": "", root.uri: ""})
            self._known.add(schema, root)
            given = self._documents.roots(root)
            self._known.update(given.index)
            self._roots.update(given.by_start)
        return self._known

    def _load(self, uri: str) -> bool:
        """Take in the metaschema of that URI, if there is one."""
        schema = metaschema(uri)
        if schema is None:
            return False
        start = start_of(uri)
        resource = root_resource(schema, uri, start)
        self._roots[start] = (schema, resource)
        self._index.resources[uri] = start
        self._index.add(schema, resource)
        return True

    def near(self, place: Place, reference: str) -> str | None:
        """A hint about a reference that does not resolve; for the first few of them."""
        if not self._hints:
            return None
        self._hints -= 1
        uri, _, fragment = resolve_uri(place.resource.uri, reference).partition("#")
        here = reference.startswith("#")
        start = place.resource.pointer if here else self._index.resources.get(uri)
        if start is None:
            return self._near_document(uri)
        before = "" if here else uri
        fragment = unquote(fragment)
        if fragment.startswith("/"):
            return self._near_pointer(start, fragment, before)
        names = [name for at, name in self._index.anchors if at == start]
        close = did_you_mean(fragment, islice(names, MAX_CANDIDATES))
        return close and close.replace("`", f"`{before}#", 1)

    def _near_document(self, uri: str) -> str:
        """What to say where no document has that URI."""
        said = f"no document is '{uri}'"
        known = [name for name in self._index.resources if name]
        close = did_you_mean(uri, islice(known, MAX_CANDIDATES))
        if close is not None:
            return f"{said}; {close}"
        given = list(self._documents)
        if not given:
            return f'{said}; pass it in: documents={{"{uri}": …}}'
        more = f" and {len(given) - 5} more" if len(given) > 5 else ""
        return f"{said}; there are {', '.join(given[:5])}{more}"

    def _near_pointer(self, start: str, fragment: str, before: str) -> str | None:
        """The pointer with its first wrong token mended."""
        root = self._walk(start, ())
        node = root.schema if root is not None else None
        tokens = [unescaped(t) for t in fragment.split("/")[1:]]
        for i, token in enumerate(tokens):
            following = _step(node, token)
            if following is None:
                keys = node if isinstance(node, dict) else ()
                close = did_you_mean(token, islice(keys, MAX_CANDIDATES))
                if close is None:
                    return None
                right = [*tokens[:i], close.split("`")[1], *tokens[i + 1 :]]
                pointer = "".join(f"/{escape_pointer(t)}" for t in right)
                return f"did you mean `{before}#{pointer}`?"
            node = following[0]
        return "that is no schema"

    def _walk(self, target: str, scope: Scope) -> Place | None:
        """Follow a pointer down from the root of its document, through resources on the way."""
        start = target[: target.index("#") + 1] if _is_foreign(target) else ""
        node, resource = self._roots[start]
        here = start
        depth = 0
        for token in target[len(start) :].split("/")[1:]:
            key = unescaped(token)
            following = _step(node, key)
            if following is None:
                return None
            node = following[0]
            here += "/" + escape_pointer(key)
            depth += 1
            resource = inner_resource(node, here, resource)
        if not isinstance(node, (dict, bool)):
            return None
        return self._make(node, here, resource, min(depth, self._max_depth), scope)


def unescaped(token: str) -> str:
    """A reference token as it was before RFC 6901, section 3 escaped it."""
    return token.replace("~1", "/").replace("~0", "~")


def _step(node: Any, key: str) -> tuple[Any] | None:
    """What stands under a reference token, None if nothing does."""
    if isinstance(node, dict) and key in node:
        return (node[key],)
    if isinstance(node, list) and _index_below(key, len(node)):
        return (node[int(key)],)
    return None


def _is_foreign(pointer: str) -> bool:
    """Whether a place's pointer is one into another document."""
    return pointer != "" and not pointer.startswith("/")


def _index_below(token: str, length: int) -> bool:
    """Whether a reference token is an array index (RFC 6901, section 4) below `length`."""
    return token.isascii() and token.isdigit() and len(token) < 10 and int(token) < length
