"""BLEU that no tokeniser and no vocabulary can tilt (Huang et al. 2020, 2.2, Fig. 1b)."""

from __future__ import annotations

from dactnlg.metrics.bleu import Bleu
from dactnlg.text.tokenizers import standard_tokens
from dactnlg.text.vocabulary import UNK


class FairBleu(Bleu):
    """BLEU-1..4 on text that is joined and split again in one way, where an n-gram with `<unk>` never matches.

    `<unk>` is no word: it counts in lengths and among the guesses, as any wrong word does. Reference length and zero
    matches as in `nlg-eval`.
    """

    def __init__(self) -> None:
        super().__init__("nlg-eval")
        self.settings = {**self.settings, "variant": "fair", "tok": "standard-13a", "unk": "never-matches"}
        self._split = standard_tokens

    def _reference_tokens(self, sentence: str) -> list[str]:
        # No hypothesis has an empty word: what stands beside one matches nothing, and lengths stay as they are.
        return ["" if token == UNK else token for token in self._tokens(sentence)]
