"""Sentences that may be said for an act, and which of them is best."""

from __future__ import annotations

import random
from bisect import insort
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dactnlg.acts import Turn
from dactnlg.anchors import anchored
from dactnlg.codec import Codec
from dactnlg.config import DecodingConfig
from dactnlg.search.sampling import Sampling
from dactnlg.slots import SlotReport
from dactnlg.templates import join_sentences, split_question

if TYPE_CHECKING:
    from dactnlg.decoding import BaseDecoder
    from dactnlg.search.paths import Hypothesis

STRAIN = 12.0
"""What saying a special value may cost in log probability; dearer sentences no longer read well."""
SPARE = 7
"""How many more sentences are drawn for an act, in the place of those that the hard constraint refuses."""


class Candidate:
    """A sentence that may be said; it is checked when somebody asks.

    Args:
        tokens: the sentence, with placeholders.
        score: its log probability; None where no model chose it.
        check: finds out what the sentence says of what it should.
        origin: see `generation.Generation`.
        unasked: questions of the turn that it seems to have lost.
    """

    def __init__(
        self,
        tokens: tuple[str, ...],
        score: float | None,
        check: Callable[[], SlotReport],
        origin: str,
        unasked: tuple[str, ...] = (),
    ) -> None:
        self.tokens, self.score, self._check, self.origin, self.unasked = tokens, score, check, origin, unasked

    @cached_property
    def report(self) -> SlotReport:
        """What the sentence says of what it should."""
        return self._check()

    @property
    def sound(self) -> bool:
        """Whether every value is said as often as it should be."""
        return not self.report.values.errors

    @property
    def whole(self) -> bool:
        """Whether no slot is at fault and no question lost."""
        return self.report.ok and not self.unasked

    def cost(self, slot_error_weight: float) -> float:
        """Return negative log probability and the slot error penalty (Wen et al. 2015b, equation 16)."""
        errors = self.report.values.errors + self.report.cues.errors + len(self.unasked)
        return slot_error_weight * errors - (self.score or 0.0)


def cheapest(candidates: Sequence[Candidate], count: int, slot_error_weight: float, sound: bool) -> list[Candidate]:
    """Return the candidates of lowest cost, the lowest first; those without faults in values alone if `sound`."""
    found: list[tuple[float, int, Candidate]] = []
    # Errors only add to the cost, so those that come after the limit by score alone need not be checked.
    for place, candidate in sorted(enumerate(candidates), key=lambda item: -(item[1].score or 0.0)):
        if len(found) >= count and -(candidate.score or 0.0) >= found[count - 1][0]:
            break
        if candidate.sound or not sound:
            insort(found, (candidate.cost(slot_error_weight), place, candidate))
    return [candidate for _, _, candidate in found[:count]]


