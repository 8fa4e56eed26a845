"""A bar chart of shares as one SVG file: groups side by side, a bar a series."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from .plot import BOTTOM, COLOURS, DARK, HEIGHT, LEFT, RIGHT, STYLE, TOP, WIDTH, framed, words_at

LEVELS: Final = (0, 25, 50, 75, 100)
FILLED: Final = 0.78
"""The part of a group's width that its bars take."""


def svg(
    groups: Sequence[str],
    series: Sequence[tuple[str, Sequence[float | None]]],
    title: str,
    subtitle: str,
) -> str:
    """The chart. Same input, same bytes.

    Args:
        groups: what stands below each group.
        series: a name, and a share from 0 to 1 for each group; None has no bar.
    """
    place = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    wide = place * FILLED / max(1, len(series))
    parts = [*_legend([name for name, _ in series]), *_grid()]
    for index, group in enumerate(groups):
        left = LEFT + place * (index + (1 - FILLED) / 2)
        middle = LEFT + place * (index + 0.5)
        parts.append(words_at(middle, HEIGHT - BOTTOM + 20, group, "soft", "middle"))
        for number, (name, shares) in enumerate(series):
            parts += _bar(left + number * wide, wide, number, shares[index], f"{name}, {group}")
    return framed(title, subtitle, _style(len(series)), parts)


def percent(share: float) -> str:
    """A share as a whole percentage; only all is 100 %, and only nothing is 0 %."""
    rounded = round(share * 100)
    return f"{rounded if share in (0, 1) else min(max(rounded, 1), 99)} %"


def _bar(left: float, wide: float, number: int, share: float | None, words: str) -> list[str]:
    """A bar with its percentage above; only a dash where there is no share."""
    if share is None:
        return [words_at(left + wide / 2, _y(0) - 6, "–", "soft", "middle")]
    top = _y(share)
    rectangle = (
        f'<rect class="b{number}" x="{left + 1:.1f}" y="{top:.1f}" width="{wide - 2:.1f}" '
        f'height="{_y(0) - top:.1f}"><title>{escape(words)}: {percent(share)}</title></rect>'
    )
    return [rectangle, words_at(left + wide / 2, top - 6, percent(share), "ink", "middle")]


def _y(share: float) -> float:
    bottom = HEIGHT - BOTTOM
    # Room for the percentages above full bars.
    return bottom - min(max(share, 0.0), 1.0) * (bottom - TOP - 18)


def _grid() -> list[str]:
    parts = []
    for level in LEVELS:
        y = _y(level / 100)
        kind = "grid" if level else "axis"
        right = WIDTH - RIGHT
        parts.append(f'<line class="{kind}" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(words_at(LEFT - 8, y + 4, f"{level} %", "soft", "end"))
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], float(LEFT)
    for number, name in enumerate(names):
        parts.append(f'<rect class="b{number}" x="{x:.0f}" y="63" width="12" height="12"/>')
        parts.append(words_at(x + 18, 73, name, "ink"))
        x += 18 + 7.4 * len(name) + 22
    return parts


def _style(count: int) -> str:
    light, dark = (
        [f".b{i} {{ fill: {COLOURS[i % len(COLOURS)][ground]}; }}" for i in range(count)]
        for ground in (0, 1)
    )
    inside = "\n".join([DARK, *dark])
    return "\n".join([STYLE, *light, f"@media (prefers-color-scheme: dark) {{\n{inside}\n}}"])
