"""Open self-play: empty beginnings, the last five turns as context, distinct conversations, seeds, components."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t as student

from dactnlg.cli.main import main
from dactnlg.dialogue import talkers
from dactnlg.dialogue.components.summary import component_means
from dactnlg.dialogue.components.table import ComponentTable, EngagementMaker
from dactnlg.dialogue.conversations import Conversation, Utterance, read_conversations
from dactnlg.dialogue.open_play import open_self_play, talk_alone
from dactnlg.errors import UserError

WORDS = ("ha", "what now?", "I see.", "no")


class Dice:
    """Draws each answer from a few words by the seed and the history, and records the histories."""

    def __init__(self, words: Sequence[str] = WORDS) -> None:
        self.words = words
        self.asked: list[list[list[str]]] = []

    def reply(self, histories: Sequence[Sequence[str]], *, seeds: Sequence[int] | None = None) -> list[str]:
        assert seeds is not None
        self.asked.append([list(each) for each in histories])
        found = []
        for seed, history in zip(seeds, histories, strict=True):
            key = [seed, *map(ord, "".join(history))]
            found.append(self.words[int(np.random.default_rng(key).integers(len(self.words)))])
        return found


def texts(talks: Sequence[Conversation]) -> list[list[str]]:
    return [talk.texts("bot") for talk in talks]


def test_open_play_begins_with_no_history_and_passes_the_last_five_turns() -> None:
    dice = Dice()
    talks = talk_alone(dice, 7, 9, seed=3, progress=False)
    assert dice.asked[0] == [[]] * 7
    for turn in range(9):
        assert dice.asked[turn] == [each[max(turn - 5, 0) : turn] for each in texts(talks)]
    assert {len(talk.turns) for talk in talks} == {9}
    assert {turn.speaker for talk in talks for turn in talk.turns} == {"bot"}


def test_open_conversations_are_distinct_and_depend_on_the_seed() -> None:
    first, again, other = (talk_alone(Dice(), 100, 4, seed=seed, progress=False) for seed in (1, 1, 2))
    assert texts(first) == texts(again) != texts(other)
    for talks in (first, other):
        assert len({tuple(each) for each in texts(talks)}) == 100


def test_repeated_conversations_are_drawn_again() -> None:
    # There are 16 possible ones; all are found, although most draws repeat one.
    talks = talk_alone(Dice(), 16, 2, seed=1, progress=False)
    assert {tuple(each) for each in texts(talks)} == {(a, b) for a in WORDS for b in WORDS}
    with pytest.raises(UserError, match="16 different conversations with itself, not 17"):
        talk_alone(Dice(), 17, 2, seed=1, progress=False)
    with pytest.raises(UserError, match="1 different conversations"):
        talk_alone(Dice(["always"]), 2, 10, progress=False)


def test_means_have_student_intervals() -> None:
    chance = np.random.default_rng(1)
    values = chance.normal(size=(30, 3))
    values[:4, 1] = np.nan
    values[:, 2] = np.nan
    found = component_means(ComponentTable(("a", "b", "c"), values, {}))
    for at, column in enumerate((values[:, 0], values[4:, 1])):
        low, high = student.interval(0.95, len(column) - 1, column.mean(), column.std(ddof=1) / np.sqrt(len(column)))
        assert found.to_json()["ab"[at]]["interval"] == pytest.approx([low, high])
        assert found.counts[at] == len(column)
    assert found.to_json()["c"] == {"value": None, "interval": None, "conversations": 0}
    assert (found.cell("c"), found.cell("a").count("±")) == ("-", 1)


def test_engagement_components_need_no_teacher() -> None:
    talk = Conversation((Utterance("bot", "Ha, what now?"), Utterance("bot", "no ha ha")), "x")
    table = EngagementMaker().table([talk])
    assert dict(zip(table.names, table.values[0].tolist(), strict=True)) == {
        f"{name} {side}": value
        for side in ("-U", "-B")
        for name, value in (("laughter", 1.5), ("question score", 0.5), ("words", 3.0))
    }
    (played,) = open_self_play({"x": Dice()}, EngagementMaker(), 5, 4, seed=2)
    assert [talk.bot for talk in played.conversations] == ["x"] * 5
    assert played.to_json()["signature"]["history"] == 5


def test_the_command_of_open_play(
    random_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "talks"
    words = ["selfplay", str(random_run), "--open", "--output", str(output), "--conversations", "20", "--seed", "4"]
    # A generator of acts cannot talk with itself.
    assert main(words) == 2
    assert "has nothing to say to itself" in capsys.readouterr().err
    assert not output.exists()
    monkeypatch.setattr(talkers, "load_dialogue", lambda _run: Dice())
    assert main(words) == 0
    table = capsys.readouterr().out
    assert "laughter -B" in table and "-U" not in table
    talks = read_conversations(output / f"{random_run.name}.jsonl")
    assert len({tuple(talk.texts("bot")) for talk in talks}) == 20
    summary = json.loads((output / "selfplay.json").read_text(encoding="utf-8"))[random_run.name]
    mean = float(np.mean([len(text.split()) for talk in talks for text in talk.texts("bot")]))
    assert summary["components"]["words -B"]["value"] == pytest.approx(mean)
    assert main(words) == 2
    assert main(["selfplay", str(random_run), "--output", str(tmp_path / "x"), "--vectors", "glove.txt"]) == 2
    assert main([*words[:4], str(tmp_path / "y"), "--vectors", "glove.txt"]) == 2
    assert main([*words[:4], str(tmp_path / "y"), "--beam-width", "3"]) == 2
    assert "do not go with --open" in capsys.readouterr().err


def test_the_table_of_all_components(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dactnlg.dialogue.components import shipped
    from dactnlg.dialogue.components.table import NAMES

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lines = (data_dir / "dialogues/dailydialog-test.jsonl").read_text(encoding="utf-8").splitlines()[:25]
    emotions, vectors = tmp_path / "emotions.jsonl", tmp_path / "vectors.txt"
    emotions.write_text("\n".join(lines), encoding="utf-8")
    vectors.write_text("ha 1 0\nwhat 0 1\nnow 1 1\nsee 1 0.5\nno 0 1\n", encoding="utf-8")
    maker = shipped.shipped_maker(emotions, vectors)
    (played,) = open_self_play({"x": Dice()}, maker, 10, 5)
    assert played.components.names == NAMES
    assert not np.isnan(played.components.means).any()
    again = maker.table(played.conversations)
    assert played.components.means == pytest.approx(np.nanmean(again.values, axis=0))
    for bad in ((emotions, None), (None, vectors)):
        with pytest.raises(UserError, match="both --emotions and --vectors"):
            shipped.shipped_maker(*bad)
