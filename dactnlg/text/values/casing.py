"""Truecasing: how words and values are written, learned from training sentences.

Models see lower-case tokens; `Casing.restore` gives them the form that the training sentences use most often.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.sentences import ENDS
from dactnlg.text.surface import detokenize, strip_joiner
from dactnlg.text.values.capitals import lower, title_case, upper
from dactnlg.text.values.delexicalization import Delexicalized
from dactnlg.text.values.numerals import NUMBER_WORDS, clock_apart, in_words

STYLES: dict[str, Callable[[str], str]] = {
    "as given": lambda value: value,
    "title": title_case,
    "upper": upper,
    "lower": lower,
    "in words": in_words,
    "clock apart": clock_apart,
}


class Casing:
    """The most frequent forms of words inside and at the start of sentences, and of values.

    Args:
        inside: lower-case token -> its form within a sentence, if it differs.
        start: lower-case token -> its form at the start of a sentence, if it differs from the one inside.
        values: slot -> value as acts write it (folded) -> value as sentences write it, if it differs.
        styles: slot -> the style (a key of `STYLES`) of most of its values; applied to values not in training.
    """

    def __init__(
        self,
        inside: dict[str, str] | None = None,
        start: dict[str, str] | None = None,
        values: dict[str, dict[str, str]] | None = None,
        styles: dict[str, str] | None = None,
    ) -> None:
        self.inside, self.start = inside or {}, start or {}
        self.values, self.styles = values or {}, styles or {}

    @classmethod
    def learn(cls, pairs: Iterable[tuple[Sequence[Required], Delexicalized]]) -> Casing:
        """Return the casing of delexicalised training sentences, each given with the slots that its turn requires."""
        forms = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
        surfaces: dict[tuple[str, str], Counter[str]] = {}
        for required, sentence in pairs:
            for token, at_start in zip(sentence.tokens, sentence_starts(sentence.tokens), strict=True):
                if not is_placeholder(token):
                    forms[at_start][token.lower()][token] += 1
            for item in required:
                filler = sentence.fillers.get(item.placeholder)
                if filler:
                    key = (item.slot.name, item.slot.value or "")
                    surfaces.setdefault(key, Counter())[_inside(detokenize(filler))] += 1
        inside, start = ({low: _most(counts) for low, counts in each.items()} for each in forms)
        values: dict[str, dict[str, str]] = {}
        votes: dict[str, Counter[str]] = {}
        # Acts may write one value in several ways; the sentences of all are counted together.
        together: dict[tuple[str, str], Counter[str]] = {}
        for (slot, value), counts in surfaces.items():
            together.setdefault((slot, value.casefold()), Counter()).update(counts)
        for (slot, value), counts in surfaces.items():
            usual = _most(together[slot, value.casefold()])
            for style, apply in STYLES.items():
                votes.setdefault(slot, Counter())[style] += sum(counts.values()) * (apply(value) == usual)
            if usual != value:
                values.setdefault(slot, {})[value.casefold()] = usual
        return cls(
            {low: form for low, form in inside.items() if form != low},
            # A word that never starts a training sentence keeps its form inside.
            {low: form for low, form in start.items() if form != inside.get(low, low)},
            values,
            {slot: best for slot, counts in votes.items() if (best := _style(counts)) != "as given"},
        )

    def restore(self, tokens: Sequence[str]) -> list[str]:
        """Return lower-case tokens in their most frequent forms; placeholders stay."""
        return [
            token
            if is_placeholder(token)
            else (self.start.get(token) if at_start else None) or self.inside.get(token, token)
            for token, at_start in zip(tokens, sentence_starts(tokens), strict=True)
        ]

    def value(self, slot_name: str, value: str) -> str:
        """Return a value as training sentences write it; one unseen in training, in the style of its slot."""
        known = self.values.get(slot_name)
        form = known.get(value.casefold()) if known else None
        return STYLES[self.styles.get(slot_name, "as given")](value) if form is None else form

    def to_json(self) -> dict[str, Any]:
        """Return what `Casing(**data)` takes."""
        return {"inside": self.inside, "start": self.start, "values": self.values, "styles": self.styles}


def respaced(form: str, value: str) -> str:
    """Return a value as sentences write it, but spaced as given if only spaces and case differ.

    Corpora with punctuation set apart write "st. john's" as "st . john 's"; readers do not.
    """
    letters = "".join(form.split())
    if letters.casefold() != "".join(value.split()).casefold():
        return form
    chars = iter(letters)
    respelt = [char if char.isspace() else next(chars, "") for char in value]
    return "".join(respelt) if next(chars, None) is None else form


def sentence_starts(tokens: Sequence[str]) -> list[bool]:
    """Return for each token whether a sentence begins with it."""
    starts, fresh = [], True
    for token in tokens:
        starts.append(fresh)
        fresh = strip_joiner(token) in ENDS
    return starts


def _inside(form: str) -> str:
    """Return a value as it is written inside a sentence: "Two" of "Two stops" is "two", "7 a.m" gets its last stop."""
    if form.lower() in NUMBER_WORDS:
        return form.lower()
    return f"{form}." if form[-4:].lower() in (" a.m", " p.m") else form


def _most(counts: Counter[str]) -> str:
    return min(counts, key=lambda form: (-counts[form], form))


def _style(counts: Counter[str]) -> str:
    # The first of STYLES wins a tie: values are changed only if that explains more sentences.
    return max(STYLES, key=lambda style: counts[style])
