"""Fluency: what in a text training never had, by runs of a few words; and sentences without a verb."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from math import log1p

from dactnlg._utils.memory import Memory
from dactnlg.text.clauses import faults, learned_verbs, splices
from dactnlg.text.copulas import Copulas
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.segments import PRONOUN, split_segments
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import ENDS, Tokens

ORDER = 4
"""Words of a run: shorter ones are seen in nearly any order of words, longer ones training has seldom twice."""
REMEMBERED = 20_000, 16 << 20
"""Sentences whose doubts are remembered, at most, and their bytes."""
BOUND = ""
"""Stands before and behind a sentence."""


class Fluency:
    """Counts what is strange in delexicalised texts.

    Args:
        texts: of training, delexicalised.
        english: whether they are in English, whose clauses are known.
    """

    def __init__(self, texts: Iterable[Sequence[str]], *, english: bool) -> None:
        self._runs: Counter[Tokens] = Counter()
        self._known: Memory[int] = Memory(*REMEMBERED)
        pairs: Counter[tuple[str, str]] = Counter()
        sentences = [sentence for text in texts for sentence in split_segments(text)]
        for sentence in sentences:
            pairs.update(pairwise(map(strip_joiner, sentence)))
            self._runs.update(runs(sentence, ORDER))
            self._runs.update(runs(sentence, ORDER - 1))
        self._verbs = learned_verbs(pairs) if english else frozenset()
        self._copulas = Copulas(sentences if english else ())

    def doubts(self, tokens: Sequence[str], *, strict: bool = True) -> int:
        """Return how many runs of words training never had, and the faults of clauses and of beginnings.

        Args:
            tokens: the text.
            strict: count clauses that only a comma joins as faults as well, as some corpora say nearly all they say.
        """
        sentences = split_segments(tokens)
        found = 2 * sum(map(splices, sentences)) if strict and self._verbs else 0
        found += sum(map(self._doubts_of, sentences))
        if len(sentences) == 1:
            return found
        # What one sentence has said in the same words the next one does not say again.
        own = [
            {run for run in runs(s, ORDER) if BOUND not in run[1:] and not any(map(is_placeholder, run))}
            for s in sentences
        ]
        return found + (sum(map(len, own)) > len(set().union(*own)))

    def _doubts_of(self, sentence: Tokens) -> int:
        """Return the doubts about one sentence; texts that are composed share theirs."""
        found = self._known.get(sentence)
        if found is None:
            # "It" may begin a sentence wherever it may stand.
            known = self._verbs if sentence[0] == PRONOUN else ()
            start = len(sentence) > 1 and strip_joiner(sentence[1]) in known
            found = sum(run not in self._runs for run in islice(runs(sentence, ORDER), int(start), None))
            if self._verbs:
                found += faults(sentence, self._verbs) + 2 * self._copulas.faults(sentence)
            self._known.put(sentence, found, 60 * len(sentence))
        return found

    def seen(self, run: Tokens) -> bool:
        """Whether training has a run of three or four words within a sentence."""
        return run in self._runs

    def commonness(self, tokens: Sequence[str]) -> float:
        """Return the mean logarithm of how often training has the runs of three words, higher for usual words."""
        found = [log1p(self._runs[run]) for part in split_segments(tokens) for run in runs(part, ORDER - 1)]
        return sum(found) / max(1, len(found))


def runs(sentence: Sequence[str], order: int) -> Iterator[Tokens]:
    """Yield the runs of so many words of a sentence with its bounds; values of one slot are alike."""
    # Texts of some corpora end with marks and texts of others do not.
    own = sentence[:-1] if strip_joiner(sentence[-1]) in ENDS else sentence
    words = (BOUND, *map(_plain, own), BOUND)
    yield from zip(*(words[start:] for start in range(order)), strict=False)


def _plain(token: str) -> str:
    return token.partition("#")[0] if is_placeholder(token) else token
