"""Completing sentences: what a search failed to express is inserted or appended, in wordings from the training data."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg.generation.candidates import Candidate, scored
from dactnlg.generation.decoders.decoder import Decoder
from dactnlg.generation.options import ResolvedOptions
from dactnlg.text.grammar.english import ARTICLES
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.report_names import special_name
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments
from dactnlg.text.sentences import PRONOUN, Tokens, join_sentences, split_question, split_sentences
from dactnlg.text.surface import strip_joiner


class Completer:
    """Completes candidates; among several completions, the model's score decides.

    Args:
        preprocessor: the preprocessor of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self.preprocessor, self._segments = preprocessor, Segments(preprocessor)

    def with_statements(self, decoder: Decoder, candidate: Candidate, options: ResolvedOptions) -> Candidate:
        """Return a sentence with the special values that it lacks appended, in statements from the training data."""
        found, request, turn = candidate, candidate.request, candidate.request.turn
        new = self.preprocessor.new_values.of(turn)
        alone = len(new) == sum(len(act.slots) for act in turn)
        owners = {special_name(slot): (act.act_type, slot) for act, slot in turn.slots()}
        for name in candidate.report.cues.missing:
            said = split_sentences(found.tokens)
            endings = self._segments.statements(*owners[name]) if name in owners else []
            if name in owners and owners[name][1] in new and not alone and not _is_of_one(found.tokens):
                endings = [ending for ending in endings if ending[0] != PRONOUN]
            # If the model knows nothing about the act, what it said is made up, and is dropped.
            before = () if alone and len(new) == 1 else found.tokens
            whole = [join_sentences(before, ending) for ending in endings if ending not in said]
            scores = decoder.sentence_scores(turn, self._numbers(whole), request.context) if whole else ()
            more = scored(self.preprocessor, request, zip(whole, scores, strict=True), options)
            better = [each for each in more if each.errors < found.errors]
            found = max(better, key=lambda each: each.score or 0.0, default=found)
        return found

    def with_questions(self, decoder: Decoder, candidate: Candidate, options: ResolvedOptions) -> Candidate:
        """Return a sentence with the questions that it lacks appended, in wordings from the training data."""
        found, request, turn = candidate, candidate.request, candidate.request.turn
        for name in candidate.unasked:
            # If there is one question to ask, any that the sentence asks is wrong and is cut; of several it may be one.
            kept = split_question(found.tokens)[0] if len(self.preprocessor.questions.of(turn)) == 1 else found.tokens
            whole = [join_sentences(kept, wording) for wording in self.preprocessor.questions.wordings(name)]
            scores = decoder.sentence_scores(turn, self._numbers(whole), request.context)
            more = scored(self.preprocessor, request, zip(whole, scores, strict=True), options)
            found = max(more, key=lambda each: each.score or 0.0)
        return found

    def covering(self, request: Request) -> Candidate:
        """Return a sentence pieced together from training sentences: it covers the whole act, but may not read well."""
        required = self.preprocessor.delexicalizer.required(request.turn)
        english = self.preprocessor.style.english
        tokens = self.preprocessor.templates.cover(request.turn, required, english=english)
        new = self.preprocessor.new_values.of(request.turn)
        for act, slot in request.turn.slots() if new else ():
            endings = self._segments.statements(act.act_type, slot) if slot in new else []
            tokens = join_sentences(tokens, endings[0]) if endings else tokens
        return Candidate(self.preprocessor, request, tuple(tokens), None, origin="template")

    def _numbers(self, texts: Sequence[Sequence[str]]) -> list[list[int]]:
        return [self.preprocessor.vocabulary.encode(tokens) for tokens in texts]


def _is_of_one(tokens: Tokens) -> bool:
    """Whether a text begins with a single entity, to which "it" can refer; "there are 3 hotels" does not."""
    first = next((strip_joiner(token) for token in tokens if token not in ARTICLES), "")
    return is_placeholder(first) or first == PRONOUN
