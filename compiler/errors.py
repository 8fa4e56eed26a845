"""The error tree. One root; a stage collects all its problems and raises once.

CalligramError
├─ SpecError          a dialect spec that cannot be read or makes no sense
├─ ToolError          tool definitions or a tool_choice that cannot be read
├─ SchemaError        a schema that is invalid, unsatisfiable, or uses what is not implemented
├─ GrammarError       left recursion, an empty loop, an ambiguous boundary
├─ TargetError        what a back end cannot express, by feature and pointer
├─ VocabularyError    a vocabulary that cannot be read or makes no sense
├─ ArtefactError      a saved artefact that cannot be read, or was made for something else
├─ RenderError        calls that cannot be written in the notation (code ``not-carryable``)
└─ LimitExceeded      a stated limit that stops hostile or oversize input
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from .origin import Origin, Problem


class CalligramError(Exception):
    """Root of all errors raised on purpose. ``problems`` is never empty. Pickles."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(problems)
        assert self.problems, "an error needs at least one problem"
        super().__init__(self.problems)

    @classmethod
    def at(
        cls, code: str, message: str, origin: Origin | None = None, hint: str | None = None
    ) -> Self:
        """The error with a single problem."""
        return cls([Problem(code, message, origin or Origin(), hint)])

    def __str__(self) -> str:
        return "\n".join(str(p) for p in self.problems)


class SpecError(CalligramError):
    """A dialect spec is wrong."""


class ToolError(CalligramError):
    """Tool definitions or the choice among them are wrong."""


class SchemaError(CalligramError):
    """A JSON Schema is invalid, unsatisfiable or not supported."""


class GrammarError(CalligramError):
    """A grammar breaks a law that every target relies on."""


class TargetError(CalligramError):
    """A target cannot express a feature exactly, and so refuses."""


class VocabularyError(CalligramError):
    """A vocabulary that cannot be read, or makes no sense."""


class ArtefactError(CalligramError):
    """A saved artefact that cannot be read or written, or was made for something else."""


class RenderError(CalligramError):
    """Calls that the notation or the schemas do not allow."""


class LimitExceeded(CalligramError):
    """A stated limit (depth, states, bytes, time) was reached."""


def reason_of(error: Exception) -> str:
    """Why the system did not do something, in its own words."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
