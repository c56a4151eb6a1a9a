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
        sentences: for each kind of turn (see `kind`) its sentences, a sentence as often as it occurred.
    """

    def __init__(self, sentences: dict[Key, list[Template]]) -> None:
        self.sentences = sentences
        self._by_placeholders: dict[frozenset[str], Counter[tuple[Key, Template]]] = {}
        for key, templates in sentences.items():
            for template in templates:
                said = Counter(strip_joiner(token) for token in template if is_placeholder(token))
                if all(count == 1 for count in said.values()):
                    self._by_placeholders.setdefault(frozenset(said), Counter())[key, template] += 1

    @classmethod
    def collect(cls, pairs: Iterable[tuple[Turn, Sequence[str]]]) -> Templates:
        """Collect templates from delexicalised training pairs."""
        sentences: dict[Key, list[Template]] = {}
        for turn, tokens in pairs:
            sentences.setdefault(kind(turn), []).append(tuple(tokens))
        return cls(sentences)

    def same(self, turn: Turn) -> list[Template]:
        """Return the training sentences with the same acts and slots (Sharma et al. 2017, section 4.1).

        For a combination that training never had: those of the combination that shares most with it.
        """
        key = kind(turn)
        if key not in self.sentences:
            wanted = Counter(key)
            # Shared entries first, then as little else as possible; the key itself settles ties.
            key = min(self.sentences, key=lambda other: _distance(wanted, other), default=())
        return self.sentences.get(key, [])

    def cover(self, turn: Turn, required: Sequence[Required]) -> list[str]:
        """Return tokens that say every required slot once, made of whole training sentences.

        The sentence of the nearest acts that says most of the slots comes first, then further ones for what is left;
        a slot that no sentence says by itself is named plainly.
        """
        wanted = Counter(kind(turn))
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
        return tokens

    def _best(self, wanted: Counter[str], owed: frozenset[str], first: bool) -> Template | None:
        ranked = []
        for said, templates in self._by_placeholders.items():
            # Only the first sentence may say no slot at all ("goodbye").
            if said <= owed and (said or first):
                for (key, template), count in templates.items():
                    shared = (wanted & Counter(key)).total()
                    surplus = (Counter(key) - wanted).total()
                    ranked.append((-len(said), -shared, surplus, -count, template))
        return min(ranked)[-1] if ranked else None

    def to_json(self) -> list[Any]:
        """Return a list that `from_json` reads: [kind, [[sentence, count], ...]] each."""
        return [
            [list(key), [[" ".join(template), count] for template, count in Counter(templates).items()]]
            for key, templates in self.sentences.items()
        ]

    @classmethod
    def from_json(cls, data: list[Any]) -> Templates:
        """Read what `to_json` wrote."""
        return cls(
            {
                tuple(key): [tuple(sentence.split()) for sentence, count in rows for _ in range(count)]
                for key, rows in data
            }
        )


def kind(turn: Turn) -> Key:
    """Return a turn's acts and slots, values and how many ignored: `("inform", "inform|food")`."""
    parts = {act.act_type for act in turn} | {f"{act.act_type}|{slot.name}" for act, slot in turn.slots()}
    return tuple(sorted(parts))


def _distance(wanted: Counter[str], key: Key) -> tuple[int, int, Key]:
    other: Counter[str] = Counter(key)
    return -(wanted & other).total(), (other - wanted).total(), key


def _stop(tokens: Sequence[str]) -> list[str]:
    return [] if strip_joiner(tokens[-1]) in (".", "?", "!") else ["."]
