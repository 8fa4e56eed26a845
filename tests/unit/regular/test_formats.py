"""Formats: by RFC, and no more than validators in use accept but where those know less than it."""

from __future__ import annotations

import calendar
import datetime
import ipaddress
import re
import uuid
import warnings
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from calligram.compiler.regular import formats
from calligram.compiler.regular.dfa import Dfa
from calligram.compiler.regular.language import Language
from calligram.compiler.regular.regex_parser import parse_regex

ROWS: list[tuple[str, list[str], list[str]]] = [
    (
        "date",
        ["2024-02-29", "2000-02-29", "0001-01-01", "9999-12-31", "1999-04-30"],
        ["2023-02-29", "1900-02-29", "2024-13-01", "2024-00-10", "2024-04-31", "24-01-01",
         "0000-01-01", "2024-1-1", "2024-01-01 ", "2024-01-32", "\u0662024-01-01"],
    ),
    (
        "time",
        # 23:59:60 UTC is 01:29:60 half past one hours east, and 15:59:60 eight hours west.
        ["00:00:00Z", "23:59:59+23:59", "12:30:00.123456789-05:30", "12:00:00z", "23:59:60Z",
         "23:59:60.5+00:00", "23:59:60-00:00", "01:29:60+01:30", "15:59:60-08:00",
         "23:29:60+23:30", "00:29:60-23:30", "05:29:60.99+05:30", "20:29:60-03:30"],
        ["24:00:00Z", "12:60:00Z", "12:00:60Z", "12:00:00", "12:00Z", "12:00:00.Z",
         "12:00:00+5:00", "12:00:00+24:00", "23:59:61Z", "23:58:60Z", "22:59:60Z",
         "23:59:60+01:00", "23:59:60-01:00", "00:59:60-01:00", "22:59:60+01:00", "23:59:60",
         "01:30:60+01:30", "24:59:60+01:00"],
    ),
    (
        "date-time",
        ["2024-02-29T12:00:00Z", "1985-04-12T23:20:50.52Z", "1990-12-31T15:59:59-08:00",
         "2024-02-29t12:00:00z", "1990-12-31T23:59:60Z", "2015-06-30T23:59:60.5+00:00"],
        ["2024-02-30T12:00:00Z", "2024-02-29 12:00:00Z", "2024-02-29T12:00:00", "2024-02-29",
         "1990-12-30T23:59:60Z", "1990-05-31T23:59:60Z", "0000-12-31T23:59:60Z",
         "1990-12-31T23:59:60-08:00", "1990-12-31T23:58:60Z"],
    ),
    (
        "duration",
        ["P1D", "PT1S", "P1Y2M3DT4H5M6S", "P2W", "PT36H", "P0D", "P1YT5S", "P1M", "PT1M"],
        ["P", "PT", "1D", "P1", "P1DT", "P1Y3D", "PT1H5S", "P1W2D", "P1D1Y", "P-1D", "PT1.5S"],
    ),
    (
        "email",
        ["a@b", "joe.bloggs@example.com", "a+b@x-y.org", '"a b"@c.de', '"\\""@c', "~!#$%@x.y",
         "a" * 64 + "@example.com", '""@b', '"' + "a" * 62 + '"@b', '"' + "\\\"" * 31 + '"@b',
         '"a@b"@c', "a@xn--exmple-cua", "a@[127.0.0.1]", "a@[IPv6:::1]", "a@[ipv6:1:2:3::4:5:6]",
         "a@[IPv6:1:2:3:4:5:6:7:8]", "a@[IPv6:1:2::1.2.3.4]"],
        ["a", "@b", "a@", "a..b@c", ".a@b", "a.@b", "a b@c", "a@b@c", "a@-b", "a@b-", "a@b..c",
         "a@b.", "é@b", "a" * 65 + "@example.com", '"a@b', 'a"b@c',
         '"' + "a" * 63 + '"@b', '"' + "\\\"" * 31 + 'a"@b', '"a"b@c', '"a\\"@b', "a@[127.0.0.300]",
         "a@[1.2.3]", "a@[::1]", "a@[IPv6:1.2.3.4]", "a@[IPv6:1::2:3:4:5:6:7]", "a@[x:y]",
         "a@[127.0.0.1", "a@" + "b" * 64],
    ),
    (
        "idn-email",
        ["a@b", "héloïse@exämple.de", "实例@例子", "joe@example.com", '"δοκιμή"@b',
         "é" * 32 + "@b", "例" * 21 + "a@b", "𝕏" * 16 + "@b", "\x85@b", "\uffff@b",
         "a@" + "b." * 100 + "c", "a@[127.0.0.1]", "e\u0301@b", '"é@é"@b'],
        ["é", "@b", "é@", "é é@b", "é..é@b", "é@-x", "é@b_c", "é" * 32 + "a@b", "例" * 21 + "aa@b",
         "𝕏" * 16 + "a@b", '"' + "é" * 31 + 'a"@b', "user\uff20example.com", ".é@b", "é.@b"],
    ),
    (
        "hostname",
        ["a", "example.com", "1.2.3.4", "a-b.c", "a" * 63, "A.b", "a--b", "xn-a.xn"],
        ["xn--exmple-cua.com", "a.XN--X", "xn--", "", "-a", "a-", "a..b", ".a", "a.",
         "a_b", "exämple.com", "a" * 64, "a b"],
    ),
    (
        "idn-hostname",
        ["example.com", "exämple.com", "例子.测试", "пример.рф", "παράδειγμα", "실례.테스트",
         "a1-b", "a" * 63, "a." * 100 + "b", "www.例子.co.jp"],
        ["", "-a", "a..b", "Exämple", "xn--x", "aa--b", "a_b", "éп", "ﬀ", "e\u0301", "a" * 64,
         "ä" * 13, "\u302e", "〮실", "a.b.c.d.ä"],
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
         "mailto:a@b.c", "a:", "file:///etc/hosts", "http://[::1]/", "x+y.z-1:/%20", "http://?q",
         "http://[v1.fe:~]", "http://[VaF.x]:80/"],
        ["", "//example.com", "example.com", "http://a b", "http://[::1", "1a:b", "a:%2", "a:#b#c",
         "http://example.com/ü", "http://a:b/", "a:\\b", "a:<b>", "http://[1.2.3.4]",
         "http://[v.x]", "http://[v1.]", "http://[vg.x]", "http://[v1.%20]"],
    ),
    (
        "uri-reference",
        ["", "//example.com/a", "/a/b", "a/b", "?q", "#f", "../a", "http://x", "a:b", "./a:b"],
        ["a b", "\\\\host\\share", "%zz", "#a#b", "/a|b", "ü", "1a:b"],
    ),
    (
        "iri",
        ["http://exämple.de/ü?ö#ä", "http://例子.测试/路", "urn:x", "a:?\ue000", "http://[V1.fe]",
         "http://ü@[2001:db8::1]:80/ü"],
        ["http://[v1.ü]", "", "/ü", "a:\ue000", "a:\ufffe", "a: ", "http://a b"],
    ),
    ("iri-reference", ["", "/ü", "ü#ä", "//ü", "http://ü"], ["ü ü", "#\ue000", "ü:b", "%ü"]),
    (
        "uri-template",
        ["", "http://x/{id}", "/a{?q,r*}", "{+path:12}", "{#a.b}", "é", "{a%20}", "%41", "a'b",
         "'{;a,b}'", "{.a}{/a}{&a}"],
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
    (
        "regex",
        ["", "a", "^[a-z]+$", "(a|b)*c{2,3}?", r"\d{4}-\d\d", r"[^\]\-]{9,}", "a(?=b)(?!c|d)", "|",
         "((a)(?:b(c)+)?)", r"\x41\u00e9", r"\/\.\$", "é\"<>", "a{3}b{0,10}", r"\bx\B", "()",
         "[]", "[^]", "([])*", r"\cA", r"[\cz]", "(?<=a+)b", "(?<!a|b)", "(?<=x)(?<!y)z"],
        ["(", ")", "[", "]", "{", "}", "*", "a**", "a+*", "^*", "(?=a)+", "[]]", "(?<=a)+", "(?<=a",
         r"\c", r"\c1", r"\cé", "[z-a]", "[a-\\d]",
         "a{3,2}", "a{,2}", "\\", r"\a", r"\Z", r"\-", r"\1", r"\k<n>", r"\u12", r"\p{L}",
         "(?P<n>a)", "(?i)a", "(?#c)", "(?>a)", "^(abc]", "((((a))))", "a\n"],
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
    assert set(formats.NARROWED) <= formats.WIDENED <= formats.KNOWN_FORMATS
    assert set(formats.FORMAT_LENGTHS) <= formats.KNOWN_FORMATS
    assert not formats.KNOWN_FORMATS & formats.ANNOTATION_FORMATS


@pytest.mark.parametrize("name", ["int32", "password", "no-such-format"])
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


ECMA_ONLY = re.compile(r"\[\^?\]|\\c|\(\?<")
"""Empty classes and control escapes, which Python's expressions do not have, and lookbehinds, which
they have for fixed lengths only. Taken by some texts that have none, too."""

# What the RFC or ECMA-262 allows and jsonschema's checkers, made of Python's parsers, do not.
BEYOND_PYTHON = defaultdict(
    lambda: re.compile("(?!)"),
    {
        "date-time": re.compile(":60"),
        "time": re.compile(":60[^:]*$|:60[^:]*[+-]"),
        "regex": ECMA_ONLY,
    },
)


@pytest.mark.parametrize("name", sorted(formats.KNOWN_FORMATS))
def test_jsonschema_accepts_every_word(name: str) -> None:
    checker = Draft202012Validator.FORMAT_CHECKER
    made = dfa(name)
    rows = next(row[1] for row in ROWS if row[0] == name)
    for word in [*rows, *made.words(300), made.shortest() or ""]:
        if not BEYOND_PYTHON[name].search(word):
            checker.check(word, name)


@pytest.mark.parametrize("name", sorted(formats.KNOWN_FORMATS))
def test_the_wide_reading_holds_all_that_is_written(name: str) -> None:
    narrow = Language.format(name)
    assert narrow is not None
    assert (narrow.wide is narrow) == (name not in formats.WIDENED)
    assert (narrow - narrow).is_empty
    assert not narrow.wide.is_empty


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("time", "00:44:60+00:45"),
        ("date-time", "1998-12-31T15:59:60.123-08:00"),
        ("date", "0000-01-01"),
        ("hostname", "xn--exmple-cua.com"),
        ("email", "a@b c"),
        ("idn-hostname", "a。b"),
        ("uri-template", "{=a}"),
        ("relative-json-pointer", "0+1"),
        ("regex", "(?<n>a)"),
    ],
)
def test_what_is_not_written_is_still_of_the_format(name: str, left_out: str) -> None:
    found = Language.format(name)
    assert found is not None
    assert not found.accepts(left_out)
    assert not (~found).accepts(left_out) and not (~found).dfa.accepts(left_out)
    assert not (Language.any() - (found | Language.words(["x"]))).accepts(left_out)


