"""Joins: the words of a template next to a value that depend on the value.

    the SLOT_NAME is nice        The Opal    ->  The Opal is nice
    serves SLOT_FOOD food        sea food    ->  serves sea food
    there are SLOT_COUNT inns    1           ->  there is 1 inn
    SLOT_AIRLINE's flight        SAS         ->  SAS' flight
    out on SLOT_RELEASE          2019        ->  out in 2019
    any SLOT_SPECIFIER games     newest      ->  the newest games
    the most SLOT_SPECIFIER one  newest      ->  the newest one
    with a SLOT_ACCESSORIES      3d glasses  ->  with 3d glasses
    serves SLOT_FOOD food        burgers     ->  serves burgers
    in the SLOT_AREA of town     old town    ->  in the old town

A value is the user's and stays as it is, so it is the template's words that go or change. Nearly always there is
nothing to do, and that is decided from a few words of template and value, each computed once.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

from dactnlg.text.grammar.english import ARTICLES, FUNCTION_WORDS
from dactnlg.text.grammar.plurals import NO_NOUN, Noun, counted_noun, renumber
from dactnlg.text.surface import unused_mark
from dactnlg.text.values.edges import BARE, WORD, Edges, stem, telling
from dactnlg.text.values.times import OTHERS

_ANY = frozenset({"a", "an", "any", "another", "some"})
_DEGREES = frozenset({"most", "very"})
_NO_MORE = r"(?![\w'’-])"
_LAST = re.compile(rf"(?<![\w'’-])({WORD}) $")
_POSSESSIVE = re.compile(r"['’]s?(?= (?:[^\W\d_]|$))")
_OPEN_QUOTE = re.compile(r"(?:^| )['‘][^'’]*$")
_FIRST = re.compile(rf" ({WORD}){_NO_MORE}")
_WHOLE = re.compile(rf" of ({WORD}){_NO_MORE}")
# Up to four words that are doubled, the second time within a sentence.
_TWICE = re.compile(rf"(?<![\w'’-])({WORD}(?: {WORD}){{0,3}}?)(?: (?=[^\WA-Z])(?i:\1){_NO_MORE})+")
_TWO_ARTICLES = re.compile(r"(?<![\w'’-])(?:[Aa]n?|[Tt]he) (?=(?:an?|the) )")
# Words that English doubles legitimately.
_DOUBLED = frozenset({"bye", "ha", "had", "no", "now", "really", "so", "very", "well"})

_JOINED = frozenset({" and ", " or "})
"""What joins two values that may share one noun."""


class Joint(NamedTuple):
    """The words of a template next to a placeholder, to be compared with the `Edges` of its value.

    Attributes:
        place: the index of the placeholder in the sentence.
        before: the word before it, folded, an article as "the"; "" for a function word.
        behind: the word after it, folded and without a plural ending; "" for a function word.
        word: the word after it, folded.
        noun: the noun that it counts, if it is a count.
        misowner: the possessive ending, "'s" or "'", that is not used and would fit other values; "" if neither is.
        mistime: "in" or "on", the one that is not used before it and would fit other times; "" if neither is.
        misarticle: what would replace its "a" or "any" before other values: "the", or `BARE` if no noun follows; "" if
            it has neither.
        whole: what it is said to be part of, "town" in "of town", without a plural ending; "" if of nothing.
        joined: whether it is joined to the preceding value: "4 and 1 ports" has one noun for both.
    """

    place: int
    before: str
    behind: str
    word: str
    noun: Noun
    misowner: str
    mistime: str
    misarticle: str
    whole: str
    joined: bool


class Edit(NamedTuple):
    """What has to change next to a value.

    Attributes:
        joint: the place of the value, and the words next to it.
        before: whether the word before it is dropped.
        behind: what is left of the word after it; None if it is unchanged.
        number: the number that the noun after it must take; 0 if unchanged.
        possessive: the possessive ending that it must take; "" if unchanged.
        time: the preposition that it must take, "in" or "on"; "" if unchanged.
        article: what must replace "a" or "any" before it: "the", or `BARE`; "" if unchanged.
        part: whether what it is said to be part of is dropped.
    """

    joint: Joint
    before: bool
    behind: str | None
    number: int
    possessive: str
    time: str
    article: str
    part: bool


def find_joints(parts: Sequence[str], known: Container[str]) -> tuple[Joint, ...]:
    """Return the joints of a template, for the values on which anything could depend.

    Args:
        parts: the raw sentence before, between and after its values.
        known: the words of the corpus: a noun must be known in both numbers.
    """
    mark = unused_mark("".join(parts))
    words = mark.join(parts).split(" ")
    found = []
    for place, (part, behind, at) in enumerate(zip(parts, parts[1:], _places(words, mark), strict=False)):
        last, first = _LAST.search(part), _FIRST.match(behind)
        before, word = last[1].casefold() if last else "", first[1].casefold() if first else ""
        noun = counted_noun(words, at, mark, known) if words[at] == mark else NO_NOUN
        before = "the" if before in ARTICLES else telling(before)
        misowner, mistime = _misowner(part, behind), OTHERS.get(last[1].casefold(), "") if last else ""
        misarticle = _misarticle(last[1].casefold() if last else "", behind)
        misfits = misowner, mistime, misarticle
        whole = _WHOLE.match(behind) if word == "of" else None
        own = stem(telling(whole[1].casefold())) if whole else ""
        joined = place > 0 and part in _JOINED
        joint = Joint(place, before, stem(telling(word)), word, noun, *misfits, own, joined)
        if before or joint.behind or noun.place >= 0 or own or any(misfits):
            found.append(joint)
    return tuple(found)


def find_edits(joints: Sequence[Joint], edges: Sequence[Edges]) -> tuple[Edit, ...]:
    """Return what has to change next to values, given the edges of all; nearly always empty."""
    found: tuple[Edit, ...] = ()
    for joint in joints:
        place, before, behind, _, noun, misowner, mistime, misarticle, whole, joined = joint
        edge = edges[place]._replace(number=0) if joined and edges[place - 1].number else edges[place]
        head, tail, _, number, possessive, time, article, _ = edge
        owned, timed = misowner and possessive == misowner, mistime and time == mistime
        other = (misarticle and article == misarticle) or _is_food(behind, edge)
        other = other or _says_whole(whole, edge)
        if head == before or tail == behind or number == noun.misfit or owned or timed or other:
            found += (_edit(joint, edge),)
    return found


def refit(parts: Sequence[str], edits: Sequence[Edit]) -> tuple[str, ...]:
    """Return a raw sentence before, between and after its values, with the words next to these changed."""
    mark = unused_mark("".join(parts))
    words = mark.join(parts).split(" ")
    places = _places(words, mark)
    # From the last one backwards, as words may be deleted.
    for edit in reversed(edits):
        if edit.number:
            renumber(words, places[edit.joint.place], edit.joint.noun)
    out = " ".join(words).split(mark)
    for edit in edits:
        place = edit.joint.place
        if edit.possessive:
            out[place + 1] = _POSSESSIVE.sub(edit.possessive, out[place + 1], count=1)
        if edit.before or edit.article == BARE:
            out[place] = _LAST.sub("", out[place])
        elif article := edit.article:
            out[place] = _LAST.sub(lambda last: f"{_as(last[1], article)} ", out[place])
        if edit.time:
            # "in" and "on" have the same length.
            out[place] = f"{out[place][:-3]}{_as(out[place][-3], edit.time)} "
        if edit.part:
            out[place + 1] = _WHOLE.sub("", out[place + 1], count=1)
        elif edit.behind is not None:
            out[place + 1] = _FIRST.sub(edit.behind, out[place + 1], count=1)
    return tuple(out)


def undoubled(parts: Sequence[str]) -> tuple[str, ...]:
    """Return a raw sentence before, between and after its values, without doubled words and doubled articles."""
    return tuple([_TWO_ARTICLES.sub("", _TWICE.sub(_once, part)) for part in parts])


def _as(word: str, other: str) -> str:
    """Return `other`, capitalised if `word` is."""
    return other.capitalize() if word[0].isupper() else other


def _places(words: Sequence[str], mark: str) -> list[int]:
    """Return, for each value, the index of the word of the sentence that it is, or is in."""
    return [place for place, word in enumerate(words) for _ in range(word.count(mark))]


def _once(match: re.Match[str]) -> str:
    return match.group() if match[1].casefold() in _DOUBLED else match[1]


def _edit(joint: Joint, edge: Edges) -> Edit:
    behind = "" if _is_food(joint.behind, edge) else None
    if edge.tail == joint.behind:
        # "restaurant" and " restaurants" make "restaurants".
        behind = joint.word.removeprefix(edge.last) if joint.word.startswith(edge.last) else ""
        behind = behind if behind in ("s", "es") else ""
    possessive = joint.misowner if joint.misowner == edge.possessive else ""
    number = edge.number if edge.number == joint.noun.misfit else 0
    time = joint.mistime if joint.mistime == edge.time else ""
    article = joint.misarticle if joint.misarticle == edge.article else ""
    if article and joint.before in _DEGREES:
        # The superlative's own ending says as much.
        article = BARE
    part = _says_whole(joint.whole, edge)
    return Edit(joint, edge.head == joint.before, behind, number, possessive, time, article, part)


def _is_food(behind: str, edge: Edges) -> bool:
    """Whether the word "food" after a value is superfluous: "burgers food", "seafood food"."""
    return behind == "food" and (edge.article == BARE or (edge.tail or "").endswith("food"))


def _says_whole(whole: str, edge: Edges) -> bool:
    """Whether a value says itself what it is said to be part of: "in the old town of town"."""
    return bool(whole) and (edge.part or edge.tail == whole)


def _misarticle(before: str, behind: str) -> str:
    """Return what could replace "a" or "any" between two texts: "the" if a noun follows, else `BARE`, or "".

    The "most" of "the most" is dropped before a superlative, too.
    """
    if before in _DEGREES:
        return "the"
    following = _FIRST.match(behind)
    # The next value is one as well: "a 1300 dollars television".
    noun = behind == " " or (following is not None and following[1].casefold() not in FUNCTION_WORDS)
    return "" if before not in _ANY else "the" if noun else BARE if before in ARTICLES else ""


def _misowner(part: str, behind: str) -> str:
    """Return the possessive ending, "'s" or "'", that the text after a value lacks; "" if it begins with neither."""
    found = _POSSESSIVE.match(behind)
    if not found or (len(found.group()) == 1 and _OPEN_QUOTE.search(part)):
        return ""
    return "'" if len(found.group()) == 2 else "'s"
