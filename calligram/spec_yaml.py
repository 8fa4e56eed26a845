"""Specs as YAML text, written as the spec format advises."""

from __future__ import annotations

import math
import re

import yaml


class _Dumper(yaml.SafeDumper):
    """Quotes strings unless they are plain words; writes no anchors, which a spec cannot have."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _string(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    plain = re.fullmatch(r"[\w./+-]+( [\w./+,;()-]+)*", value, re.ASCII) is not None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')


_Dumper.add_representer(str, _string)


def to_yaml(data: object) -> str:
    """YAML text in which line breaks, markers and braces stand in double quotes."""
    # No width: a folded line would put a backslash at its end.
    text = yaml.dump(data, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=math.inf)
    return str(text)
