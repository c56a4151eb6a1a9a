"""The table of corpora: a run is trained once, and its figures stand beside the published ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import table_rows

from benchmarks import corpora


@pytest.mark.needs("pycocoevalcap", "pip install 'dactnlg[meteor]'")
def test_a_run_is_trained_once(
    run_benchmark: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The speed over twenty acts, not over five hundred.
    measured = corpora.speed
    monkeypatch.setattr(corpora, "speed", lambda folder, turns, others: measured(folder, turns[:20], others[:20]))
    small = ["training.epochs=1", "model.hidden_size=16", "training.batch_size=128", "decoding.beam_width=2"]
    settings = [word for setting in small for word in ("--set", setting)]
    arguments = ["--runs", tmp_path, "--corpus", "trails", "--config", "trails-sclstm", "--seeds", "1", *settings]
    first = run_benchmark(corpora, *arguments)
    (folder,) = tmp_path.iterdir()
    before = (folder / "weights.safetensors").stat().st_mtime_ns
    again = run_benchmark(corpora, *arguments)
    assert (folder / "weights.safetensors").stat().st_mtime_ns == before
    tables = [table_rows(printed) for printed in (first, again)]
    # All but the speeds is the same.
    assert [row[:-2] for row in tables[0]] == [row[:-2] for row in tables[1]]
    names = [row[3] for row in tables[0][1:]]
    assert names == ["BLEU-4", "NIST", "METEOR-1.5", "ROUGE-L", "CIDEr", "SER"]
    assert float(tables[0][-1][4]) == 0


def test_each_corpus_needs_a_configuration(
    run_benchmark: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run_benchmark(corpora, "--corpus", "hotel", "tv", "--config", "hotel-sclstm")
    assert ended.value.code == 2
    assert "1 configurations for 2 corpora: give one for each" in capsys.readouterr().err
