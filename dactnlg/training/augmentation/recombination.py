"""Recombined pairs: training pairs with a sentence removed, appended from another pair, or replaced.

Corpora lack many combinations of slots, and models express unseen ones badly. A text of several sentences without one
of them is a text for the act without that sentence's slots; with a sentence appended from another text for the same act
types, one for an act with more slots; with its question replaced, one that asks for something else (data recombination:
Jia and Liang 2016, section 3). A result is kept if it is found to express its act without a fault.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

from tqdm import tqdm

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.runs.config import Config
from dactnlg.text.example import Pair
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.segments import Segments, faults
from dactnlg.text.sentences import Tokens, split_sentences
from dactnlg.text.surface import strip_joiner
from dactnlg.text.traits import Key, kind

MOST_TRIES = 6
"""Attempts per requested pair."""
_Text = tuple[Pair, list[Tokens]]


def recombined(config: Config, preprocessor: Preprocessor, pairs: Sequence[Pair], *, progress: bool) -> list[Pair]:
    """Return as many recombined pairs as the configuration requests, showing a progress bar on standard error."""
    own = [pair for pair in pairs if pair.corpus == preprocessor.encoder.corpus]
    number = round(config.training.recombination * len(own))
    if not number:
        return []
    hidden = None if progress else True
    with tqdm(total=number, desc="recombining", unit=" pairs", delay=2, leave=False, disable=hidden) as bar:
        return recombine(preprocessor, own, number, config.training.seed, bar.update)


def recombine(
    preprocessor: Preprocessor,
    pairs: Sequence[Pair],
    number: int,
    seed: int,
    progress: Callable[[], object] = lambda: None,
) -> list[Pair]:
    """Return randomly recombined pairs, fewer than requested if too many attempts fail.

    Args:
        preprocessor: of the pairs; its reader, if any, recognises special values that cues do not.
        pairs: of one corpus.
        number: how many pairs to return.
        seed: determines all of them.
        progress: called after each.
    """
    chance, recombiner = random.Random(seed), _Recombiner(preprocessor, pairs)
    found: list[Pair] = []
    for _ in range(MOST_TRIES * number if recombiner.texts else 0):
        if len(found) == number:
            break
        made = recombiner.draw(chance)
        if made is not None and not faults(preprocessor, made.turn, made.tokens):
            found.append(made)
            progress()
    return found


class _Recombiner:
    """Makes pairs from the sentences of others; the results have yet to be checked."""

    def __init__(self, preprocessor: Preprocessor, pairs: Sequence[Pair]) -> None:
        self._segments = segments = Segments(preprocessor)
        texts: dict[Key, list[_Text]] = {}
        self._endings: dict[frozenset[str], list[tuple[Turn, Tokens]]] = {}
        self._questions: list[tuple[DialogueAct, Tokens]] = []
        for pair in pairs:
            parts = split_sentences(pair.tokens)
            if _states(pair.turn):
                first = segments.continued(parts[0])
                behind = [*([first] if first else []), *parts[1:]]
                self._endings.setdefault(_act_types(pair.turn), []).extend((pair.turn, tokens) for tokens in behind)
            elif (asking := _asking(pair, parts)) is not None:
                self._questions.append((asking, parts[-1]))
                if len(parts) == 1:
                    continue
            else:
                continue
            texts.setdefault(kind(pair.turn), []).append((pair, parts))
        # Grouped by combination, because a corpus may have one a thousand times and another once.
        self.texts = list(texts.values())

    def draw(self, chance: random.Random) -> Pair | None:
        """Return a random pair, or None if the parts drawn do not fit together."""
        pair, parts = chance.choice(chance.choice(self.texts))
        if not _states(pair.turn):
            return self._asking_for_another(pair, parts, chance)
        if len(parts) > 1 and chance.random() < 0.5:
            return self._shortened(pair, parts, chance)
        return self._lengthened(pair, parts, chance)

    def _shortened(self, pair: Pair, parts: Sequence[Tokens], chance: random.Random) -> Pair | None:
        """Return a pair without one of its sentences and the slots that only this sentence expresses, or None."""
        place = chance.randrange(len(parts))
        taken = self._segments.said(pair.turn, parts[place])
        rest = [*parts[:place], *parts[place + 1 :]]
        left = [self._segments.said(pair.turn, part) for part in rest]
        if not taken or None in left:
            return None
        still = {slot for slots in left for slot in slots or ()}
        return _pair(pair, [(act, slot) for act, slot in pair.turn.slots() if slot not in taken or slot in still], rest)

    def _lengthened(self, pair: Pair, parts: Sequence[Tokens], chance: random.Random) -> Pair | None:
        """Return a pair with a sentence appended from another with the same act types, and its slots, or None."""
        choices = self._endings.get(_act_types(pair.turn))
        if not choices or strip_joiner(parts[-1][-1]) != ".":
            return None
        other, tokens = chance.choice(choices)
        said = self._segments.said(other, tokens)
        if not said or {slot.name for slot in said} & {slot.name for _, slot in pair.turn.slots()}:
            return None
        more = [(act, slot) for act, slot in other.slots() if slot in said]
        return _pair(pair, [*pair.turn.slots(), *more], [*parts, tokens])

    def _asking_for_another(self, pair: Pair, parts: Sequence[Tokens], chance: random.Random) -> Pair | None:
        """Return a pair with its question replaced by another pair's, or None."""
        asking, question = chance.choice(self._questions)
        if asking.slots[0].name in {slot.name for _, slot in pair.turn.slots()}:
            return None
        acts = tuple(asking if _asks(act) else act for act in pair.turn.acts)
        return _with(pair, acts, [*parts[:-1], question])


def _states(turn: Turn) -> bool:
    """Whether a turn only states values of distinct slots."""
    slots = [slot for _, slot in turn.slots()]
    asks = any(act.act_type.startswith("?") or not act.slots for act in turn.acts)
    return (
        not asks and len({slot.name for slot in slots}) == len(slots) and all(slot.value is not None for slot in slots)
    )


def _asking(pair: Pair, parts: Sequence[Tokens]) -> DialogueAct | None:
    """Return the act of a pair that asks for a slot, if it is expressed by a separate sentence at the end."""
    asking = [act for act in pair.turn.acts if _asks(act)]
    stating = [act for act in pair.turn.acts if not _asks(act)]
    if len(asking) != 1 or (stating and not _states(Turn(tuple(stating)))) or (len(parts) > 1) != bool(stating):
        return None
    return asking[0] if strip_joiner(parts[-1][-1]) == "?" and not any(map(is_placeholder, parts[-1])) else None


def _asks(act: DialogueAct) -> bool:
    return [slot.value for slot in act.slots] == [None]


def _act_types(turn: Turn) -> frozenset[str]:
    return frozenset(act.act_type for act in turn.acts)


def _pair(pair: Pair, slots: Sequence[tuple[DialogueAct, Slot]], parts: Sequence[Tokens]) -> Pair | None:
    """Return a pair with the given slots, adjacent ones of an act grouped, and sentences; None without slots."""
    acts = [
        DialogueAct(act.act_type, tuple(slot for _, slot in group))
        for act, group in groupby(slots, lambda each: each[0])
    ]
    return _with(pair, acts, parts) if acts else None


def _with(pair: Pair, acts: Sequence[DialogueAct], parts: Sequence[Tokens]) -> Pair:
    """Return a pair with other acts and sentences."""
    return replace(pair, turn=Turn(tuple(acts)), tokens=tuple(token for part in parts for token in part))
