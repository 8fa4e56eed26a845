"""What `calligram serve` is told: flags over environment variables over a file over defaults."""

from __future__ import annotations

import contextlib
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..compiler.detection import AUTO
from ..compiler.errors import CalligramError, reason_of
from ..compiler.ir import Bounds
from ..compiler.origin import Origin, Problem, did_you_mean
from .options import OnUnsupported, Policy
from .settings_error import SettingsError

PREFIX: Final = "CALLIGRAM_"
OTHERS: Final = ("CALLIGRAM_CACHE_DIR", "CALLIGRAM_DEBUG", "CALLIGRAM_DISABLE")
"""Variables of calligram's that are no settings of the proxy."""
TABLE: Final = "serve"
_HOST: Final = re.compile(r"[A-Za-z0-9._~-]+|[0-9A-Fa-f:.%]+")
DAY: Final = 86_400.0
Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, le=DAY, allow_inf_nan=False)]


class Settings(BaseModel):
    """Every setting; a flag, a key of the file and a variable have its name."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    upstream: str = Field(description="The address of llama-server, such as http://127.0.0.1:8080.")
    dialect: str = Field(
        default="auto",
        description="How the model writes calls: a shipped dialect's id, a spec file, or auto, "
        "which asks the server for its chat template.",
    )
    # Empty, as an unset variable of a shell's leaves it, it would be every address there is.
    host: Annotated[str, Field(min_length=1)] = Field(
        default="127.0.0.1", description="The address to listen at; 0.0.0.0 are all."
    )
    port: Annotated[int, Field(ge=0, le=65535)] = Field(
        default=8088, description="The port to listen at; 0 takes a free one."
    )
    default_off: bool = Field(
        default=False,
        description="Leave requests alone unless they have the header `X-Calligram: on`.",
    )
    on_unsupported: OnUnsupported = Field(
        default="error",
        description="Tools that cannot be enforced: refuse the request (error), check afterwards "
        "(relax), leave the tool out (drop-tool), or send the request on as it is (pass).",
    )
    bounds: dict[str, Count] = Field(
        default={}, description="Bounds where a schema has none; the defaults of compile_tools."
    )
    key_order: Literal["schema", "any"] = Field(
        default="schema", description="The order in which keys may come."
    )
    open_objects: bool = Field(
        default=False, description="Objects that do not forbid undeclared keys allow them."
    )
    openapi: bool = Field(
        default=False, description="Read `nullable` and `discriminator` as OpenAPI does."
    )
    parallel_tool_calls: bool = Field(
        default=True, description="Several calls a turn, where the request does not say."
    )
    max_calls: Count | None = Field(default=None, description="The most calls in one turn.")
    retry_invalid: bool = Field(
        default=False,
        description="Ask once more, with a call required, if a call came out wrong. Streams are "
        "then held back until they have been checked.",
    )
    upstream_special: bool = Field(
        default=False, description="The server runs with --special and shows every token."
    )
    max_body: Count = Field(default=8 * 2**20, description="Bytes of one request's body.")
    max_values: Count = Field(
        default=50_000, description="Values in one request's body: reading many holds up others."
    )
    max_tools: Count = Field(default=256, description="Tools of one request.")
    max_schema_bytes: Count = Field(
        default=2**20, description="Bytes of one request's tool definitions."
    )
    compile_seconds: Seconds = Field(
        default=5.0, description="The longest that one grammar may take to compile."
    )
    compile_workers: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=2, description="Processes that compile grammars."
    )
    cache_grammars: Count = Field(default=128, description="Grammars kept.")
    cache_bytes: Count = Field(default=64 * 2**20, description="Bytes of grammars kept.")
    connect_seconds: Seconds = Field(
        default=10.0, description="The longest that the server may take to accept a connection."
    )
    read_seconds: Seconds = Field(
        default=600.0, description="The longest that the server may stay silent."
    )
    log: Literal["auto", "json", "text"] = Field(
        default="auto",
        description="Lines of JSON or of text on standard error; auto: text on a terminal.",
    )
    log_text: bool = Field(
        default=False, description="Write prompts and answers into the log as well."
    )

    @field_validator("upstream")
    @classmethod
    def _is_url(cls, value: str) -> str:
        wrong = f"is no address such as http://127.0.0.1:8080: {without_name(value)!r}"
        if not re.fullmatch(r"[!-~]+", value):
            raise ValueError(wrong)
        try:
            parts = urlsplit(value)
            port = parts.port
        except ValueError:  # A port that is none, or brackets that do not close.
            raise ValueError(wrong) from None
        if parts.scheme not in ("http", "https"):
            raise ValueError(wrong)
        if "@" in parts.netloc or "?" in value or "#" in value:
            raise ValueError("has a query, a fragment or a name, which an upstream has not")
        if not parts.hostname or port == 0 or not _HOST.fullmatch(parts.hostname):
            raise ValueError(wrong)
        if any(segment in (".", "..") for segment in unquote(parts.path).split("/")):
            raise ValueError("has a segment `.` or `..` in its path")
        return value.rstrip("/")

    @field_validator("bounds", mode="before")
    @classmethod
    def _are_bounds(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError("bounds are names and numbers: string=80,items=10; a table in a file")
        legal = tuple(Bounds.__slots__)
        for name, number in value.items():
            if name not in legal:
                hint = did_you_mean(str(name), legal) or "legal: " + ", ".join(legal)
                raise ValueError(f"unknown bound '{name}'; {hint}")
            if not isinstance(number, int) or isinstance(number, bool) or number < 1:
                raise ValueError(f"the bound '{name}' is a whole number from 1 on, not {number!r}")
        Bounds(**value)
        return value

    def policy(self) -> Policy:
        """How requests are constrained."""
        return Policy(
            on_unsupported=self.on_unsupported,
            bounds=Bounds(**self.bounds),
            key_order=self.key_order,
            open_objects=self.open_objects,
            openapi=self.openapi,
            max_calls=self.max_calls,
            parallel_tool_calls=self.parallel_tool_calls,
            max_tools=self.max_tools,
            max_schema_bytes=self.max_schema_bytes,
        )


def without_name(url: str) -> str:
    """An address as it may be shown: no name or password in it."""
    return re.sub(r"//[^/]*@", "//…@", url)


def load_settings(
    flags: Mapping[str, Any], file: str | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings.

    Args:
        flags: what the command line says; None: nothing.
        file: a TOML file, its keys at the top or in a table ``serve``.
        environment: variables ``CALLIGRAM_`` and a setting's name in capitals.

    Raises:
        SettingsError: every problem, each with where it was said.
        SpecError: the dialect cannot be read; with where it was said too.
    """
    said: dict[str, Any] = {}
    places: dict[str, Origin] = {}
    if file is not None:
        table, pointer = _read(file)
        for name, value in table.items():
            said[name], places[name] = value, Origin(pointer, file=file).child(name)
    for name, info in Settings.model_fields.items():
        variable = PREFIX + name.upper()
        if environment.get(variable):
            origin = Origin(file=f"environment variable {variable}")
            said[name] = _typed(environment[variable], info.annotation)
            places[name] = origin
    for name, value in flags.items():
        if value is not None:
            said[name], places[name] = value, Origin(file="--" + name.replace("_", "-"))
    try:
        found = Settings.model_validate(said)
    except ValidationError as error:
        raise SettingsError([_problem(dict(e), places) for e in error.errors()]) from None
    if found.dialect != AUTO:
        _check_dialect(found.dialect, places.get("dialect", Origin()))
    return found


