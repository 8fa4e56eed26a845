"""The benchmark measures what it says. Nothing here looks at how long anything takes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from calligram import Vocabulary
from calligram.bench import cases, engines, figures, plot, runner, vocabularies, worker
from calligram.bench.bench_error import BenchError
from calligram.bench.figures import compare, duration, ratio_words
from calligram.bench.runner import Run
from calligram.cli import main
from calligram.compiler.errors import VocabularyError
from calligram.compiler.tools import read_tools

INSTALLED = [name for name in engines.ENGINES if engines.missing(name) is None]
SVG = "{http://www.w3.org/2000/svg}"


# Cases ------------------------------------------------------------------------------------------


def test_the_bundled_texts_are_valid_values_of_their_schemas() -> None:
    found = cases.bundled()
    assert len(found) >= 40
    assert len({c.name for c in found}) == len(found)
    for case in found:
        assert case.texts, case.name
        for text in case.texts:
            jsonschema.Draft202012Validator(case.schema).validate(json.loads(text))


LINES = """\
{"type": "integer", "minimum": 3, "maximum": 9}

{"name": "mine", "schema": {"enum": ["a", "b"]}, "values": ["b"]}
{"id": "suite", "schema": {"type": "boolean"}, "tests": [{"valid": true, "data": true}, {"valid": false, "data": 1}]}
{"schema": {"type": "array", "items": {"type": "string"}, "minItems": 1}}
"""  # noqa: E501


def test_schemas_come_in_several_forms() -> None:
    one, mine, suite, made = cases.from_schemas(LINES, "x.jsonl")
    assert one.name == "line 1" and all(3 <= json.loads(t) <= 9 for t in one.texts)
    assert (mine.name, mine.texts) == ("mine", ('"b"',))
    assert (suite.name, suite.texts) == ("suite", ("true",))
    assert made.texts and all(isinstance(json.loads(t), list) for t in made.texts)
    assert cases.from_schemas(LINES, "x.jsonl")[3] == made


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('{"type": "integer"}\n{', "invalid-json", 2),
        ("[1]", "bench-schema", 1),
        ('{"schema": true, "values": 1}', "bench-schema", 1),
        ("\n", "bench-schema", None),
    ],
)
def test_lines_that_hold_no_schema(text: str, code: str, line: int | None) -> None:
    with pytest.raises(BenchError) as caught:
        cases.from_schemas(text, "x.jsonl")
    (problem,) = caught.value.problems
    assert (problem.code, problem.origin.line) == (code, line)


def test_tools_become_one_schema_whose_references_still_lead_somewhere() -> None:
    tree = {
        "type": "object",
        "properties": {"n": {"$ref": "#/$defs/n"}, "at": {"type": "number", "maximum": 1.5}},
        "required": ["n"],
        "$defs": {"n": {"type": "integer", "minimum": 7}},
    }
    tools = [{"name": name, "input_schema": tree} for name in ("one", "two")]
    (case,) = cases.from_tools(json.dumps(tools), "t.json")
    schema = json.loads(json.dumps(case.schema, default=float))
    assert {json.loads(t)["name"] for t in case.texts} == {"one", "two"}
    check = jsonschema.Draft202012Validator(schema)
    for text in case.texts:
        check.validate(json.loads(text))
    assert not check.is_valid({"name": "two", "arguments": {"n": 6}})
    single = cases.calls_of([(t.name, t.schema) for t in read_tools(tools[:1])])
    assert jsonschema.Draft202012Validator(single).is_valid({"name": "one", "arguments": {"n": 7}})


# Vocabularies -----------------------------------------------------------------------------------


def test_texts_become_the_longest_tokens_and_nothing_is_lost() -> None:
    vocabulary = vocabularies.made_up(3000)
    assert len(vocabulary) == 3000 == len(set(vocabulary.tokens))
    for case in cases.bundled():
        for text in case.texts:
            ids = vocabularies.encode(vocabulary, text)
            assert b"".join(vocabulary.tokens[i] for i in ids).decode() == text
    narrow = Vocabulary([b"a", b"</s>"], special_ids=[1], eos_ids=[1])
    with pytest.raises(BenchError, match="no token of the vocabulary"):
        vocabularies.encode(narrow, "ab")


def test_a_stored_vocabulary_is_the_same(tmp_path: Path) -> None:
    tokens = [b"a", b"", "é".encode(), b"\xff" * 300, b"<end>", b"[PAD]"]
    one = Vocabulary(tokens, special_ids=[4], eos_ids=[4, 0], padding_ids=[5])
    vocabularies.store(one, tmp_path / "v.npz")
    assert vocabularies.restore(tmp_path / "v.npz").digest == one.digest


def test_what_is_no_vocabulary_is_said(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match="No such file"):
        vocabularies.load(str(tmp_path / "none.gguf"))
    (tmp_path / "text.gguf").write_bytes(b"no GGUF" * 100)
    with pytest.raises(VocabularyError, match="of no format that is known"):
        vocabularies.load(str(tmp_path / "text.gguf"))


def test_a_gguf_vocabulary_is_read(tmp_path: Path) -> None:
    gguf: Any = pytest.importorskip("gguf")
    path = tmp_path / "tiny.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(["a", "Ġb", "Ã©", "<|end|>", "[PAD4]"])
    writer.add_token_types([1, 1, 1, 3, 5])
    writer.add_eos_token_id(3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    found = vocabularies.load(str(path))
    assert found.tokens == (b"a", b" b", "é".encode(), b"<|end|>", b"[PAD4]")
    assert found.special_ids == {3} and found.eos_ids == (3,) and found.padding_ids == {4}


# Engines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", INSTALLED)
def test_an_engine_takes_what_is_valid_and_refuses_what_is_not(name: str) -> None:
    vocabulary = vocabularies.made_up(2000)
    engine = engines.ENGINES[name](vocabulary)
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    texts = ['{"n": 12}', '{"n": "x"}', '{"n": 1']
    found = worker.measure(engine, vocabulary, schema, texts, passes=2)
    assert found["refused"] is None and 0 < found["compile_us"] <= found["first_us"]
    assert [t["accepted"] for t in found["texts"]] == [True, False, False]
    tokens = len(vocabularies.encode(vocabulary, texts[0])) + 1
    assert [len(times) for times in found["texts"][0]["passes"]] == [tokens, tokens]
    refused = worker.measure(engine, vocabulary, {"type": "frog"}, [], passes=1)
    assert refused["refused"] and refused["texts"] == []


def test_a_process_that_dies_is_a_failure_of_its_engine(tmp_path: Path) -> None:
    done: list[int] = []
    case = cases.Case("x", {"type": "boolean"}, ("true",))
    gone = runner.run("calligram", [case], tmp_path / "none.npz", 1, done.append)
    assert gone.failure and "none.npz" in gone.failure and not gone.cases and not done
    path = tmp_path / "some.npz"
    vocabularies.store(vocabularies.made_up(500), path)
    well = runner.run("calligram", [case], path, 1, done.append)
    assert well.failure is None and len(well.cases) == 1 and done == [1, 1]
    found = compare([well, Run("llguidance", (), {}, gone.failure)], 1)
    assert found.shared == 1 and found.figures[0].token is not None
    assert found.figures[1].token is None and found.ratio("token", "avg", "llguidance") is None


def test_memory_is_that_of_the_process_alone(tmp_path: Path) -> None:
    ballast = np.ones(400 * 2**20, dtype=np.uint8)
    path = tmp_path / "some.npz"
    vocabularies.store(vocabularies.made_up(500), path)
    end = runner.run("calligram", [], path, 1, lambda _: None).end
    assert ballast.all()
    if end["rss_mb"] is not None and Path("/proc/self/status").exists():
        assert 10 < end["rss_mb"] < 400
        assert 0 <= end["grown_mb"] < end["rss_mb"]


# Figures ----------------------------------------------------------------------------------------


def result(*texts: tuple[bool, list[float], list[float]], first: float = 10) -> dict[str, Any]:
    return {
        "refused": None,
        "compile_us": first / 2,
        "first_us": first,
        "texts": [{"accepted": ok, "passes": [one, two]} for ok, one, two in texts],
    }


REFUSED: dict[str, Any] = {"refused": "no", "compile_us": None, "first_us": None, "texts": []}


def test_figures_are_over_what_all_engines_took() -> None:
    ours = Run(
        "calligram",
        (
            result((True, [1.0, 3.0], [1.0, 1.0]), (True, [100.0], [100.0])),
            result((True, [500.0], [500.0]), first=99),
        ),
        {"rss_mb": 5.0},
        None,
    )
    theirs = Run(
        "llguidance",
        (result((True, [4.0, 12.0], [4.0, 4.0]), (False, [1.0], [1.0]), first=40), REFUSED),
        {"rss_mb": None},
        None,
    )
    found = compare([ours, theirs], 2)
    assert (found.shared, found.shared_texts) == (1, 1)
    one, two = found.figures
    assert (one.compiled, one.refused, one.accepted, one.texts) == (2, 0, 3, 3)
    assert (two.compiled, two.refused, two.accepted, two.texts) == (1, 1, 1, 2)
    assert one.token is not None and (one.token.count, one.token.avg, one.token.p50) == (2, 2, 2)
    assert (one.token.p99, one.token.p999) == pytest.approx((2.98, 2.998))
    assert found.ratio("token", "avg", "llguidance") == 0.25
    assert found.ratio("again", "p50", "llguidance") == 0.25
    assert found.ratio("first_mask", "p50", "llguidance") == 0.25
    assert found.ratio("token", "avg", "xgrammar") is None
    assert found.latencies["llguidance"] == ([4.0, 12.0], [4.0, 4.0])
    table = figures.ratios(found, ["llguidance"])["llguidance"]
    assert table["token.avg"] == 0.25 and set(table) == {f"{f}.{p}" for _, f, p in figures.ROWS}


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (0.4, "0.40 µs"),
        (1.239, "1.24 µs"),
        (12.34, "12.3 µs"),
        (870.2, "870 µs"),
        (999.7, "1.00 ms"),
        (13.6e6, "13.6 s"),
        (5e9, "5,000 s"),
        (None, "–"),
    ],
)
def test_durations_in_words(time: float | None, words: str) -> None:
    assert duration(time) == words


@pytest.mark.parametrize(
    ("ratio", "words"),
    [(0.0213, "0.021×"), (0.5, "0.50×"), (1.0, "1.0×"), (13.4, "13×"), (0, "0.0×"), (None, "–")],
)
def test_ratios_in_words(ratio: float | None, words: str) -> None:
    assert ratio_words(ratio) == words


# Plot -------------------------------------------------------------------------------------------


def lines_of(picture: str) -> list[list[tuple[float, float]]]:
    """The drawn lines of a plot, as points."""
    found = []
    for line in ET.fromstring(picture).iter(f"{SVG}polyline"):
        pairs = [p.split(",") for p in line.attrib["points"].split()]
        found.append([(float(x), float(y)) for x, y in pairs])
    return found


def series(*times: Sequence[float]) -> list[plot.Series]:
    return [plot.Series(f"engine <{i}>", t, again=i == 1) for i, t in enumerate(times)]


def test_the_plot_is_svg_whose_lines_rise_inside_the_frame() -> None:
    rng = np.random.default_rng(3)
    times = [rng.lognormal(mean, 1.5, 2000).tolist() for mean in (0, 2, 6)]
    picture = plot.svg(series(*times), "A <title>", "100 %")
    assert picture == plot.svg(series(*times), "A <title>", "100 %")
    lines = lines_of(picture)
    assert len(lines) == 3
    for line in lines:
        xs, ys = [x for x, _ in line], [y for _, y in line]
        assert xs == sorted(xs) and ys == sorted(ys, reverse=True)
        assert plot.LEFT <= xs[0] and xs[-1] <= plot.WIDTH - plot.RIGHT
        assert plot.TOP <= ys[-1] and ys[0] <= plot.HEIGHT - plot.BOTTOM + 0.1
    # Slower lines lie to the right.
    middles = [line[len(line) // 2][0] for line in lines]
    assert middles == sorted(middles)
    texts = [t.text for t in ET.fromstring(picture).iter(f"{SVG}text")]
    assert {"A <title>", "engine <0>", "engine <2>", "99 %", "dashed: second pass"} <= set(texts)


def test_a_tenfold_time_is_one_step_to_the_right() -> None:
    one, ten = lines_of(plot.svg(series([1.0] * 50, [10.0] * 50, [100.0] * 50), "t", "s"))[:2]
    half = (plot.WIDTH - plot.LEFT - plot.RIGHT) / 2
    grid = ET.fromstring(plot.svg(series([1.0] * 50, [10.0] * 50, [100.0] * 50), "t", "s"))
    marks = [float(t.attrib["x"]) for t in grid.iter(f"{SVG}text") if t.text == "10 µs"]
    assert marks == [ten[0][0]] and ten[0][0] - one[0][0] == pytest.approx(half)


@pytest.mark.parametrize("times", [[], [[]], [[5.0]], [[0.0, 0.0]], [[1e-3, 1e9]]])
def test_few_times_make_a_plot_too(times: list[list[float]]) -> None:
    assert len(lines_of(plot.svg(series(*times), "t", "s"))) == sum(map(bool, times))


# The command ------------------------------------------------------------------------------------


def test_the_command_prints_a_table_or_json_and_draws(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schemas = tmp_path / "s.jsonl"
    schemas.write_text(LINES, encoding="utf-8")
    picture = tmp_path / "out.svg"
    base = ["bench", "mask", "--schemas", str(schemas), "--engine", "calligram"]
    assert main([*base, "--plot", str(picture)]) == 0
    captured = capsys.readouterr()
    assert captured.err == "" and "mask + accept, p99.9" in captured.out
    assert "second pass, average" in captured.out and "4 schemas" in captured.out
    assert len(lines_of(picture.read_text(encoding="utf-8"))) == 2

    assert main([*base, "--passes", "1", "--limit", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schemas"] == 2 and document["shared"]["schemas"] == 2
    (ours,) = document["engines"]
    assert ours["engine"] == "calligram" and ours["again"] is None
    assert ours["token"]["p50"] <= ours["token"]["p99"] <= ours["token"]["p999"]
    assert document["ratios"] == {}
    each = document["cases"]["calligram"]
    assert list(each) == ["line 1", "mine"] and each["mine"]["refused"] is None
    assert 0 < each["mine"]["token_avg_us"] <= each["mine"]["token_max_us"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vocab", "none.gguf"], "none.gguf: error[vocabulary-unreadable]: cannot be read"),
        (["--engine", "calligran"], "did you mean `calligram`"),
        (["--schemas", "none.jsonl"], "none.jsonl: error[cannot-read]: cannot be read"),
        (["--schemas", "-", "--tools", "-"], "cannot both be standard input"),
    ],
)
def test_what_cannot_be_measured_is_said(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "mask", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and said in captured.err


def test_an_engine_that_is_absent_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(engines.NEEDS, "xgrammar", ("no_such_package",))
    assert main(["bench", "mask", "--engine", "xgrammar"]) == 2
    assert "xgrammar cannot be measured: no_such_package is not" in capsys.readouterr().err
