"""`calligram compile --target mask`: a saved automaton, and what is in it in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

import typer

from ..compiler.compiled import CompiledGrammar
from ..compiler.origin import did_you_mean
from ..compiler.vocabulary.any_file import from_file
from ..targets import mask
from .files import read_text
from .progress import bars

DEFAULTS: Final = asdict(mask.SaveBudget())


def save_mask(
    grammar: CompiledGrammar,
    output: str,
    vocab: str,
    size: int | None,
    budget: str | None,
    samples: Sequence[str],
) -> mask.SaveReport:
    """Save the automaton, with progress on a terminal and none elsewhere.

    Raises:
        CalligramError: a file that cannot be read or written.
        typer.BadParameter: a budget that cannot be read.
    """
    chosen = parse_budget(budget)
    texts = [read_text(sample) for sample in samples]
    automaton = mask.compile(grammar, from_file(vocab, size=size))
    with bars() as shown:
        task = shown.add_task("states", total=chosen.states)

        def show(done: int, most: int) -> None:
            shown.update(task, completed=done, total=most)

        return automaton.save(output, budget=chosen, samples=texts, progress=show)


def parse_budget(text: str | None) -> mask.SaveBudget:
    """`states=5000,bytes=1000000` over the defaults.

    Raises:
        typer.BadParameter: an unknown name, or not a whole number of at least 1.
    """
    legal = list(DEFAULTS)
    chosen: dict[str, int] = {}
    for part in () if text is None else text.split(","):
        name, _, number = (s.strip() for s in part.partition("="))
        if name not in legal:
            hint = did_you_mean(name, legal) or f"legal names: {', '.join(legal)}"
            raise wrong_budget(f"unknown budget '{name}'; {hint}")
        if name in chosen:
            raise wrong_budget(f"'{name}' is given twice")
        if not re.fullmatch(r"0*[1-9][0-9]{0,17}", number):
            raise wrong_budget(f"{name} must be a whole number of at least 1, not '{number}'")
        chosen[name] = int(number)
    return mask.SaveBudget(**chosen)


def wrong_budget(message: str) -> typer.BadParameter:
    """The usage error for a `--budget` that cannot be read."""
    return typer.BadParameter(message, param_hint="'--budget'")


def lines(report: mask.SaveReport, samples: Sequence[str]) -> list[str]:
    """What a file holds, for people."""
    searched = f"cut at a depth of {report.depth} tokens" if report.cut else "searched in full"
    found = [
        f"states: {report.states:,}, {searched}",
        f"edges:  {report.edges:,}",
        f"masks:  {report.rows:,} ({report.as_ids:,} as ids, {report.as_words:,} whole, "
        f"{report.as_changes:,} as changes)",
        f"bytes:  {report.bytes:,}",
    ]
    for name, sample in zip(samples, report.samples, strict=True):
        state = "covered" if sample.complete else "may not end there"
        if sample.covered < sample.size:
            state = f"leaves the grammar after {sample.covered:,} of {sample.size:,} bytes"
        found.append(f"sample: {name}: {state}")
    return found


def document(
    report: mask.SaveReport, samples: Sequence[str], grammar: CompiledGrammar
) -> dict[str, object]:
    """The same for a program, with the grammar's report."""
    named = [
        {"file": name, **asdict(sample)}
        for name, sample in zip(samples, report.samples, strict=True)
    ]
    saved = {**report.to_json(), "samples": named}
    return {"target": "mask", "saved": saved, "report": grammar.report.to_json()}
