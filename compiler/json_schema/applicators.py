"""Keywords that apply other schemas to the same value."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

from ..ir import Json
from ..origin import Origin
from ..owners import back_to
from .forms import (
    ANY,
    TRIVIAL,
    Atom,
    Cause,
    Form,
    Goal,
    Member,
    Nulls,
    Objects,
    Reason,
    Residue,
    Typed,
)
from .join import join
from .meet import TooManyAlternatives, meet
from .negate import negate
from .places import Place
from .resources import Draft

if TYPE_CHECKING:
    from .reading import Reader

# anyOf beside unevaluated keywords is read as the union over subsets of its options.
MAX_TRACKED_OPTIONS = 5
# An option of oneOf without the others may fall into this many alternatives.
MAX_EXCLUSIVE = 64
# Options are mostly told apart at a glance.
_PAIRS_PER_STEP = 10


def apply(reader: Reader, place: Place, keyword: str, tracked: bool) -> Form:
    """What one applicator lets through. `tracked`: what it evaluates counts too."""
    return _APPLY[keyword](reader, place, place.schema[keyword], tracked)


def _options(reader: Reader, place: Place, keyword: str, given: Any) -> list[Place] | None:
    if not isinstance(given, list) or not given:
        reader.invalid(place, keyword, "a list of at least one schema", given)
        return None
    return [reader.child(place, s, keyword, i) for i, s in enumerate(given)]


def _ref(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    return _referred(reader, place, "$ref", reader.document.resolve, tracked)


def _dynamic_ref(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    return _referred(reader, place, "$dynamicRef", reader.document.resolve_dynamic, tracked)


def _referred(
    reader: Reader,
    place: Place,
    keyword: str,
    resolve: Callable[[Place, str], Place | None],
    tracked: bool,
) -> Form:
    given = place.schema[keyword]
    if not isinstance(given, str):
        reader.invalid(place, keyword, "a reference", given)
        return ANY
    target = resolve(place, given)
    if target is None:
        reader.found("refused", keyword, f"'{given}' does not resolve", place.at(keyword))
        reader.problem(
            "unresolved-reference", f"'{given}' does not resolve", place.at(keyword),
            reader.document.near(place, given),
        )  # fmt: skip
        return ANY
    return reader.atom_form(target.atom, tracked)


def _recursive_ref(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    if given != "#":
        reader.invalid(place, "$recursiveRef", '"#"', given)
        return ANY
    target = reader.document.resolve_recursive(place)
    assert target is not None, "a resource has a root"
    return reader.atom_form(target.atom, tracked)


def _all_of(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    form = ANY
    for option in _options(reader, place, "allOf", given) or ():
        form = meet(form, reader.atom_form(option.atom, tracked), reader)
    return form


def _any_of(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    options = _options(reader, place, "anyOf", given)
    if options is None:
        return ANY
    forms = _discriminated(reader, place, options, tracked)
    if not tracked:
        return join(forms, reader)
    if len(forms) > MAX_TRACKED_OPTIONS:
        reader.unsupported("anyOf", place.at("anyOf"), "with many options beside unevaluated…")
        return join(forms, reader)
    subsets: list[Form] = []
    for size in range(1, len(forms) + 1):
        for chosen in combinations(forms, size):
            form = ANY
            for option in chosen:
                form = meet(form, option, reader)
            subsets.append(form)
    return join(subsets, reader, ordered=True)


def _one_of(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    options = _options(reader, place, "oneOf", given)
    if options is None:
        return ANY
    forms = _discriminated(reader, place, options, tracked)
    made: list[Form] = []
    overlaps = _overlaps(reader, forms, place.at("oneOf"))
    for i, form in enumerate(forms):
        made.append(_without(reader, form, [forms[j] for j in overlaps[i]], place))
    return join(made, reader, ordered=tracked)


def _without(reader: Reader, form: Form, others: list[Form], place: Place) -> Form:
    """What `form` lets through and none of the others does."""
    cause = Cause("oneOf", place.at("oneOf"))
    whole = form
    for clauses in (False, True):
        try:
            form = whole
            for other in others:
                form = meet(form, negate(other, cause, reader, clauses), reader)
                if len(form.alternatives) > MAX_EXCLUSIVE:
                    raise TooManyAlternatives.at("too-many-alternatives", "", cause.origin)
        except TooManyAlternatives:
            continue
        return form
    held = [x for other in others for x in other.alternatives]
    goals = back_to(reader)  # Who keeps the forms that it has read.

    def holds(value: Json) -> bool:
        return not any(goals.admits(x, value) for x in held)

    residue = Residue("oneOf", "exactly one option of oneOf", cause.origin, holds)
    alternatives = (replace(x, residues=(*x.residues, residue)) for x in whole.alternatives)
    return Form(tuple(alternatives))


def _overlaps(reader: Reader, forms: list[Form], origin: Origin) -> list[list[int]]:
    """For each option those that are not provably disjoint from it."""
    found: list[list[int]] = [[] for _ in forms]
    pairs = _untold(reader, forms)
    reader.step(origin, len(pairs) // _PAIRS_PER_STEP)
    for i, j in pairs:
        if not reader.disjoint(forms[i], forms[j]):
            found[i].append(j)
            found[j].append(i)
    return found


def _untold(reader: Reader, forms: list[Form]) -> list[tuple[int, int]]:
    """The pairs of options that no member with a few values, required by all, tells apart."""
    tags = [reader.tags(form) for form in forms]
    name = next((n for n in tags[0] if all(n in others for others in tags)), None)
    if name is None:
        return list(combinations(range(len(forms)), 2))
    holders: dict[Hashable, list[int]] = {}
    for i, mine in enumerate(tags):
        for value in mine[name]:
            holders.setdefault(value, []).append(i)
    return sorted({pair for held in holders.values() for pair in combinations(held, 2)})


def _discriminated(reader: Reader, place: Place, options: list[Place], tracked: bool) -> list[Form]:
    """The options' forms; with openapi, each with the tag that the discriminator gives it."""
    forms = [reader.atom_form(o.atom, tracked) for o in options]
    given = place.schema.get("discriminator")
    if not reader.options.openapi or not isinstance(given, dict):
        return forms
    name = given.get("propertyName")
    mapping = given.get("mapping", {})
    if not isinstance(name, str) or not isinstance(mapping, dict):
        reader.invalid(place, "discriminator", "an object with `propertyName`", given)
        return forms
    tagged: list[Form] = []
    for option, form in zip(options, forms, strict=True):
        ref = option.schema.get("$ref") if isinstance(option.schema, dict) else None
        if isinstance(ref, str):
            tags = [t for t, r in mapping.items() if r in (ref, ref.rpartition("/")[2])]
            tag = reader.synthetic({"enum": tags or [ref.rpartition("/")[2]]}, place)
            member = Member(tag, True, origin=place.at("discriminator"))
            form = meet(form, _objects_with({name: member}, place), reader)
        tagged.append(form)
    return tagged


