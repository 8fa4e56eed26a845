"""Passes over the grammar IR, one a module: Grammar -> Grammar, or a check that lists problems.

All of them work without recursion, so that a deeply nested grammar costs memory, not the stack.
"""
