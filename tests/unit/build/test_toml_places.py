"""Where keys stand in TOML: every key and item that `tomllib` reads has its place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calligram.build.toml_places import toml_places
from calligram.compiler.origin import escape_pointer

DOCUMENT = '''\
# [comment]
top = 1  # a = 2
"quo.ted" = "# no [comment] \\" \\\\" # one
'lit' = 'a " b'
a.b . "c d" = [1, [2, "]", 3], # in
  {x = 1, y.z = "}"}, ]
multi = """one
[no.table] = 3
\\""" ""two"""""
raw = \'\'\'x
k = '' 1\'\'\'

[table."s/t"]
date = 1979-05-27T07:32:00Z
empty = []
none = {}

  [[rows]]
  name = "first"
  [rows.inner]
  deep = true
  [[rows.more]]
  n = 1
[[rows]]
name = "second"
[rows.inner]
deep = false
'''


def pointers(value: Any, pointer: str = "") -> Iterator[str]:
    """The pointer of everything inside a value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        below = f"{pointer}/{escape_pointer(key)}"
        yield below
        if isinstance(inner, (dict, list)):
            yield from pointers(inner, below)


def test_everything_has_a_place() -> None:
    assert set(toml_places(DOCUMENT)) == set(pointers(tomllib.loads(DOCUMENT)))


@pytest.mark.parametrize(
    ("pointer", "line", "text"),
    [
        ("/top", 2, "top"), ("/quo.ted", 3, '"quo.ted"'), ("/lit", 4, "'lit'"), ("/a", 5, "a."),
        ("/a/b", 5, "b ."), ("/a/b/c d", 5, '"c d"'), ("/a/b/c d/1", 5, '[2, "]"'),
        ("/a/b/c d/1/2", 5, "3]"), ("/a/b/c d/2", 6, "{x"), ("/a/b/c d/2/y/z", 6, 'z = "}"'),
        ("/multi", 7, "multi"), ("/raw", 10, "raw"), ("/table/s~1t", 13, '"s/t"'),
        ("/table/s~1t/none", 16, "none"), ("/rows/0/inner/deep", 21, "deep = true"),
        ("/rows/0/more/0/n", 23, "n = 1"), ("/rows/1", 24, "rows"),
        ("/rows/1/inner/deep", 27, "deep = false"),
    ],
)  # fmt: skip
def test_places(pointer: str, line: int, text: str) -> None:
    found_line, column = toml_places(DOCUMENT)[pointer]
    assert found_line == line
    assert DOCUMENT.split("\n")[line - 1][column - 1 :].startswith(text)


def test_line_breaks_of_windows_count_once() -> None:
    assert toml_places(DOCUMENT.replace("\n", "\r\n")) == toml_places(DOCUMENT)


def test_own_files() -> None:
    text = (Path(__file__).resolve().parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    assert set(toml_places(text)) == set(pointers(tomllib.loads(text)))


# What may stand in one line, valid or not: what is not is no document, and so not looked at.
_PIECES = [
    "a", "b.c", '"d]"', " = ", "= 1", "[", "]", "[[", "]]", "{", "}", ", ", "\n", "# x", '"""',
    "'''", '"s"', "1.5", "\\", "'", '"',
]  # fmt: skip


def has_all_places(text: str) -> None:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(toml_places(text)) == set(pointers(data))


@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_whatever_is_toml_has_all_its_places(text: str) -> None:
    has_all_places(text)


_KEY = st.sampled_from(["a", "b-1", '"x y"', "'q/'", "a.b", 'a."c.d"'])
_VALUE = st.recursive(
    st.sampled_from(["1", '"t"', "'''\n'''", '"""a"\\"""""', "true", "2001-01-01"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda v: f"[{', '.join(v)}]")
        | st.tuples(_KEY, inner).map(lambda p: f"{{ {p[0]} = {p[1]} }}")
    ),
    max_leaves=6,
)
_LINE = st.tuples(_KEY, _VALUE).map(lambda p: f"{p[0]} = {p[1]} # c") | _KEY.flatmap(
    lambda k: st.sampled_from([f"[{k}]", f"[[{k}]]"])
)


@given(st.lists(_LINE, max_size=6).map("\n".join))
def test_documents_of_any_form_have_all_their_places(text: str) -> None:
    has_all_places(text)
