"""Realisation: from the raw form of a sentence to the text that a reader sees.

The rules are for sentences, not values: a value is the user's name or number and stays as it is. So a sentence is made
readable around its values (`realize_around`), and they are filled in last (`Form.filled`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from dactnlg._utils.memory import remembered
from dactnlg.text.questions import is_careless, is_choice, is_question, is_request, with_question_marks
from dactnlg.text.surface import unused_mark
from dactnlg.text.values.capitals import capital, capitalize_names
from dactnlg.text.values.edges import Edges
from dactnlg.text.values.morphemes import ending_of, join_morphemes
from dactnlg.text.values.punctuation import punctuated
from dactnlg.text.values.times import has_house_number

_SPACE_BEFORE_MARK = re.compile(r" (?=[,.;:?!](?:[ ,.;:?!]|$))")
_SECOND_STOP = re.compile(r"(?<=[.?!])(?<![.?!,;:].)\.$")
_I = re.compile(r"(?<![\w.'’-])i(?=$|[,'’?!])")
# A pattern that begins with a letter is found fast, so what must precede the letter is checked after it.
_ARTICLE = re.compile(r"(?P<article>a(?<![\w.'’-]a))n?(?= (?P<following>[^\W_]\w*))")
# A capital "A" inside a sentence is a name ("plan A offers"), not an article.
_FIRST_ARTICLE = re.compile(r"(?P<article>(?:^|[.?!][\"')]* )[\"'(]*A)n?(?= (?P<following>[^\W_]\w*))")
# Before these words an "a" is not an article: "grade a and up".
_NEVER_AFTER_ARTICLE = frozenset({"a", "an", "and", "are", "as", "at", "in", "is", "of", "on", "or"})
# The sound decides, not the letter: an hour, a unit, an 8 km walk.
_VOWEL_SOUND = re.compile(
    r"(?:[aeio]|u(?!ni(?!n|m)|r[aiu]|s[aeiu]|sb|t[aei]|k)|hour|honest|honou?r|heir|hdmi|x-?box|8|11(?!\d)|18(?!\d))",
    re.I,
)
_CONSONANT_SOUND = re.compile(r"(?:eu|ewe|one\b|once\b)", re.I)
# Read letter by letter, the first by its name: an "f" grade, an L7, an RTS, a T (for Teen).
_SPELT_OUT = re.compile(r"[A-Za-z]\d*|[B-DF-HJ-NP-TV-Z]{2,}|MMO[A-Z]*")
_VOWEL_NAMES = frozenset("aefhilmnorsx")
# A lower-case word that starts a sentence, unless it has its own capitals (iPhone) or follows "a.m.".
_LOWER_START = r"[\"'(]*[^\W\d_](?![^\W\d_]*[A-Z])"
_FIRST_START = re.compile(f"^{_LOWER_START}")
_LATER_START = re.compile(rf"[.?!](?<!\.\w[.?!])[\"')]* {_LOWER_START}")
_BETWEEN_SENTENCES = re.compile(r"[.?!] ")
_ON = " on "
_ENDS = tuple(".?!…。？！।॥؟۔։።፧။។")
_CLOSING = " \"'”’“»)]」"
_EMOJI_AT_END = re.compile("[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]\ufe0f?$")
_MARKS = ".?!…,;:"
_FOLLOWING = re.compile(r"[^\W_]\w*")
# In the text before a value: an article that may have to agree with it, and the start of a sentence.
_ARTICLE_BEFORE = re.compile(r"(?:(?:^|[.?!][\"')]* )[\"'(]*(?=A)|(?<![\w.'’-])(?=a))(?P<usual>[aA]n? )$")
_START_BEFORE = re.compile(r"(?:^|[.?!](?<!\.\w[.?!])[\"')]* )[\"'(]*$")
_ENDING_BEHIND = re.compile(r"(?: -([a-z]{1,3})|(s))(?=$|[ ,.;:?!])")
_POSSESSIVE, _POSSESSIVE_END = re.compile(r"['’]s(?!\w)"), re.compile(r"['’]s$")


class Hole(NamedTuple):
    """The place of a value in a form.

    Attributes:
        starts: whether it starts a sentence.
        article: the "a" or "A" before it, which agrees with the value; "" if there is none.
        usual: the article as written, for values that do not begin with a word.
        ending: a morpheme to be attached to the value, such as "s"; "" if there is none.
    """

    starts: bool
    article: str
    usual: str
    ending: str


class Value(NamedTuple):
    """A value as it is put into sentences; the text around it may depend only on these attributes.

    Attributes:
        raw: as raw sentences have it.
        text: as readers see it.
        start: as readers see it at the start of a sentence.
        an: whether it takes "an" rather than "a"; None if it does not begin with a word.
        last: its final mark, one of `.?!…,;:`; "" if there is none.
        edges: what the words of a template next to it depend on.
        housed: whether it is an address with a house number, which takes "at" and not "on".
    """

    raw: str
    text: str
    start: str
    an: bool | None
    last: str
    edges: Edges
    housed: bool

    @classmethod
    def of(cls, raw: str, text: str, *, named: bool = False) -> Value:
        """Return a value with these written forms; one that is `named`, the name of a thing, is not a count."""
        # The word read first decides: "an $800 fare".
        following = _FOLLOWING.match(text.lstrip("$£€"))
        an = None
        if following and (following.group() not in _NEVER_AFTER_ARTICLE or text.startswith("+", following.end())):
            an = _sounds_like_vowel(following.group())
        last = text[-1:] if text[-1:] in _MARKS else ""
        edges = Edges.of(text)._replace(number=0) if named else Edges.of(text)
        return cls(raw, text, _FIRST_START.sub(capital, text), an, last, edges, has_house_number(text))


class Form(NamedTuple):
    """A sentence for readers without its values, which are filled in last and stay as they are.

    Attributes:
        parts: the text before, between and after the values.
        holes: the places of the values.
        end: the mark to append to the sentence, unless its last value has one.
    """

    parts: tuple[str, ...]
    holes: tuple[Hole, ...]
    end: str

    def filled(self, values: Sequence[Value]) -> str:
        """Return the sentence with its values."""
        out = [self.parts[0]]
        for hole, value, part in zip(self.holes, values, self.parts[1:], strict=True):
            if value.housed and out[-1].endswith(_ON):
                out[-1] = f"{out[-1].removesuffix(_ON)} at "
            if hole.article:
                out.append(hole.usual if value.an is None else hole.article + ("n " if value.an else " "))
            out.append(value.start if hole.starts else value.text)
            if hole.ending:
                out.append(ending_of(value.text, hole.ending))
            elif value.last and _repeats(value.last, part):
                part = part[1:]
            elif _POSSESSIVE.match(part) and _POSSESSIVE_END.search(value.text):
                # "St. John's" is already a possessive.
                part = part[2:]
            out.append(part)
        text = "".join(out)
        return text if not self.end or _ended(text) else text + self.end


def realize(raw: str, *, question: bool | None = None) -> str:
    """Return the text of a raw sentence.

    Joins morphemes (`kid -s`, `moderate -ly`), removes spaces before punctuation, makes a/an agree with the next word,
    starts sentences with a capital and ends them with one mark, and capitalises nationalities. Numbers are unchanged.

    Args:
        raw: the raw form, in which the values are unknown. If they are known, `realize_around` leaves them unchanged.
        question: whether the sentence is a question; None to decide by its first word.
    """
    return realize_around([raw], question=question).filled([])


def realize_around(
    parts: Sequence[str], *, question: bool | None = None, english: bool = True, spaced: bool = True
) -> Form:
    """Return the text of a raw sentence around its values, by the rules of `realize`.

    Args:
        parts: the raw form before, between and after the values.
        question: see `realize`.
        english: whether the rules of English apply: a/an, "I", nationalities, questions by their first word.
        spaced: whether the corpus sets punctuation apart, as RNNLG does. If not, in languages other than English, a
            space before a mark belongs to the sentence: "Quelle pièce ?".
    """
    mark = unused_mark("".join(parts))
    text = " ".join(mark.join(parts).split())
    for rule in _RULES:
        holds = english or not (rule.english or (rule.spaced and not spaced))
        if holds and (rule.needed is None or rule.needed(text)):
            text = rule.apply(text)
    end = ""
    if text and not _ended(text):
        end = "?" if (_asks(text, question=question) if english else question and "?" not in text) else "."
    text = with_question_marks(text, asking=bool(question)) if english else text
    if end and not text.rstrip(_CLOSING).endswith(mark):
        text, end = text + end, ""
    return _form(text, mark, end)


def _asks(text: str, *, question: bool | None) -> bool:
    """Whether the last sentence of an English text asks; see `realize` on `question`."""
    *earlier, last = _BETWEEN_SENTENCES.split(text)
    # If an act asks, one sentence does: this one unless another does.
    open_question = question is None or (question and ("?" in text or any(map(is_question, earlier))))
    if open_question:
        goes_on = text.endswith(f"? {last}") and is_choice(last)
        return is_question(last) or goes_on or (bool(question) and is_careless(last))
    return bool(question) and not is_request(last)


def _agree(match: re.Match[str]) -> str:
    following = match["following"]
    if following in _NEVER_AFTER_ARTICLE and not match.string.startswith("+", match.end() + 1 + len(following)):
        return match.group()
    return match["article"] + ("n" if _sounds_like_vowel(following) else "")


@remembered
def _sounds_like_vowel(word: str) -> bool:
    # "An écru hotel": an accent does not matter here.
    word = unicodedata.normalize("NFD", word)[:1] + word[1:]
    if _SPELT_OUT.fullmatch(word):
        return word[0].lower() in _VOWEL_NAMES
    return bool(_VOWEL_SOUND.match(word)) and not _CONSONANT_SOUND.match(word)


@remembered
def _mend_marks(word: str) -> str:
    """Leave one mark after a word; cached, like `_capitalize`, because corpora repeat the same few thousand words."""
    # A value may bring its own mark ("1 Main St." at the end of a sentence); an ellipsis stays.
    if word and word[-1] in ".?!,;:":
        word = _SECOND_STOP.sub("", word[:-1].rstrip(",;:") + word[-1:])
    return word


@remembered
def _capitalize(word: str) -> str:
    return capitalize_names(_I.sub("I", word))


def _ended(text: str) -> bool:
    text = text.rstrip(_CLOSING)
    return text.endswith(_ENDS) or bool(_EMOJI_AT_END.search(text))


def _form(text: str, mark: str, end: str) -> Form:
    """Split a readable sentence at the marks that stand for its values."""
    holes: list[Hole] = []
    parts = [""]
    at = 0
    for piece in text.split(mark):
        behind = at + len(piece)
        if at:
            # The text after the preceding value.
            ending = _ENDING_BEHIND.match(piece)
            if ending:
                holes[-1] = holes[-1]._replace(ending=ending[1] or ending[2])
                piece = piece[ending.end() :]
            parts.append(piece)
        else:
            parts[-1] = piece
        if behind < len(text):
            article = _ARTICLE_BEFORE.search(text, max(behind - 12, 0), behind)
            usual = article["usual"] if article else ""
            parts[-1] = parts[-1].removesuffix(usual)
            starts = bool(_START_BEFORE.search(text, max(behind - 12, 0), behind))
            holes.append(Hole(starts, usual[:1], usual, ""))
        at = behind + len(mark)
    return Form(tuple(parts), tuple(holes), end)


def _repeats(last: str, part: str) -> bool:
    """Whether a text begins with a mark that the preceding value already has: "1 Main St." at the end of a sentence."""
    if part[1:2] not in ("", " "):
        return False
    return part[:1] in (",", ";", ":") if last in ",;:" else part[:1] in (".", last)


class _Rule(NamedTuple):
    """One step of `realize`, on words separated by single spaces.

    Attributes:
        apply: makes the change.
        needed: a fast test that is False only if `apply` would change nothing; None for rules that are fast.
        english: whether it applies to English only.
        spaced: whether it applies to English, and to other corpora that set punctuation apart.
    """

    apply: Callable[[str], str]
    needed: Callable[[str], bool] | None = None
    english: bool = False
    spaced: bool = False


# Applied in this order: each rule reads the output of those before it.
_RULES = (
    _Rule(join_morphemes, lambda text: " -" in text or " '" in text or " n't" in text),
    _Rule(lambda text: text.rstrip(" ,;:")),
    _Rule(partial(_SPACE_BEFORE_MARK.sub, ""), spaced=True),
    _Rule(punctuated, english=True),
    _Rule(lambda text: " ".join(map(_mend_marks, text.split(" ")))),
    _Rule(lambda text: " ".join(map(_capitalize, text.split(" "))), english=True),
    _Rule(partial(_FIRST_START.sub, capital)),
    _Rule(partial(_LATER_START.sub, capital)),
    _Rule(partial(_FIRST_ARTICLE.sub, _agree), lambda text: "A" in text, english=True),
    _Rule(partial(_ARTICLE.sub, _agree), english=True),
)
