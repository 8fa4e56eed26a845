"""calligram.toml or pyproject.toml -> settings of each grammar, with every problem at once."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from ..compiler.origin import Origin, Problem, escape_pointer
from ..compiler.spec import Part, with_tuples
from .inputs import InputFileError, read_file
from .places import spelled, unusable
from .settings import GrammarSettings, Manifest, without_effect

FILE: Final = "calligram.toml"
PYPROJECT: Final = "pyproject.toml"
RECORD: Final = "calligram.lock"

_CODES: Final = {
    "spec-unknown-key": "manifest-unknown-key",
    "spec-type": "manifest-type",
    "spec-value": "manifest-value",
}
"""The codes of dialect specs, whose checks are the same, as those of manifests."""
_AT_END: Final = " (at end of document)"
"""What `tomllib` says in place of a line."""

P = TypeVar("P", bound=Part)


class ManifestError(InputFileError):
    """A manifest that cannot be read or makes no sense."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A manifest that was read.

    Attributes:
        file: its name, as it was given.
        pointer: where in the file it begins: "" or "/tool/calligram".
        record: the name of the record, relative to the manifest's folder.
        grammars: the settings by name, the defaults filled in.
        text: what was read.
    """

    file: str
    pointer: str
    record: str
    grammars: Mapping[str, GrammarSettings]
    text: str = field(repr=False)

    @property
    def folder(self) -> str:
        """The folder that paths are relative to; "" is the current one."""
        return os.path.dirname(self.file)

    def origin(self, *keys: str) -> Origin:
        """The place of a key of the manifest."""
        tail = "".join("/" + escape_pointer(k) for k in keys)
        return Origin(self.pointer + tail, file=self.file)

    def placed(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """`problems`, those about the manifest with line and column."""
        return _placed(problems, self.file, self.pointer, self.text)


def find(folder: str = "") -> str:
    """The manifest of a folder: calligram.toml, else a pyproject.toml with [tool.calligram].

    Raises:
        ManifestError: there is none (code ``manifest-missing``).
    """
    own, project = os.path.join(folder, FILE), os.path.join(folder, PYPROJECT)
    if os.path.exists(own):
        return own
    if os.path.exists(project) and "calligram" in _table(_parsed(project)[0].get("tool")):
        return project
    message = f"there is no {FILE}, and no {PYPROJECT} with [tool.calligram]"
    raise ManifestError.at(
        "manifest-missing", message, hint="`calligram init --tools FILE --dialect ID` writes one"
    )


def load(file: str) -> Loaded:
    """Read a manifest.

    Raises:
        InputFileError: it cannot be read.
        ManifestError: it is not TOML (with line and column), or says something that the format
            does not have; all problems at once.
    """
    data, text = _parsed(file)
    pointer = ""
    if os.path.basename(file) == PYPROJECT:
        pointer = "/tool/calligram"
        inner = _table(data.get("tool")).get("calligram")
        if not isinstance(inner, dict):
            message = "there is no table [tool.calligram]"
            raise ManifestError.at("manifest-missing", message, Origin(file=file))
        data = inner
    problems: list[Problem] = []
    given = data.get("grammars")
    # Grammars are looked into one by one below.
    outer = {**data}
    if isinstance(given, dict):
        outer["grammars"] = {k: {} if isinstance(v, dict) else v for k, v in given.items() if k}
    manifest = _validated(Manifest, outer, Origin(pointer, file=file), problems)
    settings = {
        name: _validated(
            GrammarSettings, value, Origin(file=file, pointer=pointer).child("grammars", name),
            problems,
        )
        for name, value in _table(given).items()
        if isinstance(value, dict)
    }  # fmt: skip
    if not given and not any(p.origin.pointer == f"{pointer}/grammars" for p in problems):
        problems.append(
            Problem(
                "manifest-missing-key",
                "the manifest names no grammars",
                Origin(pointer, file=file),
                "a grammar is a table [grammars.NAME]",
            )
        )
    problems += [
        Problem(
            "manifest-value",
            f"the name '{name}' of a grammar holds a `/`, which divides names from tools"
            if name
            else "the name of a grammar is empty",
            Origin(file=file, pointer=pointer).child("grammars", name),
        )
        for name in settings
        if "/" in name or not name
    ]
    if problems or manifest is None:
        raise ManifestError(_placed(problems, file, pointer, text))
    grammars = {
        name: merged(manifest.defaults, own) for name, own in settings.items() if own is not None
    }
    for name, own in settings.items():
        problems += [
            Problem(
                "manifest-value", message, Origin(pointer, file=file).child("grammars", name, key)
            )
            for key, message in without_effect(grammars[name])
            # Defaults are for grammars of every kind.
            if own is not None and key in own.model_fields_set
        ]
    record = _default_record(file) if manifest.record is None else manifest.record
    reason = unusable(record)
    if reason is not None:
        place = Origin(pointer, file=file).child("record")
        problems.append(Problem("manifest-value", f"no file has this name: {reason}", place))
    if problems:
        raise ManifestError(_placed(problems, file, pointer, text))
    return Loaded(file, pointer, spelled(os.path.dirname(file), record), grammars, text)


def _default_record(file: str) -> str:
    """The record's name: two manifests in one folder have two records."""
    name = os.path.basename(file)
    if name in (FILE, PYPROJECT):
        return RECORD
    return f"{name.removesuffix('.toml')}.{RECORD}"


