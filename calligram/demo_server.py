"""llama.cpp's server in a process of its own: `python demo_server.py MODEL CONTEXT`.

Writes its address as one line to standard output once it is up, and ends when standard input
closes, so that it never outlives the process that started it.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any


def serve(model: str, context: int) -> None:
    """Serve the GGUF file `model` on a free port of the loopback interface, one thread.

    Args:
        context: tokens of a prompt and its answer together.
    """
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context
    params.n_parallel = 1
    # More threads than idle cores make a small model many times slower.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.ui = False
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
