"""The names of output files: patterns filled in, and no two alike."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

from ..compiler.origin import Problem, closest_first
from .manifest import Loaded
from .settings import GrammarSettings
from .targets import TARGETS, Name

FOLDER: Final = "grammars/"
HOLES: Final = {
    "name": "the grammar's name in the manifest",
    "dialect": "the dialect's id, or the name of its file without the ending",
    "tool": "the tool's name, with `each = true`",
    "target": "`gbnf`, `regex`, `fsm`, `mask` or `report`",
    "extension": "`gbnf`, `regex`, `npz` (`fsm`), `cgm` (`mask`) or `report.json`",
}
"""What may stand in braces in a pattern; docs/reference/manifest.md is made of it."""

_HOLE: Final = re.compile(r"\{([^{}]*)\}")
_UNSAFE: Final = re.compile(rb"[^A-Za-z0-9_.\-]|^\.")


class OutputNames:
    """Names the outputs of one manifest and finds those that clash."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._owners: dict[str, str] = {}
        manifest = os.path.basename(loaded.file)
        self._inputs = {_normal(loaded.record): "the record", _normal(manifest): "the manifest"}
        for settings in loaded.grammars.values():
            documents = settings.documents or ()
            dialects = settings.dialect or ()
            dialects = (dialects,) if isinstance(dialects, str) else dialects
            files = (
                settings.tools, settings.vocabulary, *(settings.samples or ()),
                *(documents.values() if isinstance(documents, dict) else documents), *dialects,
            )  # fmt: skip
            self._inputs |= {_normal(f): "an input" for f in files if f}

    def of(
        self,
        name: str,
        settings: GrammarSettings,
        target: Name,
        dialect: str,
        tool: str | None,
        problems: list[Problem],
    ) -> str:
        """The path of one output, relative to the manifest's folder; problems are added."""
        given = settings.output
        keys = ["output"]
        if isinstance(given, dict):
            given = given.get(target)
            keys.append(target)
        pattern = FOLDER if given is None else given
        if pattern.endswith("/"):
            single = settings.dialect is None or isinstance(settings.dialect, str)
            middle = "" if single else ".{dialect}"
            inner = "" if tool is None else "/{tool}"
            pattern += "{name}" + middle + inner + ".{extension}"
        values = {
            "name": name,
            "dialect": dialect,
            "target": target,
            "extension": TARGETS[target].extension,
        }
        if tool is not None:
            values["tool"] = tool
        origin = self._loaded.origin("grammars", name, *keys)
        for hole in dict.fromkeys(_HOLE.findall(pattern)):
            if hole in values:
                continue
            if hole == "tool":
                message, hint = "`{tool}` has a meaning only with `each = true`", None
            else:
                message = f"`{{{hole}}}` is no hole of a name"
                known = ", ".join(f"{{{h}}}" for h in HOLES)
                hint = closest_first(hole, HOLES, f"holes: {known}")
            problems.append(Problem("manifest-value", message, origin, hint))
        return _HOLE.sub(lambda m: _safe(values.get(m[1], "")), pattern)

    def claim(self, grammar: str, unit: str, paths: Sequence[str], problems: list[Problem]) -> None:
        """Take paths for a unit; what has them already is a problem."""
        origin = self._loaded.origin("grammars", grammar, "output")
        hint = "holes keep names apart: " + ", ".join(f"{{{h}}}" for h in HOLES)
        for path in paths:
            normal = _normal(path)
            if normal in self._inputs:
                message = f"`{path}` is {self._inputs[normal]}"
                problems.append(Problem("manifest-output", message, origin))
            elif normal in self._owners:
                owner = self._owners[normal]
                what = f"two outputs of '{unit}'" if owner == unit else f"'{owner}' and '{unit}'"
                message = f"{what} would be written to `{path}`"
                problems.append(Problem("manifest-output", message, origin, hint))
            self._owners[normal] = unit


def _normal(path: str) -> str:
    return os.path.normcase(os.path.normpath(path))


def _safe(text: str) -> str:
    """A name as part of a file's name: other bytes than letters, digits and `_.-` as %XX."""
    data = text.encode("utf-8", "surrogatepass")
    return _UNSAFE.sub(lambda m: b"%%%02X" % m[0][0], data).decode("ascii")
