"""The names of output files: patterns filled in, and no two alike."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ..compiler.origin import Problem, closest_first
from .digests import is_shipped
from .manifest import Loaded, ManifestError
from .places import file_of, spelled, unusable
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
        self._owners: dict[str, tuple[str, str]] = {}
        self._claims: list[tuple[str, str, str, str]] = []

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
        before = len(problems)
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
        path = _HOLE.sub(lambda m: _safe(values.get(m[1], "")), pattern)
        if len(problems) > before:
            return path
        reason = unusable(path)
        if reason is not None:
            message = f"no file has this name: {reason}"
            problems.append(Problem("manifest-value", message, origin))
            return path
        return spelled(self._loaded.folder, path)

    def claim(self, grammar: str, unit: str, paths: Sequence[str], problems: list[Problem]) -> None:
        """Take paths for a unit; what has them already is a problem."""
        origin = self._loaded.origin("grammars", grammar, "output")
        hint = "holes keep names apart: " + ", ".join(f"{{{h}}}" for h in HOLES)
        for path in paths:
            file = file_of(self._loaded.folder, path)
            if file in self._owners:
                owner, other = self._owners[file]
                what = f"two outputs of '{unit}'" if owner == unit else f"'{owner}' and '{unit}'"
                message = f"{what} would be written to `{path}`"
                if other != path:
                    message += f", which is `{other}`"
                problems.append(Problem("manifest-output", message, origin, hint))
            self._owners[file] = unit, path
            self._claims.append((grammar, unit, path, file))

    def clashes(self, inputs: Iterable[str]) -> Iterator[tuple[str, Problem]]:
        """Outputs that are inputs, the manifest or the record, or are to be in what is no folder:
        the grammar's name, and what is wrong.

        Args:
            inputs: every file that a build reads, by any name.
        """
        loaded = self._loaded
        taken = {file_of(loaded.folder, path): "an input" for path in self._named()}
        taken |= {file_of("", path): "an input" for path in inputs if unusable(path) is None}
        taken[file_of("", loaded.file)] = "the manifest"
        taken[file_of(loaded.folder, loaded.record)] = "the record"
        for grammar, unit, path, file in self._claims:
            origin = loaded.origin("grammars", grammar, "output")
            if file in taken:
                message = f"`{path}` is {taken[file]}"
                yield grammar, Problem("manifest-output", message, origin)
            folder = os.path.dirname(file)
            while folder not in self._owners and os.path.dirname(folder) != folder:
                folder = os.path.dirname(folder)
            if folder in self._owners:
                owner, other = self._owners[folder]
                whose = "another output" if owner == unit else f"an output of '{owner}'"
                message = f"`{path}` is to be in a folder, and `{other}` is {whose}"
                yield grammar, Problem("manifest-output", message, origin)

    def check_record(self, inputs: Iterable[str]) -> None:
        """Raises:
        ManifestError: the record is the manifest, or an input.
        """
        loaded = self._loaded
        taken = {file_of(loaded.folder, path): "an input" for path in self._named()}
        taken |= {file_of("", path): "an input" for path in inputs if unusable(path) is None}
        taken[file_of("", loaded.file)] = "the manifest"
        what = taken.get(file_of(loaded.folder, loaded.record))
        if what is not None:
            problem = Problem(
                "manifest-output",
                f"the record `{loaded.record}` is {what}",
                loaded.origin("record"),
            )
            raise ManifestError(loaded.placed([problem]))

    def _named(self) -> Iterator[str]:
        """The inputs that the manifest names."""
        for settings in self._loaded.grammars.values():
            documents = settings.documents or ()
            dialects = settings.dialect or ()
            dialects = (dialects,) if isinstance(dialects, str) else dialects
            files = (
                settings.tools, settings.vocabulary, *(settings.samples or ()),
                *(documents.values() if isinstance(documents, dict) else documents),
                *(d for d in dialects if not is_shipped(d)),
            )  # fmt: skip
            yield from (f for f in files if f and unusable(f) is None)


def _safe(text: str) -> str:
    """A name as part of a file's name: other bytes than letters, digits and `_.-` as %XX."""
    data = text.encode("utf-8", "surrogatepass")
    return _UNSAFE.sub(lambda m: b"%%%02X" % m[0][0], data).decode("ascii")
