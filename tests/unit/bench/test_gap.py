"""`bench gap`: what is asked, how answers are judged, and what becomes of servers that fail."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

import calligram
from calligram import demo_client
from calligram.bench import bars, plot
from calligram.bench.bench_error import BenchError
from calligram.bench.gap.case_set import BUNDLED, Case, CaseSet, Kind, read_set
from calligram.bench.gap.completion import Completion
from calligram.bench.gap.figures import by_kind, sum_up
from calligram.bench.gap.job import MODES, Job, Mode, prepare
from calligram.bench.gap.judge import Answer, judge
from calligram.bench.gap.runner import Result, Settings, made_prompt, run
from calligram.bench.gap.server import Server
from calligram.compiler.spec_loader import load_dialect
from tests.cli_runner import run as command
from tests.engine import Engine
from tests.unit.bench.fake_llama import FakeLlama, Said, completion, mode_of, running

SETTINGS = Settings(max_tokens=50, seed=3, temperature=0.0)
SVG = "{http://www.w3.org/2000/svg}"
TIMER = '<tool_call>\n{"name": "set_timer", "arguments": {"minutes": 15}}\n</tool_call>'


def bundled() -> CaseSet:
    return read_set(BUNDLED.read_text(encoding="utf-8"), "cases.json")


@pytest.fixture(scope="module")
def job() -> Job:
    return prepare(bundled(), None, 2)


# What is asked ----------------------------------------------------------------------------------


def test_the_bundled_set_is_sixty_prompts_over_twelve_tools_of_every_kind() -> None:
    found = bundled()
    names = [t["function"]["name"] for t in found.tools]
    assert len(found.cases) >= 60 and len(names) == len(set(names)) == 12
    assert len({c.prompt for c in found.cases}) == len(found.cases)
    kinds = Counter(c.kind for c in found.cases)
    assert set(kinds) == set(get_args(Kind)) and min(kinds.values()) >= 3
    wanted = Counter(c.tool for c in found.cases)
    assert all(wanted[name] >= 2 for name in names)
    assert all((c.tool is None) == (c.kind == "no_call") for c in found.cases)
    assert all(len(c.prompt) > 600 for c in found.cases if c.kind == "long_text")


def test_the_bundled_tools_use_what_schemas_are_made_of() -> None:
    text = json.dumps(bundled().tools)
    keywords = (
        "enum", "const", "pattern", "format", "minLength", "maxLength", "minimum", "maximum",
        "exclusiveMinimum", "multipleOf", "minItems", "maxItems", "anyOf", "items",
    )  # fmt: skip
    assert [k for k in keywords if f'"{k}":' not in text] == []
    for tool in bundled().tools:
        jsonschema.Draft202012Validator.check_schema(tool["function"]["parameters"])


def test_every_notation_takes_the_bundled_set_and_its_examples_read_back() -> None:
    found = bundled()
    one = {load_dialect(i).args.notation: i for i in calligram.dialects()}
    assert len(one) >= 5
    for dialect in one.values():
        job = prepare(found, dialect, 2)
        examples = [m["content"] for m in job.start if m["role"] == "assistant"]
        for text, example in zip(examples, found.examples, strict=True):
            (call,) = job.reader.parse(text.removeprefix(job.spec.prefill)).calls
            assert (call["name"], call["arguments"]) == (
                example["call"]["name"],
                example["call"]["arguments"],
            ), dialect


def test_examples_are_valid_calls_that_both_grammars_allow(job: Job, engine: Engine) -> None:
    for example in job.cases.examples:
        call = example["call"]
        job.validators[call["name"]].validate(call["arguments"])
    texts = [m["content"] for m in job.start if m["role"] == "assistant"]
    assert len(texts) == 2
    for mode in ("on", "auto"):
        assert engine.accepted(job.fields[mode]["grammar"], texts) == [True, True]
        assert engine.accepted(job.fields[mode]["grammar"], [texts[0] * 2]) == [False]


def test_the_system_message_has_the_tools_and_the_form(job: Job) -> None:
    system = job.start[0]["content"]
    assert all(f'"name": "{t["function"]["name"]}"' in system for t in job.cases.tools)
    assert '<tool_call>\n{"name": "name_of_function"' in system
    assert "{tools}" not in system and "{call}" not in system
    assert len(prepare(job.cases, None, 0).start) == 1
    assert job.messages("hi")[-1] == {"role": "user", "content": "hi"}


def broken(**changes: object) -> str:
    return json.dumps({**json.loads(BUNDLED.read_text(encoding="utf-8")), **changes})


@pytest.mark.parametrize(
    ("text", "code", "place", "said"),
    [
        ("{", "invalid-json", "x.json:1:2", "no JSON"),
        ("[]", "bench-cases", "x.json: error", "is an object"),
        (broken(casse=[]), "bench-cases", "x.json: /casse", "did you mean `cases`"),
        (broken(cases=[]), "bench-cases", "x.json: /cases", "must not be empty"),
        (broken(cases=[{"prompt": 3, "tool": None}]), "bench-cases", "/cases/0/prompt", "text"),
        (
            broken(cases=[{"prompt": "a", "tool": "set_time"}]),
            "bench-cases",
            "/cases/0/tool",
            "did you mean `set_timer`",
        ),
        (broken(cases=[{"prompt": "a"}]), "bench-cases", "/cases/0", "tool"),
        (broken(tools=[{"name": 3}]), "invalid-tool", "x.json: ", "name"),
    ],
)
def test_a_broken_set_is_refused_at_its_place(text: str, code: str, place: str, said: str) -> None:
    with pytest.raises(calligram.CalligramError) as caught:
        read_set(text, "x.json")
    (problem,) = caught.value.problems
    assert problem.code == code
    assert place in str(problem) and said in f"{problem.message} {problem.hint}"


@pytest.mark.parametrize(
    ("changes", "examples", "said"),
    [
        ({}, 3, "x.json: error[bench-cases]: 3 examples"),
        ({"bounds": {"string": 0}}, 0, "x.json: error[bench-cases]: not default bounds"),
        ({"bounds": {"strings": 9}}, 0, "x.json: error[bench-cases]: not default bounds"),
        (
            {"tools": [{"name": "a", "input_schema": {"type": "strnig"}}], "cases": [
                {"prompt": "a", "tool": "a"}]},
            0,
            "x.json: tool 'a'",
        ),
    ],
)  # fmt: skip
def test_what_does_not_compile_names_the_sets_file(
    changes: dict[str, Any], examples: int, said: str
) -> None:
    with pytest.raises(calligram.CalligramError) as caught:
        prepare(read_set(broken(**changes), "x.json"), None, examples)
    assert said in str(caught.value)


# Judging ----------------------------------------------------------------------------------------


def judged(job: Job, text: str, tool: str | None = "set_timer", mode: Mode = "off") -> Answer:
    case = Case(prompt="?", tool=tool)
    return judge(job, case, mode, Completion(text, False, 1, 1.0))


@pytest.mark.parametrize(
    ("text", "started", "valid", "right", "lenient"),
    [
        (TIMER, True, True, True, True),
        ("Sure.\n" + TIMER, True, True, True, True),
        (TIMER.replace("15", '"15"'), True, False, True, False),
        (TIMER.replace("15", "721"), True, False, True, False),
        (TIMER.replace("15", '15, "song": "x"'), True, False, True, False),
        (TIMER.replace("timer", "timers"), True, False, False, False),
        (TIMER[:-4], True, False, False, True),
        (TIMER[:-16], True, False, False, False),
        (TIMER.replace('"minutes": 15', '"minutes": 15,'), True, False, False, True),
        (TIMER + "\n" + TIMER, True, True, True, True),
        ("I set a timer of 15 minutes.", False, False, False, False),
        ("", False, False, False, False),
    ],
)
def test_an_answer_is_judged(
    job: Job, text: str, started: bool, valid: bool, right: bool, lenient: bool
) -> None:
    found = judged(job, text)
    assert (found.started, found.strict.valid) == (started, valid)
    assert (found.strict.right_tool, found.lenient.valid) == (right, lenient)


def test_jsonschema_and_the_parser_judge_apart(job: Job) -> None:
    # A date that is none: the parser goes by the schema, and so does jsonschema with its formats.
    event = {"name": "create_event", "arguments": {"title": "x", "start": {"date": "2027-13-40"}}}
    found = judged(job, f"<tool_call>\n{json.dumps(event)}\n</tool_call>", "create_event").strict
    assert (found.clean, found.schema, found.right_tool) == (False, False, True)
    # Text behind a call is a fault of the turn, not of the arguments.
    found = judged(job, TIMER + TIMER[:20]).strict
    assert (found.clean, found.schema, found.valid) == (False, True, False)


def test_rightly_no_call_is_the_right_tool(job: Job) -> None:
    assert judged(job, "Good night!", None).strict.right_tool
    assert not judged(job, TIMER, None).strict.right_tool
    assert not judged(job, TIMER[:30], None).strict.right_tool


# Asking -----------------------------------------------------------------------------------------


def asked(
    job: Job, answer: Callable[[dict[str, Any]], Said], limit: int = 1, **more: Any
) -> tuple[list[Result], FakeLlama]:
    seen: list[int] = []
    with running(FakeLlama(answer, **more)) as fake:
        results = run(job, Server(fake.address), limit, SETTINGS, seen.append)
    assert seen == list(range(1, len(MODES) * len(results) + 1))
    return results, fake


def test_each_mode_sends_what_the_server_needs_for_it(job: Job) -> None:
    results, fake = asked(job, lambda body: completion(TIMER))
    bodies = {mode_of(body): body for body in fake.completions}
    assert list(bodies) == list(MODES) and len(results) == 1
    preserved = ["<tool_call>", "</tool_call>"]
    for body in bodies.values():
        assert body["prompt"].endswith(f"user: {job.cases.cases[0].prompt}\nassistant:")
        assert set(preserved) <= set(body["preserved_tokens"])
        assert (body["temperature"], body["seed"]) == (0.0, 3)
    assert bodies["on"]["n_predict"] == job.longest > 1000
    assert "grammar_lazy" not in bodies["on"]
    assert bodies["auto"]["grammar_triggers"] == [{"type": 2, "value": "(<tool_call>\\n)"}]
    assert bodies["auto"]["n_predict"] == bodies["off"]["n_predict"] == SETTINGS.max_tokens
    assert "grammar" not in bodies["off"]


def test_the_prompt_is_read_before_the_first_mode_pays_for_it(job: Job) -> None:
    _, fake = asked(job, lambda body: completion(TIMER), 2)
    kinds = [p if p != "/completion" else b["n_predict"] for p, b in fake.asked]
    each = ["/apply-template", 0, job.longest, SETTINGS.max_tokens, SETTINGS.max_tokens]
    assert kinds == each * 2


@pytest.mark.parametrize(
    ("text", "again"), [("Well.\n" + TIMER[:40], True), ("Well, a timer is a thing that", False)]
)
def test_an_armed_call_that_began_is_let_end_and_prose_is_cut(
    job: Job, text: str, again: bool
) -> None:
    def answer(body: dict[str, Any]) -> Said:
        if body["n_predict"] == SETTINGS.max_tokens:
            return completion(text, cut=True)
        return completion("Well.\n" + TIMER)

    (result,), fake = asked(job, answer)
    armed = [b["n_predict"] for b in fake.completions if mode_of(b) == "auto"]
    assert armed == [SETTINGS.max_tokens] + [SETTINGS.max_tokens + job.longest] * again
    found = result.answers["auto"]
    assert (found.started, found.strict.valid, found.completion.cut) == (again, again, not again)
    free = result.answers["off"]
    assert free.completion.cut and not free.strict.valid


def test_a_failure_inside_the_server_is_that_answers_and_counts_as_started(job: Job) -> None:
    said = {"error": {"code": 500, "message": "Unexpected empty grammar stack"}}

    def answer(body: dict[str, Any]) -> Said:
        return completion(TIMER) if mode_of(body) == "on" else (500, said)

    results, _ = asked(job, answer, 2)
    on, auto, off = (sum_up(results, mode) for mode in MODES)
    assert (on.valid_if_started, auto.valid_if_started, off.valid_if_started) == (1.0, 0.0, None)
    assert (on.failed, auto.failed, off.failed) == (0, 2, 2)
    assert (auto.started, off.started) == (2, 0)
    assert results[0].answers["auto"].completion.error == "Unexpected empty grammar stack"


@pytest.mark.parametrize(
    ("path", "said", "words"),
    [
        ("/completion", (400, {"error": {"message": "failed to parse grammar"}}), "400: failed"),
        ("/completion", (400, "no room\n"), "400: no room"),
        ("/completion", (200, {"content": 3}), "no completion"),
        ("/completion", (200, "[" * 100_000), "not llama.cpp's server: no JSON"),
        ("/apply-template", (500, {"error": {"message": "no template"}}), "500: no template"),
        ("/apply-template", (200, {}), "no prompt"),
        ("/props", (503, {"error": {"message": "Loading model"}}), "503: Loading model"),
        ("/props", (200, "<html>"), "not llama.cpp's server: no JSON"),
        ("/props", (200, [1]), "no JSON object"),
        ("/props", (200, {}), "this is not llama.cpp's server"),
        ("/props", (404, ""), "404: nothing"),
    ],
)
def test_a_server_that_refuses_ends_the_bench_with_its_words(
    job: Job, path: str, said: Said, words: str
) -> None:
    with running(FakeLlama(lambda body: completion(TIMER), {path: said})) as fake:
        with pytest.raises(BenchError) as caught:
            server = Server(fake.address + "/")
            assert server.model() == "tiny.gguf"
            run(job, server, 1, SETTINGS, lambda done: None)
    (problem,) = caught.value.problems
    assert problem.code == "bench-server" and words in problem.message
    assert (problem.origin.file, problem.origin.pointer) == (fake.address, path)


def test_a_proxy_of_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with running(FakeLlama(lambda body: completion(""))) as fake:
        assert Server(fake.address).model() == "tiny.gguf"


@pytest.mark.parametrize(
    "address", ["localhost:8080", "file:///etc/hosts", "", "http://", "[", "x"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BenchError, match="not the address of a server"):
        Server(address)


def test_a_block_of_reasoning_that_the_template_opens_is_closed(job: Job) -> None:
    with running(FakeLlama(lambda body: completion(""), ends="assistant:<think>\n")) as fake:
        prompt = made_prompt(job, Server(fake.address), "hi")
    assert prompt.endswith("user: hi\nassistant:<think>\n\n</think>\n\n")


def test_what_the_dialects_templates_have_said_already_ends_the_prompt() -> None:
    dialect = next(i for i in calligram.dialects() if load_dialect(i).prefill)
    job = prepare(bundled(), dialect, 0)
    for ends in ("assistant:", "assistant:" + job.spec.prefill):
        with running(FakeLlama(lambda body: completion(""), ends=ends)) as fake:
            prompt = made_prompt(job, Server(fake.address), "hi")
        assert prompt.endswith("assistant:" + job.spec.prefill)


# Figures ----------------------------------------------------------------------------------------


def test_shares_are_of_all_answers_or_of_the_started_ones(job: Job) -> None:
    texts = [TIMER, TIMER.replace("15", "0"), "No.", "No."]
    tools = ["set_timer", "set_timer", "set_timer", None]
    results = [
        Result(Case(prompt="?", tool=tool), dict.fromkeys(MODES, judged(job, text, tool)))
        for text, tool in zip(texts, tools, strict=True)
    ]
    made = sum_up(results, "off").to_json()
    assert (made["started"], made["valid_if_started"]) == (0.5, 0.5)
    assert (made["schema_valid"], made["right_tool"]) == (0.25, 0.75)
    assert made["counts"]["right_tool_if_wanted"] == 2 and made["counts"]["call_wanted"] == 3
    assert (made["tokens"], made["seconds"]) == (1.0, 1.0)
    assert sum_up(results[2:], "off").to_json()["valid_if_started"] is None
    assert {k: f["off"].cases for k, f in by_kind(results).items()} == {"plain": 4}


def test_bars_are_as_high_as_their_shares() -> None:
    picture = bars.svg(["a <b>", "c"], [("one", [1.0, 0.5]), ("two", [None, 0.0])], "T & t", "s")
    assert picture == bars.svg(
        ["a <b>", "c"], [("one", [1.0, 0.5]), ("two", [None, 0.0])], "T & t", "s"
    )
    tree = ET.fromstring(picture)
    drawn = [r for r in tree.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]
    heights = [float(r.attrib["height"]) for r in drawn]
    assert heights == pytest.approx([heights[0], heights[0] / 2, 0.0], abs=0.1)
    assert heights[0] > (plot.HEIGHT - plot.TOP - plot.BOTTOM) * 0.8
    texts = [t.text for t in tree.iter(f"{SVG}text")]
    assert {"T & t", "a <b>", "c", "one", "two", "100 %", "50 %", "0 %", "–"} <= set(texts)
    lefts = [float(r.attrib["x"]) for r in drawn]
    assert lefts == sorted(lefts) and plot.LEFT <= lefts[0] and lefts[-1] < plot.WIDTH - plot.RIGHT


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (0.001, "1 %"), (0.5, "50 %"), (0.994, "99 %"), (0.999, "99 %"), (1, "100 %")],
)
def test_only_all_is_a_hundred_percent(share: float, words: str) -> None:
    assert bars.percent(share) == words


# The command ------------------------------------------------------------------------------------


def test_the_command_prints_a_table_or_json_and_draws(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Said:
        return completion(TIMER if "grammar" in body else TIMER.replace("15", '"15"'))

    picture = tmp_path / "gap.svg"
    with running(FakeLlama(answer)) as fake:
        base = ["bench", "gap", "--server", fake.address, "--limit", "4", "--max-tokens", "9"]
        shown = command(*base, "--plot", str(picture))
        told = command(*base, "--examples", "0", "--json")
    assert (shown.code, shown.err, told.code, told.err) == (0, "", 0, "")
    assert "4 prompts, 12 tools; tiny.gguf" in shown.out
    row = next(line for line in shown.out.splitlines() if line.startswith("valid, of those"))
    assert row.split()[-8:] == ["(100", "%)", "4", "(100", "%)", "0", "(0", "%)"]
    assert ET.fromstring(picture.read_text(encoding="utf-8")).tag == f"{SVG}svg"
    document = told.json
    assert (document["prompts"], document["tools"], document["examples"]) == (4, 12, 0)
    for mode, share in (("on", 1.0), ("auto", 1.0), ("off", 0.0)):
        found = document[mode]
        assert (found["started"], found["valid_if_started"]) == (1.0, share)
        assert (found["schema_valid"], found["right_tool"]) == (share, 0.25)
    result = document["results"][1]
    assert result["tool"] == "set_timer" and result["off"]["text"] == TIMER.replace("15", '"15"')
    assert result["on"]["calls"] == [{"name": "set_timer", "arguments": {"minutes": 15}}]
    assert result["off"]["problems"] and not result["off"]["jsonschema"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--server", "http://127.0.0.1:9"], "bench-server", "did not answer"),
        (["--server", "nowhere"], "bench-server", "is not the address of a server"),
        (["--dialect", "hermes-jsn"], "unknown-dialect", "hermes-jsn"),
        (["--cases", "none.json"], "cannot-read", "cannot be read"),
        (["--examples", "3"], "bench-cases", "the set has 2"),
        (["--limit", "0"], "usage", "--limit"),
        (["--plot", "no/such/folder/x.svg"], "cannot-write", "no/such/folder"),
    ],
)
def test_what_cannot_be_measured_is_said_before_anything_is_asked(
    arguments: list[str], code: str, said: str
) -> None:
    result = command("bench", "gap", *arguments, "--json")
    assert (result.code, result.out) == (2, "")
    (problem,) = result.problems
    assert problem["code"] == code and said in json.dumps(problem)


def test_a_model_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_client, "MODEL_PACKAGE", "no_such_package")
    result = command("bench", "gap")
    assert (result.code, result.out) == (2, "")
    assert "error[demo-not-installed]" in result.err and "--server" in result.err


def test_constraints_that_are_off_are_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLIGRAM_DISABLE", "1")
    result = command("bench", "gap")
    assert result.code == 2 and "error[bench-disabled]" in result.err


@pytest.mark.slow
def test_every_constrained_call_of_the_real_model_is_valid(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp", reason="the server comes out of the xllamacpp wheel")
    # Two tools instead of twelve: the model reads the prompt in a few seconds.
    found = bundled()
    names = ("get_forecast", "control_light")
    cases = [c for c in found.cases if c.tool in names][:3]
    few = replace(
        found,
        tools=[t for t in found.tools if t["function"]["name"] in names],
        cases=tuple(cases),
    )
    file = tmp_path / "few.json"
    file.write_text(
        broken(tools=few.tools, cases=[c.model_dump() for c in few.cases]), encoding="utf-8"
    )
    result = command("bench", "gap", "--cases", str(file), "--max-tokens", "96", "--json")
    assert (result.code, result.err) == (0, "")
    document = result.json
    assert document["prompts"] == 3 and document["server"] == "embedded"
    assert (document["on"]["started"], document["on"]["valid_if_started"]) == (1.0, 1.0)
    assert document["auto"]["valid_if_started"] == 1.0
    for one in document["results"]:
        for mode in ("on", "auto"):
            (call,) = one[mode]["calls"]
            (tool,) = [t["function"] for t in few.tools if t["function"]["name"] == call["name"]]
            jsonschema.Draft202012Validator(tool["parameters"]).validate(call["arguments"])
