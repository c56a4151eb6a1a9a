"""Special values of several things, or acts: which thing each is assigned to, by the cues beside their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from dactnlg.acts import Slot, Turn
from dactnlg.text.owners import Thing, compared, described, named_apart
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.report_names import special_name
from dactnlg.text.sentences import split_sentences
from dactnlg.text.slots import Shown, SlotChecker
from dactnlg.text.surface import detokenize, strip_joiner, tokenize
from dactnlg.text.values.delexicalization import Delexicalizer

BOTH = "both"
TOGETHER = frozenset({BOTH, "neither", "each", "all"})
"""Words that refer to several things at once."""
_BEFORE_ALL = frozenset({"in", "at", "after", "above"})
"""Words after which "all" refers to no things: "6 km in all", "no dogs at all"."""
_THEY = frozenset({"they", "their", "them", "respectively"})


def exchanged_specials(
    checker: SlotChecker, turn: Turn, required: Sequence[Required], tokens: Sequence[str]
) -> dict[str, str]:
    """Return special value -> name of the wrong thing beside which its cue is found.

    Args:
        checker: finds cues.
        turn: the acts.
        required: their values.
        tokens: the text, with placeholders.
    """
    found = dict(chain(_of_both(checker, turn, tokens), _of_the_next(checker, turn, required, tokens)))
    for slot, said in _unshown(checker, turn, required, tokens):
        for other, shown in said:
            own = {each.special for each in other.slots if each.name == slot.name}
            if slot.special in shown.get(slot.name, ()) and slot.special not in own:
                found[special_name(slot)] = str(other.name)
    return found


def told_apart(delexicalizer: Delexicalizer, turn: Turn, text: str) -> list[tuple[Turn, str]]:
    """Split a turn with one act per thing, and its text, into (act, sentences about its thing) pairs.

    Return no pairs if a sentence may be about several things at once.

    Args:
        delexicalizer: finds the names.
        turn: the acts, prepared.
        text: the lexicalised text.
    """
    names = named_apart(turn)
    words = text.lower().split()
    if not names or _are_together(words) or not _THEY.isdisjoint(words):
        return []
    places = {item.placeholder: names.index(item.slot) for item in delexicalizer.required(turn) if item.slot in names}
    parts, before = [list[str]() for _ in names], list[str]()
    about = before
    for sentence in map(detokenize, split_sentences(tokenize(text))):
        tokens = map(strip_joiner, delexicalizer.delexicalize(turn, sentence).tokens)
        named = {places[token] for token in tokens if token in places}
        if len(named) > 1:
            return []
        about = parts[named.pop()] if named else about
        about.append(sentence)
    if not all(parts):
        return []
    # Sentences before the first name are taken to be about the first thing.
    parts[0][:0] = before
    return [(Turn((act,)), " ".join(own)) for act, own in zip(turn.acts, parts, strict=True)]


def _are_together(words: Sequence[str]) -> bool:
    """Return whether a word refers to several things at once."""
    pairs = pairwise(("", *map(str.lower, words)))
    return any(word in TOGETHER and (word != "all" or before not in _BEFORE_ALL) for before, word in pairs)


def _of_both(checker: SlotChecker, turn: Turn, tokens: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (special value assigned to both things, name of a thing that has another): "both allow dogs"."""
    words = [token if is_placeholder(token) else token.lower() for token in tokens]
    about = compared(turn) if BOTH in words else []
    for sentence in split_sentences(words) if len(about) > 1 else ():
        shown = checker.shown(sentence) if BOTH in sentence else {}
        for thing in about:
            for name, values in shown.items():
                own = {slot.special for slot in thing.slots if slot.name == name and slot.special}
                yield from ((f"{name}={value}", str(thing.name)) for value in values if own and value not in own)


def _of_the_next(
    checker: SlotChecker, turn: Turn, required: Sequence[Required], tokens: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield (special value of an act expressed only in the text of the next act, a value of that act).

    "I can't find any trails near SLOT_NEAR. What about SLOT_NAME? It is open to dogs.", if none near there is.
    """
    for place, act in enumerate(turn.acts[1:], 1):
        before = turn.acts[:place]
        cued = [slot for a in before for slot in a.slots if slot.special in checker.values_with_cues(slot.name)]
        if not cued or any(each.act_type == act.act_type for each in before):
            continue
        own = {item.placeholder: item.slot for item in required if item.act_type == act.act_type}
        sentences = split_sentences(tokens)
        values = (
            (at, own[name]) for at, each in enumerate(sentences) for name in map(strip_joiner, each) if name in own
        )
        # A single sentence cannot be split: "How about X, as there are none that allow dogs?"
        at, thing = next(values, (0, None))
        parts = (tuple(chain.from_iterable(part)) for part in (sentences[:at], sentences[at:]))
        early, late = (checker.shown(part) for part in parts) if at else ({}, {})
        yield from (
            (special_name(slot), str(thing))
            for slot in cued
            if slot.special in late.get(slot.name, ()) and slot.special not in early.get(slot.name, ())
        )


def left_out(checker: SlotChecker, turn: Turn, tokens: Sequence[str]) -> list[str]:
    """Return the special values of compared things whose cues are not beside the names of their things."""
    if _are_together(tokens):
        return []
    return [special_name(slot) for slot, _ in _unshown(checker, turn, checker.delexicalizer.required(turn), tokens)]


def _unshown(
    checker: SlotChecker, turn: Turn, required: Sequence[Required], tokens: Sequence[str]
) -> Iterator[tuple[Slot, list[tuple[Thing, Shown]]]]:
    """Yield each special value whose cue is not beside its thing, with the values shown beside each thing."""
    things = compared(turn) if any("#" in item.placeholder for item in required) else []
    if not any(slot.special for thing in things for slot in thing.slots):
        return
    parts = described(required, [thing.name for thing in things], tokens)
    shown = [checker.shown(part) if part else {} for part in parts]
    for thing, part, here in zip(things, parts, shown, strict=True):
        for slot in thing.slots if part else ():
            cued = slot.special in checker.values_with_cues(slot.name)
            if cued and slot.special not in here.get(slot.name, ()):
                yield slot, list(zip(things, shown, strict=True))
