"""Proposed cues: the patterns that indicate the special values of a slot in the training sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from dactnlg.acts import Turn
from dactnlg.data.contrast import LONGEST, Contrast, Telling, merely_names, words_of_name
from dactnlg.data.denial_cues import denial_cues, denying, matching, mostly, phrase_pattern, topic_pattern
from dactnlg.text.slots import OPPOSITES

SURE = 0.8
"""Minimum share of the sentences with `dontcare` or `none` that its cue must find: a search is bound to cues, and a
reader, which every run learns, finds more ways to say that something does not matter than a few phrases."""
Others = Sequence[tuple[str, set[int]]]
"""Other slots, each with the sentences of one of its special values, or of an ordinary one in other words."""


class ProposedCue(NamedTuple):
    """The cue of a special value.

    Attributes:
        patterns: regular expressions for a card, of which one must match; empty if nothing indicates the value.
        shown: what they find, for people to read.
        covered: number of the value's sentences that they find.
        out_of: number of its sentences.
    """

    patterns: tuple[str, ...]
    shown: tuple[str, ...]
    covered: int
    out_of: int

    @classmethod
    def of(cls, telling: Telling) -> ProposedCue:
        """Return the cue that consists of phrases."""
        patterns = tuple(map(phrase_pattern, telling.phrases))
        return cls(patterns, tuple(map(repr, telling.phrases)), telling.covered, telling.out_of)


class CueFinder:
    """Finds the cues of special values.

    Args:
        turns: the acts of the training pairs.
        sentences: their sentences, folded, with masked values.
        language: in English, words that deny are known.
    """

    def __init__(self, turns: Sequence[Turn], sentences: Sequence[str], language: str) -> None:
        self._turns, self._sentences, self._english = turns, sentences, language == "en"
        self.contrast = Contrast(sentences)

    def cues(self, name: str, special: Mapping[str, set[int]], others: Others) -> dict[str, ProposedCue]:
        """Return the cues of a slot.

        Args:
            name: the slot.
            special: its special values, with the indices of the sentences of each.
            others: the other slots.
        """
        found: dict[str, ProposedCue] = {}
        times = [sum(slot.name == name for _, slot in turn.slots()) for turn in self._turns]
        about = {index for index, count in enumerate(times) if count}
        # Choices between values are worded in many ways, and never checked.
        choices = {index for index in about if times[index] > 1}
        special = {value: indices - choices for value, indices in special.items()}
        # "Do you care whether it allows dogs?" contains the words of a yes.
        unstated = about - special.get("yes", set()) - special.get("no", set())
        for value, indices in sorted(special.items()):
            apart = unstated if value in OPPOSITES else choices
            cue = ProposedCue.of(self._telling(name, value, indices, apart, others))
            unsure = value not in OPPOSITES and cue.covered < SURE * cue.out_of
            found[value] = ProposedCue((), (), 0, cue.out_of) if unsure else cue
        if "yes" in found and "no" in found:
            yes, no = special["yes"], special["no"]
            denied = self._denied(name, yes, no, unstated, others)
            if denied and self._tells(denied, yes, no) >= self._tells(found, yes, no):
                found |= denied
        return found

    def _tells(self, cues: Mapping[str, ProposedCue], yes: set[int], no: set[int]) -> int:
        """Return how many more sentences of yes and no are told by their own cue than by that of the other."""
        saying_no = matching(cues["no"].patterns, self._sentences)
        saying_yes = matching(cues["yes"].patterns, self._sentences, no=cues["no"].patterns)
        return len(saying_yes & yes) - len(saying_yes & no) + len(saying_no & no) - len(saying_no & yes)

    def _telling(
        self, name: str, value: str, indices: AbstractSet[int], apart: AbstractSet[int], others: Others, words: int = 2
    ) -> Telling:
        """Return the phrases that indicate a value of a slot.

        Args:
            name: the slot.
            value: the value.
            indices: its sentences.
            apart: sentences that count neither for nor against a phrase.
            others: the other slots.
            words: preferred length of the phrases of a yes or no.
        """
        short = value in OPPOSITES

        def fits(phrase: str) -> bool:
            # Where most games with a Mac release have no Linux release, "it's not available" is about Linux, and so is
            # "no linux release", though "release" is a word of both names. Where no inn in the city centre is for
            # families, "city center" is about the area.
            own, having = words_of_name(phrase, name), self.contrast.having([phrase])
            alike = (slot for slot, held in others if len(having & held) >= len(having & indices))
            if any(not own or words_of_name(phrase, slot) > own for slot in alike):
                return False
            return short or not merely_names(phrase, name)

        # "May or may not serve food" is not indicated by "serve food", so phrases are long, except for yes and no.
        words = words if short else LONGEST
        return self.contrast.telling(indices - apart, apart, name=name, words=words, fits=fits)

    def _denied(
        self, name: str, yes: set[int], no: set[int], unstated: set[int], others: Others
    ) -> dict[str, ProposedCue]:
        """Return the cues of yes and no by which a sentence that denies the topic of a slot says no; {} if it has none.

        "Family friendly" indicates yes unless it is denied, as in "not family friendly" and "it isn't a family friendly
        pub".
        """
        told = self._telling(name, "no", no, unstated, others).phrases
        apart = unstated | self.contrast.having(told) | (denying(self._sentences) if self._english else set())
        topic = self._telling(name, "yes", yes, apart, others, words=1).phrases
        if not topic:
            return {}
        pattern = topic_pattern(topic)
        denials = denial_cues(pattern) if self._english else ()
        patterns = [cue for cue in denials if mostly(matching([cue], self._sentences) - unstated, no)]
        shown = [f"{word!r} denied" for word in topic] if patterns else []
        more = self._telling(name, "no", no, unstated | matching(patterns, self._sentences), others).phrases
        patterns += map(phrase_pattern, more)
        saying_no = matching(patterns, self._sentences)
        saying_yes = matching([pattern], self._sentences) - saying_no
        if not patterns or not mostly(saying_yes - unstated, yes):
            return {}
        undenied = (f"^(?!.*(?&no)).*{pattern}",)
        return {
            "yes": ProposedCue(undenied, tuple(map(repr, topic)), len(saying_yes & yes), len(yes)),
            "no": ProposedCue(tuple(patterns), (*shown, *map(repr, more)), len(saying_no & no), len(no)),
        }
