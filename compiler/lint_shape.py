"""One shape of a dialect under the lint: the resolved spec and where its parts are written."""

from __future__ import annotations

from dataclasses import dataclass

from .origin import Origin
from .spec import DialectSpec
from .spec_loader import LoadedSpec
from .template import Hole, Part, literal_after, parse_call, parse_param


@dataclass(frozen=True, slots=True)
class Shape:
    """``prefix`` is "" for the dialect itself, "/accept/0" for its first other shape."""

    loaded: LoadedSpec
    spec: DialectSpec
    prefix: str
    enforced: bool

    def at(self, pointer: str) -> Origin:
        """Where a part is written: in the shape if it says so itself, else in the dialect."""
        origins = self.loaded.origins
        steps = pointer.split("/")
        # `args` is merged key by key, every other part is replaced as a whole.
        unit = "/".join(steps[: 3 if steps[1] == "args" else 2])
        part = "/" + steps[1]
        own = self.prefix + unit in origins
        if own or (unit not in origins and self.prefix + part in origins):
            return self.loaded.origin(self.prefix + pointer)
        return self.loaded.origin(pointer)

    def written(self, *pointers: str) -> str:
        """The first pointer that the spec or the shape has, else the last one."""
        origins = self.loaded.origins
        found = (p for p in pointers if self.prefix + p in origins or p in origins)
        return next(found, pointers[-1])

    def param(self) -> tuple[Part, ...]:
        """The parts of the argument template; empty where there is none."""
        return parse_param(self.spec.args.param or "")

    def after_args(self) -> str:
        """The literal behind the arguments, as far as it is known."""
        return self.spec.args.close + literal_after(parse_call(self.spec.call), "args")

    def after_value(self) -> list[tuple[str, str]]:
        """(what can follow an argument's value, the pointer that says so)."""
        args, parts = self.spec.args, self.param()
        if parts and parts[-1] != Hole("value"):
            return [(literal_after(parts, "value"), "/args/param")]
        return [(args.separator, "/args/separator"), (self.after_args(), "/args/close")]

    def opener(self) -> str:
        """The template text that a turn's calls begin with, names as ``{name}``."""
        text = self.spec.section.open + self.spec.call
        return text.replace("{name:json}", '"{name}"')
