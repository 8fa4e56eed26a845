"""A chat template that can be rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..compiler.origin import Origin, closest_first
from .chat_template_error import ChatTemplateError
from .process import SECONDS, WORKER
from .sources import DEFAULT, Source, from_tokenizer, read_source

Message = Mapping[str, Any]

_TOOLS = "tool_use"
_CODES = {"limit": "template-limit", "syntax": "template-syntax", "raised": "template-raised"}


@dataclass(frozen=True)
class ChatTemplate:
    """One template, as text, and what it is rendered with.

    Attributes:
        source: the jinja2 text.
        special: texts of special tokens by the names that templates know them by (``bos_token``,
            ``eos_token``); these two are empty if unknown.
        name: which of a model's templates it is.
        place: how messages name it.
        model: what the file itself says that the model is called, "" if nothing.
        seconds: the longest one render may take.
    """

    source: str
    special: Mapping[str, str] = field(default_factory=dict)
    name: str = DEFAULT
    place: str | None = None
    model: str = ""
    seconds: float = SECONDS

    @classmethod
    def from_path(cls, path: str | Path, name: str | None = None) -> ChatTemplate:
        """The template of a `.jinja` file, a GGUF, a `tokenizer_config.json` or its folder.

        Args:
            name: which one, where there are several; without it ``tool_use`` if there is one, as
                it is the one that a host uses for calls, else ``default``.

        Raises:
            ChatTemplateError: it cannot be read, or there is no template (of that name).
        """
        return cls.of(read_source(path), name)

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, name: str | None = None) -> ChatTemplate:
        """The template of a Hugging Face tokenizer object; `name` as in :meth:`from_path`.

        Raises:
            ChatTemplateError: it has no template (of that name).
        """
        return cls.of(from_tokenizer(tokenizer), name)

    @classmethod
    def of(cls, source: Source, name: str | None = None) -> ChatTemplate:
        """The template called `name` of those in `source`. Raises ChatTemplateError."""
        names = list(source.templates)
        if name is None:
            name = next((n for n in (_TOOLS, DEFAULT) if n in names), names[0])
        if name not in names:
            raise ChatTemplateError.at(
                "template-missing",
                f"no template is named '{name}'",
                Origin(file=source.place),
                closest_first(name, names, f"there are: {', '.join(names)}"),
            )
        return cls(source.templates[name], source.special, name, source.place, source.model)

    def render(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        **variables: Any,
    ) -> str:
        """The text of a conversation, in a process of its own with limits on time and size.

        Args:
            messages: as in OpenAI's chat API, JSON values throughout.
            tools: OpenAI's tool definitions; None is passed on, as Hugging Face does.
            add_generation_prompt: end with what makes the model answer.
            **variables: further variables of the template (``enable_thinking=True``).

        Raises:
            ChatTemplateError: `template-syntax`, with the line; `template-raised`, what the
                template says itself; `template-failed`, an operation of it fails, with the line;
                `template-limit`, more than `seconds`, 4,000,000 characters or 1 GiB of memory.
        """
        given: dict[str, Any] = {
            "bos_token": "",
            "eos_token": "",
            **self.special,
            "messages": messages,
            "tools": tools,
            "add_generation_prompt": add_generation_prompt,
            **variables,
        }
        answer = WORKER.render(self.source, given, self.seconds)
        if "text" in answer:
            text: str = answer["text"]
            return text
        line = answer.get("line")
        origin = Origin(file=self.place, line=line, column=1 if line else None)
        code = _CODES.get(answer["kind"], "template-failed")
        said = "the template says: " if code == "template-raised" else "the template: "
        raise ChatTemplateError.at(code, said + answer["error"], origin)