def test_a_negation_negated_is_the_format_again() -> None:
    host = Language.format("hostname")
    assert host is not None
    assert ~~host is host
    twice = ~(~host & Language.any())
    assert twice.accepts("a.b") and not twice.accepts("xn--a")


def test_total_lengths_count_where_a_text_is_tried() -> None:
    host = Language.format("hostname")
    assert host is not None
    long = "a." * 127 + "a"
    assert host.dfa.accepts(long) and not host.accepts(long)
    assert not (host | Language.words(["b"])).accepts(long)
    assert host.accepts("a." * 126 + "a")


def octets(name: str) -> int:
    """Octets of a host name with its labels as A-labels (RFC 3492)."""
    labels = name.split(".")
    sizes = [len(x) if x.isascii() else 4 + len(x.encode("punycode")) for x in labels]
    return sum(sizes) + len(labels) - 1


@pytest.mark.parametrize("letter", ["ä", "\u0219", "ώ", "џ", "\u3096", "龿", "\ud7a3"])
@pytest.mark.parametrize("length", [1, 3, 8, 12])
def test_the_longest_names_beyond_ascii_stay_within_253_octets(letter: str, length: int) -> None:
    host = Language.format("idn-hostname")
    assert host is not None
    label = "z" * (length - 1) + letter
    if not host.accepts(label):
        assert length == 12 and letter > "\u0500"
        return
    assert octets(label) <= 63
    most = ".".join([*["a" * 63] * 3, label])
    assert host.accepts(most) and octets(most) <= 253
    assert not host.accepts(f"{most}.a")
    assert not host.accepts(".".join([label] * 5))


@given(st.lists(st.integers(0, 2**16), min_size=1, max_size=60))
@settings(max_examples=300)
def test_every_regex_written_is_one_to_two_readers(choices: list[int]) -> None:
    made, state, text = dfa("regex"), 0, ""
    for choice in choices:
        moves = made.transitions[state]
        low, high, state = moves[choice % len(moves)]
        text += chr(low + choice % min(high - low + 1, 60))
        if state in made.accepting:
            parse_regex(text)
            if ECMA_ONLY.search(text):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                re.compile(text)


def test_total_lengths_are_split_off() -> None:
    host = Language.format("hostname")
    assert host is not None
    assert host.split_length() == (host, 1, 253)
    both = host & Language.avoiding(["x"])
    assert both.split_length()[1:] == (1, 253)


def test_making_a_format_is_quick_enough_to_be_done_on_demand() -> None:
    # Sizes stand for time here: they do not depend on the machine.
    sizes = {name: len(dfa(name).transitions) for name in formats.KNOWN_FORMATS}
    assert max(sizes.values()) < 1_600, sizes
    rare = {"email", "idn-email", "idn-hostname", "time"}
    assert max(n for name, n in sizes.items() if name not in rare) < 400, sizes
