"""Typed text read as acts, and a task talker that answers any history from scratch."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from dactnlg.acts import Turn, parse
from dactnlg.data.corpus import load_corpus
from dactnlg.dialogue.talkers import TaskTalker, check_talker, load_talkers
from dactnlg.dialogue.task.goals import achieved, draw_goals
from dactnlg.dialogue.task.reading import corpus_listener
from dactnlg.dialogue.task.schema import Schema, read_schema
from dactnlg.dialogue.task.understanding import Understanding
from dactnlg.dialogue.task.user import AgendaUser
from dactnlg.dialogue.task.wording import user_text
from dactnlg.errors import CorpusError


@pytest.fixture(scope="module")
def schema() -> Schema:
    return read_schema(load_corpus("trails"))


@pytest.fixture(scope="module")
def understanding(schema: Schema) -> Understanding:
    return Understanding(schema, corpus_listener(load_corpus("trails")).checker)


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Hi!", "null()"),
        ("", "null()"),
        ("I'm looking for an easy walk in the north.", "inform(difficulty=easy)&inform(region=north)"),
        # The longest value wins, and words of a name are no value.
        ("easy to moderate, please", "inform(difficulty='easy to moderate')"),
        ("in the Upper Marl Valley", "inform(region='Upper Marl Valley')"),
        ("Tell me about Easy Street", "null()"),
        ("a walk of three hours", "inform(duration='3 hours')"),
        ("Something fine for strollers", "inform(stroller=yes)"),
        ("no dogs please", "inform(dogsallowed=no)"),
        ("I want to bring my dog", "inform(dogsallowed=yes)"),
        ("Is there a walk with toilets?", "inform(toilets=yes)"),
        ("any season", "inform(season=dontcare)"),
        ("The region does not matter", "inform(region=dontcare)"),
        ("What's the phone number?", "request(phone)"),
        ("which region is it in?", "request(region)"),
        ("and how difficult is it?", "request(difficulty)"),
        ("What is it called?", "request(name)"),
        ("Thanks, bye!", "bye()"),
        ("thank you", "bye()"),
        ("that's all", "bye()"),
        ("great, thanks", "bye()"),
        ("thank you so much!", "bye()"),
        ("The view does not matter. I want toilets: no.", "inform(view=dontcare)&inform(toilets=no)"),
        ("No dogs. Fine for strollers!", "inform(dogsallowed=no)&inform(stroller=yes)"),
        ("how long does it take?", "request(duration)&request(length)"),
        ("when can I go?", "request(season)"),
        ("how easy is it?", "request(difficulty)"),
        ("a season of good weather", "null()"),
        ("yes", "null()"),
        # A negated value is no wish.
        ("not an easy walk", "null()"),
        ("no easy walks", "null()"),
        ("I don’t want an easy walk. A strenuous one", "inform(difficulty=strenuous)"),
        ("not easy or moderate", "null()"),
        ("I don't want to go north but south", "inform(region=south)"),
        ("not an easy walk in the north", "inform(region=north)"),
        ("strenuous, not easy", "inform(difficulty=strenuous)"),
        ("easy. No, strenuous", "inform(difficulty=strenuous)"),
        ("no dogs on an easy walk", "inform(dogsallowed=no)&inform(difficulty=easy)"),
        ("Don't you have an easy walk?", "inform(difficulty=easy)"),
        ("not far from Lake Orrin", "inform(near='Lake Orrin')"),
        ("no more than 3 hours", "inform(duration='3 hours')"),
        # "Any" may ask for a feature, negate it, or leave it open.
        ("Is there any walk with toilets?", "inform(toilets=yes)"),
        ("a walk without any dogs", "inform(dogsallowed=no)"),
        ("I don't have any preference about the season", "inform(season=dontcare)"),
        ("any time of the season?", "inform(season=dontcare)"),
    ],
)  # fmt: skip
def test_typed_text_is_read_as_acts(understanding: Understanding, text: str, acts: str) -> None:
    assert sorted(map(str, understanding.read(text, None))) == sorted(map(str, parse(acts)))


@pytest.mark.parametrize(
    ("before", "text", "acts"),
    [
        ("?request(season)", "any", "inform(season=dontcare)"),
        ("?request(season)", "it doesn't matter", "inform(season=dontcare)"),
        ("?request(stroller)", "yes please", "inform(stroller=yes)"),
        ("?request(dogsallowed)", "No.", "inform(dogsallowed=no)"),
        ("?select(toilets=yes;toilets=no)", "I don't care", "inform(toilets=dontcare)"),
        ("?confirm(region=north)", "yes", "affirm()"),
        ("?confirm(region=north)", "no, the south", "inform(region=south)"),
        ("?reqmore()", "no", "bye()"),
        ("?confirm(region=north)", "ok bye", "bye()"),
        # After an offer these are questions about it; before, the same words are a wish.
        ("recommend(name='Red Kite')", "are there toilets?", "request(toilets)"),
        ("recommend(name='Red Kite')", "can I bring my dog?", "request(dogsallowed)"),
        ("recommend(name='Red Kite')", "Does it have any toilets?", "request(toilets)"),
        ("recommend(name='Red Kite')", "Is there any view?", "request(view)"),
        ("recommend(name='Red Kite')", "Any toilets?", "request(toilets)"),
        ("?request(season)", "any?", "inform(season=dontcare)"),
        ("?request(season)", "I don't have any particular preference", "inform(season=dontcare)"),
        ("inform_no_match(region=north;season=May)", "the season does not matter", "inform(season=dontcare)"),
        ("inform_no_match(region=north;season=May)", "whatever", "inform(season=dontcare)"),
    ],
)
def test_an_answer_is_read_with_the_question_before_it(
    understanding: Understanding, before: str, text: str, acts: str
) -> None:
    assert sorted(map(str, understanding.read(text, parse(before)))) == sorted(map(str, parse(acts)))


@pytest.mark.parametrize(
    "text", ["\x00" * 50, "?" * 500, "é" * 5_000, "inform(name=x)", "SLOT_NAME ￭?", "🥾" * 200, "=;,&'\"\\"]
)
def test_any_text_is_read_as_some_act(understanding: Understanding, text: str) -> None:
    for before in (None, parse("?request(season)"), parse("?confirm(region=north)")):
        assert understanding.read(text, before).acts


@pytest.mark.parametrize("name", ["trails", "restaurants"])
def test_simulated_users_are_understood_from_their_words(name: str, request: pytest.FixtureRequest) -> None:
    # The templates of self-play's user are plain English.
    corpus = load_corpus(name, None if name == "trails" else request.getfixturevalue("data_dir"))
    schema = read_schema(corpus)
    understanding = Understanding(schema, corpus_listener(corpus).checker)
    won, read, turns, goals = 0, 0, 0, draw_goals(schema, 40, turns=10, seed=3)
    for goal in goals:
        user, talker, history = AgendaUser(goal, schema), TaskTalker(Plain(), schema, understanding), list[str]()
        said = None
        for _ in range(10):
            acts = user.speak()
            history.append(user_text(acts))
            turns += 1
            read += sorted(map(str, understanding.read(history[-1], said))) == sorted(map(str, acts))
            if user.left:
                break
            said = talker.act(history)
            history.append("")
            user.listen(said)
        won += achieved(schema, user)
    assert won >= 39
    assert read >= 0.95 * turns


@dataclass
class Said:
    text: str


class Plain:
    """A generator whose sentences are acts in their notation."""

    def generate(self, acts: list[Turn], /) -> Sequence[Said]:
        return [Said(str(act)) for act in acts]


def test_the_same_history_has_the_same_answer(schema: Schema, understanding: Understanding) -> None:
    talker = TaskTalker(Plain(), schema, understanding)
    said = ["Hello", "something in the north", "easy", "what's the phone number?", "thanks, bye"]
    history: list[str] = []
    for text in said:
        history.append(text)
        (answer,) = talker.reply([history])
        history.append(answer)
    others = [["Hi"], history[:5], history[:-1]]
    # It depends neither on earlier answers nor on the other histories.
    assert talker.reply(others)[1:] == [history[5], history[-1]]
    assert talker.reply([]) == []
    assert history[-1] == "goodbye()"


def test_a_run_of_a_corpus_without_tasks_is_refused(random_run: Path, tmp_path: Path) -> None:
    check_talker(random_run)
    (talker,) = load_talkers({"random": random_run}).values()
    assert talker.reply([["Hello"]])[0]
    corpus, run = tmp_path / "mine", tmp_path / "run"
    corpus.mkdir()
    lines = '{"act": "inform(colour=red)", "references": ["It is red."]}\n'
    for split in ("train", "valid", "test"):
        (corpus / f"{split}.jsonl").write_text(lines, encoding="utf-8")
    shutil.copytree(random_run, run)
    config = (run / "config.yaml").read_text(encoding="utf-8")
    (run / "config.yaml").write_text(config.replace("name: trails", f"name: {corpus}"), encoding="utf-8")
    with pytest.raises(CorpusError, match="'mine' cannot be played"):
        check_talker(run)
    with pytest.raises(CorpusError, match="'mine' cannot be played"):
        load_talkers({"mine": run})
