"""The tools and requests of these tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TOOLS: list[dict[str, Any]] = json.loads((ROOT / "examples" / "tools.json").read_text("utf-8"))
CALL = {"name": "set_timer", "arguments": {"minutes": 10}}
USER = [{"role": "user", "content": "Set a timer for 10 minutes."}]


def request(**fields: Any) -> dict[str, Any]:
    """A chat request with these fields; tools unless they are given."""
    return {"model": "m", "messages": USER, "tools": TOOLS, **fields}


def named(name: str) -> dict[str, Any]:
    """The tool_choice that names a tool."""
    return {"type": "function", "function": {"name": name}}


def allowed(mode: str, *names: str) -> dict[str, Any]:
    """The tool_choice that allows a subset."""
    inner = {"mode": mode, "tools": [named(n) for n in names]}
    return {"type": "allowed_tools", "allowed_tools": inner}
