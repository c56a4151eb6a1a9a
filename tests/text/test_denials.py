"""Values that are denied: people's own sentences are no alarms, the same with a denial before a value are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dactnlg.acts import parse
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.fidelity.checker import FidelityChecker

DENIED = {
    "hotel": [
        ("inform(name='abri';area=soma)", "Abri is {}in the soma area.", "not "),
        ("inform(name='abri';near=soma)", "Abri is a hotel that is {}near soma.", "not "),
    ],
    "restaurants": [("inform(name='red door';food=thai)", "Red Door {} Thai food.", "does not serve")],
    "trails": [("inform(name='Ivy';length='7 km')", "Ivy is {}7 km long.", "not ")],
}


@pytest.mark.parametrize("corpus", ["hotel", "restaurants", "laptop", "tv", "viggo", "trails"])
def test_people_deny_no_values_and_what_does_is_found(corpus: str, data_dir: Path) -> None:
    loaded = load_corpus(corpus, data_dir)
    preprocessor, _ = build_preprocessor(loaded)
    manners, delexicalizer = preprocessor.manners, preprocessor.delexicalizer
    alarms = 0
    said = dict.fromkeys(loaded.pairs("test"))
    for given, text in said:
        turn = delexicalizer.prepared(given)
        tokens = [t if "SLOT_" in t else t.lower() for t in delexicalizer.delexicalize(turn, text).tokens]
        alarms += bool(manners.untrue(turn, delexicalizer.required(turn), tokens))
    assert len(said) > 500 and alarms <= 0.002 * len(said)
    checker = FidelityChecker(preprocessor.checker, None, manners)
    for act, text, denial in DENIED.get(corpus, []):
        plain = "serves" if denial.startswith("does") else ""
        assert not checker.check(parse(act), text.format(plain)).missing
        (missing,) = checker.check(parse(act), text.format(denial)).missing
        assert missing in str(parse(act))


def test_a_denial_belongs_to_what_it_stands_before(data_dir: Path) -> None:
    preprocessor, _ = build_preprocessor(load_corpus("hotel", data_dir))
    manners, delexicalizer = preprocessor.manners, preprocessor.delexicalizer

    def denied(act: str, text: str) -> list[str]:
        return manners.untrue(parse(act), delexicalizer.required(parse(act)), text.split())

    act = "inform(name=x;area=y)"
    assert denied(act, "SLOT_NAME isn't in the SLOT_AREA area") == ["area=y"]
    # Another clause, another value between, and too far away.
    assert not denied(act, "SLOT_NAME is not , but in the SLOT_AREA area")
    assert not denied(act, "it is not far from anything that is worth it , as SLOT_NAME is in the SLOT_AREA area")
    # What has a denial of its own may be what is denied, and where there is no match all is.
    assert not denied("inform(name=x;area=y;dogsallowed=no)", "SLOT_NAME does not in SLOT_AREA allow dogs")
    assert not denied("inform(name=x;area=y;dogsallowed=no)", "no dogs are not allowed in SLOT_AREA")
    assert denied("inform(name=x;area=y;dogsallowed=no)", "SLOT_NAME is not available in the SLOT_AREA") == ["area=y"]
    assert not denied("inform_no_match(area=y)", "there are not in SLOT_AREA any")
