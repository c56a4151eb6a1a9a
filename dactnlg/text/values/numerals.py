"""Numbers in plain English: 2 as "two", `7:05am` as "7.05 a.m.", `$1,200` as "1200 dollars".

Times and amounts are as good as the value itself wherever they occur. A number in words is an ordinary word ("one of
the best"), so its context has to be checked: see `mentions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ONES = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen
"""
ONES = _ONES.split()
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBER_WORDS = frozenset([*ONES, *TENS, "hundred", "thousand", "dozen"])
SINGLE = frozenset({"1", "one", "single", "a single"})
"""Values that mean one."""
_WORDS = {word: str(number) for number, word in enumerate(ONES)}
_WORDS |= {word: str(number) for number, word in zip(range(20, 100, 10), TENS, strict=True)}

_HALVES = re.compile(r"(\d{1,2})(?:[:.](\d\d))? ?([ap])\.? ?m\.?")
_DAY = re.compile(r"(\d{1,2}):(\d\d)")
_SMALL = re.compile(r"1?[0-9]|20")
_NUMBER = r"(\d{1,3}(?:,\d{3}){1,5}|\d{1,18})(\.\d\d)?"
_AMOUNT = re.compile(rf"([$£€]) ?{_NUMBER}|{_NUMBER} ?(dollars?|pounds?|euros?|usd|gbp|eur)")
_CURRENCIES = {"$": ("dollar", "usd"), "£": ("pound", "gbp"), "€": ("euro", "eur")}
_LARGE = re.compile(r"\d{1,3}(?:,\d{3}){1,5}|[1-9]\d{3,8}")
_COUNT = re.compile(r"(\d{1,3}|[a-z]+)(?= |$)")


def number_forms(value: str, *, english: bool = True) -> Iterator[str]:
    """Yield other ways to write a time, an amount of money or a large number; nothing for other values.

    Args:
        value: the value.
        english: whether for English; other languages use the 24-hour clock.
    """
    folded = " ".join(value.casefold().split())
    if not any(map(str.isdigit, folded)):
        return
    if (found := _HALVES.fullmatch(folded)) and 1 <= int(found[1]) <= 12:
        yield from _halves(int(found[1]), found[2] or "00", found[3])
        yield from _whole_day(int(found[1]) % 12 + 12 * (found[3] == "p"), found[2] or "00")
    elif (found := _DAY.fullmatch(folded)) and int(found[1]) < 24 and int(found[2]) < 60:
        hour = int(found[1])
        yield from _whole_day(hour, found[2])
        if not english:
            yield from (f"{clock}{mark}{found[2]}" for clock in (hour, f"{hour:02}") for mark in ":.")
        yield from _halves((hour - 1) % 12 + 1, found[2], "ap"[hour > 11])
    elif found := _AMOUNT.fullmatch(folded):
        name = found[6]
        sign = found[1] or next(sign for sign, words in _CURRENCIES.items() if name.rstrip("s") in words)
        yield from _amount(sign, found[2] or found[4], found[3] or found[5] or "")
    elif _LARGE.fullmatch(folded):
        yield from _digits(folded)


def number_in_words(value: str) -> Iterator[str]:
    """Yield the ways to write a small number, or a value that begins with one ("2 bags"), in words or in digits."""
    folded = " ".join(value.casefold().split())
    if not (found := _COUNT.match(folded)):
        return
    rest = folded[found.end() :]
    if found[1].isdigit() and str(int(found[1])) == found[1] and int(found[1]) <= 100:
        number = int(found[1])
        for words in _words(number):
            yield words + rest
        if number == 1:
            yield f"a single{rest}"
            yield f"single{rest}"
        elif number == 0:
            yield f"no{rest}"
    elif found[1] in _WORDS:
        yield _WORDS[found[1]] + rest


def bare_amount(value: str) -> Iterator[str]:
    """Yield the forms of an amount of money without its currency."""
    if found := _AMOUNT.fullmatch(" ".join(value.casefold().split())):
        yield from (number + (found[3] or found[5] or "") for number in _digits(found[2] or found[4]))


def in_words(value: str) -> str:
    """Return a number up to twenty in words, and any other value unchanged."""
    return next(number_in_words(value)) if _SMALL.fullmatch(value) else value


def clock_apart(value: str) -> str:
    """Return a time as "7:05 am", and any other value unchanged."""
    found = _HALVES.fullmatch(value)
    return f"{found[1]}{':' + found[2] if found[2] else ''} {found[3]}m" if found else value


def _halves(hour: int, minutes: str, half: str) -> Iterator[str]:
    for clock in (f"{hour}:{minutes}", f"{hour}.{minutes}", f"{hour:02}:{minutes}", *([f"{hour}"] * (minutes == "00"))):
        for ending in (f"{half}m", f" {half}m", f" {half}.m.", f" {half}.m", f"{half}.m.", f"{half}.m"):
            yield clock + ending


def _whole_day(hour: int, minutes: str) -> Iterator[str]:
    # From one to noon a time without "am" is ambiguous, so hours are written with two digits.
    yield f"{hour:02}:{minutes}"
    if hour > 12:
        yield f"{hour}.{minutes}"


def _amount(sign: str, number: str, cents: str) -> Iterator[str]:
    for digits in _digits(number):
        for ending in {cents, ".00" if not cents else ("" if cents == ".00" else cents)}:
            yield f"{sign}{digits}{ending}"
            for word in _CURRENCIES[sign]:
                yield f"{digits}{ending} {word}"
                yield f"{digits}{ending} {word}s"


def _digits(number: str) -> Iterator[str]:
    """Yield a number as it is written, then with and without commas."""
    bare = number.replace(",", "")
    yield from dict.fromkeys((number, f"{int(bare):,}", bare))


def _words(number: int) -> Iterator[str]:
    if number < len(ONES):
        yield ONES[number]
    elif number == 100:
        yield from ("one hundred", "a hundred", "hundred")
    else:
        tens, ones = TENS[number // 10 - 2], number % 10
        yield from [f"{tens}-{ONES[ones]}", f"{tens} {ONES[ones]}"] if ones else [tens]


def is_time(value: str) -> bool:
    """Whether a value is a time of day."""
    folded = " ".join(value.casefold().split())
    return bool(_HALVES.fullmatch(folded) or _DAY.fullmatch(folded))


def is_amount(value: str) -> bool:
    """Whether a value is an amount of money."""
    return bool(_AMOUNT.fullmatch(" ".join(value.casefold().split())))
