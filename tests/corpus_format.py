"""Reads tests/corpus/*.txt: texts of a dialect with the verdict and the calls they must give.

    === one call                    the case's name
    :auto                           attributes, one a line
    <tool_call>…</tool_call>        the text, verbatim, up to the line break before `---`
    ---
    [{"name": …, "arguments": {…}}] the calls, or nothing under :reject

The calls may also stand as ``{"calls": […], "content": "…", "reasoning": "…"}``; content and
reasoning are compared without white space at their ends, and not at all where they are not given.

Attributes: ``:reject`` the grammar refuses the text; ``:read`` the parser reads it, the grammar
does not allow it; ``:auto`` tool_choice "auto" instead of "required"; ``:tool NAME`` tool_choice is
that tool. The tools are those of tests/corpus/tools.json.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"
FLAGS = ("reject", "read", "auto")


class CorpusError(ValueError):
    """A corpus file that is not in the format; the message begins with ``file:line``."""


@dataclass(frozen=True, slots=True)
class CorpusCase:
    """``calls`` is what parsing gives; None under ``reject``. ``line`` is the header's."""

    dialect: str
    name: str
    line: int
    text: str
    calls: list[dict[str, Any]] | None
    content: str | None = None
    reasoning: str | None = None
    reject: bool = False
    read: bool = False
    auto: bool = False
    tool: str | None = None

    @property
    def id(self) -> str:
        """A readable name for a parametrised test."""
        return f"{self.dialect}: {self.name}"

    @property
    def tool_choice(self) -> str | dict[str, Any]:
        """The option that the text is judged under."""
        if self.tool is not None:
            return {"type": "function", "function": {"name": self.tool}}
        return "auto" if self.auto else "required"


def corpus_tools() -> list[dict[str, Any]]:
    """The tools that all corpus texts speak of, in OpenAI form."""
    tools: list[dict[str, Any]] = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
    return tools


def corpus_dialects() -> list[str]:
    """The dialects that have a corpus, sorted."""
    return sorted(path.stem for path in CORPUS.glob("*.txt"))


def load_corpus(dialect: str) -> list[CorpusCase]:
    """All cases of a dialect, in the order of the file."""
    path = CORPUS / f"{dialect}.txt"
    # newline="" keeps a carriage return that belongs to a text.
    with path.open(encoding="utf-8", newline="") as stream:
        return parse_corpus(stream.read(), dialect)


def parse_corpus(source: str, dialect: str) -> list[CorpusCase]:
    """The cases in a corpus text.

    Raises:
        CorpusError: anything that is not in the format, a name used twice included.
    """
    lines = source.split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("=== ")]
    if any(
        line.strip() and not line.startswith("#") for line in lines[: (starts or [len(lines)])[0]]
    ):
        raise CorpusError(f"{dialect}:1: text before the first `=== name`")
    cases: dict[str, CorpusCase] = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        case = _parse_case(dialect, lines[start:end], start + 1)
        if case.name in cases:
            raise CorpusError(f"{dialect}:{case.line}: a second case named {case.name!r}")
        cases[case.name] = case
    return list(cases.values())


def _parse_case(dialect: str, lines: list[str], number: int) -> CorpusCase:
    where = f"{dialect}:{number}"
    name = lines[0].removeprefix("=== ").strip()
    flags: dict[str, Any] = {}
    tool, position = None, 1
    while position < len(lines) and lines[position].startswith(":"):
        word, _, rest = lines[position][1:].partition(" ")
        if word == "tool" and rest:
            tool = rest
        elif word in FLAGS and not rest:
            flags[word] = True
        else:
            raise CorpusError(f"{dialect}:{number + position}: unknown attribute :{word}")
        position += 1
    if "---" not in lines[position:]:
        raise CorpusError(f"{where}: the line `---` is missing")
    rule = lines.index("---", position)
    text = "\n".join(lines[position:rule])
    expected = "\n".join(lines[rule + 1 :]).strip()
    if flags.get("reject"):
        if expected or flags.get("read"):
            raise CorpusError(f"{where}: a refused text has no calls")
        return CorpusCase(dialect, name, number, text, None, tool=tool, **flags)
    try:
        found = json.loads(expected)
    except ValueError as error:
        raise CorpusError(f"{where}: the calls are not JSON: {error}") from None
    parts = found if isinstance(found, dict) else {"calls": found}
    calls = parts.pop("calls", None)
    if not isinstance(calls, list) or any(
        not isinstance(c, dict) or set(c) != {"name", "arguments"} for c in calls
    ):
        raise CorpusError(f"{where}: calls are a list of name and arguments")
    if not set(parts) <= {"content", "reasoning"} or any(
        type(v) is not str for v in parts.values()
    ):
        raise CorpusError(f"{where}: beside the calls only content and reasoning, as text")
    return CorpusCase(dialect, name, number, text, calls, tool=tool, **parts, **flags)
