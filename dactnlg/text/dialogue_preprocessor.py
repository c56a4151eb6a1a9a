"""Conversion between dialogue turns and a model's arrays: the preprocessor of models that answer a context.

Shapes: B contexts, U turns of a context, T tokens of a turn. U and T are fixed, so that one program fits every context.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dactnlg.errors import RunError, UnknownNameError
from dactnlg.text.encoding import Sizes
from dactnlg.text.surface import detokenize, tokenize
from dactnlg.text.vocabulary import EOS_ID, Vocabulary


class ContextPair(NamedTuple):
    """A context and the turn that follows it.

    Attributes:
        context: the preceding turns, oldest first.
        target: the next turn.
        conversation: the number of its conversation.
        acts: labels of what the next turn does, if the corpus has them.
    """

    context: tuple[str, ...]
    target: str
    conversation: int = 0
    acts: tuple[str, ...] = ()


@dataclass(frozen=True)
class DialoguePreprocessor:
    """Maps the words of dialogues to ids.

    Attributes:
        vocabulary: of the tokens, lower-cased.
        turns: U, how many preceding turns are used, the last ones.
        longest: T, how many tokens of a turn are used, the first ones, including the end token.
        teacher: the teacher whose arrays the model takes or learned from; empty for none.
        acts: A, the labels that a model can be given for the turn to generate; empty if it is given none.
    """

    vocabulary: Vocabulary
    turns: int = 5
    longest: int = 30
    teacher: str = ""
    acts: tuple[str, ...] = ()

    @classmethod
    def build(
        cls,
        pairs: Iterable[ContextPair],
        *,
        turns: int,
        longest: int,
        most: int,
        teacher: str = "",
        acts: Iterable[str] = (),
    ) -> DialoguePreprocessor:
        """Number the `most` most frequent tokens of training turns, each text once per conversation, and act labels."""
        texts: dict[tuple[int, str], None] = {}
        for pair in pairs:
            texts |= dict.fromkeys((pair.conversation, text) for text in (*pair.context, pair.target))
        found = Vocabulary.build(words(text) for _, text in texts)
        return cls(Vocabulary(found.ordinary[:most]), turns, longest, teacher, tuple(sorted(set(acts))))

    @property
    def sizes(self) -> Sizes:
        """What a model has to know: numbers of tokens and of act labels; there are no words of values."""
        return Sizes(len(self.vocabulary), len(self.acts), 0)

    # What a decoder asks of a preprocessor: an answer has no required slots.
    @property
    def kinds(self) -> NDArray[np.int32]:
        """No token is a placeholder, (V,)."""
        return np.full(len(self.vocabulary), -1, np.int32)

    @property
    def placeholders(self) -> list[str]:
        """There are none."""
        return []

    @property
    def triggers(self) -> NDArray[np.bool_]:
        """There are none, (V, 0)."""
        return np.zeros((len(self.vocabulary), 0), bool)

    def arrays(
        self, contexts: Sequence[Sequence[str]], acts: Sequence[Sequence[str]] | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return contexts as arrays of ids.

        Args:
            contexts: the turns of each, oldest first.
            acts: the labels of what to say in each; None leaves that to the model.

        Returns:
            `turns`, (B, U, T), the turns from the first row on, 0 where there is none; `turn_lengths`, (B, U), the
            tokens of each turn, 0 for no turn; and `act`, (B, A), 1 for each label.

        Raises:
            UnknownNameError: a label that is not in the training data.
        """
        context = np.zeros((len(contexts), self.turns, self.longest), np.int32)
        lengths = np.zeros((len(contexts), self.turns), np.int32)
        known: dict[str, list[int]] = {}
        for row, turns in enumerate(contexts):
            # An empty context is a single empty turn.
            for place, turn in enumerate(list(turns)[-self.turns :] or [""]):
                if turn not in known:
                    known[turn] = self.encode(turn)
                lengths[row, place] = len(known[turn])
                context[row, place, : len(known[turn])] = known[turn]
        return {"turns": context, "turn_lengths": lengths, "act": self._labels(acts or [()] * len(contexts))}

    def _labels(self, acts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        places = {label: place for place, label in enumerate(self.acts)}
        found = np.zeros((len(acts), len(self.acts)), np.float32)
        for row, labels in enumerate(acts):
            for label in labels:
                if label not in places:
                    raise UnknownNameError("act of a turn", label, self.acts)
                found[row, places[label]] = 1
        return found

    def known_acts(self, labels: Iterable[str]) -> list[str]:
        """Return those of the labels that occur in training: an unknown one counts as none."""
        return [label for label in labels if label in self.acts]

    def encode(self, text: str) -> list[int]:
        """Return the ids of a turn's tokens and the end token, at most T."""
        return [*self.vocabulary.encode(words(text))[: self.longest - 1], EOS_ID]

    def text(self, tokens: Sequence[str]) -> str:
        """Return tokens as a sentence."""
        return detokenize(list(tokens))

    def save(self, path: Path) -> None:
        """Write the preprocessor as JSON."""
        data = {
            "kind": "dialogue",
            "vocabulary": self.vocabulary.ordinary,
            "turns": self.turns,
            "longest": self.longest,
            "teacher": self.teacher,
            "acts": self.acts,
        }
        path.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> DialoguePreprocessor:
        """Read what `save` wrote.

        Raises:
            RunError: the file is not a dialogue preprocessor.
        """
        try:
            data: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if data["kind"] != "dialogue":
                raise KeyError("kind")
            numbers, acts = (int(data["turns"]), int(data["longest"])), tuple(map(str, data["acts"]))
            return cls(Vocabulary(data["vocabulary"]), *numbers, str(data["teacher"]), acts)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise RunError(f"{path} is no preprocessor of dialogues: {error}") from None


def words(text: str) -> list[str]:
    """Return the tokens of a turn, lower-cased."""
    return tokenize(text.casefold())
