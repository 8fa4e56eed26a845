"""Whether a dialect's calls can be read back in one way only.

Checked on the spec's own reading grammar, white space exact: two readings that capture a text
differently are an error, and the text is the witness.
"""

from __future__ import annotations

from .automaton.ambiguity import Undecided, find_ambiguity
from .grammar import choice
from .lower.read import ReadLowering
from .origin import Origin, Problem
from .spec import DialectSpec

_PROBES = ("a", "ab", "a1")
"""Names that are prefixes of one another, where a call is marked by nothing but its name."""


def ambiguous_boundaries(spec: DialectSpec) -> list[Problem]:
    """One problem for each shape whose calls have two readings."""
    lowering = ReadLowering(spec, _PROBES, exact=True)
    problems: list[Problem] = []
    sections = lowering.exact_sections()
    candidates = [
        ("/call" if index == 0 else f"/accept/{index - 1}", section)
        for index, section in enumerate(sections)
    ]
    enforced = [s for s, a in zip(sections[1:], spec.accept, strict=True) if a.constrain]
    if enforced:
        candidates.append(("/accept", choice(sections[0], *enforced)))
    for pointer, section in candidates:
        try:
            found = find_ambiguity(lowering.rules, section)
        except Undecided:
            problems.append(
                Problem(
                    "boundary-undecided",
                    "whether calls have one reading was not decided: the dialect is too large",
                    Origin(pointer),
                    severity="warning",
                )
            )
            continue
        if found is not None:
            problems.append(
                Problem(
                    "ambiguous-boundary",
                    f"the text {found.witness!r} can be read in two ways",
                    Origin(pointer),
                    "end names and values with a text that they cannot hold",
                )
            )
    return problems
