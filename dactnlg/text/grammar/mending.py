"""Mending: correcting the grammar of composed texts: lists with "and", verbs that agree, a single denial.

Training sentences contain slips of their authors; texts composed of them would have these in new places.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

from dactnlg.text.grammar.agreement import ALL, agreeing, tells_of_several
from dactnlg.text.grammar.antecedents import referred
from dactnlg.text.grammar.articles import with_articles, with_the
from dactnlg.text.grammar.boundaries import divided_anew
from dactnlg.text.grammar.english import (
    ARTICLES,
    AUXILIARIES,
    COORDINATING,
    PREPOSITIONS,
    QUESTION_WORDS,
    RELATIVES,
    SUBJECTS,
    listed,
)
from dactnlg.text.grammar.having import as_held, as_values_of
from dactnlg.text.grammar.indifference import conditions_last, parted
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.only_one import said_of_it, so_in_all, the_only_of_its_kind, the_only_ones, the_only_that
from dactnlg.text.grammar.phrasing import end_of, rephrased, trimmed
from dactnlg.text.grammar.verbs import finite
from dactnlg.text.placeholders import is_placeholder, without_ordinal
from dactnlg.text.sentences import OWNER, PRONOUN, Tokens, is_asking, split_sentences
from dactnlg.text.surface import plain, strip_joiner
from dactnlg.text.values.plurals import MANY, is_plural

_OPENERS = listed("with has have having includes features")
"""Words after which a list of things begins."""
_NO_ITEM = PREPOSITIONS | RELATIVES | SUBJECTS | COORDINATING | QUESTION_WORDS
_NO_ITEM |= listed("the if not also all but so then as its their this both such of whatever regardless please")
"""Words that begin no item of a list."""
_NO_MATTER = ["no", "matter"]
_APART = RELATIVES | {","}
"""Words that separate a subject from its verb."""
_ONE_THING = frozenset({"the", "it", "this"})
"""Words that begin a sentence about a single thing."""
_NO_NOUN = PREPOSITIONS | RELATIVES | COORDINATING | listed("if is are has have was were")
_VERBS_OF_PHRASES = {**dict.fromkeys(("a", "an", "in", "near", "at", "on"), "is"), "with": "has"}
"""Verbs that make sentences of phrases that begin with these words."""
_DENIALS = listed("do does did can could")


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
    number, found = 0, list[Tokens]()
    sentences = referred(_said_once(divided_anew(split_sentences(tokens), verbs), lexicon.subject), lexicon)
    sentences = sentences if asks else so_in_all(sentences, verbs)
    # A text that ends with a question may state something first.
    tells = not asks or (bool(sentences) and is_asking(sentences[-1]))
    for sentence in sentences:
        own = conditions_last(rephrased(sentence))
        for mend in (_conditions_first, _with_and, _denied_once, _without_joint, _qualities_joined, _participle_joined):
            own = mend(own, verbs)
        # "There are 18 trails in the south. It is graded easy", but not what follows about another thing.
        if tells_of_several(own, lexicon.counts, known=_is_of_one(found, lexicon.subject)):
            number = counted or MANY
        elif plain(own)[0] != PRONOUN:
            number = 0
        own = with_articles(_without_article(own, lexicon.bare), lexicon.articles)
        own = as_values_of(as_held(with_the(own, lexicon.definite), lexicon.held), lexicon.value_nouns)
        own = _with_verb(own, lexicon) if tells else own
        if plain(own)[0] != PRONOUN and (number or (counted == MANY and not found)):
            own = _related(own, verbs)
        own = agreeing(own, verbs, number)
        own = said_of_it(the_only_of_its_kind(_clause_alone(own, lexicon), lexicon.plurals), verbs)
        own = the_only_that(the_only_ones(own, lexicon), verbs)
        found.append(own if asks else _said_of_all(own, verbs))
        first, *more = plain(own)
        # "We have trails in the south" is worded in its own way.
        own_words = len(found) == 1 and counted == MANY and first not in _ONE_THING
        if own_words or (first == "all" and PRONOUN not in more):
            number = MANY
    if not asks and found:
        found[0] = _there_is(_with_subject(found[0]), lexicon.subject)
    return tuple(token for each in found for token in (_unconditional(each) if asks else each))


def _said_once(sentences: Iterable[Tokens], subject: str) -> list[Tokens]:
    """Drop repeated sentences about the same thing, except those with values, which must all be said."""
    found, said = list[Tokens](), set[Tokens]()
    for own in sentences:
        names = [strip_joiner(token) for token in own if is_placeholder(token)]
        if any(without_ordinal(name) == subject for name in names):
            said.clear()
        if names or own not in said:
            found.append(own)
        said.add(own)
    return found


def _is_of_one(sentences: Iterable[Tokens], subject: str) -> bool:
    """Whether sentences speak of a single thing: "it is near SLOT_NEAR", "SLOT_NAME is cheap"."""
    return any(plain(own)[0] in (PRONOUN, OWNER) or subject in plain(own) for own in sentences)


def _with_and(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Insert "and" before the last item of a list: "has a big screen, 2 ports, and costs 9 euros"."""
    words = plain(sentence)
    for comma in reversed([place for place, word in enumerate(words) if word == ","]):
        end = _item(words, comma, verbs)
        start = _list(words, comma, verbs) if end else 0
        if start:
            several = "," in words[start:comma]
            sentence = (*sentence[: comma + several], "and", *sentence[comma + 1 :])
            words = plain(sentence)
    return sentence


