"""Mending: correcting the grammar of composed texts: lists with "and", verbs that agree, articles.

Training sentences contain slips of their authors; texts composed of them would have these in new places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from dactnlg.text.corrections.agreement import (
    agreeing,
    relates_to_several,
    tells_of_several,
    with_its,
)
from dactnlg.text.corrections.asking import asked
from dactnlg.text.corrections.kinds import liked, referring, spoken_of, told_of_kinds
from dactnlg.text.corrections.listing import with_and
from dactnlg.text.corrections.only_one import so_in_all, the_only_ones, the_only_that
from dactnlg.text.corrections.phrasing import COMMA, corrected, end_of, rephrased, trimmed
from dactnlg.text.grammar.articles import with_articles, with_the
from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    COORDINATING,
    INDEFINITE,
    PREPOSITIONS,
    RELATIVES,
    SUBJECTS,
    SUBORDINATING,
    THIRD,
    listed,
)
from dactnlg.text.grammar.having import as_held, as_values_of
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.plurals import MANY, ONE, is_plural, pluralized
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.sentences import ENDS, OWNER, PRONOUN, Tokens, is_asking, split_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners

_ONE_THING = frozenset({"the", "it", "this"})
"""Words that begin a sentence about a single thing."""
_TELLING = {("there", "is"), ("we", "have"), ("i", "have")}
"""How a sentence begins before the thing that it is about: "we have a pub"."""
_ASKING = frozenset({"shall", "please"})
"""Words that no list of answers has."""
_NO_NOUN = PREPOSITIONS | RELATIVES | COORDINATING | listed("if is are has have was were")
_VERBS_OF_PHRASES = {**dict.fromkeys(("a", "an", "in", "near", "at", "on"), "is"), "with": "has"}
"""Verbs that make sentences of phrases that begin with these words."""


def mended(tokens: Tokens, lexicon: Lexicon, *, asks: bool = False, counted: int = 0) -> Tokens:
    """Return a text with those faults of grammar corrected that its words alone show.

    Args:
        tokens: delexicalised.
        lexicon: of its corpus; without verbs, the text is unchanged.
        asks: whether its act asks.
        counted: the number of the things counted by its act, `ONE` or `MANY`; 0 if it counts none.
    """
    verbs = lexicon.verbs
    if not verbs:
        return tokens
    tokens = tuple(word for token in tokens for word in lexicon.joined.get(token, (token,)))
    number, found = 0, list[Tokens]()
    sentences = _it_first(_said_once(_told_apart(split_sentences(tokens), verbs), lexicon.subject), lexicon)
    sentences = sentences if asks else so_in_all(sentences, verbs)
    named, kinds = lexicon.subject in strip_joiners(tokens), set(map(pluralized, lexicon.things))
    # A text that ends with a question may state something first.
    tells = not asks or (bool(sentences) and is_asking(sentences[-1]))
    for sentence in sentences:
        own = asked(rephrased(sentence), lexicon.things)
        own = _qualities_joined(_subject_joined(with_and(own, verbs), verbs), verbs)
        own = liked(spoken_of(own, verbs), lexicon)
        # "There are 18 trails in the south. It is graded easy", but not what follows about another thing.
        if tells_of_several(own, lexicon.counts, known=_is_of_one(found, lexicon.subject)):
            number = counted or MANY
        elif _tells_of_one(own):
            number = ONE
        elif strip_joiners(own)[0] != PRONOUN:
            number = 0
        own = _without_article(own, lexicon.bare)
        own = corrected(with_articles(own, lexicon.articles))
        own = as_values_of(as_held(with_the(own, lexicon.definite), lexicon.held), lexicon.value_nouns)
        own = _with_verb(own, lexicon) if tells else own
        if strip_joiners(own)[0] != PRONOUN and (number or (counted == MANY and not found)):
            own = _related(own, verbs)
        several = counted == MANY and not found and relates_to_several(own, verbs)
        own = agreeing(own, verbs, MANY if several and not number else number)
        own = with_its(own if named else told_of_kinds(own, kinds, verbs), verbs)
        found.append(the_only_that(the_only_ones(own, lexicon), verbs))
        first, *more = strip_joiners(own)
        # "We have trails in the south" is worded in its own way.
        own_words = len(found) == 1 and counted == MANY and number != ONE and first not in _ONE_THING
        if own_words or (first == "all" and PRONOUN not in more):
            number = MANY
    return tuple(token for each in referring(_choices_joined(found, verbs), lexicon) for token in each)


def _told_apart(sentences: Iterable[Tokens], verbs: Collection[str]) -> Iterator[Tokens]:
    """Yield sentences, splitting run-on clauses: "it is a pub, where dogs are allowed and it has beer"."""
    for sentence in sentences:
        words = strip_joiners(sentence)
        clause = words.index("where") if "where" in words[1:] else len(words)
        joint = next((at for at in range(clause, len(words) - 2) if words[at : at + 2] == ["and", PRONOUN]), 0)
        if joint and words[joint - 1] != "," and words[joint + 2] in verbs and words[-1] != "?":
            stop = sentence[-1] if words[-1] in ENDS else "."
            yield (*trimmed(sentence[:joint]), stop)
            yield sentence[joint + 1 :]
        else:
            yield sentence


def _choices_joined(sentences: Iterable[Tokens], verbs: Collection[str]) -> list[Tokens]:
    """Join a list of answers to the question before it: "which size do you want? Big or small?"."""
    found: list[Tokens] = []
    for sentence in sentences:
        words = strip_joiners(sentence)
        # "Shall it be big or small?" and "please select a big or a small pub" are no answers.
        asks = not (AUXILIARIES | _ASKING).isdisjoint(words) or bool(finite(words, verbs))
        if found and strip_joiners(found[-1])[-1] == "?" and "or" in words and not asks:
            # A list may end with a stop, and a text without a mark.
            *question, mark = found[-1]
            found[-1] = (*question, COMMA, *sentence[: end_of(words)], mark)
        else:
            found.append(sentence)
    return found


def _said_once(sentences: Iterable[Tokens], subject: str) -> list[Tokens]:
    """Drop repeated sentences about the same thing, except those with values, which must all be said.

    Also what introduces a further one, "it might do: it is cheap", and what the next one begins with: "goodbye!
    Goodbye, and see you in SLOT_A".
    """
    every = [*sentences]
    found, said = list[Tokens](), set[Tokens]()
    for own, behind in zip(every, [*every[1:], ()], strict=True):
        if _begins(strip_joiners(own), strip_joiners(behind)):
            continue
        words = strip_joiners(own)
        colon = words.index(":") + 1 if ":" in words[:-1] else 0
        intro, further = own[:colon], bool(found) and words[:1] == words[colon : colon + 1] == [PRONOUN]
        own = own[colon:] if intro in said or (colon and further) else own
        said.add(intro)
        names = [strip_joiner(token) for token in own if is_placeholder(token)]
        if any(without_ordinal(name) == subject for name in names):
            said.clear()
        if names or own not in said:
            found.append(own)
        said.add(own)
    return found


def _begins(words: Sequence[str], behind: Sequence[str]) -> bool:
    """Whether a sentence without values is only the beginning of the one behind it."""
    own = words[: len(words) - (words[-1] in ENDS)]
    return len(behind) > len(words) and behind[: len(own)] == own and not any(map(is_placeholder, own))


def _it_first(sentences: Sequence[Tokens], lexicon: Lexicon) -> Sequence[Tokens]:
    """Put what "it" is before what it has, which "it" could refer to: "the price is 9 euros. It is near here"."""
    own = [own for own in sentences if strip_joiners(own)[0] == PRONOUN]
    owned = [own for own in sentences if _is_owned(strip_joiners(own), lexicon.things)]
    named = any(lexicon.subject in strip_joiners(own) for own in sentences)
    if named or len(own) + len(owned) < len(sentences) or not own or [*own, *owned] == sentences:
        return sentences
    *first, last = [*own, *owned]
    # A text may end without a mark, but the sentence that was first has one.
    return [*(each if strip_joiners(each)[-1] in ENDS else (*each, sentences[0][-1]) for each in first), last]


def _is_owned(words: Sequence[str], things: Collection[str]) -> bool:
    """Whether a sentence is about what a thing has: "the price is 9 euros", not "the SLOT_SIZE pub is"."""
    subject = words[1 : words.index("is")] if "is" in words else ()
    return words[0] in ("the", OWNER) and any(subject) and all(w.isalpha() and w not in things for w in subject)


def _is_of_one(sentences: Iterable[Tokens], subject: str) -> bool:
    """Whether sentences speak of a single thing: "it is near SLOT_NEAR", "SLOT_NAME is cheap"."""
    return any(strip_joiners(own)[0] in (PRONOUN, OWNER) or subject in strip_joiners(own) for own in sentences)


def _subject_joined(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Drop the comma between a subject and its verb: "all pubs in the south, have beer"."""
    words = strip_joiners(sentence)
    comma, at = words.index(",") if "," in words else 0, finite(words, verbs)
    asks = not SUBJECTS.isdisjoint(words[comma + 2 : comma + 3]) or words[-1] == "?"
    apart = comma < 2 or words[0] in PREPOSITIONS | SUBORDINATING or asks
    return sentence if apart or at[:1] != [comma + 1] else (*sentence[:comma], *sentence[comma + 1 :])


