"""The documentation: it builds in strict mode without network, shows all public names, and its examples are right."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import dactnlg

PUBLIC = [name for name in dactnlg.__all__ if name != "__version__"]


def test_the_public_names() -> None:
    assert set(PUBLIC) == {
        "DialogueAct",
        "Generation",
        "GenerationOptions",
        "Generator",
        "Slot",
        "Turn",
        "errors",
        "evaluate",
        "parse",
        "score",
        "train",
    }
    assert set(PUBLIC) <= set(dir(dactnlg))
    for name in PUBLIC:
        assert getattr(dactnlg, name).__doc__
    with pytest.raises(AttributeError, match="'dactnlg' has no attribute 'scores'"):
        _ = dactnlg.scores


@pytest.mark.needs("zensical", "pip install 'dactnlg[docs]'")
def test_the_site_is_built(repository: Path, tmp_path: Path) -> None:
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        shutil.copy(repository / name, tmp_path)
    for name in ("docs", "dactnlg"):
        left = shutil.ignore_patterns("site", ".cache", "__pycache__")
        shutil.copytree(repository / name, tmp_path / name, ignore=left)
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", "docs/mkdocs.yml"]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    done = subprocess.run(command, cwd=tmp_path, env={**os.environ, **nowhere}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (tmp_path / "docs" / "site" / "api.html").read_text(encoding="utf-8")
    for name in PUBLIC:
        assert f'id="dactnlg.{name}"' in page or name == "errors"
    assert 'id="dactnlg.errors.ActSyntaxError"' in page
    assert "fonts.googleapis" not in page
    # A formatter of code takes the mark of an included file for Python, where the block says that it is that.
    guide = (tmp_path / "docs" / "site" / "guides" / "frameworks.html").read_text(encoding="utf-8")
    assert "FallbackGenerator</span><span" in guide and "pages/guides/rasa_nlg.py" not in guide


@pytest.mark.parametrize("name", ["dactnlg", *PUBLIC])
def test_the_examples_in_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = dactnlg if name == "dactnlg" else getattr(dactnlg, name)
    module = found if isinstance(found, ModuleType) else sys.modules[found.__module__]
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(found, name, module=module, extraglobs={"dactnlg": dactnlg}):
        assert runner.run(test).failed == 0
