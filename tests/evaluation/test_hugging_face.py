"""The metric for Hugging Face's `evaluate`, with the real package and without network.

In the root of the checkout, `evaluate.py` hides the package, so the programs run elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
import evaluate
from dactnlg import score
from dactnlg.errors import UserError
from dactnlg.evaluation.hugging_face import Metric

said = ["Red Door serves Thai food.", "It is cheap .", ""]
gold = [["Red Door serves thai food.", "Thai food at Red Door."], ["It is cheap .", "Cheap."], ["Bye."]]

metric = Metric("BLEU-4", preset="e2e")
found = metric.compute(predictions=said, references=gold)
expected = score(said, gold, metrics=["BLEU-4"], preset="e2e").scores["BLEU-4"]
assert found == {
    "BLEU-4": expected.value,
    "signatures": {"BLEU-4": expected.signature},
    "hashes": {"BLEU-4": expected.hash},
    "warnings": [],
}, found
assert metric.compute(predictions=said, references=gold) == found, "a second time"

# Batch by batch, and one by one; several names; one reference each.
several = Metric(["BLEU", "ROUGE-L"])
several.add_batch(predictions=said[:2], references=[texts[0] for texts in gold[:2]])
several.add(prediction=said[2], reference=gold[2][0])
whole = score(said, [texts[0] for texts in gold], metrics=["BLEU", "ROUGE-L"]).scores
found = several.compute()
assert {name: found[name] for name in whole} == {name: one.value for name, one in whole.items()}

# Some with one reference, some with several, in any order.
mixed = [gold[0], gold[1][0], gold[2]]
for turn in (1, -1):
    texts, own = said[::turn], mixed[::turn]
    assert Metric("BLEU-1").compute(predictions=texts, references=own)["BLEU-1"] == score(
        texts, own, metrics=["BLEU-1"]
    ).scores["BLEU-1"].value
    one = Metric("BLEU-1")
    for text, references in zip(texts[:2], own[:2]):
        one.add(prediction=text, reference=references)
    assert one.compute()["BLEU-1"] == score(texts[:2], own[:2], metrics=["BLEU-1"]).scores["BLEU-1"].value

# Acts, where a score needs them.
acts = ["inform(name='Red Door';food=Thai)", "inform(price=cheap)", "inform(name=x)"]
found = Metric(["SER", "PARENT"], preset="single").compute(predictions=said, references=gold, acts=acts)
assert found["SER"] == 0.25 and 0 < found["PARENT"] < 1, found
assert Metric("SER").compute(predictions=said, references=gold)["SER"] is None

# Together with others.
both = evaluate.combine([Metric("chrF"), Metric("TER")]).compute(predictions=said, references=gold)
assert set(both) >= {"chrF", "TER"}, both

for wrong in (lambda: Metric("BLUE"), lambda: Metric(preset="e3e"), lambda: Metric("embedding")):
    try:
        wrong()
    except UserError as error:
        print(error)
    else:
        sys.exit("no error")
loaded = {"torch", "tensorflow", "keras"} & set(sys.modules)
assert not loaded, loaded
"""


def away(folder: Path, repository: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run a program that sees the package, nothing else of the checkout, and no network."""
    (folder / "code").mkdir(exist_ok=True)
    link = folder / "code" / "dactnlg"
    if not link.exists():
        link.symlink_to(repository / "dactnlg", target_is_directory=True)
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    home = {"HF_HOME": str(folder / "hub"), "HF_METRICS_CACHE": str(folder / "metrics"), "DACTNLG_VECTORS": ""}
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, **nowhere, **home, "PYTHONPATH": str(folder / "code")},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.needs("datasets", "pip install 'dactnlg[evaluate]'")
def test_the_metric_scores_as_score_does(tmp_path: Path, repository: Path) -> None:
    done = away(tmp_path, repository, PROGRAM)
    assert done.returncode == 0, done.stderr
    assert "unknown metric 'BLUE'; did you mean 'BLEU" in done.stdout
    assert "unknown preset 'e3e'" in done.stdout and "vectors" in done.stdout


@pytest.mark.needs("datasets", "pip install 'dactnlg[evaluate]'")
def test_the_example_of_the_guide_runs(tmp_path: Path, repository: Path) -> None:
    guide = (repository / "docs" / "pages" / "guides" / "score-others.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```py\n(.*?)^```", guide, flags=re.MULTILINE | re.DOTALL)
    done = away(tmp_path, repository, program)
    assert done.returncode == 0 and done.stdout.startswith("0."), done.stderr


def test_a_missing_or_hidden_package_is_one_plain_message(repository: Path) -> None:
    hidden = "from dactnlg.errors import UserError\ntry:\n    import dactnlg.evaluation.hugging_face\n"
    hidden += "except UserError as error:\n    print(error)"
    for before, told in (
        ("import sys; sys.modules['evaluate'] = None\n", "pip install 'dactnlg[evaluate]'"),
        ("import datasets\n", f"hidden by {repository / 'evaluate.py'}, which Python finds first"),
    ):
        done = subprocess.run([sys.executable, "-c", before + hidden], cwd=repository, capture_output=True, text=True)
        assert done.returncode == 0 and told in done.stdout, done.stderr


def test_a_package_that_is_installed_but_broken_is_not_called_missing(tmp_path: Path, repository: Path) -> None:
    # As pyarrow, which `datasets` imports, refuses an older NumPy.
    (tmp_path / "evaluate.py").write_text("raise ImportError('pyarrow requires NumPy 2.0 or newer, found 1.26.0')")
    done = away(tmp_path, repository, "import dactnlg.evaluation.hugging_face")
    assert done.stderr.endswith("ImportError: pyarrow requires NumPy 2.0 or newer, found 1.26.0\n")
