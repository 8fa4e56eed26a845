"""`calligram dialects derive` from a file to a spec that lints."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli_runner import run
from tests.own_templates import FOLDER
from tests.template_pieces import TURN, each, json_call, template

TAGGED = str(FOLDER / "tagged.jinja")


def test_to_stdout() -> None:
    result = run("dialects", "derive", "--template", TAGGED)
    assert result.code == 0
    assert result.out.startswith("# Derived from a chat template")
    assert "\nid: tagged\n" in result.out


def test_to_a_file_that_lints_and_fits(tmp_path: Path) -> None:
    path = str(tmp_path / "mine.yaml")
    result = run("dialects", "derive", "--template", TAGGED, "--id", "mine", "-o", path)
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[-1].startswith("mine: ")
    assert any(line.startswith("not followed: ") or ": not followed: " in line for line in lines)
    assert any(line.startswith("null: refused by the grammar") for line in lines)
    assert run("dialects", "lint", path).code == 0
    assert run("dialects", "check", path, "--template", TAGGED).code == 0


def test_json(tmp_path: Path) -> None:
    path = str(tmp_path / "a.yaml")
    result = run("dialects", "derive", "--template", TAGGED, "--json", "-o", path)
    assert result.code == 0
    document = json.loads(result.out)
    assert document["spec"]["id"] == "tagged"
    assert document["yaml"] == Path(path).read_text(encoding="utf-8")
    assert {"ok", "found", "unknown", "verified", "problems"} <= set(document)


def test_tokens_and_name_from_a_tokenizer(tmp_path: Path) -> None:
    config = {
        "chat_template": template(each(json_call())).source,
        "added_tokens_decoder": {"1": {"content": "<c>"}},
        "name_or_path": "Some/Model-7B",
    }
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps(config))
    result = run("dialects", "derive", "--template", str(path), "--json")
    spec = json.loads(result.out)["spec"]
    assert spec["id"] == "some-model-7b"
    assert spec["families"] == ["Some/Model-7B"]
    assert spec["tokens"] == ["<c>"]


def test_a_spec_that_cannot_be_used(tmp_path: Path) -> None:
    """Nothing stands between the name and JSON text that begins with a letter of a name."""
    calls = each("{{ f.name }}{% for k, v in args.items() %}{{ k }}{{ v | tojson }}{% endfor %}")
    path = tmp_path / "bad.jinja"
    path.write_text(TURN.replace("CALLS", calls).replace("HEAD", ""))
    result = run("dialects", "derive", "--template", str(path), "-o", str(tmp_path / "bad.yaml"))
    assert result.code == 1
    assert "error[" in result.out
    assert result.out.endswith("bad: cannot be used as it is\n")


def test_a_template_without_calls(tmp_path: Path) -> None:
    path = tmp_path / "none.jinja"
    path.write_text("{{ messages[-1].content }}")
    result = run("dialects", "derive", "--template", str(path))
    assert result.code == 2
    assert f"{path}: error[template-no-calls]" in result.err
