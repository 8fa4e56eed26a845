"""The package list is complete, the links are there, and a built wheel works on its own."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS: dict[str, Any] = PYPROJECT["tool"]["setuptools"]


def test_every_folder_with_init_is_listed() -> None:
    found = set()
    for package, folder in SETUPTOOLS["package-dir"].items():
        for init in (ROOT / folder).rglob("__init__.py"):
            tail = init.parent.relative_to(ROOT / folder).parts
            if (
                folder == "calligram"
                and tail
                and tail[0] in ("compiler", "targets", "dialect_specs")
            ):
                continue  # reached through the links; counted at its real place
            found.add(".".join((package, *tail)))
    assert found == set(SETUPTOOLS["packages"])


def test_every_folder_with_modules_has_an_init() -> None:
    bare = [
        str(module.parent.relative_to(ROOT))
        for folder in SETUPTOOLS["package-dir"].values()
        for module in (ROOT / folder).rglob("*.py")
        if not (module.parent / "__init__.py").exists()
    ]
    assert bare == []


@pytest.mark.parametrize("name", ["compiler", "targets", "dialect_specs"])
def test_the_links_point_to_the_top_folders(name: str) -> None:
    link = ROOT / "calligram" / name
    assert link.resolve() == ROOT / name
    assert (link / "__init__.py").is_file()


def test_every_data_file_is_package_data() -> None:
    patterns = SETUPTOOLS["package-data"]
    missed = []
    for package, folder in SETUPTOOLS["package-dir"].items():
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT / folder)
            linked = package == "calligram" and relative.parts[0] in patterns_of_links()
            if path.is_dir() or linked or path.suffix in (".py", ".pyc"):
                continue
            inside = longest_package(package, relative)
            tail = path.relative_to(ROOT / folder / Path(*inside))
            name = ".".join((package, *inside))
            if not any(tail.match(p) for p in patterns.get(name, ())):
                missed.append(f"{name}: {tail}")
    assert missed == []


def patterns_of_links() -> tuple[str, ...]:
    return tuple(f for f in SETUPTOOLS["package-dir"].values() if f != "calligram")


def longest_package(package: str, relative: Path) -> tuple[str, ...]:
    """The folders of `relative` that are still packages."""
    parts = relative.parts[:-1]
    while parts and ".".join((package, *parts)) not in SETUPTOOLS["packages"]:
        parts = parts[:-1]
    return parts


def test_the_version_is_said_once() -> None:
    import calligram

    assert calligram.__version__ == PYPROJECT["project"]["version"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (?:\[)?([^\]\s]+)", changelog, flags=re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert len(headings) == 1 or headings[1] == calligram.__version__


def test_the_licence_is_in_full() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert PYPROJECT["project"]["license"] == "Apache-2.0"
    assert "Version 2.0, January 2004" in text and "END OF TERMS AND CONDITIONS" in text


@pytest.mark.slow
def test_a_wheel_runs_outside_the_repository(tmp_path: Path) -> None:
    build = (
        "import sys; from setuptools import build_meta; print(build_meta.build_wheel(sys.argv[1]))"
    )
    source = tmp_path / "source"
    copy_sources(source)
    run([sys.executable, "-c", build, str(tmp_path)], cwd=source)
    (wheel,) = tmp_path.glob("calligram-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {n.split("/")[0].split("-")[0] for n in names} == {"calligram"}
    assert {"calligram/py.typed", "calligram/cli/__init__.py"} & set(names)
    shipped = sorted(p.name for p in (ROOT / "dialect_specs").glob("*.yaml"))
    packed = sorted(Path(n).name for n in names if re.fullmatch(r".*dialect_specs/[^/]*\.yaml", n))
    assert shipped == packed

    clean = tmp_path / "clean"
    venv.create(clean, with_pip=False)
    (site,) = clean.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(site)
    # The dependencies come from the running environment, behind the wheel on the path.
    (site / "zz-dependencies.pth").write_text(
        "\n".join(p for p in sys.path if "site-packages" in p)
    )
    python = clean / "bin" / "python"
    where = run([str(python), "-c", "import calligram; print(calligram.__file__)"], cwd=tmp_path)
    assert where.strip().startswith(str(site))
    listed = run([str(python), "-m", "calligram", "dialects", "list"], cwd=tmp_path)
    assert sorted(Path(n).stem for n in shipped) == [
        line.split()[0] for line in listed.splitlines() if line.strip()
    ]


def copy_sources(target: Path) -> None:
    """What a build needs, without the links' targets twice: as `git archive` would give it."""
    import shutil

    target.mkdir()
    for name in ("calligram", "compiler", "targets", "dialect_specs"):
        shutil.copytree(
            ROOT / name,
            target / name,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, target / name)


def run(command: list[str], cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout
