"""Back ends: each turns a grammar into one kind of artefact.

A target imports the compiler's grammar and automaton, never another target, and never knows a
dialect.
"""
