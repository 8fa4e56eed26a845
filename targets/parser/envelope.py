"""Calls as JSON objects, however their keys are called.

An object is a call only if all that it says is understood: one name, one object of arguments, and
what may stand beside them. Anything else may be an argument that was put in the wrong place, or
data that has a name, and would be lost.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from ...compiler.decode import Undecodable, decode_json
from .frames import Place, Span
from .loose import NoValue

NAMES: Final = ("name", "function", "tool", "tool_name")
ARGUMENTS: Final = ("arguments", "parameters", "args", "input", "kwargs")
_IDS: Final = ("id", "call_id", "tool_call_id")
_TYPES: Final = ("function", "function_call", "tool_call", "tool_use")
_ONE: Final = "a call has one name and one object of arguments"


class Refused(NoValue):
    """What looks like a call of an offered tool is none.

    Attributes:
        name: the tool's name.
        span: where it stands.
        why: what of it is not understood; one sentence.
    """

    def __init__(self, name: str, span: Span, why: str) -> None:
        super().__init__(why)
        self.name = name
        self.span = span
        self.why = why


class Envelope(NamedTuple):
    """A call as an object.

    Attributes:
        key: the key of the arguments; None if there are none.
        place: where the object stands that has them.
        quoted: were the arguments a string that holds JSON?
    """

    name: str
    id: str | None
    arguments: dict[str, Any]
    key: str | None
    place: Place
    quoted: bool


def read_envelope(entry: Any, place: Place, tools: Collection[str]) -> Envelope:
    """A call out of an object.

    Raises:
        NoValue: it is none, and does not look like one of an offered tool.
        Refused: it looks like one, and is none.
    """
    whole, outer = place.span, None
    if isinstance(entry, dict) and isinstance(entry.get("function"), dict):
        outer, entry, place = entry, entry["function"], place.inner["function"]
    if not isinstance(entry, dict):
        raise NoValue
    name = next((entry[k] for k in NAMES if isinstance(entry.get(k), str)), None)
    if not isinstance(name, str) or name not in tools:
        raise NoValue
    if outer is not None:
        why = not_understood(outer, {"function"})
        if why is None and {*_IDS} & outer.keys() & entry.keys():
            why = "a call has one id"
        if why is not None:
            raise Refused(name, whole, why)
    named, keys = [k for k in NAMES if k in entry], [k for k in ARGUMENTS if k in entry]
    why = not_understood(entry, {*NAMES, *ARGUMENTS})
    if why is not None or len(named) > 1 or len(keys) > 1:
        raise Refused(name, whole, why or _ONE)
    key = keys[0] if keys else None
    arguments: Any = {} if key is None else entry[key]
    quoted = isinstance(arguments, str)
    if quoted:
        repeated: list[str] = []
        try:
            arguments = decode_json(arguments, repeated)
        except Undecodable:
            raise NoValue from None
        if repeated:
            raise Refused(name, whole, twice(repeated[0]))
    if not isinstance(arguments, dict):
        raise Refused(name, whole, "its arguments are no object")
    ids = [i for e in (outer or {}, entry) for k in _IDS if (i := _id(e.get(k))) is not None]
    return Envelope(name, ids[0] if ids else None, arguments, key, place, quoted)


def _id(value: Any) -> str | None:
    """An id as text: models count calls at times."""
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def not_understood(members: Mapping[str, Any], known: Collection[str]) -> str | None:
    """What an object has beside a name and arguments that says anything else; None: nothing.

    Args:
        known: the keys of names and arguments.
    """
    for key, value in members.items():
        if key in known or (key in _IDS and (value is None or _id(value) is not None)):
            continue
        if (key == "type" and value in _TYPES) or (key == "index" and isinstance(value, int)):
            continue
        return f"{key!r} beside the name is neither its arguments nor part of a call"
    return None


def twice(key: str) -> str:
    """Why an object with a repeated key is no call."""
    return f"the key {key!r} stands there twice"
