"""URI references: RFC 3986's own examples, and the schemes that schemas use."""

from __future__ import annotations

import pytest

from calligram.compiler.json_schema.uris import resolve_uri, split

BASE = "http://a/b/c/d;p?q"

# RFC 3986, sections 5.4.1 and 5.4.2 (strict parsers).
EXAMPLES = """
g:h g:h
g http://a/b/c/g
./g http://a/b/c/g
g/ http://a/b/c/g/
/g http://a/g
//g http://g
?y http://a/b/c/d;p?y
g?y http://a/b/c/g?y
#s http://a/b/c/d;p?q#s
g#s http://a/b/c/g#s
g?y#s http://a/b/c/g?y#s
;x http://a/b/c/;x
g;x http://a/b/c/g;x
g;x?y#s http://a/b/c/g;x?y#s
. http://a/b/c/
./ http://a/b/c/
.. http://a/b/
../ http://a/b/
../g http://a/b/g
../.. http://a/
../../ http://a/
../../g http://a/g
../../../g http://a/g
../../../../g http://a/g
/./g http://a/g
/../g http://a/g
g. http://a/b/c/g.
.g http://a/b/c/.g
g.. http://a/b/c/g..
..g http://a/b/c/..g
./../g http://a/b/g
./g/. http://a/b/c/g/
g/./h http://a/b/c/g/h
g/../h http://a/b/c/h
g;x=1/./y http://a/b/c/g;x=1/y
g;x=1/../y http://a/b/c/y
g?y/./x http://a/b/c/g?y/./x
g?y/../x http://a/b/c/g?y/../x
g#s/./x http://a/b/c/g#s/./x
g#s/../x http://a/b/c/g#s/../x
http:g http:g
"""


@pytest.mark.parametrize("line", EXAMPLES.strip().splitlines())
def test_the_examples_of_rfc_3986(line: str) -> None:
    reference, target = line.split(" ")
    assert resolve_uri(BASE, reference) == target


def test_an_empty_reference_is_the_base_without_its_fragment() -> None:
    assert resolve_uri(f"{BASE}#old", "") == BASE


@pytest.mark.parametrize(
    ("base", "reference", "target"),
    [
        ("app://host/schemas/a", "b#x", "app://host/schemas/b#x"),
        ("urn:example:a", "#x", "urn:example:a#x"),
        ("urn:example:a?=q", "#x", "urn:example:a?=q#x"),
        ("urn:example:a", "urn:example:b", "urn:example:b"),
        ("http://host", "b", "http://host/b"),
        ("tag:me,2026:schemas/a", "b", "tag:me,2026:schemas/b"),
        ("", "b.json#/x", "b.json#/x"),
        ("", "../b.json", "../b.json"),
        ("schemas/a.json", "./b.json", "schemas/b.json"),
        ("http://[", "b", "http://[/b"),
    ],
)
def test_every_scheme_is_resolved_alike(base: str, reference: str, target: str) -> None:
    assert resolve_uri(base, reference) == target


@pytest.mark.parametrize("text", ["", ":", "//", "a:b:c#d#e", "1:2", "?#", "a\nb#c\nd"])
def test_every_text_is_its_parts(text: str) -> None:
    assert str(split(text)) == text
