"""A server that speaks llama.cpp's native routes, and says what the test wants it to."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Said = tuple[int, object]
"""Status, and what is sent: text as it stands, all else as JSON."""


def completion(text: str, *, cut: bool = False, tokens: int = 7) -> Said:
    """What the real server answers, with the fields that are looked at."""
    stop = "limit" if cut else "eos"
    timings = {"predicted_ms": 250.0}
    told = {"content": text, "stop_type": stop, "tokens_predicted": tokens, "timings": timings}
    return 200, told


@dataclass
class FakeLlama:
    """What it says by path, and what it was asked.

    Attributes:
        answer: from the body of a `/completion` that asks for tokens.
        said: statuses and answers of paths that are to answer otherwise.
    """

    answer: Callable[[dict[str, Any]], Said]
    said: dict[str, Said] = field(default_factory=dict)
    ends: str = "assistant:"
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    address: str = ""

    @property
    def completions(self) -> list[dict[str, Any]]:
        """The bodies of requests for tokens; those that only read the prompt are left out."""
        return [b for path, b in self.asked if path == "/completion" and b["n_predict"]]

    def reply(self, path: str, body: dict[str, Any]) -> Said:
        self.asked.append((path, body))
        if path in self.said:
            return self.said[path]
        match path:
            case "/props":
                return 200, {"model_path": "/models/tiny.gguf"}
            case "/apply-template":
                lines = [f"{m['role']}: {m['content']}" for m in body["messages"]]
                return 200, {"prompt": "\n".join([*lines, self.ends])}
            case "/completion":
                return self.answer(body) if body["n_predict"] else completion("", tokens=0)
            case _:
                return 404, {"error": {"message": "File Not Found"}}


def mode_of(body: dict[str, Any]) -> str:
    """Which mode a request is of."""
    return "auto" if body.get("grammar_lazy") else "on" if "grammar" in body else "off"


@contextlib.contextmanager
def running(fake: FakeLlama) -> Iterator[FakeLlama]:
    """The fake on a free port, gone afterwards."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.tell({})

        def do_POST(self) -> None:
            self.tell(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def tell(self, body: dict[str, Any]) -> None:
            status, said = fake.reply(self.path, body)
            data = (said if isinstance(said, str) else json.dumps(said)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        fake.address = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
