"""The end of a text: what was read, what is wrong with it, and what lenient reading adds."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...compiler.judge import Path, judge
from ...compiler.origin import Origin, Problem
from .apart import fence_around
from .build import Builder
from .found import Found
from .frames import Place, Span
from .holding import Holding
from .layout import Gap, misplaced_space
from .leftover import without_ends
from .lenient import beginning, joined, misnamed, near_misses, recover
from .places import locate
from .result import Incomplete, ParseResult, Recovery
from .run import Run
from .telling import Telling
from .unoffered import unoffered

if TYPE_CHECKING:
    from .reader import Reader


def finish(
    reader: Reader,
    text: bytearray,
    run: Run,
    builder: Builder,
    *,
    cut: bytes,
    problems: list[Problem],
    attempts: list[int] | None,
    telling: Telling | None,
) -> ParseResult:
    """The result of a text that has ended.

    Args:
        cut: the beginning of a character that the text ends inside.
        problems: what is wrong with the bytes.
        attempts: for lenient reading, where calls broke off.
    """
    ended = run.close()
    if telling is not None and builder.stack:
        telling.grow(builder.stack[-1], len(text))
    open_call = builder.call
    incomplete = None if ended else _cut_off(builder, len(text))
    problems += [*(problem for problem, _ in run.broken), *builder.problems]
    found: list[Found] = []
    fence: tuple[Recovery, ...] = ()
    content = builder.content
    # Without content there is nothing to look for, and so nothing to look for it by.
    first = beginning(reader.marks, text, content, builder.starts) if content else []
    if attempts is not None:
        starts = [*attempts, *first, *([] if open_call is None else [open_call.start])]
        spans = [*content, *([] if open_call is None else [(open_call.start, len(text))])]
        stops = [*(start for start, _ in builder.reasoning), len(text)]
        found, content = recover(reader.marks, reader.tools, text, spans, starts, stops=stops)
        if open_call is None:
            pass
        elif found and found[-1].end > open_call.start:
            incomplete = None
            if isinstance(telling, Holding):
                telling.broken(open_call.start)
        else:
            content = [(a, min(b, open_call.start)) for a, b in content if a < open_call.start]
        unknown, left = misnamed(reader.marks, reader.tools, text, builder)
        whole = [(f.start, f.end) for f in found]
        unknown = [f for f in unknown if not _inside(f.start, whole)]
        left = [span for span in left if not _inside(span[0], whole)]
        if unknown:
            found = sorted([*found, *unknown], key=lambda call: call.start)
            content = sorted([*content, *left])
        problems = _without_excused(problems, run.broken, found)
        content, fence = _unfenced(reader, bytes(text), builder, content)
        content = without_ends(reader.marks, text, content, builder.ends, found)
        if incomplete is None:
            incomplete = next((_cut_short(f, builder) for f in found if f.cut), None)
    notices: list[Problem] = []
    if content:
        told = sorted(span[0] for p in problems if (span := p.origin.span) is not None)
        broken = [
            (begun, problem.origin.span[0]) for problem, begun in run.broken if problem.origin.span
        ]
        near = near_misses(reader.marks, reader.tools, text, content, first, broken)
        notices = [n for n in near if not _touches(n, told)]
        ends = [*builder.ends, *(f.end for f in found)]
        # Last, for they stand at the end.
        notices += unoffered(reader.marks, reader.tools, bytes(text), joined(content), ends)
    merged = _merged(builder, found)
    calls = [call for _, call, _ in merged]
    recoveries = tuple(r.numbered(i) for i, (_, _, f) in enumerate(merged) for r in _of(f))
    recoveries = (*fence, *recoveries)
    if isinstance(telling, Holding) and telling.held is not None:
        _tell_held(telling, telling.held, content, merged, builder)
    if incomplete is None and cut:
        incomplete = Incomplete(None, "", "the text ends inside a character")

    def where(index: int, path: Path) -> Span | None:
        start, _, what = merged[index]
        place = what if isinstance(what, Place) else None if what is None else what.place
        return locate(place, path, text) or (start, start)

    grammar = reader.grammar
    verdict = grammar.check(bytes(text) + cut)
    if verdict.accepted and not found:
        # No automaton remembers undeclared keys; the last one counts, as in JSON. What was relaxed
        # is for the validator; the rest the grammar has decided, and exactly, where a validator
        # reads numbers as floats and patterns as Python does.
        problems = [p for p in problems if p.code != "duplicate-key"]
        if grammar.is_relaxed:
            problems += judge(grammar, calls, where)
    else:
        problems += judge(grammar, calls, where)
        if incomplete is None and text and verdict.position == len(text) and not recoveries:
            incomplete = Incomplete(None, "", f"the text ends early: {verdict.message}")
        gap = None
        if not problems and incomplete is None and calls and not found:
            gap = misplaced_space(reader, bytes(text), calls)
        if gap is not None and attempts is not None:
            recoveries = (_spaced(gap, builder.ends),)
        elif gap is not None:
            message = f"at byte {gap.span[0]}: {_as_told(gap)}"
            hint = "lenient reading takes it"
            problems.append(Problem("not-accepted", message, Origin(span=gap.span), hint))
        elif not problems and not recoveries:
            code = "incomplete" if incomplete else "not-accepted"
            message = f"at byte {verdict.position}: {verdict.message}"
            origin = Origin(span=(verdict.position, verdict.position))
            problems.append(Problem(code, message, origin))
    return ParseResult(
        calls=calls,
        content="".join(builder.slice(start, end) for start, end in content),
        reasoning="".join(builder.slice(start, end) for start, end in builder.reasoning).strip(),
        problems=tuple(problems),
        incomplete=incomplete,
        recoveries=recoveries,
        notices=tuple(notices),
    )


def _unfenced(
    reader: Reader, text: bytes, builder: Builder, content: list[Span]
) -> tuple[list[Span], tuple[Recovery, ...]]:
    """The content without a code fence around calls that nothing marks and that the message begins
    with; the calls themselves are as the dialect has them."""
    if reader.marks.bare is None or not builder.starts or not content:
        return content, ()
    around = fence_around(text, builder.starts[0], content)
    if around is None:
        return content, ()
    (start, first), (last, end) = around
    left = [(max(a, end) if a == last else a, b) for a, b in content if (a, b) != (start, first)]
    note = Recovery("code-fence", "the call is in a code fence", start, first, 0)
    return [(a, b) for a, b in left if a < b], (note,)


def _as_told(gap: Gap) -> str:
    found = repr(gap.found) if gap.found else "none"
    wanted = repr(gap.wanted) if gap.wanted else "none"
    return f"white space is not as the dialect has it: expected {wanted}, found {found}"


def _spaced(gap: Gap, ends: list[int]) -> Recovery:
    """White space that was overlooked, with the call that it stands before or in."""
    call = min(bisect_left(ends, gap.span[1]), len(ends) - 1)
    return Recovery("loose-space", _as_told(gap), *gap.span, call)


def _touches(notice: Problem, told: list[int]) -> bool:
    """Is it about a place where something is wrong anyway? `told`: where, ascending."""
    own = notice.origin.span
    return own is not None and bisect_left(told, own[0]) < bisect_right(told, own[1])


def as_given(result: ParseResult, replaced: list[int]) -> ParseResult:
    """The result with places as in the text that was given, where each byte that is no UTF-8 is one
    byte and not the three of its replacement."""

    def moved(span: Span) -> Span:
        start, end = (at - 2 * bisect_left(replaced, at) for at in span)
        return start, end

    def located(problem: Problem) -> Problem:
        span = problem.origin.span
        if span is None or problem.code == "not-utf-8":
            return problem
        given = moved(span)
        message = problem.message.replace(f"at byte {span[0]}:", f"at byte {given[0]}:", 1)
        return replace(problem, message=message, origin=replace(problem.origin, span=given))

    problems = tuple(map(located, result.problems))
    notices = tuple(map(located, result.notices))
    recoveries = []
    for recovery in result.recoveries:
        start, end = moved((recovery.start, recovery.end))
        recoveries.append(replace(recovery, start=start, end=end))
    return replace(result, problems=problems, notices=notices, recoveries=tuple(recoveries))


def _cut_off(builder: Builder, end: int) -> Incomplete:
    call = builder.call
    if call is None:
        builder.abandon(end, cut=True)
        what = "before the calls are closed" if builder.calls else "inside a block"
        return Incomplete(None, "", f"the text ends {what}")
    start = call.arguments_start
    end = end if call.arguments_end is None else call.arguments_end
    arguments = "" if start is None else builder.slice(start, end)
    name = f"'{call.name}'" if call.name else "a tool"
    return Incomplete(
        call.name, arguments, f"the call of {name} is incomplete: the text ends inside it"
    )


def _cut_short(found: Found, builder: Builder) -> Incomplete:
    """What is known of a recovered call whose arguments may have been cut off."""
    span = None if found.place is None else found.place.span
    arguments = "" if span is None else builder.slice(*span)
    name = found.call["name"]
    return Incomplete(
        name, arguments, f"the call of '{name}' is incomplete: nothing ends its arguments"
    )


Merged = list[tuple[int, dict[str, Any], "Place | Found | None"]]
"""Where each call begins, the call, and what is known of where its values stand."""


def _merged(builder: Builder, found: list[Found]) -> Merged:
    """All calls in the order of the text."""
    out: Merged = []
    taken = [(f.start, f.end) for f in found]
    for start, call, place in zip(builder.starts, builder.calls, builder.places, strict=True):
        if not _inside(start, taken):
            out.append((start, call, place))
    out += [(f.start, f.call, f) for f in found]
    return sorted(out, key=lambda entry: entry[0]) if found else out


def _inside(at: int, spans: list[Span]) -> bool:
    """Does a place lie in one of these spans, which ascend?"""
    before = bisect_right(spans, (at, at))
    return any(start <= at < end for start, end in spans[max(0, before - 1) : before + 1])


def _of(what: Place | Found | None) -> list[Any]:
    return what.recoveries if isinstance(what, Found) else []


def _without_excused(
    problems: list[Problem], broken: list[tuple[Problem, int]], found: list[Found]
) -> list[Problem]:
    """The problems without what recovered calls are excused for: those inside them, and of calls
    that broke off, by where they began, those that were read after all."""
    if not found:
        return problems
    # Calls stand one behind the other, so that starts and ends ascend.
    starts, ends = [f.start for f in found], [f.end for f in found]
    named: dict[str, list[int]] = {}
    for each in found:
        named.setdefault(each.call["name"], []).append(each.start)

    def inside(problem: Problem) -> bool:
        span = problem.origin.span
        before = 0 if span is None else bisect_right(starts, span[0])
        return span is not None and before > 0 and span[0] <= ends[before - 1]

    def is_read(problem: Problem, begun: int) -> bool:
        """Is the call that broke off, which began at `begun`, one of those found?"""
        span = problem.origin.span
        if span is None:
            return False
        first = bisect_right(ends, begun)
        if first < len(found) and starts[first] <= min(begun, span[0]):
            return True
        same = named.get(problem.origin.tool or "", [])
        return bisect_right(same, span[0]) > bisect_right(same, begun)

    read = {id(problem): is_read(problem, begun) for problem, begun in broken}
    # What is wrong with the bytes is wrong however they are read. A call may break off where
    # another one begins, which says nothing of the first.
    return [
        p
        for p in problems
        if p.code == "not-utf-8" or not (read[id(p)] if id(p) in read else inside(p))
    ]


def _tell_held(
    telling: Holding, held: int, content: list[Span], merged: Merged, builder: Builder
) -> None:
    """What was held back, in the order of the text."""
    telling.held = None
    plain = Telling.plain
    pieces: list[tuple[int, int, Any]] = [
        (max(start, held), end, None) for start, end in content if end > held
    ]
    pieces += [
        (max(start, held), end, "reasoning") for start, end in builder.reasoning if end > held
    ]
    pieces += [(start, start, call) for start, call, _ in merged if start >= held]
    for start, end, call in sorted(pieces, key=lambda piece: piece[:2]):
        if call is None or call == "reasoning":
            plain(telling, call or "content", start, end)
        else:
            arguments = json.dumps(call["arguments"], ensure_ascii=False)
            telling.whole(call["name"], call["id"], arguments)
