"""Several acts: those that training never had in one turn are said one after the other.

A model that has never seen two acts together mixes them: it offers what there is none of, or states what it should ask,
and of a mixture no check can tell which act it does. Each by itself, or as many as training has together, it can say.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from itertools import islice
from typing import TYPE_CHECKING

from dactnlg.acts import DialogueAct, Turn
from dactnlg.generation.candidates import Candidate
from dactnlg.generation.options import ResolvedOptions
from dactnlg.generation.parts import favourites, renamed, stated
from dactnlg.text.placeholders import Required
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.requests import Request
from dactnlg.text.segments import Segments
from dactnlg.text.sentences import Tokens, append_sentences

if TYPE_CHECKING:
    from dactnlg.generation.decoder import Decoder


class SeveralActs:
    """Takes turns apart into the acts that training had together, and puts what is said of these together.

    Several threads may use one.

    Args:
        preprocessor: of a run.
    """

    def __init__(self, preprocessor: Preprocessor) -> None:
        self._preprocessor, self._segments = preprocessor, Segments(preprocessor)

    def requests(self, request: Request) -> list[Request]:
        """Return requests for the acts of a turn, as many in one as training had together; none if it had all."""
        groups, rest = list[Turn](), request.turn.acts
        while len(request.turn.acts) > 1 and rest:
            sizes = range(len(rest), 0, -1)
            size = next((size for size in sizes if self._together(rest[:size])), 1)
            groups.append(Turn(rest[:size]))
            rest = rest[size:]
        return [self._preprocessor.request(turn, request.context) for turn in groups] if len(groups) > 1 else []

    def said(
        self, decoder: Decoder, request: Request, said: Sequence[Sequence[Candidate]], options: ResolvedOptions
    ) -> list[Candidate]:
        """Return what is said for its requests as texts for a turn; none where they cannot stand in one.

        Args:
            decoder: the model.
            request: the turn.
            said: the candidates for each of its `requests`, the best first.
            options: how sentences are chosen.
        """
        rows = [[each for each in row if each.right] or row for row in said]
        texts = []
        # The best of each go together, then the next ones.
        for parts in islice(zip(*rows, strict=False), options.n_best):
            tokens = self._retold(request, parts)
            texts += [reduce(append_sentences, tokens, list[str]())] if all(tokens) else []
        best = [row[0] for row in rows if row]
        right = all(each.right for each in best)
        heard = {name for each in best for name in stated(each.request.turn)} if right else None
        found = favourites(self._preprocessor, decoder, request, texts, options, heard=heard)
        return [each for each in found if each.faithful_values]

    def _together(self, acts: tuple[DialogueAct, ...]) -> bool:
        """Whether training had the types of some acts in one turn, and they are about one thing."""
        return frozenset(act.act_type for act in acts) in self._known and not self._differ(acts)

    def _differ(self, acts: tuple[DialogueAct, ...]) -> bool:
        """Whether acts are about several things, or one has another special value of a slot than the others."""
        names = [item.placeholder for item in self._preprocessor.delexicalizer.required(Turn(acts))]
        special = [slot.name for slot in {slot for act in acts for slot in act.slots} if slot.special is not None]
        things = sum(name.partition("#")[0] == self._segments.subject for name in names)
        return len(acts) > 1 and (things > 1 or len(set(special)) < len(special))

    @cached_property
    def _known(self) -> set[frozenset[str]]:
        """The act types of each of training's turns."""
        return {frozenset(each for each in key if "|" not in each) for key in self._preprocessor.templates.sentences}

    def _retold(self, request: Request, parts: Sequence[Candidate]) -> list[Tokens]:
        """Return the texts of a turn's parts with its placeholders; an empty one where it names a thing once more."""
        required = self._preprocessor.delexicalizer.required
        places = {_value(item): item.placeholder for item in required(request.turn)}
        found, before = list[Tokens](), set[str]()
        for each in parts:
            own = {item.placeholder: places.get(_value(item), "") for item in required(each.request.turn)}
            again = before.intersection(own.values())
            tokens = self._segments.about_it(each.tokens) if again else each.tokens
            # It is the subject alone that has a pronoun.
            found.append(tuple(renamed(token, own) for token in tokens) if again <= {self._segments.subject} else ())
            before.update(own.values())
        return found


def _value(item: Required) -> tuple[str, str]:
    return item.slot.name, (item.slot.value or "").casefold()
