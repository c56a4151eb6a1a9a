"""Trials whose settings change what a score means are not ranked with the others."""

from __future__ import annotations

import json
from pathlib import Path

from dactnlg.experiments.sweep import _result
from dactnlg.experiments.sweep_specification import SweepSpecification
from dactnlg.experiments.trials import Outcome, SweepResult

KEY = "corpus.lexicalized"


def ranked(folder: Path, *scores: tuple[float | None, str]) -> SweepResult:
    """Return the trials of runs with these perplexities over these vocabularies."""
    for at, (value, vocabulary) in enumerate(scores):
        run = folder / f"trial-{at:05}"
        run.mkdir()
        score = {"value": value, "hash": f"h{vocabulary}", "signature": f"perplexity|vocabulary:{vocabulary}"}
        entry = {
            "corpus": "x",
            "source": "x",
            "split": "valid",
            "options": {},
            "scores": {"fair": {"perplexity": score}},
        }
        (run / "manifest.json").write_text(json.dumps({"training": {}, "evaluations": [entry]}))
    specification = SweepSpecification(config="x", space={KEY: [[], ["area"]]}, metric="perplexity")
    return _result(specification, folder, {f"trial-{at:05}": Outcome({KEY: at}) for at in range(len(scores))})


def test_trials_with_another_hash_are_ranked_apart(tmp_path: Path) -> None:
    found = ranked(tmp_path, (2.0, "aa"), (5.0, "bb"), (None, "cc"), (4.0, "bb"), (1.0, "aa"), (3.0, "bb"))
    assert [trial.score for trial in found.trials] == [3.0, 4.0, 5.0, 1.0, 2.0, None]
    (note,) = found.notes
    first, last = (str(tmp_path / f"trial-{at:05}") for at in (4, 0))
    assert note.startswith(f"{first}, {last}: ranked apart from {tmp_path / 'trial-00005'}")
    assert note.endswith("vocabulary (F with R): bb against aa")
    assert found.table().endswith(note)
    assert found.to_json()["notes"] == [note]
    assert [trial["hash"] for trial in found.to_json()["trials"]] == ["hbb"] * 3 + ["haa"] * 2 + ["hcc"]


def test_trials_with_the_same_hash_are_ranked_together(tmp_path: Path) -> None:
    found = ranked(tmp_path, (2.0, "aa"), (5.0, "aa"), (1.0, "aa"))
    assert [trial.score for trial in found.trials] == [1.0, 2.0, 5.0]
    assert found.notes == []
    (tmp_path / "none").mkdir()
    assert ranked(tmp_path / "none", (None, "aa")).notes == []