def _item(words: Sequence[str], comma: int, verbs: Collection[str]) -> int:
    """Return the end of the item after a comma if it is the last of a list of things, else 0."""
    start, last = comma + 1, end_of(words)
    end = next((at for at in range(start, last) if words[at] in COORDINATING), last)
    item = words[start:end]
    if not item or item[0] in _NO_ITEM or item[0].endswith(("ed", "ing")) or any(word in verbs for word in item):
        return 0
    if item[:2] == _NO_MATTER:
        return 0
    more = [*(word for word in words[end:last] if word != ","), ""]
    if more == [""]:
        return end
    # "..., 2 ports, and costs" and "... and in the cheap range" contain no further items.
    joined = more[0] == "and" and (more[1] in verbs or more[1] in PREPOSITIONS | SUBJECTS)
    return end if joined else 0


def _list(words: Sequence[str], comma: int, verbs: Collection[str]) -> int:
    """Return the index of the word that opens the list around a comma, 0 if there is none."""
    for place in reversed(range(comma)):
        if words[place] in _OPENERS:
            return place
        if words[place] in verbs or words[place] in RELATIVES or words[place] in ("and", "or", "if"):
            return 0
    return 0


def _related(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Replace "and" with "that" before a verb about the things: "there are pubs and have beer"."""
    words = plain(sentence)
    first, second, third = (*finite(words, verbs), 0, 0, 0)[:3]
    # "There are pubs, can be seen in SLOT_A and have beer"
    joined = words[second - 1] == "and" or (words[second - 1] == "," and words[third - 1] == "and")
    told = second and joined and RELATIVES.isdisjoint(words[first:second])
    return (*trimmed(sentence[: second - 1]), "that", *sentence[second:]) if told else sentence


def _with_subject(sentence: Tokens) -> Tokens:
    """Insert "it" before a verb that begins a statement: "has 3 ports", "is the only pub in SLOT_A"."""
    words = [*plain(sentence), "", ""]
    told = words[0] == "is" and words[1] not in SUBJECTS | {"this", "that"} and not is_placeholder(words[1])
    return (PRONOUN, *sentence) if (told or words[0] == "has") and "?" not in words else sentence


def _there_is(sentence: Tokens, subject: str) -> Tokens:
    """Replace "it" with "there" if nothing has been named before: "near SLOT_NEAR, it is a cheap pub"."""
    words = plain(sentence)
    at = words.index(",") + 1 if "," in words and words[0] in PREPOSITIONS and subject not in words else len(words)
    told = words[at : at + 2] == [PRONOUN, "is"] and words[at + 2 : at + 3] in (["a"], ["an"])
    return (*sentence[: at - 1], "there", *sentence[at + 1 :]) if told else sentence


def _conditions_first(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Move a condition in front of the clauses around it: "pubs that allow dogs and in SLOT_AREA that have beer"."""
    words = plain(sentence)
    clauses = [place for place, word in enumerate(words) if word == "that"]
    for first, second in pairwise(clauses):
        joint = next((at for at in range(second - 1, first, -1) if words[at] == "and"), 0)
        own = words[joint + 1 : second]
        if joint > first + 1 and own[:1] and own[0] in PREPOSITIONS and not any(word in verbs for word in own):
            where, clause = sentence[joint + 1 : second], sentence[first:joint]
            return (*sentence[:first], *where, *clause, "and", *sentence[second + 1 :])
    return sentence


def _denied_once(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Drop a second "not" where "or" joins the verbs: "that do not allow dogs or not accept cards"."""
    words = plain(sentence)
    for place in range(2, len(words) - 2):
        before = words[:place]
        denied = any(a in _DENIALS and b == "not" for a, b in pairwise(before))
        if denied and words[place] in ("or", "and") and words[place + 1] == "not" and words[place + 2] in verbs:
            return _denied_once((*sentence[:place], "or", *sentence[place + 2 :]), verbs)
    return sentence


def _clause_alone(sentence: Tokens, lexicon: Lexicon) -> Tokens:
    """Drop a "where" that has no noun to refer to: "it is cheap and where dogs are allowed"."""
    words = plain(sentence)
    place = next((at for at, pair in enumerate(pairwise(words)) if pair == ("and", "where")), 0)
    alone = words[0] == PRONOUN and (lexicon.plurals | lexicon.things | RELATIVES).isdisjoint(words[:place])
    return (*sentence[: place + 1], *sentence[place + 2 :]) if place and alone else sentence


def _qualities_joined(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Join "good for" to the clause before it, by "and are": "pubs that allow dogs good for lunch"."""
    words = plain(sentence)
    place = next((at for at, pair in enumerate(pairwise(words)) if pair == ("good", "for")), 0)
    last = max((at for at in finite(words, verbs) if at < place), default=0)
    told = words[last - 1] in RELATIVES or (words[last - 1] == "and" and not RELATIVES.isdisjoint(words[:last]))
    if not last or not told or place - last < 2 or words[last] in AUXILIARIES or "and" in words[last:place]:
        return sentence
    return (*trimmed(sentence[:place]), "and", "is" if words[last].endswith("s") else "are", *sentence[place:])


def _participle_joined(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Insert the missing verb of a participle: "games that came out in SLOT_YEAR and rated SLOT_ESRB"."""
    words = plain(sentence)
    for place in range(1, len(words) - 1):
        word = words[place]
        if words[place - 1] == "and" and word.endswith("ed") and word not in verbs and is_placeholder(words[place + 1]):
            last = max((at for at in finite(words, verbs) if at < place), default=0)
            if last > 1 and words[last - 1] in RELATIVES and words[last] not in AUXILIARIES:
                return (*sentence[:place], "are" if is_plural(words[last - 2]) else "is", *sentence[place:])
    return sentence


def _without_article(sentence: Tokens, names: Collection[str]) -> Tokens:
    """Drop "the" before names that no noun follows: "in the SLOT_AREA and cheap"."""
    words = [*plain(sentence), "", "", ""]
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


def _without_joint(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Drop "and" or a comma between a subject and its verb: "all pubs in SLOT_A and are cheap", ", are"."""
    words = plain(sentence)
    at = next(iter(finite(words, verbs)), 0)
    subject = trimmed(sentence[:at])
    # What follows a name may be an unknown verb.
    about = words[0] in ALL or (is_placeholder(words[0]) and not PREPOSITIONS.isdisjoint(words[1:2]))
    # "SLOT_NAME, a cheap pub, is here" needs both commas.
    return (*subject, *sentence[at:]) if subject and about and _APART.isdisjoint(plain(subject)) else sentence


def _said_of_all(sentence: Tokens, verbs: Collection[str]) -> Tokens:
    """Make a sentence of a phrase about all of some things: "every pub in SLOT_A", "all pubs with a garden"."""
    words = plain(sentence)
    at = next((place for place, word in enumerate(words) if word in PREPOSITIONS | {"without"}), 0)
    if words[0] not in ALL or at < 2 or words[-1] == "?" or finite(words, verbs):
        return sentence
    is_, has = ("are", "have") if words[0] == "all" else ("is", "has")
    verb = {"with": (has,), "without": (has, "no")}.get(words[at], (is_, sentence[at]))
    return (*sentence[:at], *verb, *sentence[at + 1 :])


def _with_verb(sentence: Tokens, lexicon: Lexicon) -> Tokens:
    """Make a sentence of a phrase: "a big pub that has beer", "in the south with a garden", "with SLOT_A ports"."""
    words, verb = plain(sentence), _VERBS_OF_PHRASES.get(plain(sentence)[0], "")
    relative = next((place for place, word in enumerate(words) if word in RELATIVES), len(words))
    at = finite(words, lexicon.verbs)
    # What follows a comma, or a name, may be an unknown verb.
    apart = lexicon.subject in words or words[-1] == "?" or any(word in ("if", ",") for word in words)
    thing = words[0] not in ARTICLES or not (lexicon.plurals | lexicon.things).isdisjoint(words[:relative])
    if not verb or apart or not thing or len(at) > 1 or any(place < relative for place in at):
        return sentence
    return (PRONOUN, verb, *(sentence[1:] if verb == "has" else sentence))


def _unconditional(sentence: Tokens) -> Tokens:
    """Replace "if" with "and" where something that does not matter is asked: "you want a pub if you do not care".

    It becomes "You want a pub and you do not care".
    """
    stop = end_of(plain(sentence))
    main, end = parted(sentence[:stop])
    words = plain(main)
    if end is None or end.start[0] != "if" or words[0] in (QUESTION_WORDS | AUXILIARIES) - {"let"}:
        return sentence
    return (*trimmed(main), *end._replace(start=("and", *end.start[1:])).tokens, *sentence[stop:])
