"""Settings: flags over the environment over a file, and what is wrong with them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calligram import Bounds
from calligram.proxy.serve import leads_to
from calligram.proxy.settings import load_settings, parse_bounds
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
