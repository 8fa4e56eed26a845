"""Byte-level automata over interned continuations."""
