"""Capital letters: of titles, nationalities and acronyms."""

from __future__ import annotations

import re

from dactnlg.text.surface import PIECE

# Words that English always capitalises, mostly cuisines; without those that are also common words (polish).
_CAPITALS = """
    afghan african albanian algerian american arabian argentinian armenian asian australasian australian austrian
    bangladeshi basque bavarian belgian bosnian brazilian british bulgarian burmese cajun californian cambodian
    canadian cantonese caribbean catalan celeron chilean chinese christmas colombian corsica corsican croatian cuban
    cypriot czech danish dutch egyptian english eritrean estonian ethiopian european filipino finnish french georgian
    german ghanaian greek hawaiian himalayan hungarian icelandic indian indonesian intel iranian iraqi irish israeli
    italian jamaican japanese kazakh kenyan korean laotian latin latvian lebanese lithuanian malaysian maltese
    mediterranean mexican mongolian moroccan nepalese nicaraguan nigerian norwegian pakistani pentium persian peruvian
    polynesian portuguese romanian russian salvadoran saudi scandinavian scottish senegalese serbian shanghainese
    sicilian singaporean somali spanish swedish swiss syrian szechuan taiwanese thai tibetan tunisian turkish tuscan
    ukrainian uzbek venetian venezuelan vietnamese welsh yemeni
"""
_ACRONYMS = ("amd", "gb", "hdmi", "nicam", "tb", "usb")
_CAPITALIZED = {word: word.capitalize() for word in _CAPITALS.split()} | {word: word.upper() for word in _ACRONYMS}
_LOWER_WORD = re.compile(r"(?<![\w.'’@/-])[a-z]{2,}(?![\w@]|\.\w)")
_WORD_START = re.compile(r"(?<![\w'’])[^\W\d_]")
# Small words in titles; capitalised only at the beginning.
_SMALL = frozenset({"and", "at", "by", "for", "in", "of", "on", "or", "the"})


def title_case(value: str) -> str:
    """Return a name with every word capitalised, except letters after an apostrophe or a digit."""
    return _WORD_START.sub(capital, value)


def title(value: str) -> str:
    """Return a name in title case: small words stay lower-case ("Inn at the Presidio"), unless they begin it."""
    first = PIECE.search(value)
    if not first:
        return value

    def titled(match: re.Match[str]) -> str:
        small = match.group() in _SMALL and match.start() != first.start()
        # "iPhone" has capitals of its own.
        own = match.group()[1:].lower() != match.group()[1:]
        return match.group() if small or own else title_case(match.group())

    return PIECE.sub(titled, value)


def has_capitals(value: str) -> bool:
    """Whether words of a value begin with a capital."""
    return any(letter.isupper() for letter in _WORD_START.findall(value))


def upper(value: str) -> str:
    """Return a value in upper case, except for the few letters whose upper case is two letters."""
    return "".join([char.upper() if len(char.upper()) == 1 else char for char in value])


def lower(value: str) -> str:
    """Return a value in lower case, except for the few letters whose lower case is two characters."""
    return "".join([char.lower() if len(char.lower()) == 1 else char for char in value])


def capitalize_names(text: str) -> str:
    """Return a text with the words capitalised that English always capitalises: nationalities, a few acronyms."""
    return _LOWER_WORD.sub(lambda match: _CAPITALIZED.get(match.group(), match.group()), text)


def capital(match: re.Match[str]) -> str:
    """Return what a pattern has matched in upper case."""
    return upper(match.group())
