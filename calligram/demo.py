"""The main job on a real small model: `python -m calligram.demo` (`make demo`).

For each prompt: what the model says without the grammar, with it, and the calls that the parser
reads. With ``--json`` only the figures: how many answers were schema-valid calls, with
``jsonschema`` as the judge, and how many were cut off at the token limit, counted apart.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from jsonschema import Draft202012Validator
from rich.console import Console
from rich.table import Table
from rich.text import Text

from . import Bounds, compile_tools
from .cli.files import read_text, write_out
from .cli.parse_command import call_line
from .cli.problems import visible
from .cli.run import run
from .compiler.errors import CalligramError
from .compiler.origin import Origin, Problem
from .demo_client import Answer, ask, find_model, running_server
from .targets import gbnf, parser

DATA = Path(__file__).resolve().parent.parent / "examples" / "demo.json"
Verdict = Literal["valid", "invalid", "no_call", "incomplete"]
WORDS: dict[Verdict, str] = {
    "valid": "schema-valid call",
    "invalid": "call that breaks its schema",
    "no_call": "no call that can be read",
    "incomplete": "cut off at the token limit",
}


class DemoDataError(CalligramError):
    """The demo's data file cannot be used."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked, compiled."""

    messages: list[dict[str, str]]
    prompts: list[str]
    max_tokens: int
    grammar: str
    longest: int | None
    reader: parser.Reader
    validators: dict[str, Draft202012Validator]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answer, judged."""

    text: str
    verdict: Verdict
    calls: list[dict[str, Any]]
    problems: tuple[Problem, ...]


def load_job(path: Path) -> Job:
    """Read the data file and compile its tools: once to enforce, once to read any turn.

    Raises:
        CalligramError: the file cannot be read, or its tools do not compile.
    """
    try:
        data = json.loads(read_text(str(path)))
        return _compile_job(data, json.loads(read_text(str(path.parent / data["tools"]))))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        message = f"not the demo's data: {type(error).__name__}: {error}"
        raise DemoDataError.at("demo-data", message, Origin(file=str(path))) from None


def _compile_job(data: dict[str, Any], tools: list[dict[str, Any]]) -> Job:
    bounds = Bounds(**data["bounds"])
    enforced = compile_tools(tools, dialect=data["dialect"], bounds=bounds, max_calls=1)
    free = compile_tools(tools, dialect=data["dialect"], bounds=bounds, tool_choice="auto")
    system = data["system"].replace("{tools}", "\n".join(json.dumps(t) for t in tools))
    messages = [{"role": "system", "content": system}]
    for example in data["examples"]:
        messages.append({"role": "user", "content": example["prompt"]})
        messages.append({"role": "assistant", "content": enforced.render(example["calls"])})
    functions = [tool["function"] for tool in tools]
    return Job(
        messages=messages,
        prompts=data["prompts"],
        max_tokens=data["max_tokens"],
        grammar=gbnf.emit(enforced),
        longest=enforced.report.longest_call,
        reader=parser.compile(free),
        validators={f["name"]: Draft202012Validator(f["parameters"]) for f in functions},
    )


def judge(job: Job, answer: Answer) -> Outcome:
    """What an answer is worth; `jsonschema` decides, not the grammar."""
    result = job.reader.parse(answer.text)
    calls = list(result.calls)
    good = [
        call["name"] in job.validators and job.validators[call["name"]].is_valid(call["arguments"])
        for call in calls
    ]
    verdict: Verdict
    if answer.cut:
        verdict = "incomplete"
    elif not calls:
        verdict = "no_call"
    else:
        verdict = "valid" if all(good) else "invalid"
    return Outcome(answer.text, verdict, calls, result.problems)


def outcomes(job: Job, address: str, count: int) -> Iterator[tuple[str, Outcome, Outcome]]:
    """Each prompt with its two outcomes, without the grammar and with it, as they come."""
    for prompt in job.prompts[:count]:
        messages = [*job.messages, {"role": "user", "content": prompt}]
        free, held = (
            judge(job, ask(address, messages, job.max_tokens, grammar))
            for grammar in (None, job.grammar)
        )
        yield prompt, free, held


def figures(free: Counter[Verdict], held: Counter[Verdict]) -> dict[str, dict[str, int]]:
    """Answers by verdict, without and with the grammar; every verdict is there."""
    return {
        "without_grammar": {name: free[name] for name in WORDS},
        "with_grammar": {name: held[name] for name in WORDS},
    }


def side_by_side(prompt: str, free: Outcome, held: Outcome) -> Table:
    """One prompt: both texts, and the calls read from them."""
    table = Table(title=Text(prompt, style="bold"), title_justify="left", show_lines=True)
    table.add_column("")
    table.add_column("without grammar", ratio=1, overflow="fold")
    table.add_column("with grammar", ratio=1, overflow="fold")
    pair = (free, held)
    table.add_row("text", *(Text(visible(o.text.strip())) for o in pair))
    table.add_row("parsed", *(Text(reading(o)) for o in pair))
    styles = ["green" if o.verdict == "valid" else "red" for o in pair]
    words = [Text(WORDS[o.verdict], style=s) for o, s in zip(pair, styles, strict=True)]
    table.add_row("verdict", *words)
    return table


def reading(outcome: Outcome) -> str:
    """One call a line: the name and its arguments; then the first thing that is wrong."""
    lines = [*map(call_line, outcome.calls), *(p.message for p in outcome.problems[:1])]
    return visible("\n".join(lines))


app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


@app.command()
def demo(
    prompts: Annotated[int, typer.Option(min=1, help="How many prompts to ask.")] = 4,
    data: Annotated[Path, typer.Option(help="Tools, prompts, dialect, bounds.")] = DATA,
    as_json: Annotated[bool, typer.Option("--json", help="Only the figures, as JSON.")] = False,
) -> None:
    """Ask a small real model with and without the grammar, and show what comes back."""
    out = Console(highlight=False)
    progress = Console(stderr=True, quiet=not sys.stderr.isatty())
    job = load_job(data)
    free: Counter[Verdict] = Counter()
    held: Counter[Verdict] = Counter()
    total = min(prompts, len(job.prompts))
    with progress.status("starting llama.cpp's server") as status:
        with running_server(find_model()) as address:
            status.update(f"prompt 1 of {total}")
            for prompt, without, with_it in outcomes(job, address, total):
                free[without.verdict] += 1
                held[with_it.verdict] += 1
                if not as_json:
                    status.stop()  # It stands on the other stream, where the table would go.
                    out.print(side_by_side(prompt, without, with_it), Text())
                    status.start()
                status.update(f"prompt {min(free.total() + 1, total)} of {total}")
    report(out, total, len(job.validators), free, held, as_json)


def report(
    out: Console,
    total: int,
    tools: int,
    free: Counter[Verdict],
    held: Counter[Verdict],
    as_json: bool,
) -> None:
    """The figures, as JSON or in two lines."""
    if as_json:
        document = {"prompts": total, "tools": tools, **figures(free, held)}
        write_out(json.dumps(document, indent=2) + "\n")
        return
    for name, counts in (("without grammar", free), ("with grammar", held)):
        said = ", ".join(f"{WORDS[k]}: {counts[k]}" for k in WORDS if counts[k] or k == "valid")
        out.print(f"{name + ':':<17}{total} prompts; {said}", soft_wrap=True)
    out.print("The grammar vouches for the shape of a call, not for its sense.")


if __name__ == "__main__":
    raise SystemExit(run(app, "calligram.demo"))
