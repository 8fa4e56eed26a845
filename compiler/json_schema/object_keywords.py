"""Object keywords."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import LimitExceeded
from ..origin import Origin
from ..regular.language import Language
from .checks import Part, count
from .forms import Form, Goal, KeyClass, Member, Objects, Reason, Strings, Values, both
from .keywords import OBJECT_KEYWORDS
from .languages import pattern_language
from .lookup import lookup
from .meet_containers import objects
from .meet_scalars import least
from .places import Place

if TYPE_CHECKING:
    from .reading import Reader

_KEYWORDS = frozenset(OBJECT_KEYWORDS)
MAX_KEY_CLASSES = 64


def object_part(reader: Reader, place: Place, schema: dict[str, Any]) -> Part:
    """The objects that a schema lets through."""
    if _KEYWORDS.isdisjoint(schema):
        return Objects(origin=place.origin)
    patterns = _patterns(reader, place, schema)
    members: dict[str, Member] = {}
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        reader.invalid(place, "properties", "an object of schemas", properties)
        properties = {}
    for name, value in properties.items():
        goal: Goal | None = reader.child_goal(place, value, "properties", name)
        for language, other in patterns:
            if language.accepts(name):
                goal = both(goal or (), other)
        origin = place.at("properties", name)
        if value is False:
            goal = None
            reader.forbidden.add(origin)
        members[name] = Member(goal, declared=True, evaluated=True, origin=origin)
    classes = _classes(reader, place, schema, patterns)
    reason = _require(reader, place, schema, members, classes)
    declares = bool(properties) or (
        "properties" in schema and reader.options.arguments and not place.pointer
    )
    part = reason or objects(
        members, tuple(classes), count(reader, place, "minProperties") or 0,
        count(reader, place, "maxProperties"), declares, place.origin,
    )  # fmt: skip
    if isinstance(part, Objects) and "propertyNames" in schema:
        return _with_names(reader, place, schema["propertyNames"], part)
    return part


def _patterns(reader: Reader, place: Place, schema: dict[str, Any]) -> list[tuple[Language, Goal]]:
    given = schema.get("patternProperties", {})
    if not isinstance(given, dict):
        reader.invalid(place, "patternProperties", "an object of schemas", given)
        return []
    made: list[tuple[Language, Goal]] = []
    for source, value in given.items():
        goal = reader.child_goal(place, value, "patternProperties", source)
        language = pattern_language(reader, place, source, "patternProperties", source)
        if language is not None:
            made.append((language, goal))
    return made


def _classes(
    reader: Reader, place: Place, schema: dict[str, Any], patterns: list[tuple[Language, Goal]]
) -> list[KeyClass]:
    """Disjoint classes of keys: by the patterns that match them, and the others."""
    made: list[KeyClass] = []
    rest: Language | None = None
    for language, goal in patterns:
        overlap: list[KeyClass] = []
        for c in made:
            assert c.names is not None
            shared = c.names & language
            if shared.is_empty:
                overlap.append(c)
                continue
            both_goals = both(c.goal, goal)
            overlap.append(KeyClass(shared, both_goals, False, True, c.origin))
            remains = c.names - language
            if not remains.is_empty:
                overlap.append(KeyClass(remains, c.goal, False, True, c.origin))
        fresh = language if rest is None else language & rest
        if not fresh.is_empty:
            overlap.append(KeyClass(fresh, goal, False, True, place.at("patternProperties")))
        made = overlap
        rest = ~language if rest is None else rest - language
        if len(made) > MAX_KEY_CLASSES:
            raise LimitExceeded.at(
                "too-many-key-classes",
                f"patternProperties overlap in more than {MAX_KEY_CLASSES} ways",
                place.at("patternProperties"),
            )
    made = [c for c in made if not _is_false(c.goal)]
    if "additionalProperties" in schema:
        given = schema["additionalProperties"]
        goal = reader.child_goal(place, given, "additionalProperties")
        if given is not False and (rest is None or not rest.is_empty):
            made.append(KeyClass(rest, goal, False, True, place.at("additionalProperties")))
    elif rest is None or not rest.is_empty:
        made.append(KeyClass(rest, (), True, False, place.origin))
    return made


def _is_false(goal: Goal) -> bool:
    return any(a.place.schema is False and not a.negated for a in goal)


def required_keys(reader: Reader, place: Place, schema: dict[str, Any]) -> list[str]:
    """The keys that ``required`` lists; a wrong value is a problem, and lists none."""
    required = schema.get("required", [])
    if isinstance(required, list) and all(isinstance(name, str) for name in required):
        return required
    hint = "list the required keys in the object that holds them"
    flag = isinstance(required, bool)
    reader.invalid(place, "required", "a list of keys", required, hint if flag else None)
    return []


def _require(
    reader: Reader,
    place: Place,
    schema: dict[str, Any],
    members: dict[str, Member],
    classes: list[KeyClass],
) -> Reason | None:
    """Mark the required members; those that nothing declares take what the classes give them."""
    bare = Objects(members, tuple(classes))
    for name in required_keys(reader, place, schema):
        m = members.get(name) or lookup(bare, name)
        if m.goal is None:
            why = "its schema is false" if name in members else "no further keys are allowed"
            return Reason(f"required key '{name}' can have no value: {why}", place.at("required"))
        members[name] = Member(m.goal, True, m.declared, False, m.evaluated, m.origin)
    return None


def _with_names(reader: Reader, place: Place, given: Any, x: Objects) -> Part:
    """`x` with only the keys that propertyNames lets through."""
    if not reader.applies(place, "propertyNames"):
        return x
    goal = reader.child_goal(place, given, "propertyNames")
    if not goal:
        return x
    allowed = _names_language(reader, goal)
    if allowed is None:
        return x
    members: dict[str, Member] = {}
    for name, m in x.members.items():
        if allowed.accepts(name):
            members[name] = m
        elif m.required:
            text = f"required key '{name}' is refused by propertyNames"
            return Reason(text, place.at("required"))
        else:
            members[name] = Member(None, False, m.declared, False, m.evaluated, m.origin)
    classes = []
    for c in x.classes:
        names = allowed if c.names is None else c.names & allowed
        if not names.is_empty:
            classes.append(KeyClass(names, c.goal, c.implicit, c.evaluated, c.origin))
    return objects(members, tuple(classes), x.fewest, x.most, x.declares, x.origin)


def _names_language(reader: Reader, goal: Goal) -> Language | None:
    """The strings that a goal lets through, None if all."""
    form: Form | None = reader.form_if_read(goal)
    if form is None:
        reader.unsupported("propertyNames", goal[0].place.origin, "inside the schema it refers to")
        return None
    total: Language | None = None
    for x in form.alternatives:
        part: Language
        if isinstance(x, Values):
            part = Language.words([v for v in x.values if isinstance(v, str)])
        elif isinstance(x, Strings):
            if x.residues:
                reader.unsupported(x.residues[0].keyword, x.residues[0].origin)
            # A name's length is counted inside its automaton, a format's total length too.
            language, low, high = (x.language or Language.any()).split_length()
            low, high = max(low, x.shortest), least(high, x.longest)
            lengths = _length_language(low, high)
            if x.language is None and lengths is None:
                return None
            part = language if lengths is None else language & lengths
        else:
            continue
        total = part if total is None else total | part
    return Language.none() if total is None else total


def _length_language(shortest: int, longest: int | None) -> Language | None:
    if shortest == 0 and longest is None:
        return None
    most = "" if longest is None else str(longest)
    return Language.pattern(f"^[\\s\\S]{{{shortest},{most}}}$", origin=Origin())
