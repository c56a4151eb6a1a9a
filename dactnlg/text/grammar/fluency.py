"""Fluency: word runs of a text that training does not have, or only by mistake, and faults of its clauses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise

from dactnlg._utils.memory import Memory
from dactnlg.text.grammar.articles import definite_nouns, learned_articles
from dactnlg.text.grammar.clauses import faults, misplaced_only, word_runs
from dactnlg.text.grammar.copulas import Copulas
from dactnlg.text.grammar.english import ARTICLES, GREETINGS, RELATIVES
from dactnlg.text.grammar.having import held_values, value_nouns
from dactnlg.text.grammar.indifference import misattributed, parted
from dactnlg.text.grammar.joints import splices
from dactnlg.text.grammar.lexicon import PLURALS, Lexicon
from dactnlg.text.grammar.misspellings import joined, misspellings
from dactnlg.text.grammar.predicates import Governors, Predicates
from dactnlg.text.grammar.stops import Stops
from dactnlg.text.grammar.verbs import learned_verbs
from dactnlg.text.placeholders import is_placeholder, values_alike
from dactnlg.text.sentences import ENDS, OWNER, PRONOUN, Tokens, split_sentences
from dactnlg.text.surface import strip_joiner, strip_joiners

ORDER = 4
"""Words of a run: shorter ones occur in nearly any word order, longer ones seldom twice in training."""
RARE, USUAL = 2, 100
"""The largest count of a run that may be a mistake, and how many times as often its beginning continues otherwise."""
LEAST_COUNTED = 0.5
"""The least share of a word pair's occurrences followed by a count from which the pair implies several things."""
REMEMBERED = 20_000, 16 << 20
"""Sentences whose doubts are cached, at most, and their bytes."""
MOST_ARTICLES = 0.2
"""A name that has an article in less than this share of its occurrences without a following noun may lack it."""
LEAST_PLURALS = 20
"""The fewest plurals of a noun."""
BOUND = ""
"""Stands for the edges of a sentence."""

_BEHIND_NOUNS = RELATIVES | frozenset(
    {BOUND, *ENDS, *["if", "in", "with", "for", "near", "at", "on", "by", "from", "and", "available"]}
)
_PRONOUNS: dict[str, Tokens] = {PRONOUN: (), f"{PRONOUN}'s": ("is",)}


