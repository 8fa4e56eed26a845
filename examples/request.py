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

grammar = calligram.compile_tools(
    TOOLS, dialect="hermes-json", bounds=calligram.Bounds(string=80), max_calls=1
)
body = {
    "messages": [{"role": "user", "content": QUESTION}],
    "tools": json.loads(TOOLS),
    "tool_choice": "none",  # the server accepts a grammar beside tools only so
    "grammar": gbnf.emit(grammar),
    "max_tokens": 256,
}
request = urllib.request.Request(
    f"{sys.argv[1]}/v1/chat/completions",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json"},
)
with urllib.request.urlopen(request, timeout=300) as response:
    text = json.load(response)["choices"][0]["message"]["content"]
for call in parser.compile(grammar).parse(text).calls:
    print(call["name"], call["arguments"])
