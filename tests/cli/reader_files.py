"""What the commands of README and the guides read: texts, tables, corpora, and a study of chats that took place."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from documented import REPOSITORY, here
from helpers import write_part_of_trails

from benchmarks.own_corpora import flights, write
from dactnlg._utils.web.tokens import digest
from dactnlg.data.teacher_arrays import TeacherArrays
from dactnlg.serving.chat.storage import ChatStorage
from dactnlg.serving.chat.study import ChatStudy


def write_files(folder: Path) -> None:
    """Write all of them but the chats."""
    write_texts(folder)
    write_bots(folder)
    write_dialogues(folder)


def write_texts(folder: Path) -> None:
    """Write pairs, texts, tables and scores, and the corpus `mine` with its configuration."""
    pair = {"hypothesis": "a b c", "references": ["a b c"], "act": "goodbye()"}
    (folder / "pairs.jsonl").write_text(json.dumps(pair), encoding="utf-8")
    for name in ("out.txt", "ref.txt", "ref0.txt", "ref1.txt"):
        (folder / name).write_text("a b c d\n", encoding="utf-8")
    other = {
        "other.txt": "a b c\n",
        "said.jsonl": '{"act": "goodbye()", "text": "a b c d"}\n',
        "groups.txt": "a b c d\na b\n\n",
        "testset.csv": "mr,ref\nname[a],a b c d\nname[a],a b\n",
        "outputs.tsv": "mr\toutput\tref1\tref2\ninform(name=a)\ta b c d\ta b c d\ta b\n",
        "submission.json": '{"submission_name": "x", "tasks": {"food_test": {"values": ["a b c d"]}}}',
        "gem-references.json": '{"task": "food_test", "values": [{"target": ["a b c d"]}]}',
    }
    for name, text in other.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "train.txt").write_text("a b c\n", encoding="utf-8")
    (folder / "glove.6B.300d.txt").write_text("a 1 0\nb 0 1\n", encoding="utf-8")
    (folder / "acts.txt").write_text("goodbye()\n?request(region)\n", encoding="utf-8")
    for name in ("old.json", "new.json", "first.json", "second.json"):
        here(f"dactnlg score --input pairs.jsonl --json {name}", folder)
    write_part_of_trails(folder / "mine")
    (folder / "mine.yaml").write_text("corpus: {name: mine}\nmodel: {name: sclstm}\n", encoding="utf-8")
    write(folder)
    rows = ["meaning\tsentence", *(f"{act}\t{text}" for act, text in flights() if '"' not in text)]
    (folder / "bookings.tsv").write_text("\n".join(rows), encoding="utf-8")


def write_bots(folder: Path) -> None:
    """Write what the guide to frameworks imports and distils."""
    shutil.copy(REPOSITORY / "tests/serving/shop_domain.yml", folder / "domain.yml")
    for name in ("locale/en-us/dialog", "responses/en"):
        (folder / name).mkdir(parents=True)
    (folder / "locale/en-us/dialog/weather.dialog").write_text("(Now|Today) it is {degrees} in {city}[, I think].\n")
    intents = {
        "HassTurnOn": {"default": "Turned on {{ slots.name }}"},
        "HassGetState": {"one": "It is {{ state.state }}"},
    }
    text = json.dumps({"language": "en", "responses": {"intents": intents}})
    (folder / "responses/en/Hass.yaml").write_text(text, encoding="utf-8")
    answer = {"id": "1", "act": "goodbye()", "answer": "Goodbye!\nSee you."}
    (folder / "answers.jsonl").write_text(json.dumps(answer), encoding="utf-8")
    (folder / "prompts.jsonl").write_text('{"id": "1", "act": "goodbye()"}', encoding="utf-8")
    shutil.copy(folder / "mine/valid.jsonl", folder / "paraphrases.jsonl")


def write_dialogues(folder: Path) -> None:
    """Write dialogues where a command finds DailyDialog, and what a teacher says of them."""
    (folder / "cache/dactnlg/dialogues").mkdir(parents=True, exist_ok=True)
    turns = ["How are you?", "Fine, thanks.", "And you?"]
    labels = {"acts": [["question"], ["inform"], ["question"]], "emotions": ["no emotion", "happiness", "no emotion"]}
    line = json.dumps({"id": "1", "turns": turns, **labels}) + "\n"
    emotions, vectors = np.eye(len(turns), 7, dtype=np.float32), np.ones((len(turns), 384), np.float32)
    TeacherArrays("teacher", turns, emotions, vectors).save(folder / "teacher.npz")
    for split in ("train", "valid", "test"):
        path = folder / f"cache/dactnlg/dialogues/dailydialog-{split}.jsonl"
        path.write_text(4 * line, encoding="utf-8")


def chat_and_rate(folder: Path) -> None:
    """Have everybody in a study of chats chat, vote and rate."""
    study = ChatStudy.load(folder)
    storage = ChatStorage.open(folder, study)
    storage.set_links({rater: digest(rater) for rater in study.place_of})
    for rater in study.place_of:
        storage.consent(rater)
        for chat in (1, 2):
            storage.begin(rater, chat)
            for turn in range(3):
                storage.say(rater, chat, f"message-{turn}", "Hello")
                storage.answer(rater, chat, 2 * turn + 1, "Hi there")
            storage.vote(rater, chat, "my-only-vote", 1, 1)
            storage.rate(rater, chat, {each.name: 1.0 + (chat + len(each.name)) % 7 for each in study.criteria})
    storage.close()