class Fluency:
    """Measures how strange delexicalised texts are.

    Args:
        texts: of training, delexicalised.
        english: whether they are in English, the language whose clauses are checked.

    Attributes:
        lexicon: the words of training, for rules of grammar.
    """

    def __init__(self, texts: Iterable[Sequence[str]], *, english: bool) -> None:
        self._known: Memory[int] = Memory(*REMEMBERED)
        self._known_runs: Memory[int] = Memory(*REMEMBERED)
        sentences = [sentence for text in texts for sentence in split_sentences(text)]
        stripped = list(map(strip_joiners, sentences))
        words = Counter(chain.from_iterable(stripped))
        pairs = Counter(chain.from_iterable(map(pairwise, stripped)))
        bounded = list(map(_bounded, sentences))
        self._runs = Counter(run for order in (ORDER, ORDER - 1) for s in bounded for run in word_runs(s, order))
        self._stops = Stops(run for s in bounded for run in word_runs(s, ORDER + 1))
        self._misspelt = misspellings(words)
        self._usual = frozenset(_usual(self._runs))
        subjects = Counter(sentence[0] for sentence in sentences if is_placeholder(sentence[0]))
        self._subject = max(subjects, key=lambda name: (subjects[name], name), default="") if english else ""
        self._counted = dict(self._before_counts()) if english else {}
        self._counting = {word for word, _ in self._counted}
        self._verbs = learned_verbs(pairs, self._subject) if english else frozenset[str]()
        self._predicates, self._governors = Predicates(stripped, self._verbs), Governors(stripped, self._verbs)
        self._copulas, self.lexicon = Copulas(stripped if english else ()), Lexicon()
        if english:
            self.lexicon = Lexicon(
                verbs=self._verbs,
                plurals=nouns(stripped),
                things=self._copulas.usual,
                counts=frozenset(self._counted.values()),
                bare=frozenset(self._bare()),
                subject=self._subject,
                articles=learned_articles(stripped),
                definite=definite_nouns(self._runs),
                held=held_values(stripped),
                value_nouns=value_nouns(stripped),
                joined=joined(words, pairs),
            )

    def doubts(self, tokens: Sequence[str], *, strict: bool = True) -> int:
        """Return the doubts about a text: word runs unseen in training, and weighted faults of clauses and greetings.

        Args:
            tokens: the text.
            strict: whether clauses joined only by a comma count as faults, which some corpora have nearly everywhere.
        """
        sentences = split_sentences(tokens)
        found = 2 * sum(splices(each, self._verbs) for each in sentences) if strict and self._verbs else 0
        found += sum(map(self._doubts_of, sentences))
        if len(sentences) == 1:
            return found
        # No sentence repeats the words of another.
        own = [
            {run for run in runs(s, ORDER) if BOUND not in run[1:] and not any(map(is_placeholder, run))}
            for s in sentences
        ]
        # Nor does it greet again.
        greeted = [s[0].replace("goodbye", "bye") for s in sentences if s[0] in GREETINGS]
        return found + (sum(map(len, own)) > len(set().union(*own))) + 2 * (len(greeted) - len(set(greeted)))

    def strange_runs(self, tokens: Sequence[str]) -> int:
        """Return how many word runs training has never, or only by mistake: a lower bound of the text's doubts."""
        return sum(map(self._strange_runs, split_sentences(tokens)))

    def strange_across(self, sentence: Tokens, places: Collection[int]) -> int:
        """Return how many runs of a sentence that are unseen in training span any of these places between its words."""
        every, found = enumerate(runs(sentence, ORDER), -1), 0
        for start, run in every if places else ():
            crosses = any(start < place < start + ORDER for place in places)
            found += crosses and run not in self._usual
        return found

    def _strange_runs(self, sentence: Tokens) -> int:
        found = self._known_runs.get(sentence)
        if found is None:
            # A clause about what does not matter may follow any sentence, and each of its things any other.
            main, end = parted(sentence) if self._verbs else (sentence, None)
            apart = [run for clause in end.apart() for run in [*runs(clause, ORDER)][1:]] if end else []
            found = self._strange(apart)
            found += min(self._strange(runs(each, ORDER)) for each in self._readings(main)) if main else 0
            self._known_runs.put(sentence, found, 60 * len(sentence))
        return found

    def _strange(self, found: Iterable[Tokens]) -> int:
        every = [*found]
        return len(every) - sum(map(self._usual.__contains__, every))

    def _doubts_of(self, sentence: Tokens) -> int:
        """Return the doubts about one sentence; cached, because composed texts share sentences."""
        found = self._known.get(sentence)
        if found is None:
            words = strip_joiners(sentence)
            found = self._strange_runs(sentence) + sum(word in self._misspelt for word in words)
            found += 2 * self._stops.faults(runs(sentence, ORDER + 1))
            if self._verbs:
                main = parted(sentence)[0]
                found += faults(main, self._verbs) if main else 0
                found += 2 * misplaced_only(words) + 3 * misattributed(sentence)
                learned = self._copulas, self._predicates, self._governors
                found += 2 * sum(each.faults(words) for each in learned)
            self._known.put(sentence, found, 60 * len(sentence))
        return found

    def _readings(self, sentence: Tokens) -> Iterator[Tokens]:
        """Yield a sentence, then versions of it with a name for its pronoun, or with a count of what there is."""
        yield sentence
        # Most sentences have no such words, and thousands are checked.
        counted = () if self._counting.isdisjoint(sentence) else pairwise(strip_joiners(sentence))
        for place, before in enumerate(counted, 2):
            if count := self._counted.get(before):
                yield (*sentence[:place], count, *sentence[place:])
        place = _subject_at(sentence)
        if sentence[place] in _PRONOUNS and self._subject:
            for name in (PRONOUN, self._subject):
                yield (*sentence[:place], name, *_PRONOUNS[sentence[place]], *sentence[place + 1 :])
        if sentence[0] == OWNER and self._subject and "is" in sentence:
            verb = sentence.index("is")
            yield ("the", *sentence[1:verb], "of", self._subject, *sentence[verb:])

    def _before_counts(self) -> Iterator[tuple[tuple[str, str], str]]:
        """Yield the word pairs after which training counts, "there are", each with the count's placeholder."""
        there = {
            run[-1]: n for run, n in self._runs.items() if run[:-1] == ("there", "are") and is_placeholder(run[-1])
        }
        count = max(there, key=lambda name: (there[name], name), default="")
        if there.get(count, 0) > RARE:
            short = [(run[0], run[1], run[-1]) for run in self._runs if len(run) == ORDER - 1]
            pairs = Counter({run[:2]: 0 for run in short if run[-1] == count and self._runs[run] > RARE})
            for run in short:
                # "no" counts as well.
                if run[:2] in pairs and run[-1] != "no":
                    pairs[run[:2]] += self._runs[run]
            for pair, number in pairs.items():
                # "There are a total of pubs" lacks its number.
                total = pair[1] == "of" and any((article, *pair) in self._runs for article in ARTICLES)
                if not total and self._runs[*pair, count] > LEAST_COUNTED * number:
                    yield pair, count

    def _bare(self) -> Iterator[str]:
        """Yield the placeholders that mostly lack "the" when no noun follows them: "in SLOT_AREA"."""
        alone, articled = Counter[str](), Counter[str]()
        for run, count in self._runs.items():
            if len(run) == ORDER - 1 and is_placeholder(run[1]) and run[2] in _BEHIND_NOUNS:
                alone[run[1]] += count
                articled[run[1]] += count if run[0] == "the" else 0
        yield from (name for name, count in alone.items() if 0 < articled[name] < MOST_ARTICLES * count)

    def countable(self, before: Tokens) -> bool:
        """Whether a noun after two words is plural when its count is left out: "there are pubs"."""
        return before in self._counted

    def seen(self, run: Tokens) -> bool:
        """Whether training has a run of three or four words within a sentence."""
        return run in self._runs

    def following(self, before: Tokens) -> Collection[str]:
        """Return the words that follow two words in training."""
        return self._following.get(before, ())

    def preceding(self, after: Tokens) -> Collection[str]:
        """Return the words that precede two words in training."""
        return self._preceding.get(after, ())

    @cached_property
    def _following(self) -> dict[Tokens, set[str]]:
        return _grouped((run[:-1], run[-1]) for run in self._runs if len(run) == ORDER - 1)

    @cached_property
    def _preceding(self) -> dict[Tokens, set[str]]:
        return _grouped((run[1:], run[0]) for run in self._runs if len(run) == ORDER - 1)


