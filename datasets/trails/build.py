"""Expand `patterns.yaml` into the trails corpus: `python datasets/trails/build.py [FOLDER]`.

Writes `train.jsonl`, `valid.jsonl` and `test.jsonl` beside this file (or into FOLDER), the same bytes every time.
Values come from the trail database; no act of valid or test occurs in train, and a few test acts combine slots as
no training act does.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import yaml
from wording import DESCRIPTION_ACTS, LISTS, Chance, Row, Shape, Wording, Wordings, fact_key, placeholders, shape

from dactnlg.acts import DialogueAct, Slot, Turn

HERE = Path(__file__).resolve().parent
SEED = 20171
ACTS = 1780
"""Different acts in all; what valid and test leave makes about 2,000 training pairs."""
HELD_OUT = 300
"""Acts in each of valid and test."""
UNSEEN = 22
"""Test acts whose combination of act types, slots and special values does not occur in train."""

FACTS: tuple[str, ...] = ("difficulty", "length", "region", "near", "view", "height", "duration", "season")
FACTS += ("dogsallowed", "stroller", "toilets", "phone")
COLUMNS: tuple[str, ...] = ("name", "region", "near", "length", "duration", "difficulty", "season", "view", "height")
COLUMNS += ("phone", "dogsallowed", "stroller", "toilets")
WISHES = ("difficulty", "region", "near", "view", "duration", "season", "dogsallowed", "stroller", "toilets")
ORDER = {slot: rank for rank, slot in enumerate(("count", "name", *FACTS))}
# act type: how often it is composed, the slots it draws on, how many of them, how many combinations.
PLANS: dict[str, tuple[int, tuple[str, ...], tuple[int, ...], int]] = {
    "inform": (26, FACTS, (2, 3, 3, 4, 4, 5), 44),
    "recommend": (13, FACTS[:-1], (1, 2, 2, 3, 3, 4), 28),
    "offer_alternative": (4, FACTS[:-1], (1, 2, 2, 3), 14),
    "compare": (5, FACTS[:-1], (1, 2, 2), 14),
    "inform_count": (6, WISHES, (1, 2, 2, 3), 22),
    "inform_no_match": (6, WISHES, (1, 2, 2, 3), 22),
    "?confirm": (6, WISHES, (1, 2, 2, 3), 22),
    "inform_only_match": (4, WISHES, (1, 2, 2, 3), 16),
}
WHOLE, TOGETHER = 48, 10
"""How often a whole-sentence pattern, and two acts together, are drawn."""
REFERENCES = {"train": (1, 1, 1, 1, 1, 1, 2, 2, 3, 4), "valid": (1, 2, 2, 3, 3, 4), "test": (1, 2, 2, 3, 3, 4)}

Entry = tuple[Turn, list[Wording]]


class Builder:
    """Draws acts with values and their wordings."""

    def __init__(self, data: dict[str, Any], seed: int) -> None:
        self.chance = Chance(seed)
        self.words = Wordings(data, self.chance)
        self.together = data["together"]
        self.trails: list[Row] = [dict(zip(COLUMNS, row, strict=True)) for row in data["trails"]]
        values = {slot: sorted({trail[slot] for trail in self.trails}) for slot in COLUMNS}
        ordinary = {slot: [v for v in found if v not in ("none", "dontcare")] for slot, found in values.items()}
        self.wishes = {slot: ordinary[slot] + data["wishes"].get(slot, []) * 2 for slot in (*WISHES, "length")}
        self.wishes |= {"dogsallowed": ["yes", "yes", "yes", "no"], "stroller": ["yes"], "toilets": ["yes"]}
        self.drawn = Counter[Shape]()
        self.plans = {act_type: self.draw_plans(act_type) for act_type in PLANS}

    def draw_plans(self, act_type: str) -> list[DialogueAct]:
        """Draw the slot combinations that an act is composed with: a fixed number, so that most occur often."""
        _, slots, sizes, number = PLANS[act_type]
        lead = {"inform_count": ["count"], "inform_no_match": [], "?confirm": []}.get(act_type, ["name"])
        plans = []
        for _ in range(number):
            names = lead + self.chance.some(slots, self.chance.pick(sizes))
            plans.append(DialogueAct(act_type, tuple(map(Slot, names * (2 if act_type == "compare" else 1)))))
        return plans

    def draw(self) -> Entry | None:
        """Return a turn and its different wordings; None if what was drawn makes no sense."""
        kinds = {"whole": WHOLE, "together": TOGETHER} | {act_type: plan[0] for act_type, plan in PLANS.items()}
        kind = self.chance.pick([kind for kind, weight in kinds.items() for _ in range(weight)])
        if kind == "together":
            return self.draw_together()
        if kind != "whole":
            return self.draw_act(kind, composed=True)
        # Every whole-sentence pattern gets its turn; one that finds no values waits, and cannot hold up the rest.
        key = min(self.chance.shuffled(list(self.words.templates)), key=self.drawn.__getitem__)
        entry = self.draw_act("", composed=False, plan=self.words.templates[key])
        self.drawn[key] += 10 if entry else 1
        return entry

    def draw_act(self, act_type: str, *, composed: bool, plan: DialogueAct | None = None) -> Entry | None:
        """Return one act, of a plan or of any plan for its type, and its wordings."""
        if composed:
            plan = self.chance.pick(self.plans[act_type], 1.7)
            valued = {slot.name for slot in plan.slots}
        else:
            plan = plan or self.chance.pick([act for act in self.words.templates.values() if act.act_type == act_type])
            # A request asks for the slots that its sentence has no value of.
            valued = placeholders(self.words.whole[shape(plan)][0])
        row = self.row(plan, composed=composed)
        if row is None:
            return None
        slots, seen = [], Counter[str]()
        for slot in plan.slots:
            seen[slot.name] += 1
            key = slot.name + ("2" if seen[slot.name] == 2 else "")
            slots.append(Slot(slot.name, row[key]) if slot.value is None and slot.name in valued else slot)
        if len(seen) == len(slots):
            slots.sort(key=lambda slot: ORDER[slot.name])
        act = DialogueAct(plan.act_type, tuple(slots))
        wordings = [] if not composed and shape(act) != shape(plan) else self.words.of(act, row)
        return (Turn((act,)), wordings) if wordings else None

    def draw_together(self) -> Entry | None:
        """Return two acts in one turn, such as a count and a question that narrows it down."""
        types = self.chance.pick(self.together)
        first, second = (self.draw_act(t, composed=t in self.plans and self.chance.coin(0.8)) for t in types)
        if not first or not second:
            return None
        known, asked = ([slot for _, slot in entry[0].slots()] for entry in (first, second))
        if types[1].startswith("?"):
            # A follow-up question repeats nothing and asks for nothing that is known.
            if any(slot.value for slot in asked) or {s.name for s in known} & {s.name for s in asked}:
                return None
        elif {slot.value for slot in known} & {slot.value for slot in asked}:
            return None
        pairs = [(wording, self.chance.pick(second[1])) for wording in first[1]]
        # A greeting that asks by itself leaves no room for the question.
        pairs = [(a, b) for a, b in pairs if "?" not in a.sentence or types[0] == "recommend"]
        joined = [Wording(f"{a.sentence} {b.sentence}", a.patterns + b.patterns) for a, b in pairs]
        return (Turn(first[0].acts + second[0].acts), joined) if joined else None

    def row(self, plan: DialogueAct, *, composed: bool) -> Row | None:
        """Return values for a plan: of a trail or two, or of a visitor's wishes; None if they do not suit it."""
        names = [slot.name for slot in plan.slots]
        fixed = {slot.name: slot.value for slot in plan.slots if slot.value is not None}
        if len(set(names)) < len(names):
            first, second = self.chance.shuffled(self.trails)[:2]
            if any(first[name] == second[name] or "none" in (first[name], second[name]) for name in names):
                return None
            # "Spring or autumn, or early autumn?" is hard to follow.
            if plan.act_type == "?select" and any(
                " or " in row[n] for row in (first, second) for n in names if n in LISTS
            ):
                return None
            return first | {f"{name}2": value for name, value in second.items()}
        if "name" in names or plan.act_type in DESCRIPTION_ACTS:
            row = dict(self.chance.pick(self.trails))
            return row if all(row[name] == value for name, value in fixed.items()) else None
        row = {slot: self.chance.pick(values) for slot, values in self.wishes.items()}
        row["count"] = str(2 + self.chance.number(38, 2.0))
        free = [name for name in names if name in ("difficulty", "region", "season")]
        if composed and free and self.chance.coin(0.2):
            row[self.chance.pick(free)] = "dontcare"
        return row | {name: str(value) for name, value in fixed.items()}


