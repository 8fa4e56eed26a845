"""The regular expressions of the formats, not anchored, each from the grammar of its RFC."""

from __future__ import annotations

from dataclasses import dataclass

# RFC 3339 5.6 full-date, with the real calendar: months by length, February by leap years (5.7 and
# appendix C). Year 0000 is left out: many implementations have none.
_YEAR = r"(?!0000)\d{4}"
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    r"|02-(?:0[1-9]|1\d|2[0-8]))"
    rf"|{_LEAP_YEAR}-02-29)"
)
# RFC 3339 5.6 full-time, but for leap seconds.
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)"
_LEAP_UTC = r"23:59:60(?:\.\d+)?(?:[Zz]|[+-]00:00)"


def _leap_seconds() -> str:
    """RFC 3339 5.7: second 60 where it is 23:59 UTC, so at one local minute for each offset.

    Of offsets, whole and half hours: each local minute is remembered from its digits to the
    offset's, which for all 1,440 of them would take thousands of states.
    """
    options = [_LEAP_UTC]
    for offset in range(30, 24 * 60, 30):
        for sign, east in (("+", offset), ("-", -offset)):
            hour, minute = divmod((23 * 60 + 59 + east) % (24 * 60), 60)
            spelled = f"{offset // 60:02}:{offset % 60:02}"
            options.append(rf"{hour:02}:{minute:02}:60(?:\.\d+)?[{sign}]{spelled}")
    return "|".join(options)


TIME = f"(?:{_TIME}|{_leap_seconds()})"
# A leap second ends June or December (RFC 3339 5.7). Only in UTC here, where dates are no others.
DATE_TIME = rf"(?:{DATE}[Tt]{_TIME}|{_YEAR}-(?:06-30|12-31)[Tt]{_LEAP_UTC})"
# Years and leap seconds of any kind, and what RFC 3339 5.6 and ISO 8601 leave to agreement.
WIDE_DATE = r"\d{4}-?\d\d-?\d\d"
WIDE_TIME = r"\d\d:?\d\d(?::?\d\d(?:[.,]\d*)?)?(?:[Zz]|[+-]\d\d:?(?:\d\d)?)?"

# RFC 3339 appendix A: units in order, none left out in the middle.
_DURATION_TIME = r"T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)"
_DURATION_DATE = r"(?:\d+D|\d+M(?:\d+D)?|\d+Y(?:\d+M(?:\d+D)?)?)"
DURATION = rf"P(?:{_DURATION_DATE}(?:{_DURATION_TIME})?|{_DURATION_TIME}|\d+W)"

# RFC 1123 2.1 on RFC 952: letters, digits, inner hyphens, labels of at most 63. Without A-labels
# (RFC 5890 2.3.2.1): whether what follows `xn--` is one takes Punycode to tell.
LABEL = r"(?![Xx][Nn]--)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
HOSTNAME = rf"{LABEL}(?:\.{LABEL})*"

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
# RFC 2673 3.2 dotted-quad, without leading zeros (RFC 6943 3.1.1).
IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"

_GROUP = r"[0-9A-Fa-f]{1,4}"
_LAST = rf"(?:{_GROUP}:{_GROUP}|{IPV4})"


def _ipv6(hidden: int) -> str:
    """RFC 4291 2.2: eight groups, or fewer around one `::`; the last two may be an IPv4 address.

    `hidden`: least groups that `::` stands for.
    """
    options = [rf"(?:{_GROUP}:){{6}}{_LAST}"]
    for before in range(9 - hidden):
        left = f"{_GROUP}(?::{_GROUP}){{{before - 1}}}" if before else ""
        after = 8 - hidden - before
        tails = [""]
        if after >= 1:
            tails.append(_GROUP)
        if after >= 2:
            tails.append(f"(?:{_GROUP}:){{0,{after - 2}}}{_LAST}")
        options.append(f"{left}::(?:{'|'.join(tails)})")
    return "(?:" + "|".join(options) + ")"


IPV6 = _ipv6(1)

