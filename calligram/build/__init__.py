"""`calligram build`: many grammars, named in a manifest, kept up to date by content.

calligram.toml ─ manifest ─► settings ─ plan ─► units ─ run ─► outputs, and a record of both
                                                     └─ check ─► what is stale

Nothing here imports the compiler's stages before there is something to compile.
"""
