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


def ask(url: str, grammar: str) -> str:
    """The model's answer under the grammar.

    Raises:
        OSError, ValueError: no server answers, or it refuses the request.
    """
    body = {
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": json.loads(TOOLS),
        "tool_choice": "none",  # the server accepts a grammar beside tools only so
        "grammar": grammar,
        "max_tokens": 256,
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
    """Print the calls; one line and exit code 2 or 1 if there is no URL or no answer."""
    if len(sys.argv) != 2:
        print("usage: python request.py URL, such as http://127.0.0.1:8080", file=sys.stderr)
        raise SystemExit(2)
    grammar = calligram.compile_tools(
        TOOLS, dialect="hermes-json", bounds=calligram.Bounds(string=80), max_calls=1
    )
    try:
        text = ask(sys.argv[1], gbnf.emit(grammar))
    except (OSError, ValueError, LookupError) as error:
        raise SystemExit(f"no answer from {sys.argv[1]}: {error}") from None
    for call in parser.compile(grammar).parse(text).calls:
        print(call["name"], call["arguments"])


if __name__ == "__main__":
    main()
