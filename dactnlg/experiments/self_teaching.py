"""Self-teaching: checkers for pairs that nothing else can check, trained on the pairs themselves, or on a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from threadpoolctl import threadpool_limits

from dactnlg.acts import Turn
from dactnlg.data.card import Card
from dactnlg.data.corpus import corpus_of_file
from dactnlg.data.division import FEWEST
from dactnlg.data.proposal_files import card_text
from dactnlg.data.proposals import propose
from dactnlg.errors import ConfigError
from dactnlg.experiments.sifting import Inventory, Judged, Row, judge, write_pairs
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.learning import learn_reader
from dactnlg.runs import yamlfile

ROUNDS = 3
"""How many times a checker is trained on the pairs that its predecessor has kept."""


def self_taught(rows: Sequence[Row], *, progress: bool = False) -> tuple[list[Judged], FidelityChecker]:
    """Return verdicts on pairs by a checker trained only on these pairs, and the checker.

    The first checker has the card that is proposed for all pairs. Then, for `ROUNDS` rounds, a card without cues is
    proposed for the pairs kept and a reader trained on them, and these judge all pairs again. This works because faults
    are rare and diverse, whereas correct pairs resemble each other.
    """
    # Corpora have no blank sentences: nothing is learned from them, but they are judged.
    pairs = [(turn, text) for turn, text, _ in rows if text.strip()]
    checker = _proposed(pairs, cued=True)
    judged = judge(rows, checker, Inventory(pairs, checker), progress=progress)
    for _ in range(ROUNDS):
        kept = [(each.turn, each.text) for each in judged if not each.reasons]
        if len(kept) < FEWEST:
            return judged, checker
        checker = _proposed(kept, cued=False)
        valid = kept[::5]
        with threadpool_limits(limits=1, user_api="blas"):
            reader = learn_reader([pair for n, pair in enumerate(kept) if n % 5], valid, checker.checker)
        checker = FidelityChecker(checker.checker, reader)
        judged = judge(rows, checker, Inventory(pairs, checker), progress=progress)
    return _without_inventions(judged), checker


def _without_inventions(judged: list[Judged]) -> list[Judged]:
    """Return verdicts that also reject sentences with cues for a special value of a slot that their act lacks.

    A reader trained on faulty pairs is lenient there; cues proposed from the pairs kept are not.
    """
    cues = _proposed([(each.turn, each.text) for each in judged if not each.reasons], cued=True).checker
    found = []
    for each in judged:
        held = {slot.name for _, slot in each.turn.slots()}
        shown = () if each.reasons else cues.check_cues(each.turn, each.text).extra
        reasons = tuple(f"invented: {name}" for name in shown if name.partition("=")[0] not in held)
        found.append(replace(each, reasons=each.reasons or reasons))
    return found


def _proposed(pairs: Sequence[tuple[Turn, str]], *, cued: bool) -> FidelityChecker:
    """Return a checker without a reader, with the card proposed for the pairs; its cues only if `cued`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        write_pairs(path, pairs)
        # All pairs are used: no test split is held out.
        corpus = corpus_of_file(path).undivided()
        try:
            card = Card.model_validate(yamlfile.parse(card_text(propose(corpus))))
        except (ValueError, ConfigError):
            card = corpus.card
    style = replace(card.style(), silent=tuple(name for name in card.silent if _usual(name, pairs)))
    return FidelityChecker((style if cued else replace(style, cues={})).checker())


def _usual(name: str, pairs: Sequence[tuple[Turn, str]]) -> bool:
    """Whether most acts of a type have a slot; only then may sentences omit it, otherwise an omission may be a fault.

    Args:
        name: "act.slot".
        pairs: of acts and sentences.
    """
    act_type, _, slot_name = name.rpartition(".")
    acts = [act for turn, _ in pairs for act in turn if act.act_type == act_type]
    return 2 * sum(any(slot.name == slot_name for slot in act.slots) for act in acts) > len(acts)
