"""A plot of latencies as one SVG file: cumulative distributions over logarithmic time.

The upright axis is logarithmic in what is left above, so that the slowest tokens, which a host
waits for, are as wide as the usual ones: 90 %, 99 % and 99.9 % lie at equal distances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

import numpy as np

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 64, 36, 92, 60
LEVELS: Final = (0.0, 50.0, 90.0, 99.0, 99.9, 99.99)
POINTS: Final = 240

COLOURS: Final = (
    ("#2a78d6", "#5a9ff0"),
    ("#d9541e", "#f0824f"),
    ("#12875c", "#35b987"),
    ("#8a5fc7", "#b08ee6"),
)
"""One engine each, on light and on dark ground; told apart with every kind of colour sight."""

STYLE: Final = """\
svg { color-scheme: light dark; font: 13px system-ui, sans-serif; }
.ground { fill: #fcfcfb; } .ink { fill: #1c1c1a; } .soft { fill: #63625c; }
.grid { stroke: #e2e1dc; stroke-width: 1; } .axis { stroke: #8b8a83; stroke-width: 1; }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.again { stroke-dasharray: 5 4; }
.title { font-size: 16px; font-weight: 600; }"""

DARK: Final = """\
.ground { fill: #1a1a19; } .ink { fill: #f2f1ec; } .soft { fill: #a3a299; }
.grid { stroke: #33332f; } .axis { stroke: #77766e; }"""


@dataclass(frozen=True, slots=True)
class Series:
    """One line: times in microseconds. `again`: of later passes, drawn dashed."""

    name: str
    times: Sequence[float]
    again: bool = False


def svg(series: Sequence[Series], title: str, subtitle: str) -> str:
    """The plot; series without times are left out. Same input, same bytes."""
    shown = [s for s in series if len(s.times)]
    names = list(dict.fromkeys(s.name for s in shown))
    most = max((len(s.times) for s in shown), default=1)
    levels = [p for p in LEVELS if p == 0 or 100 / (100 - p) <= max(most, 10)]
    lines = [_quantiles(s.times, levels[-1] / 100) for s in shown]
    low, high = _decades([time for line in lines for time, _ in line])
    scale = _Scale(low, high, _height(levels[-1] / 100) * 1.04)
    parts = [
        *_legend(names, any(s.again for s in shown)),
        *_grid(scale, levels),
        *(_line(s, names.index(s.name), line, scale) for s, line in zip(shown, lines, strict=True)),
    ]
    return framed(title, subtitle, _style(names), parts)


def framed(title: str, subtitle: str, style: str, parts: Sequence[str]) -> str:
    """A chart with its heading, as the text of a file."""
    whole = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(title)}">',
        f"<style>\n{style}\n</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        words_at(LEFT, 28, title, "ink title"),
        words_at(LEFT, 47, subtitle, "soft"),
        *parts,
        "</svg>",
    ]
    return "\n".join(whole) + "\n"


@dataclass(frozen=True, slots=True)
class _Scale:
    """Decades of microseconds across, nines upwards."""

    low: int
    high: int
    top: float

    def x(self, time: float) -> float:
        share = (math.log10(time) - self.low) / (self.high - self.low)
        return LEFT + min(max(share, 0.0), 1.0) * (WIDTH - LEFT - RIGHT)

    def y(self, part: float) -> float:
        return HEIGHT - BOTTOM - _height(part) / self.top * (HEIGHT - TOP - BOTTOM)


def _height(part: float) -> float:
    return -math.log10(max(1 - part, 1e-9))


def _quantiles(times: Sequence[float], most: float) -> list[tuple[float, float]]:
    """(time, part of the times that are not longer), evenly spaced upwards; as far as there are
    times enough to tell."""
    parts = 1 - 10.0 ** -np.linspace(0, _height(min(most, 1 - 1 / (len(times) + 1))), POINTS)
    values = np.maximum(np.quantile(np.asarray(times), parts), 1e-9)
    return list(zip(values.tolist(), parts.tolist(), strict=True))


def _decades(times: Sequence[float]) -> tuple[int, int]:
    """The powers of ten around the times."""
    low = math.floor(math.log10(min(times, default=1.0)))
    return low, max(math.ceil(math.log10(max(times, default=10.0))), low + 1)


def _style(names: Sequence[str]) -> str:
    light = [f".s{i} {{ stroke: {COLOURS[i % len(COLOURS)][0]}; }}" for i in range(len(names))]
    dark = [f".s{i} {{ stroke: {COLOURS[i % len(COLOURS)][1]}; }}" for i in range(len(names))]
    inside = "\n".join([DARK, *dark])
    return "\n".join([STYLE, *light, f"@media (prefers-color-scheme: dark) {{\n{inside}\n}}"])


def _grid(scale: _Scale, levels: Sequence[float]) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for decade in range(scale.low, scale.high + 1):
        x = scale.x(10.0**decade)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        parts.append(words_at(x, bottom + 20, _power(decade), "soft", "middle"))
    for level in levels:
        y = scale.y(level / 100)
        kind = "axis" if not level else "grid"
        parts.append(f'<line class="{kind}" x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(words_at(LEFT - 8, y + 4, f"{level:g} %", "soft", "end"))
    parts.append(words_at((LEFT + right) / 2, HEIGHT - 14, "time a token", "soft", "middle"))
    return parts


def _power(decade: int) -> str:
    unit, less = ("µs", 0) if decade < 3 else ("ms", 3) if decade < 6 else ("s", 6)
    return f"{10.0 ** (decade - less):g} {unit}"


def _legend(names: Sequence[str], again: bool) -> list[str]:
    parts, x = [], float(LEFT)
    entries = [(name, f"line s{i}") for i, name in enumerate(names)]
    if again and names:
        entries.append(("dashed: second pass", ""))
    for name, kind in entries:
        if kind:
            parts.append(f'<line class="{kind}" x1="{x:.0f}" y1="69" x2="{x + 24:.0f}" y2="69"/>')
            x += 30
        parts.append(words_at(x, 73, name, "ink" if kind else "soft"))
        x += 7.4 * len(name) + 22
    return parts


def _line(series: Series, number: int, line: Sequence[tuple[float, float]], scale: _Scale) -> str:
    points = " ".join(f"{scale.x(time):.1f},{scale.y(part):.1f}" for time, part in line)
    kind = " again" if series.again else ""
    words = f"{series.name}, second pass" if series.again else series.name
    start = f'<polyline class="line s{number}{kind}" points="{points}">'
    return f"{start}<title>{escape(words)}</title></polyline>"


def words_at(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'
