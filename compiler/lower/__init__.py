"""Lowering: dialect spec and typed call IR in, grammar out, in two strictnesses."""
