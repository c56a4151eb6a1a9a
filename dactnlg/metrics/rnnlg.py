"""The reference protocol of the RNNLG toolkit (Wen et al. 2015b, section 4), for the preset of that name.

The human sentences of a split are delexicalised and pooled by delexicalised act; each row is scored against the whole
pool of its act, filled with the row's own values. This is deliberately the toolkit's plain string replacement, with its
mistakes, and not `dactnlg.text.values.delexicalization`, which finds more.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from dactnlg.acts import Slot, Turn

Key = tuple[str, ...]

_SPACES = re.compile(r" +")
_FINAL_MARK = re.compile(r" [.?!]$")
_LONE_APOSTROPHE = re.compile(r"^'|'$|'\s|\s'")
_SIGN = re.compile(r"(?<!\d)([?.,!])|([?.,!])(?!\d)")
_POSSESSIVE = re.compile(r"(?<=\S)('s)(?=\s|$)")

# The toolkit expands contractions, splits a closed list of inflected words, and corrects a few spellings.
_PRONOUNS = {"n't": " not", "'d": " would", "'re": " are", "'ll": " will", "'ve": " have", "'m": " am", "'s": " is"}
_CONTRACTED = """
    it's that's what's there's don't doesn't didn't couldn't aren't isn't wasn't weren't
    you'd you're you'll i'm they're i've we've i'd there're
"""
_PLURALS = """
    restaurant hotel laptop dinner lunch breakfast price place venue range meal location area kid card inch use
    dimension include computer machine rating constraint requirement drive specification business hour port
    television restriction driver factor
"""
_ADVERBS = "expensive moderate cheap extreme actual typical definite most nice sure certain total"
_OTHER = {
    "can't": "cannot",
    "won't": "will not",
    "children": "child -s",
    "policies": "policy -s",
    "families": "family -s",
    "accessories": "accessory -s",
    "cheaper": "cheap -er",
    "kidfriendly": "kid friendly",
    "upmarket": "expensive",
    "inpricey": "cheap",
    "st": "street",
    "ave": "avenue",
    "teh": "the",
    "truly": "true -ly",
    "#": "number",
    "&": "and",
    **{f"{first}{last}": f"{first} {last}" for first, last in
       [("drive", "range"), ("eco", "rating"), ("price", "range"), ("battery", "rating"), ("weight", "range"),
        ("hard", "drive"), ("battery", "life")]},
}  # fmt: skip


def _spellings() -> dict[str, str]:
    table = dict(_OTHER)
    for word in _CONTRACTED.split():
        ending = next(e for e in _PRONOUNS if word.endswith(e))
        table[word] = word.removesuffix(ending) + _PRONOUNS[ending]
    table |= {(w + ("es" if w.endswith(("ch", "ss")) else "s")): f"{w} -s" for w in _PLURALS.split()}
    return table | {f"{w}ly": f"{w} -ly" for w in _ADVERBS.split()}


_SPELLINGS = _spellings()


def normalize(sentence: str) -> str:
    """Normalise a sentence as the toolkit does: lower-cased, tokens separated, without a final ` .`, ` ?` or ` !`."""
    text = _FINAL_MARK.sub("", sentence).lower().strip()
    text = text.replace(";", ",").replace("/", " and ").replace(" - ", "")
    text = re.sub(r"[\":<>@]", "", text)
    text = _SIGN.sub(lambda match: f" {match.group()} ", text)
    text = _LONE_APOSTROPHE.sub(lambda match: " " if len(match.group()) > 1 else "", text)
    text = " ".join(_SPELLINGS.get(word, word) for word in text.split(" "))
    return _SPACES.sub(" ", _POSSESSIVE.sub(r" \1", text)).strip()


def group_key(turn: Turn) -> Key:
    """Return the delexicalised act: act types, and the sorted slots, with special values or running numbers."""
    counts: dict[str, int] = {}
    parts = []
    for slot in _plain(turn):
        if slot.value is None or slot.special:
            parts.append(f"{slot.name}={slot.special or '?'}")
        else:
            counts[slot.name] = counts.get(slot.name, 0) + 1
            parts.append(f"{slot.name}=_{counts[slot.name]}")
    return (*(act.act_type for act in turn), *sorted(parts))


def delexicalize(sentence: str, turn: Turn) -> str:
    """Replace the first occurrence of each value by `SLOT_NAME`, longest values first."""
    for slot in sorted(_valued(turn), key=lambda s: len(s.value or ""), reverse=True):
        for wording in _wordings(slot.value or ""):
            # The toolkit stops at the first wording found as a substring, even inside a word, where it replaces
            # nothing.
            if wording in sentence:
                sentence = f" {sentence} ".replace(f" {wording} ", f" {_placeholder(slot)} ", 1)[1:-1]
                break
    return sentence


def lexicalize(template: str, turn: Turn) -> str:
    """Replace placeholders by the turn's values, longest slot names first."""
    for slot in sorted(_valued(turn), key=lambda s: len(s.name), reverse=True):
        template = f" {template} ".replace(f" {_placeholder(slot)} ", f" {slot.value} ", 1)[1:-1]
    return template


