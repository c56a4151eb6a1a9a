"""Conversion between acts and sentences and a model's arrays: everything that training learns except the weights.

A preprocessor is made from training data only, is saved in the run folder as JSON, and is the same object in training
and in generation. It is thread-safe: its caches are locked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dactnlg._utils.memory import Memory
from dactnlg.acts import Slot, Turn
from dactnlg.text.context import CONTEXT, context_tokens, context_vocabulary, numbered
from dactnlg.text.copying import COPIES, copied
from dactnlg.text.encoding import ActEncoder, Sizes
from dactnlg.text.example import Pair
from dactnlg.text.grammar.manners import Manners
from dactnlg.text.learned_questions import LearnedQuestions
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor_file import read_preprocessor_file
from dactnlg.text.relexicalization import Relexicalizer
from dactnlg.text.report_names import act_name, special_name
from dactnlg.text.requests import DelexicalizedAct, Request, Template, make_template, outline, required_places
from dactnlg.text.style import Style, TemplateReader
from dactnlg.text.surface import strip_joiner
from dactnlg.text.templates import Templates
from dactnlg.text.trigger_words import TriggerWords, learn_trigger_words, trigger
from dactnlg.text.values.casing import Casing
from dactnlg.text.values.inflection import Inflection
from dactnlg.text.values.neighbours import Neighbours
from dactnlg.text.values.new_values import NewValues
from dactnlg.text.vocabulary import Vocabulary

ACTS, TEMPLATES, MANY = 8 << 20, 16 << 20, 1 << 20
"""The most bytes of each cache; and more entries than fit into either."""

LEXICALIZED = frozenset({"words"})
"""The arrays that depend on the values of a turn, not on its delexicalised act alone."""


class Preprocessor:
    """Turns acts into arrays, and tokens with placeholders into sentences.

    Args:
        vocabulary: the decoder's tokens; placeholders come first, contiguously.
        encoder: makes DA vectors.
        casing: gives words and values their usual forms.
        templates: the training sentences of the corpus that is imitated.
        style: from the corpus's card.
        trigger_words: the words that express special values.
        inflection: chooses the forms of values; None if the card gives none.

    Attributes:
        context: maps the words of preceding user turns to ids; None if models do not use them.
        neighbours: the costs of words next to values where training hardly ever has them.
        new_values: special values that do not occur in training.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        encoder: ActEncoder,
        casing: Casing,
        templates: Templates,
        style: Style,
        trigger_words: TriggerWords,
        inflection: Inflection | None = None,
    ) -> None:
        self.vocabulary, self.encoder, self.casing = vocabulary, encoder, casing
        self.templates, self.style, self.trigger_words = templates, style, trigger_words
        self.context: Vocabulary | None = None
        self.neighbours = Neighbours({})
        self._relexicalizer = Relexicalizer(casing, inflection or Inflection(style.forms), style)
        self.checker, self.manners = style.checker(), Manners(templates)
        self.reader: TemplateReader | None = None
        self.delexicalizer = self.checker.delexicalizer
        bases = [strip_joiner(t) if is_placeholder(t) else "" for t in vocabulary.tokens]
        self.placeholders = sorted({*bases} - {""})
        self._columns = {placeholder: column for column, placeholder in enumerate(self.placeholders)}
        self.kinds = np.array([self._columns.get(base, -1) for base in bases], np.int32)
        self._acts: Memory[DelexicalizedAct] = Memory(MANY, ACTS)
        self._made: Memory[Template] = Memory(MANY, TEMPLATES)
        self._learn_words()

    @classmethod
    def build(
        cls,
        pairs: Sequence[Pair],
        corpus: str | None,
        casing: Casing,
        style: Style,
        min_count: int = 1,
        inflection: Inflection | None = None,
    ) -> Preprocessor:
        """Number tokens and entries of training pairs.

        Args:
            pairs: the training pairs.
            corpus: the one to imitate, if there are several.
            casing: gives words and values their usual forms.
            style: from the corpus's card.
            min_count: words that occur less often are unknown to the model.
            inflection: chooses the forms of values.
        """
        placeholders = {token for pair in pairs for token in pair.tokens if is_placeholder(token)}
        words = Vocabulary.build((pair.tokens for pair in pairs), min_count).ordinary
        # Placeholders are contiguous, so that a constraint is a mask over one stretch of the vocabulary.
        ordered = sorted(placeholders) + [word for word in words if word not in placeholders]
        encoder = ActEncoder.build(((pair.turn, pair.corpus) for pair in pairs), corpus)
        own = [(pair.turn, pair.tokens) for pair in pairs if pair.corpus == corpus]
        templates, trigger_words = Templates.collect(own), learn_trigger_words(own, style.checker())
        made = cls(Vocabulary(ordered), encoder, casing, templates, style, trigger_words, inflection)
        made.neighbours = Neighbours.collect(own, made.delexicalizer)
        if any(pair.context for pair in pairs):
            made.context = context_vocabulary(
                context_tokens(made.delexicalizer, pair.turn, pair.context) for pair in pairs
            )
        return made

    def attach(self, reader: TemplateReader) -> None:
        """Have a reader check templates as well, and add its trigger words to those of searches for special values."""
        self.reader, self.trigger_words = reader, {**reader.trigger_words, **self.trigger_words}
        self._learn_words()

    def _learn_words(self) -> None:
        words, english, silent = self.trigger_words, self.style.english, self.delexicalizer.silent
        self.questions = LearnedQuestions(self.templates, words)
        self.new_values = NewValues(self.encoder, self.templates, words, silent, english=english)
        self.triggers = self._trigger_matrix()

    def _trigger_matrix(self) -> NDArray[np.bool_]:
        numbers = np.arange(len(self.vocabulary))
        rows = [np.isin(numbers, self.vocabulary.encode(words)) for words in self.trigger_words.values()]
        return np.array(rows, bool).reshape(len(rows), len(numbers)).T

    def required_counts(self, turns: Sequence[Turn]) -> NDArray[np.float32]:
        """Return 1 for every placeholder that a turn requires and the vocabulary has, shape (turns, placeholders)."""
        counts = np.zeros((len(turns), len(self.placeholders)), np.float32)
        for row, turn in enumerate(turns):
            for item in self.delexicalizer.required(turn):
                if item.placeholder in self._columns:
                    counts[row, self._columns[item.placeholder]] = 1.0
        return counts

    def arrays(
        self,
        turns: Sequence[Turn],
        names: Iterable[str],
        corpora: Sequence[str | None] | None = None,
        contexts: Sequence[str] = (),
    ) -> dict[str, NDArray[Any]]:
        """Return the arrays of turns that models take, as named in a model's `inputs`.

        Args:
            turns: B acts.
            names: `act`, the DA vector, (B, D); `entries`, the act as a sequence of act types and slots, numbered from
                1 as fused with their act and separately, (B, N, 2); `words`, the ids of the words of each entry's
                value, (B, N, L); `copies`, what can be copied into the sentence, as the id of a token and the index of
                its entry, from 1, (B, S, 2); `context`, the ids of the words that the user said before, (B, C); 0 is
                padding in all of them.
            corpora: the corpus whose style each turn has, if a model was trained on several.
            contexts: what the user said before each turn; if empty, nothing for all of them.
        """
        wanted, found = set(names), dict[str, NDArray[Any]]()
        if "act" in wanted:
            found["act"] = self.encoder.vectors(turns, corpora)
        if wanted & LEXICALIZED or "entries" in wanted:
            entries, words = self.encoder.sequences(turns)
            found |= {name: array for name, array in (("entries", entries), ("words", words)) if name in wanted}
        if COPIES in wanted:
            found[COPIES] = copied(turns, self.encoder, self.delexicalizer, self.vocabulary)
        if CONTEXT in wanted:
            rows = zip(turns, contexts or [""] * len(turns), strict=True)
            tokens = [context_tokens(self.delexicalizer, turn, context) for turn, context in rows]
            found[CONTEXT] = numbered(self.context or Vocabulary([]), tokens)
        return found

    @property
    def sizes(self) -> Sizes:
        """What a model has to know: the sizes of the numberings in `arrays`, and of its vocabulary."""
        context = 0 if self.context is None else len(self.context)
        return Sizes(len(self.vocabulary), len(self.encoder.features), len(self.encoder.words), context)

    def request(self, turn: Turn, context: str = "") -> Request:
        """Return a turn ready for generation, in reply to what the user said."""
        turn = self.delexicalizer.prepared(turn)
        key, ordinary = outline(turn)
        act = self._acts.get(key)
        if act is None:
            size = 1000 + sum([500 + 2 * len(slot.name) + len(slot.value or "") for _, slot in turn.slots()])
            act = self._acts.put(key, self._delexicalized(turn, ordinary), size)
        slots = tuple([ordinary[place] for place in act.places])
        return Request(turn, act, slots, tuple(map(self._relexicalizer.value, slots)), context)

    def _delexicalized(self, turn: Turn, ordinary: list[Slot]) -> DelexicalizedAct:
        required = self.delexicalizer.required(turn)
        unknown = tuple(item for item in required if item.placeholder not in self._columns)
        places = required_places(required, ordinary)
        return DelexicalizedAct(turn, required, places, unknown, self.checker.expected(turn))

    def template(self, act: DelexicalizedAct, tokens: tuple[str, ...]) -> Template:
        """Return a sentence with placeholders as a template for the turns of a delexicalised act."""
        found = self._made.get((act, tokens))
        if found is None:
            restored = self.casing.restore(tokens) if self.style.cased else tokens
            shown = self.checker.shown(tokens)
            cues = self.checker.look(act.expected, tokens, shown)
            asks, questions = self.style.spaced and act.asks, self.questions.lost(act.turn, tokens)
            if self.reader is not None:
                cues = self.reader.read(act.turn, tokens, cues, shown)
                wrong = self.unsaid(act.turn, tokens)
                missing = dict.fromkeys((*cues.missing, *wrong)) if wrong else cues.missing
                # What words also show to be lost is counted once.
                cues = replace(cues, missing=tuple(name for name in missing if name not in questions[1]))
            tallies, style, known = (self.checker.tally(act.turn, tokens), cues), self.style, self.vocabulary
            made = make_template(act, tokens, restored, tallies, questions, asks=asks, style=style, known=known)
            found = self._made.put((act, tokens), made, 1500 + 200 * len(tokens))
        return found

    def lacks(self, turn: Turn, slot: Slot, tokens: tuple[str, ...]) -> bool:
        """Whether the words of a sentence with placeholders fail to express a special value of a turn."""
        request, shown = self.request(turn), self.checker.shown(tokens)
        turn, cues = request.turn, self.checker.look(request.act.expected, tokens, shown)
        if self.reader is None:
            return special_name(slot) in cues.missing
        if special_name(slot) in self.new_values.unsaid(turn, tokens):
            return True
        return self.reader.lacks(turn, slot, tokens, cues, shown)

    def unsaid(self, turn: Turn, tokens: Sequence[str]) -> list[str]:
        """Return what a text fails to say of a turn, judged by training's wordings: its act, untrue or new values."""
        found = [act_name(turn.acts[0].act_type)] if self.manners.wrong(turn, tokens) else []
        found += self.new_values.unsaid(turn, tokens)
        return [*found, *self.manners.untrue(turn, self.delexicalizer.required(turn), tokens)]

    def owed_triggers(self, names: Sequence[Iterable[str]]) -> NDArray[np.float32]:
        """Return 1 for each of `trigger_words` that special values (`familyFriendly=no`) need, (rows, triggers)."""
        wanted = [{trigger(name) for name in row} for row in names]
        return np.array([[name in row for name in self.trigger_words] for row in wanted], np.float32)

    def raw_of(self, request: Request, template: Template) -> str:
        """Return the raw sentence of a template with a request's values."""
        return self._relexicalizer.raw(request, template)

    def repeated(self, request: Request, template: Template) -> tuple[str, ...]:
        """Return values that a template's own words repeat: "cheap, moderate or expensive" with the value `cheap`."""
        if not any(value.raw.partition(" ")[0].casefold() in template.words for value in request.values):
            return ()
        tokens = self.delexicalizer.delexicalize(request.turn, self.raw_of(request, template)).tokens
        return self.checker.tally(request.turn, tokens).extra

    def text_of(self, request: Request, template: Template) -> str:
        """Return the sentence as a user reads it: a template with a request's values."""
        return self._relexicalizer.text(request, template)

    def save(self, path: Path) -> None:
        """Write the preprocessor as JSON."""
        data: dict[str, Any] = {
            "vocabulary": self.vocabulary.ordinary,
            "features": self.encoder.features,
            "words": self.encoder.words.ordinary,
            "corpus": self.encoder.corpus,
            "casing": self.casing.to_json(),
            "inflection": self._relexicalizer.inflection.to_json(),
            "style": self.style.to_json(),
            "templates": self.templates.to_json(),
            "trigger_words": self.trigger_words,
        }
        if self.neighbours.costs:
            data["neighbours"] = self.neighbours.costs
        if self.context is not None:
            data["context"] = self.context.ordinary
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Preprocessor:
        """Read what `save` wrote.

        Raises:
            RunError: the file is missing, damaged, or from another version.
        """
        data = read_preprocessor_file(path)
        style = Style(**dict(data.style))
        made = cls(
            Vocabulary(data.vocabulary),
            ActEncoder(data.features, Vocabulary(data.words), data.corpus),
            Casing(**dict(data.casing)),
            Templates.from_json(data.templates),
            style,
            data.trigger_words,
            Inflection(style.forms, **dict(data.inflection)),
        )
        made.neighbours = Neighbours(data.neighbours)
        made.context = None if data.context is None else Vocabulary(data.context)
        return made