class Maker:
    """Makes the candidates of turns: by search, by sampling, or from training sentences.

    Args:
        codec: the codec of a run.
        options: the run's decoding options.
    """

    def __init__(self, codec: Codec, options: DecodingConfig) -> None:
        self.codec, self._options = codec, options

    def searched(
        self, decoder: BaseDecoder, turns: Sequence[Turn], width: int, hard: bool, keep: int
    ) -> list[list[Candidate]]:
        """Return each turn's candidates from a beam search, of which `keep` are searched to their ends."""
        rows = self._searched(decoder, turns, width, hard, keep)
        if hard:
            self._owe(decoder, turns, rows, width)
            for turn, candidates in zip(turns, rows, strict=True):
                for best in cheapest(candidates, 1, self._options.slot_error_weight, sound=True):
                    if best.unasked:
                        candidates.append(self._asking(decoder, turn, best))
        return rows

    def sampled(
        self,
        decoder: BaseDecoder,
        turns: Sequence[Turn],
        sampling: Sampling,
        count: int,
        hard: bool,
        seed: int,
        first: int,
    ) -> list[list[Candidate]]:
        """Return `count` draws for each turn, in the order drawn; under `hard` those that keep to it.

        Special values and questions cannot be held to word by word: draws that lack none come first.

        Args:
            decoder: the model.
            turns: the acts.
            sampling: what words are drawn from.
            count: how many; fewer where `SPARE` further draws do not help.
            hard: whether values are constrained to those required.
            seed: of all draws.
            first: the place of the first turn.
        """
        places = range(first, first + len(turns))
        found = decoder.sample(turns, places, sampling, range(count), hard, seed)
        if not hard:
            return [self._candidates(turn, drawn, False) for turn, drawn in zip(turns, found, strict=True)]
        rows = [self._kept(decoder, turn, drawn) for turn, drawn in zip(turns, found, strict=True)]
        short = [row for row, kept in enumerate(rows) if sum(candidate.whole for candidate in kept) < count]
        more = range(count, count + SPARE)
        found = decoder.sample([turns[r] for r in short], [places[r] for r in short], sampling, more, True, seed)
        for row, drawn in zip(short, found, strict=True):
            both = [*rows[row], *self._kept(decoder, turns[row], drawn)]
            best = sorted(both, key=lambda candidate: not candidate.whole)[:count]
            rows[row] = [self._asking(decoder, turns[row], candidate) for candidate in best]
        return rows

    def templates(self, turns: Sequence[Turn], seed: int, first: int) -> list[list[Candidate]]:
        """Return for each turn the training sentences of its kind, in an order drawn by how often they occur."""
        # Each act its own draw, so that an act's sentence does not depend on how many came before it.
        return [self._shuffled(turn, random.Random(f"{seed}/{i}")) for i, turn in enumerate(turns, start=first)]

    def check(self, turn: Turn, tokens: Sequence[str]) -> Callable[[], SlotReport]:
        """Return what finds out what a sentence says of what it should."""
        checker = self.codec.checker
        return lambda: SlotReport(checker.tally(turn, tokens), checker.check_cues(turn, self.codec.raw(turn, tokens)))

    def _searched(
        self,
        decoder: BaseDecoder,
        turns: Sequence[Turn],
        width: int,
        hard: bool,
        keep: int,
        owed: Sequence[Sequence[str]] = (),
    ) -> list[list[Candidate]]:
        found = decoder.search(turns, width, hard, keep, owed)
        rows = [self._candidates(turn, hypotheses, hard) for turn, hypotheses in zip(turns, found, strict=True)]
        if hard:
            for turn, candidates in zip(turns, rows, strict=True):
                if candidates and (mended := self._mended(decoder, turn, candidates[0])):
                    candidates[:] = mended
        return rows

    def _owe(self, decoder: BaseDecoder, turns: Sequence[Turn], rows: list[list[Candidate]], width: int) -> None:
        """Search once more where no sentence shows a special value, for sentences with words that can show it."""
        owing: dict[int, list[str]] = {}
        least: dict[int, float] = {}
        for place, candidates in enumerate(rows):
            for best in cheapest(candidates, 1, self._options.slot_error_weight, sound=True):
                names = [name for name in best.report.cues.missing if anchored(name) in self.codec.anchors]
                if names:
                    owing[place], least[place] = names, (best.score or 0.0) - STRAIN * len(names)
        if owing:
            again = self._searched(
                decoder, [turns[place] for place in owing], width, True, width, owed=list(owing.values())
            )
            for place, candidates in zip(owing, again, strict=True):
                known = {candidate.tokens for candidate in rows[place]}
                rows[place] += [c for c in candidates if c.tokens not in known and (c.score or 0.0) >= least[place]]

    def _asking(self, decoder: BaseDecoder, turn: Turn, candidate: Candidate) -> Candidate:
        """Return a sentence with its turn's questions: lost ones are put behind it, as training asked them."""
        tokens, score = candidate.tokens, candidate.score
        for name in candidate.unasked:
            # What the sentence asks instead is not what it should; with several to ask, it may be one of them.
            kept = split_question(tokens)[0] if len(self.codec.asked(turn)) == 1 else tokens
            whole = [tuple(join_sentences(kept, wording)) for wording in self.codec.questions(name)]
            scores = decoder.sentence_scores(turn, [self.codec.vocabulary.encode(sentence) for sentence in whole])
            tokens, score = whole[int(scores.argmax())], float(scores.max())
        if not candidate.unasked:
            return candidate
        return Candidate(tokens, score, self.check(turn, tokens), "composed", self.codec.unasked(turn, tokens))

    def _candidates(self, turn: Turn, hypotheses: Sequence[Hypothesis], hard: bool) -> list[Candidate]:
        found = []
        for hypothesis in hypotheses:
            if hypothesis.finished or not hard:
                tokens = tuple(self.codec.vocabulary.decode(hypothesis.tokens))
                score = hypothesis.score / (len(tokens) + 1) ** self._options.length_normalization
                unasked = self.codec.unasked(turn, tokens) if hard and self._options.append_questions else ()
                found.append(Candidate(tokens, score, self.check(turn, tokens), "model", unasked))
        return found

    def _kept(self, decoder: BaseDecoder, turn: Turn, drawn: Sequence[Hypothesis]) -> list[Candidate]:
        """Return the draws that keep to the hard constraint, with the placeholders that the vocabulary lacks."""
        found = [c for c in self._candidates(turn, drawn, True) if c.tokens]
        return [c for c in ((self._mended(decoder, turn, c) or [c])[0] for c in found) if c.sound]

    def _mended(self, decoder: BaseDecoder, turn: Turn, candidate: Candidate) -> list[Candidate]:
        """Return the sentence with a place given to the placeholders that the vocabulary lacks, the best one first."""
        from dactnlg.insertion import insert_missing

        unknown = [r for r in self.codec.delexicalizer.required(turn) if not self.codec.knows(r.placeholder)]
        if not unknown:
            return []
        found = insert_missing(decoder, turn, candidate.tokens, unknown)
        check, unasked = self.check, candidate.unasked
        return [Candidate(tokens, score, check(turn, tokens), "inserted", unasked) for tokens, score in found]

    def _shuffled(self, turn: Turn, chance: random.Random) -> list[Candidate]:
        # A weighted shuffle: the first is drawn by weight, the second by weight among the rest, and so on.
        keyed = [(chance.random() ** (1.0 / weight), t) for t, weight in self.codec.templates.same(turn).items()]
        ordered = [template for _, template in sorted(keyed, reverse=True)]
        return [Candidate(tokens, None, self.check(turn, tokens), "template") for tokens in ordered]
