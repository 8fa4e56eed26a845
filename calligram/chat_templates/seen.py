"""Which literals of a spec a comparison has seen, and which it had no occasion to see."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from ..compiler.spec import DialectSpec
from .pieces import Literal


@dataclass(frozen=True, slots=True)
class Unseen:
    """A literal that nothing compared has held: it may be right or wrong."""

    field: str
    text: str


def unseen(
    spec: DialectSpec, seen: Sequence[Literal], shapes: Collection[str], known: Collection[str]
) -> Iterator[Unseen]:
    """The literals that no render has shown.

    Args:
        seen: the pieces that matched.
        shapes: the pointers of the shapes that calls were written in, "" for the spec's own.
        known: what was known to differ.
    """
    if "" not in shapes:
        yield Unseen("/call", spec.call)
    for n, shape in enumerate(spec.accept):
        if f"/accept/{n}" not in shapes:
            yield Unseen(f"/accept/{n}", shape.call or "")
    fields = {piece.field for piece in seen if piece.text}
    for pointer, text in _literals(spec):
        if text and pointer not in fields:
            yield Unseen(pointer, text)
    for name in ("null", "true", "false"):
        if any(f"{name} as " in how for how in known):
            yield Unseen(f"/args/literals/{name}/0", getattr(spec.args.literals, name)[0])


def _literals(spec: DialectSpec) -> Iterator[tuple[str, str]]:
    reasoning = spec.reasoning
    if reasoning is not None:
        yield "/reasoning/open", reasoning.open
        yield "/reasoning/close", reasoning.close
        yield "/reasoning/after", reasoning.after
    yield "/content/open", spec.content.open
    yield "/content/close", spec.content.close
    yield "/lead_in", spec.lead_in
    for n, text in enumerate(spec.turn_end.tokens):
        yield f"/turn_end/tokens/{n}", text
    for n, text in enumerate(spec.turn_end.not_stop):
        yield f"/turn_end/not_stop/{n}", text
