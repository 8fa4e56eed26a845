"""Chat templates of our own that stand for the notations, each with the spec that it fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from calligram.chat_templates import ChatTemplate
from calligram.compiler.spec_loader import LoadedSpec, load_spec

FOLDER = Path(__file__).parent / "chat_templates"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def own_template(name: str) -> ChatTemplate:
    """The template, with the end token that its model would have."""
    return replace(ChatTemplate.from_path(FOLDER / f"{name}.jinja"), special={"eos_token": "</s>"})


def own_spec(name: str) -> LoadedSpec:
    return load_spec(FOLDER / f"{name}.yaml")
