"""Configuration: what is valid, and that all mistakes of a file are reported at once, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dactnlg import models
from dactnlg.errors import ConfigError, UserError
from dactnlg.runs.config import (
    Config,
    CorpusConfig,
    DecodingConfig,
    TrainingConfig,
    config_names,
    load_config,
    read_config,
)

MINIMAL = "corpus:\n  name: restaurants\nmodel:\n  name: sclstm\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes(folder: Path, text: str, *overrides: str) -> list[str]:
    path = write(folder, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides, models)
    return str(caught.value).replace(f"{path}, ", "").replace(f"{path}: ", "").split("\n")


def test_defaults_are_those_of_the_papers(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, MINIMAL), models=models)
    keys = config.model.keywords()
    # alpha, eta and xi as in Wen et al. 2015b
    assert (keys["alpha"], keys["eta"], keys["xi"]) == (0.5, 1e-4, 100.0)
    assert keys["hidden_size"] == 100
    assert (config.decoding.beam_width, config.decoding.constraint) == (10, "hard")
    assert (config.corpus.targets, config.corpus.also, config.corpus.data_dir) == ("human", [], None)


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    text = """\
corpus:
  name: restaurnts
  also: [dstc3]
model: {name: sclstm, hiden_size: 10, epochs: 3, value_size: 20, alpha: -1}
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
    head, *lines = mistakes(tmp_path, text, "training.patience=0", "nonsense", "model.xi=much")
    assert head.startswith("17 mistakes in the configuration ")
    assert {line.strip() for line in lines} == {
        "line 2: corpus.name: unknown corpus 'restaurnts'; did you mean 'restaurants' or 'cs_restaurants'?",
        "line 3: corpus.also: unknown corpus 'dstc3'; did you mean 'dstc2'?",
        "line 4: model.hiden_size: unknown key; did you mean 'hidden_size'?",
        "line 4: model.epochs: unknown key; did you mean 'training.epochs'?",
        "line 4: model.value_size: model 'sclstm' has no use for it; models that have it: hierarchical",
        "line 4: model.alpha: must be at least 0; got -1",
        "line 6: training.epochs: must be a whole number; got 'yes'",
        "line 7: training.batch_size: must be a whole number; got 3.5",
        "line 8: training.learning_rate: must be greater than 0; got 0",
        "line 9: training.clip_norm: must be a finite number; got inf",
        "line 10: training.decay: must be a number; got '0.4'",
        "line 11: training.seed: must be at least 0; got -1",
        "line 12: decoding: must be a mapping of beam_width, max_length, constraint, sample, "
        "temperature, top_k, top_p, length_normalization, mbr, slot_error_weight, append_questions, backend; got 3",
        "line 13: trainin: unknown key; did you mean 'training'?",
        "--set training.patience=0: training.patience: must be at least 1; got 0",
        "--set nonsense: an override is section.key=value, such as training.epochs=3",
        "--set model.xi=much: model.xi: must be a number; got 'much'",
    }


def test_a_key_is_an_error_in_a_model_that_has_no_use_for_it(tmp_path: Path) -> None:
    text = MINIMAL.replace("sclstm", "lstm")
    assert mistakes(tmp_path, text, "model.xi=2", "model.encoder_size=5", "training.epochs=0")[1:] == [
        "  --set training.epochs=0: training.epochs: must be at least 1; got 0",
        "  --set model.xi=2: model.xi: model 'lstm' has no use for it; models that have it: hierarchical, sclstm",
        "  --set model.encoder_size=5: model.encoder_size: model 'lstm' has no use for it; "
        "models that have it: gru_seq2seq, hierarchical, seq2seq",
    ]
    line = (
        "model 'random' has no use for it; models that have it: cvae, gpt2, gru_lm, gru_seq2seq, hierarchical, hred, "
        "lstm, sclstm, seq2seq, transformer, transformer_lm, transformer_seq2seq, vae_lm, vhcr, vhred"
    )
    assert mistakes(tmp_path, MINIMAL.replace("sclstm", "random\n  hidden_size: 4"))[1:] == [
        f"  line 5: model.hidden_size: {line}"
    ]
    # The model that has the key takes it, with its own defaults for the others.
    keys = load_config(write(tmp_path, text.replace("lstm", "hierarchical")), ["model.xi=2"], models).model.keywords()
    assert (keys["xi"], keys["eta"], keys["encoder_size"]) == (2.0, 1e-4, 100)


