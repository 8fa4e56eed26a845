"""Settings -> units: one grammar each, with all that it is made of digested.

A unit's *key* is a digest of everything that the manifest names for it and of the version of
calligram. Equal keys give equal outputs, so nothing need be compiled to know that nothing is to do.
What a dialect's file extends is known when it has been read; the record holds it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..compiler.errors import CalligramError
from ..compiler.json_text import read_json
from ..compiler.origin import Origin, Problem, in_file
from ..compiler.tools import read_tools, tool_entries
from ..compiler.version import VERSION
from .digests import SHIPPED, Digests, State, is_shipped, text_digest, vocabulary_files
from .inputs import read_file
from .manifest import Loaded
from .outputs import OutputNames
from .settings import GrammarSettings
from .targets import TARGETS, Name

KEY_FORMAT: Final = 1
"""Raised when outputs of the same version and input change."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One grammar to build. Pickles: it is sent to other processes.

    Attributes:
        name: in the manifest, with dialect and tool where one table makes several.
        grammar: the name of the table.
        folder: what paths are relative to.
        only: the names of the tools that it takes; None: all of the file.
        outputs: target and path, in the order of the manifest.
        key: see the module.
        place: of the table in the manifest.
        inputs: the files that the manifest names for it, and what tells whether they were written
            to since their digests were taken.
    """

    name: str
    grammar: str
    folder: str
    tools: str
    only: tuple[str, ...] | None
    dialect: str
    settings: GrammarSettings
    outputs: tuple[tuple[Name, str], ...]
    key: str
    place: Origin
    inputs: tuple[tuple[str, State | None], ...]

    def path(self, name: str) -> str:
        """A path of the manifest, to be opened."""
        return os.path.join(self.folder, name)


@dataclass(slots=True)
class Plan:
    """All units of a manifest that can be told, and what is wrong with the others.

    Attributes:
        units: by name.
        failed: problems by the name of the grammar's table.
        digests: the files that were looked at.
    """

    units: dict[str, Unit] = field(default_factory=dict)
    failed: dict[str, tuple[Problem, ...]] = field(default_factory=dict)
    digests: Digests = field(default_factory=Digests)


@dataclass(frozen=True, slots=True)
class _ToolsFile:
    """A tools file that was read: its whole value, and its tools by name."""

    whole: object
    by_name: Mapping[str, object]


def plan(loaded: Loaded) -> Plan:
    """What is to be built. Files that are missing fail the grammars that name them, not others.

    Raises:
        ManifestError: the record is to be where something else is.
    """
    made = Plan()
    names = OutputNames(loaded)
    tools: dict[str, _ToolsFile | tuple[Problem, ...]] = {}
    for name, settings in loaded.grammars.items():
        planner = _Planner(loaded, name, settings, made, names, tools)
        units = planner.units()
        if planner.problems:
            made.failed[name] = tuple(planner.problems)
        else:
            made.units |= {unit.name: unit for unit in units}
    for name, problem in names.clashes(made.digests.files):
        made.failed[name] = (*made.failed.get(name, ()), problem)
    made.units = {n: unit for n, unit in made.units.items() if unit.grammar not in made.failed}
    names.check_record(made.digests.files)
    return made


class _Planner:
    """Plans one table of the manifest."""

    def __init__(
        self,
        loaded: Loaded,
        name: str,
        settings: GrammarSettings,
        made: Plan,
        names: OutputNames,
        tools: dict[str, _ToolsFile | tuple[Problem, ...]],
    ) -> None:
        self.loaded, self.name, self.settings = loaded, name, settings
        self.digests, self.names, self.tools = made.digests, names, tools
        self.problems: list[Problem] = []

    def units(self) -> list[Unit]:
        """The units; what is wrong goes to ``problems``."""
        settings = self.settings
        targets: Sequence[Name] = settings.targets or ("gbnf",)
        for key in ("tools", "dialect"):
            if getattr(settings, key) is None:
                self._wrong("manifest-missing-key", f"the grammar needs the key `{key}`")
        wanting = [t for t in targets if TARGETS[t].vocabulary]
        if wanting and settings.vocabulary is None:
            message = f"the target `{wanting[0]}` needs the key `vocabulary`"
            self._wrong("manifest-missing-key", message)
        if self.problems:
            return []
        assert settings.tools is not None and settings.dialect is not None
        file = self._tools_file(settings.tools)
        if file is not None:
            self._check_choice(file)
        shared = self._shared(targets)
        if file is None:
            return []
        single = isinstance(settings.dialect, str)
        dialects = [settings.dialect] if isinstance(settings.dialect, str) else settings.dialect
        parts = self._parts(file)
        units = []
        for dialect in dict.fromkeys(dialects):
            stem = os.path.basename(dialect.replace("\\", "/"))
            stem = stem if is_shipped(dialect) else os.path.splitext(stem)[0]
            for tool, only in parts:
                inner = [] if single else [stem]
                inner += [] if tool is None else [tool]
                unit_name = "/".join((self.name, *inner))
                outputs: tuple[tuple[Name, str], ...] = tuple(
                    (target, self.names.of(self.name, settings, target, stem, tool, self.problems))
                    for target in dict.fromkeys(targets)
                )
                if self.problems:
                    return []
                self.names.claim(self.name, unit_name, [p for _, p in outputs], self.problems)
                key = self._key(shared, dialect, file, only)
                units.append(
                    Unit(
                        unit_name, self.name, self.loaded.folder, settings.tools, only, dialect,
                        settings, outputs, key, self.loaded.origin("grammars", self.name),
                        self._inputs(settings.tools, dialect),
                    )
                )  # fmt: skip
        return units

    def _parts(self, file: _ToolsFile) -> list[tuple[str | None, tuple[str, ...] | None]]:
        """(the tool that names a unit, the tools that it takes)."""
        only = self.settings.only
        known = list(file.by_name)
        for name in only or ():
            if name not in file.by_name:
                self._unknown_tool(name, known, "only")
        if self.settings.each:
            return [(name, (name,)) for name in known if only is None or name in only]
        if only is None:
            return [(None, None)]
        return [(None, tuple(name for name in known if name in only))]

    def _check_choice(self, file: _ToolsFile) -> None:
        """The tools that may be called are among those that the grammar takes."""
        if self.settings.tool is None:
            return
        if self.settings.each:
            message = "`tool` chooses among the tools of one grammar, and `each` makes one of each"
            self._wrong("manifest-value", message, "tool")
            return
        only = self.settings.only
        known = [name for name in file.by_name if only is None or name in only]
        for name in self.settings.tool:
            if name not in known:
                self._unknown_tool(name, known, "tool")

    def _unknown_tool(self, name: str, known: list[str], key: str) -> None:
        from ..compiler.origin import closest_first

        shown = ", ".join(known[:20]) + (" …" if len(known) > 20 else "")
        hint = closest_first(name, known, f"its tools: {shown}")
        message = f"{self.settings.tools} has no tool '{name}'"
        if key == "tool" and self.settings.only is not None:
            message = f"the tool '{name}' is not among those of `only`"
        self._wrong("unknown-tool", message, key, hint=hint)

    def _tools_file(self, name: str) -> _ToolsFile | None:
        if name not in self.tools:
            self.tools[name] = self._read_tools(name)
        if self._input(name, "tools") is None:
            return None
        found = self.tools[name]
        if isinstance(found, _ToolsFile):
            return found
        self.problems += found
        return None

    def _read_tools(self, name: str) -> _ToolsFile | tuple[Problem, ...]:
        path = os.path.join(self.loaded.folder, name)
        self.digests.of(path)  # Before it is read.
        try:
            data = read_json(read_file(path), "tool definitions")
            names = [tool.name for tool in read_tools(data)]
            return _ToolsFile(data, dict(zip(names, tool_entries(data), strict=True)))
        except CalligramError as error:
            return tuple(in_file(error.problems, path))

    def _shared(self, targets: Sequence[Name]) -> dict[str, Any]:
        """What the units of this table have in common, for their keys."""
        settings = self.settings
        about_tools = {"tools", "only", "each", "dialect", "output", "targets"}
        documents = settings.documents or ()
        named = documents.items() if isinstance(documents, dict) else ((d, d) for d in documents)
        wanting = any(TARGETS[t].vocabulary for t in targets)
        vocabulary = settings.vocabulary if wanting else None
        samples = settings.samples or () if "mask" in targets else ()
        of_vocabulary = self.digests.of_vocabulary
        return {
            "format": KEY_FORMAT,
            "calligram": VERSION,
            "targets": list(targets),
            "settings": settings.model_dump(exclude=about_tools, exclude_none=True),
            "documents": [(uri, self._input(f, "documents")) for uri, f in named],
            "vocabulary": vocabulary and self._input(vocabulary, "vocabulary", of_vocabulary),
            "samples": [self._input(s, "samples") for s in samples],
        }

    def _inputs(self, tools: str, dialect: str) -> tuple[tuple[str, State | None], ...]:
        """The files of a unit, as they were before they were read."""
        settings = self.settings
        given = settings.documents or ()
        documents = given.values() if isinstance(given, dict) else given
        names = [tools, *documents, *(settings.samples or ())]
        names += [] if is_shipped(dialect) else [dialect]
        files = [os.path.join(self.loaded.folder, name) for name in names]
        if settings.vocabulary is not None:
            vocabulary = os.path.join(self.loaded.folder, settings.vocabulary)
            files += vocabulary_files(vocabulary)
        states = self.digests.states
        return tuple((file, states[file]) for file in dict.fromkeys(files) if file in states)

    def _input(
        self, name: str, key: str, digest: Callable[[str], str | None] | None = None
    ) -> str | None:
        path = os.path.join(self.loaded.folder, name)
        found = (digest or self.digests.of)(path)
        if found is None:
            self._wrong("cannot-read", f"`{name}` cannot be read: {_reason(path)}", key)
        return found

    def _key(
        self, shared: dict[str, Any], dialect: str, file: _ToolsFile, only: tuple[str, ...] | None
    ) -> str:
        # The order of keys counts: with the default `key_order` it is the grammar's.
        taken = file.whole if only is None else [file.by_name[name] for name in only]
        if is_shipped(dialect):
            spec: str | None = self.digests.of_shipped()
        else:
            spec = self._input(dialect, "dialect")
        document = {
            **shared, "tools": text_digest(repr(taken)), "dialect": (SHIPPED, dialect, spec),
        }  # fmt: skip
        return text_digest(json.dumps(document, sort_keys=True))

    def _wrong(self, code: str, message: str, *keys: str, hint: str | None = None) -> None:
        origin = self.loaded.origin("grammars", self.name, *keys)
        self.problems.append(Problem(code, message, origin, hint))


def _reason(path: str) -> str:
    if not os.path.exists(path):
        return "no such file"
    return "it is a folder" if os.path.isdir(path) else "no permission, or not a file"
