"""Learned indifference: how training says, for each slot, that it does not matter."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from dactnlg.text.grammar.english import BEING, CONJUNCTIONS, JOINTS, PREPOSITIONS, QUESTION_WORDS
from dactnlg.text.grammar.indifference import (
    CONDITION,
    INDIFFERENT,
    LONGEST_START,
    OPENING,
    OR_DO_YOU_NOT,
    PRONOUNS,
    Indifference,
    denies_caring,
    parted,
)
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.sentences import ENDS, Tokens, is_asking, split_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners
from dactnlg.text.templates import Templates
from dactnlg.text.traits import Key, act_types, canonical

WHERE = "where"
MOSTLY = 2
"""How many times as often as without pronouns training must use a question word before pronouns are kept."""


def clauses(templates: Templates, alone: Container[str]) -> dict[str, Indifference]:
    """Return for each slot the clause with which texts of act types say, at the end, that it does not matter.

    All have the most frequent beginning, and each the words that are most frequent for its slot.

    Args:
        templates: of training.
        alone: the act types of acts that occur alone.
    """
    found: dict[str, dict[Tokens, float]] = {}
    starts: dict[Tokens, float] = {}
    for key, sentences in templates.sentences.items():
        acts = act_types(key)
        if len(acts) == 1 and acts[0] in alone:
            for text, weight in sentences.items():
                for slot, clause in _single(text, templates.specials.get((key, text), [])):
                    things = found.setdefault(slot, {})
                    things[clause.things[0]] = things.get(clause.things[0], 0.0) + weight
                    starts[clause.start] = starts.get(clause.start, 0.0) + weight
    start = _most(starts) if starts else ()
    return {slot: Indifference(start, (_most(_worded(things, slot, templates)),)) for slot, things in found.items()}


def added(templates: Templates, act_type: str) -> Tokens:
    """Return the words with which texts of an act type add what does not matter: "and you do not care".

    An alternative is a question: "or do you not care".

    Args:
        templates: of training.
        act_type: of the texts.
    """
    starts: dict[Tokens, float] = {}
    groups = [group for key, group in templates.sentences.items() if act_type in act_types(key)]
    texts = [each for group in groups for each in group.items()]
    for text, weight in texts:
        words = strip_joiners(text)
        for place in (at for at, word in enumerate(words) if word in CONJUNCTIONS):
            verb = denies_caring(words[place : place + LONGEST_START])
            # "And if you do not care" is a condition.
            if verb and CONDITION not in words[place : place + verb]:
                start = text[place : place + verb + 1]
                starts[start] = starts.get(start, 0.0) + weight
    # Acts that offer alternatives continue with "or", and only those do.
    alternatives = 2 * sum("or" in text for text, _ in texts) > len(texts)
    fitting = {start: weight for start, weight in starts.items() if alternatives == (start[0] == "or")}
    fitting = fitting or (starts if alternatives else {})
    start = _most(fitting) if fitting else ()
    return (*OR_DO_YOU_NOT, start[-1]) if start[:2] == ("or", "you") else start


def question(templates: Templates, act_type: str) -> tuple[Tokens, Tokens]:
    """Return what precedes and follows, in most questions of an act type, the thing that does not matter.

    "Can i confirm that you do not care", and a mark, if they have one; empty if there are none.
    """
    found: dict[tuple[Tokens, Tokens], float] = {}
    for key, sentences in templates.sentences.items():
        for text, weight in sentences.items() if act_types(key) == (act_type,) else ():
            verb = denies_caring(strip_joiners(text))
            whole = len(split_sentences(text)) == 1 and not any(map(is_placeholder, text))
            if whole and 0 < verb < len(text) - 1 and text[verb + 1] in OPENING and is_asking(text):
                asked = text[: verb + 1], text[-1:] if strip_joiner(text[-1]) in ENDS else ()
                found[asked] = found.get(asked, 0.0) + weight
    return max(found, key=lambda each: (found[each], each), default=((), ()))


def by_name(start: Tokens, slot: str, templates: Templates) -> Indifference | None:
    """Return how to say that a slot does not matter if training never says so: "about the price range".

    A preposition is not a thing to care about: "about what it is near".

    Args:
        start: how it is said for other slots, "if you do not care".
        slot: the slot.
        templates: of training.
    """
    if not start:
        return None
    words = tuple(templates.spelt_out(slot.lower()).split())
    if len(words) == 1 and words[0] in PREPOSITIONS:
        return Indifference(start, (("what", "it", "is", *words),))
    return Indifference(start, (("about", "the", *words),)) if templates.names_thing(words, slot) else None


def by_condition(start: Tokens, slot: str, templates: Templates) -> Indifference | None:
    """Return how to say that a yes or no does not matter if training never says so.

    "Whether dogs are allowed", where training says that there is "a pub where dogs are allowed".

    Args:
        start: how it is said for other slots, "if you do not care".
        slot: the slot.
        templates: of training.
    """
    found: dict[Tokens, float] = {}
    for (key, text), values in templates.specials.items():
        if start and WHERE in text and any(canonical(value)[1:] == (slot, "yes") for each in values for value in each):
            place = text.index(WHERE) + 1
            end = next((at for at in range(place, len(text)) if strip_joiner(text[at]) in JOINTS | {*ENDS}), len(text))
            clause = text[place:end]
            if not BEING.isdisjoint(clause) and not any(map(is_placeholder, clause)):
                found[clause] = found.get(clause, 0.0) + templates.sentences[key][text]
    return Indifference(start, (("whether", *_most(found)),)) if found else None


def _worded(things: dict[Tokens, float], slot: str, templates: Templates) -> dict[Tokens, float]:
    """Return what does not matter without slot names that are not words, "about ecorating".

    And without pronouns, "whether it has beer", unless people mostly ask like that: "which meal it is good for".
    """
    name = slot.lower()
    words = {thing: weight for thing, weight in things.items() if name not in thing}
    things = words if words and templates.spelt_out(name) != name else things
    bare = {thing: weight for thing, weight in things.items() if PRONOUNS.isdisjoint(thing)}
    asked = max((weight for thing, weight in things.items() if thing[0] in QUESTION_WORDS), default=0.0)
    return bare if bare and asked < MOSTLY * max(bare.values()) else things


def _most(weights: Mapping[Tokens, float]) -> Tokens:
    return max(weights, key=lambda tokens: (weights[tokens], tokens))


def _single(text: Tokens, specials: Sequence[Key]) -> Iterator[tuple[str, Indifference]]:
    """Yield the slot that does not matter, and the clause that says so, if there is exactly one of each."""
    named = [trait.slot for values in specials for trait in map(canonical, values) if trait.value == INDIFFERENT]
    ends = [end for sentence in split_sentences(text) if (end := parted(sentence)[1]) is not None]
    if len(named) == 1 and len(ends) == 1 and len(ends[0].things) == 1 and ends[0].things[0][0] in OPENING:
        yield named[0], ends[0]