def merged(defaults: GrammarSettings, own: GrammarSettings) -> GrammarSettings:
    """A grammar's settings over the defaults, key by key."""
    return defaults.model_copy(update={name: getattr(own, name) for name in own.model_fields_set})


def _placed(problems: Iterable[Problem], file: str, pointer: str, text: str) -> tuple[Problem, ...]:
    """`problems` of the table at `pointer`, each where it is written: in the grammar's own table,
    or in the defaults; each once."""
    from .toml_places import toml_places

    places: dict[str, tuple[int, int]] | None = None
    found: list[Problem] = []
    for problem in problems:
        origin = problem.origin
        if origin.file == file and origin.line is None and origin.pointer:
            places = toml_places(text) if places is None else places
            origin = replace(origin, pointer=_written(origin.pointer, pointer, places))
            known = origin.pointer
            while known and known not in places:
                known = known.rpartition("/")[0]
            if known:
                line, column = places[known]
                problem = replace(problem, origin=replace(origin, line=line, column=column))
        found.append(problem)
    return tuple(dict.fromkeys(found))


def _written(place: str, pointer: str, places: Mapping[str, object]) -> str:
    """The pointer to what a grammar has of the defaults, if it has it of them."""
    inside = place.removeprefix(f"{pointer}/grammars/").split("/") if place != pointer else []
    if place.startswith(f"{pointer}/grammars/") and len(inside) > 1:
        own = f"{pointer}/grammars/{inside[0]}/{inside[1]}"
        default = f"{pointer}/defaults/{inside[1]}"
        if own not in places and default in places:
            return "/".join([f"{pointer}/defaults", *inside[1:]])
    return place


def _parsed(file: str) -> tuple[dict[str, Any], str]:
    """The document, and its text."""
    data = read_file(file)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        origin = Origin(file=file, line=line)
        message = f"the byte 0x{data[error.start]:02x} is not UTF-8"
        raise ManifestError.at("not-utf-8", message, origin) from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        words = str(error)
        place = re.search(r" \(at line (\d+), column (\d+)\)$", words)
        origin = Origin(file=file)
        if place is not None:
            words = words[: place.start()]
            origin = replace(origin, line=int(place[1]), column=int(place[2]))
        elif words.endswith(_AT_END):
            words = words.removesuffix(_AT_END) + " at the end of the file"
            line = text.count("\n") + 1
            origin = replace(origin, line=line, column=len(text) - text.rfind("\n"))
        raise ManifestError.at("manifest-toml", f"not TOML: {words}", origin) from None
    except RecursionError:
        message = "not TOML: nested too deeply"
        raise ManifestError.at("manifest-toml", message, Origin(file=file)) from None


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _validated(
    model: type[P], data: dict[str, Any], origin: Origin, problems: list[Problem]
) -> P | None:
    """The model; None, with problems added, if the data is not right."""
    try:
        return model.model_validate(with_tuples(data))
    except ValidationError as error:
        from ..compiler.spec_errors import spec_problems
        from .toml_tree import tree_of

        found = spec_problems(error, tree_of(data, origin), model)
        problems += [
            replace(
                p,
                code=_CODES[p.code],
                message=p.message.replace("a mapping", "a table").replace("the spec", "the table"),
                hint=_hint(p.hint),
            )
            for p in found
        ]
        return None


def _hint(hint: str | None) -> str | None:
    # These belong to dialect specs alone.
    return hint.replace("extends, vars, ", "") if hint else hint
