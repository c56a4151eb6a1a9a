"""Antecedents: replacing "it" where a text mentions only several things, or nothing, that it could refer to."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.text.grammar.asking import ends_open
from dactnlg.text.grammar.lexicon import Lexicon
from dactnlg.text.grammar.phrasing import with_object
from dactnlg.text.sentences import PRONOUN, Tokens
from dactnlg.text.surface import plain
from dactnlg.text.values.plurals import pluralized

_ANY = "any"


def referred(sentences: Sequence[Tokens], lexicon: Lexicon) -> list[Tokens]:
    """Return the sentences of a text with "it" replaced where it has no antecedent, unless they contain a name.

    "Speaking of pubs in the south, have you tried it?" asks whether one has tried any. "You said that you like. Do you
    like cheap pubs?" lacks the object of "like": pubs.
    """
    words = [word for sentence in sentences for word in plain(sentence)]
    kinds = {pluralized(thing) for thing in lexicon.things}
    named = [word for word in words if word in lexicon.things | kinds]
    if lexicon.subject in words or not named or named[0] not in kinds:
        return list(sentences)
    if len({*named}) == 1:
        sentences = [with_object(own, named[0]) if ends_open(plain(own)) else own for own in sentences]
    once = words.count(PRONOUN) == 1
    return [(*own[:-2], _ANY, own[-1]) if once and plain(own)[-2:] == [PRONOUN, "?"] else own for own in sentences]
