"""`calligram build` and the files that are there: it replaces and removes nothing but its own."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from calligram.build import digests, lock, work
from calligram.build.run import build as build_here
from calligram.compiler.replace_file import replace_file
from tests.cli_runner import TOOLS, Result, run
from tests.gguf_writing import BYTE, CONTROL, write_gguf


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tools, which is the current one, beside other folders."""
    here = tmp_path / "proj"
    here.mkdir()
    shutil.copy(TOOLS, here / "tools.json")
    monkeypatch.chdir(here)
    return here


def manifest(*lines: str, name: str = "g", file: str = "calligram.toml", head: str = "") -> None:
    """A manifest of one grammar with these lines."""
    base = {"tools": '"tools.json"', "dialect": '"hermes-json"'}
    base |= {line.partition("=")[0].strip(): line.partition("=")[2].strip() for line in lines}
    text = "".join(f"{key} = {value}\n" for key, value in base.items())
    Path(file).write_text(f"{head}[grammars.{name}]\n{text}", encoding="utf-8")


def build(*arguments: str) -> Result:
    return run("build", "--json", *arguments)


def codes(result: Result) -> list[tuple[str, str]]:
    return [(problem["code"], problem["pointer"]) for problem in result.problems]


def everything(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }


# -- files that no build made


@pytest.mark.parametrize("path", ["src/app.py", "../other/app.py"])
@pytest.mark.parametrize("absolute", [False, True])
def test_a_file_that_no_build_made_is_not_replaced(folder: Path, path: str, absolute: bool) -> None:
    file = folder / path
    file.parent.mkdir()
    file.write_text("precious", encoding="utf-8")
    manifest(f"output = {json.dumps(str(file.resolve()) if absolute else path)}")
    result = build()
    assert (result.code, codes(result)) == (2, [("output-exists", "/grammars/g/output")])
    assert result.problems[0]["line"] == 4 and "--overwrite" in result.problems[0]["hint"]
    assert file.read_text(encoding="utf-8") == "precious"
    checked = run("build", "--check", "--json")
    assert (checked.code, checked.json["stale"][0]["reason"]) == (1, "unrecorded")
    assert run("build", "--check", "--overwrite").code == 2
    assert build("--overwrite").json["built"] == ["g"]
    assert file.read_text(encoding="utf-8") != "precious"
    file.write_text("edited by hand", encoding="utf-8")  # It is the build's now.
    assert build().json["built"] == ["g"]


def test_files_are_written_all_or_none(folder: Path) -> None:
    (folder / "x.regex").write_text("precious", encoding="utf-8")
    manifest('output = "x.{extension}"', 'targets = ["gbnf", "regex"]')
    assert build().code == 2
    assert sorted(everything(folder)) == ["calligram.toml", "tools.json", "x.regex"]


def test_a_clone_without_the_record_takes_over_what_is_right(folder: Path) -> None:
    manifest()
    build()
    whole = everything(folder)
    (folder / "calligram.lock").unlink()
    checked = run("build", "--check", "--json").json
    assert [s["reason"] for s in checked["stale"]] == ["unrecorded"]
    assert build().code == 0
    assert everything(folder) == whole


def test_a_project_that_was_never_built_is_told_in_a_line(folder: Path) -> None:
    manifest("each = true")
    result = run("build", "--check")
    assert result.code == 1
    assert result.out == "nothing was built yet: `calligram build` makes 3 files\n"
    assert len(run("build", "--check", "--json").json["stale"]) == 3


@pytest.mark.parametrize(
    "path",
    ["tools.json", "../proj/tools.json", "ABS/calligram.toml", "link", "d.yaml", "voc/config.json"],
)
def test_no_output_is_an_input(folder: Path, path: str) -> None:
    (folder / "link").symlink_to("tools.json")
    (folder / "voc").mkdir()
    for name in ("tokenizer.json", "generation_config.json"):
        (folder / "voc" / name).write_text("{}", encoding="utf-8")
    (folder / "d.yaml").write_text("extends: hermes-json\nid: d\n", encoding="utf-8")
    path = path.replace("ABS", str(folder))
    manifest(
        'dialect = "d.yaml"', 'vocabulary = "voc"',
        f"output = {{ gbnf = {json.dumps(path)}, mask = 'out/' }}", 'targets = ["gbnf", "mask"]',
    )  # fmt: skip
    before = everything(folder)
    result = build("--overwrite")
    assert result.code == 2 and ("manifest-output", "/grammars/g/output") in codes(result)
    assert everything(folder) == before


def test_what_a_dialect_extends_is_not_replaced(folder: Path) -> None:
    (folder / "base.yaml").write_text("extends: hermes-json\nid: b\nsource: x\n", encoding="utf-8")
    (folder / "d.yaml").write_text("extends: ./base.yaml\nid: d\nsource: x\n", encoding="utf-8")
    manifest('dialect = "d.yaml"', 'output = "base.yaml"')
    before = everything(folder)
    assert codes(build("--overwrite")) == [("manifest-output", "/grammars/g/output")]
    assert everything(folder) == before


