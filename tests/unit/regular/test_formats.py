"""Formats: by RFC, and never more than validators in use accept."""

from __future__ import annotations

import calendar
import datetime
import ipaddress
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from calligram.compiler.regular import formats
from calligram.compiler.regular.dfa import Dfa
from calligram.compiler.regular.language import Language

ROWS: list[tuple[str, list[str], list[str]]] = [
    (
        "date",
        ["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "1999-04-30"],
        ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "24-01-01",
         "0000-01-01", "2024-1-1", "2024-01-01 ", "2024-01-32", "\u0662024-01-01"],
    ),
    (
        "time",
        ["00:00:00Z", "23:59:59+23:59", "12:30:00.123456789-05:30"],
        ["24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:00", "12:00Z", "12:00:00z", "12:00:00.Z",
         "12:00:00+5:00", "12:00:00+24:00"],
    ),
    (
        "date-time",
        ["2024-02-29T12:00:00Z", "1985-04-12T23:20:50.52Z", "1990-12-31T15:59:59-08:00"],
        ["2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29T12:00:00", "2024-02-29",
         "2024-02-29t12:00:00Z", "1990-12-31T23:59:60Z"],
    ),
    (
        "duration",
        ["P1D", "PT1S", "P1Y2M3DT4H5M6S", "P2W", "PT36H", "P0D", "P1YT5S", "P1M", "PT1M"],
        ["P", "PT", "1D", "P1", "P1DT", "P1Y3D", "PT1H5S", "P1W2D", "P1D1Y", "P-1D", "PT1.5S"],
    ),
    (
        "email",
        ["a@b", "joe.bloggs@example.com", "a+b@x-y.org", '"a b"@c.de', '"\\""@c', "~!#$%@x.y",
         "a" * 64 + "@example.com"],
        ["a", "@b", "a@", "a..b@c", ".a@b", "a.@b", "a b@c", "a@b@c", "a@-b", "a@b-", "a@b..c",
         "a@b.", "é@b", "a" * 65 + "@example.com", '"a@b', 'a"b@c'],
    ),
    (
        "idn-email",
        ["a@b", "héloïse@exämple.de", "实例@例子", "joe@example.com"],
        ["é", "@b", "é@", "é é@b", "é..é@b", "é@-x", "é@b_c"],
    ),
    (
        "hostname",
        ["a", "example.com", "xn--exmple-cua.com", "1.2.3.4", "a-b.c", "a" * 63, "A.b"],
        ["", "-a", "a-", "a..b", ".a", "a.", "a_b", "exämple.com", "a" * 64, "a b"],
    ),
    (
        "idn-hostname",
        ["example.com", "exämple.com", "例子.测试", "пример.рф", "παράδειγμα", "실례.테스트",
         "a1-b"],
        ["", "-a", "a..b", "Exämple", "xn--x", "aa--b", "a_b", "éп", "ﬀ", "e\u0301", "a" * 64,
         "ä" * 13, "\u302e", "〮실"],
    ),
    (
        "ipv4",
        ["0.0.0.0", "127.0.0.1", "255.255.255.255"],
        ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.", "1.2.3.4 ", "0x7f.1.1.1"],
    ),
    (
        "ipv6",
        ["::", "::1", "1::", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::",
         "::2:3:4:5:6:7:8", "::ffff:192.0.2.1", "1:2:3:4:5:6:1.2.3.4", "1::1.2.3.4", "ABCD::"],
        ["", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "::g",
         "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "1.2.3.4", "fe80::1%eth0", "1:2:3:4:5:6:7:8::",
         "1:2:3:4::5:6:7:8", "::1.2.3.4:5"],
    ),
    (
        "uri",
        ["http://example.com", "https://user:pw@example.com:8080/a/b?c=d&e=/?#f", "urn:isbn:1",
         "mailto:a@b.c", "a:", "file:///etc/hosts", "http://[::1]/", "x+y.z-1:/%20", "http://?q"],
        ["", "//example.com", "example.com", "http://a b", "http://[::1", "1a:b", "a:%2", "a:#b#c",
         "http://example.com/ü", "http://a:b/", "a:\\b", "a:<b>", "http://[1.2.3.4]"],
    ),
    (
        "uri-reference",
        ["", "//example.com/a", "/a/b", "a/b", "?q", "#f", "../a", "http://x", "a:b", "./a:b"],
        ["a b", "\\\\host\\share", "%zz", "#a#b", "/a|b", "ü", "1a:b"],
    ),
    (
        "iri",
        ["http://exämple.de/ü?ö#ä", "http://例子.测试/路", "urn:x", "a:?\ue000"],
        ["", "/ü", "a:\ue000", "a:\ufffe", "a: ", "http://a b"],
    ),
    ("iri-reference", ["", "/ü", "ü#ä", "//ü", "http://ü"], ["ü ü", "#\ue000", "ü:b", "%ü"]),
    (
        "uri-template",
        ["", "http://x/{id}", "/a{?q,r*}", "{+path:12}", "{#a.b}", "é", "{a%20}", "%41"],
        ["{", "}", "{}", "{a", "{a b}", "{a:0}", "{a:12345}", "a b", '"', "{=a}", "%4", "{.a.}"],
    ),
    (
        "uuid",
        ["00000000-0000-0000-0000-000000000000", "2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
        ["2eb8aa08-aa98-11ea-b4aa-73b441d1638", "2eb8aa08aa9811eab4aa73b441d16380",
         "2eb8aa08-aa98-11ea-b4aa73b441d16380", "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
         "2eb8aa08-aa98-11ea-b4ga-73b441d16380"],
    ),
    ("json-pointer", ["", "/", "/a/b", "/a~0~1", "//", "/ü"], ["a", "/~", "/~2", "#/a"]),
    (
        "relative-json-pointer",
        ["0", "1/a", "12#", "0/"],
        ["", "01", "-1", "/a", "0##", "1a", "+1"],
    ),
]  # fmt: skip


def dfa(name: str) -> Dfa:
    found = Language.format(name)
    assert found is not None
    return found.dfa


@pytest.mark.parametrize(("name", "accepts", "rejects"), ROWS, ids=[row[0] for row in ROWS])
def test_format(name: str, accepts: list[str], rejects: list[str]) -> None:
    found = dfa(name)
    assert [text for text in accepts if not found.accepts(text)] == []
    assert [text for text in rejects if found.accepts(text)] == []


def test_every_known_format_has_rows_and_words() -> None:
    assert {row[0] for row in ROWS} == formats.KNOWN_FORMATS
    assert all(formats.what(name) for name in formats.KNOWN_FORMATS)
    assert set(formats.NARROWED) | set(formats.FORMAT_LENGTHS) <= formats.KNOWN_FORMATS
    known = formats.KNOWN_FORMATS
    assert not known & formats.ANNOTATION_FORMATS and not known & set(formats.NOT_REGULAR)


@pytest.mark.parametrize("name", ["regex", "int32", "password", "no-such-format"])
def test_what_no_automaton_asserts_is_none(name: str) -> None:
    assert Language.format(name) is None


@given(st.dates())
def test_every_date_is_accepted(date: datetime.date) -> None:
    assert dfa("date").accepts(date.isoformat())


@given(st.integers(1, 9999), st.integers(0, 13), st.integers(0, 32))
def test_no_other_day_is(year: int, month: int, day: int) -> None:
    real = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
    assert dfa("date").accepts(f"{year:04}-{month:02}-{day:02}") == real
    assert dfa("date-time").accepts(f"{year:04}-{month:02}-{day:02}T00:00:00Z") == real


@given(st.ip_addresses(v=6), st.uuids())
def test_addresses_and_uuids_are_accepted(
    address: ipaddress.IPv6Address, number: uuid.UUID
) -> None:
    for text in (address.compressed, address.exploded, address.compressed.upper()):
        assert dfa("ipv6").accepts(text)
    assert dfa("uuid").accepts(str(number))


@given(st.text("0123456789abcdef:.", max_size=20) | st.from_regex(r"([0-9a-f]{0,2}:){2,8}[0-9.]*"))
@settings(max_examples=300)
def test_ipv6_is_what_the_standard_library_says(text: str) -> None:
    try:
        ipaddress.IPv6Address(text)
        valid = True
    except ValueError:
        valid = False
    # The library takes any number of leading zeros in a group's four digits; so does the RFC.
    assert dfa("ipv6").accepts(text) == valid


@pytest.mark.parametrize("name", sorted(formats.KNOWN_FORMATS))
def test_jsonschema_accepts_every_word(name: str) -> None:
    checker = Draft202012Validator.FORMAT_CHECKER
    made = dfa(name)
    rows = next(row[1] for row in ROWS if row[0] == name)
    for word in [*rows, *made.words(300), made.shortest() or ""]:
        checker.check(word, name)


def test_total_lengths_are_split_off() -> None:
    host = Language.format("hostname")
    assert host is not None
    assert host.split_length() == (host, 1, 253)
    both = host & Language.avoiding(["x"])
    assert both.split_length()[1:] == (1, 253)


def test_making_a_format_is_quick_enough_to_be_done_on_demand() -> None:
    # Sizes stand for time here: they do not depend on the machine.
    sizes = {name: len(dfa(name).transitions) for name in formats.KNOWN_FORMATS}
    assert max(sizes.values()) < 400, sizes
