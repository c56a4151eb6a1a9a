"""The floors of the house: rooms import rooms of lower floors alone, and nothing below the models waits for Keras."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "dactnlg"
FLOORS = {
    "errors": -1,  # everybody may raise them
    "_utils": 0,
    "acts": 0,
    "text": 1,
    "runs": 1,
    "data": 2,
    "fidelity": 2,
    "metrics": 2,
    "models": 2,
    "search": 2,
    "generation": 3,
    "training": 4,
    "evaluation": 4,
    "dialogue": 5,
    "experiments": 5,
    "studies": 5,
    "serving": 6,
    "cli": 7,
    "__main__": 8,
}
HEAVY = {"keras", "tensorflow", "jax", "torch"}
LIGHT = {"errors", "_utils", "acts", "text", "runs", "data", "fidelity", "metrics"}
"""Rooms that never import what takes seconds to start."""


def modules(package: Path) -> dict[str, Path]:
    """Return every module of a package by its dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules(PACKAGE)


def imported(path: Path, known: Mapping[str, Path]) -> set[str]:
    """Return the dotted names that a file imports, those inside functions and for type checkers included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from dactnlg.text import surface` means the module, `from dactnlg.errors import UserError` the one named.
            names.update(name if name in known else node.module for name in inside)
    return names


def room(module: str) -> str:
    """Return the part of the house that a module belongs to."""
    return (module.split(".") + [""])[1]


def upward(known: Mapping[str, Path]) -> Iterator[str]:
    """Yield every import of a room that does not stand on a lower floor."""
    for name, path in known.items():
        for other in sorted(imported(path, known)):
            if not room(name) or other.split(".")[0] != "dactnlg" or room(other) in ("", room(name)):
                continue
            if FLOORS[room(other)] >= FLOORS[room(name)]:
                yield f"{name} (floor {FLOORS[room(name)]}) imports {other} (floor {FLOORS[room(other)]})"


def cycle(known: Mapping[str, Path]) -> list[str]:
    """Return modules that import each other in a circle, those inside functions included; none where there are none."""
    graph = {
        name: {other for other in imported(path, known) if other in known and other not in ("dactnlg", name)}
        for name, path in known.items()
    }
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return list(error.args[1])
    return []


def test_the_house_has_few_rooms() -> None:
    entries = {path.name for path in PACKAGE.iterdir() if path.name != "__pycache__"}
    folders = {name for name in entries if (PACKAGE / name).is_dir()}
    assert entries - folders == {"__init__.py", "__main__.py", "errors.py", "py.typed"}
    assert len(folders) <= 17
    assert folders | {"errors", "__main__"} == set(FLOORS)


@pytest.mark.parametrize("name", sorted(name for name in FLOORS if name not in ("errors", "__main__")))
def test_a_room_says_what_it_is_for(name: str) -> None:
    assert ast.get_docstring(ast.parse((PACKAGE / name / "__init__.py").read_text(encoding="utf-8")))


def test_no_folder_is_crowded() -> None:
    folders = {path.parent for path in MODULES.values()}
    crowded = {str(folder): len(list(folder.glob("*.py"))) for folder in folders}
    assert not {name: count for name, count in crowded.items() if count > 28}


def test_imports_point_down() -> None:
    assert not list(upward(MODULES))


def test_no_import_cycles() -> None:
    assert not cycle(MODULES)


@pytest.mark.parametrize(
    ("file", "line", "told"),
    [
        ("text/surface.py", "from dactnlg.models.base import NeuralModel", "text.surface (floor 1) imports"),
        ("metrics/bleu.py", "def f():\n    from dactnlg.search import beam", "metrics.bleu (floor 2) imports"),
        ("runs/run.py", "import dactnlg.cli.main", "runs.run (floor 1) imports dactnlg.cli.main"),
    ],
)
def test_a_planted_upward_import_is_found(tmp_path: Path, file: str, line: str, told: str) -> None:
    for name in (
        "models/base.py",
        "search/beam.py",
        "cli/main.py",
        "text/surface.py",
        "metrics/bleu.py",
        "runs/run.py",
    ):
        path = tmp_path / "dactnlg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    planted = modules(tmp_path / "dactnlg")
    assert not list(upward(planted))
    (tmp_path / "dactnlg" / file).write_text(line + "\n")
    (found,) = upward(planted)
    assert told in found


def test_a_planted_cycle_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "dactnlg" / "text"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("from dactnlg.text.b import x\n")
    (folder / "b.py").write_text("def f():\n    from dactnlg.text import a\n")
    assert set(cycle(modules(tmp_path / "dactnlg"))) == {"dactnlg.text.a", "dactnlg.text.b"}


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in LIGHT])
def test_light_rooms_never_import_keras(name: str) -> None:
    assert not {other for other in imported(MODULES[name], MODULES) if other.split(".")[0] in HEAVY}


def test_no_assert_in_the_package() -> None:
    guilty = [
        f"{name}:{node.lineno}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
    ]
    assert not guilty


def test_importing_light_modules_loads_nothing_heavy() -> None:
    light = [name for name in MODULES if room(name) in LIGHT | {"cli", ""} and not name.endswith("__main__")]
    code = f"import sys, {', '.join(light)}; print(*({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert done.stdout.strip() == ""


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function of the package with the place where it begins."""
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name}:{node.lineno} {node.name}", node


def test_functions_are_short() -> None:
    # Without the docstring, which says what, and may take its room.
    long = []
    for place, node in functions():
        first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
        if (node.end_lineno or 0) - first.lineno + 1 > 60:
            long.append(place)
    assert not long


def test_no_two_classes_have_one_name() -> None:
    names: dict[str, list[str]] = {}
    for name, path in MODULES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                names.setdefault(node.name, []).append(name)
    assert not {name: places for name, places in names.items() if len(places) > 1}


def test_every_file_of_tests_has_its_own_name() -> None:
    """Without packages pytest imports them by their names alone, so that of two equal ones it collects one."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert not {name: count for name, count in names.items() if count > 1}


def test_no_group_is_possessive(repository: Path) -> None:
    """Python before 3.11.5, which Debian 12 has, takes `(?:=(?:a|b))?+` to match "=" alone (gh-106052)."""
    for file in sorted((repository / "dactnlg").rglob("*.py")):
        found = re.search(r"\)[?*+]\+|\(\?>", file.read_text(encoding="utf-8"))
        assert found is None, f"{file}: {found}"
