"""English function words and other words of which clauses are built, in lower case."""

from __future__ import annotations

import re
from collections.abc import Sequence


def listed(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


AUXILIARIES = listed(
    "is are was were am has have had do does did can could will would should may might must 's 're 've let"
)
THIRD = listed(
    "has serves offers allows accepts costs weighs comes includes features provides takes uses runs supports needs"
)
"""Verbs in the third person singular, "it allows"."""
VERBS = AUXILIARIES | THIRD
SUBORDINATING = frozenset({"if", "since", "because", "when", "while", "although", "though"})
RELATIVES = frozenset({"that", "which", "who", "where"})
JOINTS = RELATIVES | listed(
    ", ; : - and or but when if whether while as because since so what how although though than why before after sorry "
    "think thought say said guess believe hope know bet feel confirm"
)
"""What may join two clauses."""
PREPOSITIONS = frozenset({"in", "on", "at", "near", "with", "for", "by", "from", "to"})
ARTICLES = frozenset({"a", "an", "the"})
ADVERBS = listed(
    "not also ever really never often always just only still already sometimes even perhaps usually mostly"
)
"""What may come between a verb and its complement."""
BEING = frozenset({"is", "are", "was", "were"})
CAUSING = listed("make makes made help helps")
"""Verbs followed by a verb with its own subject: "that makes you like it"."""
GREETINGS = listed("goodbye bye hello hi thanks thank welcome")
"""Words that begin sentences without a verb."""
VERBS_OF_MANY = {"is": "are", "has": "have", "was": "were", "does": "do"}
"""Singular -> plural of verbs that lose more than an "s"."""
VERBS_OF_ONE = {many: one for one, many in VERBS_OF_MANY.items()}
CONJUNCTIONS = frozenset({"and", "or"})
COORDINATING = CONJUNCTIONS | {"but", ","}
NEGATIONS = frozenset({"no", "not", "none", "nothing", "cannot", "never", "without"})
PERSONS = frozenset({"they", "i", "we", "you"})
SUBJECTS = PERSONS | {"it", "there"}
QUESTION_WORDS = listed("what which where when who how")
INDEFINITE = frozenset({"a", "an"})
PRAISE = ("nice", "good", "great")
"""Adjectives with which almost anything can be praised, mildest first."""
EVERY = frozenset({"all", "every", "each"})
"""Words before a noun that stands for all of its kind."""
ONLY = listed("only just single sole one")
"""Words that say that there is no other."""
EXCEPTING = listed("other except besides beside apart aside else excluding")
"""Words that make an exception to a denial, as "but" may: "no pub other than the Mill"."""
FUNCTION_WORDS = listed(
    """
    a about all also an and any are as at be but by can do does for from had has have he her his how i if in is it its
    just many more much my near no not of off on only or our out over per she so some than that the their them then
    there these they this those to too under up was we were what when where which who will with would you your
    """
)
"""Words that say nothing about a thing."""
_OF_OTHER_LANGUAGES = listed(
    """
    a about all also an any are as at be but by can do for from had has he her his i in is its me my no of off on or
    our over per she so some than them to too under up was we were will
    """
)
_OF_ENGLISH_ALONE = FUNCTION_WORDS - _OF_OTHER_LANGUAGES
ENGLISH = 0.1
"""The least share of English sentences with a word that hardly occurs in other languages; mostly it is over 0.7."""


def looks_english(sentences: Sequence[str]) -> bool:
    """Whether sentences may be English; capitalised words may belong to names, unless all words are capitals."""
    lowered = (sentence.lower() if sentence.isupper() else sentence for sentence in sentences)
    words = (_OF_ENGLISH_ALONE.intersection(re.findall(r"[^\W\d_]+", sentence)) for sentence in lowered)
    return sum(map(bool, words)) >= ENGLISH * len(sentences)
