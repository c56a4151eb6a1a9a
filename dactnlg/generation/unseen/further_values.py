"""Further values: adding values to a text, each next to another one of its slot: "arcade, party and puzzle"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dactnlg.acts import Slot, Turn
from dactnlg.text.corrections.several import made_plural
from dactnlg.text.grammar.denials import denies
from dactnlg.text.grammar.english import CONJUNCTIONS
from dactnlg.text.placeholders import Required, without_ordinal
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.sentences import Tokens, split_sentences
from dactnlg.text.surface import JOINER, strip_joiner, tokenize


class Joined(NamedTuple):
    """A text with one value added, and the positions of the first and the last value of its slot."""

    tokens: Tokens
    first: int
    last: int


class FurtherValues:
    """Adds values to texts that say others of their slots. Several threads may use one.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._delexicalizer = preprocessor, preprocessor.delexicalizer

    def added(self, known: Turn, tokens: Tokens, items: Sequence[Required], *, several: bool) -> Tokens:
        """Return a text with values added, each next to the last value of its slot.

        Args:
            known: what the text says.
            tokens: the text.
            items: the values.
            several: whether to change words to the plural for several values.
        """
        for item in items:
            tokens, first, last = self._beside(known, tokens, item)
            if several and "and" in tokens[first:last]:
                tokens = made_plural(tokens, first, last, item.slot.name)
        return tokens

    def _beside(self, known: Turn, tokens: Tokens, item: Required) -> Joined:
        """Add a value to a text, next to the last value of the same slot."""
        base = without_ordinal(item.placeholder)
        own = [place for place, token in enumerate(tokens) if without_ordinal(strip_joiner(token)) == base]
        if not own:
            return self._beside_words(known, tokens, item)
        # A placeholder attached to a neighbouring word is left as it is.
        if tokens[own[-1]] != strip_joiner(tokens[own[-1]]):
            return Joined(tokens, 0, 0)
        last, before = own[-1], own[-2] if len(own) > 1 else -1
        joint = strip_joiner(tokens[last - 1]) if before == last - 2 else ""
        start, between, rest = tokens[: last + 1], self._conjunction(tokens[:last], item), tokens[last + 1 :]
        if before == last - 1 and before >= 0:
            # "An arcade party game" has no commas.
            between = ()
        elif joint in CONJUNCTIONS:
            # "Arcade and party" becomes "arcade, party and puzzle".
            start, between = tokens[: last - 1], (f"{JOINER},", tokens[last], tokens[last - 1])
        elif joint == ",":
            between = (f"{JOINER},",)
        return Joined((*start, *between, item.placeholder, *rest), own[0], len(start) + len(between))

    def _beside_words(self, known: Turn, tokens: Tokens, item: Required) -> Joined:
        """Add a value to a text, next to a known lexicalised value of the same slot: "a French and Thai pub"."""
        name = item.slot.name
        said = [slot for act, slot in known.slots() if (act.act_type, slot.name) == (item.act_type, name)]
        mentions, _ = self._delexicalizer.mentions(
            [Required("", item.act_type, Slot(name, slot.value)) for slot in said], tokens
        )
        if not mentions or tokens[mentions[-1].end - 1].endswith(JOINER):
            return Joined(tokens, 0, 0)
        start, end = mentions[-1].start, mentions[-1].end
        between = self._conjunction(tokens[:start], item)
        words = [item.placeholder] if item.placeholder else tokenize(item.slot.folded)
        last = end + len(between) + len(words) - 1
        return Joined((*tokens[:end], *between, *words, *tokens[end:]), start, last)

    def _conjunction(self, before: Tokens, item: Required) -> Tokens:
        """Return the conjunction (or comma) that joins a value to the only one of its slot, which follows `before`."""
        if self._preprocessor.style.language != "en":
            return (f"{JOINER},",)
        clause = split_sentences((*before, item.placeholder))[-1]
        # "You can't go wrong with SLOT_NAME: it has views of ..." denies nothing after its colon.
        last = max((at for at, token in enumerate(clause, 1) if strip_joiner(token) in (":", ";")), default=0)
        denied = denies(clause[last:])
        either = denied or self._preprocessor.manners.is_question(item.act_type)
        return ("or",) if either else ("and",)
