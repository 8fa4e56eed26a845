"""llama-cpp-python: a logits processor, `(input_ids, scores) -> scores` over one row.

    llama.create_completion(prompt, logits_processor=LogitsProcessorList([processor]))

Source of the shape: llama_cpp.LogitsProcessor, a callable over intc[n] ids, the prompt's included,
and float32[V] scores.
"""

from __future__ import annotations

from typing import Any

from ..targets.mask import MaskAutomaton
from .transformers import TransformersLogitsProcessor


class LlamaCppLogitsProcessor:
    """Masks scores by the tokens that follow the prompt.

    Args:
        automaton: what is allowed; None: everything, and scores pass untouched.
        prompt_length: ids that belong to the prompt. Unless given, the first call's ids are the
            prompt, and ids that do not begin with it begin a new text.
    """

    def __init__(self, automaton: MaskAutomaton | None, prompt_length: int | None = None) -> None:
        self._rows = TransformersLogitsProcessor(automaton, prompt_length)

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Mask `scores`, float[V], in place, and return them.

        Args:
            input_ids: integers[n], the prompt's and those generated so far.
        """
        self._rows(input_ids[None], scores[None])
        return scores

    def reset(self) -> None:
        """Forget the prompt: the next call begins a new text."""
        self._rows.reset()