def pools(rows: Iterable[tuple[Turn, str]]) -> dict[Key, list[str]]:
    """Return the delexicalised sentences of each delexicalised act, in row order."""
    found: dict[Key, list[str]] = {}
    for turn, sentence in rows:
        found.setdefault(group_key(turn), []).append(delexicalize(normalize(sentence), turn))
    return found


def _plain(turn: Turn) -> list[Slot]:
    return [Slot(slot.name.replace("_", "").replace(" ", ""), slot.value) for _, slot in turn.slots()]


def _valued(turn: Turn) -> list[Slot]:
    return [slot for slot in _plain(turn) if slot.value and not slot.special]


def _placeholder(slot: Slot) -> str:
    return f"SLOT_{slot.name.upper()}"


_MOST_PARTS = 6
"""Longer lists are found only as written: n! orders are too many. RNNLG's own values have two parts."""


def _wordings(value: str) -> Iterable[str]:
    parts = value.replace(" or ", " and ").split(" and ")
    if len(parts) > _MOST_PARTS:
        yield value
        return
    for joint in (" and ", " or "):
        for order in itertools.permutations(parts):
            yield joint.join(order)


_BINARY_CUES = {
    "kidsallowed": {"child", "kid", "kids", "children"},
    "dogsallowed": {"dog", "dogs", "puppy"},
    "hasinternet": {"internet", "wifi"},
    "acceptscreditcards": {"card", "cards"},
    "isforbusinesscomputing": {"business", "nonbusiness", "home", "personal", "general"},
    "hasusbport": {"usb"},
}
_UNCOUNTED = ("?select", "suggest")
"""Acts that the toolkit does not count, since their values may be worded in any way."""


def slot_errors(sentence: str, turn: Turn) -> tuple[int, int]:
    """Return (required, wrong) slots of one sentence by the toolkit's own count, its `ERR`.

    A value counts as said if its placeholder is found after delexicalisation, and a binary slot if one of its key words
    is, whatever is said about it; superfluous ones count as errors.
    """
    if any(act.act_type in _UNCOUNTED for act in turn):
        return 0, 0
    words = delexicalize(sentence, turn).split()
    wanted: dict[str, int] = {}
    for slot in _plain(turn):
        kind = slot.name if slot.name in _BINARY_CUES else _placeholder(slot)
        counts = slot.special not in (None, "?") if slot.name in _BINARY_CUES else slot.value and not slot.special
        if counts and slot.name != "type":
            wanted[kind] = wanted.get(kind, 0) + 1
    found: dict[str, int] = {}
    for word in words:
        if word.startswith("SLOT_") and word != "SLOT_TYPE":
            found[word] = found.get(word, 0) + 1
        for name, cues in _BINARY_CUES.items():
            if word in cues:
                found[name] = found.get(name, 0) + 1
    return sum(wanted.values()), sum(abs(wanted.get(k, 0) - found.get(k, 0)) for k in {*wanted, *found})
