"""Training sentences as templates: the random baseline chooses among them, and no act is left without a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from dactnlg.acts import Turn
from dactnlg.delexicalization import Required, is_placeholder
from dactnlg.surface import strip_joiner, tokenize

Template = tuple[str, ...]
Key = tuple[str, ...]


class Templates:
    """Delexicalised training sentences by the acts and slots they say.

    Args:
        sentences: for each kind of turn (see `kind`) its sentences and how much each counts.
    """

    def __init__(self, sentences: dict[Key, dict[Template, float]]) -> None:
        self.sentences = sentences
        # By the placeholders that they say: for each kind the sentence that counts most.
        self._by_placeholders: dict[frozenset[str], dict[frozenset[str], tuple[float, Template]]] = {}
        for key, templates in sentences.items():
            for template, weight in templates.items():
                said = Counter(strip_joiner(token) for token in template if is_placeholder(token))
                if all(count == 1 for count in said.values()):
                    group = self._by_placeholders.setdefault(frozenset(said), {})
                    rank = (-weight, template)
                    group[frozenset(key)] = min(rank, group.get(frozenset(key), rank))

    @classmethod
    def collect(cls, pairs: Iterable[tuple[Turn, Sequence[str]]]) -> Templates:
        """Collect templates from delexicalised training pairs.

        An example is an act with the set of its sentences. Every example counts 1, and its sentences share that.
        """
        examples: dict[Turn, dict[Template, None]] = {}
        for turn, tokens in pairs:
            examples.setdefault(turn, {})[tuple(tokens)] = None
        sentences: dict[Key, dict[Template, float]] = {}
        for turn, templates in examples.items():
            weights = sentences.setdefault(kind(turn), {})
            for template in templates:
                weights[template] = weights.get(template, 0.0) + 1.0 / len(templates)
        return cls(sentences)

    def same(self, turn: Turn) -> dict[Template, float]:
        """Return the training sentences with the same acts and slots (Sharma et al. 2017, section 4.1).

        For a combination that training never had: those of the combination that shares most with it. Each sentence
        comes with its weight, the number of examples that could have been drawn to say it.
        """
        key = kind(turn)
        if key not in self.sentences:
            wanted = frozenset(key)
            # Shared entries first, then as little else as possible; the key itself settles ties.
            key = min(self.sentences, key=lambda other: _distance(wanted, other), default=())
        return self.sentences.get(key, {})

    def cover(self, turn: Turn, required: Sequence[Required]) -> list[str]:
        """Return tokens that say every required slot once, made of whole training sentences.

        The sentence of the nearest acts that says most of the slots comes first, then further ones for what is left;
        a slot that no sentence says by itself is named plainly. There is always at least one token.
        """
        wanted = frozenset(kind(turn))
        owed = {item.placeholder: item for item in required}
        tokens: list[str] = []
        while True:
            best = self._best(wanted, frozenset(owed), first=not tokens)
            if best is None:
                break
            tokens += best if not tokens else [*_stop(tokens), *best]
            for token in best:
                owed.pop(strip_joiner(token), None)
            if not owed:
                return tokens
        for item in owed.values():
            words = item.slot.name.replace("_", " ").casefold()
            clause = [*tokenize(f"the {words} is"), item.placeholder]
            tokens += clause if not tokens else [*_stop(tokens), *clause]
        # With no slot to say and no sentence without one, the acts themselves are named.
        return tokens or tokenize(" ".join(_plainly(turn)))

    def _best(self, wanted: frozenset[str], owed: frozenset[str], first: bool) -> Template | None:
        ranked = []
        for said, group in self._by_placeholders.items():
            # Only the first sentence may say no slot at all ("goodbye"); with slots to say, only if acts ask for it.
            if said <= owed and (said or first):
                for key, rank in group.items():
                    if said or not owed or key <= wanted:
                        ranked.append((-len(said), -len(wanted & key), len(key - wanted), rank))
        return min(ranked)[-1][-1] if ranked else None

    def to_json(self) -> list[Any]:
        """Return a list that `from_json` reads: [kind, [[sentence, weight], ...]] each."""
        return [
            [list(key), [[" ".join(template), weight] for template, weight in templates.items()]]
            for key, templates in self.sentences.items()
        ]

    @classmethod
    def from_json(cls, data: list[Any]) -> Templates:
        """Read what `to_json` wrote."""
        return cls({tuple(key): {tuple(sentence.split()): weight for sentence, weight in rows} for key, rows in data})


def kind(turn: Turn) -> Key:
    """Return a turn's acts and slots, values and how many ignored: `("inform", "inform|food")`."""
    parts = {act.act_type for act in turn} | {f"{act.act_type}|{slot.name}" for act, slot in turn.slots()}
    return tuple(sorted(parts))


def _plainly(turn: Turn) -> list[str]:
    names = [name for act in turn for name in (act.act_type.strip("?"), *(slot.name for slot in act.slots))]
    return [name.replace("_", " ").casefold() for name in names]


def _distance(wanted: frozenset[str], key: Key) -> tuple[int, int, Key]:
    return -len(wanted.intersection(key)), len(frozenset(key) - wanted), key


def _stop(tokens: Sequence[str]) -> list[str]:
    return [] if strip_joiner(tokens[-1]) in (".", "?", "!") else ["."]
