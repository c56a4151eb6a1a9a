"""Questions: which sentences ask, whatever their final mark."""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"(?:please|thanks?|let me|tell|good ?bye|bye)\b", re.I)
_QUESTION = re.compile(
    r"(?:(?:sorry|so|or|and|ok|okay|well|also|then|i am sorry|i'm sorry),? )*"
    r"(?:(?:what|which|where|when|who|how|why|do|does|did|would|could|can|may|shall|should|is|are|will|have|has)\b)",
    re.I,
)
TAGS = frozenset({"right", "correct"})
"""Words at the end of a statement that make it a question."""
NO_TAG = frozenset({"are", "is", "be", "turn", "go", "the", "all", "that", "this"})
"""Words after which `TAGS` are no tags: "you are right", "is that right"."""
_START = r"(?:^|(?<=[.?!] ))(?:(?:sorry|so|or|and),? )?"
_INVERTED = r"(?:would|do|did|are|can|could|shall|will|have) (?:you|i|we|they)\b"
# "Mt." and "St." end no sentence.
_STOP = r"(?<!\b[^aeiou\W\d_][^aeiou\W\d_])\.(?= |$)"
_WITH_STOP = re.compile(
    rf"({_START}(?:{_INVERTED}|(?:what|how) about\b|(?:what|which|where|how|who)\b[^.?!]* {_INVERTED})[^.?!]*){_STOP}",
    re.I,
)

_CHOICE = r"(?:\w+(?: \w+)?, )+or \w+(?: \w+)?"
_CHOICE_WITH_STOP = re.compile(rf"((?<=\? ){_CHOICE}){_STOP}")
_CARELESS = r"(?:sorry,? )?you (?:do not|don't|dont) (?:care|mind)\b"
_CARELESS_WITH_STOP = re.compile(rf"((?:^|(?<=[.?!] )){_CARELESS}[^.?!]*){_STOP}", re.I)


def is_question(sentence: str) -> bool:
    """Whether a sentence begins with a question word, or ends with a question mark or ", right"."""
    return sentence.rstrip().endswith("?") or bool(_QUESTION.match(sentence)) or _tagged(sentence)


def is_request(sentence: str) -> bool:
    """Whether a sentence is a statement or a request to be told: no question, even in an act that asks."""
    return bool(_STATEMENT.match(sentence)) and not _tagged(sentence)


def _tagged(sentence: str) -> bool:
    """Whether a sentence ends as in "you want a cheap pub, right", "is that correct" or "you said a pub right"."""
    folded = sentence.casefold()
    # Hardly any sentence has one, and tens of thousands are checked.
    if not any(tag in folded for tag in TAGS):
        return False
    *words, last = folded.rstrip(" .").split() or [""]
    if last not in TAGS or not words:
        return False
    said = "you" in words and words[-1] not in NO_TAG and not words[-1].endswith("'re")
    return said or words[-1].endswith(",") or words[-2:] in (["is", "that"], ["is", "this"])


def is_choice(sentence: str) -> bool:
    """Whether a sentence lists the alternatives of a preceding question: "Small, medium, or large"."""
    return bool(re.fullmatch(_CHOICE, sentence))


def is_careless(sentence: str) -> bool:
    """Whether a sentence tells its hearers that they do not care, which they know: in an act that asks, it asks."""
    return bool(re.match(_CARELESS, sentence, re.I))


def with_question_marks(text: str, *, asking: bool = False) -> str:
    """Return a text with question marks after sentences that ask by their word order but end with a full stop.

    Alternatives listed after a question get one, too: "Which size? Small, medium, or large?".

    Args:
        text: any number of sentences.
        asking: whether its act asks; see `is_careless`.
    """
    text = _CHOICE_WITH_STOP.sub(r"\1?", _WITH_STOP.sub(r"\1?", text))
    return _CARELESS_WITH_STOP.sub(r"\1?", text) if asking else text
