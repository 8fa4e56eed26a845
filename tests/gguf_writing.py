"""Small GGUF files, written by the `gguf` package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def write_gguf(
    path: Path,
    model: str,
    tokens: Sequence[tuple[str, int]],
    *,
    types: bool = True,
    endianess: Any = gguf.GGUFEndian.LITTLE,
    **ids: int,
) -> Path:
    """A GGUF file with a vocabulary and more keys around it; `ids`: eos_token_id and the like."""
    writer = gguf.GGUFWriter(path, "llama", endianess=endianess)
    writer.add_uint32("llama.context_length", 4096)
    writer.add_float64("x.double", 0.5)
    writer.add_array("x.flags", [True, False, True])
    writer.add_tokenizer_model(model)
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0] * len(tokens))
    if types:
        writer.add_token_types([kind for _, kind in tokens])
    writer.add_token_merges(["a b", "b c"])
    for name, token in ids.items():
        writer.add_uint32(f"tokenizer.ggml.{name}", token)
    writer.add_bool("tokenizer.ggml.add_bos_token", False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    return path


def contents(path: Path) -> Mapping[str, Any]:
    """All keys with their values, as the `gguf` package reads them."""
    reader = gguf.GGUFReader(path)
    return {k: f.contents() for k, f in reader.fields.items() if not k.startswith("GGUF.")}
