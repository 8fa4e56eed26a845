"""What the end of a prompt has already said of the turn: its prefill, and a block of reasoning."""

from __future__ import annotations

from dataclasses import dataclass

from ..compiler.pipeline import Reasoning
from ..compiler.spec import DialectSpec


@dataclass(frozen=True, slots=True)
class PromptEnd:
    """Where the model begins.

    Attributes:
        reasoning: the block may come first ("allow"), has been opened ("opened"), or has been
            opened and closed, so that none follows ("none").
        prefilled: the prompt ends with the dialect's prefill.
    """

    reasoning: Reasoning
    prefilled: bool


def read_end(
    prompt: str, spec: DialectSpec, begun: str = "", usual: str | None = None
) -> PromptEnd:
    """How a prompt that a chat template made ends, white space aside.

    Args:
        begun: what the client has begun the answer with, and the model is to go on from.
        usual: how prompts end before an answer; None if unknown.
    """
    prefilled = bool(spec.prefill) and prompt.endswith(spec.prefill)
    block = spec.reasoning
    reasoning: Reasoning = "allow"
    if block is not None and not prefilled:
        said = prompt.rstrip()
        # Behind the block some templates write how the answer begins.
        after = block.after.strip()
        closed = [block.close.strip(), *([block.close.strip() + after] if after else [])]
        # Only what is the answer's: a user's message may speak of such blocks.
        own = begun.rstrip()
        if usual is not None and said.endswith(usual + own):
            own = usual + own
        in_thought = own.rfind(block.open.strip()) > own.rfind(block.close.strip())
        if said.endswith(block.open.rstrip()) or (said.endswith(own) and in_thought):
            reasoning = "opened"
        elif any(said.endswith(end) for end in closed):
            reasoning = "none"
    return PromptEnd(reasoning, prefilled)
