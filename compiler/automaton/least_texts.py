"""The fewest bytes from a continuation to the end.

A continuation is a stack of heads, and each head's text ends where the next one's begins: the
distance is a sum, worked out head by head and kept. What an expression takes at least follows from
its parts; recursive rules are settled by lowering numbers until none falls any more.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..grammar import (
    ButMachine,
    Capture,
    Chars,
    Choice,
    Cut,
    Distinct,
    Expr,
    Literal,
    Members,
    Regular,
    Repeat,
    RuleRef,
    Sequence,
    Token,
    children,
)
from ..passes.machine_extent import utf8_length
from .cells import (
    BUT,
    BYTES,
    CLOSE,
    END,
    EXPR,
    MEMBER,
    MEMBERS,
    RANGES,
    REGULAR,
    REPEAT,
    SEQ,
    Head,
)
from .core import Core
from .distinct import BETWEEN, INSIDE, NEXT, PENDING
from .least_members import Cost, least_members
from .machine_distance import FAR, least_bytes, least_bytes_but
from .members import MembersPlan


class LeastTexts:
    """The least texts of one core's continuations, worked out when first asked for.

    Special tokens count with the bytes of their text. What is remembered (items or keys that must
    differ) is not counted in: where it may matter the numbers are no more than the truth, and
    :meth:`exact` says no.
    """

    def __init__(self, core: Core) -> None:
        self._core = core
        self._exprs: dict[int, int] = {}
        self._loose_exprs: set[int] = set()
        self._heads: dict[Head, int] = {}
        self._loose_heads: set[Head] = set()
        self._cells: dict[int, int] = {END: 0}
        self._loose: set[int] = set()

    def of(self, cell: int) -> int:
        """Bytes from a continuation to the end; FAR and more if there is none."""
        cells, known = self._core.parts, self._cells
        found = known.get(cell)
        if found is not None:
            return found
        stack = []
        here = cell
        while here not in known:
            head, tail = cells(here)
            stack.append((here, head))
            here = tail
        total, loose = known[here], here in self._loose
        for here, head in reversed(stack):
            own = self._heads.get(head)
            if own is None:
                own = self._heads[head] = self._head(head)
            total += own
            loose = loose or head in self._loose_heads
            known[here] = total
            if loose:
                self._loose.add(here)
        return total

    def exact(self, cell: int) -> bool:
        """Is `of` the truth, whatever has been remembered?"""
        self.of(cell)
        return cell not in self._loose

    def is_sure(self, expr: Expr) -> bool:
        """Is `expression` the truth for an expression, wherever it stands?"""
        self.expression(expr)
        return id(expr) not in self._loose_exprs

    # Heads ------------------------------------------------------------------------------------

    def _head(self, head: Head) -> int:
        kind = head[0]
        if kind == BYTES:
            return len(head[1]) - int(head[2])
        if kind == RANGES:
            return len(head) - 1
        if kind == CLOSE:
            return 0
        if kind in (REGULAR, BUT):
            _, index, state, need, left, *node = head
            machine = self._core.machine(index)
            if node:
                return least_bytes_but(
                    machine, self._core.exclusion(index), state, need, left, node[0]
                )
            return least_bytes(machine, state, need, left)
        if kind in (INSIDE, PENDING):
            return self._inside(head)
        expr = self._core.exprs[head[1]]
        if kind == EXPR:
            return self._marked(head, (expr,))
        if kind == SEQ:
            assert isinstance(expr, Sequence)
            return self._marked(head, expr.items[head[2] :])
        if kind == REPEAT:
            need = max(int(head[2]), 0)
            return need * self._marked(head, (expr,) if need else ())
        if kind in (MEMBERS, MEMBER):
            assert isinstance(expr, Members)
            self._marked(head, children(expr))
            return least_members(expr, head[2], self.expression, begun=kind == MEMBER)
        assert kind in (BETWEEN, NEXT)
        return self._between(head, expr, kind == NEXT)

    def _marked(self, head: Head, parts: Iterable[Expr]) -> int:
        """The sum of the parts; the head is loose if one of them is."""
        total = 0
        for part in parts:
            total += self.expression(part)
            if id(part) in self._loose_exprs:
                self._loose_heads.add(head)
        return total

    def _between(self, head: Head, expr: Expr, begun: bool) -> int:
        _, index, state, _ = head
        plan = self._core.remembering.plan(index)
        self._marked(head, children(expr))
        if isinstance(plan, MembersPlan):
            assert isinstance(expr, Members)
            declared = plan.owed(state)
            if begun or expr.conditions or expr.min_count - state[2] > declared:
                self._loose_heads.add(head)
            return least_members(expr, state, self.expression, begun=begun)
        assert isinstance(expr, Distinct)
        owed = max(expr.min_count - state, int(begun))
        if owed > 0:
            self._loose_heads.add(head)
        return _items(expr, state, owed, self.expression, spared=begun or not state)

    def _inside(self, head: Head) -> int:
        _, index, which, state, memory, inner, _, *free = head
        remembering = self._core.remembering
        behind: Head = (BETWEEN, index, state, memory)
        total = self.of(inner) + self.of(self._core.cell(behind, END))
        if inner in self._loose or behind in self._loose_heads or free == [False]:
            self._loose_heads.add(head)
        if remembering.alive.is_careful(memory):
            self._loose_heads.add(head)
        body = remembering.plan(index).follows(which)
        if body is not None:
            total += self._marked(head, (body,))
        return total

    # Expressions ------------------------------------------------------------------------------

    def expression(self, expr: Expr) -> int:
        """The fewest bytes of an expression."""
        found = self._exprs.get(id(expr))
        return self._solve(expr) if found is None else found

    def _solve(self, root: Expr) -> int:
        """Settle an expression and all that it leads to."""
        order, above = self._order(root)
        found = self._exprs
        for expr in order:
            found[id(expr)] = FAR
        # Parts come before what they are part of, so that only recursion takes a second look.
        todo = dict.fromkeys(map(id, order))
        by_id = {id(expr): expr for expr in order}
        while todo:
            again: dict[int, None] = {}
            for number in list(todo):
                least = self._least(by_id[number])
                if least < found[number]:
                    found[number] = least
                    again.update(dict.fromkeys(above.get(number, ())))
            todo = again
        self._spread(order, above)
        return found[id(root)]

    def _order(self, root: Expr) -> tuple[list[Expr], dict[int, list[int]]]:
        """What is not known yet, parts first, and what each is part of."""
        order: list[Expr] = []
        above: dict[int, list[int]] = {}
        seen: set[int] = set()
        stack = [(root, False)]
        while stack:
            expr, done = stack.pop()
            if done:
                order.append(expr)
                continue
            if id(expr) in seen or id(expr) in self._exprs:
                continue
            seen.add(id(expr))
            stack.append((expr, True))
            for part in self._parts(expr):
                above.setdefault(id(part), []).append(id(expr))
                stack.append((part, False))
        return order, above

    def _parts(self, expr: Expr) -> tuple[Expr, ...]:
        if isinstance(expr, RuleRef):
            return (self._core.rules[expr.name],)
        return children(expr)

    def _spread(self, order: list[Expr], above: dict[int, list[int]]) -> None:
        """What holds a loose expression is loose."""
        loose = self._loose_exprs
        todo = [
            id(expr)
            for expr in order
            if _is_loose(expr) or any(id(part) in loose for part in self._parts(expr))
        ]
        while todo:
            number = todo.pop()
            if number not in loose:
                loose.add(number)
                todo += above.get(number, ())

    def _least(self, expr: Expr) -> int:
        known = self._exprs
        match expr:
            case Literal(text) | Token(text):
                return len(text.encode("utf-8"))
            case Chars(ranges):
                return utf8_length(ranges[0][0])
            case Regular(machine, low, high):
                if isinstance(machine, ButMachine):
                    index = self._core.index(expr)
                    exclusion = self._core.exclusion(index)
                    return least_bytes_but(machine.base, exclusion, 0, low, high, 0)
                return least_bytes(machine, 0, low, high)
            case Repeat(item, low):
                return low * known[id(item)]
            case Choice(options):
                return min(known[id(option)] for option in options)
            case Members():
                return least_members(expr, MembersPlan.start, lambda e: known[id(e)], begun=False)
            case Distinct():
                return _items(expr, 0, expr.min_count, lambda e: known[id(e)], spared=True)
            case Cut() | Sequence() | RuleRef() | Capture():
                return sum(known[id(part)] for part in self._parts(expr))


def _is_loose(expr: Expr) -> bool:
    """May it matter, from the start of the expression, that something must differ?"""
    if isinstance(expr, Distinct):
        return expr.min_count > 1
    if isinstance(expr, Members) and expr.names:
        required = sum(key.required for key in expr.keys)
        return bool(expr.conditions) or expr.min_count > required + 1
    return False


def _items(node: Distinct, first: int, owed: int, cost: Cost, *, spared: bool) -> int:
    """Bytes of `owed` items from the place `first` on, with separators but for a `spared` one."""
    if owed <= 0:
        return 0
    total = cost(node.separator) * (owed - spared)
    listed = node.prefix[first : first + owed]
    total += sum(map(cost, listed))
    if len(listed) < owed:
        total += FAR if node.rest is None else cost(node.rest) * (owed - len(listed))
    return total
