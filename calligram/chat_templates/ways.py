"""A spec -> the ways in which it may write calls into history.

The spec's own way first. What templates are known to do otherwise is in the spec too: the further
spellings under `literals`, the further forms under `string.alternatives`, the shapes under `accept`
and `history`. Each is a way, and so is each with another's spellings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ..compiler.errors import RenderError
from ..compiler.ir import Call
from ..compiler.render import CallRenderer
from ..compiler.spec import ArgsSpec, DialectSpec, LiteralsSpec
from .messages import call_id

MAX_WAYS: Final = 64


@dataclass(frozen=True)
class Way:
    """One way to write calls.

    Attributes:
        spec: as the calls are written.
        known: what is known to differ from the spec's own way, "" if it is that.
        shape: the pointer of the shape it is, "" for the spec's own.
    """

    spec: DialectSpec
    known: str
    shape: str
    _tools: Sequence[Call]

    def with_spec(self, spec: DialectSpec) -> Way:
        """The same way of a changed spec."""
        return Way(spec, self.known, self.shape, self._tools)

    @cached_property
    def _renderer(self) -> CallRenderer:
        return CallRenderer(self.spec, self._tools, "any", spelled=True)

    def render(self, calls: Sequence[Mapping[str, Any]]) -> str | None:
        """The calls in this way, None if it cannot write them."""
        # As templates are given them; a dialect that numbers its calls passes ids by.
        named = [{**call, "id": call_id(index)} for index, call in enumerate(calls)]
        for given in (named, calls):
            try:
                return self._renderer.render(given)
            except RenderError:
                continue
        return None


def ways(spec: DialectSpec, tools: Sequence[Call]) -> Iterator[Way]:
    """The spec's own way and the known other ones, `MAX_WAYS` at most."""
    made = 0
    for shape, pointer in _shapes(spec):
        known = f"as {pointer}" if pointer else ""
        for args, how in _spellings(shape.args):
            if made == MAX_WAYS:
                return
            made += 1
            written = shape if args is shape.args else shape.model_copy(update={"args": args})
            said = "; ".join(filter(None, (known, how)))
            yield Way(written, said, pointer, tools)


def _shapes(spec: DialectSpec) -> Iterator[tuple[DialectSpec, str]]:
    own, *accepted = spec.shapes()
    yield own, ""
    for index, shape in enumerate(accepted):
        yield shape, f"/accept/{index}"
    for index, other in enumerate(spec.history):
        yield other.applied_to(own), f"/history/{index}"


def _spellings(args: ArgsSpec) -> Iterator[tuple[ArgsSpec, str]]:
    """Each literal in each of its spellings, strings in each of their forms."""
    yield args, ""
    literals = args.literals
    most = max(len(literals.null), len(literals.true), len(literals.false))
    spelled = [(literals, "")]
    for index in range(1, most):
        rotated = {
            name: _from(getattr(literals, name), index) for name in ("null", "true", "false")
        }
        said = ", ".join(
            f"{name} as {words[0]}"
            for name, words in rotated.items()
            if words[0] != getattr(literals, name)[0]
        )
        spelled.append((LiteralsSpec(**rotated), said))
    strings = [(args.string, "")]
    if args.string is not None:
        for form in args.string.alternatives:
            own = args.string.model_copy(update=dict(form))
            strings.append((own, f"strings in {form.open or 'nothing'}"))
    for string, quoted in strings:
        for literal, how in spelled:
            if quoted or how:
                changed = args.model_copy(update={"string": string, "literals": literal})
                yield changed, "; ".join(filter(None, (quoted, how)))


def _from(words: tuple[str, ...], index: int) -> tuple[str, ...]:
    """The words with the one at `index` first, where there is one."""
    index = min(index, len(words) - 1)
    return (*words[index:], *words[:index])
