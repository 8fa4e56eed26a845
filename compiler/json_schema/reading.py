"""Places and goals -> forms: reads each schema of a document once, lazily and memoised."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NoReturn, TypeVar

from ..errors import LimitExceeded
from ..findings import RELAX_HINT, Finding, Status
from ..ir import Json
from ..origin import Origin, Problem
from .admits import admits
from .apart import Apart, Tags
from .applicators import apply, older_ref, with_null
from .checks import describe_value
from .direct import direct_form
from .forms import (
    ANY,
    Alternative,
    AnyGoal,
    Atom,
    Cause,
    Constant,
    Form,
    Goal,
    Reason,
    Strings,
    Values,
)
from .join import join
from .json_values import json_key
from .keywords import ANNOTATIONS, APPLICATORS, IMPLEMENTED, UNEVALUATED, annotation_note, applies
from .meet import meet
from .meet_scalars import least
from .negate import negate
from .options import ReadOptions
from .places import Document, Place
from .unevaluated import close_unevaluated

# Schemas that apply to the same value, one inside the other; each takes several Python frames.
MAX_IN_PLACE = 48
# How deep a question whether a goal is dead may ask further ones.
MAX_PROBES = 3
# Reading a schema takes about as long as two alternatives take to be put together, twice.
_STEPS_PER_PLACE = 2
Answer = TypeVar("Answer")
_APPLICATOR_SET = frozenset(APPLICATORS)


class Unknown(Exception):
    """A probe has run into a schema that is still being read."""


class Reader:
    """Reads one schema document; collects problems and findings.

    Implements :class:`~.meet.Goals`.
    """

    def __init__(self, schema: Any, origin: Origin, options: ReadOptions) -> None:
        self.options = options
        self.problems: list[Problem] = []
        # Declared keys whose schema is false: that they cannot be given is what was asked for.
        self.forbidden: set[Origin] = set()
        self.document = Document(schema, origin, options.max_depth, options.documents)
        self._findings: dict[tuple[str, str], Finding] = {}
        self._atom_forms: dict[tuple[Atom, bool], Form] = {}
        self._goal_forms: dict[Hashable, Form] = {}
        self._open: set[tuple[Atom, bool]] = set()
        self._constants: dict[Hashable, Goal] = {}
        self._any_goals: dict[tuple[Goal, ...], Goal] = {}
        self._apart = Apart()
        self._depth = 0
        self._probes = 0
        self._steps = 0
        self._synthetic = 0

    # -- problems and findings

    def problem(self, code: str, message: str, origin: Origin, hint: str | None = None) -> None:
        """Collect an error; reading goes on."""
        self.problems.append(Problem(code, message, origin, hint))

    def invalid(
        self, place: Place, keyword: str, expected: str, value: Any, hint: str | None = None
    ) -> None:
        """Collect an error about a keyword's value."""
        shown = describe_value(value)
        self.problem(
            "invalid-schema", f"{keyword} must be {expected}, not {shown}", place.at(keyword), hint
        )

    def limit(self, code: str, message: str, origin: Origin) -> NoReturn:
        """Stop at a stated limit."""
        raise LimitExceeded.at(code, message, origin)

    def unsupported(self, keyword: str, origin: Origin, detail: str = "") -> None:
        """Refuse a keyword, or drop it where the caller lets us."""
        how = f"`{keyword}` is not supported {detail or 'here'}".rstrip()
        if self.options.on_unsupported == "relax":
            self.found("relaxed", keyword, f"dropped: {how}", origin)
            return
        self.found("refused", keyword, how, origin)
        problem = Problem(
            "unsupported-keyword", how, origin,
            RELAX_HINT,
        )  # fmt: skip
        if problem not in self.problems:
            self.problems.append(problem)

    def found(self, status: Status, keyword: str, how: str, origin: Origin) -> None:
        """Set what became of the keyword at `origin`."""
        self._findings[origin.pointer, keyword] = Finding(status, keyword, how, origin)

    def older_form(self, place: Place, keyword: str, what: str) -> None:
        """Note an older draft's form, told by its shape."""
        if not place.resource.stated:
            self.found("enforced", keyword, what, place.at(keyword))

    def findings(self) -> list[Finding]:
        """One finding for each keyword met, in the order of reading."""
        return list(self._findings.values())

    def _note(self, place: Place) -> None:
        """Give every keyword of a schema its first finding."""
        hidden = older_ref(place)
        for keyword in place.schema:
            status: Status = "enforced"
            how = ""
            if keyword not in IMPLEMENTED:
                status, how = "annotation", annotation_note(keyword)
                if self.options.openapi and keyword in ("nullable", "discriminator"):
                    status, how = "enforced", ""
            elif hidden and keyword != "$ref":
                status, how = "annotation", f"ignored beside $ref in {place.resource.draft}"
            elif not self.applies(place, keyword):
                status, how = "annotation", f"not a keyword of {place.resource.draft}"
            origin = place.at(keyword)
            self._findings.setdefault(
                (origin.pointer, keyword), Finding(status, keyword, how, origin)
            )

    def applies(self, place: Place, keyword: str) -> bool:
        """Whether the keyword means something in the draft of that place."""
        return applies(keyword, place.resource.draft, place.resource.stated)

    # -- places

    def child(self, place: Place, schema: Any, *tokens: str | int) -> Place:
        """The place of a subschema; anything but an object or a boolean is a problem."""
        if not isinstance(schema, (dict, bool)):
            shown = describe_value(schema)
            self.problem("invalid-schema", f"expected a schema, not {shown}", place.at(*tokens))
            schema = True
        return self.document.child(place, schema, *tokens)

    def child_goal(self, place: Place, schema: Any, *tokens: str | int) -> Goal:
        """What a subschema of a member or an item demands."""
        if schema is True or schema == {}:
            return ()
        child = self.child(place, schema, *tokens)
        if isinstance(child.schema, dict) and ANNOTATIONS.issuperset(child.schema):
            self._note(child)
            return ()
        return (self.target(child).atom,)

    def target(self, place: Place) -> Place:
        """Where a schema leads that is a reference and nothing else; else itself."""
        passed = {place}
        here = place
        while isinstance(here.schema, dict) and isinstance(here.schema.get("$ref"), str):
            if not (older_ref(here) or ANNOTATIONS.issuperset(here.schema.keys() - {"$ref"})):
                break
            if self.options.openapi and "nullable" in here.schema:
                break
            following = self.document.resolve(here, here.schema["$ref"])
            if following is None or following in passed:
                return place
            passed.add(following)
            self._note(here)
            here = following
        return here

    def any_goal(self, goals: tuple[Goal, ...], place: Place) -> Goal:
        """The goal of satisfying one of `goals`, the same one each time it is asked for."""
        made = self._any_goals.get(goals)
        if made is None:
            made = self._any_goals[goals] = self.synthetic(AnyGoal(goals), place)
        return made

    def constant(self, value: Json, origin: Origin) -> Goal:
        """The goal of being equal to `value`, the same one each time it is asked for."""
        key = json_key(value)
        made = self._constants.get(key)
        if made is None:
            root = self.document.root
            place = Place(root.schema, root.pointer, origin, root.resource, root.depth)
            made = self._constants[key] = self.synthetic(Constant(value), place)
        return made

    def synthetic(self, schema: dict[str, Any] | AnyGoal | Constant, place: Place) -> Goal:
        """A goal for a schema that the document does not have."""
        self._synthetic += 1
        pointer = f"{place.pointer}#{self._synthetic}"
        depth, scope = place.depth, place.scope
        made = Place(schema, pointer, place.origin, place.resource, depth, scope)
        return (made.atom,)

    # -- forms

    def form(self, goal: Goal) -> Form:
        """What all the atoms of a goal let through together."""
        if len(goal) == 1:
            return self.atom_form(goal[0])
        key = frozenset(goal)
        form = self._goal_forms.get(key)
        if form is None:
            form = ANY
            for atom in goal:
                form = meet(form, self.atom_form(atom), self)
            self._goal_forms[key] = form
        return form

    def form_if_read(self, goal: Goal) -> Form | None:
        """The form of a goal, None if that is still being read."""
        return self.probe(lambda: self.form(goal), None)

    def probe(self, ask: Callable[[], Answer], otherwise: Answer) -> Answer:
        """An answer that is not needed: `otherwise` where it depends on what is being read."""
        self._probes += 1
        try:
            return ask()
        except Unknown:
            return otherwise
        finally:
            self._probes -= 1

    def atom_form(self, atom: Atom, tracked: bool = False) -> Form:
        """What a schema, or its negation, lets through."""
        key = (atom, tracked)
        form = self._atom_forms.get(key)
        if form is not None:
            return form
        if key in self._open:
            return self._endless(atom.place)
        if self._depth >= MAX_IN_PLACE:
            if self._probes:
                raise Unknown
            self.limit(
                "schema-too-deep",
                f"more than {MAX_IN_PLACE} schemas apply to one value, one inside the other",
                atom.place.origin,
            )
        self._open.add(key)
        self._depth += 1
        try:
            if atom.negated:
                cause = Cause("not", atom.place.origin)
                form = negate(self.atom_form(atom.opposite), cause, self)
            else:
                form = self._place_form(atom.place, tracked)
        finally:
            self._open.discard(key)
            self._depth -= 1
        self._atom_forms[key] = form
        return form

    def _endless(self, place: Place) -> Form:
        if self._probes:
            raise Unknown
        text = "the schema refers to itself with no way out"
        problem = Problem("unsatisfiable", f"{text}: no value can match", place.origin)
        if problem not in self.problems:
            self.problems.append(problem)
        return Form((), (Reason(text, place.origin),))

    def _place_form(self, place: Place, tracked: bool) -> Form:
        schema = place.schema
        self.step(place.origin, _STEPS_PER_PLACE)
        if schema is True:
            return ANY
        if schema is False:
            return Form((), (Reason("the schema is false", place.origin),))
        if isinstance(schema, AnyGoal):
            return join([self.form(goal) for goal in schema.goals], self)
        if isinstance(schema, Constant):
            return Form((Values((schema.value,), (), place.origin),))
        if not isinstance(schema, dict):
            shown = describe_value(schema)
            self.problem("invalid-schema", f"expected a schema, not {shown}", place.origin)
            return ANY
        self._note(place)
        if older_ref(place):
            return apply(self, place, "$ref", tracked)
        closing = [k for k in UNEVALUATED if k in schema and self.applies(place, k)]
        form = self._siblings(place, tracked or bool(closing))
        for keyword in closing:
            form = close_unevaluated(self, place, keyword, form)
        if self.options.openapi and schema.get("nullable") is True:
            form = with_null(self, form, place)
        return form

    def _siblings(self, place: Place, tracked: bool) -> Form:
        """The conjunction of what stands in one schema, left to right."""
        schema: dict[str, Any] = place.schema
        if _APPLICATOR_SET.isdisjoint(schema):
            return direct_form(self, place)
        direct = [k for k in schema if k in IMPLEMENTED and k not in _APPLICATOR_SET]
        turn = "properties" if "properties" in schema else direct[0] if direct else None
        form = ANY
        for keyword in schema:
            if keyword == turn:
                form = meet(form, direct_form(self, place), self)
            elif keyword in _APPLICATOR_SET and self.applies(place, keyword):
                form = meet(form, apply(self, place, keyword, tracked), self)
        return form

    # -- what the algebra asks

    def step(self, origin: Origin, units: int = 1) -> None:
        """Count units of work."""
        self._steps += units
        if self._steps > self.options.max_steps:
            self.limit(
                "schema-too-complex",
                f"the schema takes more than {self.options.max_steps} steps to put together",
                origin,
            )

    def dead(self, goal: Goal) -> bool:
        """Whether a goal provably lets nothing through."""
        if self._probes >= MAX_PROBES:
            return False
        return self.probe(lambda: all(map(self.empty, self.form(goal).alternatives)), False)

    def empty(self, x: Alternative, wide: bool = False) -> bool:
        """Whether the lengths and languages of a string exclude each other.

        `wide`: formats in the reading that holds all that may be called so.
        """
        if not isinstance(x, Strings) or x.language is None:
            return False
        language = x.language.wide if wide else x.language
        if x.shortest == 0 and x.longest is None:
            return x.parts > 1 and language.is_empty
        language, low, high = language.split_length()
        shortest, longest = max(low, x.shortest), least(high, x.longest)
        return not language.dfa.live(0, shortest, longest)

    def disjoint(self, a: Form, b: Form) -> bool:
        """Whether no value satisfies both forms, as far as that can be told."""
        return self.probe(lambda: self._apart.disjoint(a, b, self), False)

    def tags(self, form: Form) -> Tags:
        """What tells the objects of a form from others at a glance, see :meth:`Apart.tags`."""
        return self.probe(lambda: self._apart.tags(form, self), {})

    def admits(self, alternative: Alternative, value: Json) -> bool:
        """Whether an alternative lets a value through."""
        return admits(self, alternative, value)
