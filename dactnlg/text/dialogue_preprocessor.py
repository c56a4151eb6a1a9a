"""Between turns of dialogues and a model's arrays: the preprocessor of models that answer a context.

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
    """Turns and what is said next.

    Attributes:
        context: the turns before, the oldest first.
        target: the next turn.
        conversation: the number of its conversation.
        acts: labels of what the next turn does, where the corpus has them.
    """

    context: tuple[str, ...]
    target: str
    conversation: int = 0
    acts: tuple[str, ...] = ()


@dataclass(frozen=True)
class DialoguePreprocessor:
    """Numbers the words of dialogues.

    Attributes:
        vocabulary: of the tokens, lower-cased.
        turns: U, how many turns before are seen, the last ones.
        longest: T, how many tokens of a turn are seen, the last one being the end; the first ones.
        teacher: which teacher's arrays the model takes or learned from; empty for none.
        acts: A, the labels that a model is told of the turn that it is to say; empty where it is told none.
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
        """Number the `most` most frequent tokens of training targets and first turns, and labels of acts."""
        texts: dict[tuple[int, str], None] = {}
        for pair in pairs:
            texts |= dict.fromkeys((pair.conversation, text) for text in (*pair.context, pair.target))
        found = Vocabulary.build(words(text) for _, text in texts)
        return cls(Vocabulary(found.tokens[4 : 4 + most]), turns, longest, teacher, tuple(sorted(set(acts))))

    @property
    def sizes(self) -> Sizes:
        """What a model has to know: tokens, and labels of acts; there are no words of values."""
        return Sizes(len(self.vocabulary), len(self.acts), 0)

    # What a decoder asks of a preprocessor: nothing is required of an answer.
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
        """Return contexts as numbers.

        Args:
            contexts: the turns of each, the oldest first.
            acts: the labels of what is to be said in each; None leaves that to the model.

        Returns:
            `turns`, (B, U, T), its turns from the first row on, 0 where there is none; `turn_lengths`, (B, U), the
            tokens of each turn, 0 for no turn; and `act`, (B, A), 1 for each label.

        Raises:
            UnknownNameError: a label that training never had.
        """
        context = np.zeros((len(contexts), self.turns, self.longest), np.int32)
        lengths = np.zeros((len(contexts), self.turns), np.int32)
        known: dict[str, list[int]] = {}
        for row, turns in enumerate(contexts):
            # An empty context is one turn that says nothing.
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
        """Return the labels among some that training had: another one is as good as none."""
        return [label for label in labels if label in self.acts]

    def encode(self, text: str) -> list[int]:
        """Return the numbers of a turn's tokens and of its end, T at most."""
        return [*self.vocabulary.encode(words(text))[: self.longest - 1], EOS_ID]

    def text(self, tokens: Sequence[str]) -> str:
        """Return tokens as a sentence."""
        return detokenize(list(tokens))

    def save(self, path: Path) -> None:
        """Write the preprocessor as JSON."""
        data = {
            "kind": "dialogue",
            "vocabulary": self.vocabulary.tokens[4:],
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
            RunError: it is something else.
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
