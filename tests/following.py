"""A chat template that writes turns as a spec says, for specs whose own template is not here."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from calligram.chat_templates import ChatTemplate
from calligram.chat_templates.chat_template import Message
from calligram.chat_templates.chat_template_error import ChatTemplateError
from calligram.compiler.errors import RenderError
from calligram.compiler.findings import Findings
from calligram.compiler.ir import Call
from calligram.compiler.json_schema.options import ReadOptions
from calligram.compiler.json_schema.read import read_schema
from calligram.compiler.render import CallRenderer
from calligram.compiler.spec import DialectSpec
from calligram.compiler.spec_loader import load_shipped
from calligram.compiler.tools import read_tools

ASSISTANT = "<|Qassistant|>"


@dataclass(frozen=True)
class FollowingTemplate(ChatTemplate):
    """Renders without jinja: the calls by the renderer, the rest by the fields of the spec.

    Attributes:
        dialect: the id of the shipped spec that is followed.
    """

    dialect: str = ""

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        **variables: Any,
    ) -> str:
        spec = load_shipped(self.dialect).spec
        parts = []
        for message in messages:
            if message["role"] == "assistant":
                parts.append(ASSISTANT + _turn(spec, message, tools or ()))
            else:
                parts.append(f"<|Q{message['role']}|>{message['content']}<|Qend|>\n")
        if add_generation_prompt:
            parts.append(ASSISTANT + spec.prefill)
        return "".join(parts)


def following(dialect: str) -> FollowingTemplate:
    """The template that follows a shipped spec, with an end token that is none of the spec's."""
    special = {"eos_token": "<|Qeos|>"}
    return FollowingTemplate("", special, place=f"{dialect}.jinja", dialect=dialect)


def _turn(spec: DialectSpec, message: Message, tools: Sequence[Mapping[str, Any]]) -> str:
    thought, said = message.get("reasoning_content"), message.get("content")
    if isinstance(said, list):
        raise ChatTemplateError.at("template-raised", "content is a text")
    block = spec.reasoning
    thoughts = block.open + thought + block.close + block.after if thought and block else ""
    calls = message.get("tool_calls", ())
    where = spec.content.with_calls
    if said and calls and all(t.at == "message_start" for t in spec.triggers):
        raise ChatTemplateError.at("template-raised", "calls stand at the start of a message")
    if not said or (calls and where == "exclusive"):
        content = ""
    else:
        content = spec.content.open + said + spec.content.close
    end = spec.turn_end.tokens[0] if spec.turn_end.tokens else ""
    if not calls:
        return thoughts + content + end
    written = _calls(spec, calls, tools)
    if where == "after":
        return thoughts + written + content + end
    return thoughts + content + spec.lead_in + written + end


def _calls(
    spec: DialectSpec, calls: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
) -> str:
    renderer = _renderer(spec.id, json.dumps(tools))
    bare = [{"name": c["function"]["name"], "arguments": c["function"]["arguments"]} for c in calls]
    named = [{**each, "id": call["id"]} for each, call in zip(bare, calls, strict=True)]
    # A dialect that numbers its calls has no place for ids.
    for given in (named, bare):
        try:
            return renderer.render(given, prefilled=False)
        except RenderError as error:
            refused = error
    raise ChatTemplateError.at("template-raised", str(refused))


@lru_cache(maxsize=16)
def _renderer(dialect: str, tools: str) -> CallRenderer:
    options = ReadOptions(closed_objects=True, arguments=True)
    read = [
        Call(
            tool.name,
            read_schema(tool.schema, origin=tool.origin, options=options, findings=Findings()),
            tool.schema,
            tool.origin,
        )
        for tool in read_tools(json.loads(tools))
    ]
    return CallRenderer(load_shipped(dialect).spec, read, "any", spelled=True)
