"""Recombined pairs: training pairs with a sentence taken out, or with one of another pair put behind.

People seldom say all combinations of slots, and what a model never saw it says badly. A text of several sentences
without one of them is a text for the act without the slots of that sentence; with a sentence of another text for the
same act type behind it, one for an act with more slots (data recombination: Jia and Liang 2016, section 3; of
templates: Wen et al. 2016, section 4). What comes of it is kept where the reader finds that it says its act.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import groupby

from tqdm import tqdm

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.runs.config import Config
from dactnlg.text.example import Pair
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.segments import Segments, faults, split_segments
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Tokens

MOST_TRIES = 6
"""For each pair that is wanted."""
_Text = tuple[Pair, list[Tokens]]


def recombined(config: Config, preprocessor: Preprocessor, pairs: Sequence[Pair], *, progress: bool) -> list[Pair]:
    """Return as many recombined pairs as a configuration wants, with a progress bar on standard error."""
    own = [pair for pair in pairs if pair.corpus == preprocessor.encoder.corpus]
    number = round(config.training.recombination * len(own))
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
    """Return recombined pairs, drawn with a seed; fewer where too few come out right.

    Args:
        preprocessor: of the pairs; its reader, if it has one, knows special values that cues do not.
        pairs: of one corpus.
        number: how many.
        seed: decides on all of them.
        progress: called after each.
    """
    segments, chance = Segments(preprocessor), random.Random(seed)
    texts = [(pair, split_segments(pair.tokens)) for pair in pairs if _simple(pair.turn)]
    endings: dict[frozenset[str], list[tuple[Turn, Tokens]]] = {}
    for pair, parts in texts:
        first = segments.continued(parts[0])
        behind = [*([first] if first else []), *parts[1:]]
        endings.setdefault(_act_types(pair.turn), []).extend((pair.turn, tokens) for tokens in behind)
    found: list[Pair] = []
    for _ in range(MOST_TRIES * number if texts else 0):
        if len(found) == number:
            break
        text = chance.choice(texts)
        shorter = len(text[1]) > 1 and chance.random() < 0.5
        made = _shortened(segments, text, chance) if shorter else _lengthened(segments, text, endings, chance)
        if made is not None and not faults(preprocessor, made.turn, made.tokens):
            found.append(made)
            progress()
    return found


def _simple(turn: Turn) -> bool:
    """Whether a turn states values of distinct slots, and nothing else."""
    slots = [slot for _, slot in turn.slots()]
    asks = any(act.act_type.startswith("?") or not act.slots for act in turn.acts)
    return (
        not asks and len({slot.name for slot in slots}) == len(slots) and all(slot.value is not None for slot in slots)
    )


def _act_types(turn: Turn) -> frozenset[str]:
    return frozenset(act.act_type for act in turn.acts)


def _shortened(segments: Segments, text: _Text, chance: random.Random) -> Pair | None:
    """Return a pair without one of its sentences, and without the slots that only this one says."""
    pair, parts = text
    place = chance.randrange(len(parts))
    taken = segments.said(pair.turn, parts[place])
    rest = [*parts[:place], *parts[place + 1 :]]
    left = [segments.said(pair.turn, part) for part in rest]
    if not taken or None in left:
        return None
    still = {slot for slots in left for slot in slots or ()}
    return _pair(pair, [(act, slot) for act, slot in pair.turn.slots() if slot not in taken or slot in still], rest)


def _lengthened(
    segments: Segments, text: _Text, endings: dict[frozenset[str], list[tuple[Turn, Tokens]]], chance: random.Random
) -> Pair | None:
    """Return a pair with a sentence of another one of its act types behind it, and with the slots of that."""
    pair, parts = text
    choices = endings.get(_act_types(pair.turn))
    if not choices or strip_joiner(parts[-1][-1]) != ".":
        return None
    other, tokens = chance.choice(choices)
    said = segments.said(other, tokens)
    if not said or {slot.name for slot in said} & {slot.name for _, slot in pair.turn.slots()}:
        return None
    more = [(act, slot) for act, slot in other.slots() if slot in said]
    return _pair(pair, [*pair.turn.slots(), *more], [*parts, tokens])


def _pair(pair: Pair, slots: Sequence[tuple[DialogueAct, Slot]], parts: Sequence[Tokens]) -> Pair | None:
    """Return a pair of a turn with some slots, of each act those that stand together."""
    acts = [
        DialogueAct(act.act_type, tuple(slot for _, slot in group))
        for act, group in groupby(slots, lambda each: each[0])
    ]
    return Pair(Turn(tuple(acts)), pair.corpus, tuple(token for part in parts for token in part)) if acts else None
