"""Configuration: what is valid, and that every mistake of a file is told at once, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dactnlg.errors import ConfigError, UserError
from dactnlg.runs.config import Config, config_names, load_config

MINIMAL = "corpus:\n  name: restaurants\nmodel:\n  name: sclstm\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(folder: Path, text: str, *overrides: str) -> list[str]:
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    return str(caught.value).replace(f"{path}, ", "").replace(f"{path}: ", "").split("\n")


def test_defaults_are_those_of_the_papers(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, MINIMAL))
    # alpha, eta and xi as in Wen et al. 2015b
    assert (config.model.alpha, config.model.eta, config.model.xi) == (0.5, 1e-4, 100.0)
    assert config.model.hidden_size == 100
    assert (config.decoding.beam_width, config.decoding.constraint) == (10, "hard")
    assert (config.corpus.targets, config.corpus.also, config.corpus.data_dir) == ("human", [], None)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = """\
corpus:
  name: restaurnts
  also: [dstc3]
model: {name: sclstn, hiden_size: 10, epochs: 3}
training:
  epochs: yes
  batch_size: 3.5
  learning_rate: 0
  clip_norm: .inf
  decay: "0.4"
  seed: -1
decoding: 3
trainin: {}
"""
    head, *lines = mistakes(tmp_path, text, "training.patience=0", "nonsense")
    assert head.startswith("15 mistakes in the configuration ")
    assert {line.strip() for line in lines} == {
        "line 2: corpus.name: unknown corpus 'restaurnts'; did you mean 'restaurants'?",
        "line 3: corpus.also: unknown corpus 'dstc3'; did you mean 'dstc2'?",
        "line 4: model.name: unknown value 'sclstn'; did you mean 'sclstm' or 'lstm'?",
        "line 4: model.hiden_size: unknown key; did you mean 'hidden_size' or 'encoder_size' or 'value_size'?",
        "line 4: model.epochs: unknown key; did you mean 'training.epochs'?",
        "line 6: training.epochs: must be a whole number; got 'yes'",
        "line 7: training.batch_size: must be a whole number; got 3.5",
        "line 8: training.learning_rate: must be greater than 0; got 0",
        "line 9: training.clip_norm: must be a finite number; got inf",
        "line 10: training.decay: must be a number; got '0.4'",
        "line 11: training.seed: must be at least 0; got -1",
        "line 12: decoding: must be a mapping of beam_width, max_length, constraint, sample, "
        "temperature, top_k, top_p, length_normalization, slot_error_weight, append_questions, backend; got 3",
        "line 13: trainin: unknown key; did you mean 'training'?",
        "--set training.patience=0: training.patience: must be at least 1; got 0",
        "--set nonsense: an override is section.key=value, such as training.epochs=3",
    }


def test_missing_sections_and_keys(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "model: {}\n")[1:] == [
        "  corpus: missing; it has no default",
        "  line 1: model.name: missing; it has no default",
    ]


def test_a_key_given_twice(tmp_path: Path) -> None:
    text = MINIMAL + "training:\n  epochs: 3\n  epochs: 4\n"
    assert mistakes(tmp_path, text)[1:] == ["  line 7: training.epochs: given twice, first on line 6"]


def test_a_corpus_named_twice(tmp_path: Path) -> None:
    text = MINIMAL.replace("restaurants", "restaurants\n  also: [dstc2, restaurants]")
    assert mistakes(tmp_path, text)[1:] == ["  line 1: corpus: named more than once: restaurants"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("corpus: [1\nmodel: 2", "line 2, column 6"),
        ("corpus:\n\tname: x", "line 2, column 1"),
        ("a: *missing", "line 1, column 4"),
        ("a: !!python/object:os.system x", "line 1, column 4"),
    ],
)
def test_yaml_errors_name_line_and_column(tmp_path: Path, text: str, place: str) -> None:
    assert mistakes(tmp_path, text)[0].startswith(f"{place}: not YAML")


@pytest.mark.parametrize("text", ["", "[]", "3", "corpus", "- corpus: {}"])
def test_what_is_not_a_mapping(tmp_path: Path, text: str) -> None:
    assert "mapping" in mistakes(tmp_path, text)[0]


def test_a_file_that_is_not_text(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="binary.yaml"):
        load_config(path)


def test_overrides_win_and_the_last_one_most(tmp_path: Path) -> None:
    path = write(tmp_path, MINIMAL + "training:\n")
    config = load_config(
        path,
        ["training.epochs=3", "training.epochs=4", "corpus.also=[dstc2]", "training.learning_rate=1e-4", "model.xi=2"],
    )
    assert config.training.epochs == 4
    assert config.training.learning_rate == 1e-4
    assert config.corpus.also == ["dstc2"]
    assert config.model.xi == 2.0


@pytest.mark.parametrize("override", ["", "=", "training", "epochs=3", ".epochs=3", "training.=3", "training.epochs"])
def test_malformed_overrides(tmp_path: Path, override: str) -> None:
    assert "section.key=value" in mistakes(tmp_path, MINIMAL, override)[1]


def test_an_unknown_configuration_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="restaurants-sclstm"):
        load_config("configs/restaurants-sclstn.yaml")


def test_a_configuration_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config("restaurants-sclstm") == load_config("configs/restaurants-sclstm.yaml")


def test_a_path_is_a_corpus_too(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("", encoding="utf-8")
    text = MINIMAL.replace("restaurants", str(tmp_path / "mine.jsonl"))
    assert load_config(write(tmp_path, text)).corpus.name.endswith("mine.jsonl")


@pytest.mark.parametrize("name", config_names())
def test_to_yaml_reads_back(tmp_path: Path, name: str) -> None:
    config = load_config(name)
    assert load_config(write(tmp_path, config.to_yaml())) == config


@given(rate=st.floats(min_value=0, exclude_min=True, allow_infinity=False), seed=st.integers(0, 2**32 - 1))
def test_numbers_survive_yaml(tmp_path_factory: pytest.TempPathFactory, rate: float, seed: int) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    config = load_config(write(folder, MINIMAL), [f"training.learning_rate={rate!r}", f"training.seed={seed}"])
    assert config.training.learning_rate == rate
    assert load_config(write(folder, config.to_yaml())) == config


@given(data=st.text())
def test_any_text_is_a_configuration_or_a_plain_error(tmp_path_factory: pytest.TempPathFactory, data: str) -> None:
    path = tmp_path_factory.mktemp("any") / "mine.yaml"
    path.write_bytes(data.encode("utf-8", "surrogatepass"))
    with pytest.raises(UserError):
        load_config(path)


yaml_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from([*Config.model_fields, "other"]),
        yaml_like
        | st.dictionaries(st.sampled_from(["name", "also", "epochs", "seed", "constraint", "xi", "foo"]), yaml_like),
    )
)
def test_any_mapping_is_a_configuration_or_a_plain_error(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, object]
) -> None:
    import yaml

    path = tmp_path_factory.mktemp("any") / "mine.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(UserError):
        load_config(path)