def _grouped(pairs: Iterable[tuple[Tokens, str]]) -> dict[Tokens, set[str]]:
    found: dict[Tokens, set[str]] = {}
    for words, other in pairs:
        found.setdefault(words, set()).add(other)
    return found


def _usual(counts: Counter[Tokens]) -> Iterator[Tokens]:
    """Yield the longest runs of training, except those that are rare though their beginnings are frequent."""
    longest = {run: count for run, count in counts.items() if len(run) == ORDER}
    starts: Counter[Tokens] = Counter()
    for run, count in longest.items():
        starts[run[:-1]] += count
    for run, count in longest.items():
        # A sentence may end where training's go on.
        if count > RARE or run[-1] == BOUND or starts[run[:-1]] < USUAL * count:
            yield run


def nouns(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the words and placeholders that have plural endings in training.

    Args:
        sentences: of training, without joiners.
    """
    plurals = Counter[str]()
    for sentence in sentences:
        plurals.update(values_alike(word for word, more in pairwise(sentence) if more in PLURALS))
    return frozenset(word for word, count in plurals.items() if count >= LEAST_PLURALS)


def runs(sentence: Sequence[str], order: int) -> Iterator[Tokens]:
    """Return the runs of `order` words of a sentence and its bounds, with the ordinals of placeholders dropped."""
    return word_runs(_bounded(sentence), order)


def _bounded(sentence: Sequence[str]) -> Tokens:
    # Some corpora's texts end with marks, others' do not.
    own = sentence[:-1] if strip_joiner(sentence[-1]) in ENDS else sentence
    return (BOUND, *values_alike(own), BOUND)


def _subject_at(sentence: Tokens) -> int:
    """Return the index where a sentence's subject begins: after "sure," or "yes,"."""
    return 2 if len(sentence) > 2 and strip_joiner(sentence[1]) == "," else 0
