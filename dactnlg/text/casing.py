"""How words and values are written, learned from training sentences.

Models see lower-case tokens; a cased corpus gets its capitals back from the forms that its sentences use most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from dactnlg.text.delexicalization import Delexicalized
from dactnlg.text.placeholders import Required, is_placeholder
from dactnlg.text.surface import detokenize, strip_joiner, title_case, tokenize

STYLES: dict[str, Callable[[str], str]] = {
    "as given": lambda value: value,
    "title": title_case,
    "upper": str.upper,
    "lower": str.lower,
}
_STOPS = frozenset({".", "?", "!"})


class Casing:
    """The usual form of words inside and at the start of sentences, and of values.

    Args:
        inside: lower-case token -> usual form within a sentence, where it differs.
        start: the same for the first token of a sentence.
        values: slot -> value as acts write it (folded) -> as sentences write it, where it differs.
        styles: slot -> the style (a key of `STYLES`) that its values usually have; for values never seen.
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
        """Count forms in delexicalised training sentences, each with the slots of its turn."""
        forms: tuple[dict[str, Counter[str]], dict[str, Counter[str]]] = ({}, {})
        surfaces: dict[tuple[str, str], Counter[str]] = {}
        for required, sentence in pairs:
            for token, at_start in zip(sentence.tokens, sentence_starts(sentence.tokens), strict=True):
                if not is_placeholder(token):
                    forms[at_start].setdefault(token.lower(), Counter())[token] += 1
            for item in required:
                filler = sentence.fillers.get(item.placeholder)
                if filler:
                    key = (item.slot.name, item.slot.value or "")
                    surfaces.setdefault(key, Counter())[detokenize(filler)] += 1
        inside, start = ({low: _most(counts) for low, counts in each.items()} for each in forms)
        values: dict[str, dict[str, str]] = {}
        votes: dict[str, Counter[str]] = {}
        # Acts may write one value in several ways; sentences then decide together.
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
            # A word never seen at a start is left as it is inside.
            {low: form for low, form in start.items() if form != inside.get(low, low)},
            values,
            {slot: best for slot, counts in votes.items() if (best := _style(counts)) != "as given"},
        )

    def restore(self, tokens: Sequence[str]) -> list[str]:
        """Give lower-case tokens their usual forms; placeholders stay."""
        return [
            token
            if is_placeholder(token)
            else (self.start.get(token) if at_start else None) or self.inside.get(token, token)
            for token, at_start in zip(tokens, sentence_starts(tokens), strict=True)
        ]

    def filler(self, item: Required) -> tuple[str, ...]:
        """Return the surface tokens that say a slot's value."""
        value = item.slot.value or ""
        known = self.values.get(item.slot.name)
        form = known.get(value.casefold()) if known else None
        style = "as given" if form is not None else self.styles.get(item.slot.name, "as given")
        return _surface(value if form is None else form, style)

    def to_json(self) -> dict[str, Any]:
        """Return what `Casing(**data)` takes."""
        return {"inside": self.inside, "start": self.start, "values": self.values, "styles": self.styles}


@lru_cache(maxsize=1 << 14)
def _surface(form: str, style: str) -> tuple[str, ...]:
    return tuple(tokenize(STYLES[style](form)))


def sentence_starts(tokens: Sequence[str]) -> list[bool]:
    """Return for each token whether a sentence begins with it."""
    starts, fresh = [], True
    for token in tokens:
        starts.append(fresh)
        fresh = strip_joiner(token) in _STOPS
    return starts


def _most(counts: Counter[str]) -> str:
    return min(counts, key=lambda form: (-counts[form], form))


def _style(counts: Counter[str]) -> str:
    # The order of STYLES breaks ties, so that values are changed only where that explains more.
    return max(STYLES, key=lambda style: counts[style])
