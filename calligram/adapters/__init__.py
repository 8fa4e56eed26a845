"""Constraints in the loops of other libraries, in the shapes that those libraries call.

None of the libraries is imported: each adapter is an object with the method they ask for. Without
a constraint, or with the environment variable CALLIGRAM_DISABLE set, logits pass untouched.
"""

from .llama_cpp import LlamaCppLogitsProcessor
from .transformers import TransformersLogitsProcessor

__all__ = ["LlamaCppLogitsProcessor", "TransformersLogitsProcessor"]
