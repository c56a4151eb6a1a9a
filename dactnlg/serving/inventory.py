"""The inventory of a model, for completion: the slots of its act types, its special values, and example acts."""

from __future__ import annotations

from collections import defaultdict

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.text.encoding import ActEncoder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.traits import act_types, slots_of

EXAMPLES, MOST_SLOTS = 3, 3


def slots_of_acts(encoder: ActEncoder) -> dict[str, list[str]]:
    """Return act type -> slots that occur with it in the training data."""
    found: dict[str, set[str]] = {name: set() for name in encoder.act_types}
    for feature in encoder.features:
        act_type, bar, tag = feature.partition("|")
        if bar and act_type in found:
            found[act_type].add(_slot(tag))
    return {name: sorted(slots) for name, slots in sorted(found.items())}


def special_values(encoder: ActEncoder) -> dict[str, list[str]]:
    """Return slot -> its special values in the training data: yes, no, dontcare, those of closed classes."""
    found = defaultdict[str, set[str]](set)
    for feature in encoder.features:
        slot, equals, value = feature.removeprefix("slot:").partition("=")
        if feature.startswith("slot:") and equals and value:
            found[slot].add(value)
    return {slot: sorted(values) for slot, values in sorted(found.items())}


def examples(preprocessor: Preprocessor) -> list[str]:
    """Return acts with the most frequent slot sets of the training data, one per act type, with made-up values."""
    sentences = preprocessor.templates.sentences
    weights = {key: sum(said.values()) for key, said in sentences.items() if 1 < len(key) <= 1 + MOST_SLOTS}
    found: dict[str, str] = {}
    for key in sorted(weights, key=lambda key: (-weights[key], key)):
        act_type, *others = act_types(key)
        if not others and act_type not in found and len(found) < EXAMPLES:
            names = sorted(slots_of(key, act_type))
            slots = [slot for name in names for slot in _made_up(act_type, name, preprocessor.encoder)]
            if len(slots) <= MOST_SLOTS + 1:
                found[act_type] = str(Turn((DialogueAct(act_type, tuple(slots)),)))
    return list(found.values())


def _slot(tag: str) -> str:
    return tag.partition("=")[0].partition("#")[0]


def _made_up(act_type: str, name: str, encoder: ActEncoder) -> list[Slot]:
    """Return a slot as it occurs with an act type, twice if it can, with values such as `some NAME`."""
    known = f"{act_type}|{name}"
    if known in encoder.features:
        again = [Slot(name, f"another {name}")] if f"{known}#2" in encoder.features else []
        return [Slot(name, f"some {name}"), *again]
    special = sorted(feature for feature in encoder.features if feature.startswith(f"{known}="))
    return [Slot(name, special[0].partition("=")[2] or None) if special else Slot(name)]
