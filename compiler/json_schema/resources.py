"""Schema resources: what ``$id``, ``$anchor`` and ``$schema`` open inside of documents.

An :class:`Index` says where each URI and each anchor of some documents points (JSON Schema Core
2020-12, section 8). A pointer into another document than the one that is read begins with that
document's URI and ``#``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from ..errors import LimitExceeded
from ..origin import Origin, escape_pointer
from .uris import resolve_uri, without_fragment


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

RECURSIVE = "$recursiveAnchor"
"""The name, which no anchor can have, of 2019-09's one dynamic anchor."""

MAX_PARTS = 1_000_000
"""Values in a document that is searched for URIs and anchors. Python objects that stand in many
places could otherwise unfold without end."""

# Under these keywords stand values, not schemas.
VALUE_KEYWORDS = frozenset({"enum", "const", "default", "examples", "example"})


# Under these stand schemas by name: no name is a keyword.
MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}
)


def draft_of(uri: object) -> Draft | None:
    """The draft that a ``$schema`` names, None if it is none of the known ones."""
    if isinstance(uri, str):
        for mark, draft in _DRAFT_MARKS.items():
            if f"/{mark}/schema" in uri:
                return draft
    return None


def is_draft_4(schema: object) -> bool:
    """Whether a document is written for draft 4, where an integer has no fraction, not even .0."""
    return isinstance(schema, Mapping) and draft_of(schema.get("$schema")) == Draft.DRAFT_4


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """A schema resource: a part of a document with a base URI and a draft of its own.

    Attributes:
        uri: the base URI of what is inside; "" if nothing gives one.
        pointer: where it stands.
        draft: the draft that it is read in.
        stated: a ``$schema`` says so; else every keyword of every draft means something.
    """

    uri: str
    pointer: str
    draft: Draft
    stated: bool


def root_resource(schema: Any, uri: str, start: str, outer: Resource | None = None) -> Resource:
    """The resource of a whole document that was found at `uri`.

    `outer`: whose draft it has if it states none itself.
    """
    draft = draft_of(schema.get("$schema")) if isinstance(schema, dict) else None
    if draft is not None or outer is None:
        base = Resource(uri, start, draft or Draft.DRAFT_2020, draft is not None)
    else:
        base = Resource(uri, start, outer.draft, outer.stated)
    return inner_resource(schema, start, base)


def inner_resource(schema: Any, pointer: str, resource: Resource) -> Resource:
    """The resource that `schema` opens with an ``$id``, else the one it stands in."""
    if not isinstance(schema, dict):
        return resource
    identifier = schema.get("$id", schema.get("id") if resource.draft <= Draft.DRAFT_4 else None)
    if not isinstance(identifier, str) or identifier.startswith("#"):
        return resource
    if resource.draft <= Draft.DRAFT_7 and "$ref" in schema:
        return resource
    uri = without_fragment(resolve_uri(resource.uri, identifier))
    draft = draft_of(schema.get("$schema"))
    return Resource(uri, pointer, draft or resource.draft, draft is not None or resource.stated)


def subschemas(schema: Any, resource: Resource) -> Iterator[tuple[dict[str, Any], str, Resource]]:
    """Every object of the document that may be a schema, outside of plain values, top down."""
    stack: list[tuple[Any, str, Resource, bool]] = [(schema, resource.pointer, resource, False)]
    parts = 0
    while stack:
        parts += 1
        if parts > MAX_PARTS:
            raise LimitExceeded.at(
                "schema-too-large",
                f"a schema document has more than {MAX_PARTS:,} parts",
                Origin(resource.pointer),
            )
        node, pointer, outer, by_name = stack.pop()
        below: list[tuple[Any, str, Resource, bool]] = []
        if isinstance(node, dict):
            inner = outer if node is schema else inner_resource(node, pointer, outer)
            yield node, pointer, inner
            for key, value in node.items():
                if by_name or key not in VALUE_KEYWORDS:
                    inside = f"{pointer}/{escape_pointer(key)}"
                    below.append((value, inside, inner, not by_name and key in MAPS))
        elif isinstance(node, list):
            below = [(value, f"{pointer}/{i}", outer, False) for i, value in enumerate(node)]
        stack.extend(reversed(below))


@dataclass(slots=True, eq=False)
class Index:
    """Where the URIs and anchors of some documents point.

    Attributes:
        resources: the pointer of each resource, by URI.
        anchors: what an anchor points to, by its resource's pointer and its name.
        dynamic: what each dynamic anchor of a resource points to, by the resource's pointer.
        carriers: how many resources have a dynamic anchor of that name.
        targets: the same anchors, by name and what they point to.
    """

    resources: dict[str, str] = field(default_factory=dict)
    anchors: dict[tuple[str, str], str] = field(default_factory=dict)
    dynamic: dict[str, dict[str, str]] = field(default_factory=dict)
    carriers: dict[str, int] = field(default_factory=dict)
    targets: set[tuple[str, str]] = field(default_factory=set)

    def add(self, schema: Any, root: Resource) -> None:
        """Take in a document. What is known already stays."""
        for node, pointer, resource in subschemas(schema, root):
            self.resources.setdefault(resource.uri, resource.pointer)
            for keyword in ("$anchor", "$dynamicAnchor"):
                name = node.get(keyword)
                if isinstance(name, str):
                    self.anchors.setdefault((resource.pointer, name), pointer)
                    if keyword == "$dynamicAnchor":
                        self._carry(resource.pointer, name, pointer)
            if node.get("$recursiveAnchor") is True and pointer == resource.pointer:
                self._carry(pointer, RECURSIVE, pointer)
            for keyword in ("$id", "id"):
                name = node.get(keyword)
                if isinstance(name, str) and name.startswith("#"):
                    self.anchors.setdefault((resource.pointer, name[1:]), pointer)

    def update(self, other: Index) -> None:
        """Take in what another index knows. What is known already stays."""
        for uri, start in other.resources.items():
            self.resources.setdefault(uri, start)
        self.anchors.update(other.anchors)
        for resource, names in other.dynamic.items():
            for name, pointer in names.items():
                self._carry(resource, name, pointer)

    def _carry(self, resource: str, name: str, pointer: str) -> None:
        names = self.dynamic.setdefault(resource, {})
        if name not in names:
            names[name] = pointer
            self.targets.add((name, pointer))
            self.carriers[name] = self.carriers.get(name, 0) + 1


def metaschema(uri: str) -> dict[str, Any] | None:
    """The metaschema, or the vocabulary's part of it, that a URI without fragment names."""
    # Imported only here: loading it reads every metaschema.
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    for name in (uri, f"{uri}#"):
        if name in REGISTRY:
            contents = REGISTRY.contents(name)
            return contents if isinstance(contents, dict) else None
    return None
