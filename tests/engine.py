"""llama.cpp's own grammar engine as a verdict on GBNF texts.

The engine comes out of the xllamacpp wheel through ctypes: no model, no vocabulary, no compiler.
It runs in a child process under a memory and a time limit, since hostile grammars make it loop
for ever. A grammar is parsed once and cloned for each text. Positions count code points.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal

Verdict = tuple[bool, int, str]
Answer = tuple[Literal["ok"], list[Verdict]] | tuple[Literal["refused", "hang"], str]

# Itanium-mangled names of the C++ functions; only pointers and integers cross the boundary.
SYMBOLS = {
    "init": "_Z23llama_grammar_init_implPK11llama_vocabPKcS3_bPS3_mPKim",
    "clone": "_Z24llama_grammar_clone_implRK13llama_grammar",
    "accept": "_Z20llama_grammar_acceptP13llama_grammarj",
    "stacks": "_Z24llama_grammar_get_stacksP13llama_grammar",
    "free": "_Z23llama_grammar_free_implP13llama_grammar",
}
VECTOR_BYTES = 24


class Engine:
    """The engine in a child process, started again when a grammar kills or hangs it."""

    def __init__(self, seconds: float = 60.0, memory_mb: int = 4096) -> None:
        self.seconds = seconds
        self.memory = memory_mb << 20
        self._child: subprocess.Popen[bytes] | None = None

    def run(self, gbnf: str, texts: Iterable[str] = ()) -> Answer:
        """``("ok", [(accepted, position, why), ...])``, or ``("refused" | "hang", reason)``."""
        child = self._child or self._start()
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(json.dumps([gbnf, list(texts)]).encode() + b"\n")
            child.stdin.flush()
        except BrokenPipeError:
            return self._lost("the engine's process died")
        # The child writes one line and flushes once, so a readable pipe means an answer or its end.
        if not select.select([child.stdout], [], [], self.seconds)[0]:
            return self._lost(f"no answer in {self.seconds} s")
        line = child.stdout.readline()
        if not line:
            return self._lost("the engine's process died")
        status, result = json.loads(line)
        if status == "ok":
            return "ok", [tuple(v) for v in result]
        return status, result

    def accepted(self, gbnf: str, texts: Iterable[str]) -> list[bool]:
        """Whether each text is accepted in full; the grammar must be readable."""
        answer = self.run(gbnf, texts)
        assert answer[0] == "ok", (*answer, gbnf[:2000])
        return [verdict[0] for verdict in answer[1]]

    def close(self) -> None:
        """Stop the child."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _start(self) -> subprocess.Popen[bytes]:
        self._child = subprocess.Popen(
            [sys.executable, __file__, str(self.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        return self._child

    def _lost(self, reason: str) -> Answer:
        self.close()
        return "hang", reason


def load() -> dict[str, Any]:
    """The engine's functions by short name."""
    spec = importlib.util.find_spec("xllamacpp")
    assert spec is not None and spec.submodule_search_locations, "xllamacpp is not installed"
    folder = Path(next(iter(spec.submodule_search_locations)))
    library = ctypes.CDLL(str(next(folder.glob("xllamacpp*.so"))))
    found = {name: getattr(library, symbol) for name, symbol in SYMBOLS.items()}
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    text = ctypes.c_char_p
    found["init"].restype = pointer
    found["init"].argtypes = [
        pointer, text, text, ctypes.c_bool, pointer, size, pointer, size,
    ]  # fmt: skip
    found["clone"].restype, found["clone"].argtypes = pointer, [pointer]
    found["accept"].restype, found["accept"].argtypes = None, [pointer, ctypes.c_uint32]
    found["stacks"].restype, found["stacks"].argtypes = pointer, [pointer]
    found["free"].restype, found["free"].argtypes = None, [pointer]
    return found


def verdict_of(functions: dict[str, Any], grammar: int, text: str) -> Verdict:
    """Feed `text` to `grammar`, which it uses up."""
    accept, stacks = functions["accept"], functions["stacks"]
    outer = (ctypes.c_size_t * 2).from_address(stacks(grammar))
    for position, character in enumerate(text):
        accept(grammar, ord(character))
        if outer[0] == outer[1]:
            return False, position, f"unexpected {character!r}"
    begin, end = outer
    inner = (
        (ctypes.c_size_t * 2).from_address(address) for address in range(begin, end, VECTOR_BYTES)
    )
    if any(first == last for first, last in inner):
        return True, len(text), "complete"
    return False, len(text), "unexpected end"


def capture_stderr(call: Callable[[], int | None]) -> tuple[int | None, str]:
    """The call's result and what it wrote to file descriptor 2."""
    with tempfile.TemporaryFile() as sink:
        saved = os.dup(2)
        os.dup2(sink.fileno(), 2)
        try:
            result = call()
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        sink.seek(0)
        return result, sink.read().decode(errors="replace").strip()


def serve(memory: int) -> None:
    """The child: one JSON request a line, one JSON answer a line."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    functions = load()
    for line in sys.stdin:
        gbnf, texts = json.loads(line)
        source = gbnf.encode()
        grammar, complaint = capture_stderr(
            lambda source=source: functions["init"](  # type: ignore[misc]
                None, source, b"root", False, None, 0, None, 0
            )
        )
        if not grammar:
            print(json.dumps(["refused", complaint[-500:]]), flush=True)
            continue
        verdicts = []
        for text in texts:
            clone = functions["clone"](grammar)
            verdicts.append(verdict_of(functions, clone, text))
            functions["free"](clone)
        functions["free"](grammar)
        print(json.dumps(["ok", verdicts]), flush=True)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
