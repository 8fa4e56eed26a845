"""How a refused place is shown: `calligram.cli.caret`."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from calligram.cli.caret import caret_lines, character_index, line_and_column


@pytest.mark.parametrize(
    ("text", "position", "index"),
    [
        ("abc", 0, 0),
        ("abc", 3, 3),
        ("éa", 2, 1),
        ("éa", 1, 0),  # inside the character
        ("日本", 3, 1),
        ("🎉x", 4, 1),
        ("", 0, 0),
    ],
)
def test_a_byte_position_is_the_character_that_holds_it(
    text: str, position: int, index: int
) -> None:
    assert character_index(text, position) == index


@pytest.mark.parametrize(
    ("text", "index", "place"),
    [
        ("abc", 1, (1, 2)),
        ("a\nbc", 2, (2, 1)),
        ("a\n", 2, (2, 1)),
        ("a\nb", 1, (1, 2)),
        ("", 0, (1, 1)),
    ],
)
def test_lines_and_columns_count_from_one(text: str, index: int, place: tuple[int, int]) -> None:
    assert line_and_column(text, index) == place


def pointed(text: str, index: int, width: int = 80) -> str:
    """What stands over the caret."""
    *_, line, caret = caret_lines(text, index, width)
    cell = cell_len(caret) - 1
    for n in range(len(line) + 1):
        if cell_len(line[:n]) == cell:
            return line[n : n + 1]
    raise AssertionError((line, caret))


@pytest.mark.parametrize(
    ("text", "index", "over"),
    [
        ("abc", 0, "a"),
        ("abc", 2, "c"),
        ("abc", 3, ""),
        ("日本語x", 3, "x"),
        ("日本語x", 1, "本"),
        ("\t\x00\x1bx", 3, "x"),
        ("a\tb", 1, "→"),
        ("a\x00b", 1, "␀"),
        ("a\nb", 1, "↵"),
        ("e\u0301x", 2, "x"),
        ("a\u202eb", 2, "b"),
        ("one\ntwo\nthree", 9, "h"),
        ("a" * 500 + "X" + "b" * 500, 500, "X"),
        ("日" * 500 + "X", 500, "X"),
        ("\x00" * 500 + "X", 500, "X"),
    ],
)
def test_the_caret_stands_under_the_character(text: str, index: int, over: str) -> None:
    assert pointed(text, index) == over


@pytest.mark.parametrize("filler", ["a", "日", "\x07", "\u202e", "🎉"])
@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(filler: str, width: int) -> None:
    for index in (0, 150, 299):
        lines = caret_lines(f"{filler * 300}\n{filler * 300}", 301 + index, width)
        assert max(map(cell_len, lines)) <= max(width, 25)


def test_cut_lines_say_so() -> None:
    *_, line, _ = caret_lines("a" * 300, 150, 60)
    assert line.startswith("1 │ …") and line.endswith("…")


def test_the_lines_before_are_shown_up_to_two() -> None:
    lines = caret_lines("1\n2\n3\n4\n5", 8, 80)
    assert lines == ["3 │ 3↵", "4 │ 4↵", "5 │ 5", "    ^"]


def test_nothing_that_a_terminal_obeys_is_printed() -> None:
    text = "".join(map(chr, range(0x20))) + "\x7f\x9b\u2028\u202e\ufeff"
    for line in caret_lines(text, len(text), 200):
        assert all(c.isprintable() for c in line)