def _check_dialect(dialect: str, origin: Origin) -> None:
    """A dialect that cannot be read is a problem at the place that names it."""
    from ..compiler.spec_loader import load_dialect  # Not before it is needed: it takes time.

    try:
        load_dialect(dialect)
    except CalligramError as error:
        placed = [_named(problem, origin) for problem in error.problems]
        raise type(error)(placed) from None


def _named(problem: Problem, origin: Origin) -> Problem:
    """A problem of a dialect; in a file of its own, it stays at its place there."""
    if problem.origin.file is None:
        return replace(problem, origin=origin)
    said = Problem("", "", origin).place
    return replace(problem, message=f"{problem.message} (the dialect that {said} names)")


def unknown_variables(environment: Mapping[str, str] = os.environ) -> list[Problem]:
    """A warning for each variable that looks like a setting and is none: a slip of the pen would
    otherwise leave the default, unsaid."""
    legal = [PREFIX + name.upper() for name in Settings.model_fields]
    return [
        Problem(
            "setting-unknown",
            f"there is no setting of the variable {name}; it is not read",
            Origin(file=f"environment variable {name}"),
            did_you_mean(name, [*legal, *OTHERS]),
            "warning",
        )
        for name in sorted(environment)
        if name.startswith(PREFIX) and name not in legal and name not in OTHERS
    ]


def _read(file: str) -> tuple[dict[str, Any], str]:
    try:
        with open(file, "rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        message = f"cannot be read: {reason_of(error)}"
        raise SettingsError.at("cannot-read", message, Origin(file=file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError.at("setting-toml", f"is no TOML: {error}", Origin(file=file)) from None
    inner = table.get(TABLE)
    if not isinstance(inner, dict):
        return table, ""
    problems = [
        Problem(
            "setting-unknown",
            f"`{name}` stands beside the table [{TABLE}], where it is not read",
            Origin(file=file).child(name),
            f"settings stand in [{TABLE}], or all at the top",
        )
        for name in table
        if name != TABLE
    ]
    if problems:
        raise SettingsError(problems)
    return inner, f"/{TABLE}"


def _typed(text: str, annotation: Any) -> Any:
    """A variable's text as what the setting takes; as it is where it cannot be."""
    if annotation is bool:
        return {"1": True, "true": True, "0": False, "false": False}.get(text.lower(), text)
    if annotation == dict[str, Count]:
        return parse_bounds(text)
    # The other types are texts and numbers.
    for kind in () if annotation is str else (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def parse_bounds(text: str) -> Any:
    """`string=80,items=10`; the text itself if it is not of that form."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(equals and number.strip().isdecimal() for _, equals, number in pairs):
        return text
    return {name.strip(): int(number) for name, _, number in pairs}


def _problem(error: dict[str, Any], places: Mapping[str, Origin]) -> Problem:
    name = str(error["loc"][0])
    origin = places.get(name, Origin())
    if error["type"] == "extra_forbidden":
        legal = list(Settings.model_fields)
        hint = did_you_mean(name, legal) or "legal: " + ", ".join(legal)
        return Problem("setting-unknown", f"there is no setting `{name}`", origin, hint)
    if error["type"] == "missing":
        hint = "--upstream http://127.0.0.1:8080, or CALLIGRAM_UPSTREAM"
        return Problem("setting-missing", f"`{name}` is needed", origin, hint)
    message = str(error["msg"]).removeprefix("Value error, ")
    info = Settings.model_fields[name]
    return Problem("setting-value", f"`{name}`: {message}", origin, info.description)