VALID = (
    "cvae, gpt2, gru_lm, gru_seq2seq, hierarchical, hred, lstm, random, sclstm, seq2seq, transformer, transformer_lm, "
    "transformer_seq2seq, vae_lm, vhcr, vhred"
)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sclstn", "unknown model 'sclstn'; did you mean 'sclstm' or 'lstm'?"),
        # Modules of the same folder that are not models.
        ("base", "unknown model 'base'; valid: " + VALID),
        ("numpy", "unknown model 'numpy'; valid: " + VALID),
        ("os.path", "unknown model 'os.path'; valid: " + VALID),
        ("''", "unknown model ''; valid: " + VALID),
        ("3", "must be text; got 3"),
        ("[sclstm]", "must be text; got ['sclstm']"),
    ],
)
def test_an_unknown_model_is_reported_beside_other_mistakes(tmp_path: Path, name: str, message: str) -> None:
    text = MINIMAL.replace("sclstm", f"{name}\n  hidden_size: 1.5").replace("restaurants", "restaurnts")
    # The keys of an unknown model are not checked.
    assert set(mistakes(tmp_path, text)[1:]) == {
        f"  line 4: model.name: {message}",
        "  line 2: corpus.name: unknown corpus 'restaurnts'; did you mean 'restaurants' or 'cs_restaurants'?",
    }


def test_without_the_models_their_keys_are_not_checked(tmp_path: Path) -> None:
    path = write(tmp_path, MINIMAL + "  whatever: 3\n")
    config = load_config(path)
    assert config.model.keywords() == {"whatever": 3} and config.model.neural
    assert load_config(write(tmp_path, config.to_yaml())) == config
    assert not load_config(write(tmp_path, MINIMAL.replace("sclstm", "random"))).model.neural


def test_the_corpora_of_a_trained_run_may_be_missing(tmp_path: Path) -> None:
    # A path in the folder in which the run was trained, and a corpus of another version.
    text = MINIMAL.replace("restaurants", "mine.card.yaml\n  also: [dstc3]")
    config = load_config(write(tmp_path, text))
    assert (config.corpus.name, config.corpus.also) == ("mine.card.yaml", ["dstc3"])
    assert len(mistakes(tmp_path, text)) == 3
    with pytest.raises(ValidationError, match="unknown corpus 'mine.card.yaml'; there is no such file"):
        CorpusConfig(name="mine.card.yaml")


def test_a_mapping_is_read_like_a_file(tmp_path: Path) -> None:
    data = {"corpus": {"name": "restaurants"}, "model": {"name": "sclstm", "hidden_size": 8}}
    overrides = ["training.epochs=4", "model.xi=2"]
    file = load_config(write(tmp_path, MINIMAL + "  hidden_size: 8\n"), overrides, models)
    assert read_config(data, overrides, models) == file
    # The mapping itself is not changed.
    assert data == {"corpus": {"name": "restaurants"}, "model": {"name": "sclstm", "hidden_size": 8}}
    with pytest.raises(ConfigError) as caught:
        read_config({"corpus": 3, "model": {"name": "lstm", "xi": 2}, "trainin": {}}, ["epochs=3"], models)
    assert str(caught.value).split("\n") == [
        "4 mistakes in the configuration",
        "  epochs=3: an override is section.key=value, such as training.epochs=3",
        "  corpus: must be a mapping of name, also, counterfeit, targets, min_count, lexicalized, data_dir; got 3",
        "  trainin: unknown key; did you mean 'training'?",
        "  model.xi: model 'lstm' has no use for it; models that have it: hierarchical, sclstm",
    ]


def test_missing_sections_and_keys_are_named(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "model: {}\n")[1:] == [
        "  corpus: missing; it has no default",
        "  line 1: model.name: missing; it has no default",
    ]


