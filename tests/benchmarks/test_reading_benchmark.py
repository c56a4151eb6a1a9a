"""Sentences to be read: their acts are new and one slot away from a seen one; verdicts stay with their sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks import reading
from benchmarks.reading import beside_people, by_doubts, compared, count, read
from benchmarks.unseen import combination, of_test_split, one_away, subsets, values_of
from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus


def names(turn: Turn) -> list[tuple[str, ...]]:
    return [(act.act_type, *sorted(f"{slot.name}={slot.special}" for slot in act.slots)) for act in turn]


def away(one: Turn, other: Turn) -> bool:
    """Whether two turns have the same acts, but for one slot in one of them."""
    pairs = list(zip(names(one), names(other), strict=False))
    changed = [(set(a), set(b)) for a, b in pairs if a != b]
    same = [act.act_type for act in one] == [act.act_type for act in other]
    return same and len(changed) == 1 and all(len(part) <= 1 for part in (changed[0][0] - changed[0][1],))


def test_acts_are_new_and_one_slot_away() -> None:
    corpus = load_corpus("trails")
    seen = [example.turn for example in corpus.split("train")]
    found = one_away(corpus, 40, 1)
    assert len(found) == 40 == len(set(found))
    assert not {combination(turn) for turn in found} & {combination(turn) for turn in seen}
    assert all(any(away(turn, other) for other in seen) for turn in found)
    assert one_away(corpus, 40, 1) == found != one_away(corpus, 40, 2)


def test_acts_of_the_test_split_are_all_that_are_new() -> None:
    corpus = load_corpus("trails")
    seen = {combination(example.turn) for example in corpus.split("train")}
    new = {example.turn for example in corpus.split("test") if combination(example.turn) not in seen}
    assert set(of_test_split(corpus, 10_000, 1)) == new != set()
    some = of_test_split(corpus, 5, 1)
    assert len(set(some)) == 5 and set(some) < new and some == of_test_split(corpus, 5, 1)


def test_subsets_take_slots_and_values_of_their_act_type() -> None:
    corpus = load_corpus("trails")
    values = values_of(corpus)
    for turn in subsets(corpus, 60, 1):
        (act,) = turn
        assert 1 <= len({slot.name for slot in act.slots}) == len(act.slots)
        assert all(slot.value in values[act.act_type][slot.name] for slot in act.slots)


def test_verdicts_stay_with_their_sentences(
    run_benchmark: Callable[..., str], random_run: Path, tmp_path: Path
) -> None:
    file = tmp_path / "reading.md"

    def written() -> list[list[str]]:
        run_benchmark(reading, random_run, "--away", "6", "--subsets", "2", "--verdicts", file)
        return read(file)

    rows = written()
    assert len(rows) == 8 and {(row[4], row[5]) for row in rows} == {("", "?")}
    text = file.read_text(encoding="utf-8").splitlines()
    judged = [line.replace("| ? |", "| ok |") if rows[0][1] in line else line for line in text]
    judged = [line.replace("| ? |", "| grammar: no verb |") if rows[1][1] in line else line for line in judged]
    file.write_text("\n".join([*judged, ""]).replace(rows[2][2], "Another one."), encoding="utf-8")
    again = written()
    assert [row[:4] for row in again] == [row[:4] for row in rows]
    assert [row[5] for row in again[:3]] == ["ok", "grammar: no verb", "?"]
    line = next(line for line in count(again).splitlines() if line.startswith("| trails, one slot away"))
    assert line.split(" | ")[1:6] == ["6", "1 (16.7%)", "0 (0.0%)", "1 (16.7%)", "4"]


def test_what_doubts_are_worth(tmp_path: Path) -> None:
    file = tmp_path / "reading.md"
    verdicts = {"0": ["ok", "ok", "grammar: no verb"], "1": ["?"], "2": ["fragment"], "3": ["act"], "14": ["ok"]}
    rows = [f"yes | {doubts} | {verdict}" for doubts, each in verdicts.items() for verdict in each]
    lines = [f"| trails, subset | `goodbye()` | Bye {number}. | {row} |" for number, row in enumerate(rows)]
    file.write_text("\n".join(["| acts | act | sentence | slots_ok | doubts | verdict |", *lines]), encoding="utf-8")
    assert len(read(file)) == 7
    assert by_doubts(read(file)).splitlines()[2:] == [
        "| 0 | 3 | 2 (66.7%) |",
        "| 1 | 0 | 0 |",
        "| 2 | 1 | 0 (0.0%) |",
        "| 3 or more | 2 | 1 (50.0%) |",
    ]


def test_verdicts_of_two_readings_are_compared(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    rows = {
        old: [("Bye.", "ok"), ("Hi.", "ok"), ("One.", "fragment: one"), ("So.", "act: so")],
        new: [("Bye.", "ok"), ("Hi.", "extra: hi"), ("It is one.", "ok"), ("So what.", "act: so")],
    }
    for folder, own in rows.items():
        folder.mkdir()
        lines = [f"| trails, subset | `bye()` | {text} | yes | 0 | {verdict} |" for text, verdict in own]
        (folder / "reading.md").write_text("\n".join(lines), encoding="utf-8")
    shares = [line.split(" | ")[1:] for line in compared(old, new).splitlines()[2:]]
    assert shares == [["2", "2 (100.0%)", "1 (50.0%)", "1 (50.0%) |"], ["2", "0 (0.0%)", "1 (50.0%)", "1 (50.0%) |"]]
    assert compared(old / "reading.md", new / "reading.md") == compared(old, new)
    # A fragment is one whatever is said about it.
    assert count(read(old / "reading.md")).splitlines()[2].split(" | ")[1:5] == [
        "4",
        "2 (50.0%)",
        "1 (25.0%)",
        "1 (25.0%)",
    ]


def test_a_reference_stands_beside_the_sentence_of_the_run_for_the_same_act(poor_run: Callable[[str], Path]) -> None:
    references: dict[str, set[str]] = {}
    for turn, sentence in load_corpus("trails").pairs("test"):
        references.setdefault(f"`{turn}`", set()).add(sentence)
    rows = list(beside_people(poor_run("sclstm"), 12, 1))
    people, own = rows[:12], rows[12:]
    assert {row[0] for row in people} == {"trails, by people"} and len({row[1] for row in people}) == 12
    assert [row[1] for row in people] == [row[1] for row in own]
    # Taking values out and putting them back changes nothing; all references of the corpus say their acts.
    assert all(row[2] in references[row[1]] and row[3] == "yes" for row in people)
    assert {row[0] for row in own} == {"trails, same acts by the run"}
