"""What the exit codes mean; docs/reference/cli.md is generated from this table."""

from __future__ import annotations

from enum import IntEnum

from ..bench.bench_error import BenchError
from ..build.inputs import InputFileError
from ..chat_templates.chat_template_error import ChatTemplateError
from ..compiler.errors import ArtefactError, CalligramError, SpecError, ToolError, VocabularyError


class ExitCode(IntEnum):
    """Stable: programs read them."""

    OK = 0
    REFUSED = 1
    INPUT = 2
    CANNOT_COMPILE = 3
    INTERNAL = 4
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANING = {
    ExitCode.OK: "Done; the text was accepted, nothing was found.",
    ExitCode.REFUSED: "`check` refused the text, `parse` met problems or a cut-off text, "
    "`dialects lint` found errors (a broken or oversize spec among them), `dialects check` found "
    "differences (warnings alone are none, here and there), `dialects detect` or `find` "
    "found no dialect that is sure, `dialects derive` made no spec that can be used and reads the "
    "template's turns, `dead-ends` found some or could not tell, `build --check` "
    "found outputs that are stale.",
    ExitCode.INPUT: "Wrong usage, or input that cannot be read: no such file, not UTF-8, not JSON, "
    "a broken spec (where it is not `dialects lint` that finds it), broken tool definitions, a "
    "vocabulary's file that is none, a broken manifest, "
    "a chat template that does not render.",
    ExitCode.CANNOT_COMPILE: "The input was read, but no exact grammar can be made of it: an "
    "unsupported or unsatisfiable schema, a feature the target lacks, a limit.",
    ExitCode.INTERNAL: "A bug in calligram. Set CALLIGRAM_DEBUG=1 to see where.",
    ExitCode.INTERRUPTED: "Interrupted (Ctrl-C).",
    ExitCode.BROKEN_PIPE: "Whoever read the output went away.",
}


def exit_code_of(error: CalligramError) -> ExitCode:
    """The exit code for an error that stops a command."""
    wrong_input = (
        ArtefactError, BenchError, ChatTemplateError, InputError, InputFileError, SpecError,
        ToolError, VocabularyError,
    )  # fmt: skip
    if isinstance(error, wrong_input):
        return ExitCode.INPUT
    return ExitCode.CANNOT_COMPILE


class InputError(CalligramError):
    """A file, a text or an option that cannot be read. Only the command line raises it."""