def _tells_of_one(sentence: Tokens) -> bool:
    """Whether a sentence is about a single thing: "we have a pub that serve beer"; not "with rooms that have beds"."""
    words = strip_joiners(sentence)
    many = any(is_plural(before) for before, word in pairwise(words) if word in RELATIVES)
    return tuple(words[:2]) in _TELLING and not INDEFINITE.isdisjoint(words[2:3]) and not many


def _related(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Replace "and" with "that" before a verb about the things: "there are pubs and have beer"."""
    words = strip_joiners(sentence)
    first, second, third = (*finite(words, verbs), 0, 0, 0)[:3]
    # "There are pubs, can be seen in SLOT_A and have beer"
    joined = words[second - 1] == "and" or (words[second - 1] == "," and words[third - 1] == "and")
    told = second and joined and RELATIVES.isdisjoint(words[first:second])
    return (*trimmed(sentence[: second - 1]), "that", *sentence[second:]) if told else sentence


def _qualities_joined(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Join "good for" to the clause before it, by "and are": "pubs that allow dogs good for lunch"."""
    words = strip_joiners(sentence)
    place = next((at for at, pair in enumerate(pairwise(words)) if pair == ("good", "for")), 0)
    last = max((at for at in finite(words, verbs) if at < place), default=0)
    told = words[last - 1] in RELATIVES or (words[last - 1] == "and" and not RELATIVES.isdisjoint(words[:last]))
    if not last or not told or place - last < 2 or words[last] in AUXILIARIES or "and" in words[last:place]:
        return sentence
    return (*trimmed(sentence[:place]), "and", "is" if words[last].endswith("s") else "are", *sentence[place:])


def _without_article(sentence: Tokens, names: Collection[str]) -> Tokens:
    """Drop "the" before names that no noun follows: "in the SLOT_AREA and cheap"."""
    words = [*strip_joiners(sentence), "", "", ""]
    needless = set[int]()
    for place, (word, name) in enumerate(pairwise(words[:-2])):
        behind = place + 2
        # "... in the SLOT_AREA, SLOT_AREA#2 or SLOT_AREA#3 area"
        while words[behind] in ("or", "and", ",") and words[behind + 1].startswith(f"{name}#"):
            behind += 2
        ends = not words[behind].rstrip(".?!").isalpha() or words[behind] in _NO_NOUN
        if word == "the" and name in names and ends and not is_placeholder(words[behind]):
            needless.add(place)
    return tuple(token for place, token in enumerate(sentence) if place not in needless)


def _with_verb(sentence: Tokens, lexicon: Lexicon) -> Tokens:
    """Make a sentence of a phrase: "a big pub that has beer", "in the south with a garden", "with SLOT_A ports".

    Also of one that lacks its subject: "is a big pub", "has beer".
    """
    words, verb = strip_joiners(sentence), _VERBS_OF_PHRASES.get(strip_joiners(sentence)[0], "")
    headless = words[0] in THIRD or (words[0] == "is" and words[1:2] and words[1] in PREPOSITIONS | INDEFINITE)
    if headless and words[-1] != "?" and (SUBJECTS | {"that"}).isdisjoint(words[1:2]):
        return (PRONOUN, *sentence)
    only = words[:2] == ["the", "only"]
    verb = "is" if only else verb
    relative = next((place for place, word in enumerate(words) if word in RELATIVES), len(words))
    at = finite(words, lexicon.verbs)
    # What follows a comma, a name or a pronoun may be an unknown verb.
    apart = lexicon.subject in words or words[-1] == "?" or any(word in ("if", ",") for word in words)
    apart |= not SUBJECTS.isdisjoint(words[:relative])
    thing = only or words[0] not in ARTICLES or not (lexicon.plurals | lexicon.things).isdisjoint(words[:relative])
    if not verb or apart or not thing or len(at) > 1 or any(place < relative for place in at):
        return sentence
    return (PRONOUN, verb, *(sentence[1:] if verb == "has" else sentence))
