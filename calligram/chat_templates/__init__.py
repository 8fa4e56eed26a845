"""Chat templates: what a model's own history looks like, rendered, compared, recognised
and turned into specs.

:class:`ChatTemplate` loads and renders one; :func:`assistant_turn` gives the text of the turn that
it makes of calls; :func:`derive_spec` makes a spec of what it writes. Nothing of this is needed to
compile a grammar.
"""

from .chat_template import ChatTemplate
from .chat_template_error import ChatTemplateError
from .deriving import Derived, derive_spec
from .messages import Forms
from .turn import Turn, assistant_turn, call_forms, reasoning_forms

__all__ = [
    "ChatTemplate",
    "ChatTemplateError",
    "Derived",
    "Forms",
    "Turn",
    "assistant_turn",
    "call_forms",
    "derive_spec",
    "reasoning_forms",
]