def test_two_ways_to_one_file_are_one_file(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    manifest('targets = ["gbnf", "regex"]', 'output = { gbnf = "real/x", regex = "link/x" }')
    result = build()
    assert codes(result) == [("manifest-output", "/grammars/g/output")]
    assert "`link/x`, which is `real/x`" in result.problems[0]["message"]


def test_an_output_is_no_folder_of_another(folder: Path) -> None:
    manifest('targets = ["gbnf", "regex"]', 'output = { gbnf = "a", regex = "a/b/c" }')
    assert codes(build()) == [("manifest-output", "/grammars/g/output")]
    assert not (folder / "a").exists()


@pytest.mark.parametrize("spelling", ["./out/", "out//", "x/../out/", "ABS/out/", "link/"])
def test_another_spelling_is_the_same_file(folder: Path, spelling: str) -> None:
    (folder / "out").mkdir()
    (folder / "link").symlink_to("out")
    manifest('output = "out/"')
    assert build().json["built"] == ["g"]
    spelling = spelling.replace("ABS", str(folder))
    manifest(f"output = {json.dumps(spelling)}")
    result = build().json
    assert (result["removed"], (folder / "out" / "g.gbnf").exists()) == ([], True)
    assert run("build", "--check").code == 0
    shown = (folder / "calligram.lock").read_text(encoding="utf-8")
    assert str(folder) not in shown
    assert run("clean").out == "1 file removed\n" and not (folder / "out" / "g.gbnf").exists()


@pytest.mark.parametrize("value", ['"a\\u0000b/"', '"a\\u0000b"'])
def test_names_that_no_file_has_are_refused(folder: Path, value: str) -> None:
    manifest(f"output = {value}")
    assert codes(build()) == [("manifest-value", "/grammars/g/output")]
    manifest(head=f"record = {value}\n")
    assert codes(build()) == [("manifest-value", "/record")]


def test_a_link_to_itself_is_told(folder: Path) -> None:
    (folder / "loop").symlink_to("loop")
    manifest('output = "loop"')
    assert build().code == 2 and (folder / "loop").is_symlink()
    assert codes(build("--overwrite")) == [("cannot-write", "")]


def test_a_users_link_stays_and_what_was_built_goes(folder: Path) -> None:
    (folder / "store").mkdir()
    (folder / "x").symlink_to("store/x")
    manifest('output = "x"')
    assert build().code == 0 and (folder / "store" / "x").is_file()
    assert run("clean").out == "1 file removed\n"
    assert (folder / "x").is_symlink() and not (folder / "store" / "x").exists()


def test_a_pipe_is_not_replaced(folder: Path) -> None:
    os.mkfifo(folder / "x")
    manifest('output = "x"')
    assert codes(build()) == [("output-exists", "/grammars/g/output")]


# -- the record


@pytest.mark.parametrize("name", ["tools.json", "calligram.toml", "README.md", "grammars/g.gbnf"])
def test_the_record_replaces_no_other_file(folder: Path, name: str) -> None:
    (folder / "README.md").write_text("precious", encoding="utf-8")
    manifest(head=f'record = "{name}"\n')
    before = everything(folder)
    result = build()
    assert result.code == 2
    assert result.problems[0]["code"] in ("manifest-output", "record-format")
    assert everything(folder) == before
    assert run("build", "--check").code == 2 and run("clean").code in (0, 2)
    assert everything(folder) == before


def test_manifests_in_one_folder_have_a_record_each(folder: Path) -> None:
    manifest(file="a.toml", name="a")
    manifest(file="b.toml", name="b")
    assert build("-m", "a.toml").json["removed"] == []
    assert build("-m", "b.toml").json["removed"] == []
    assert run("build", "--check", "-m", "a.toml").code == 0
    assert {"a.calligram.lock", "b.calligram.lock"} <= set(everything(folder))
    manifest(file="c.toml", name="c", head='record = "a.calligram.lock"\n')
    result = build("-m", "c.toml")
    assert codes(result) == [("record-manifest", "/record")]
    (folder / "a.toml").unlink()  # It has another name now.
    assert build("-m", "c.toml").json["removed"] == ["grammars/a.gbnf"]


def test_a_merged_record_still_says_what_is_the_builds(folder: Path) -> None:
    manifest("each = true")
    build()
    file = folder / "calligram.lock"
    text = file.read_text(encoding="utf-8")
    file.write_text(f"<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n", encoding="utf-8")
    manifest("each = true", 'key_order = "any"')  # What was built is stale.
    result = build()
    assert result.code == 0 and "a merge left both sides in it" in result.json["notes"][0]
    assert run("build", "--check").code == 0


def test_the_record_does_not_tell_how_it_came_to_be(folder: Path) -> None:
    manifest('output = "x"', name="b")
    build()
    wanted = (folder / "calligram.lock").read_bytes()
    run("clean")
    for name, output in (("a", "x"), ("b", "x"), ("b", "y"), ("b", "x")):
        manifest(f'output = "{output}"', name=name)
        assert build().code == 0
        assert run("build", "--check").code == 0, (name, output)
    assert (folder / "calligram.lock").read_bytes() == wanted


@pytest.mark.parametrize(
    "path", ["../tools.json", "tools.json", "calligram.toml", "a\0b", "\ud800"]
)
def test_a_record_of_others_removes_no_input(folder: Path, path: str) -> None:
    (folder.parent / "tools.json").write_text("not named by the manifest", encoding="utf-8")
    manifest()
    build()
    file = folder / "calligram.lock"
    record = json.loads(file.read_text(encoding="utf-8"))
    digest = digests.file_digest(path) or "0" * 64
    record["grammars"]["x"] = {"key": "", "more": {}, "outputs": {path: digest}}
    file.write_text(json.dumps(record), encoding="utf-8")
    assert build().code == 0
    for name in ("tools.json", "calligram.toml"):
        assert (folder / name).exists()
    assert run("clean").code == 0
    for name in ("tools.json", "calligram.toml"):
        assert (folder / name).exists()


def test_large_outputs_are_as_they_were_built(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(digests, "WHOLE", 100)
    manifest()
    assert (folder / "grammars").exists() is False and build().code == 0
    assert (folder / "grammars" / "g.gbnf").stat().st_size > 100
    assert run("build", "--check").code == 0
    assert run("clean").out == "1 file removed\n"


# -- what is read


def test_an_input_that_changes_meanwhile_is_not_recorded(folder: Path, monkeypatch: Any) -> None:
    manifest()
    tools = (folder / "tools.json").read_bytes()
    unchanged = work._unchanged

    def edited(unit: Any) -> None:
        # Written to, and back, while the grammar was made.
        (folder / "tools.json").write_bytes(tools.replace(b"600", b"60"))
        replace_file(folder / "tools.json", tools)
        unchanged(unit)

    monkeypatch.setattr(work, "_unchanged", edited)
    result = build()
    assert (result.code, codes(result)) == (2, [("input-changed", "")])
    assert not (folder / "grammars").exists() and not (folder / "calligram.lock").exists()


def test_what_is_recorded_of_a_parent_is_what_was_read(folder: Path) -> None:
    for bom in (b"", b"\xef\xbb\xbf"):
        spec = bom + b"extends: hermes-json\nid: b\nsource: x\n"
        (folder / "base.yaml").write_bytes(spec)
        (folder / "d.yaml").write_text("extends: ./base.yaml\nid: d\nsource: x\n", encoding="utf-8")
        manifest('dialect = "d.yaml"')
        build()
        assert run("build", "--check").code == 0


def test_what_stands_beside_a_tokenizer_counts_whatever_it_is_called(folder: Path) -> None:
    (folder / "m").mkdir()
    (folder / "m" / "tok.bin").write_text(' {"model": 1}', encoding="utf-8")
    read = digests.Digests().of_vocabulary
    before = read("m/tok.bin")
    (folder / "m" / "generation_config.json").write_text("{}", encoding="utf-8")
    assert digests.Digests().of_vocabulary("m/tok.bin") != before
    tokens = [(f"<0x{byte:02X}>", BYTE) for byte in range(256)] + [("</s>", CONTROL)]
    write_gguf(folder / "m" / "v.json", "llama", tokens, eos_token_id=256)
    before = digests.Digests().of_vocabulary("m/v.json")
    (folder / "m" / "generation_config.json").write_text("[]", encoding="utf-8")
    assert digests.Digests().of_vocabulary("m/v.json") == before


@pytest.mark.parametrize(
    "pipe", ["calligram.toml", "calligram.lock", "voc/tokenizer.json", "voc/config.json", "d.yaml"]
)
def test_pipes_end_nothing_in_waiting(folder: Path, pipe: str) -> None:
    (folder / "voc").mkdir()
    (folder / "voc" / "tokenizer.json").write_text("{}", encoding="utf-8")
    manifest('vocabulary = "voc"', 'targets = ["mask"]', 'dialect = "d.yaml"')
    (folder / "d.yaml").write_text("extends: hermes-json\nid: d\nsource: x\n", encoding="utf-8")
    (folder / pipe).unlink(missing_ok=True)
    os.mkfifo(folder / pipe)
    result = build()
    assert result.code == 2 and result.problems


def test_a_manifest_that_is_replaced_lets_nobody_in(folder: Path) -> None:
    manifest()
    waited: list[bool] = []
    with lock.held("calligram.toml", lambda: None) as first:
        assert first is not None
        manifest(file="new")
        (folder / "new").replace("calligram.toml")

        def waiting() -> None:
            waited.append(True)
            raise EOFError

        with pytest.raises(EOFError):
            build_here("calligram.toml", 1, waiting=waiting)
    assert waited == [True]


def test_names_up_to_the_longest_are_written(tmp_path: Path) -> None:
    for name in ("a" * 255, "é" * 127):
        replace_file(tmp_path / name, b"x")
    assert len(list(tmp_path.iterdir())) == 2
    begun = f".{'a' * 200}.abcdefgh.calligram-part"
    (tmp_path / begun).write_bytes(b"")
    lock.sweep([str(tmp_path / ("a" * 255))])
    assert begun not in os.listdir(tmp_path)
