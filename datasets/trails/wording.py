"""Wordings of an act: whole-sentence patterns of its shape, and sentences composed of clauses around a frame.

A pattern is a sentence with {slot} for a value, {slot2} for the second value of that slot and {a slot} for a value
with its article. See the head of `patterns.yaml`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from dactnlg.acts import DialogueAct, Slot, parse

CRITERIA_ACTS = ("inform_count", "inform_no_match", "?confirm", "inform_only_match")
DESCRIPTION_ACTS = ("inform", "recommend", "offer_alternative")
LISTS = ("difficulty", "region", "near", "view", "season")
"""Slots whose "X or Y" may be said in either order; the "or" of a name stays."""
PLACEHOLDER = re.compile(r"\{(a )?([a-z]+)(\d?)\}")
_NUMBER = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")

Row = dict[str, str]
"""Values by slot, of a trail or of a visitor's wishes; `length2` is the length of the second trail."""
Shape = tuple[str, tuple[str, ...]]
Item = TypeVar("Item")


class Wording(NamedTuple):
    """A sentence and the patterns it was made from: one for each act that it says."""

    sentence: str
    patterns: tuple[str, ...]


class Chance:
    """Random choices that use `Random.random` only, whose sequence Python promises to keep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, below: int, skew: float = 1.0) -> int:
        """Return 0..below-1; a skew above 1 prefers the small ones."""
        return int(below * self._random.random() ** skew)

    def pick(self, items: Sequence[Item], skew: float = 1.0) -> Item:
        """Return one of the items; a skew above 1 prefers the first ones."""
        return items[self.number(len(items), skew)]

    def coin(self, chance: float) -> bool:
        """Return True that often."""
        return self._random.random() < chance

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in random order."""
        keys = [self._random.random() for _ in items]
        return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]

    def some(self, items: Sequence[Item], number: int) -> list[Item]:
        """Return that many different items in the order given."""
        return [items[index] for index in sorted(self.shuffled(range(len(items)))[:number])]


def fact_key(slot: Slot) -> str:
    """Return `length`, or `dogsallowed=no` where the value is special."""
    return f"{slot.name}={slot.special}" if slot.special else slot.name


def shape(act: DialogueAct) -> Shape:
    """Return what the wordings of an act depend on: its type, slots and special values."""
    return act.act_type, tuple(sorted(fact_key(slot) for slot in act.slots))


def placeholders(pattern: str) -> set[str]:
    """Return the slots whose values a pattern says, the second of a name as `length2`."""
    return {name + second for _, name, second in PLACEHOLDER.findall(pattern)}


