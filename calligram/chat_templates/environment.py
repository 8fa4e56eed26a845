"""The jinja2 environment that chat templates expect.

Settings and helpers are those of Hugging Face's `apply_chat_template` (transformers,
utils/chat_template_utils.py) with what llama.cpp's engine has beside them: `from_json`, lists that
can be appended to, and generators written as JSON lists. The sandbox forbids attributes that lead
out of the template; what a template may cost is limited by the process around it
(:mod:`.worker`).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NoReturn

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import SandboxedEnvironment

NOW: Final = datetime(2026, 1, 2, 3, 4, 5)
"""What `strftime_now` tells: the same render every day."""


class RaisedByTemplate(TemplateError):
    """The template called `raise_exception`."""


class _Generation(Extension):
    """`{% generation %}` … `{% endgeneration %}`, which marks what the model writes: no text."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


def _raise_exception(message: object) -> NoReturn:
    raise RaisedByTemplate(str(message))


def _tojson(
    value: object,
    ensure_ascii: bool = False,
    indent: int | str | None = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    """JSON without jinja's own escapes for HTML, as models are trained with."""
    if separators is not None:
        separators = tuple(separators)
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
        default=_listed,
    )


def _listed(value: object) -> list[object]:
    """What `map` and `select` give, as a list; anything else has no JSON."""
    if isinstance(value, Iterator):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no JSON")


def _strftime_now(form: str) -> str:
    return NOW.strftime(form)


@functools.cache
def environment() -> SandboxedEnvironment:
    """The one environment. Its templates see no files and no other templates."""
    made = SandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_Generation, "jinja2.ext.loopcontrols"],
    )
    made.filters["tojson"] = _tojson
    made.filters["from_json"] = made.filters["fromjson"] = json.loads
    made.globals["raise_exception"] = _raise_exception
    made.globals["strftime_now"] = _strftime_now
    return made
