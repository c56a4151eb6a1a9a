"""Fidelity: human sentences that are flagged, planted faults that are found, and what a run's sentences leave out.

    python benchmarks/fidelity.py [--corpus NAME]... [--faults N] [--show N] [--run RUN]...

For each corpus a reader is learned from train and valid. All human sentences of test are checked, and those that are
not flagged are checked again with one fault each, drawn with a seed: in the sentence another value, a denied one, or
two values swapped; in the act another polarity, another slot that is indifferent or unknown, one such slot more,
another question, or another kind of act; or one of training's questions for another slot after the sentence. Every
fault changes the meaning: values are swapped only if they are not adjacent and one of them then stands between words
where training never has it; acts change only between stating, denying and asking. For a run, sentences are generated
for all distinct test acts; the table counts the special values that they do not say, how many of these pass as
slots_ok, and the only matches that are presented like any other thing.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tabulate import tabulate

from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor, sentence_pairs
from dactnlg.errors import CorpusError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.fidelity.learning import learn_reader
from dactnlg.fidelity.reader_file import load_reader
from dactnlg.fidelity.reports import FidelityReport
from dactnlg.generation.generator import Generator
from dactnlg.runs.run import Run
from dactnlg.text.nearness import names_slot
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner
from dactnlg.text.values.delexicalization import Delexicalized, lexicalize

CORPORA = ("trails", "restaurants", "hotel", "tv", "laptop", "viggo", "e2e", "dstc2", "cs_restaurants")
SEED = 14
OPPOSITE = {"yes": "no", "no": "yes"}
DENIED = {"is": "is not", "are": "are not", "has": "does not have", "serves": "does not serve"}
NOTHING = {"not", "no", "only", "without", "n't", "isn't", "doesn't", "don't", "aren't", "can't"}
ONLY = re.compile(
    r"\b(only|just|sole|single|one|nothing|(no|none|any)\b.*\b(other|else|except|besides)|(no|none) (\w+ )?but)\b"
)
"""Wordings for an only match, taken from human sentences and not from the package's rules."""
Pair = tuple[Turn, str]
Fault = Callable[["Material", Turn, Delexicalized], Pair | None]


class Material:
    """What faults are made of: a corpus's checker, its values, and the words between which values stand.

    Args:
        checker: the corpus's checker.
        pairs: its training pairs.
    """

    def __init__(self, checker: FidelityChecker, pairs: Sequence[Pair]) -> None:
        self.checker, self.random = checker, random.Random(SEED)
        self.values: dict[str, list[str]] = {}
        self.special: dict[str, set[str]] = {}
        self.asked: dict[str, set[str]] = {}
        self.questions: list[tuple[str, str]] = []
        self.kinds: dict[str, Counter[str]] = {}
        self.between: set[tuple[str, str, str]] = set()
        for turn, sentence in dict.fromkeys(pairs):
            for act, slot in turn.slots():
                if slot.special is not None:
                    self.special.setdefault(slot.special, set()).add(slot.name)
                elif slot.value is None:
                    self.asked.setdefault(act.act_type, set()).add(slot.name)
                elif slot.value.casefold() not in map(str.casefold, self.values.setdefault(slot.name, [])):
                    self.values[slot.name].append(slot.value)
            names = [slot.name for _, slot in turn.slots() if slot.value is None]
            if names and len(list(turn.slots())) == 1 and kind(turn.acts[0].act_type) == "asks":
                self.questions.append((names[0], sentence))
            for act in turn:
                self.kinds.setdefault(kind(act.act_type), Counter())[act.act_type] += 1
            self.between |= set(contexts(checker.delexicalizer.delexicalize(turn, sentence).tokens))


