"""Regular expressions as a format (JSON Schema validation 7.3.8): a regular subset of ECMA-262.

Brackets nested to any depth are not regular, so groups nest at most :data:`MAX_GROUPS` deep here.
What is said is valid in ECMA-262 (section 22.2.1) with and without the u flag. Group names, which
have to be distinct, and references to them are left out.
"""

from __future__ import annotations

MAX_GROUPS = 3
"""Deepest nesting of groups; a lookahead or lookbehind is one, and holds none."""

_PUNCTUATION = r"\^$\\.*+?()\[\]{}|\/"
_ESCAPE = (
    rf"\\(?:[dDsSwWtnrvf{_PUNCTUATION}]|x[0-9A-Fa-f]{{2}}|u[0-9A-CE-Fa-ce-f][0-9A-Fa-f]{{3}}"
    r"|c[A-Za-z])"
)
_LITERAL = r"[^\^$\\.*+?()\[\]{}|\r\n\u2028\u2029]"


_ORDERED = "|".join(f"{n},[{n}-9]" for n in range(10))
_BOUNDS = rf"\{{(?:\d{{1,3}},?|{_ORDERED}|\d,[1-9]\d{{1,2}})\}}"
"""`{n}` and `{n,}` with n below 1000; `{n,m}` with n below 10, and m below 1000 but not below n."""

_MEMBER = (
    # Without `[`, `&`, `|`, `~` and a bare `-`, of which newer dialects make operators of sets.
    r"(?:0-[1-9]|1-[2-9]|a-[b-z]|A-[B-Z]"
    r"|[0-9A-Za-z_ !\x22#%',./:;<=>@`$*+?(){}]"
    rf"|\\-|{_ESCAPE})"
)


def regex() -> str:
    """The regular expression, not anchored, of the regular expressions of the subset."""
    quantifier = rf"(?:(?:[*+?]|{_BOUNDS})\??)?"
    single = rf"(?:\.|{_LITERAL}|{_ESCAPE}|\[\^?{_MEMBER}*\]){quantifier}"
    assertion = r"\^|\$|\\[bB]"
    flat = rf"(?:\||{assertion}|{single})*"
    around = rf"\(\?<?[=!]{flat}\)"
    inner = flat
    for _ in range(MAX_GROUPS):
        group = rf"\((?:\?:)?{inner}\){quantifier}"
        inner = rf"(?:\||{assertion}|{around}|{single}|{group})*"
    return inner
