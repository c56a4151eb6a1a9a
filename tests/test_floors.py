"""The floors of the house: imports point down only, and nothing below the models waits for Keras."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "dactnlg"

FLOORS = {
    0: {"errors", "acts", "notation", "config", "yamlfile", "lines", "files", "resources", "hashing", "helper"}
    | {"processors", "workers"},
    1: {"corpora", "metrics", "fairness", "delexicalization", "vocabulary", "encoding", "surface", "slots"}
    | {
        "anchors",
        "mentions",
        "placeholders",
        "casing",
        "codec",
        "frames",
        "memory",
        "run",
        "spellings",
        "spool",
        "templates",
        "provenance",
    },
    2: {"layers", "search", "batching", "compilation"},
    3: {"models"},
    4: {"training", "fitting", "learning", "generation", "decoding", "compiled", "insertion", "evaluation", "scoring"}
    | {
        "bulk",
        "candidates",
        "cluster",
        "export",
        "likelihood",
        "maker",
        "meeting",
        "mirrored",
        "onnx_step",
        "parallel",
        "saved_model",
        "scores",
        "space",
        "speaking",
        "stored",
        "sweeping",
        "team",
        "comparison",
        "report",
        "reproduction",
        "leaderboard",
        "publishing",
        "published",
        "tracking",
        "trials",
    },
    5: {"__main__", "cli", "commands", "quiet", "server"},
}
FLOOR = {room: floor for floor, rooms in FLOORS.items() for room in rooms}
HEAVY = {"keras", "tensorflow", "jax", "torch"}
# Scoring files never imports TensorFlow either, though it stands beside evaluation.
LIGHT = {room for floor in (0, 1) for room in FLOORS[floor]} | {"scoring", "scores", "stored", "comparison"}


def modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(path: Path, eager_only: bool = False) -> set[str]:
    """Return the dotted names that a file imports, those inside functions too unless `eager_only`.

    What stands under `if TYPE_CHECKING:` is never run and is left out.
    """
    names: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if eager_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from dactnlg import acts` means the module, `from dactnlg.acts import parse` the one before the dot.
            names.update(name if name in MODULES else node.module for name in inside)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(path.read_text(encoding="utf-8")))
    return names


def room(module: str) -> str:
    """Return the part of the house that a module belongs to."""
    return (module.split(".") + [""])[1]


def test_every_module_has_a_floor() -> None:
    homeless = {room(name) for name in MODULES} - set(FLOOR) - {""}
    assert not homeless, f"give {homeless} a floor in DESIGN and here"


@pytest.mark.parametrize("name", [name for name in MODULES if room(name)])
def test_imports_point_down(name: str) -> None:
    here = FLOOR[room(name)]
    for other in imported(MODULES[name]):
        if other.split(".")[0] == "dactnlg" and room(other) and room(other) != room(name):
            assert FLOOR[room(other)] <= here, f"{name} (floor {here}) imports {other} (floor {FLOOR[room(other)]})"


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in LIGHT])
def test_light_rooms_never_import_keras(name: str) -> None:
    heavy = {other for other in imported(MODULES[name]) if other.split(".")[0] in HEAVY}
    assert not heavy


def test_no_import_cycles() -> None:
    graph = {
        name: {
            other for other in imported(path, eager_only=True) if other in MODULES and other not in ("dactnlg", name)
        }
        for name, path in MODULES.items()
    }
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError, which shows the cycle


def test_no_assert_in_the_package() -> None:
    guilty = [
        f"{name}:{node.lineno}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert)
    ]
    assert not guilty


@pytest.mark.parametrize("name", [name for name in MODULES if room(name) in LIGHT | {"cli", "commands"}] + ["dactnlg"])
def test_importing_a_light_module_loads_nothing_heavy(name: str) -> None:
    code = f"import sys, {name}; print(*({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    assert done.stdout.strip() == ""