def combination(turn: Turn) -> str:
    """Return what is left of a turn without its ordinary values."""
    return "&".join(f"{act_type}({';'.join(keys)})" for act_type, keys in map(shape, turn))


def ambiguous(turn: Turn) -> bool:
    """Return whether a value belongs to two slots of the turn, so that a sentence cannot tell which one it means."""
    values = [slot.value.casefold() for _, slot in turn.slots() if slot.value and not slot.special]
    return len(set(values)) < len(values)


def draw_all(builder: Builder) -> list[Entry]:
    """Return ACTS different acts, each with its wordings."""
    entries: dict[str, Entry] = {}
    while len(entries) < ACTS:
        entry = builder.draw()
        if entry and not ambiguous(entry[0]):
            entries.setdefault(str(entry[0]), entry)
    return list(entries.values())


def split(entries: list[Entry], chance: Chance) -> dict[str, list[Entry]]:
    """Divide the acts into splits: most combinations occur in train, some in test alone."""
    groups: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[combination(entry[0])].append(entry)
    features = Counter(feature for entry in entries for feature in feature_set(entry[0]))
    splits: dict[str, list[Entry]] = {"train": [], "valid": [], "test": []}
    for key in chance.shuffled(sorted(groups)):
        group = groups[key]
        known = has_values(group[0][0]) and all(features[feature] >= 12 for feature in feature_set(group[0][0]))
        if len(group) <= 2 and known and len(splits["test"]) + len(group) <= UNSEEN:
            splits["test"] += groups.pop(key)
    # Of every other combination at least half stay in train.
    spare = [entry for key in sorted(groups) for entry in groups[key][: len(groups[key]) // 2]]
    spare = [entry for entry in chance.shuffled(spare) if has_values(entry[0])]
    for name in ("test", "valid"):
        number = HELD_OUT - len(splits[name])
        splits[name] += spare[:number]
        spare = spare[number:]
    taken = {str(turn) for name in ("test", "valid") for turn, _ in splits[name]}
    splits["train"] = [entry for entry in entries if str(entry[0]) not in taken]
    return {name: chance.shuffled(part) for name, part in splits.items()}


def has_values(turn: Turn) -> bool:
    """Return whether the turn could have other values; turns that could not are one act each, and belong to train."""
    return any(slot.delexicalizable for _, slot in turn.slots())


def feature_set(turn: Turn) -> set[str]:
    """Return the entries of the turn's dialogue act vector."""
    return {f"{act.act_type}.{fact_key(slot)}" for act, slot in turn.slots()} | {act.act_type for act in turn}


def main(folder: Path) -> None:
    """Write the three files."""
    # BaseLoader keeps `no` and `7` as they are written.
    data = yaml.load((HERE / "patterns.yaml").read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    builder = Builder(data, SEED)
    whole = {pattern for patterns in builder.words.whole.values() for pattern in patterns}
    used: Counter[str] = Counter()

    def wear(wording: Wording) -> int:
        return min([used[pattern] for pattern in wording.patterns if pattern in whole], default=1)

    for name, entries in split(draw_all(builder), builder.chance).items():
        lines = []
        for turn, wordings in entries:
            number = builder.chance.pick(REFERENCES[name])
            if name == "train":
                # Every whole-sentence pattern occurs in train.
                number = max(number, sum(wear(wording) == 0 for wording in wordings))
            chosen = sorted(wordings, key=wear)[: min(number, 4)]
            used.update(pattern for wording in chosen for pattern in wording.patterns)
            row = {"act": str(turn), "references": [wording.sentence for wording in chosen]}
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
