"""Acts in plain words, for people who do not know the notation."""

from __future__ import annotations

import re
from collections.abc import Collection

from dactnlg._utils.terminal import printable
from dactnlg.acts import Turn
from dactnlg.acts.turn import Slot

_TYPES = {
    "inform": "Tell the user",
    "inform_all": "Tell the user that this holds for all of them",
    "inform_count": "Tell the user how many there are",
    "inform_no_info": "Tell the user that nothing is known about this",
    "inform_no_match": "Tell the user that nothing fits",
    "inform_only": "Tell the user that there is only this one",
    "inform_only_match": "Tell the user that there is only this one",
    "recommend": "Recommend",
    "confirm": "Ask the user whether this is right",
    "request": "Ask the user for",
    "reqmore": "Ask whether the user needs anything else",
    "select": "Ask the user to choose between",
    "suggest": "Suggest",
    "compare": "Compare",
    "offer": "Offer",
    "offer_alternative": "Offer instead",
    "goodbye": "Say goodbye",
    "bye": "Say goodbye",
    "hello": "Greet the user",
    "greet": "Greet the user",
    "welcomemsg": "Welcome the user",
    "thankyou": "Thank the user",
    "repeat": "Ask the user to say it again",
    "request_attribute": "Ask the user what they like, as to",
    "request_explanation": "Ask the user why they think so",
    "give_opinion": "Give an opinion of",
    "verify_attribute": "Ask the user whether they still think so of",
    "canthelp": "Tell the user that there is nothing with",
    "canthelp_exception": "Tell the user that there is nothing with this but",
    "impl_conf": "Show the user that this was understood",
    "expl_conf": "Ask the user whether this is right",
    "affirm": "Say yes",
    "negate": "Say no",
}
_VALUES = {
    "dontcare": "any, it does not matter",
    "dont_care": "any, it does not matter",
    "none": "not known",
    "yes": "yes",
    "no": "no",
    "true": "yes",
    "false": "no",
    "?": "ask for it",
}
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "accepts address allowed area battery business cards computing consumption count credit design dogs drive eat "
        "eco family for friendly good has hdmi internet is kids meal memory name phone platform port power price range "
        "rating screen size type usb utility warranty weight",
    )
)
"""Words that occur in slot names of the field's corpora."""
_SHORT = {
    "addr": "address",
    "eattype": "kind of place",
    "esrb": "age rating (ESRB)",
    "exp_release_date": "expected release date",
}
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-.\s]+")


def in_words(turn: Turn, vocabulary: Collection[str] = ()) -> str:
    """Return a turn in plain words: a line for the act type, followed by one line per slot.

    >>> from dactnlg import parse
    >>> print(in_words(parse("inform(name='Ivy Cutting';dogsAllowed=no)&inform(priceband=free)"), {"price", "band"}))
    Tell the user:
    - name: Ivy Cutting
    - dogs allowed: no
    - price band: free

    Args:
        turn: the turn.
        vocabulary: lower-case words that run-together names may be split into.
    """
    lines: list[str] = []
    heading = ""
    for act in turn:
        name = act.act_type.removeprefix("?")
        known = _TYPES.get(name.lower().replace("-", "_").replace(".", "_"))
        if name.lower() == "request" and any(slot.value not in (None, "?") for slot in act.slots):
            known = "Ask the user for something with"
        said = known or f"{'Ask about' if name != act.act_type else 'Say'} ({spaced(name, vocabulary)})"
        if said != heading or not act.slots:
            lines.append(said + (":" if act.slots else "."))
        heading = said
        lines += [f"- {_slot(slot, vocabulary)}" for slot in act.slots]
    return "\n".join(lines)


def _slot(slot: Slot, vocabulary: Collection[str]) -> str:
    name = spaced(slot.name, vocabulary)
    if slot.value is None:
        return name
    # A line break in a value would look like another slot.
    return f"{name}: {_VALUES.get(slot.value.lower(), printable(' '.join(slot.value.split())))}"


def spaced(name: str, vocabulary: Collection[str] = ()) -> str:
    """Split a run-together name into words.

    >>> spaced("priceRange"), spaced("birdsallowed", {"birds", "bird", "sallow"}), spaced("xyrating")
    ('price range', 'birds allowed', 'xyrating')
    """
    parts = [printable(part.lower()) for part in _WORD_ENDS.split(name) if part]
    # The common words first: the vocabulary may contain "pricerange" itself.
    words = (_apart(part, _COMMON) or _apart(part, _COMMON.union(vocabulary)) or [part] for part in parts)
    return _SHORT.get(name.lower(), " ".join(" ".join(found) for found in words))


def _apart(word: str, vocabulary: Collection[str]) -> list[str]:
    """Split a word into the fewest known words; empty if that is impossible."""
    best: list[list[str] | None] = [[]]
    for end in range(1, len(word) + 1):
        found = [
            [*before, word[start:end]]
            for start in range(max(0, end - 20), end - 1)
            if (before := best[start]) is not None and word[start:end] in vocabulary
        ]
        best.append(min(found, key=len) if found else None)
    return best[-1] or []