@pytest.mark.parametrize("name", ["nonsense", "sclstm", "random"])
def test_a_key_that_all_models_have_is_reported_once(tmp_path: Path, name: str) -> None:
    text = MINIMAL.replace("sclstm", f"{name}\n  initialize_from: 3").replace("restaurants", "restaurnts")
    head, *lines = mistakes(tmp_path, text)
    unknown = [f"  line 4: model.name: unknown model 'nonsense'; valid: {VALID}"] if name == "nonsense" else []
    assert sorted(lines) == [
        "  line 2: corpus.name: unknown corpus 'restaurnts'; did you mean 'restaurants' or 'cs_restaurants'?",
        *unknown,
        "  line 5: model.initialize_from: must be text; got 3",
    ]
    assert head.startswith(f"{len(lines)} mistakes")


def test_initial_weights_for_a_model_without_weights_are_one_mistake(tmp_path: Path) -> None:
    text = MINIMAL.replace("sclstm", "random\n  initialize_from: runs/x")
    head, line = mistakes(tmp_path, text)
    assert head.startswith("one mistake") and line.endswith("the model 'random' has no weights to begin with")


def test_only_a_hundred_mistakes_are_shown_and_all_are_counted(tmp_path: Path) -> None:
    head, *lines = mistakes(tmp_path, MINIMAL + "".join(f"x{n}: 1\n" for n in range(500)))
    assert head.startswith("500 mistakes in the configuration ")
    assert len(lines) == 101 and lines[-1] == "  and 400 more"


def test_a_key_given_twice_is_a_mistake(tmp_path: Path) -> None:
    text = MINIMAL + "training:\n  epochs: 3\n  epochs: 4\n"
    assert mistakes(tmp_path, text)[1:] == ["  line 7: training.epochs: given twice, first on line 6"]


def test_a_corpus_named_twice_is_a_mistake(tmp_path: Path) -> None:
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
def test_a_file_that_holds_no_mapping_is_a_mistake(tmp_path: Path, text: str) -> None:
    assert "mapping" in mistakes(tmp_path, text)[0]


def test_a_configuration_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "binary.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="binary.yaml"):
        load_config(path)


def test_overrides_take_precedence_over_the_file_and_later_over_earlier_ones(tmp_path: Path) -> None:
    path = write(tmp_path, MINIMAL + "training:\n")
    config = load_config(
        path,
        ["training.epochs=3", "training.epochs=4", "corpus.also=[dstc2]", "training.learning_rate=1e-4", "model.xi=2"],
        models,
    )
    assert config.training.epochs == 4
    assert config.training.learning_rate == 1e-4
    assert config.corpus.also == ["dstc2"]
    assert config.model.keywords()["xi"] == 2.0


@pytest.mark.parametrize("override", ["", "=", "training", "epochs=3", ".epochs=3", "training.=3", "training.epochs"])
def test_a_malformed_override_is_a_mistake(tmp_path: Path, override: str) -> None:
    assert "section.key=value" in mistakes(tmp_path, MINIMAL, override)[1]


def test_the_message_on_an_unknown_configuration_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="restaurants-sclstm"):
        load_config("configs/restaurants-sclstn.yaml")


def test_a_configuration_is_found_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_config("restaurants-sclstm") == load_config("configs/restaurants-sclstm.yaml")


