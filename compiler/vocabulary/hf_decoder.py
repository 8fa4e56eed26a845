"""What a Hugging Face decoder makes of a token in the middle of a text.

The decoders are those of the `tokenizers` library (src/decoders, src/pre_tokenizers,
src/normalizers/replace.rs). Some look at where a token stands: they strip what a text begins with,
which says nothing about tokens further on. Those that look at a token's neighbours are refused: the
token then has no bytes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import VocabularyError
from ..origin import Origin
from .files import malformed
from .spelling import byte_level, fallback_byte

Step = Callable[[str | bytes], str | bytes]
"""One decoder: text to text or to bytes. Bytes are done, the steps behind leave them alone."""


def decoder_of(config: Any, file: str | None = None) -> Callable[[str], bytes]:
    """Token text to bytes.

    Args:
        config: the value of "decoder" in a tokenizer.json.

    Raises:
        VocabularyError: tokens have no bytes of their own with this decoder, or it is not known.
    """
    if config is None:
        raise _refused("none at all, which puts spaces between tokens", "/decoder", file)
    steps = list(_Reader(file).steps(config, "/decoder"))

    def decode(token: str) -> bytes:
        done: str | bytes = token
        for step in steps:
            done = step(done)
        return done if isinstance(done, bytes) else done.encode("utf-8")

    return decode


def _refused(what: str, pointer: str, file: str | None) -> VocabularyError:
    return VocabularyError.at(
        "vocabulary-kind",
        f"the tokenizer's decoder is {what}: its tokens have no bytes of their own",
        Origin(pointer, file=file),
    )


class _Reader:
    """Reads the steps of a decoder; remembers whether tokens have been put together."""

    def __init__(self, file: str | None) -> None:
        self._file = file
        self._fused = False

    def steps(self, config: Any, pointer: str) -> list[Step]:
        if not isinstance(config, Mapping):
            raise malformed(self._file, f"{pointer} is no object")
        match config.get("type"):
            case "Sequence":
                parts = config.get("decoders")
                if not isinstance(parts, list):
                    raise malformed(self._file, f"{pointer}/decoders is no list")
                return [
                    step
                    for n, part in enumerate(parts)
                    for step in self.steps(part, f"{pointer}/decoders/{n}")
                ]
            case "ByteLevel":
                # It puts the bytes together and reads them as UTF-8: nothing may come before.
                if self._fused:
                    raise _refused("ByteLevel behind Fuse", pointer, self._file)
                self._fused = True
                return [_on_text(byte_level)]
            case "ByteFallback":
                if self._fused:
                    return []
                return [_on_text(lambda text: fallback_byte(text.encode("utf-8")) or text)]
            case "Fuse":
                self._fused = True
                return []
            case "Metaspace":
                mark = config.get("replacement", "\u2581")
                if not isinstance(mark, str) or len(mark) != 1:
                    raise malformed(self._file, f"{pointer}/replacement is no character")
                return [_on_text(lambda text: text.replace(mark, " "))]
            case "Replace":
                return [self._replace(config, pointer)]
            case "Strip":
                return self._strip(config, pointer)
            case kind:
                raise _refused(str(kind), pointer, self._file)

    def _replace(self, config: Mapping[str, Any], pointer: str) -> Step:
        pattern, content = config.get("pattern"), config.get("content")
        old = pattern.get("String") if isinstance(pattern, Mapping) else None
        if not isinstance(content, str):
            raise malformed(self._file, f"{pointer}/content is no string")
        if not isinstance(old, str) or not old:
            raise _refused("a replacement by a pattern", pointer, self._file)
        if self._fused and len(old) > 1:
            raise _refused("a replacement across tokens", pointer, self._file)
        return _on_text(lambda text: text.replace(old, content))

    def _strip(self, config: Mapping[str, Any], pointer: str) -> list[Step]:
        content, start, stop = (config.get(k) for k in ("content", "start", "stop"))
        if not isinstance(content, str) or len(content) != 1:
            raise malformed(self._file, f"{pointer}/content is no character")
        if not isinstance(start, int) or not isinstance(stop, int):
            raise malformed(self._file, f"{pointer}: start and stop are no numbers")
        if self._fused:
            if stop:
                raise _refused("one that strips the text's end", pointer, self._file)
            return []  # Strips the text's beginning, and a model writes behind a prompt.

        def strip(text: str) -> str:
            low = 0
            while low < min(start, len(text)) and text[low] == content:
                low += 1
            high = len(text)
            while high > max(low, len(text) - stop) and text[high - 1] == content:
                high -= 1
            return text[low:high]

        return [_on_text(strip)]


def _on_text(step: Callable[[str], str | bytes]) -> Step:
    return lambda token: step(token) if isinstance(token, str) else token
