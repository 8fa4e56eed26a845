"""Talks to llama.cpp's server: its native routes, as the chat route keeps no lazy grammar."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from ...compiler.origin import Origin
from ...demo_client import DIRECT
from ..bench_error import BenchError
from .completion import Completion

SECONDS: Final = 600
"""How long one answer may take; the first prompt is read as a whole."""

MOST_BYTES: Final = 64 * 2**20
"""Bytes of one answer that are read."""


class Server:
    """One server, by its address."""

    def __init__(self, address: str) -> None:
        """Raises BenchError for what is no address of a web server."""
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            message = f"'{address}' is not the address of a server"
            raise BenchError.at("bench-server", message, hint="such as http://127.0.0.1:8080")
        self.address = address.rstrip("/")

    def model(self) -> str:
        """The name of the model's file, without its folder; the server is there and ready.

        Raises:
            BenchError: it is away, not ready, or not llama.cpp's.
        """
        told = self._ask("/props", None)
        path = told.get("model_path")
        if not isinstance(path, str):
            raise self._error("/props", "this is not llama.cpp's server")
        return PurePath(path.replace("\\", "/")).name

    def prompt(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The text of a conversation by the model's own template, up to where it answers."""
        # Templates of models that reason open a block otherwise; others do not look at it.
        body = {"messages": messages, "chat_template_kwargs": {"enable_thinking": False}}
        found = self._ask("/apply-template", body).get("prompt")
        if not isinstance(found, str):
            raise self._error("/apply-template", "the server gave no prompt")
        return found

    def read(self, prompt: str) -> None:
        """Have the prompt read, so that what is asked next finds it in the server's cache."""
        self.complete({"prompt": prompt, "n_predict": 0})

    def complete(self, body: Mapping[str, Any]) -> Completion:
        """One completion.

        A failure inside the server (500) is the answer to this one request: the server lives on.

        Raises:
            BenchError: it is away, refuses the request, or answers something else.
        """
        began = time.perf_counter()
        told = self._ask("/completion", body, may_fail=True)
        took = time.perf_counter() - began
        if "error" in told:
            return Completion("", False, 0, took, _message(told))
        text, tokens = told.get("content"), told.get("tokens_predicted")
        if not isinstance(text, str) or not isinstance(tokens, int):
            raise self._error("/completion", "the server gave no completion")
        timings = told.get("timings")
        written = timings.get("predicted_ms") if isinstance(timings, dict) else None
        seconds = written / 1000 if isinstance(written, (int, float)) else took
        return Completion(text, told.get("stop_type") == "limit", tokens, seconds)

    def _ask(self, path: str, body: object, may_fail: bool = False) -> dict[str, Any]:
        """The JSON object that the server answers; a 500's own, if it may fail."""
        data = None if body is None else json.dumps(body).encode("utf-8")
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json"}
        )
        try:
            with DIRECT.open(request, timeout=SECONDS) as response:
                told = json.loads(response.read(MOST_BYTES))
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(10_000).decode("utf-8", "replace")
            if may_fail and error.code == 500:
                return {"error": said}
            message = f"the server answered {error.code}: {_message({'error': said})}"
            raise self._error(path, message) from None
        except (OSError, http.client.HTTPException) as error:
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            hint = "start llama-server there, or leave --server out"
            raise self._error(path, f"the server did not answer: {reason}", hint) from None
        except (ValueError, RecursionError):
            raise self._error(path, "this is not llama.cpp's server: no JSON") from None
        if not isinstance(told, dict):
            raise self._error(path, "this is not llama.cpp's server: no JSON object")
        return told

    def _error(self, path: str, message: str, hint: str | None = None) -> BenchError:
        return BenchError.at("bench-server", message, Origin(path, file=self.address), hint)


def _message(told: Mapping[str, Any]) -> str:
    """The server's own words about an error: `{"error": {"message": …}}`, or whatever it said."""
    said = str(told["error"])
    try:
        said = json.loads(said)["error"]["message"]
    except (ValueError, LookupError, TypeError):
        pass
    return str(said).strip()[:500] or "nothing"
