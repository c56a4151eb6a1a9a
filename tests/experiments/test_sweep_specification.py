"""Sweep files: their search spaces, and messages with all mistakes at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dactnlg.errors import ConfigError
from dactnlg.experiments.sweep_specification import corners, load_sweep, sweep_names
from dactnlg.runs.config import Config

GOOD = """
config: trails-sclstm
set: {training.epochs: 3}
space:
  model.hidden_size: [16, 32]
  model.dropout: {uniform: [0, 0.5]}
  training.learning_rate: {loguniform: [1e-3, 1e-2]}
  training.batch_size: {randint: [8, 65]}
samples: 5
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "sweep.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("name", sweep_names())
def test_every_sweep_of_the_project_is_valid(name: str) -> None:
    assert load_sweep(name) == load_sweep(f"configs/sweeps/{name}.yaml")


def test_the_corners_of_a_space_are_all_combinations_of_its_ends(tmp_path: Path) -> None:
    sweep = load_sweep(write(tmp_path, GOOD), {"metric": "SER"}, {"training.seed": 7})
    assert (sweep.size(), sweep.metric, sweep.samples) == (10, "SER", 5)
    assert load_sweep(write(tmp_path, sweep.to_yaml())) == sweep
    tried = list(corners(sweep))
    assert len(tried) == 16
    assert all(isinstance(config, Config) and config.training.seed == 7 for config in tried)
    # Ray Tune's randint excludes its upper end.
    assert {config.training.batch_size for config in tried} == {8, 64}
    assert {config.model.hidden_size for config in tried} == {16, 32}
    assert {config.training.learning_rate for config in tried} == {1e-3, 1e-2}


def test_all_mistakes_of_a_sweep_are_reported_at_once(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
config: trails-sclstm
set:
  training.epochs: 3
space:
  model.hidden_sise: [16]
  model.dropout: {uniform: [0.2, 1.5]}
  model.alpha: 0.5
  model.eta: []
  training.epochs: [3]
  training.batch_size: {loguniform: [8, 64]}
  training.learning_rate: {loguniform: [0, 0.1]}
  training.seed: {normal: [0, 1]}
  training.decay: {uniform: [0.9, 0.5]}
  training.patience: {randint: [1, 2.5]}
  decoding.constraint: {choice: [hard, soft]}
""",
    )
    with pytest.raises(ConfigError) as caught:
        load_sweep(file)
    lines = str(caught.value).split("\n")
    assert lines[0] == f"11 mistakes in the sweep {file}"
    expected = [
        "line 6: model.hidden_sise: unknown key; did you mean 'hidden_size'?",
        "line 7: model.dropout: must be less than 1; got 1.5",
        "line 8: model.alpha: must be a list of values, or such as {uniform: [0.0, 0.5]}; a fixed value stands under",
        "line 9: model.eta: an empty list",
        "line 10: training.epochs: is set for all trials, too",
        "line 11: training.batch_size: must be a whole number; got",
        "line 12: training.learning_rate: loguniform: must be greater than 0; got 0",
        "line 13: training.seed: must have one of choice, uniform, loguniform, randint, lograndint; got normal",
        "line 14: training.decay: uniform: 0.9 is not below 0.5",
        "line 15: training.patience: randint: must be two whole numbers, [lowest, highest]",
        "line 16: decoding.constraint: unknown value 'soft'; valid: hard, none, rerank",
    ]
    for line, want in zip(lines[1:], expected, strict=True):
        assert line.startswith(f"  {file}, {want}"), line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("config: trails-sclstm\nspace: {model.hidden_size: [1, 2]}\nsamples: 3", "line 3: samples: nothing is drawn"),
        ("config: trails-sclstm\nspace: {}", "line 2: space: "),
        ("config: trails-sclstm\nspaces: {}\nspace: {a.b: [1]}", "line 2: spaces: unknown key; did you mean 'space'"),
        ("space: {model.hidden_size: [1]}", "config: field required"),
        ("config: nonsense\nspace: {model.hidden_size: [1]}", "there is no configuration nonsense"),
        ("config: trails-sclstm\nspace: {hidden_size: [1]}", "an override is section.key=value"),
        ("- 1", "a mapping"),
    ],
)
def test_a_mistake_of_a_sweep_is_named_with_its_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_sweep(write(tmp_path, text))
    assert message in str(caught.value)


def test_a_configuration_beside_the_sweep_takes_precedence(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("corpus: {name: trails}\nmodel: {name: lstm, hidden_size: 3}")
    sweep = load_sweep(write(tmp_path, "config: mine.yaml\nspace: {training.seed: [1]}"))
    assert [(config.model.name, config.model.hidden_size) for config in corners(sweep)] == [("lstm", 3)]


def test_the_message_on_an_unknown_sweep_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="there is no sweep trials-sclstm; did you mean 'trails-sclstm'"):
        load_sweep("trials-sclstm")
