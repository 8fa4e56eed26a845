"""The shipped specs, merged and checked, in one JSON file: read in a tenth of the time of YAML.

It is made from the YAML files by ``python -m calligram.compiler.spec_schema --write``, and of no
account where one of them has changed since: each entry has the digest of what it was made of. Only
the specs themselves are kept; who asks for the places of their parts reads the YAML.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import pkgutil
from functools import cache, lru_cache
from typing import Any

from .spec import DialectSpec

PACKAGE = __name__.rpartition(".compiler.")[0] + ".dialect_specs"
FILE = "prebuilt.json"


@lru_cache(maxsize=64)
def prebuilt_spec(dialect: str) -> DialectSpec | None:
    """The spec of a shipped id; None if there is none, or it was made from other files."""
    entry = _entries().get(dialect)
    if entry is None:
        return None
    try:
        texts = [_read(f"{name}.yaml").decode() for name in entry["sources"]]
        if digest(texts) != entry["digest"]:
            return None
        return DialectSpec.model_validate_json(json.dumps(entry["spec"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


@cache
def _entries() -> dict[str, Any]:
    try:
        found = json.loads(_read(FILE))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _read(name: str) -> bytes:
    data = pkgutil.get_data(PACKAGE, name)
    if data is None:
        raise OSError(name)
    return data


def digest(texts: list[str]) -> str:
    """What tells the files apart that a spec is made of, however their lines end."""
    whole = "\0".join(text.replace("\r\n", "\n") for text in texts)
    return hashlib.sha256(whole.encode()).hexdigest()


# Both are there with this module, so that no first request waits for them.
importlib.import_module(PACKAGE)
_entries()
