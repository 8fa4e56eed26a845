"""Where chat templates are kept -> their texts and the special tokens they may mention.

A `.jinja` file; a GGUF (keys ``tokenizer.chat_template`` and ``tokenizer.chat_template.NAME``, as
llama.cpp writes them); a `tokenizer_config.json` (``chat_template``: a text, or a list of
``{"name", "template"}``), the folder that holds one, perhaps with `chat_template.jinja` beside it
and `additional_chat_templates/NAME.jinja`; a `chat_template.json`; a Hugging Face tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from ..compiler.errors import VocabularyError, reason_of
from ..compiler.origin import Origin
from .chat_template_error import ChatTemplateError

DEFAULT: Final = "default"
MAX_BYTES: Final = 4 * 2**20
"""A template's length; of a JSON file four times that, since its vocabulary may be inside."""

_CONFIG: Final = "tokenizer_config.json"
_BESIDE: Final = "chat_template.jinja"
_KEY: Final = "tokenizer.chat_template"
_SPECIAL: Final = ("bos_token", "eos_token", "pad_token", "unk_token")
_ID: Final = {
    "tokenizer.ggml.bos_token_id": "bos_token",
    "tokenizer.ggml.eos_token_id": "eos_token",
    "tokenizer.ggml.padding_token_id": "pad_token",
    "tokenizer.ggml.unknown_token_id": "unk_token",
}
_TOKENS: Final = "tokenizer.ggml.tokens"


@dataclass(frozen=True, slots=True)
class Source:
    """The templates that one place holds.

    Attributes:
        templates: texts by name; the one that is meant without a name is ``default``.
        special: texts of special tokens by the names templates know them by (``bos_token``).
        model: what the file itself says that the model is called, "" if nothing.
        place: how messages name it.
    """

    templates: Mapping[str, str]
    special: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    place: str | None = None
    kind: Literal["template", "gguf", "config", "tokenizer"] = "template"


def read_source(path: str | Path) -> Source:
    """The templates of a file or folder.

    Raises:
        ChatTemplateError: it cannot be read, is of no known form, or holds no chat template.
    """
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    head = _read(path, 4)
    if head == b"GGUF":
        return _gguf(path)
    if path.suffix == ".json":
        return _config(path, _document(path))
    text = _text(path, _read(path))
    if text.lstrip().startswith("{") and '"chat_template"' in text:
        try:
            document = json.loads(text)
        except ValueError:
            document = None
        if isinstance(document, dict):
            return _config(path, document)
    return Source({DEFAULT: text}, place=str(path))


def from_tokenizer(tokenizer: Any) -> Source:
    """The templates of a Hugging Face tokenizer object.

    Raises:
        ChatTemplateError: it has none.
    """
    special = {}
    for name in _SPECIAL:
        value = getattr(tokenizer, name, None)
        if value is not None:
            special[name] = str(value)
    place = str(getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__)
    given = getattr(tokenizer, "chat_template", None)
    templates = _named(given, place)
    if not templates:
        raise _without(place)
    return Source(templates, special, place, place, "tokenizer")


def _without(place: str) -> ChatTemplateError:
    return ChatTemplateError.at("template-missing", "holds no chat template", Origin(file=place))


def _folder(path: Path) -> Source:
    config = path / _CONFIG
    beside = path / _BESIDE
    if not config.exists() and not beside.exists():
        raise ChatTemplateError.at(
            "template-missing",
            f"the folder has no {_CONFIG} and no {_BESIDE}",
            Origin(file=str(path)),
        )
    if config.exists():
        return _config(config, _document(config))
    return Source(_beside(path), place=str(beside))


def _beside(folder: Path) -> dict[str, str]:
    """Templates kept in files of their own next to a configuration."""
    found = {}
    if (file := folder / _BESIDE).is_file():
        found[DEFAULT] = _text(file, _read(file))
    for file in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        found[file.stem] = _text(file, _read(file))
    return found


def _config(path: Path, document: dict[str, Any]) -> Source:
    templates = _named(document.get("chat_template"), str(path))
    if path.name == _CONFIG:
        # As transformers does: the file of its own wins.
        templates |= _beside(path.parent)
    if not templates:
        raise _without(str(path))
    special = {}
    for name in _SPECIAL:
        value = document.get(name)
        if isinstance(value, Mapping):
            value = value.get("content")
        if isinstance(value, str):
            special[name] = value
    model = document.get("name_or_path")
    return Source(templates, special, model if isinstance(model, str) else "", str(path), "config")


def _named(given: Any, place: str) -> dict[str, str]:
    """A text, a mapping by name, or a list of names with texts, as texts by name."""
    if isinstance(given, str):
        return {DEFAULT: given} if given else {}
    pairs: list[tuple[Any, Any]] = []
    if isinstance(given, Mapping):
        pairs = list(given.items())
    elif isinstance(given, list):
        pairs = [
            (entry.get("name"), entry.get("template"))
            for entry in given
            if isinstance(entry, Mapping)
        ]
        if len(pairs) < len(given):
            pairs.append((None, None))
    if any(not isinstance(n, str) or not isinstance(t, str) for n, t in pairs):
        raise ChatTemplateError.at(
            "template-format",
            "`chat_template` is neither a text nor a list of names with templates",
            Origin("/chat_template", file=place),
        )
    return dict(pairs)


def _gguf(path: Path) -> Source:
    from ..compiler.vocabulary.gguf_file import read_metadata  # numpy, for GGUF files alone

    wanted = {_TOKENS, "general.name", "general.basename", *_ID}
    try:
        found = read_metadata(path, lambda key: key in wanted or key.startswith(_KEY))
    except VocabularyError as error:
        raise ChatTemplateError(error.problems) from None
    templates = {}
    for key, value in found.items():
        if key.startswith(_KEY) and isinstance(value, bytes):
            name = key.removeprefix(_KEY).removeprefix(".") or DEFAULT
            templates[name] = _decoded(value, str(path))
    if not templates:
        raise _without(str(path))
    tokens = found.get(_TOKENS)
    special = {}
    for key, name in _ID.items():
        number = found.get(key)
        if isinstance(number, int) and isinstance(tokens, list) and 0 <= number < len(tokens):
            special[name] = bytes(tokens[number]).decode("utf-8", "replace")
    named = found.get("general.name") or found.get("general.basename") or b""
    model = named.decode("utf-8", "replace") if isinstance(named, bytes) else ""
    return Source(templates, special, model, str(path), "gguf")


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(_text(path, _read(path, 4 * MAX_BYTES + 1), 4 * MAX_BYTES))
    except (ValueError, RecursionError) as error:
        raise ChatTemplateError.at(
            "template-format", f"is not JSON: {error}", Origin(file=str(path))
        ) from None
    if not isinstance(document, dict):
        raise ChatTemplateError.at(
            "template-format", "is JSON, but no object", Origin(file=str(path))
        )
    return document


def _read(path: Path, size: int = MAX_BYTES + 1) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        raise ChatTemplateError.at(
            "template-unreadable", f"cannot be read: {reason_of(error)}", Origin(file=str(path))
        ) from None


def _text(path: Path, data: bytes, most: int = MAX_BYTES) -> str:
    if len(data) > most:
        raise ChatTemplateError.at(
            "template-unreadable", f"is longer than {most:,} bytes", Origin(file=str(path))
        )
    return _decoded(data, str(path))


def _decoded(data: bytes, place: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ChatTemplateError.at(
            "template-unreadable", f"is not UTF-8: byte {error.start}", Origin(file=place)
        ) from None
