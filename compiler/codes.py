"""What each problem's code means, in one line. docs/reference/errors.md is generated from here.

A test compares this table with the codes that the source uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Codes = Mapping[str, str]

INPUT: Final[Codes] = {
    "cannot-read": "A file cannot be opened or read.",
    "cannot-write": "The output file cannot be written; what was there before is unchanged.",
    "input-too-long": "A file is longer than the command line reads.",
    "not-utf-8": "A file, an argument or a text to read is not UTF-8.",
    "usage": "The command line's arguments make no sense.",
    "internal": "A bug in calligram.",
    "bench-not-installed": "What a benchmark needs is not installed.",
    "bench-schema": "A line of schemas to measure holds no schema.",
    "bench-text": "A text to measure cannot be written in the vocabulary.",
    "demo-data": "The demo's data file has the wrong shape.",
    "demo-not-installed": "The demo's server or model is not installed.",
    "demo-server": "The demo's server did not start, refused a request or broke off.",
}

SPECS: Final[Codes] = {
    "dialect-auto": "A dialect must be named, or detected from a chat template.",
    "dialect-unknown": "The chat template's dialect cannot be told.",
    "extends-cycle": "Specs extend each other in a circle.",
    "extends-too-deep": "Too long a chain of `extends`.",
    "spec-documents": "The file holds several YAML documents.",
    "spec-duplicate-key": "A mapping has the same key twice.",
    "spec-missing-key": "A required key is missing.",
    "spec-not-mapping": "The document is not a mapping.",
    "spec-too-deep": "The YAML is nested too deeply.",
    "spec-too-large": "The YAML, or a text after substitution, is too large.",
    "spec-type": "A value has the wrong type.",
    "spec-unknown-key": "A key that the format does not have; legal keys are listed.",
    "spec-unknown-var": "A text uses a variable that `vars` does not define.",
    "spec-unreadable": "The spec file cannot be opened or is not UTF-8.",
    "spec-unused-var": "Nothing uses a variable (warning).",
    "spec-value": "A value is of the right type but not allowed.",
    "spec-yaml": "Not YAML, or YAML that specs do not use: anchors, aliases, tags.",
    "unknown-dialect": "No shipped dialect has this id.",
    "vars-cycle": "Variables mention each other in a circle.",
    "vars-too-deep": "Too long a chain of variables.",
}

LINT: Final[Codes] = {
    "call-repeats-id": "The call has `{id}` or `{index}` more than once.",
    "opener-clash": "What opens reasoning or content is also how a call begins.",
    "value-closer": "What ends a tagged value can stand inside JSON.",
    "adjacent-holes": "Two holes stand side by side, so their boundary is lost.",
    "args-run-together": "Nothing tells one argument from the next.",
    "args-unused-key": "A key that this notation ignores (warning).",
    "boundary-undecidable": "What follows a value could belong to it.",
    "call-id-kind": "A hole for an id or index without a matching `call_id`.",
    "call-id-pattern": "`call_id.pattern` is missing or out of place.",
    "call-id-unused": "`call_id` without a hole to fill (warning).",
    "call-repeats-args": "The call template has `{args}` more than once.",
    "call-without-args": "The call template has no `{args}`.",
    "call-without-name": "The call template has no `{name}`.",
    "calls-run-together": "Nothing tells one call from the next.",
    "closer-common": "Ordinary text closes a raw string (warning, or error if layout is free).",
    "containers": "This way to write nested containers does not fit the notation.",
    "item-missing": "A tree without a template for the items of arrays.",
    "item-value": "The `item` template has not exactly one `{value}`.",
    "json-separators": "A JSON separator is not a comma or colon with white space around it.",
    "implicit-close-mismatch": "No call begins with what is to close reasoning (warning).",
    "kind-without-body": "A tool kind's template has no `{body}`.",
    "literals-empty": "null, true or false has no spelling.",
    "literals-not-json": "A tagged literal whose first spelling is not JSON's (warning).",
    "literals-overlap": "One spelling stands for two literals.",
    "name-boundary": "What follows a name could belong to it (warning).",
    "param-missing": "This notation needs a `param` template.",
    "param-order": "A hole stands behind the value whose form depends on it.",
    "param-repeats-value": "The `param` template has `{value}` more than once.",
    "param-without-key": "The `param` template has no `{key}`.",
    "param-without-value": "The `param` template has no `{value}`.",
    "shape-without-trigger": "A shape that no trigger arms (warning).",
    "string-closes-before": "What stands behind strings does not tell that they are closed.",
    "string-forms": "Two forms of strings cannot be told apart.",
    "string-without-closer": "A string without an end.",
    "token-repeated": "A token is listed twice.",
    "token-unused": "A token occurs nowhere in the dialect (warning).",
    "tree-element": "An element of a tree without a text that begins or ends it.",
    "tree-strings": "A tree whose strings are not raw text.",
    "tree-types": "Only members or only items of a tree say their type.",
    "trigger-at": "`at` is not a position that triggers know.",
    "trigger-common": "A trigger that arms at every turn.",
    "trigger-kind": "A trigger has not exactly one of text, token and pattern.",
    "trigger-mismatch": "No call begins with the trigger.",
    "trigger-missing": "A dialect without a trigger.",
    "trigger-per-tool": "`per_tool` and the hole `{name}` go together.",
    "trigger-token": "A trigger's token is not among `tokens`.",
    "type-attr-incomplete": "`type_attr` does not cover every type.",
    "type-attr-missing": "`{type}` without `type_attr`.",
    "type-attr-unused": "`type_attr` without `{type}` (warning).",
    "unknown-hole": "Braces that look like a hole but are literal text.",
}

TOOLS: Final[Codes] = {
    "duplicate-tool": "Two tools have one name.",
    "invalid-json": "Tool definitions, or a call's arguments, are no JSON, or nest too deeply.",
    "invalid-option": "An option has a value that it does not know.",
    "invalid-tool": "A definition is not in a form that is known, or has no usable name.",
    "invalid-tool-choice": "`tool_choice` is not in a form that is known.",
    "invalid-tools": "The tool definitions are not a list of definitions.",
    "no-tools": "There is no tool, or none is left.",
    "text-too-deep": "The JSON is nested too deeply.",
    "text-too-large": "The tool definitions are too long.",
    "too-many-tools": "More tools than the limit.",
    "unknown-tool": "`tool_choice` names a tool that is not offered.",
}

SCHEMAS: Final[Codes] = {
    "duplicate-document": "Two documents that differ have one URI.",
    "invalid-document": "A document for references is no schema, or its URI cannot be one.",
    "invalid-pattern": "Not a regular expression.",
    "invalid-schema": "A keyword's value is not what JSON Schema says.",
    "number-too-large": "A number is beyond what is read exactly.",
    "pattern-too-large": "The automaton of a pattern reaches the limit.",
    "schema-too-complex": "Putting the schema's conjunctions together takes too long.",
    "schema-too-deep": "The schema is nested too deeply.",
    "schema-too-large": "The schema unfolds into too many parts.",
    "too-many-alternatives": "A conjunction of unions has too many alternatives.",
    "too-many-key-classes": "Overlapping patternProperties make too many classes of keys.",
    "unknown-format": "A `format` that is not implemented.",
    "unknown-type": "Not one of the seven JSON types.",
    "unresolved-reference": "A reference leads nowhere: not in the schema, not in the documents.",
    "unsatisfiable": "No value can match; the message names what clashes.",
    "unsupported-keyword": "A keyword, or this use of it, that cannot be enforced exactly.",
    "unsupported-pattern": "A construct of regular expressions that is not regular.",
    "value-too-deep": "A value in the schema is nested too deeply.",
}

GRAMMARS: Final[Codes] = {
    "ambiguous-boundary": "A text can be read in two ways; the message holds one.",
    "automaton-too-ambiguous": "Too many readings of one text at once.",
    "automaton-too-large": "The automaton reaches the limit.",
    "boundary-undecided": "Whether every text has one reading was not decided (warning).",
    "empty-loop": "Something that may be empty repeats without end.",
    "invalid-call": "Calls to render are not a list of names with arguments.",
    "left-recursion": "A rule can begin with itself.",
    "no-calls": "There is no call to render.",
    "not-accepted": "The grammar does not accept this: calls to render, or a parsed text.",
    "machine-steps": "Measuring a counting part of the grammar takes too many steps.",
    "not-carryable": "The notation cannot carry this value.",
    "prefill-mismatch": "The prompt's prefill is not the beginning of any turn.",
    "undefined-rule": "A rule is used but not defined.",
    "unproductive-rule": "A rule matches no finite text.",
    "unsupported-feature": "The target cannot express this exactly.",
}

PARSING: Final[Codes] = {
    "broken-call": "A call begins here, and what follows is not one.",
    "duplicate-key": "An object of the call has the same key twice.",
    "mismatched-key": "An element of the call is closed with another key than it was opened with.",
    "incomplete": "The text ends inside a call or a block.",
    "invalid-arguments": "The arguments break the tool's schema.",
    "too-many-calls": "More calls than the turn may have.",
    "unknown-key": "The tool has no such argument.",
}

RECOVERIES: Final[Codes] = {
    "code-fence": "The call stands in a code fence.",
    "extra-bracket": "A closing bracket too many.",
    "loose-header": "What stands around the call is not quite as the dialect has it.",
    "missing-bracket": "A closing bracket is missing; what ends the call is there.",
    "missing-closer": "What ends a call or an argument is missing; its values are complete.",
    "other-shape": "The call is in another shape than the dialect's.",
    "python-escape": "A string has escapes that are Python's.",
    "python-literal": "True, False or None.",
    "quoted-arguments": "The arguments are JSON in a string.",
    "single-quotes": "A string in single quotes.",
    "trailing-comma": "A comma with nothing behind it.",
    "unquoted-key": "A key without quotes.",
    "unquoted-value": "A value without quotes, whose type the schema tells.",
}

VOCABULARIES: Final[Codes] = {
    "vocabulary-dead-end": "No tokens of the vocabulary are known to lead to the end of a text.",
    "vocabulary-empty": "The vocabulary has no tokens.",
    "vocabulary-format": "A file is not of the format it was read as, or is cut off.",
    "vocabulary-id": "An id is out of range, is given twice, or is no id of the vocabulary.",
    "vocabulary-kind": "A kind of tokenizer whose tokens have no bytes of their own.",
    "vocabulary-library": "An optional library that this format needs is not installed.",
    "vocabulary-no-end": "The vocabulary names no token that ends a text.",
    "vocabulary-size": "The stated number of logits is smaller than the vocabulary.",
    "vocabulary-tokens": "Tokens are not bytes.",
    "vocabulary-unreadable": "A vocabulary's file cannot be opened or read.",
}

ARTEFACTS: Final[Codes] = {
    "automaton-format": "A file is no saved automaton, or it is cut off or damaged.",
    "automaton-grammar": "The automaton was saved for another grammar than the one given.",
    "automaton-not-saveable": "The automaton was made of something that a file cannot hold.",
    "automaton-unreadable": "The file of a saved automaton cannot be opened or read.",
    "automaton-version": "The automaton was saved by another version of calligram.",
    "automaton-vocabulary": "The automaton was saved for another vocabulary.",
    "table-format": "A file is no token table, is cut off or was altered.",
    "table-grammar": "A token table was made of another grammar than the one that was given.",
    "table-too-large": "A token table's file holds a larger table than may be loaded.",
    "table-unreadable": "A token table's file cannot be opened or read.",
    "table-unwritable": "A token table's file cannot be written; what was there is unchanged.",
    "table-version": "A token table of a version that this calligram does not read.",
    "table-vocabulary": "A token table was made for another vocabulary.",
}

TEMPLATES: Final[Codes] = {
    "template-failed": "An operation of the chat template fails.",
    "template-format": "A file that should hold chat templates has another form.",
    "template-limit": "Rendering takes too long, or writes or needs too much.",
    "template-missing": "The place holds no chat template, or none of that name.",
    "template-no-calls": "The template does not show the assistant's calls.",
    "template-raised": "The template itself refuses the conversation.",
    "template-syntax": "The chat template is not jinja2.",
    "template-underivable": "No notation of the spec format is found in what the template writes.",
    "template-unreadable": "A chat template's file cannot be opened or read.",
}

BUILDS: Final[Codes] = {
    "build-worker": "A process that compiled a grammar of a build died.",
    "manifest-exists": "`calligram init` replaces no file.",
    "manifest-missing": "There is no manifest.",
    "manifest-missing-key": "A key that a manifest needs is missing.",
    "manifest-output": "Two outputs have one name, or an output has that of an input.",
    "manifest-toml": "The manifest is not TOML.",
    "manifest-type": "A value in a manifest has the wrong type.",
    "manifest-unknown-key": "A key that manifests do not have; legal keys are listed.",
    "manifest-value": "A value in a manifest is of the right type but not allowed.",
    "record-format": "The record of a build is none, or is damaged.",
}

CODES: Final[Mapping[str, Codes]] = {
    "Command line and demo": INPUT,
    "Dialect specs": SPECS,
    "Dialect specs, by lint": LINT,
    "Tools": TOOLS,
    "Schemas": SCHEMAS,
    "Grammars, targets, rendering": GRAMMARS,
    "Parsing": PARSING,
    "Lenient reading": RECOVERIES,
    "Vocabularies": VOCABULARIES,
    "Saved artefacts": ARTEFACTS,
    "Builds": BUILDS,
    "Chat templates": TEMPLATES,
}
"""Codes with their meanings, by what they are about."""
