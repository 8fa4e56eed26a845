"""URI references resolved as RFC 3986, section 5.2 says, whatever the scheme.

``urllib.parse.urljoin`` knows hierarchical schemes only: it would lose the base of ``app://`` and
``urn:`` URIs.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Parts(NamedTuple):
    """The components of a URI reference; None where its delimiter is absent."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    def __str__(self) -> str:
        return "".join(
            (
                "" if self.scheme is None else f"{self.scheme}:",
                "" if self.authority is None else f"//{self.authority}",
                self.path,
                "" if self.query is None else f"?{self.query}",
                "" if self.fragment is None else f"#{self.fragment}",
            )
        )


# RFC 3986, appendix B, with the scheme's own syntax: it fits every string.
_REFERENCE = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)


def split(reference: str) -> Parts:
    """The components of a URI reference."""
    found = _REFERENCE.fullmatch(reference)
    assert found is not None
    scheme, authority, path, query, fragment = found.groups()
    return Parts(scheme, authority, path, query, fragment)


def without_fragment(uri: str) -> str:
    """The URI as it names a resource."""
    return uri.partition("#")[0]


def resolve_uri(base: str, reference: str) -> str:
    """The target of `reference`, met where `base` is the base URI ("" if there is none)."""
    r, b = split(reference), split(base)
    if r.scheme is not None:
        # A URN has no segments to take dots out of.
        return str(r._replace(path=_without_dots(r.path) if r.path.startswith("/") else r.path))
    if r.authority is not None:
        return str(r._replace(scheme=b.scheme, path=_without_dots(r.path)))
    if not r.path:
        query = b.query if r.query is None else r.query
        return str(b._replace(query=query, fragment=r.fragment))
    path = r.path if r.path.startswith("/") else _merged(b, r.path)
    # Without any base, relative references name documents as they stand.
    if base:
        path = _without_dots(path)
    return str(b._replace(path=path, query=r.query, fragment=r.fragment))


def _merged(base: Parts, path: str) -> str:
    """Section 5.2.3: the last segment of the base's path is replaced."""
    if base.authority is not None and not base.path:
        return "/" + path
    return base.path[: base.path.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    """Section 5.2.4: ``.`` and ``..`` segments are carried out."""
    rooted = path.startswith("/")
    segments = path[1:].split("/") if rooted else path.split("/")
    kept: list[str] = []
    for segment in segments:
        if segment == "..":
            if kept:
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return ("/" if rooted else "") + "/".join(kept)
