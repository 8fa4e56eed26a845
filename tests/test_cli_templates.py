"""`calligram dialects check | detect | find`, and `--dialect auto`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli_runner import TOOLS, run
from tests.corpus_format import parse_corpus
from tests.own_templates import FOLDER

SHIPPED = FOLDER / "shipped"


def place(name: str, suffix: str) -> str:
    return str(FOLDER / f"{name}.{suffix}")


def test_check_of_a_spec_that_fits() -> None:
    result = run(
        "dialects", "check", place("tagged", "yaml"), "--template", place("tagged", "jinja")
    )
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines()[-1].startswith("tagged: no difference from ")
    assert (
        "known history (known: null as None, true as True, false as False): true, false, null"
        in (result.out)
    )


def test_check_shows_one_mistake_once(tmp_path: Path) -> None:
    text = Path(place("tagged", "yaml")).read_text(encoding="utf-8")
    spec = tmp_path / "spec.yaml"
    spec.write_text(text.replace("<arg {key}>", "<arg: {key}>"), encoding="utf-8")
    result = run("dialects", "check", str(spec), "--template", place("tagged", "jinja"))
    assert result.code == 1
    lines = result.out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("one call: byte "))
    assert lines[at + 1].endswith(r'\n<arg"')
    assert lines[at + 2].startswith(r'  template  " location>Oslo</arg>\n<arg unit>')
    assert lines[at + 3].startswith(r'  spec      ": location>Oslo</arg>\n<arg: unit>')
    assert lines[at + 3].endswith('"  (/args/param)')
    assert lines[at + 4].startswith("  and in    two calls, two tools, ")
    assert result.out.count("one call: byte ") == 1


def test_check_as_json(tmp_path: Path) -> None:
    arguments = ["dialects", "check", place("array", "yaml"), "--template", place("bare", "jinja")]
    result = run(*arguments, "--json")
    assert result.code == 1
    assert result.json["dialect"] == "array" and result.json["ok"] is False
    one = next(c for c in result.json["conversations"] if c["name"] == "one call")
    assert one["status"] == "different"
    (difference, *_) = one["differences"]
    assert difference["position"] == 0
    assert difference["found"].startswith("<c>to forecast {")


def test_check_strict_minds_what_was_not_seen() -> None:
    arguments = ["dialects", "check", place("typed", "yaml"), "--template", place("typed", "jinja")]
    assert run(*arguments).code == 0
    strict = run(*arguments, "--strict")
    assert strict.code == 1
    assert 'not seen in any turn: /turn_end/tokens/0  "</s>"' in strict.out


def test_check_writes_a_corpus(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    arguments = ["--template", place("bare", "jinja"), "--corpus", str(corpus)]
    assert run("dialects", "check", place("bare", "yaml"), *arguments).code == 0
    rows = parse_corpus(corpus.read_text(encoding="utf-8"), "bare")
    assert {"one call", "no arguments", "content alone"} <= {row.name for row in rows}


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("nowhere.jinja", "template-unreadable"),
        ("broken.jinja", "template-syntax"),
        ("silent.jinja", "template-no-calls"),
        ("endless.jinja", "template-limit"),
        ("config.json", "template-missing"),
    ],
)
def test_templates_that_cannot_be_used(tmp_path: Path, template: str, code: str) -> None:
    (tmp_path / "broken.jinja").write_text("{% if %}")
    (tmp_path / "silent.jinja").write_text("{{ messages | length }}")
    (tmp_path / "config.json").write_text("{}")
    loop = "{% for a in range(99999) %}"
    (tmp_path / "endless.jinja").write_text(loop + loop + "{% endfor %}{% endfor %}")
    arguments = ["--template", str(tmp_path / template), "--json"]
    result = run("dialects", "check", place("bare", "yaml"), *arguments)
    assert (result.code, result.out) == (2, "")
    assert [p["code"] for p in result.problems] == [code]
    # Nothing is wrong with the tools.
    assert all(p["file"] != TOOLS for p in result.problems)
    assert template in result.problems[0]["file"]


def test_detect() -> None:
    path = SHIPPED / "mistral-args.jinja"
    result = run("dialects", "detect", str(path))
    assert result.code == 0
    assert result.out.startswith(f"{path.stem}: it writes ")
    assert "\n  byte for byte: one call, two calls" in result.out
    unknown = run("dialects", "detect", place("array", "jinja"), "--json")
    assert (unknown.code, unknown.json["dialect"]) == (1, "unknown")


def test_find() -> None:
    result = run("dialects", "find", "unsloth/Qwen3-Coder-30B-A3B-Instruct-GGUF")
    assert (result.code, result.out.splitlines()[0]) == (0, "qwen3-coder-xml")
    near = run("dialects", "find", "Qwen3-Codr-30B")
    assert near.code == 1
    assert "did you mean Qwen3-Coder (qwen3-coder-xml)?" in near.out
    nothing = run("dialects", "find", "gpt2", "--json").json
    assert (nothing["dialect"], nothing["matches"], nothing["near"]) == ("unknown", [], [])


def test_what_is_sure_is_shown_alone() -> None:
    name = "Qwen3-Coder-30B"
    assert "perhaps" not in run("dialects", "find", name).out
    assert "perhaps hermes-json" in run("dialects", "find", name, "--all").out
    assert [m["sure"] for m in run("dialects", "find", name, "--json").json["matches"]] == [
        True,
        False,
    ]
    assert "perhaps hermes-json" in run("dialects", "find", "Qwen3-Omni-30B").out


def test_every_dead_end_says_what_to_do_next(tmp_path: Path) -> None:
    """Nothing found, by whatever command, and why ever: then there is a next step."""
    for name in ("gpt2", "Qwen3-Codr-30B", "Qwen3-Omni-30B"):
        found = run("dialects", "find", name)
        assert (found.code, "`calligram dialects detect FILE`" in found.out) == (1, True)
    silent, none = tmp_path / "silent.jinja", tmp_path / "none.jinja"
    silent.write_text("{% for m in messages %}{{ m.role + m.content }}{% endfor %}")
    known = run("dialects", "detect", place("array", "jinja"))
    assert known.code == 1 and "`calligram dialects derive --template " in known.out
    quiet = run("dialects", "detect", str(silent))
    assert quiet.code == 1 and "`calligram dialects find NAME`" in quiet.out
    for template in (silent, none):
        derived = run("dialects", "derive", "--template", str(template), "--json")
        assert derived.code == 2 and all(p["hint"] for p in derived.problems)


def test_auto_prints_its_evidence() -> None:
    path = SHIPPED / "llama3-json.jinja"
    arguments = ["compile", "-t", TOOLS, "-d", "auto", "--chat-template", str(path)]
    result = run(*arguments)
    assert result.code == 0
    assert result.err.startswith(f"{path.stem}: it writes ")
    assert result.out == run("compile", "-t", TOOLS, "-d", path.stem).out


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["-d", "auto"], "dialect-auto"),
        (["-d", "auto", "--chat-template", place("array", "jinja")], "dialect-unknown"),
        (["-d", "hermes-json", "--chat-template", place("array", "jinja")], "invalid-option"),
    ],
)
def test_auto_that_cannot_be(options: list[str], code: str) -> None:
    result = run("compile", "-t", TOOLS, *options, "--json")
    assert result.code == 2
    assert [p["code"] for p in result.problems] == [code]
