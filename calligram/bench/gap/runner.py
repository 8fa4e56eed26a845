"""Every prompt once in each mode, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .case_set import Case
from .completion import Completion
from .job import MODES, Job, Mode
from .judge import Answer, begun, judge

if TYPE_CHECKING:
    from .server import Server  # It imports what talks HTTP, which other commands do not need.

Progress = Callable[[int], None]
"""Answers done -> nothing."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server is asked.

    Attributes:
        max_tokens: tokens within which an unconstrained answer must end, and a call begin. A
            constrained call that has begun may take as many as the longest call has bytes: it
            ends by itself.
    """

    max_tokens: int
    seed: int
    temperature: float


@dataclass(frozen=True, slots=True)
class Result:
    """One case with its answer in each mode."""

    case: Case
    answers: Mapping[Mode, Answer]

    def to_json(self) -> dict[str, Any]:
        """A plain dict; the answers under the names of their modes."""
        about = {"prompt": self.case.prompt, "kind": self.case.kind, "tool": self.case.tool}
        return about | {mode: answer.to_json() for mode, answer in self.answers.items()}


def run(
    job: Job, server: Server, limit: int | None, settings: Settings, progress: Progress
) -> list[Result]:
    """Ask for the first `limit` cases, or for all.

    Raises:
        BenchError: the server went away or refuses requests.
    """
    results: list[Result] = []
    done = 0
    for case in job.cases.cases[:limit]:
        prompt = made_prompt(job, server, case.prompt)
        # Otherwise the first mode alone would pay for reading the prompt.
        server.read(prompt)
        answers: dict[Mode, Answer] = {}
        for mode in MODES:
            answers[mode] = judge(job, case, mode, ask(job, server, prompt, mode, settings))
            done += 1
            progress(done)
        results.append(Result(case, answers))
    return results


def made_prompt(job: Job, server: Server, asked: str) -> str:
    """The prompt up to where the model answers, and what of the answer the dialect's own templates
    have said by then."""
    prompt = server.prompt(job.messages(asked))
    reasoning = job.spec.reasoning
    if reasoning is not None and prompt.rstrip().endswith(reasoning.open.rstrip()):
        # A block that the template has opened is closed empty: all modes answer at once.
        prompt = prompt.rstrip() + "\n\n" + reasoning.close + reasoning.after
    prefill = job.spec.prefill
    return prompt if prompt.endswith(prefill) else prompt + prefill


def ask(job: Job, server: Server, prompt: str, mode: Mode, settings: Settings) -> Completion:
    """One answer. A constrained call that has begun is never cut by the limit of tokens."""
    limit = settings.max_tokens
    body = {
        "prompt": prompt,
        "n_predict": max(limit, job.longest) if mode == "on" else limit,
        "temperature": settings.temperature,
        "seed": settings.seed,
        "cache_prompt": True,
        **job.fields[mode],
    }
    found = server.complete(body)
    if mode == "auto" and found.cut and begun(job, found.text):
        # The call began before the limit, and it ends by itself: the same again, with room for it.
        found = server.complete({**body, "n_predict": limit + job.longest})
    return found
