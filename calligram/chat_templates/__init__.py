"""Chat templates: what a model's own history looks like, rendered, compared and recognised.

:class:`ChatTemplate` loads and renders one; :func:`assistant_turn` gives the text of the turn that
it makes of calls. :mod:`.deriving` makes specs of them. Nothing of this is needed to compile a
grammar.
"""

from .chat_template import ChatTemplate
from .chat_template_error import ChatTemplateError
from .messages import Forms
from .turn import Turn, assistant_turn, call_forms, reasoning_forms

__all__ = [
    "ChatTemplate",
    "ChatTemplateError",
    "Forms",
    "Turn",
    "assistant_turn",
    "call_forms",
    "reasoning_forms",
]
