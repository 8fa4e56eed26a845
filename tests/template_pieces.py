"""Chat templates of our own, put together from the piece that writes the calls."""

from __future__ import annotations

from calligram.chat_templates import ChatTemplate

TURN = """{%- for m in messages -%}
{{ '<|' + m.role + '|>' }}HEAD{{ m.content or '' }}
{%- if m.tool_calls %}{% set calls = m.tool_calls %}CALLS{% endif -%}
{{ '<|end|>' }}
{%- endfor -%}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif -%}"""


def template(calls: str, head: str = "", whole: str = TURN) -> ChatTemplate:
    """A template whose assistant's calls are written by a piece of jinja."""
    return ChatTemplate(whole.replace("CALLS", calls).replace("HEAD", head), place="own.jinja")


def each(call: str, between: str = "") -> str:
    """A piece of jinja that writes one call after the other, as `f` and its `args`."""
    joint = "{{ '' if loop.first else '" + between + "' }}"
    names = "{% set f = c.function %}{% set args = f.arguments %}"
    return "{% for c in calls %}" + names + joint + call + "{% endfor %}"


def members(one: str, between: str = "") -> str:
    """A piece of jinja that writes one argument after the other, as `k` and `v`."""
    joint = "{{ '' if loop.first else '" + between + "' }}"
    return "{% for k, v in args.items() %}" + joint + one + "{% endfor %}"


JSON_CALL = '{{ \'<c>{"name": "\' + f.name + \'", "args": \' }}{{ ARGS }}{{ "}</c>" }}'


def json_call(args: str = "args | tojson") -> str:
    return JSON_CALL.replace("ARGS", args)
