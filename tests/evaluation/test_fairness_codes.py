"""Hash codes: every cell of the paper's Fig. 4, and changes that CoTK's own codes miss."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dactnlg.acts import parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import CorpusError, MetricError, UnknownNameError
from dactnlg.evaluation.comparable import differences
from dactnlg.evaluation.evaluate import evaluate
from dactnlg.evaluation.hash_codes import CODES, Codes, FairData, corpus_codes
from dactnlg.metrics.perplexity import signatures
from dactnlg.metrics.reference_hash import ReferenceHash
from dactnlg.text.example import Example

Splits = dict[str, list[Example]]


def example(name: str, *sentences: str) -> Example:
    return Example(parse(f"inform(name={name})"), sentences)


BASE: Splits = {
    "train": [
        example("a", "a isn't far.", "a is near, too."),
        example("b", "b is far."),
        example("c", "c is a unicorn."),
        example("b", "b is far."),
    ],
    "valid": [example("d", "d is near.")],
    "test": [example("e", "e is far.", "e isn't near."), example("f", "f is near."), example("f", "f is a griffin.")],
}


def codes(splits: Splits = BASE, tokenizer: str = "treebank", min_count: int = 1, preset: str = "fair") -> Codes:
    return FairData(splits, tokenizer, min_count).codes([preset])


def moved(splits: Splits = BASE, **settings: object) -> set[str]:
    """Return the names of the codes that differ from those of `BASE`."""
    one, two = codes(), codes(splits, **settings)  # type: ignore[arg-type]
    found = {name for name in CODES if getattr(one, name) != getattr(two, name)}
    return found | {name for name, code in one.metrics["fair"].items() if two.metrics["fair"][name] != code}


BLEU = {"BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4"}
TABLE = {
    "shuffled": set(),
    "smaller F": {"vocabulary", "setting", "general"},
    "other tokeniser": {"data", "vocabulary", "setting", "general", "perplexity"},
    "test sample removed": {"raw", "data", "vocabulary", "general", "perplexity", *BLEU},
}


def changed(name: str) -> set[str]:
    if name == "shuffled":
        draw = random.Random(1)
        return moved({split: draw.sample(rows, len(rows)) for split, rows in BASE.items()})
    if name == "smaller F":
        return moved(min_count=3)
    if name == "other tokeniser":
        return moved(tokenizer="whitespace")
    return moved({**BASE, "test": BASE["test"][:-1]})


@pytest.mark.parametrize("code", [*CODES, "perplexity", *sorted(BLEU)])
@pytest.mark.parametrize("change", TABLE)
def test_every_cell_of_the_table(change: str, code: str) -> None:
    """Huang et al. 2020, Fig. 4: a dot must change, a blank must not."""
    assert (code in changed(change)) == (code in TABLE[change])


def test_the_smaller_f_leaves_f_with_r() -> None:
    one, two = FairData(BASE).vocabulary, FairData(BASE, min_count=3).vocabulary
    assert set(two.frequent) < set(one.frequent)
    assert {*two.frequent, *two.rare} == {*one.frequent, *one.rare}


@pytest.mark.parametrize("index", range(3))
def test_any_test_sample_moves_the_vocabulary_hash(index: int) -> None:
    """Even one whose words all remain elsewhere."""
    assert "vocabulary" in moved({**BASE, "test": BASE["test"][:index] + BASE["test"][index + 1 :]})


def swap(rows: list[Example]) -> list[Example]:
    one, two, *rest = rows
    return [replace(one, references=two.references), replace(two, references=one.references), *rest]


def test_references_swapped_between_two_acts_are_noticed() -> None:
    found = moved({**BASE, "test": swap(BASE["test"])})
    assert found == {"raw", "data", "general", "perplexity", "perplexity-original", *BLEU, "SER"}
    assert moved({**BASE, "train": swap(BASE["train"])}) == {"raw", "data", "general"}


def test_a_repeated_sample_does_not_cancel_out() -> None:
    train = BASE["train"]
    without = {**BASE, "train": train[:1] + train[2:3]}
    assert {"raw", "data", "vocabulary"} <= moved(without)
    assert codes(without).raw != codes({**BASE, "train": train[:3]}).raw != codes().raw
    test = [*BASE["test"], BASE["test"][0]]
    assert {"perplexity", *BLEU} <= moved({**BASE, "test": test})


def test_the_hash_of_perplexity_covers_f_and_r() -> None:
    """One rare word more in any split changes |R|, among which p(unk) is divided."""
    rarer = {**BASE, "valid": [example("d", "d is a griffin near a manticore.")]}
    assert "perplexity" in moved(rarer)
    assert not moved(rarer) & BLEU
    assert "perplexity-original" in moved(min_count=3), "the original figure depends on F alone"


def test_training_samples_do_not_change_the_hashes_of_bleu_and_ser() -> None:
    found = moved({**BASE, "train": BASE["train"][:2]})
    assert {"raw", "data", "vocabulary", "general"} <= found
    assert not found & (BLEU | {"SER"})


def test_orders_and_presets_have_hashes_of_their_own() -> None:
    found = codes().metrics["fair"] | {
        f"nlg {name}": code for name, code in codes(preset="nlg-eval").metrics["nlg-eval"].items()
    }
    assert len(set(found.values())) == len(found)


def test_handcrafted_sentences_are_hashed_as_data() -> None:
    rows = [replace(BASE["train"][0], handcrafted=("a be far",)), *BASE["train"][1:]]
    assert moved({**BASE, "train": rows}) == {"raw", "data", "general"}


def test_names_of_splits_are_hashed() -> None:
    swapped = {"train": BASE["train"], "valid": BASE["test"], "test": BASE["valid"]}
    assert {"raw", "data", "general"} <= moved(swapped)


def test_codes_do_not_depend_on_pythons_hash_seed() -> None:
    code = (
        "import json; from dactnlg.data.corpus import load_corpus\n"
        "from dactnlg.evaluation.hash_codes import corpus_codes\n"
        "trails = load_corpus('trails');"
        "print(json.dumps([corpus_codes(trails, name).to_json() for name in ('13a', 'subword')]))"
    )
    outputs = set()
    for seed in ("0", "1"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
        outputs.add(done.stdout)
    (output,) = outputs
    assert corpus_codes(load_corpus("trails"), "13a").to_json() == json.loads(output)[0]


def test_corpora_hash_prints_the_codes(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["corpora", "hash", "trails", "--tokenizer", "whitespace"]
    assert main(command) == 0
    table = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {len(data[name]) for name in CODES} == {64}
    rows = dict(line.rsplit(maxsplit=1) for line in table.splitlines())
    assert rows["raw"] == data["raw"][:8]
    assert rows["fair perplexity"] == data["metrics"]["fair"]["perplexity"][:8]


def test_evaluations_show_the_hashes_of_the_corpus(random_run: Path) -> None:
    result = evaluate(random_run, presets=("fair", "single"))
    assert str(result) == result.table() != result._repr_markdown_() == result.table("markdown")
    assert repr(result).startswith("Evaluation(corpus=") and len(repr(result)) < 1500
    found = corpus_codes(load_corpus("trails"), presets=("fair", "single")).metrics
    for scores in result.results:
        shown = {name: score.hash for name, score in scores.scores.items()}
        assert shown.items() <= found[scores.preset].items()
        assert {"BLEU-4", "SER"} <= set(shown)


def test_slot_errors_counted_with_other_cues_or_aliases_have_another_hash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"act": "inform(area=centre)", "text": "it is in town"}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for _ in range(3)))
    pair = {"hypothesis": "it is in town", "references": ["it is in town"], "act": row["act"]}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pair))
    card = tmp_path / "a.yaml"
    found = []
    for own in ("", "title: the same corpus", "slots: {area: {aliases: {centre: [town]}}}", "spaced: true"):
        card.write_text(f"name: a\nformat: pairs\nfiles: {{test: {{path: a.jsonl}}}}\n{own}\n")
        assert main(["score", str(tmp_path / "pairs.jsonl"), "--corpus", str(card), "--json", "-"]) == 0
        scores = json.loads(capsys.readouterr().out)["scores"]
        found.append((scores["SER"]["value"], scores["SER"]["hash"], scores["BLEU-4"]["hash"]))
    assert [value for value, *_ in found] == [1, 1, 0, 1]
    assert found[0] == found[1] and len({code for _, code, _ in found}) == 3
    assert len({code for *_, code in found}) == 1


def test_unknown_tokenisers_presets_and_counts_are_refused() -> None:
    trails = load_corpus("trails")
    with pytest.raises(UnknownNameError, match="did you mean 'treebank'"):
        corpus_codes(trails, "treebnk")
    with pytest.raises(UnknownNameError, match="did you mean 'fair'"):
        corpus_codes(trails, presets=["fiar"])
    with pytest.raises(MetricError, match="at least 1, not 0"):
        corpus_codes(trails, min_count=0)


def test_a_corpus_without_a_test_split_is_hashed_on_its_last_one_unless_another_is_named(tmp_path: Path) -> None:
    rows = [{"act": f"inform(name=a{number})", "text": f"a{number} is far."} for number in range(40)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:20]))
    (tmp_path / "valid.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[20:]))
    corpus = load_corpus(str(tmp_path))
    assert corpus_codes(corpus) == corpus_codes(corpus, split="valid")
    with pytest.raises(CorpusError, match="no split 'test'"):
        corpus_codes(corpus, split="test")


def score(signature: str, pairs: list[tuple[str, list[str]]]) -> dict[str, str]:
    state = ReferenceHash()
    for act, references in pairs:
        state.update(references, parse(act))
    return {"signature": signature, "hash": state.hexdigest(signature)}


def test_the_difference_between_two_hashes_is_named() -> None:
    recipe = "BLEU-4|tok:13a|preset:fair"
    pairs = [("inform(name=a)", ["x"]), ("inform(name=b)", ["y"])]
    one = score(recipe, pairs)
    assert differences(one, score(recipe, pairs[::-1])) == []
    assert differences(one, score("BLEU-4|tok:13a|preset:single", pairs)) == ["preset: fair against single"]
    assert differences(one, score("BLEU-2|tok:13a|preset:fair", pairs)) == ["score: BLEU-4 against BLEU-2"]
    for others in (pairs[:1], [("inform(name=a)", ["y"]), ("inform(name=b)", ["x"])]):
        (found,) = differences(one, score(recipe, others))
        assert "another test set" in found


def test_two_vocabularies_are_told_from_two_corpora() -> None:
    first, second = (
        {"signature": signatures("treebank", FairData(splits).vocabulary)["perplexity"], "hash": str(index)}
        for index, splits in enumerate((BASE, {**BASE, "valid": []}))
    )
    (found,) = differences(first, second)
    assert found.startswith("vocabulary (F with R)")
