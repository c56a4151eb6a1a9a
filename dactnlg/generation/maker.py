"""Where sentences for acts come from: a search, draws, or training sentences."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dactnlg.generation.candidates import Candidate, cheapest
from dactnlg.runs.config import DecodingConfig
from dactnlg.search.sampling import Sampling
from dactnlg.text.anchors import anchored
from dactnlg.text.frames import Brief
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.templates import join_sentences, split_question

if TYPE_CHECKING:
    from dactnlg.generation.decoder import BaseDecoder
    from dactnlg.search.paths import Hypothesis

STRAIN = 12.0
"""What saying a special value may cost in log probability; dearer sentences no longer read well."""
SPARE = 7
"""How many more sentences are drawn for an act, in the place of those that the hard constraint refuses."""
Told = tuple[tuple[str, ...], float, str, bool, bool]
"""A hypothesis as a candidate takes it, from `tokens` on."""


class Maker:
    """Makes the candidates of turns: by search, by sampling, or from training sentences.

    Args:
        preprocessor: the preprocessor of a run.
        options: the run's decoding options.
    """

    def __init__(self, preprocessor: Preprocessor, options: DecodingConfig) -> None:
        self.preprocessor, self._options = preprocessor, options

    def searched(
        self, decoder: BaseDecoder, briefs: Sequence[Brief], width: int, constraint: str, count: int
    ) -> list[list[Candidate]]:
        """Return each turn's candidates from a beam search, among which are the `count` cheapest that it can find."""
        hard = constraint == "hard"
        if constraint == "none":
            return self._searched(decoder, briefs, width, hard, count)
        # Errors only add to a candidate's cost: where the best by score have none, no others need to be searched for.
        simple: list[Brief] = []
        if not self._options.length_normalization:
            simple = [b for b in briefs if constraint not in b.frame.faulty and not b.frame.unknown]
        rows = {id(b): row for b, row in zip(simple, self._searched(decoder, simple, width, hard, count), strict=True)}
        for brief in simple:
            if len(rows[id(brief)]) < count or not all(map(_settled, rows[id(brief)])):
                brief.frame.faulty.add(constraint)
                del rows[id(brief)]
        others = [brief for brief in briefs if id(brief) not in rows]
        found = self._searched(decoder, others, width, hard, width)
        if hard and others:
            self._mend(decoder, others, found, width)
        rows |= {id(b): row for b, row in zip(others, found, strict=True)}
        return [rows[id(brief)] for brief in briefs]

    def _mend(self, decoder: BaseDecoder, briefs: Sequence[Brief], rows: list[list[Candidate]], width: int) -> None:
        """Add to each turn's candidates what says more than the hard constraint alone can see to."""
        self._owe(decoder, briefs, rows, width)
        for candidates in rows:
            for best in cheapest(candidates, 1, self._options.slot_error_weight, sound=True):
                if best.unasked:
                    candidates.append(self._asking(decoder, best))

    def sampled(
        self,
        decoder: BaseDecoder,
        briefs: Sequence[Brief],
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
            briefs: the acts.
            sampling: what words are drawn from.
            count: how many; fewer where `SPARE` further draws do not help.
            hard: whether values are constrained to those required.
            seed: of all draws.
            first: the place of the first turn.
        """
        turns, places = [brief.turn for brief in briefs], range(first, first + len(briefs))
        found = decoder.sample(turns, places, sampling, range(count), hard, seed)
        if not hard:
            return [
                self._candidates(brief, self._told(drawn, False)) for brief, drawn in zip(briefs, found, strict=True)
            ]
        rows = [self._kept(decoder, brief, drawn) for brief, drawn in zip(briefs, found, strict=True)]
        short = [row for row, kept in enumerate(rows) if sum(candidate.whole for candidate in kept) < count]
        more = range(count, count + SPARE)
        found = decoder.sample([turns[r] for r in short], [places[r] for r in short], sampling, more, True, seed)
        for row, drawn in zip(short, found, strict=True):
            both = [*rows[row], *self._kept(decoder, briefs[row], drawn)]
            best = sorted(both, key=lambda candidate: not candidate.whole)[:count]
            rows[row] = [self._asking(decoder, candidate) for candidate in best]
        return rows

    def templates(self, briefs: Sequence[Brief], seed: int, first: int) -> list[list[Candidate]]:
        """Return for each turn the training sentences of its kind, in an order drawn by how often they occur."""
        # Each act its own draw, so that an act's sentence does not depend on how many came before it.
        return [self._shuffled(brief, random.Random(f"{seed}/{i}")) for i, brief in enumerate(briefs, start=first)]

    def covering(self, brief: Brief) -> Candidate:
        """Return a sentence put together from training sentences: it says all that it should, and reads as it may."""
        tokens = self.preprocessor.templates.cover(brief.turn, self.preprocessor.delexicalizer.required(brief.turn))
        return Candidate(self.preprocessor, brief, tuple(tokens), None, "template")

    def _searched(
        self,
        decoder: BaseDecoder,
        briefs: Sequence[Brief],
        width: int,
        hard: bool,
        keep: int,
        owed: Sequence[Sequence[str]] = (),
    ) -> list[list[Candidate]]:
        """Return the `keep` best finds for each turn."""
        if owed or decoder.lexicalized or not decoder.reuse:
            found = decoder.search([brief.turn for brief in briefs], width, hard, keep, owed)
        else:
            # All turns of a frame look alike to the model.
            frames = list(dict.fromkeys(brief.frame for brief in briefs))
            hypotheses = decoder.search([frame.turn for frame in frames], width, hard, keep)
            by_frame = dict(zip(frames, hypotheses, strict=True))
            found = [by_frame[brief.frame] for brief in briefs]
        # What several turns share is read once.
        told = {key: self._told(row[:keep], hard) for key, row in {id(row): row for row in found}.items()}
        rows = [self._candidates(brief, told[id(row)]) for brief, row in zip(briefs, found, strict=True)]
        for row in rows if hard else ():
            if row and row[0].brief.frame.unknown:
                row[:] = self._completed(decoder, row[0])
        return rows

    def _told(self, hypotheses: Sequence[Hypothesis], hard: bool) -> list[Told]:
        """Return tokens, score, origin, and whether the hypothesis is finished; under `hard` of finished ones alone."""
        decode, power = self.preprocessor.vocabulary.decode, self._options.length_normalization
        asking = hard and self._options.append_questions
        found = [(tuple(decode(h.tokens)), h) for h in hypotheses if h.finished or not hard]
        return [(tokens, h.score / (len(tokens) + 1) ** power, "model", asking, h.finished) for tokens, h in found]

    def _candidates(self, brief: Brief, told: Sequence[Told]) -> list[Candidate]:
        return [Candidate(self.preprocessor, brief, *each) for each in told]

    def _owe(self, decoder: BaseDecoder, briefs: Sequence[Brief], rows: list[list[Candidate]], width: int) -> None:
        """Search once more where no sentence shows a special value, for sentences with words that can show it."""
        owing: dict[int, list[str]] = {}
        least: dict[int, float] = {}
        for place, candidates in enumerate(rows):
            for best in cheapest(candidates, 1, self._options.slot_error_weight, sound=True):
                names = [name for name in best.report.cues.missing if anchored(name) in self.preprocessor.anchors]
                if names:
                    owing[place], least[place] = names, (best.score or 0.0) - STRAIN * len(names)
        if owing:
            again = self._searched(
                decoder, [briefs[place] for place in owing], width, True, width, owed=list(owing.values())
            )
            for place, candidates in zip(owing, again, strict=True):
                known = {candidate.tokens for candidate in rows[place]}
                rows[place] += [c for c in candidates if c.tokens not in known and (c.score or 0.0) >= least[place]]

    def _asking(self, decoder: BaseDecoder, candidate: Candidate) -> Candidate:
        """Return a sentence with its turn's questions: lost ones are put behind it, as training asked them."""
        tokens, score, turn = candidate.tokens, candidate.score, candidate.brief.turn
        for name in candidate.unasked:
            # What the sentence asks instead is not what it should; with several to ask, it may be one of them.
            kept = split_question(tokens)[0] if len(self.preprocessor.asked(turn)) == 1 else tokens
            whole = [tuple(join_sentences(kept, wording)) for wording in self.preprocessor.questions(name)]
            scores = decoder.sentence_scores(
                turn, [self.preprocessor.vocabulary.encode(sentence) for sentence in whole]
            )
            tokens, score = whole[int(scores.argmax())], float(scores.max())
        if not candidate.unasked:
            return candidate
        return Candidate(self.preprocessor, candidate.brief, tokens, score, "composed", asking=True)

    def _kept(self, decoder: BaseDecoder, brief: Brief, drawn: Sequence[Hypothesis]) -> list[Candidate]:
        """Return the draws that keep to the hard constraint, with the placeholders that the vocabulary lacks."""
        found = [c for c in self._candidates(brief, self._told(drawn, True)) if c.tokens]
        if brief.frame.unknown:
            found = [self._completed(decoder, candidate)[0] for candidate in found]
        return [candidate for candidate in found if candidate.sound]

    def _completed(self, decoder: BaseDecoder, candidate: Candidate) -> list[Candidate]:
        """Return the sentence with a place given to the placeholders that the vocabulary lacks, the best one first."""
        from dactnlg.generation.insertion import insert_missing

        brief, asking = candidate.brief, self._options.append_questions
        found = insert_missing(decoder, brief.turn, candidate.tokens, brief.frame.unknown)
        return [Candidate(self.preprocessor, brief, tokens, score, "inserted", asking) for tokens, score in found]

    def _shuffled(self, brief: Brief, chance: random.Random) -> list[Candidate]:
        # A weighted shuffle: the first is drawn by weight, the second by weight among the rest, and so on.
        same = self.preprocessor.templates.same(brief.turn)
        keyed = [(chance.random() ** (1.0 / weight), template) for template, weight in same.items()]
        return [
            Candidate(self.preprocessor, brief, tokens, None, "template") for _, tokens in sorted(keyed, reverse=True)
        ]


def _settled(candidate: Candidate) -> bool:
    return bool(candidate.tokens) and candidate.finished and candidate.whole
