"""Checks of delexicalised tokens, stricter than those of people's sentences, as generation makes them."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.acts import Turn
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.reports import Findings
from dactnlg.text.tallies import Tally


def look(checker: FidelityChecker, turn: Turn, tokens: Sequence[str]) -> Findings:
    """Return what a checker finds wrong with tokens, after the cues of the card."""
    return checker.look(turn, tokens, *_cues(checker, turn, tokens))


def read(checker: FidelityChecker, turn: Turn, tokens: Sequence[str]) -> Tally:
    """Return the same as a tally, for which a contradicted value and an unexpressed act are missing."""
    return checker.read(turn, tokens, *_cues(checker, turn, tokens))


def _cues(checker: FidelityChecker, turn: Turn, tokens: Sequence[str]) -> tuple[Tally, dict[str, tuple[str, ...]]]:
    shown = checker.checker.shown(tokens)
    return checker.checker.look(checker.checker.expected(turn), tokens, shown), dict(shown)
