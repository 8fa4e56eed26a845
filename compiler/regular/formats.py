"""JSON Schema formats (validation vocabulary, section 7) as regular languages.

Each format is the grammar of the RFC that JSON Schema names, written as a regular expression where
that is readable. Where two authorities disagree the narrower one holds, so that what is generated
is valid everywhere: :data:`NARROWED` says what is left out, :data:`FORMAT_LENGTHS` which total
lengths the RFC sets that are left to the caller's length bounds. The other way about, what is *not*
of a format is taken from everything that any of them calls it: formats that are narrowed, or that
validators in use read wider than the RFC, have a wide reading too (:data:`WIDENED`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from . import format_patterns as patterns
from .format_regex import regex
from .idn import MOST_LABELS, idn_email, idn_hostname
from .mailbox import local_octets
from .regex_compile import compile_regex
from .table import Table, intersection

_PATTERNS: dict[str, str | Callable[[], str]] = {
    "date": patterns.DATE,
    "time": patterns.TIME,
    "date-time": patterns.DATE_TIME,
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
    "regex": regex,
}

_ANYTHING = r"[^]*"
_WIDE: dict[str, str] = {
    "date": patterns.WIDE_DATE,
    "time": patterns.WIDE_TIME,
    "date-time": f"{patterns.WIDE_DATE}[Tt ]{patterns.WIDE_TIME}",
    "email": "[^]*@[^]*",
    "idn-email": "[^]*@[^]*",
    "hostname": r"[A-Za-z0-9_.-]*",
    "idn-hostname": _ANYTHING,
    "uri-template": r"[^ \"<>\\^`|]*",
    "relative-json-pointer": rf"(?:0|[1-9]\d*)(?:[+-]\d+)?(?:#|{patterns.JSON_POINTER})",
    "regex": _ANYTHING,
}

_MAILBOXES = ("email", "idn-email")

KNOWN_FORMATS: frozenset[str] = frozenset(_PATTERNS)
"""Formats that are enforced."""

WIDENED: frozenset[str] = frozenset(_WIDE)
"""Formats with a wide reading besides the one that is enforced."""

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
    "idn-hostname": (1, 253),
    "email": (3, 254),
    "idn-email": (3, 254),
}
"""Total lengths in code points (RFC 1123 2.1, RFC 5321 4.5.3.1.3; see :mod:`.idn`) that the
automaton does not count: intersect them with the schema's own length bounds."""

NARROWED: Mapping[str, str] = {
    "date": "years 0001 to 9999",
    "time": "leap seconds with offsets of whole and half hours only",
    "date-time": "years 0001 to 9999; leap seconds at the end of June and December and in UTC only",
    "idn-email": "domains as in idn-hostname",
    "hostname": "no A-labels (xn--...)",
    "idn-hostname": f"no A-labels (xn--...); with labels beyond ASCII at most {MOST_LABELS} "
    "labels, each at most 12 lower-case Latin, Greek or Cyrillic characters, or 8 Han, Hiragana or "
    "Hangul ones, one script a label, no hyphens",
    "uri-template": "no reserved operators",
    "relative-json-pointer": "no index manipulation (+1, -1)",
    "regex": "groups at most 3 deep, lookahead and lookbehind without groups, class ranges "
    "from 0, 1, a or A, at most 999 repeats; no named groups, back-references or properties",
}
"""Where a format allows less than its RFC, and what it allows."""

_WHAT = {
    "date": "a date (YYYY-MM-DD)",
    "time": "a time with offset (RFC 3339)",
    "date-time": "a date-time (RFC 3339)",
    "duration": "a duration (ISO 8601, like P1DT2H)",
    "email": "an email address",
    "idn-email": "an email address",
    "regex": "a regular expression",
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
def format_table(name: str, wide: bool = False) -> Table:
    """The automaton of a known format, minimal. `wide`: of all that may be called it."""
    wide = wide and name in WIDENED
    pattern = _WIDE[name] if wide else _PATTERNS[name]
    made = compile_regex(f"^(?:{pattern if isinstance(pattern, str) else pattern()})$")
    return intersection(made, local_octets()) if name in _MAILBOXES and not wide else made


def what(name: str) -> str:
    """A known format in words, for messages."""
    return _WHAT[name]
