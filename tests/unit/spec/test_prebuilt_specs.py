"""The specs kept beside their YAML: the same, and of no account once a file has changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from calligram.compiler import prebuilt_specs
from calligram.compiler.prebuilt_specs import FILE, prebuilt_spec
from calligram.compiler.spec import DialectSpec
from calligram.compiler.spec_loader import (
    load_dialect,
    load_shipped,
    shipped_ids,
    shipped_sources,
)

Change = Callable[[str, bytes], bytes]
read = prebuilt_specs._read


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Change], None]]:
    """Has every file of the package read otherwise."""

    def forget() -> None:
        prebuilt_specs._entries.cache_clear()
        prebuilt_spec.cache_clear()

    def change(how: Change) -> None:
        forget()
        monkeypatch.setattr(prebuilt_specs, "_read", lambda name: how(name, read(name)))

    yield change
    forget()


@pytest.mark.parametrize("dialect", shipped_ids())
def test_what_is_kept_is_what_the_yaml_says(dialect: str) -> None:
    kept, spec = prebuilt_spec(dialect), load_shipped(dialect).spec
    assert kept == spec
    assert kept is not None
    assert written(kept) == written(spec), "what is set and what is left out matters too"
    assert load_dialect(dialect) is kept


def written(spec: DialectSpec) -> dict[str, Any]:
    return spec.model_dump(exclude_unset=True)


def test_sources_begin_with_the_spec_itself() -> None:
    assert shipped_sources("gemma4")[0] == "gemma4"


def test_a_changed_file_is_read_itself(changed: Callable[[Change], None]) -> None:
    changed(lambda name, data: data + b"\n# more" if name == "gemma4.yaml" else data)
    assert prebuilt_spec("gemma4") is None
    assert prebuilt_spec("hermes-json") is not None
    assert load_dialect("gemma4") == load_shipped("gemma4").spec


def test_line_ends_are_no_change(changed: Callable[[Change], None]) -> None:
    changed(lambda name, data: data.replace(b"\n", b"\r\n"))
    assert prebuilt_spec("gemma4") is not None


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"\xff", b'{"gemma4": 1}', b'{"gemma4": {}}'])
def test_a_file_that_is_damaged_is_of_no_account(
    text: bytes, changed: Callable[[Change], None]
) -> None:
    changed(lambda name, data: text if name == FILE else data)
    assert prebuilt_spec("gemma4") is None
    assert load_dialect("gemma4").id == "gemma4"


def test_a_file_that_is_missing_is_of_no_account(changed: Callable[[Change], None]) -> None:
    def missing(name: str, data: bytes) -> bytes:
        raise FileNotFoundError(name)

    changed(missing)
    assert prebuilt_spec("gemma4") is None


def test_what_is_kept_is_checked_like_any_spec(changed: Callable[[Change], None]) -> None:
    def other(name: str, data: bytes) -> bytes:
        if name != FILE:
            return data
        entries = json.loads(data)
        entries["gemma4"]["spec"]["no_such_key"] = 1
        return json.dumps(entries).encode()

    changed(other)
    assert prebuilt_spec("gemma4") is None