def _not(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    option = reader.child(place, given, "not")
    return negate(reader.atom_form(option.atom), Cause("not", place.at("not")), reader)


def _if(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    schema = place.schema
    branches = [k for k in ("then", "else") if k in schema]
    if not branches and not tracked:
        return ANY
    condition = reader.child(place, given, "if")
    yes = reader.atom_form(condition.atom, tracked)
    no = negate(reader.atom_form(condition.atom), Cause("if", place.at("if")), reader)
    if "then" in schema:
        then = reader.child(place, schema["then"], "then")
        yes = meet(yes, reader.atom_form(then.atom, tracked), reader)
    if "else" in schema:
        other = reader.child(place, schema["else"], "else")
        no = meet(no, reader.atom_form(other.atom, tracked), reader)
    return join([yes, no], reader, ordered=tracked)


def _nothing(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    return ANY


def _objects_with(members: dict[str, Member], place: Place) -> Form:
    """All objects in which the members hold, and nothing else."""
    return Form((Objects(members, origin=place.origin),))


def _when_present(place: Place, name: str, then: Form, reader: Reader) -> Form:
    """Values that are no object, or lack the key, or have it and satisfy `then`."""
    others: tuple[Typed, ...] = TRIVIAL[:-1]
    absent = Objects({name: Member(None, implicit=True)}, origin=place.origin)
    present = _objects_with({name: Member((), True, implicit=True)}, place)
    given = meet(present, then, reader)
    return join([Form((*others, absent)), given], reader, ordered=True)


def _dependent_required(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    return _dependencies(reader, place, given, tracked, "dependentRequired")


def _dependent_schemas(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    return _dependencies(reader, place, given, tracked, "dependentSchemas")


def _dependencies_of(reader: Reader, place: Place, given: Any, tracked: bool) -> Form:
    if not place.resource.stated:
        reader.older_form(place, "dependencies", "is dependentRequired and dependentSchemas now")
    return _dependencies(reader, place, given, tracked, "dependencies")


def _dependencies(reader: Reader, place: Place, given: Any, tracked: bool, keyword: str) -> Form:
    lists = keyword != "dependentSchemas"
    schemas = keyword != "dependentRequired"
    if not isinstance(given, dict):
        reader.invalid(place, keyword, "an object", given)
        return ANY
    form = ANY
    for name, value in given.items():
        if lists and isinstance(value, list) and all(isinstance(v, str) for v in value):
            members = {v: Member((), True, origin=place.at(keyword, name)) for v in value}
            then = _objects_with(members, place)
        elif schemas and isinstance(value, (dict, bool)):
            then = reader.atom_form(reader.child(place, value, keyword, name).atom, tracked)
        else:
            what = "a list of keys" if not schemas else "a schema"
            reader.invalid(place, keyword, f"{what} for each key", value)
            continue
        form = meet(form, _when_present(place, name, then, reader), reader)
    return form


def older_ref(place: Place) -> bool:
    """Whether a ``$ref`` hides what stands beside it (draft-07 and older, section 8.3)."""
    return (
        place.resource.stated
        and place.resource.draft <= Draft.DRAFT_7
        and isinstance(place.schema, dict)
        and "$ref" in place.schema
    )


def with_null(reader: Reader, form: Form, place: Place) -> Form:
    """OpenAPI's ``nullable: true``."""
    return join([form, Form((Nulls(place.at("nullable")),))], reader)


_Apply: TypeAlias = "Callable[[Reader, Place, Any, bool], Form]"
_APPLY: dict[str, _Apply] = {
    "$ref": _ref,
    "$dynamicRef": _dynamic_ref,
    "$recursiveRef": _recursive_ref,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
    "if": _if,
    "then": _nothing,
    "else": _nothing,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
    "dependencies": _dependencies_of,
}
__all__ = ["Atom", "Goal", "Reason", "apply", "older_ref", "with_null"]
