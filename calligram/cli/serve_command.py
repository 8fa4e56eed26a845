"""`calligram serve`: between clients and llama-server."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import json
from typing import Annotated, Any, Literal, get_args, get_origin

import typer

from ..proxy.settings import Settings, load_settings, parse_bounds
from ..proxy.settings_error import SettingsError
from .files import write_out

NEEDED = ("h11", "starlette", "uvicorn")


def _serve(config: str | None, show: bool, flags: dict[str, Any]) -> None:
    if isinstance(flags.get("bounds"), str):
        flags["bounds"] = parse_bounds(flags["bounds"])
    settings = load_settings(flags, config)
    if show:
        write_out(json.dumps(settings.model_dump(), indent=2) + "\n")
        return
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        message = f"the proxy needs {', '.join(missing)}"
        raise SettingsError.at(
            "proxy-not-installed", message, hint="pip install 'calligram[server]'"
        )
    from ..proxy.serve import serve as run

    run(settings)


def _options() -> list[inspect.Parameter]:
    """The settings as options; none is set unless it is said, so that the file and the
    environment count."""
    found = []
    for name, info in Settings.model_fields.items():
        default = info.get_default(call_default_factory=True)
        shown = "" if info.is_required() or default in (None, {}) else f"  [default: {default}]"
        help_text = f"{info.description}{shown}"
        flag = "--" + name.replace("_", "-")
        kind: Any = _simple(info.annotation)
        if kind is bool:
            option = typer.Option(f"{flag}/--no-{flag[2:]}", help=help_text)
        else:
            option = typer.Option(flag, help=help_text, show_default=False)
        found.append(
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=Annotated[kind | None, option],
            )
        )
    return found


def _simple(annotation: Any) -> Any:
    """What an option takes for a setting: checks are the settings' own."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _simple(get_args(annotation)[0])
    if origin is Literal:
        return annotation
    if origin is dict:
        return str
    arguments = [a for a in get_args(annotation) if a is not type(None)]
    return _simple(arguments[0]) if arguments else annotation


def serve(
    config: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A TOML file of settings, in [serve] or at the top."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Print the settings as JSON and do nothing.")
    ] = False,
    **flags: Any,
) -> None:
    """Serve OpenAI's and Anthropic's APIs in front of llama-server, with calls constrained.

    Flags win over environment variables (CALLIGRAM_UPSTREAM, CALLIGRAM_PORT, …), those over the
    file. CALLIGRAM_DISABLE leaves every request alone.
    """
    _serve(config, show, flags)


_own = [
    p.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    for p in inspect.signature(serve, eval_str=True).parameters.values()
    if p.name != "flags"
]
_all = [*_options(), *_own]
_all.sort(key=lambda p: p.name not in ("upstream", "dialect", "host", "port", "config"))


@functools.wraps(serve)
def serve_command(**values: Any) -> None:
    serve(**values)


del serve_command.__wrapped__  # typer would otherwise read the inner signature
serve_command.__signature__ = inspect.Signature(_all)  # type: ignore[attr-defined]
serve_command.__annotations__ = {p.name: p.annotation for p in _all}
