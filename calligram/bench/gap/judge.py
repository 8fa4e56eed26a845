"""What an answer is worth: calligram's parser reads it, and jsonschema judges the arguments."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from ...targets.parser import ParseResult
from .case_set import Case
from .completion import Completion
from .job import Job, Mode


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer read in one way.

    Attributes:
        calls: `{"name", "arguments"}` each.
        clean: there are calls, and the parser found nothing wrong with the turn.
        schema: there are calls, all of known tools, and jsonschema takes their arguments.
        right_tool: the expected tool is called and no other; or none, where none is expected.
        problems: what the parser found.
    """

    calls: list[dict[str, Any]]
    clean: bool
    schema: bool
    right_tool: bool
    problems: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Both judges agree."""
        return self.clean and self.schema

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return {
            "calls": self.calls,
            "parser": self.clean,
            "jsonschema": self.schema,
            "right_tool": self.right_tool,
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, judged.

    Attributes:
        started: a call was begun: what the dialect begins calls with stands in the text, or a call
            can be read from it. What a constrained server broke off counts as begun.
        strict, lenient: the two readings.
    """

    completion: Completion
    started: bool
    strict: Reading
    lenient: Reading

    def to_json(self) -> dict[str, Any]:
        """A plain dict: the text, what it was worth, tokens and seconds."""
        lenient = self.lenient.to_json()
        return {
            "text": self.completion.text,
            "started": self.started,
            "valid": self.strict.valid,
            "cut": self.completion.cut,
            "error": self.completion.error,
            "tokens": self.completion.tokens,
            "seconds": round(self.completion.seconds, 3),
            **self.strict.to_json(),
            "lenient": {"valid": self.lenient.valid, **lenient},
        }


def begun(job: Job, text: str) -> bool:
    """Does what begins calls stand in the text?"""
    return any(re.search(pattern, text) for pattern in job.patterns)


def judge(job: Job, case: Case, mode: Mode, completion: Completion) -> Answer:
    """Read and judge what came back for a case."""
    text = completion.text
    broken = completion.error is not None and mode != "off"
    strict, lenient = (job.reader.parse(text, lenient=way) for way in (False, True))
    started = broken or bool(strict.calls) or begun(job, text)
    return Answer(
        completion,
        started,
        _reading(job, case, strict, started),
        _reading(job, case, lenient, started),
    )


def _reading(job: Job, case: Case, result: ParseResult, started: bool) -> Reading:
    # As a program would get them: numbers that the parser keeps exactly become floats.
    calls = json.loads(
        json.dumps(
            [{"name": c["name"], "arguments": c["arguments"]} for c in result.calls], default=float
        )
    )
    problems = [p.message for p in result.problems]
    if result.incomplete is not None and result.incomplete.message not in problems:
        problems.append(result.incomplete.message)
    known = job.validators
    names = {call["name"] for call in calls}
    return Reading(
        calls=calls,
        clean=bool(calls) and not problems,
        schema=bool(calls)
        and names <= known.keys()
        and all(known[call["name"]].is_valid(call["arguments"]) for call in calls),
        right_tool=names == {case.tool} if case.tool is not None else not (started or calls),
        problems=tuple(problems),
    )
