"""`calligram dialects`: list the shipped specs, show one resolved, lint files; see also
:mod:`.templates_commands` and
:mod:`.derive_command`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from ..compiler.errors import LimitExceeded, SpecError
from ..compiler.lint import lint as lint_spec
from ..compiler.origin import Problem
from ..compiler.spec_loader import find_spec, load_shipped, shipped_ids
from ..spec_yaml import to_yaml
from .derive_command import derive
from .exit_codes import ExitCode
from .files import write_out
from .options import Json
from .problems import print_problems
from .templates_commands import check, detect, find

dialects_app = typer.Typer(
    help="The dialect specs: list, show, lint, compare with templates, derive, find a model's.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
dialects_app.command("check")(check)
dialects_app.command("derive")(derive)
dialects_app.command("detect")(detect)
dialects_app.command("find")(find)


@dialects_app.command("list")
def list_dialects(as_json: Json = False) -> None:
    """The shipped dialects and the model families that write them."""
    rows = [(name, load_shipped(name).spec.families) for name in shipped_ids()]
    if as_json:
        document = [{"id": name, "families": list(families)} for name, families in rows]
        write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return
    width = max((len(name) for name, _ in rows), default=0)
    write_out("".join(f"{n:<{width}}  {', '.join(f)}".rstrip() + "\n" for n, f in rows))


@dialects_app.command("show")
def show_dialect(
    dialect: Annotated[str, typer.Argument(metavar="ID|FILE", help="A shipped id or a file.")],
    as_json: Json = False,
) -> None:
    """One spec as the compiler sees it: inheritance and variables resolved, defaults left out."""
    spec = find_spec(dialect).spec
    data = spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if as_json:
        write_out(json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    else:
        write_out(to_yaml(data))


@dialects_app.command("lint")
def lint_dialects(
    specs: Annotated[list[str], typer.Argument(metavar="ID|FILE...", help="The specs to check.")],
    as_json: Json = False,
) -> None:
    """Check specs, all problems at once. With --json the list of problems is the output."""
    found: list[Problem] = []
    for name in specs:
        problems = _problems(name)
        found += problems
        if not as_json:
            print_problems(problems, as_json=False)
            if not any(p.severity == "error" for p in problems):
                write_out(f"{name}: ok\n")
    if as_json:
        document = [p.to_json() for p in found]
        write_out(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    if any(p.severity == "error" for p in found):
        raise typer.Exit(ExitCode.REFUSED)


def _problems(name: str) -> list[Problem]:
    """What is wrong with one spec; a file that cannot be read is an input error, not a finding."""
    try:
        loaded = find_spec(name)
    except (SpecError, LimitExceeded) as error:
        if {p.code for p in error.problems} & {"spec-unreadable", "unknown-dialect"}:
            raise
        return list(error.problems)
    return [*loaded.warnings, *lint_spec(loaded)]
