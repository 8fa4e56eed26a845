"""Ask a running llama-server for a call under the grammar: `python request.py URL`."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

import calligram
from calligram.targets import gbnf, parser

TOOLS = Path(__file__).with_name("tools.json").read_text(encoding="utf-8")
QUESTION = "What is the weather in Paris?"


def ask(url: str, grammar: str, max_tokens: int) -> str:
    """The model's answer under the grammar.

    Raises:
        OSError, ValueError: no server answers, or it refuses the request.
    """
    body = {
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": json.loads(TOOLS),
        "tool_choice": "none",  # the server accepts a grammar beside tools only so
        "grammar": grammar,
        "max_tokens": max_tokens,
        "temperature": 0,
    }
    request = urllib.request.Request(
        f"{url.rstrip('/')}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=300) as response:
        text: str = json.load(response)["choices"][0]["message"]["content"]
    return text


def main() -> None:
    """Print the calls; exit with 2 if there is no URL, with 1 if there is no answer or no call."""
    if len(sys.argv) != 2:
        print("usage: python request.py URL, such as http://127.0.0.1:8080", file=sys.stderr)
        raise SystemExit(2)
    grammar = calligram.compile_tools(
        TOOLS,
        dialect="hermes-json",
        bounds=calligram.Bounds(string=80),
        max_calls=1,
        reasoning="none",
    )
    # A token writes a byte at least, so with this many tokens every call is complete.
    longest = grammar.report.longest_call
    assert longest is not None
    try:
        text = ask(sys.argv[1], gbnf.emit(grammar), longest)
    except (OSError, ValueError, LookupError) as error:
        raise SystemExit(f"no answer from {sys.argv[1]}: {error}") from None
    result = parser.compile(grammar).parse(text)
    for problem in result.problems:
        print(problem.message, file=sys.stderr)
    for call in result.calls:
        print(call["name"], call["arguments"])
    raise SystemExit(0 if result.calls else 1)


if __name__ == "__main__":
    main()
