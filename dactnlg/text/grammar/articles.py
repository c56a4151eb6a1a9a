"""Articles: which values and nouns have one in training, "with a SLOT_RATING rating", and which do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from dactnlg.text.grammar.english import ARTICLES, AUXILIARIES, INDEFINITE, JOINTS, PREPOSITIONS, RELATIVES, SUBJECTS
from dactnlg.text.grammar.plurals import is_plural
from dactnlg.text.placeholders import is_placeholder, values_alike
from dactnlg.text.sentences import ENDS, Tokens
from dactnlg.text.surface import strip_joiners

Place = tuple[str, str, str]
"""The word before a value and its article, if any, the value, and the word after it."""
_ABOUT, _THE = "about", "the"
_BEHIND = frozenset({"", "and", "or", ",", *ENDS})
"""What may follow a noun that ends a phrase."""
OPENERS = frozenset({"with", "has", "have", "in"})
"""Words before a thing: "with a garden", "in the SLOT_PRICE range"."""
_NO_ITEM = AUXILIARIES | PREPOSITIONS | RELATIVES | SUBJECTS | {"or", "but", "if"} | {*ENDS}
"""Words that no list of things contains."""
LEAST, MOSTLY, NEVER = 20, 0.75, 0.05
"""The fewest occurrences of a place; its least share of articles for inserting one, and the largest for dropping it."""


def learned_articles(sentences: Iterable[Sequence[str]]) -> dict[Place, str]:
    """Return the article of each place that mostly has one, and "" for those that hardly ever have one.

    Args:
        sentences: of training, delexicalised, without joiners.
    """
    found: dict[Place, Counter[str]] = {}
    for sentence in sentences:
        for _, place, article in _places(sentence):
            found.setdefault(place, Counter())[article] += 1
    usual: dict[Place, str] = {}
    for place, counts in found.items():
        share = 1 - counts[""] / counts.total()
        if counts.total() >= LEAST and (share >= MOSTLY or share <= NEVER):
            usual[place] = max(counts, key=lambda article: (counts[article], article))
    return usual


def with_articles(sentence: Tokens, usual: Mapping[Place, str]) -> Tokens:
    """Return a sentence with the articles that training has, and without those that it does not have.

    Args:
        sentence: delexicalised. The choice of "a" or "an" depends on the value, and is made with that.
        usual: the articles of training.
    """
    words = strip_joiners(sentence)
    for at, place, article in reversed([*_places(words, listed=True)]):
        wanted = usual.get(place, article)
        # "With a big garden", but "with big gardens"
        if bool(wanted) != bool(article) and not (wanted in INDEFINITE and _of_several(words[at + 1 :])):
            sentence = (*sentence[: at - bool(article)], *([wanted] if wanted else []), *sentence[at:])
    return sentence


def definite_nouns(runs: Mapping[Tokens, int]) -> frozenset[str]:
    """Return the nouns that mostly have "the" after "about": "you do not care about the area".

    Args:
        runs: of three words or more, with their counts in training.
    """
    bare, definite = Counter[str](), Counter[str]()
    for run, count in runs.items():
        if run[0] == _ABOUT:
            bare[run[1]] += count
            definite[run[2]] += count if run[1] == _THE else 0
    return frozenset(noun for noun, count in definite.items() if count > bare[noun] and not is_placeholder(noun))


def with_the(sentence: Tokens, nouns: Collection[str]) -> Tokens:
    """Return a sentence with "the" inserted between "about" and these nouns, if they end a phrase."""
    words = [*strip_joiners(sentence), ""]
    missing = {
        at
        for at, word in enumerate(words[:-1])
        if word in nouns and words[at - 1 : at] == [_ABOUT] and words[at + 1] in _BEHIND
    }
    return tuple(token for at, own in enumerate(sentence) for token in ((_THE, own) if at in missing else (own,)))


def _of_several(words: Sequence[str]) -> bool:
    """Whether the noun phrase at the beginning of words is plural: "garden -s", "hdmi ports and"."""
    ends = (at for at, word in enumerate(words) if word in JOINTS | PREPOSITIONS or not word.strip("-").isalpha())
    return any(map(is_plural, words[: next(ends, len(words))]))


def _places(words: Sequence[str], *, listed: bool = False) -> Iterator[tuple[int, Place, str]]:
    """Yield the index of each value after an opener, its place, and its article, "" if none.

    Args:
        words: of a sentence.
        listed: whether further things in a list count as standing after its opener: "with a garden and SLOT_A view".
    """
    alike = values_alike(words)
    for at in range(1, len(words) - 1):
        if is_placeholder(words[at]) and words[at + 1].isalpha():
            article = words[at - 1] if words[at - 1] in ARTICLES and at > 1 else ""
            before = at - 1 - bool(article)
            # "In the L2 and L5 families" has one article for both values.
            further = listed and words[before] in (",", "and") and alike[at] not in alike[:at]
            opener = _opener(words[:before]) if further else words[before]
            if opener in OPENERS:
                yield at, (opener, alike[at], words[at + 1]), article


def _opener(words: Sequence[str]) -> str:
    """Return the word that opens a list that words end with, "" if there is none."""
    word = next((word for word in reversed(words) if word in OPENERS or word in _NO_ITEM), "")
    return word if word in OPENERS else ""
