"""The turns that are rendered through a template and through a spec, and the tools they call.

The tools are those that corpora speak of, so that what is rendered can go into one.
Texts and names are such that they stand in no template by themselves: where one is found in a
render, it was put there.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, Final

from ..compiler.findings import Findings
from ..compiler.ir import Call
from ..compiler.json_schema.options import ReadOptions
from ..compiler.json_schema.read import read_schema
from ..compiler.tools import read_tools

THOUGHT: Final = "Qthought of what to do."
SAID: Final = "Qsaid this first."


@dataclass(frozen=True, slots=True)
class Conversation:
    """One assistant's turn.

    Attributes:
        name: what it shows, as messages and corpus rows call it.
        calls: ``{"name", "arguments"}`` each; none: an answer in words.
        content: plain text, where the turn has some.
        reasoning: the text of the reasoning block, where it has one.
    """

    name: str
    calls: tuple[Mapping[str, Any], ...] = ()
    content: str | None = None
    reasoning: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is one call or more, and nothing else."""
        return bool(self.calls) and self.content is None and self.reasoning is None


@functools.cache
def tools() -> list[dict[str, Any]]:
    """The tools that are called, in OpenAI's form."""
    text = (resources.files(__package__ or __name__) / "tools.json").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(text)
    return found


@functools.cache
def tool_calls() -> tuple[Call, ...]:
    """The tools with their schemas read, as renderers take them."""
    options = ReadOptions(closed_objects=True, arguments=True)
    return tuple(
        Call(
            tool.name,
            read_schema(tool.schema, origin=tool.origin, options=options, findings=Findings()),
            tool.schema,
            tool.origin,
        )
        for tool in read_tools(tools())
    )


def _call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


_OSLO: Final = _call("forecast", location="Oslo", unit="celsius", days=3)
_LIMA: Final = _call("forecast", location="Lima", unit="fahrenheit", days=1)
_PLAN: Final = _call(
    "plan_trip",
    stops=[{"place": "Rome", "nights": 2}, {"place": "Bari", "nights": 1}],
    options={"pace": "slow", "guide": {"name": "Ada", "licensed": True}},
)


def _text(name: str, text: str) -> Conversation:
    return Conversation(name, (_call("search-docs", query=text),))


CONVERSATIONS: Final[tuple[Conversation, ...]] = (
    Conversation("one call", (_OSLO,)),
    Conversation("two calls", (_OSLO, _LIMA)),
    Conversation("two tools", (_LIMA, _call("clock"), _OSLO)),
    Conversation("no arguments", (_call("clock"),)),
    Conversation("nested objects and arrays", (_PLAN,)),
    Conversation("empty text and array", (_call("search-docs", query="", tags=[]),)),
    Conversation("empty object", (_call("set_labels", labels={}),)),
    Conversation("true", (_call("search-docs", query="masks", exact=True),)),
    Conversation("false", (_call("search-docs", query="masks", exact=False),)),
    Conversation("null", (_call("notes.add", title="Milk", priority=None),)),
    Conversation("negative number", (_call("forecast_map", zoom=-4),)),
    Conversation("fraction", (_call("scale", factor=1.5),)),
    _text("unicode", "naïve ☃ 東京 😀"),
    _text("quotes", 'she said "no" \\ twice'),
    _text("apostrophe", "it's late"),
    _text("line breaks", "first\n\tsecond"),
    _text("two lines", "first\nsecond"),
    _text("markup", "a < b && <b>c</b>"),
    _text("text that looks like JSON", '{"a": 1}'),
    Conversation("content before the call", (_OSLO,), content=SAID),
    Conversation("reasoning before the call", (_OSLO,), reasoning=THOUGHT),
    Conversation("reasoning and content", (_OSLO, _LIMA), content=SAID, reasoning=THOUGHT),
    Conversation("content alone", content=SAID),
    Conversation("reasoning and an answer", content=SAID, reasoning=THOUGHT),
)
"""One thing at a time, so that a difference says what it is about."""
