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

from dactnlg.errors import RunError
from dactnlg.text.encoding import Sizes
from dactnlg.text.surface import detokenize, tokenize
from dactnlg.text.vocabulary import EOS_ID, Vocabulary


class ContextPair(NamedTuple):
    """Turns and what is said next.

    Attributes:
        context: the turns before, the oldest first.
        target: the next turn.
        conversation: the number of its conversation.
    """

    context: tuple[str, ...]
    target: str
    conversation: int = 0


@dataclass(frozen=True)
class DialoguePreprocessor:
    """Numbers the words of dialogues.

    Attributes:
        vocabulary: of the tokens, lower-cased.
        turns: U, how many turns before are seen, the last ones.
        longest: T, how many tokens of a turn are seen, the last one being the end; the first ones.
        teacher: which teacher's arrays the model takes or learned from; empty for none.
    """

    vocabulary: Vocabulary
    turns: int = 5
    longest: int = 30
    teacher: str = ""

    @classmethod
    def build(
        cls, pairs: Iterable[ContextPair], *, turns: int, longest: int, most: int, teacher: str = ""
    ) -> DialoguePreprocessor:
        """Number the `most` most frequent tokens of training targets and first turns."""
        texts: dict[tuple[int, str], None] = {}
        for pair in pairs:
            texts |= dict.fromkeys((pair.conversation, text) for text in (*pair.context, pair.target))
        found = Vocabulary.build(words(text) for _, text in texts)
        return cls(Vocabulary(found.tokens[4 : 4 + most]), turns, longest, teacher)

    @property
    def sizes(self) -> Sizes:
        """What a model has to know: tokens; there are no acts, and no words of values."""
        return Sizes(len(self.vocabulary), 0, 0)

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

    def arrays(self, contexts: Sequence[Sequence[str]]) -> dict[str, NDArray[Any]]:
        """Return contexts as numbers.

        Returns:
            `turns`, (B, U, T), its turns from the first row on, 0 where there is none, and `turn_lengths`, (B, U),
            the tokens of each turn, 0 for no turn.
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
        return {"turns": context, "turn_lengths": lengths}

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
            return cls(Vocabulary(data["vocabulary"]), int(data["turns"]), int(data["longest"]), str(data["teacher"]))
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise RunError(f"{path} is no preprocessor of dialogues: {error}") from None


def words(text: str) -> list[str]:
    """Return the tokens of a turn, lower-cased."""
    return tokenize(text.casefold())
