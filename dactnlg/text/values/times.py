"""Times and addresses: which preposition stands before a value that is one."""

from __future__ import annotations

import re

OTHERS = {"on": "in", "in": "on"}
"""Each preposition before a time, and the one that other times have."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY = re.compile(rf"(?:{_MONTHS}) \d{{1,2}}(?:st|nd|rd|th)?(?:,? {_YEAR.pattern})?")


def preposition_of_time(value: str) -> str:
    """Return "in" before a year and "on" before a day, in lower case; "" before what is neither."""
    if _YEAR.fullmatch(value):
        return "in"
    return "on" if _DAY.fullmatch(value) else ""


_STREETS = "street|st|road|rd|avenue|ave|boulevard|blvd|lane|drive|square|place|way|yard|court|terrace|parade|row"
_HOUSE = re.compile(rf"\d+[a-z]?(?: ?[-/] ?\d+[a-z]?)? .*\b(?:{_STREETS})\b.*", re.I)


def has_house_number(value: str) -> bool:
    """Whether a value is a house in a street: something is at "43 High Street", and on "High Street"."""
    return value[:1].isdecimal() and bool(_HOUSE.fullmatch(value))
