"""Phrases: the words that express one slot in a sentence, which can be removed from a text or inserted in another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import filterfalse, islice, pairwise
from typing import NamedTuple

from dactnlg._utils.ranking import ascending
from dactnlg.generation.unseen.pieces import Alternatives, Said, bare
from dactnlg.text.grammar.fluency import BOUND, Fluency
from dactnlg.text.placeholders import is_placeholder, values_alike
from dactnlg.text.sentences import Tokens
from dactnlg.text.surface import strip_joiner

LONGEST = 9
"""Maximum number of words in a phrase."""
MOST_PHRASES = 40
"""Maximum number of phrases tried for a slot, the most frequent ones."""
MOST_BASES = 80
"""Maximum number of texts to be changed: those that lack the least, then the most frequent ones."""
MOST_KEPT = 60
"""Maximum number of texts kept after each change."""
LACKING, MORE, MANY = 3, 5, 6
"""How many items a text to be changed may lack: `LACKING`, then `MORE` if nothing is found and `MANY` are wanted."""
WIDE = 4
"""How many times as many texts as usual are kept after each change if there is still nothing."""


class Edited(NamedTuple):
    """A text after changes: its tokens, what it says, the frequency of the original text, and the number of changes."""

    tokens: Tokens
    said: Said
    weight: float
    changes: int = 0


class Phrases:
    """Phrases of the texts of some act types.

    Args:
        whole: the texts, by what they say.
        fluency: of the training texts.
        subject: the placeholder of the subject, which is never replaced.
        says: takes what a text says, and some of its words; returns which of that the words say, or None if unknown.
    """

    def __init__(
        self,
        whole: Mapping[Said, Alternatives],
        fluency: Fluency,
        subject: str,
        says: Callable[[Said, Tokens], Said | None],
    ) -> None:
        self._whole, self._fluency, self._subject, self._says = whole, fluency, subject, says
        self._known = {piece.tokens: said for said, group in whole.items() for piece in group}
        self._phrases: dict[str, dict[str, list[tuple[Tokens, Tokens]]]] = {}

    def _of(self, item: str) -> dict[str, list[tuple[Tokens, Tokens]]]:
        """Return the frequent phrases for an item by their first word: as is, and with placeholders unnumbered."""
        found = self._phrases.get(item)
        if found is None:
            weights: dict[Tokens, float] = {}
            for said, group in self._whole.items():
                for piece in group if item in said else ():
                    for phrase in self._removable(piece.tokens, said, item):
                        weights[phrase] = weights.get(phrase, 0.0) + piece.weight
            frequent = sorted(weights, key=lambda phrase: (-weights[phrase], phrase))[:MOST_PHRASES]
            found = {}
            for phrase in frequent:
                inner = tuple(values_alike(phrase))
                found.setdefault(inner[0], []).append((phrase, inner))
            self._phrases[item] = found = dict(sorted(found.items()))
        return found

    def made(self, wanted: Said) -> list[tuple[Tokens, int]]:
        """Return texts that say what is wanted, each with its number of changes, the least doubtful first."""
        found = self._edited(wanted, LACKING)
        if len(wanted) >= MANY:
            found = found or self._edited(wanted, MORE) or self._edited(wanted, MORE, keep=WIDE * MOST_KEPT)
        doubts, strange = self._fluency.doubts, self._fluency.strange_runs
        ended = [((changes + strange(tokens), tokens), (tokens, changes)) for tokens, changes in found.items()]
        ranked = ascending(ended, lambda each: (each[1] + doubts(each[0]), each[0]))
        return [each for _, each in islice(ranked, MOST_KEPT)]

    def _edited(self, wanted: Said, most: int, *, keep: int = MOST_KEPT) -> dict[Tokens, int]:
        """Change texts that lack at most `most` items, and return those that say what is wanted, with their changes.

        Args:
            wanted: what the texts shall say.
            most: how many items a text to be changed may lack.
            keep: how many texts are kept after each change.
        """
        doubts, strange = self._fluency.doubts, self._fluency.strange_runs
        bases = []
        for said, group in self._whole.items():
            lacking, more = len(wanted - said), len(said - wanted - self._fluency.lexicon.counts)
            if lacking <= most and more <= 1 and (said & wanted) and said != wanted:
                bases += [
                    (lacking + 2 * more, -piece.weight, Edited(piece.tokens, said, piece.weight)) for piece in group
                ]
        kept = [edited for *_, edited in sorted(bases)[:MOST_BASES]]
        found: dict[Tokens, int] = {}
        for done in range(most + 1):
            if self._settled(found, done):
                break
            made: dict[Tokens, Edited] = {}
            for text in kept:
                for changed in self._changed(text, wanted):
                    made.setdefault(changed.tokens, changed)
            # A text made earlier, with fewer changes, is kept with these.
            found = {tokens: each.changes for tokens, each in made.items() if each.said == wanted} | found
            # A change adds an item, removes one, or both: texts that need more than the remaining changes are dropped.
            left = [each for each in made.values() if each.said != wanted and _apart(each.said, wanted) <= most - done]
            bounded = [((strange(each.tokens), -each.weight, each.tokens), each) for each in left]
            ranked = ascending(bounded, lambda each: (doubts(each.tokens), -each.weight, each.tokens))
            kept = [each for _, each in islice(ranked, keep)]
        return found

    def _settled(self, found: Mapping[Tokens, int], done: int) -> bool:
        """Whether a text found with `done` changes is so good that further changes cannot make a better one."""
        doubts, strange = self._fluency.doubts, self._fluency.strange_runs
        hopeful = (each for each, changes in found.items() if changes + strange(each) <= done)
        return any(found[each] + doubts(each) <= done for each in hopeful)

    def _changed(self, text: Edited, wanted: Said) -> Iterator[Edited]:
        words = _padded(text.tokens)
        for item in filterfalse(bare, text.said - wanted):
            for start, end in self._spans(text.tokens, item):
                before = words[max(0, start - 1) : start + 1]
                count = end == start + 1 and is_placeholder(item) and self._fluency.countable(before)
                whole = end - start == len(text.tokens)
                fits = not whole and (count or self._meet(before, words[end + 1 : end + 3]))
                if fits and self._says_only(text, start, end, item):
                    rest = (*text.tokens[:start], *text.tokens[end:])
                    yield Edited(rest, text.said - {item}, text.weight, text.changes + 1)
        # Only in one order: the order of insertions does not matter.
        for new in filterfalse(bare, sorted(wanted - text.said)[:1]):
            gaps = ((gap, gap) for gap in range(len(text.tokens)))
            yield from self._with(text, new, gaps if text.said <= wanted else ())
            for old in filterfalse(bare, text.said - wanted - {self._subject}):
                yield from self._with(text, new, self._spans(text.tokens, old), old)

    def _with(self, text: Edited, item: str, spans: Iterable[tuple[int, int]], old: str = "") -> Iterator[Edited]:
        """Yield a text with phrases for an item at the given spans: inserted, or replacing the words for `old`."""
        words, said, phrases = _padded(text.tokens), text.said - {old} | {item}, self._of(item)
        for start, end in spans:
            before, after = words[max(0, start - 1) : start + 1], words[end + 1 : end + 3]
            # Filter by first and last words before the more expensive test whether the joints occur in training.
            heads = self._fluency.following(before) if start else phrases
            tails = self._fluency.preceding(after) if len(after) > 1 else None
            fitting = [
                phrase
                for head, own in phrases.items()
                if head in heads
                for phrase, inner in own
                if (tails is None or inner[-1] in tails)
                and self._meet(before, (*inner[:2], *after))
                and self._meet((*before, *inner[-2:]), after)
            ]
            if fitting and (not old or self._says_only(text, start, end, old)):
                for phrase in fitting:
                    longer = (*text.tokens[:start], *phrase, *text.tokens[end:])
                    yield Edited(longer, said, text.weight, text.changes + 1)

    def _removable(self, tokens: Tokens, said: Said, item: str) -> Iterator[Tokens]:
        """Yield the phrases for an item without which the text is a training text, or reads like one."""
        words, values = _padded(tokens), is_placeholder(item)
        plain = values and all(map(is_placeholder, said))
        for start, end in self._spans(tokens, item):
            if self._meet(words[max(0, start - 1) : start + 1], words[end + 1 : end + 3]):
                # That these words and no others say a special value is shown only if the rest is a training text.
                known = plain or self._known.get((*tokens[:start], *tokens[end:])) == said - {item}
                if known or (values and self._says(said, tokens[start:end]) == frozenset({item})):
                    yield tokens[start:end]

    def _says_only(self, text: Edited, start: int, end: int, item: str) -> bool:
        """Whether a span of a text, which has no placeholder other than `item`, says `item` and nothing else."""
        words, only = text.tokens[start:end], frozenset({item})
        # Most spans do not say it, so that what else they say need not be checked.
        return is_placeholder(item) or (self._says(only, words) == only == self._says(text.said, words))

    def _spans(self, tokens: Tokens, item: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of a text that may say only `item`: those without any other placeholder."""
        slots = [-1, *(place for place, token in enumerate(tokens) if is_placeholder(token)), len(tokens)]
        for before, place, after in zip(slots, slots[1:], slots[2:], strict=False):
            if strip_joiner(tokens[place]) == item:
                for start in range(max(before + 1, place - LONGEST + 1), place + 1):
                    for end in range(place + 1, min(after, start + LONGEST) + 1):
                        yield start, end
        for before, after in pairwise(slots) if not is_placeholder(item) else ():
            for start in range(before + 1, after):
                for end in range(start + 1, min(after, start + LONGEST) + 1):
                    yield start, end

    def _meet(self, before: Tokens, after: Tokens) -> bool:
        """Whether the words on both sides of a gap occur together in training."""
        seen = self._fluency.seen
        return (len(before) < 2 or not after or seen((*before[-2:], after[0]))) and (
            len(after) < 2 or not before or seen((before[-1], *after[:2]))
        )


def _apart(said: Said, wanted: Said) -> int:
    """Return the minimum number of changes until a text says what is wanted."""
    return max(len(wanted - said), len(said - wanted))


def _padded(tokens: Tokens) -> Tokens:
    """Return the words of a text between boundary marks, with placeholders unnumbered."""
    return (BOUND, *values_alike(tokens), BOUND)
