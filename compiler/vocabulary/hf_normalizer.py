"""What a Hugging Face normaliser does to white space that was added as a token.

Of an added token marked ``normalized`` the `tokenizers` library keeps the normalised text, and that
is what it decodes. Normalisers otherwise concern encoding alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_LEAVE_BLANKS: Final = ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents")
"""These change no white space of ASCII."""


def normalised(config: Any, text: str) -> str | None:
    """White space as the normaliser leaves it; None if that is not known.

    Args:
        config: the value of "normalizer" in a tokenizer.json.
        text: ASCII white space and marks for spaces; for others nothing is known.
    """
    if config is None:
        return text
    if not isinstance(config, Mapping):
        return None
    match config.get("type"):
        case "Sequence":
            for part in config.get("normalizers") or ():
                changed = normalised(part, text)
                if changed is None:
                    return None
                text = changed
            return text
        case "Prepend" if isinstance(prefix := config.get("prepend"), str):
            return prefix + text if text else text
        case "Replace":
            pattern, content = config.get("pattern"), config.get("content")
            old = pattern.get("String") if isinstance(pattern, Mapping) else None
            if not isinstance(old, str) or not old or not isinstance(content, str):
                return None
            return text.replace(old, content)
        case kind if kind in _LEAVE_BLANKS:
            return text if text.replace("\u2581", " ").isascii() else None
        case _:
            return None
