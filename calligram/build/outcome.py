"""What became of units, as data that crosses processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..compiler.origin import Problem


@dataclass(frozen=True, slots=True)
class Done:
    """A unit that was compiled.

    Attributes:
        outputs: digests of the contents, by path.
        more: digests of the files that its dialect extends.
        warnings: sentences about what is not enforced, or left out.
    """

    unit: str
    outputs: Mapping[str, str]
    more: Mapping[str, str]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """A unit that cannot be built.

    Attributes:
        input: whether the input is at fault, rather than what no grammar can be made of.
        target: the target that cannot be made; None: it is not about one.
    """

    unit: str
    problems: tuple[Problem, ...]
    input: bool
    target: str | None = None


Outcome = Done | Failed
