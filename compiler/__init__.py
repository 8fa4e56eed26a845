"""Specs and schemas in, grammar out.

The pipeline's stages, each in its own module or package, arrows pointing down only:
``spec`` (dialect), ``tools`` and ``json_schema`` (what may be said), ``ir`` (typed calls),
``lower`` (spelling), ``grammar`` (rules), ``passes``, ``automaton`` (bytes).
Nothing here imports from ``targets``.
"""
