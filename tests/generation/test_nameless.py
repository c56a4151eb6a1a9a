"""Acts without a name: said with the name that training mostly has, which goes where "it" can stand."""

from __future__ import annotations

from helpers import preprocessor_of

from dactnlg.acts import parse
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.unseen.nameless import Nameless
from dactnlg.generation.unseen.parts import Parts


def test_an_act_is_said_with_the_name_that_training_mostly_has() -> None:
    rows = [
        ("only(name=a;area=b)", "SLOT_NAME is the only hotel in the SLOT_AREA"),
        ("only(name=a;food=b)", "there is no hotel with SLOT_FOOD food but SLOT_NAME"),
        ("offer(name=a)&inform(area=b)", "SLOT_NAME is in the SLOT_AREA . it is in the centre"),
        ("offer(name=a)&inform(area=b;phone=c)", "the number of SLOT_NAME is SLOT_PHONE . it is in the SLOT_AREA"),
        ("deny(area=b)", "there is nothing in the SLOT_AREA"),
        ("?select(name=a;name=b)", "SLOT_NAME or SLOT_NAME#2 ?"),
    ]
    offers = preprocessor_of(rows)
    assert Nameless(offers).named(offers.request(parse("only(area=x)"))) is None, "no name is known"
    reader = FidelityChecker(offers.checker)
    reader.values = {"area": ["north"], "name": ["ivy", "oak"]}
    offers.attach(reader)
    nameless = Nameless(offers)

    def named(act: str) -> Parts | None:
        return nameless.named(offers.request(parse(act)))

    def joined(parts: Parts, text: str) -> list[str]:
        said = Candidate(offers, parts.requests[0], tuple(text.split()), 0.0)
        return [" ".join(whole) for whole in parts.join({0: said})]

    only, offer = named("only(area=x)"), named("inform(phone=x;area=y)")
    assert only is not None and [str(each.turn) for each in only.requests] == ["only(name=ivy;area=x)"]
    assert joined(only, "the SLOT_NAME is the only one . it is in the SLOT_AREA") == [
        "it is the only one . it is in the SLOT_AREA"
    ]
    for text, without in (
        ("there is nothing in the SLOT_AREA but SLOT_NAME", []),
        ("there is no hotel other than SLOT_NAME in the SLOT_AREA", ["there is no other hotel in the SLOT_AREA"]),
        ("the only other than SLOT_NAME is in the SLOT_AREA", ["the only other than it is in the SLOT_AREA"]),
        ("i think SLOT_NAME is in the SLOT_AREA", ["i think it is in the SLOT_AREA"]),
        ("SLOT_NAME is better than SLOT_NAME", []),
        # A question may stand alone if nothing in it refers to the name.
        ("you liked SLOT_NAME . do you like hotels in the SLOT_AREA ?", ["do you like hotels in the SLOT_AREA ?"]),
        ("you liked SLOT_NAME . do you like other hotels in the SLOT_AREA ?", []),
        ("you liked SLOT_NAME . there are hotels in the SLOT_AREA .", []),
    ):
        assert joined(only, text) == without
    # The name may be in another act.
    assert offer is not None and str(offer.requests[0].turn) == "offer(name=ivy)&inform(phone=x;area=y)"
    assert joined(offer, "the number of SLOT_NAME is SLOT_PHONE .") == ["its number is SLOT_PHONE ."]
    # Already named, never named in training, without slots, or with another act.
    for act in ("only(name=x;area=y)", "deny(area=x)", "only()", "only(area=x)&deny(area=y)"):
        assert named(act) is None
