"""What the fields of `--json` documents mean; docs/reference/cli.md is generated from here.

A test compares the names with what the commands print.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LEFT_OUT: Final = (
    "The tools that the grammar leaves out (`--on-unsupported drop-tool`), by name, each with why."
)

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "compile": {
        "target": "What was made: `gbnf`. For other targets, see their pages.",
        "grammar": "Its text.",
        "trigger": "What arms it under `--tool-choice auto`; null if nothing can.",
        "report": "As `calligram report --json` prints it.",
    },
    "build": {
        "built": "The grammars that were compiled.",
        "fresh": "How many were as they should be.",
        "removed": "Files that the manifest names no longer.",
        "failed": "The grammars that could not be compiled; their problems are on standard error.",
        "notes": "Sentences: warnings, and files that were left.",
    },
    "build --check": {
        "fresh": "How many grammars are as they should be.",
        "stale": "What a build would change: `output`, `grammar` and `reason` each.",
        "failed": "The grammars that cannot be compiled; their problems are on standard error.",
    },
    "clean": {
        "removed": "Files that are gone.",
        "left": "Files that were changed since they were built.",
        "notes": "Sentences: why files were left.",
    },
    "check": {
        "accepted": "Whether the text is in the grammar.",
        "position": "The byte of the first one that is refused; the text's length if it is whole.",
        "expected": "What could stand there, in words.",
        "message": "The same as a sentence.",
        "left_out": _LEFT_OUT,
    },
    "parse": {
        "calls": "The calls: `name`, `arguments` (an object) and `id`, null where the dialect has "
        "none.",
        "content": "The text beside the calls.",
        "reasoning": "The text of the reasoning block.",
        "problems": "What is wrong, as errors are printed: `code`, `severity`, `message`, and "
        "`tool`, `pointer`, `span` (bytes of the text), `hint` where they are known.",
        "incomplete": "Null, or what is known of the call that the text is cut off in: `name`, "
        "`arguments` (text) and `message`.",
        "recoveries": "What `--lenient` overlooked: `code`, `message`, `start` and `end` in bytes, "
        "and `call`, the number of the call from 0.",
        "notices": "Content that looks like a call and was not taken for one, in the form of "
        "problems. The exit code does not count them.",
        "left_out": _LEFT_OUT,
    },
    "report": {
        "counts": "How many keywords have each status.",
        "longest_call_bytes": "Of the longest text that the calls of a turn can be; null: none.",
        "bounds": "The bounds where a schema has none; null: none.",
        "dropped_tools": "The names of tools that are left out.",
        "findings": "Each keyword with `status`, how, and its place.",
    },
    "vocabulary": {
        "kind": "What kind of tokenizer it is.",
        "size": "How many ids there are.",
        "ordinary": "How many of them are text.",
        "longest_bytes": "The length of the longest of these.",
        "special": "How many are special.",
        "end": "Those that end a text: `id` and `text` each.",
        "padding": "How many are never used.",
        "digest": "Of all of it: equal digests are equal vocabularies.",
    },
    "dialects detect": {
        "dialect": 'The id, or "unknown".',
        "reason": "One sentence.",
        "evidence": "Sentences that say why.",
        "best": "The dialect with what it explains, null if it is unknown.",
        "runners_up": "What comes nearest, in the same form.",
        "hint": 'What to do next if the dialect is unknown, else "".',
    },
    "dialects find": {
        "dialect": 'The id, or "unknown" unless one dialect is sure.',
        "matches": "All that may be meant: `dialect`, `family`, `sure` and `reason` each.",
        "near": "Families with names like it, in the same form.",
        "hint": 'What to do next unless one is sure, else "".',
    },
    "dialects check": {
        "dialect": "The spec's id.",
        "template": "The template's place.",
        "ok": "Whether nothing differs and the lint finds no error.",
        "conversations": "Each with `name`, `status` (`same`, `known`, `different`, `skipped`), "
        "`notes` and `differences`.",
        "problems": "What the lint finds, warnings too.",
        "unseen": "Literals that no turn has shown, by `field`.",
    },
    "dialects derive": {
        "ok": "Whether the spec can be used and reads turns of the template.",
        "hint": 'What to do next if not, else "".',
        "spec": "The spec as data.",
        "found": "What was found: `field`, `why`, and whether it is a quirk of history.",
        "unknown": "What was not found: `field` and `why`.",
        "verified": "Turns that were tried: `conversation`, `status` and `message`.",
        "problems": "What the lint finds.",
        "yaml": "The spec as text.",
    },
}
"""By command, in the order of the document."""
