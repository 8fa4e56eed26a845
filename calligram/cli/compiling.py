"""From options to a compiled grammar: `CompileOptions -> CompiledGrammar`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .. import compile_tools
from ..chat_templates.detect import detect_dialect
from ..compiler.compiled import CompiledGrammar
from ..compiler.detection import AUTO
from ..compiler.errors import CalligramError, SpecError
from ..compiler.origin import in_file
from .documents import read_documents
from .files import read_text, shown
from .options import CompileOptions, parse_bounds
from .problems import visible
from .templates_commands import detection_lines


def compile_grammar(options: CompileOptions, as_json: bool) -> CompiledGrammar:
    """Read the tools and compile them; tools that are left out are named on standard error.

    Raises:
        CalligramError: with the tools' file filled in unless it is about the dialect or an option.
    """
    bounds = parse_bounds(options.bounds)
    text = read_text(options.tools)
    documents = read_documents(options.document or ())
    if options.dialect == AUTO and options.chat_template is not None and not as_json:
        found = detect_dialect(options.chat_template)
        # Where nothing is found, the error says so.
        for line in detection_lines(found) if found.best is not None else ():
            sys.stderr.write(line + "\n")
    try:
        grammar = compile_tools(
            text,
            dialect=options.dialect,
            chat_template=options.chat_template,
            tool_choice=tool_choice(options),
            parallel_tool_calls=not options.no_parallel,
            reasoning=options.reasoning,
            key_order=options.key_order,
            bounds=bounds,
            on_unsupported=options.on_unsupported,
            open_objects=options.open_objects,
            max_calls=options.max_calls,
            openapi=options.openapi,
            documents=documents.schemas,
            formats=options.formats,
            unknown_formats=options.unknown_formats,
            whitespace=None if options.whitespace == "exact" else options.whitespace,
        )
    except SpecError:
        raise
    except CalligramError as error:
        # What is wrong with an option is not wrong with the file.
        of_options = [p for p in error.problems if p.code == "invalid-option"]
        others = [p for p in error.problems if p.code != "invalid-option"]
        located = in_file(documents.located(others), shown(options.tools))
        raise type(error)([*of_options, *located]) from None
    if not as_json:
        for name, reason in left_out(grammar).items():
            sys.stderr.write(visible(f"left out: {name} ({reason})") + "\n")
        for line in doubtful(grammar):
            sys.stderr.write(visible(line) + "\n")
    return grammar


def doubtful(grammar: CompiledGrammar) -> list[str]:
    """What is not enforced though it looks as if it should be: relaxed keywords, and unknown ones
    that are likely misspelt."""
    found = []
    for finding in grammar.findings:
        misspelt = finding.status == "annotation" and "did you mean" in finding.how
        if finding.status == "relaxed" or misspelt:
            place = finding.origin.pointer or "/"
            tool = f"tool '{finding.origin.tool}': " if finding.origin.tool else ""
            found.append(f"warning: {tool}{place}: {finding.how}")
    return list(dict.fromkeys(found))


def left_out(grammar: CompiledGrammar) -> dict[str, str]:
    """The tools that are not in the grammar, each with everything that is wrong with it."""
    reasons: dict[str, list[str]] = {name: [] for name in grammar.dropped}
    for finding in grammar.findings:
        tool = finding.origin.tool
        if finding.status == "refused" and tool in reasons:
            place = finding.origin.pointer
            reasons[tool].append(f"{place}: {finding.how}" if place else finding.how)
    return {name: "; ".join(found) for name, found in reasons.items()}


def tool_choice(options: CompileOptions) -> str | dict[str, object]:
    """The `tool_choice` that `--tool-choice` and `--tool` say together, in OpenAI's form."""
    return chosen(options.tool_choice, options.tool or ())


def chosen(choice: str, tools: Sequence[str]) -> str | dict[str, object]:
    """The `tool_choice` in OpenAI's form where only `tools` may be called; all, if it is empty."""
    if not tools or choice == "none":
        return choice
    named_tools = [{"type": "function", "function": {"name": name}} for name in tools]
    if len(named_tools) == 1 and choice == "required":
        return dict(named_tools[0])
    allowed = {"mode": choice, "tools": named_tools}
    return {"type": "allowed_tools", "allowed_tools": allowed}
