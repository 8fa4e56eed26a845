r"""Characters as JSON's ``\uXXXX``, ranges of them at once.

A character beyond the basic plane is two of them, a surrogate pair (RFC 8259 section 7). Digits are
lower case, as json.dumps writes them.
"""

from __future__ import annotations

Row = list[tuple[int, int, int, int]]
Spans = tuple[tuple[int, int, "Behind"], ...]
"""Ranges of code units in ascending order, and what follows each."""
Behind = int | Spans
"""The state that the character leads to, or the second units."""

_HIGH, _LOW, _LAST = 0xD800, 0xDC00, 0xDFFF
_BASIC = 0xFFFF


def units(spans: list[tuple[int, int, int]]) -> Spans:
    """Ranges of characters and their targets -> ranges of first code units."""
    found: list[tuple[int, int, Behind]] = []
    split: dict[int, list[tuple[int, int, Behind]]] = {}
    for low, high, target in sorted(spans):
        if low <= _BASIC:
            found.append((low, min(high, _BASIC), target))
        if high <= _BASIC:
            continue
        (first, begin), (last, end) = _pair(max(low, _BASIC + 1)), _pair(high)
        if first == last:
            split.setdefault(first, []).append((begin, end, target))
            continue
        split.setdefault(first, []).append((begin, _LAST, target))
        split.setdefault(last, []).append((_LOW, end, target))
        if first + 1 < last:
            found.append((first + 1, last - 1, ((_LOW, _LAST, target),)))
    found += [(unit, unit, tuple(seconds)) for unit, seconds in split.items()]
    return tuple(sorted(found, key=lambda span: span[:2]))


def _pair(code: int) -> tuple[int, int]:
    return _HIGH + ((code - _BASIC - 1) >> 10), _LOW + ((code - _BASIC - 1) & 0x3FF)


class UnitTree:
    """States that read code units in hexadecimal digits, added to the rows of a machine."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = rows
        self._made: dict[tuple[Spans, int], int] = {}

    def state(self, spans: Spans, shift: int = 12) -> int:
        """A state that reads the digits from `shift` down of one of the units."""
        key = (spans, shift)
        if key not in self._made:
            here = self._made[key] = len(self.rows)
            self.rows.append([])
            row: Row = []
            for digit in range(16):
                inner = _within(spans, digit << shift, ((digit + 1) << shift) - 1)
                if inner:
                    code = ord(f"{digit:x}")
                    row.append((code, code, *self._behind(inner, shift)))
            self.rows[here] = sorted(row)
        return self._made[key]

    def _behind(self, inner: Spans, shift: int) -> tuple[int, int]:
        """Where a digit leads, and whether the character is complete there."""
        if shift:
            return self.state(inner, shift - 4), 0
        behind = inner[0][2]
        return (behind, 1) if isinstance(behind, int) else (self._second(behind), 0)

    def _second(self, spans: Spans) -> int:
        key = (spans, 16)
        if key not in self._made:
            self._made[key] = len(self.rows)
            self.rows += [[], []]
            at = self._made[key]
            self.rows[at] = [(ord("\\"), ord("\\"), at + 1, 0)]
            self.rows[at + 1] = [(ord("u"), ord("u"), self.state(spans), 0)]
        return self._made[key]


def _within(spans: Spans, low: int, high: int) -> Spans:
    """What of the ranges lies in low..high, counted from `low`."""
    return tuple(
        (max(a, low) - low, min(b, high) - low, behind)
        for a, b, behind in spans
        if a <= high and low <= b
    )
