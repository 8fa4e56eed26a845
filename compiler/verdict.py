"""The reference verdict: is a text in the language, and if not, where and what was expected."""

from __future__ import annotations

from dataclasses import dataclass

from .automaton.recogniser import Recogniser
from .automaton.words import expected_words


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a text.

    Attributes:
        accepted: the text is a whole text of the grammar.
        position: the offset in bytes (UTF-8) of the first refused byte, at a character's start;
            the length of the text if it was read to its end.
        expected: what could have stood there, in words, the likeliest first.
        message: one sentence.
    """

    accepted: bool
    position: int
    expected: tuple[str, ...]
    message: str

    def __bool__(self) -> bool:
        return self.accepted


def check(recogniser: Recogniser, text: str | bytes) -> Verdict:
    """Walk the text. Bytes may be any; what is no UTF-8 is refused where it stops being so."""
    if isinstance(text, str):
        data = text.encode("utf-8", "surrogatepass")
    elif isinstance(text, (bytes, bytearray, memoryview)):
        data = bytes(text)
    else:
        raise TypeError(f"a text is str or bytes, not {type(text).__name__}")
    config, read = recogniser.walk(data)
    if read == len(data) and recogniser.accepting(config):
        return Verdict(True, read, (), "accepted")
    position = read
    if read < len(data):
        # Speak of whole characters: go back to where this one began.
        while position > 0 and position > read - 3 and data[position] & 0xC0 == 0x80:
            position -= 1
        if position < read:
            config, _ = recogniser.walk(data[:position])
    expected = expected_words(recogniser.core, recogniser.threads(config))
    if recogniser.accepting(config) and "the end of the text" not in expected:
        expected = (*expected, "the end of the text")
    if read == len(data):
        found = "the end of the text"
    else:
        tail = data[position : position + 64].decode("utf-8", "replace")
        found = repr(tail[:1]) if tail else "nothing"
    wanted = _listed(expected)
    return Verdict(False, position, expected, f"expected {wanted}, found {found}")


def _listed(words: tuple[str, ...], most: int = 6) -> str:
    if not words:
        return "nothing more"
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    if len(shown) == 1:
        return shown[0]
    return ", ".join(shown[:-1]) + " or " + shown[-1]