def test_a_corpus_may_be_a_path(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("", encoding="utf-8")
    text = MINIMAL.replace("restaurants", str(tmp_path / "mine.jsonl"))
    assert load_config(write(tmp_path, text)).corpus.name.endswith("mine.jsonl")


@pytest.mark.parametrize("name", config_names())
def test_every_configuration_survives_yaml(tmp_path: Path, name: str) -> None:
    config = load_config(name, models=models)
    assert load_config(write(tmp_path, config.to_yaml()), models=models) == config
    # A run's configuration, which training has checked, is read without the models.
    assert load_config(write(tmp_path, config.to_yaml())).model_dump() == config.model_dump()


@given(rate=st.floats(min_value=0, max_value=100, exclude_min=True), seed=st.integers(0, 2**32 - 1))
def test_numbers_survive_yaml(tmp_path_factory: pytest.TempPathFactory, rate: float, seed: int) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    config = load_config(write(folder, MINIMAL), [f"training.learning_rate={rate!r}", f"training.seed={seed}"])
    assert config.training.learning_rate == rate
    assert load_config(write(folder, config.to_yaml())) == config


@pytest.mark.parametrize(
    ("key", "value", "bound"),
    [
        ("corpus.min_count", "9" * 40, "must be at most 1,000,000,000"),
        ("model.hidden_size", "1000000000000", "must be at most 8,192"),
        ("model.embedding_size", "8193", "must be at most 8,192"),
        ("model.dropout", "1.0", "must be less than 1"),
        ("model.alpha", "1e308", "must be at most 1000"),
        ("model.eta", "1e308", "must be at most 1000"),
        ("model.xi", "1e308", "must be at most 1e+06"),
        ("training.epochs", "1000000000000", "must be at most 1,000,000"),
        ("training.batch_size", "1000000000000", "must be at most 65,536"),
        ("training.learning_rate", "1e308", "must be at most 100"),
        ("training.decay", "1e308", "must be at most 1"),
        ("training.decay_patience", "1000000000000", "must be at most 1,000,000"),
        ("training.patience", "1000000000000", "must be at most 1,000,000"),
        ("training.clip_norm", "1e308", "must be at most 1e+12"),
        ("training.seed", "0x" + "f" * 90, "must be less than 4,294,967,296"),
        ("training.repetition", "2", "must be at most 1"),
        ("decoding.beam_width", "99999999999", "must be at most 1,000"),
        ("decoding.max_length", "99999999999", "must be at most 1,000"),
        ("decoding.temperature", "1e308", "must be at most 1e+06"),
        ("decoding.top_k", "99999999999", "must be at most 1,000,000,000"),
        ("decoding.top_p", "1e308", "must be at most 1"),
        ("decoding.length_normalization", "1e308", "must be at most 10"),
        ("decoding.slot_error_weight", "1e308", "must be at most 1e+06"),
    ],
)
def test_every_number_has_a_bound_that_is_named(tmp_path: Path, key: str, value: str, bound: str) -> None:
    (line,) = mistakes(tmp_path, MINIMAL, f"{key}={value}")[1:]
    assert line.startswith(f"  --set {key}={value}: {key}: {bound}; got ")


@pytest.mark.parametrize("name", models.names())
def test_every_number_of_a_section_has_two_bounds(name: str) -> None:
    for section in (CorpusConfig, TrainingConfig, DecodingConfig, models.section(name)):
        for key, field in section.model_fields.items():
            if field.annotation in (int, float):
                kinds = {type(part).__name__ for part in field.metadata}
                assert kinds & {"Ge", "Gt"} and kinds & {"Le", "Lt"}, f"{section.__name__}.{key}"


@pytest.mark.parametrize("name", ["a\\0b.csv", "x" * 5000 + ".csv", "x" * 100_000, "/dev/zero", "/dev/stdin"])
def test_a_name_that_cannot_be_a_file_is_an_unknown_corpus(tmp_path: Path, name: str) -> None:
    (line,) = mistakes(tmp_path, f'corpus: {{name: "{name}"}}\nmodel: {{name: lstm}}\n')[1:]
    assert "corpus.name: unknown corpus '" in line and len(line) < 400


@given(data=st.text())
def test_arbitrary_text_is_a_plain_error(tmp_path_factory: pytest.TempPathFactory, data: str) -> None:
    path = tmp_path_factory.mktemp("any") / "mine.yaml"
    path.write_bytes(data.encode("utf-8", "surrogatepass"))
    with pytest.raises(UserError):
        load_config(path, models=models)


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
def test_an_arbitrary_mapping_is_a_plain_error(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, object]
) -> None:
    path = tmp_path_factory.mktemp("any") / "mine.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(UserError):
        load_config(path, models=models)