def contexts(tokens: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each placeholder with the words on either side."""
    words = ["<s>", *(strip_joiner(token).partition("#")[0].lower() for token in tokens), "</s>"]
    for before, word, after in zip(words, words[1:], words[2:], strict=False):
        if word.startswith("slot_"):
            yield before, word, after


def kind(act_type: str) -> str:
    """Return whether an act states, denies or asks, judging by its name."""
    name = act_type.lower()
    if any(part in name for part in ("no_match", "no_info", "canthelp", "alternative")):
        return "denies"
    asks = ("?", "request", "select", "conf", "verify", "suggest", "reqmore", "compare")
    return "asks" if name.startswith(asks) or "conf" in name else "states"


def another_value(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Replace a value by another one of its slot."""
    items = [item for item in material.checker.delexicalizer.required(turn) if item.placeholder in done.fillers]
    own = {(slot.value or "").casefold() for _, slot in turn.slots()}
    items = [item for item in items if len(material.values.get(item.slot.name, ())) > 1]
    if not items:
        return None
    item = material.random.choice(items)
    others = [
        v for v in material.values[item.slot.name] if not any(v.casefold() in o or o in v.casefold() for o in own)
    ]
    if not others:
        return None
    value = material.random.choice(others)
    names = (strip_joiner(token) for token in done.tokens if is_placeholder(token))
    mentions = [
        (value,) if name == item.placeholder else mention for name, mention in zip(names, done.mentions, strict=True)
    ]
    return turn, lexicalize(done.tokens, iter(mentions))


def swapped_values(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Swap two values that are not adjacent: of two adjacent ones either may be first."""
    places = [n for n, token in enumerate(done.tokens) if is_placeholder(token)]
    pairs = [(a, b) for n, a in enumerate(places) for b in places[n + 1 :] if b > a + 1]
    material.random.shuffle(pairs)
    for a, b in pairs:
        tokens = list(done.tokens)
        first, second = strip_joiner(tokens[a]), strip_joiner(tokens[b])
        if first.partition("#")[0] == second.partition("#")[0]:
            continue
        tokens[a], tokens[b] = tokens[a].replace(first, second), tokens[b].replace(second, first)
        mentions = list(done.mentions)
        mentions[places.index(a)], mentions[places.index(b)] = mentions[places.index(b)], mentions[places.index(a)]
        if set(contexts(tokens)) - material.between:
            return turn, lexicalize(tokens, iter(mentions))
    return None


def denied_value(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Deny what a statement says, at a verb with a value at most five words behind it."""
    tokens = [strip_joiner(token) for token in done.tokens]
    if any(kind(act.act_type) != "states" for act in turn) or not NOTHING.isdisjoint(map(str.lower, tokens)):
        return None
    places = [n for n, word in enumerate(tokens) if word in DENIED and any(map(is_placeholder, tokens[n + 1 : n + 6]))]
    if not places:
        return None
    place = material.random.choice(places)
    words = (*done.tokens[:place], *DENIED[tokens[place]].split(), *done.tokens[place + 1 :])
    return turn, lexicalize(words, iter(done.mentions))


def other_polarity(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Change a yes of the act to no, or a no to yes."""
    names = Counter(slot.name for _, slot in turn.slots())
    found = [s for _, s in turn.slots() if s.special in OPPOSITE and names[s.name] == 1]
    if not found:
        return None
    slot = material.random.choice(found)
    return with_slot(turn, slot, Slot(slot.name, OPPOSITE[slot.special or ""])), done.raw


def other_special(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Make another slot of the act indifferent, or unknown, in place of the one that is."""
    found = [slot for _, slot in turn.slots() if slot.special in ("dontcare", "none")]
    if not found:
        return None
    slot = material.random.choice(found)
    others = sorted(material.special[slot.special or ""] - {each.name for _, each in turn.slots()})
    return (with_slot(turn, slot, Slot(material.random.choice(others), slot.value)), done.raw) if others else None


def one_more(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Make one more slot of the act indifferent, or unknown."""
    kinds = [special for special in ("dontcare", "none") if any(s.special == special for _, s in turn.slots())]
    if not kinds:
        return None
    others = sorted(material.special[kinds[0]] - {each.name for _, each in turn.slots()})
    if not others:
        return None
    more = Slot(material.random.choice(others), kinds[0])
    return Turn((replace(turn.acts[0], slots=(*turn.acts[0].slots, more)), *turn.acts[1:])), done.raw


def other_question(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Make the act ask for another slot."""
    found = [(act, slot) for act, slot in turn.slots() if slot.value is None]
    if not found:
        return None
    act, slot = material.random.choice(found)
    others = sorted(material.asked[act.act_type] - {each.name for _, each in turn.slots()})
    return (with_slot(turn, slot, Slot(material.random.choice(others))), done.raw) if others else None


def one_more_question(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Ask for another slot after the sentence."""
    own = {slot.name for _, slot in turn.slots()}
    others = [text for name, text in material.questions if name not in own]
    ended = done.raw.rstrip() if done.raw.rstrip()[-1:] in (*".?!",) else f"{done.raw.rstrip()} ."
    return (turn, f"{ended} {material.random.choice(others)}") if others else None


def other_act(material: Material, turn: Turn, done: Delexicalized) -> Pair | None:
    """Turn the act from a question into a statement, from a statement into a denial, and so on."""
    if len(turn.acts) > 1 or not any(slot.value for _, slot in turn.slots()):
        return None
    act = turn.acts[0]
    others = [each for name, types in material.kinds.items() if name != kind(act.act_type) for each in types]
    return (Turn((replace(act, act_type=material.random.choice(sorted(others))),)), done.raw) if others else None


def with_slot(turn: Turn, old: Slot, new: Slot) -> Turn:
    """Return a turn with one slot replaced."""
    acts = [DialogueAct(act.act_type, tuple(new if slot is old else slot for slot in act.slots)) for act in turn.acts]
    return Turn(tuple(acts))


FAULTS: dict[str, Fault] = {
    "value": another_value,
    "value denied": denied_value,
    "polarity": other_polarity,
    "slots swapped": swapped_values,
    "special of other slot": other_special,
    "special added": one_more,
    "question": other_question,
    "question added": one_more_question,
    "act": other_act,
}


def measure(name: str, count: int, show: int) -> tuple[list[str], list[str]]:
    """Return a corpus's rows of both tables, and print `show` examples of each error."""
    corpus = load_corpus(name)
    checker = corpus.style().checker()
    train = list(corpus.pairs("train"))
    begin = time.process_time()
    reader = learn_reader(train, sentence_pairs(corpus, "valid", "human"), checker)
    seconds = time.process_time() - begin
    manners = build_preprocessor(corpus)[0].manners
    fidelity, alone = FidelityChecker(checker, reader, manners), FidelityChecker(checker)
    pairs = list(dict.fromkeys(corpus.pairs("test")))
    begin = time.process_time()
    reports = [fidelity.check(turn, sentence) for turn, sentence in pairs]
    speed = len(pairs) / (time.process_time() - begin)
    flagged = [(pair, report) for pair, report in zip(pairs, reports, strict=True) if not report.ok]
    before = sum(not alone.check(*pair).ok for pair in pairs)
    chance = random.Random(SEED)
    for pair, report in chance.sample(flagged, min(show, len(flagged))):
        print_fault("flagged", pair, report)
    material = Material(fidelity, train)
    right = [pair for pair, report in zip(pairs, reports, strict=True) if report.ok]
    shares = []
    total = Counter[bool]()
    for fault, make in FAULTS.items():
        # Each kind draws for itself, so that another kind changes none of the others.
        chance = material.random = random.Random(f"{SEED} {fault}")
        found, cues = Counter[bool](), 0
        for turn, sentence in chance.sample(right, len(right)):
            if sum(found.values()) >= count:
                break
            turn = fidelity.delexicalizer.prepared(turn)
            broken = make(material, turn, fidelity.delexicalizer.delexicalize(turn, sentence))
            if broken is None:
                continue
            report = fidelity.check(*broken)
            found[not report.ok] += 1
            cues += not alone.check(*broken).ok
            if report.ok and found[False] <= show:
                print_fault(f"{fault} not found", broken, report)
        total += found if fault in ("value", "polarity", "slots swapped", "special of other slot") else Counter()
        shares.append(f"{found[True]}/{sum(found.values())} ({cues})" if found else "-")
    share = f"{total[True] / total.total():.2%}" if total else "-"
    first = [name, len(pairs), f"{before / len(pairs):.2%}", f"{len(flagged) / len(pairs):.2%}", share]
    return [*map(str, first), f"{seconds:.1f}", f"{speed:.0f}"], [name, *shares]


def print_fault(what: str, pair: Pair, report: FidelityReport) -> None:
    """Print a sentence with its act and report."""
    faults = {key: value for key, value in report.to_json().items() if value and key != "slots_ok"}
    print(f"{what}: {pair[1].strip()}\n    {pair[0]}\n    {faults}")


def unsaid(path: Path, show: int) -> list[str]:
    """Return a run's row: how many special values its sentences for the distinct test acts leave out, and the rest.

    "Not said" is judged by the run's own reader; "not named" means that no word of the slot's name occurs.
    """
    run = Run(path)
    corpus = load_corpus(run.check().corpus.name)
    generator = Generator.load(run.path)
    fidelity = FidelityChecker(corpus.style().checker(), load_reader(run.reader_path))
    requests = {generator.preprocessor.request(example.turn).act: example.turn for example in corpus.split("test")}
    turns = list(requests.values())
    begin = time.process_time()
    found = generator.generate(turns, strict=False)
    speed = len(turns) / (time.process_time() - begin)
    special = lost = silent = named = false = only = as_any = 0
    for turn, each in zip(turns, found, strict=True):
        report = fidelity.check(turn, each.raw)
        slots = [slot for _, slot in turn.slots() if slot.special is not None]
        words = each.raw.lower().replace("-", " ").split()
        special += len(slots)
        named += sum(not any(names(word, slot.name) for word in words) for slot in slots)
        faults = [name for name in (*report.missing, *report.contradicted) if special_name(name)]
        lost += len(faults)
        silent += len(faults) if each.slots_ok else 0
        false += not each.slots_ok
        alone = any("only" in act.act_type for act in turn)
        only += alone
        as_any += alone and not ONLY.search(each.raw.lower())
        if not each.slots_ok and false <= show:
            print(f"not ok: {each.text}\n    {turn}\n    {each.missing} {each.extra} {each.origin}")
    counts = (len(turns), special, named, lost, silent, false, only, as_any)
    return [str(path), *map(str, counts), f"{speed:.0f}"]


def names(word: str, slot_name: str) -> bool:
    """Whether a word is part of a slot's name, however short: "usb" of `hasusbport`."""
    return names_slot(word, slot_name) or (len(word) > 2 and word.rstrip("s") in slot_name.lower() and word != "has")


def special_name(name: str) -> bool:
    """Whether a report's entry is a special value."""
    slot, _, value = name.partition("=")
    return bool(value) and Slot(slot, value.strip("'")).special is not None


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", action="append", choices=CORPORA, help="may be repeated [default: all, or none with --run]"
    )
    parser.add_argument("--faults", type=int, default=300, help="at most so many of each kind in a corpus")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print N flagged sentences, and N missed faults of each kind"
    )
    parser.add_argument("--run", type=Path, action="append", default=[], help="check its sentences; may be repeated")
    options = parser.parse_args()
    heads, faults = [], []
    for name in options.corpus or (() if options.run else CORPORA):
        try:
            head, row = measure(name, options.faults, options.show)
        except CorpusError as error:
            print(error)
            continue
        heads.append(head)
        faults.append(row)
    if heads:
        columns = [
            "corpus",
            "sentences",
            "flagged, cues alone",
            "flagged",
            "swaps found",
            "learning, CPU s",
            "sentences/CPU s",
        ]
        print(tabulate(heads, columns, disable_numparse=True))
        print("\nfound (by values and cues alone)")
        print(tabulate(faults, ["corpus", *FAULTS], disable_numparse=True))
    if options.run:
        columns = ["run", "acts", "special values", "not named", "not said", "with slots_ok"]
        rows = [unsaid(path, options.show) for path in options.run]
        columns += ["slots_ok false", "only matches", "told as any", "acts/CPU s"]
        print(tabulate(rows, columns, disable_numparse=True))


if __name__ == "__main__":
    main()
