"""JSON Schema formats (validation vocabulary, section 7) as regular languages.

Each format is the grammar of the RFC that JSON Schema names, written as a regular expression where
that is readable. Where two authorities disagree the narrower one holds, so that what is generated
is valid everywhere: :data:`NARROWED` says what is left out, :data:`FORMAT_LENGTHS` which total
lengths the RFC sets that are left to the caller's length bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from . import format_patterns as patterns
from .idn import idn_email, idn_hostname
from .regex_compile import compile_regex
from .table import Table

_PATTERNS: dict[str, str | Callable[[], str]] = {
    "date": patterns.DATE,
    "time": patterns.TIME,
    "date-time": f"{patterns.DATE}T{patterns.TIME}",
    "duration": patterns.DURATION,
    "email": patterns.EMAIL,
    "hostname": patterns.HOSTNAME,
    "ipv4": patterns.IPV4,
    "ipv6": patterns.IPV6,
    "uri": patterns.uri(patterns.ASCII, absolute=True),
    "uri-reference": patterns.uri(patterns.ASCII, absolute=False),
    "iri": patterns.uri(patterns.UNICODE, absolute=True),
    "iri-reference": patterns.uri(patterns.UNICODE, absolute=False),
    "uri-template": patterns.URI_TEMPLATE,
    "uuid": patterns.UUID,
    "json-pointer": patterns.JSON_POINTER,
    "relative-json-pointer": patterns.RELATIVE_JSON_POINTER,
    "idn-hostname": idn_hostname,
    "idn-email": idn_email,
}

KNOWN_FORMATS: frozenset[str] = frozenset(_PATTERNS)
"""Formats that are enforced."""

NOT_REGULAR: Mapping[str, str] = {
    "regex": "whether a text is a regular expression depends on brackets nested to any depth",
}
"""Formats of JSON Schema that no automaton decides, and why."""

ANNOTATION_FORMATS: frozenset[str] = frozenset(
    [
        "binary", "byte", "char", "color", "decimal", "double", "float", "int8", "int16", "int32",
        "int64", "markdown", "html", "password", "phone", "style", "text", "textarea", "uint",
        "uint8", "uint16", "uint32", "uint64", "unix-time", "unixtime", "string", "file",
    ]
)  # fmt: skip
"""Formats in wide use (OpenAPI and others) that describe a value and assert nothing here."""

FORMAT_LENGTHS: Mapping[str, tuple[int, int]] = {
    "hostname": (1, 253),
    "email": (3, 254),
}
"""Total lengths in code points (RFC 1123 2.1, RFC 5321 4.5.3.1.3) that the automaton does not
count: intersect them with the schema's own length bounds."""

NARROWED: Mapping[str, str] = {
    "date": "years 0001 to 9999",
    "time": "upper-case Z, no leap second, with the UTC offset that RFC 3339 demands",
    "date-time": "years 0001 to 9999, upper-case T and Z, no leap second",
    "email": "no address literals",
    "idn-email": "no address literals; beyond ASCII at most 16 characters before the @, and "
    "domains as in idn-hostname",
    "idn-hostname": "labels beyond ASCII: at most 12 lower-case Latin, Greek or Cyrillic "
    "characters, or 8 Han, Hiragana or Hangul ones, one script a label, no hyphens",
    "uri-template": "no reserved operators",
    "uri": "no IPvFuture hosts",
    "uri-reference": "no IPvFuture hosts",
    "iri": "no IPvFuture hosts",
    "iri-reference": "no IPvFuture hosts",
    "relative-json-pointer": "no index manipulation (+1, -1)",
}
"""Where a format allows less than its RFC, and what it allows."""

_WHAT = {
    "date": "a date (YYYY-MM-DD)",
    "time": "a time with offset (RFC 3339)",
    "date-time": "a date-time (RFC 3339)",
    "duration": "a duration (ISO 8601, like P1DT2H)",
    "email": "an email address",
    "idn-email": "an email address",
    "hostname": "a host name",
    "idn-hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uri": "a URI",
    "uri-reference": "a URI reference",
    "iri": "an IRI",
    "iri-reference": "an IRI reference",
    "uri-template": "a URI template",
    "uuid": "a UUID",
    "json-pointer": "a JSON pointer",
    "relative-json-pointer": "a relative JSON pointer",
}


@lru_cache(maxsize=64)
def format_table(name: str) -> Table:
    """The automaton of a known format, minimal."""
    pattern = _PATTERNS[name]
    return compile_regex(f"^(?:{pattern if isinstance(pattern, str) else pattern()})$")


def what(name: str) -> str:
    """A known format in words, for messages."""
    return _WHAT[name]
