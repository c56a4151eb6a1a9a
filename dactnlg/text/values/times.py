"""Times and addresses: which preposition a value of these kinds takes."""

from __future__ import annotations

import re

OTHERS = {"on": "in", "in": "on"}
"""For each preposition of a time, the one that other times take."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY = re.compile(rf"(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR.pattern})?")


def preposition_of_time(value: str) -> str:
    """Return "in" for a year and "on" for a day, both in lower case; "" for any other value."""
    if _YEAR.fullmatch(value):
        return "in"
    return "on" if _DAY.fullmatch(value) else ""


_STREETS = "street|st|road|rd|avenue|ave|boulevard|blvd|lane|drive|square|place|way|yard|court|terrace|parade|row"
_HOUSE = re.compile(rf"[a-z]?\d+[a-z]?(?: ?[-/] ?\d+[a-z]?)? .*\b(?:{_STREETS})\b.*", re.I)


def has_house_number(value: str) -> bool:
    """Whether a value is an address with a house number: "at 43 High Street", but "on High Street"."""
    return any(map(str.isdecimal, value[:2])) and bool(_HOUSE.fullmatch(value))
