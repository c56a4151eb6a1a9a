"""Task self-play: simulated users read sentences, so faults cost success; conversations are distinct and seeded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path

import pytest
from helpers import dactnlg
from scipy.stats import binom

from dactnlg.acts import Turn, parse
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_corpus
from dactnlg.dialogue.conversations import Conversation, Utterance, read_conversations, write_conversations
from dactnlg.dialogue.task import selfplay as task_selfplay
from dactnlg.dialogue.task.corruption import Corruption
from dactnlg.dialogue.task.goals import FEWEST_TURNS, achieved, draw_goals, flawless
from dactnlg.dialogue.task.play import play
from dactnlg.dialogue.task.policy import Policy
from dactnlg.dialogue.task.reading import Listener, Reading, corpus_listener
from dactnlg.dialogue.task.result import conversations_needed, paired, task_scores
from dactnlg.dialogue.task.schema import Schema, read_schema
from dactnlg.dialogue.task.user import AgendaUser, UserGoal
from dactnlg.errors import CorpusError, UserError
from dactnlg.generation.options import GenerationOptions


@dataclass(frozen=True)
class Printed:
    text: str


class Printer:
    """A generator whose sentences are acts in their notation."""

    calls = 0

    def generate(self, acts: Sequence[Turn]) -> list[Printed]:
        self.calls += 1
        return [Printed(str(act)) for act in acts]


class ActReader:
    """Reads acts in their notation: a missing slot is not heard, and another value is heard as it is."""

    name = "acts"

    def read(self, turn: Turn, sentence: str) -> Reading:
        heard, slots = parse(sentence), [slot for _, slot in turn.slots()]
        said = [slot for _, slot in heard.slots()]
        return Reading(heard, len(slots), sum(slot not in said for slot in slots))


@cache
def trails() -> Schema:
    return read_schema(load_corpus("trails"))


@cache
def listener() -> Listener:
    return corpus_listener(load_corpus("trails"), progress=False)


def won(conversations: Sequence[Conversation]) -> int:
    return sum(bool(conversation.more["success"]) for conversation in conversations)


def test_the_schema_is_read_from_the_acts() -> None:
    schema = trails()
    entity = schema.entity("Red Kite Ridge")
    assert entity is not None
    # These are the values in the table that the corpus was built from.
    expected = {"region": "Northern Fells", "near": "Lake Orrin", "length": "7 km", "difficulty": "easy"}
    assert {slot: entity.values[slot] for slot in expected} == expected
    assert entity.values["dogsallowed"] == "yes"
    assert len(schema.entities) == 50
    assert "phone" not in schema.informable and "count" not in schema.informable
    assert schema.roles["request"] == "?request"


def test_acts_about_two_entities_give_no_values_to_an_entity(tmp_path: Path) -> None:
    known = (("Ash", "sea", 1), ("Birch", "sea", 2), ("Cork", "hill", 3))
    acts = [f"inform(name={name};view={view};length={length})" for name, view, length in known]
    acts += ["?request(view)", "?confirm(view=sea)", *["inform(name=Ash;name=Birch;length=9)"] * 3]
    for split in ("train", "valid", "test"):
        lines = [json.dumps({"act": act, "references": ["It is."]}) for act in acts]
        (tmp_path / f"{split}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    found = read_schema(load_corpus(str(tmp_path))).entities
    assert [(each.name, each.values["view"], each.values["length"]) for each in found] == [
        (name, view, str(length)) for name, view, length in known
    ]


@pytest.mark.parametrize("name", ["restaurants", "hotel", "laptop", "dstc2", "cs_restaurants"])
def test_other_corpora_can_be_played(name: str, data_dir: Path) -> None:
    schema = read_schema(load_corpus(name, data_dir))
    goals = draw_goals(schema, 50, 10, 1)
    assert won(play(Printer(), schema, goals, ActReader(), progress=False)) == 50


@pytest.mark.parametrize(
    ("name", "why"),
    [("e2e", "no act type that asks the user"), ("viggo", "no request about"), ("tv", "no \\?request about")],
)
def test_corpora_that_cannot_be_played_are_refused(name: str, why: str, data_dir: Path) -> None:
    with pytest.raises(CorpusError, match=f"corpus '{name}' cannot be played: it has {why}"):
        read_schema(load_corpus(name, data_dir))


def test_the_shortest_conversations_have_the_fewest_turns(data_dir: Path) -> None:
    for name in ("trails", "restaurants", "dstc2"):
        schema = read_schema(load_corpus(name, data_dir))
        assert {flawless(schema, goal, 40) for goal in draw_goals(schema, 5, FEWEST_TURNS, 1)} == {FEWEST_TURNS}
    with pytest.raises(UserError, match="at least 5 turns, those of both together; not 4"):
        draw_goals(trails(), 1, FEWEST_TURNS - 1, 1)


def test_goals_are_different_and_reproducible() -> None:
    goals = draw_goals(trails(), 200, 10, 3)
    assert len({goal.key for goal in goals}) == 200
    assert draw_goals(trails(), 200, 10, 3) == goals
    assert draw_goals(trails(), 40, 10, 3) == goals[:40]
    assert draw_goals(trails(), 40, 10, 4) != goals[:40]
    assert any(goal.first != goal.constraints for goal in goals)
    for goal in goals:
        assert trails().matches(dict(goal.constraints))
        assert goal.first == goal.constraints or not trails().matches(dict(goal.first))


def test_more_goals_than_there_are_is_refused() -> None:
    only = trails().entities[0]
    few = replace(only, values={slot: only.values[slot] for slot in ("region", "length", "near")})
    small = replace(trails(), entities=(few,))
    with pytest.raises(UserError, match="different goals that take about 10 turns, not 20"):
        draw_goals(small, 20, 10, 1)


def test_a_faithful_generator_always_succeeds() -> None:
    goals = draw_goals(trails(), 100, 10, 1)
    printer = Printer()
    said = play(printer, trails(), goals, ActReader(), progress=False)
    assert won(said) == 100
    assert printer.calls == 5
    for goal, conversation in zip(goals, said, strict=True):
        assert len(conversation.turns) == flawless(trails(), goal, 10) + 1
        assert [turn.speaker for turn in conversation.turns] == ["user", "bot"] * (len(conversation.turns) // 2)
    assert len({tuple(turn.text for turn in conversation.turns) for conversation in said}) == 100


def test_a_dropped_slot_costs_turns_and_a_swapped_value_success() -> None:
    goals = draw_goals(trails(), 100, 30, 1)
    best, dropped, swapped = (
        play(Printer(), trails(), goals, ActReader(), 30, corruption=c, progress=False)
        for c in (None, Corruption("drop", 0.2), Corruption("swap", 0.2))
    )
    assert won(best) == 100
    assert won(dropped) >= 98
    assert task_scores(dropped).turns > task_scores(best).turns + 1
    assert won(swapped) < 75
    # A failed conversation has a turn with a corrupted act.
    for conversation in swapped:
        assert conversation.more["success"] or any("told" in turn.more for turn in conversation.turns)


def test_corruption_is_nested_and_of_the_share_asked_for() -> None:
    turn = parse("inform(name='Red Kite';length='4 km';dogsallowed=yes)")
    changed = {
        share: {n for n in range(2000) if Corruption("swap", share).told(turn, trails(), n, 1) != turn}
        for share in (0.0, 0.05, 0.1, 0.2)
    }
    assert not changed[0.0]
    assert changed[0.05] < changed[0.1] < changed[0.2]
    for share, places in changed.items():
        assert binom.cdf(len(places), 2000, share) > 0.001 and binom.sf(len(places) - 1, 2000, share) > 0.001
    dropped = {str(Corruption("drop", 1.0).told(turn, trails(), n, 1)) for n in range(50)}
    assert dropped == {"inform(name='Red Kite';dogsallowed=yes)", "inform(name='Red Kite';length='4 km')"}
    assert Corruption("drop", 1.0).told(parse("?request(view)"), trails(), 1, 1) == parse("?request(view)")


@pytest.mark.parametrize(("fault", "share"), [("delete", 0.1), ("drop", 1.5), ("swap", -0.1)])
def test_unknown_faults_and_shares_are_refused(fault: str, share: float) -> None:
    with pytest.raises(UserError, match=r"unknown fault|share"):
        Corruption(fault, share)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("act", "sentence", "heard"),
    [
        ("inform(name='Red Kite';length='4 km')", "Red Kite is 4 km long.", "inform(name='Red Kite';length='4 km')"),
        ("inform(name='Red Kite';length='4 km')", "Red Kite is nice.", "inform(name='Red Kite')"),
        ("inform(name='Red Kite';length='4 km')", "Red Kite is 5 km long.", "inform(name='Red Kite';length='5 km')"),
        (
            "inform(name='Red Kite';dogsallowed=yes)",
            "No dogs are allowed on Red Kite.",
            "inform(name='Red Kite';dogsallowed=no)",
        ),
        ("inform(name='Red Kite';length='4 km')", "Hello.", None),
        ("goodbye()", "Have a safe trip. Bye!", "goodbye()"),
    ],
)
def test_a_user_hears_what_the_sentence_says(act: str, sentence: str, heard: str | None) -> None:
    reading = listener().read(parse(act), sentence)
    assert (str(reading.heard) if reading.heard else None) == heard
    assert (reading.errors == 0) == (heard == act)


@pytest.mark.parametrize("sentence", ["Banana.", "Do you have you with?"])
def test_an_unsaid_choice_is_not_heard(sentence: str) -> None:
    assert listener().read(parse("?select(toilets=no;toilets=yes)"), sentence).heard is None


@pytest.mark.parametrize("act", ["inform_no_match(type=laptop;driverange=small)", "?request(driverange)"])
def test_nothing_is_heard_from_nothing(act: str, data_dir: Path) -> None:
    # Laptops need not be called laptops, and this question cannot be checked.
    reading = corpus_listener(load_corpus("laptop", data_dir), progress=False).read(parse(act), "")
    assert reading.heard is None and reading.errors


def test_a_question_read_as_another_act_is_an_error() -> None:
    assert listener().read(parse("?request(region)"), "Which region would you like?").errors == 0
    assert listener().read(parse("?request(region)"), "Banana.").errors == 1


def test_the_policy_offers_only_choices_that_the_corpus_has() -> None:
    assert "region" in trails().choices and not trails().choices & {"toilets", "dogsallowed", "stroller"}
    said = [turn.more.get("act", "") for each in play(Printer(), trails(), draw_goals(trails(), 100, 10, 1),
            ActReader(), progress=False) for turn in each.turns]  # fmt: skip
    asked = [act for act in map(str, said) if act.startswith("?select")]
    assert asked and not [act for act in asked if "=yes" in act]


def answer(user: AgendaUser, *heard: str) -> list[str]:
    said = [str(user.speak())]
    for act in heard:
        user.listen(parse(act) if act else None)
        said.append(str(user.speak()))
    return said


def test_the_agenda_of_a_user() -> None:
    goal = UserGoal({"region": "south", "toilets": "yes"}, {"region": "south", "toilets": "yes"}, ("length",))
    user = AgendaUser(goal, trails())
    assert answer(
        user,
        "?request(season)",
        "",
        "?confirm(region=north)",
        "inform(length='4 km')",
        "recommend(name='Path 44';region=south;toilets=no)",
        "recommend(name='Kingfisher Mile';region=south)",
        "inform(name='Kingfisher Mile';toilets=yes)",
        "inform(name='Kingfisher Mile';length='1.5 km')",
    ) == [
        "inform(region=south)",
        "inform(season=dontcare)",
        "inform(season=dontcare)",  # not understood: repeated
        "negate()&inform(region=south)",
        "inform(toilets=yes)",  # constraints come before questions
        "inform(toilets=yes)",  # the offer violates it
        "request(toilets)",  # unknown for this offer
        "request(length)",
        "bye()",
    ]
    assert achieved(trails(), user) is (trails().entity("Kingfisher Mile").values["length"] == "1.5 km")  # type: ignore[union-attr]


def test_a_wish_without_a_match_is_given_up() -> None:
    goal = UserGoal({"region": "south"}, {"region": "Haute Combe"}, ("length",))
    user, policy = AgendaUser(goal, trails()), Policy(trails())
    assert answer(user, "inform_no_match(region='Haute Combe')") == [
        "inform(region='Haute Combe')",
        "inform(region=south)",
    ]
    policy.reply(parse("inform(region='Haute Combe')"))
    assert str(policy.reply(parse("inform(region=south)"))) == "?confirm(region=south)"


def test_the_policy_answers_what_it_is_asked() -> None:
    policy = Policy(trails())
    assert str(policy.reply(parse("inform(region=Atlantis)"))) == "inform_no_match(region=Atlantis)"
    policy = Policy(trails())
    offer = policy.reply(parse("inform(region=south;difficulty=easy;view='the river')"))
    assert offer.acts[0].act_type in ("recommend", "inform_only_match")
    assert policy.offered is not None
    reply = policy.reply(parse("request(length)"))
    assert str(reply) == str(parse(f"inform(name='{policy.offered.name}';length='{policy.offered.values['length']}')"))
    assert str(policy.reply(parse("bye()"))) == "goodbye()"


def test_a_wish_that_is_denied_is_asked_for_again() -> None:
    policy = Policy(trails())
    policy.reply(parse("inform(region=north)"))
    # Changed twice, and asked about once.
    assert str(policy.reply(parse("inform(region=east)&inform(region=south)"))) == "?confirm(region=south)"
    assert str(policy.reply(parse("negate()"))) == "?request(region)"
    assert policy.reply(parse("null()")).acts[0].act_type != "?confirm"
    assert policy.wishes == {}
    # What answers no confirmation denies no wish.
    policy.reply(parse("inform(region=east)"))
    policy.reply(parse("negate()"))
    assert policy.wishes == {"region": "east"}


def test_scores_have_wilson_intervals_and_pairs_mcnemars_test() -> None:
    def conversations(outcomes: str) -> list[Conversation]:
        return [
            Conversation((), more={"success": o == "+", "slots": 4, "slot_errors": 1, "goal": n})
            for n, o in enumerate(outcomes)
        ]

    scores = task_scores(conversations("+" * 81 + "-" * 182))
    # Newcombe 1998, "Two-sided confidence intervals for the single proportion", Table I: 81 of 263.
    assert scores.interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert scores.slot_error_rate == 0.25
    found = paired(conversations("+" * 10 + "-" * 3), conversations("-" * 8 + "+" * 5))
    # 2 * (C(11,0) + ... + C(11,3)) / 2^11
    assert (found.lost, found.won, found.p_value) == (8, 3, pytest.approx(2 * (1 + 11 + 55 + 165) / 2048))
    with pytest.raises(UserError, match="no conversations"):
        task_scores([])
    # Six pairs in one direction are the fewest that McNemar's test calls significant.
    assert conversations_needed(0.06) == 100
    assert conversations_needed(0.05, 0.05) is None


def test_conversations_are_written_and_read(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    talk = [Conversation((Utterance("user", "Hé \u2028?"), Utterance("bot", "", {"act": "bye()"})), "b", {"score": 3})]
    write_conversations(file, talk)
    assert read_conversations(file) == talk
    for line in (
        "[1]",
        '{"turns": 3}',
        '{"turns": [{"speaker": "cat", "text": "x"}]}',
        '{"turns": [{"speaker": "bot"}]}',
        "{",
    ):
        file.write_text(json.dumps(talk[0].to_json()) + "\n" + line + "\n")
        with pytest.raises(UserError, match="line 2: no conversation"):
            read_conversations(file)
    file.write_text('{"turns": [], "bot": null}\n')
    assert read_conversations(file) == [Conversation(())]
    file.write_bytes(b'{"turns": [], "bot": "\xe9"}\n')
    with pytest.raises(UserError, match="line 1: not UTF-8"):
        read_conversations(file)


def test_runs_with_other_goals_are_not_compared(
    random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [tmp_path / name for name in ("one", "same", "other")]
    for run in runs:
        shutil.copytree(random_run, run)
    config = runs[2] / "config.yaml"
    config.write_text(config.read_text(encoding="utf-8").replace("data_dir: null", f"data_dir: {tmp_path}"))
    seeds = count(1)
    monkeypatch.setattr(task_selfplay, "draw_goals", lambda s, c, t, _seed: draw_goals(s, c, t, next(seeds)))
    one, same, other = task_selfplay.self_play(runs, conversations=3)
    assert (one.difference, other.difference) == (None, None)
    assert same.difference is not None
    assert one.signature["goals"] != other.signature["goals"]


def test_a_user_who_asks_again_hears_another_sample(neural_run: Path) -> None:
    options = GenerationOptions(temperature=2.0, constraint="none")
    (found,) = task_selfplay.self_play([neural_run], conversations=25, turns=20, options=options)
    said: dict[tuple[int, str], list[str]] = {}
    for number, talk in enumerate(found.conversations):
        for turn in talk.turns[1::2]:
            said.setdefault((number, turn.more["act"]), []).append(turn.text)
    again = [len(set(texts)) for texts in said.values() if len(texts) > 1]
    assert len(again) > 10
    assert sum(count > 1 for count in again) > 0.9 * len(again)


def test_the_command_of_task_play_is_reproducible(
    neural_run: Path, random_run: Path, tmp_path: Path, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["selfplay", str(neural_run), str(random_run), "--conversations", "25", "--seed", "5", "--format", "csv"]
    assert main([*words, "--output", str(tmp_path / "a")]) == 0
    printed = capsys.readouterr().out
    header, first, second = printed.strip().splitlines()
    assert header.startswith("run,corpus,conversations,success")
    assert first.startswith(f"{neural_run.name},trails,25,") and "p = " in second
    data = json.loads((tmp_path / "a" / "selfplay.json").read_text())
    assert data[neural_run.name]["hash"] == data[random_run.name]["hash"]
    talks = read_conversations(tmp_path / "a" / f"{neural_run.name}.jsonl")
    assert [talk.bot for talk in talks] == [neural_run.name] * 25
    assert won(talks) / 25 == data[neural_run.name]["success"]["value"]
    # The same seed gives the same bytes, also in another process, which hashes strings differently.
    done = dactnlg(repository, *words, "--output", tmp_path / "b")
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
    for name in ("selfplay.json", f"{neural_run.name}.jsonl", f"{random_run.name}.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert main([*words, "--output", str(tmp_path / "a")]) == 2
    assert "holds another self-play" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["no-run", "--output", "x"], "no-run"),
        (["--output", "x"], "RUN"),
        (["r", "--output", "x", "--turns", "2"], "4<=x"),
        (["r", "--output", "x", "--n-best", "2"], "No such option"),
    ],
)
def test_mistakes_of_the_command_are_reported(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["selfplay", *arguments]) == 2
    assert told in capsys.readouterr().err
