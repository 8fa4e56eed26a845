"""An independent validator for schemas: ``jsonschema``, with the same documents, offline.

``jsonschema`` takes the draft from the schema that it stands in (and what ``$ref`` does to its
siblings from the first schema of all), resolves relative references as
``urllib`` does (http and file only), and from where a document was found rather than from what it
calls itself. So with documents it is given copies in which each schema states its draft and each
reference is absolute, as the compiler read them.
"""

from __future__ import annotations

from typing import Any

import jsonschema
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
from referencing.jsonschema import SchemaRegistry, specification_with

from .json_schema.documents import Documents, start_of
from .json_schema.keywords import IMPLEMENTED
from .json_schema.resources import (
    MAPS,
    VALUE_KEYWORDS,
    Draft,
    Resource,
    inner_resource,
    root_resource,
)
from .json_schema.uris import resolve_uri, split

DRAFT_URIS = {
    Draft.DRAFT_4: "http://json-schema.org/draft-04/schema#",
    Draft.DRAFT_6: "http://json-schema.org/draft-06/schema#",
    Draft.DRAFT_7: "http://json-schema.org/draft-07/schema#",
    Draft.DRAFT_2019: "https://json-schema.org/draft/2019-09/schema",
    Draft.DRAFT_2020: "https://json-schema.org/draft/2020-12/schema",
}


def metaschema_keywords(draft: Draft) -> frozenset[str]:
    """The keywords that a draft's metaschema and its vocabularies describe."""
    found: set[str] = set()
    uris = [DRAFT_URIS[draft]]
    for uri in uris:
        schema = REGISTRY.contents(uri)
        found.update(schema.get("properties", ()))
        uris += [resolve_uri(uri, part["$ref"]) for part in schema.get("allOf", ())]
    return frozenset(found)


def validator(schema: Any, documents: Documents | None = None) -> Validator:
    """The validator of a schema whose references may lead into `documents`.

    Nothing is fetched: what is neither there nor a metaschema raises when it is referred to.
    """
    registry: SchemaRegistry = REGISTRY
    if documents:
        root = root_resource(schema, "", "")
        by_start = documents.roots(root).by_start
        for uri in documents:
            document, resource = by_start[start_of(uri)]
            draft = specification_with(DRAFT_URIS[resource.draft])
            found = draft.create_resource(explicit(document, resource))
            registry = registry.with_resources(
                [(_absolute(uri), found), (_absolute(resource.uri), found)]
            )
        schema = explicit(schema, root)
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    made: Validator = kind(schema, registry=registry)
    return made


def explicit(schema: Any, root: Resource) -> Any:
    """A copy in which every schema states its draft, and URIs and references are absolute."""
    whole: list[Any] = [schema]
    # What to copy, the resource around it, where the copy goes, and whether it may be a schema.
    stack: list[tuple[Any, Resource, Any, Any, bool]] = [(schema, root, whole, 0, True)]
    while stack:
        node, outer, into, key, is_schema = stack.pop()
        copy: Any
        if isinstance(node, dict):
            inner = outer if node is schema else inner_resource(node, "", outer)
            copy = dict(node)
            if is_schema:
                _state(
                    copy, inner, opens=inner is not outer or (node is schema and inner.uri != "")
                )
            stack.extend(
                (v, inner, copy, k, not (is_schema and k in MAPS))
                for k, v in copy.items()
                if isinstance(v, (dict, list)) and not (is_schema and k in VALUE_KEYWORDS)
            )
        else:
            copy = list(node) if isinstance(node, list) else node
            stack.extend(
                (v, outer, copy, i, True)
                for i, v in enumerate(copy if isinstance(copy, list) else ())
                if isinstance(v, (dict, list))
            )
        into[key] = copy
    return whole[0]


def _state(schema: dict[str, Any], resource: Resource, opens: bool) -> None:
    """Make a copied schema say what it means by itself."""
    schema["$schema"] = DRAFT_URIS[resource.draft]
    identifier = "$id" if resource.draft > Draft.DRAFT_4 else "id"
    if opens and isinstance(schema.get(identifier), str):
        schema[identifier] = _absolute(resource.uri)
    for keyword in ("$ref", "$dynamicRef"):
        reference = schema.get(keyword)
        if isinstance(reference, str):
            schema[keyword] = _absolute(resolve_uri(resource.uri, reference))
    if not isinstance(schema.get("$ref"), str):
        return
    siblings = IMPLEMENTED.intersection(schema) - {"$ref"}
    if resource.draft <= Draft.DRAFT_7:
        for keyword in siblings:
            del schema[keyword]
    elif siblings:
        referring = {"$schema": schema["$schema"], "$ref": schema.pop("$ref")}
        schema["allOf"] = [*schema.get("allOf", ()), referring]


def _absolute(uri: str) -> str:
    """A URI that stays as it is wherever it is referred to; "" and `#…` are the schema's own."""
    relative = not uri.startswith("#") and uri and split(uri).scheme is None
    return f"document:{uri}" if relative else uri