class Wordings:
    """Finds and composes patterns for acts, and fills them."""

    def __init__(self, data: dict[str, Any], chance: Chance) -> None:
        self.clauses, self.relative, self.frames = data["clauses"], data["relative"], data["frames"]
        self.nouns, self.indifferent = data["nouns"], data["indifferent"]
        self.chance = chance
        self.templates = {shape(act): act for act in (parse(key).acts[0] for key in data["patterns"])}
        self.whole: dict[Shape, list[str]] = {shape(parse(k).acts[0]): said for k, said in data["patterns"].items()}

    def of(self, act: DialogueAct, row: Row) -> list[Wording]:
        """Return different sentences for an act with its values, in random order."""
        whole = self.whole.get(shape(act), [])
        # Whole patterns are worded better than composed ones: these help out.
        composed = [pattern for _ in range(max(1, 4 - len(whole))) if (pattern := self.compose(act))]
        patterns = {self.fill(pattern, row): pattern for pattern in composed + whole}
        return self.chance.shuffled([Wording(sentence, (pattern,)) for sentence, pattern in patterns.items()])

    def compose(self, act: DialogueAct) -> str | None:
        """Return one composed pattern for an act, or None where its facts cannot be composed."""
        facts = [fact_key(slot) for slot in act.slots if slot.name not in ("name", "count")]
        if not facts:
            return None
        if act.act_type in CRITERIA_ACTS:
            return self._criteria(act.act_type, facts)
        if act.act_type in DESCRIPTION_ACTS and all(fact in self.clauses for fact in facts):
            return self._description(act.act_type, facts)
        if act.act_type == "compare" and all("vp" in self.clauses[fact] for fact in facts):
            return self._comparison(facts)
        return None

    def fill(self, pattern: str, row: Row) -> str:
        """Put the values into a pattern: the article agrees, "X or Y" is said in either order."""

        def value(match: re.Match[str]) -> str:
            article, slot, second = match.groups()
            said = row[slot + second]
            if slot in LISTS and " or " in said and self.chance.coin(0.4):
                said = " or ".join(reversed(said.split(" or ")))
            vowel = re.match(r"[aeio]|8|1[18]\b", said)
            return f"{'an' if vowel else 'a'} {said}" if article else said

        return _capitalised(PLACEHOLDER.sub(value, pattern))

    def _vps(self, facts: Sequence[str]) -> str:
        phrases = [self.chance.pick(self.clauses[fact]["vp"]) for fact in facts]
        # "is easy but has no toilets"; never "but" between two refusals. A missing phone number is no drawback.
        turning = [_refuses(fact) for fact in facts] == [False, True] and facts[-1] != "phone=none"
        return _joined(phrases, "but" if turning else "and")

    def _comparison(self, facts: Sequence[str]) -> str:
        half = len(facts) // 2
        phrases = [self.chance.pick(self.clauses[fact]["vp"]) for fact in facts]
        second = PLACEHOLDER.sub(r"{\g<1>\g<2>2}", _joined(phrases[half:]))
        return self._frame("compare").replace("{vps}", _joined(phrases[:half])).replace("{vps2}", second)

    def _criteria(self, act_type: str, facts: Sequence[str]) -> str | None:
        """Return a sentence about wished-for trails: "There are 12 easy hikes in the north that allow dogs." """
        words = {"region": " in the {region}", "near": " near {near}", "view": " with a view of {view}"}
        indifferent = [fact.removesuffix("=dontcare") for fact in facts if fact.endswith("=dontcare")]
        sayable = {"difficulty", *words, *self.relative, *(f"{slot}=dontcare" for slot in self.indifferent)}
        one = act_type == "inform_only_match"
        if not sayable.issuperset(facts) or len(indifferent) > (0 if one else 1):
            return None
        text = self.chance.pick(self.nouns) + ("" if one else "s")
        text = ("{difficulty} " if "difficulty" in facts else "") + text
        text += "".join(said for fact, said in words.items() if fact in facts)
        relative = [self.chance.pick(self.relative[fact]) for fact in facts if fact in self.relative]
        text += f" that {_joined(relative)}" if relative else ""
        text = _NUMBER.sub(r"\2" if one else r"\1", text)
        # "hikes of any difficulty", but not "hikes that allow dogs of any difficulty".
        tails = self.indifferent[indifferent[0]] if indifferent else [""]
        tail = self.chance.pick([tail for tail in tails if len(facts) == 1 or not tail.startswith(" ")])
        return self._frame(act_type).replace("{criteria}", text).replace("{one}", text).replace("{any}", tail)

    def _frame(self, act_type: str) -> str:
        return str(self.chance.pick(self.frames[act_type]))

    def _description(self, act_type: str, facts: Sequence[str]) -> str | None:
        """Return one or more sentences about a trail: an opening frame, then what it left unsaid."""
        chance, frames = self.chance, self.frames[act_type]
        # What is refused comes late, and whom to ask last.
        left = sorted(facts, key=lambda fact: (fact.startswith("phone"), _refuses(fact)))
        if act_type == "recommend" and all(map(_refuses, facts)):
            return None
        leads = [frame for frame in frames["lead"] if placeholders(frame) - {"name"} <= set(facts)]
        nominal = [fact for fact in ("difficulty", "length", "region", "near", "view") if fact in facts]
        if leads and len(facts) > 1 and chance.coin(0.3):
            frame = chance.pick(leads)
        elif {"difficulty", "length"} & set(nominal) and chance.coin(0.55):
            said = nominal[: 2 + chance.number(2)]
            unsaid = [fact for fact in left if fact not in said and "vp" in self.clauses[fact]]
            frame = chance.pick([frame for frame in frames["np"] if unsaid or "{vps}" not in frame])
            frame = frame.replace("{np}", self._noun_phrase(said))
        else:
            frame = chance.pick(frames["vps"] + ([] if any(map(_refuses, facts)) else frames.get("praise", [])))
        left = [fact for fact in left if fact not in placeholders(frame)]
        if "{vps}" in frame:
            verbal = [fact for fact in left if "vp" in self.clauses[fact]][: 1 + chance.number(3, 1.3)]
            if not verbal:
                return None
            frame = frame.replace("{vps}", self._vps(verbal))
            left = [fact for fact in left if fact not in verbal]
        return self._finished(frame, left)

    def _noun_phrase(self, facts: Sequence[str]) -> str:
        before = [fact for fact in facts if fact in ("difficulty", "length")]
        after = {"region": "in the {region}", "near": "near {near}", "view": "with a view of {view}"}
        words = [f"{{{'' if index else 'a '}{fact}}}" for index, fact in enumerate(before)]
        return " ".join([*words, self.chance.pick(self.nouns), *(after[fact] for fact in facts if fact in after)])

    def _finished(self, text: str, left: list[str]) -> str:
        """Return the sentence with the remaining facts told in further clauses and sentences."""
        joined = re.search(r"[;:?]|, and |, \{a ", text) is not None
        while left:
            verbal = all("vp" in self.clauses[fact] for fact in left[:2])
            if len(left) > 1 and verbal and self.chance.coin(0.6):
                text += f". It {self._vps(left[:2])}"
                left, joined = left[2:], True
                continue
            main = self.chance.pick(self.clauses[left[0]]["main"])
            attach = not joined and self.chance.coin(0.6)
            text += self.chance.pick(("; ", ", and ")) + main if attach else f". {_capitalised(main)}"
            left, joined = left[1:], True
        return text + "."


def _refuses(fact: str) -> bool:
    return fact.endswith(("=no", "=none"))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _joined(phrases: Sequence[str], last: str = "and") -> str:
    head = ", ".join(phrases[:-1])
    return f"{head} {last} {phrases[-1]}" if head else phrases[-1]
