"""Settings: flags over the environment over a file, and what is wrong with them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calligram import Bounds, SpecError
from calligram.proxy.serve import leads_to
from calligram.proxy.settings import load_settings, parse_bounds, unknown_variables
from calligram.proxy.settings_error import SettingsError
from tests.proxy.tools import ROOT

UP = {"upstream": "http://127.0.0.1:8080"}


def test_flags_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('[serve]\nupstream = "http://a:1/"\nport = 1\nmax_calls = 2\nhost = "h"\n')
    environment = {"CALLIGRAM_PORT": "2", "CALLIGRAM_MAX_CALLS": "3", "CALLIGRAM_DEFAULT_OFF": "1"}
    found = load_settings({"port": 3, "host": None}, str(file), environment)
    assert (found.upstream, found.port, found.max_calls) == ("http://a:1", 3, 3)
    assert (found.host, found.default_off, found.dialect) == ("h", True, "auto")


def test_a_file_may_have_its_keys_at_the_top(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('upstream = "https://a"\nbounds = {string = 9}\ncompile_seconds = 1.5\n')
    found = load_settings({}, str(file), {"CALLIGRAM_READ_SECONDS": "2.5"})
    assert (found.compile_seconds, found.read_seconds) == (1.5, 2.5)
    assert found.policy().bounds == Bounds(string=9)


@pytest.mark.parametrize(
    ("flags", "environment", "code", "place"),
    [
        ({}, {}, "setting-missing", None),
        ({"upstream": "localhost:80"}, {}, "setting-value", "--upstream"),
        # It would be all addresses.
        ({**UP, "host": ""}, {}, "setting-value", "--host"),
        ({**UP, "compile_workers": 10**9}, {}, "setting-value", "--compile-workers"),
        ({"upstream": "http://a/?b"}, {}, "setting-value", "--upstream"),
        ({**UP, "port": 70000}, {}, "setting-value", "--port"),
        (UP, {"CALLIGRAM_PORT": "x"}, "setting-value", "environment variable CALLIGRAM_PORT"),
        (UP, {"CALLIGRAM_LOG_TEXT": "maybe"}, "setting-value",
         "environment variable CALLIGRAM_LOG_TEXT"),
        ({**UP, "on_unsupported": "ignore"}, {}, "setting-value", "--on-unsupported"),
        ({**UP, "bounds": {"strin": 1}}, {}, "setting-value", "--bounds"),
        ({**UP, "bounds": "string"}, {}, "setting-value", "--bounds"),
        ({**UP, "compile_seconds": 0.0}, {}, "setting-value", "--compile-seconds"),
        ({**UP, "compile_seconds": float("inf")}, {}, "setting-value", "--compile-seconds"),
        ({**UP, "compile_seconds": 1e10}, {}, "setting-value", "--compile-seconds"),
        ({**UP, "read_seconds": float("nan")}, {}, "setting-value", "--read-seconds"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_where_it_was_said(
    flags: dict[str, Any], environment: dict[str, str], code: str, place: str | None
) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(flags, None, environment)
    assert [(p.code, p.origin.file) for p in caught.value.problems] == [(code, place)]


@pytest.mark.parametrize(("text", "seconds"), [("1e3", 1000.0), ("5", 5), ("0.5", 0.5)])
def test_a_variable_is_any_number(text: str, seconds: float) -> None:
    environment = {"CALLIGRAM_READ_SECONDS": text}
    assert load_settings({"upstream": "http://a"}, None, environment).read_seconds == seconds


@pytest.mark.parametrize(
    ("text", "code"),
    [('upstream = "http://a"\nprot = 1', "setting-unknown"), ("a = ", "setting-toml")],
)
def test_a_file_is_checked(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_settings({}, str(file), {})
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.file) == (code, str(file))
    assert code != "setting-unknown" or problem.hint == "did you mean `port`?"
    with pytest.raises(SettingsError, match="cannot-read"):
        load_settings({}, str(tmp_path / "none.toml"), {})


@pytest.mark.parametrize(
    "url",
    ["http://h:abc", "http://h:80 80", "http://h:99999", "http://:secret@h", "http://a b",
     "http://h:0", "http://h/a/../b", "http://h/%2e%2E", "http://[::1", "http://h?", "http://",
     "http://é", "ftp://h", "http://a\nb", "http://secret:secret@h"],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings({"upstream": url}, None, {})
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.file) == ("setting-value", "--upstream")
    assert "secret" not in str(problem)


@pytest.mark.parametrize(
    "url", ["http://h", "https://a-b.c:1/x/y", "http://[::1]:8080", "http://a_b"]
)
def test_addresses_that_are_taken(url: str) -> None:
    assert load_settings({"upstream": url}, None, {}).upstream == url


@pytest.mark.parametrize(
    ("url", "host", "port", "ours"),
    [
        ("http://127.0.0.1:81", "127.0.0.1", 81, True),
        ("http://localhost:81/x", "127.0.0.1", 81, True),
        ("http://127.0.0.1:81", "0.0.0.0", 81, True),
        ("http://127.0.0.1", "127.0.0.1", 80, True),
        ("http://127.0.0.1:82", "127.0.0.1", 81, False),
        ("http://127.0.0.2:81", "127.0.0.1", 81, False),
    ],
)
def test_an_upstream_that_is_the_proxy_itself(url: str, host: str, port: int, ours: bool) -> None:
    assert leads_to(url, host, port) is ours


def test_a_key_beside_the_table_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('prot = 1\n[serve]\nupstream = "http://a"\n')
    with pytest.raises(SettingsError) as caught:
        load_settings({}, str(file), {})
    assert [(p.code, p.origin.pointer) for p in caught.value.problems] == [
        ("setting-unknown", "/prot")
    ]


@pytest.mark.parametrize(
    ("dialect", "code", "words"),
    [("hermes-jsn", "unknown-dialect", ""), ("none.yaml", "spec-unreadable", "dialect that"),
     ("bad.yaml", "spec-unknown-key", "dialect that")],
)  # fmt: skip
def test_a_dialect_that_cannot_be_read_says_who_named_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dialect: str, code: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text("id: bad\nextends: hermes-json\nqoute: 1\n")
    (tmp_path / "serve.toml").write_text(f'dialect = "{dialect}"\n')
    said: list[tuple[dict[str, Any], str | None, dict[str, str], str]] = [
        ({"dialect": dialect}, None, {}, "--dialect"),
        ({}, None, {"CALLIGRAM_DIALECT": dialect}, "environment variable CALLIGRAM_DIALECT"),
        ({}, "serve.toml", {}, "serve.toml: /dialect"),
    ]
    for flags, file, environment, place in said:
        with pytest.raises(SpecError) as caught:
            load_settings({**UP, **flags}, file, environment)
        problem = caught.value.problems[0]
        assert problem.code == code and place in str(problem) and words in str(problem)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("strin=1", "did you mean `string`?"),
        ("string", "string=80,items=10"),
        ("string=0", "the bound 'string' is a whole number from 1 on, not 0"),
        ("string=999999999999", "Bounds.string"),
    ],
)
def test_bounds_that_are_none_are_named(text: str, words: str) -> None:
    for flags, environment, place in (
        ({"bounds": parse_bounds(text)}, {}, "--bounds"),
        ({}, {"CALLIGRAM_BOUNDS": text}, "environment variable CALLIGRAM_BOUNDS"),
    ):
        with pytest.raises(SettingsError) as caught:
            load_settings({**UP, **flags}, None, environment)
        (problem,) = caught.value.problems
        assert problem.origin.file == place and words in problem.message


def test_variables_that_are_no_settings_are_warned_of() -> None:
    names = [
        "CALLIGRAM_PORT",
        "CALLIGRAM_DISABLE",
        "OTHER",
        "CALLIGRAM_UPSTRAEM",
        "CALLIGRAM_DIALCT",
    ]
    found = unknown_variables(dict.fromkeys(names, "x"))
    assert [(p.severity, p.origin.file, p.hint) for p in found] == [
        ("warning", "environment variable CALLIGRAM_DIALCT", "did you mean `CALLIGRAM_DIALECT`?"),
        (
            "warning",
            "environment variable CALLIGRAM_UPSTRAEM",
            "did you mean `CALLIGRAM_UPSTREAM`?",
        ),
    ]


def test_every_variable_that_the_source_reads_is_known() -> None:
    folders = [ROOT / "calligram", ROOT / "compiler", ROOT / "targets"]
    text = "".join(f.read_text("utf-8") for folder in folders for f in folder.rglob("*.py"))
    names = set(re.findall(r"CALLIGRAM_[A-Z_]+[A-Z]", text))
    assert {"CALLIGRAM_DISABLE", "CALLIGRAM_UPSTREAM"} <= names
    assert unknown_variables(dict.fromkeys(names, "x")) == []


def test_the_server_warns_when_it_starts() -> None:
    command = [sys.executable, "-m", "calligram", "serve", "--upstream", "http://127.0.0.1:9",
               "--port", "0", "--log", "json"]  # fmt: skip
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "CALLIGRAM_UPSTRAEM": "x"},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        lines = [json.loads(process.stderr.readline()) for _ in range(2)]
    finally:
        process.terminate()
        process.communicate()
    assert [line["event"] for line in lines] == ["listening", "setting"]
    assert lines[1]["level"] == "warning" and "CALLIGRAM_UPSTRAEM" in lines[1]["message"]
    assert lines[1]["hint"] == "did you mean `CALLIGRAM_UPSTREAM`?"


def test_bounds_as_text() -> None:
    assert parse_bounds("string=80, items=3") == {"string": 80, "items": 3}
    assert parse_bounds("string") == "string"


def calligram(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "calligram", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)


def test_the_command_shows_its_settings_and_says_what_is_wrong() -> None:
    done = calligram("serve", "--upstream", "http://a", "--bounds", "string=9", "--retry-invalid",
                     "--show")  # fmt: skip
    shown = json.loads(done.stdout)
    assert (shown["bounds"], shown["retry_invalid"], shown["port"]) == ({"string": 9}, True, 8088)
    done = calligram("serve", "--upstream", "a")
    assert done.returncode == 2 and "setting-value" in done.stderr
    done = calligram("serve", "--upstream", "http://a", "--dialect", "nobody", "--port", "0")
    assert done.returncode == 2 and "unknown-dialect" in done.stderr
    done = calligram("serve", "--upstream", "http://a", "--host", "256.1.1.1")
    assert done.returncode == 2 and "proxy-address" in done.stderr
