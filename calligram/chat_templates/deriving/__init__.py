"""Deriving: a chat template -> the spec of the dialect that it writes.

Turns with marked names, keys and values are rendered, and what stands around the marks is read out.
One inference a module: :mod:`.json_arguments` or :mod:`.listed_arguments` (with :mod:`.members`,
:mod:`.wording`, :mod:`.strings`, :mod:`.values`, :mod:`.nested`) finds the notation, then
:mod:`.envelope` the calls, :mod:`.reasoning`, :mod:`.opening` and :mod:`.ending` what is around
them, :mod:`.markers` tokens and triggers. :mod:`.verify` tries the result on other calls.
"""

from .derive import Derived, derive_spec, dialect_id
from .known_tokens import known_tokens

__all__ = ["Derived", "derive_spec", "dialect_id", "known_tokens"]
