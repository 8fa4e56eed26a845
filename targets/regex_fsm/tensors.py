"""A token table as torch tensors: masks and next states of a batch, without Python a sequence.

Nothing here needs the host: states, tokens and masks stay on the device, and what is not allowed
leads to DEAD, which allows nothing. Numbers that are no states raise IndexError on the CPU; on
other devices, which would have to be waited for, they are as DEAD. torch is imported when tensors
are asked for, never before.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .states import DEAD, START

if TYPE_CHECKING:
    from .counted_table import CountedTable
    from .table import TokenTable


class TensorTable:
    """The arrays of a :class:`~.table.TokenTable` on a device.

    Attributes:
        next: int16 or int32[states, classes]; ``class_of``: int64[V]; ``accepting``: bool[states].
    """

    def __init__(self, table: TokenTable, device: Any = None) -> None:
        torch = self._torch = import_module("torch")
        # Copies: the table's arrays cannot be written to, which tensors do not know.
        self.next = torch.tensor(table.next, device=device)
        self.class_of = torch.tensor(table.class_of, device=device).long()
        self.accepting = torch.tensor(table.accepting, device=device)
        self._words = table.words
        # As signed numbers, so that their sums are words of 32 bits.
        bits = [1 << i for i in range(31)] + [-(1 << 31)]
        self._bits = torch.tensor(bits, dtype=torch.int64, device=device)

    def start(self, batch: int) -> Any:
        """The states of `batch` sequences at their start: int64[batch]."""
        return self._torch.full((batch,), START, dtype=self._torch.int64, device=self.next.device)

    def step(self, states: Any, tokens: Any) -> Any:
        """The states after one more token each: int64[B], int64[B] -> int64[B].

        Any type of integers will do. Tokens beyond the vocabulary lead to DEAD.

        Raises:
            IndexError: no state of this table (on the CPU), as wherever states are given.
            TypeError: tensors that are not of integers.
            ValueError: tensors of different shapes.
        """
        states, tokens = self._checked(states), self._integers(tokens, "tokens")
        if states.shape != tokens.shape:
            shown = f"{list(states.shape)} and {list(tokens.shape)}"
            raise ValueError(f"as many states as tokens are wanted, not {shown}")
        size = self.class_of.shape[0]
        known = (tokens >= 0) & (tokens < size)
        classes = self.class_of[tokens.clamp(0, size - 1)] * known
        return self._after(states, classes)

    def allowed(self, states: Any, width: int | None = None) -> Any:
        """Which tokens may come next: int64[B] -> bool[B, V].

        Args:
            width: the number of logits, if not V; those beyond V belong to no token.
        """
        found = (self._row(self._checked(states)) != DEAD)[:, self.class_of]
        if width is not None and width != found.shape[1]:
            kept = found[:, :width]
            pad = self._torch.zeros(
                (found.shape[0], max(0, width - found.shape[1])),
                dtype=self._torch.bool,
                device=found.device,
            )
            found = self._torch.cat([kept, pad], dim=1)
        return found

    def bitmask(self, states: Any) -> Any:
        """The packed masks: int64[B] -> int32[B, ceil(V / 32)], bit i of word w for token
        32 * w + i."""
        bits = self.allowed(states, 32 * self._words).reshape(states.shape[0], self._words, 32)
        return (bits.long() * self._bits).sum(dim=2).to(self._torch.int32)

    def mask_logits(self, logits: Any, states: Any) -> Any:
        """Set the logits of tokens that are not allowed to minus infinity, in place.

        Args:
            logits: float[B, V'], on the same device; returned.
        """
        return logits.masked_fill_(~self.allowed(states, logits.shape[1]), float("-inf"))

    def _checked(self, states: Any) -> Any:
        """States as int64; what is none is refused, or DEAD where that would take waiting."""
        states = self._integers(states, "states")
        size = self.accepting.shape[0]
        known = (states >= 0) & (states < size)
        if states.device.type == "cpu" and not known.all():
            worst = states[~known].flatten()[0].item()
            raise IndexError(f"states go from 0 to {size - 1}, not {worst}")
        return states * known

    def _integers(self, values: Any, what: str) -> Any:
        # As indices torch takes uint8 and bool for masks, and no int16 at all.
        if values.dtype == self._torch.bool or values.is_floating_point() or values.is_complex():
            raise TypeError(f"{what} are integers, not {values.dtype}")
        return values.long()

    def _after(self, states: Any, classes: Any) -> Any:
        return self.next[states, classes].long()

    def _row(self, states: Any) -> Any:
        return self.next[states]

    def may_end(self, states: Any) -> Any:
        """Where the text may end: int64[B] -> bool[B]."""
        return self.accepting[self._checked(states)]


class CountedTensors(TensorTable):
    """The arrays of a :class:`~.counted_table.CountedTable` on a device.

    Attributes:
        next: int16 or int32[rows, classes], of moves; ``row_of``: int16 or int32[states]; ``left``:
            int16 or int32[states, depth]; ``offsets``: int64[moves]; ``worths``: int64[moves,
            depth]; others as above.
    """

    def __init__(self, table: CountedTable, device: Any = None) -> None:
        super().__init__(table, device)
        tensor = self._torch.tensor
        self.row_of = tensor(table.row_of, device=device)
        self.left = tensor(table.left, device=device)
        self.offsets = tensor(table.moves.offsets, device=device)
        self.worths = tensor(table.moves.worths, device=device)

    def _after(self, states: Any, classes: Any) -> Any:
        moves = self.next[self.row_of[states].long(), classes].long()
        return self.offsets[moves] + (self.worths[moves] * self.left[states]).sum(dim=-1)

    def _row(self, states: Any) -> Any:
        return self.next[self.row_of[states].long()]