# RFC 5321 4.1.2 Mailbox: Dot-string or Quoted-string, @, Domain or address literal (4.1.3, where
# `::` stands for two groups at least). Domains are of any letters, digits and hyphens, what starts
# with `xn--` too. The octets of the local part are counted in :mod:`.mailbox`.
_LDH_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LITERAL = rf"\[(?:{IPV4}|[Ii][Pp][Vv]6:{_ipv6(2)})\]"


def mailbox(more: str, domain: str) -> str:
    """An address; `more`: characters of the local part beyond ASCII (RFC 6531 3.3)."""
    atom = rf"[A-Za-z0-9!#$%&'*+/=?^_`{{|}}~\-{more}]+"
    quoted = rf'"(?:[\x20\x21\x23-\x5b\x5d-\x7e{more}]|\\[\x20-\x7e])*"'
    return rf"(?:{atom}(?:\.{atom})*|{quoted})@(?:{domain}|{_LITERAL})"


EMAIL = mailbox("", rf"{_LDH_LABEL}(?:\.{_LDH_LABEL})*")

UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

# RFC 6901 3.
JSON_POINTER = r"(?:/(?:[^~/]|~[01])*)*"
# draft-bhutton-relative-json-pointer-00, without index manipulation.
RELATIVE_JSON_POINTER = rf"(?:0|[1-9]\d*)(?:#|{JSON_POINTER})"


@dataclass(frozen=True, slots=True)
class Repertoire:
    """Characters beyond RFC 3986's that an identifier may hold: in general, and in queries."""

    other: str
    private: str


ASCII = Repertoire("", "")
# RFC 3987 2.2 ucschar and iprivate.
UNICODE = Repertoire(
    r"\xA0-\uD7FF\uF900-\uFDCF\uFDF0-\uFFEF"
    + "".join(
        f"\\u{{{0x10000 * plane + (0x1000 if plane == 14 else 0):X}}}-\\u{{{plane:X}FFFD}}"
        for plane in range(1, 15)
    ),
    r"\uE000-\uF8FF\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}",
)


def uri(more: Repertoire, *, absolute: bool) -> str:
    """RFC 3986 appendix A: URI, or (not absolute) URI-reference; with `more`, RFC 3987's IRI."""
    plain = rf"A-Za-z0-9\-._~!$&'()*+,;={more.other}"
    encoded = "%[0-9A-Fa-f]{2}"
    pchar = rf"(?:[{plain}:@]|{encoded})"
    no_colon = rf"(?:[{plain}@]|{encoded})"
    later = r"[vV][0-9A-Fa-f]+\.[A-Za-z0-9\-._~!$&'()*+,;=:]+"
    host = rf"(?:\[(?:{IPV6}|{later})\]|(?:[{plain}]|{encoded})*)"
    authority = rf"(?:(?:[{plain}:]|{encoded})*@)?{host}(?::\d*)?"
    segments = f"(?:/{pchar}*)*"
    rooted = f"(?://{authority}{segments}|/(?:{pchar}+{segments})?"
    query = rf"(?:\?(?:[{plain}:@/?{more.private}]|{encoded})*)?"
    fragment = rf"(?:#(?:[{plain}:@/?]|{encoded})*)?"
    full = rf"[A-Za-z][A-Za-z0-9+.\-]*:{rooted}|{pchar}+{segments}|)"
    relative = f"{rooted}|{no_colon}+{segments}|)"
    path = full if absolute else f"(?:{full}|{relative})"
    return f"{path}{query}{fragment}"


def _uri_template() -> str:
    """RFC 6570 2: literals (with the `'` of erratum 6937) and expressions, without the operators
    reserved for later."""
    encoded = "%[0-9A-Fa-f]{2}"
    literal = (
        r"[\x21\x23\x24\x26-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E"
        f"{UNICODE.other}{UNICODE.private}]"
    )
    varchar = f"(?:[A-Za-z0-9_]|{encoded})"
    name = rf"{varchar}(?:\.?{varchar})*"
    spec = rf"{name}(?::[1-9]\d{{0,3}}|\*)?"
    expression = rf"\{{[+#./;?&]?{spec}(?:,{spec})*\}}"
    return f"(?:{literal}|{encoded}|{expression})*"


URI_TEMPLATE = _uri_template()
