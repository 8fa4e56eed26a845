"""Targets import the compiler, never back; targets never know each other, nor a dialect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"calligram.compiler": "compiler", "calligram.targets": "targets"}
LINKS = ("compiler", "targets", "dialect_specs")


def modules(package: str, folder: str) -> Iterator[tuple[str, Path]]:
    """Dotted names and files of a package's modules."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT / folder).with_suffix("").parts
        if folder == "calligram" and parts[0] in LINKS:
            continue
        yield ".".join((package, *parts)).removesuffix(".__init__"), path


def imports(name: str, path: Path, source: str | None = None) -> Iterator[str]:
    """Absolute dotted names of what a module imports, anywhere in it."""
    is_package = path.name == "__init__.py"
    for node in ast.walk(ast.parse(source if source is not None else path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                keep = len(parts) - node.level + (1 if is_package else 0)
                base = ".".join((*parts[:keep], *filter(None, [node.module])))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def target_of(name: str) -> str | None:
    """The target a module belongs to: `calligram.targets.gbnf.x` -> gbnf."""
    parts = name.split(".")
    return parts[2] if parts[:2] == ["calligram", "targets"] and len(parts) > 2 else None


def breaches(name: str, imported: str) -> bool:
    if name.startswith("calligram.compiler"):
        return imported.startswith("calligram") and not imported.startswith(
            ("calligram.compiler", "calligram.dialect_specs")
        )
    if name.startswith("calligram.targets"):
        other = target_of(imported)
        if imported.startswith("calligram.targets"):
            return other is not None and other not in (target_of(name), "base")
        return imported.startswith("calligram") and not imported.startswith("calligram.compiler")
    return False


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows_point_one_way(package: str) -> None:
    wrong = [
        f"{name} imports {imported}"
        for name, path in modules(package, PACKAGES[package])
        for imported in imports(name, path)
        if breaches(name, imported)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("calligram.compiler.passes.x", "from ...targets import gbnf", True),
        ("calligram.compiler.x", "from .. import pipeline", True),
        ("calligram.compiler.x", "import calligram.targets.gbnf", True),
        ("calligram.compiler.x", "from .. import dialect_specs", False),
        ("calligram.compiler.x", "from .grammar import Choice", False),
        ("calligram.targets.gbnf", "from .parser import compile", True),
        ("calligram.targets.gbnf", "from . import parser", True),
        ("calligram.targets.gbnf", "from .base import Artifact", False),
        ("calligram.targets.gbnf", "from ..compiler.grammar import Choice", False),
        ("calligram.targets.gbnf", "from .. import dialect_specs", True),
        ("calligram.targets.gbnf", "def f():\n    from ..pipeline import go", True),
    ],
)
def test_the_walk_sees_a_wrong_arrow(name: str, source: str, wrong: bool) -> None:
    found = [i for i in imports(name, Path("x.py"), source) if breaches(name, i)]
    assert bool(found) == wrong


def test_the_library_imports_itself_relatively() -> None:
    absolute = [
        f"{path.relative_to(ROOT)}: {imported}"
        for package, folder in {**PACKAGES, "calligram": "calligram"}.items()
        for name, path in modules(package, folder)
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for imported in absolute_names(node)
        if imported.split(".")[0] in ("calligram", *LINKS)
    ]
    assert absolute == []


def absolute_names(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [node.module or ""]
    return []


@pytest.mark.parametrize("folder", ["compiler", "targets"])
def test_package_inits_are_docstrings(folder: str) -> None:
    body = ast.parse((ROOT / folder / "__init__.py").read_text("utf-8")).body
    assert len(body) == 1 and isinstance(body[0], ast.Expr)


def test_no_dialect_is_named_in_python() -> None:
    ids = sorted(path.stem for path in (ROOT / "dialect_specs").glob("*.yaml"))
    # hermes-json, hermes_json and HermesJson alike
    word = re.compile("|".join(i.replace("-", "[-_]?") for i in ids) or r"(?!)", re.IGNORECASE)
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for package, folder in {**PACKAGES, "calligram": "calligram"}.items()
        for _, path in modules(package, folder)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if word.search(line)
    ]
    assert named == []
