"""Are the words around values right? Doubled words, articles, nouns after numbers, and punctuation.

    python benchmarks/edges.py RUN...                    finished runs, of any corpus and model
    python benchmarks/edges.py RUN --subsets 2000        more random subsets of slots
    python benchmarks/edges.py RUN --show 5              some examples of each fault

Each distinct act of a run's test split is generated under the hard constraint, and so are acts that may be new: act
types of training with random subsets of the slots that they take, and values drawn from training. The corpus's own
delexicaliser then finds the values in the final text, and the words beside them are examined. None of the rules that
made the text is used here. The corpora are looked for in DACTNLG_DATA, else in ../shared/data.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from common import DATA
from unseen import subsets

from dactnlg.acts import Turn
from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.run import Run
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.preprocessor import Preprocessor
from dactnlg.text.surface import strip_joiner

HARD = GenerationOptions(constraint="hard")
FAULTS = ("doubled", "doubled elsewhere", "article", "count", "marks", "verb")
"""A word doubled at the edge of a value, or elsewhere; "a" for "an" or vice versa, or two articles; "1 ports"; doubled
or detached punctuation, or a sentence without a capital; "is are"."""
ARTICLES = frozenset({"a", "an", "the"})
ENDED = frozenset(
    {"a", "and", "are", "at", "from", "has", "in", "is", "kings", "of", "on", "or", "that", "the", "to", "with"}
)
"""Words that end a search for the noun after a number."""
# The first sounds of English words, as far as they follow an article in the corpora.
VOWEL = re.compile(
    r"[aeio]|u(?!ni[^nm]|s[aeiu]|s?b|k|til|r[aiu])|h(?:our|onest|eir|dmi)|x-?box|8|11(?!\d)|18(?!\d)", re.I
)
CONSONANT = re.compile(r"eu|ewe|one\b|once\b|uni", re.I)
LETTERS = re.compile(r"[A-Z]\d*|[B-DF-HJ-NP-TV-Z]{2,}|MMO[A-Z]*|[a-z]\d*")
MARKS = re.compile(
    r"[.?!,;:] *[,;:]| [,.;:?!](?=\s|$)|[.?!] *[.?!]$(?<!\.\.\.)|  |(?<![.\d])[.?!] [a-z]|^[a-z](?![a-z]*[A-Z])"
)
VERBS = re.compile(
    r"\b(?:(?:is|are|has|was|were|do|does) (?:is|are|has|was|were|does)|(?:is|are) have|(?:the|an?) (?:the|an))\b",
    re.I,
)
NUMBER = re.compile(r"(?<![\w.,'/-])(1|one|[2-9]|[1-9]\d{1,2}) ([a-z]+)(?: ([a-z]+))?(?: ([a-z]+))?(?![\w'-])", re.I)


def turns_of(corpus: Corpus) -> list[Turn]:
    """Return the distinct acts of the test split."""
    return list(dict.fromkeys(example.turn for example in corpus.split("test")))


def faults(preprocessor: Preprocessor, singulars: frozenset[str], turn: Turn, text: str) -> Iterator[tuple[str, str]]:
    """Yield the faults of a sentence around its values: which of `FAULTS`, and the words in question."""
    found = preprocessor.delexicalizer.delexicalize(turn, text)
    mentions, words = iter(found.mentions), list[tuple[str, bool, bool]]()
    for token in found.tokens:
        value = [strip_joiner(word) for word in next(mentions)] if is_placeholder(token) else [strip_joiner(token)]
        inside = is_placeholder(token)
        # Each word, whether it is the first of a value, and whether it is the last of one.
        words += [(word, inside and not i, inside and i == len(value) - 1) for i, word in enumerate(value)]
    for (one, _, ends), (two, begins, _) in zip(words, words[1:], strict=False):
        if one.isalpha() and two.isalpha() and len(one) > 1 and same(one, two):
            if ends or begins:
                yield "doubled", f"{one} {two}"
            elif one.casefold() == two.casefold() and not inside_value(found.mentions, one, two):
                yield "doubled elsewhere", f"{one} {two}"
    yield from article_faults(found.mentions, words)
    yield from count_faults(singulars, text)
    for name, pattern in (("marks", MARKS), ("verb", VERBS)):
        for match in pattern.finditer(text):
            # A value may contain anything.
            if not match.start() or not any(
                match.group().casefold() in " ".join(map(strip_joiner, m)).casefold() for m in found.mentions
            ):
                yield name, text[max(match.start() - 12, 0) : match.end() + 12]


def same(one: str, two: str) -> bool:
    """Whether two words are the same but for capitals and number."""
    one, two = one.casefold(), two.casefold()
    short, long = sorted((one, two), key=len)
    return one == two or (len(short) > 2 and long in (short + "s", short + "es"))


def inside_value(mentions: Sequence[Sequence[str]], one: str, two: str) -> bool:
    """Whether two words stand next to each other in a value."""
    return any((one, two) in zip(m, m[1:], strict=False) for m in ([*map(strip_joiner, each)] for each in mentions))


def article_faults(
    mentions: Sequence[Sequence[str]], words: Sequence[tuple[str, bool, bool]]
) -> Iterator[tuple[str, str]]:
    """Yield articles that do not agree with the next word, or that precede the article of a value."""
    begun = {strip_joiner(m[0]) for m in mentions if len(m) > 1 and m[1][:1].isalnum()}
    for place, (one, begins, _) in enumerate(words[:-1]):
        two, starts, _ = words[place + 1]
        if one.casefold() not in ARTICLES or begins:
            continue
        if starts and two.casefold() in ARTICLES and two in begun:
            yield "article", f"{one} {two} {words[place + 2][0]}"
        elif one in ("a", "an", "An", "A") and two[:1].isalnum():
            vowel = bool(VOWEL.match(two)) and not CONSONANT.match(two)
            if LETTERS.fullmatch(two):
                vowel = two[0].lower() in "aefhilmnorsx"
            plain = two.casefold() not in ("and", "as", "at", "is", "on", "or", "in", "of")
            if (
                plain
                and (one.casefold() == "an") != vowel
                and not (one == "A" and place and words[place - 1][0] != ".")
            ):
                yield "article", f"{one} {two}"


def count_faults(singulars: frozenset[str], text: str) -> Iterator[tuple[str, str]]:
    """Yield singular numbers with a plural noun or verb: "1 HDMI ports", "There are 1 restaurant"."""
    for match in re.finditer(r"\bare (?:only |just )?1 (?!of\b)[a-z]+", text, re.I):
        yield "count", match.group()
    for match in NUMBER.finditer(text):
        following = [word.casefold() for word in match.groups()[1:] if word]
        for word in following:
            if word in ENDED:
                break
            if match[1] in ("1", "one") and word.endswith("s") and word[:-1] in singulars:
                yield "count", match.group()
            if word in singulars or (word.endswith("s") and word[:-1] in singulars):
                break


def countable(corpus: Corpus) -> frozenset[str]:
    """Return the singular of every noun that training often has in the plural after a number."""
    plural = re.compile(r"(?<![\w.])(?:[2-9]|\d\d+) (?:[a-z]+ )??([a-z]{3,}?)(?: -|(?<!s))s(?![\w'])", re.I)
    pairs = corpus.pairs("train")
    counts = Counter(noun.casefold() for _, sentence in pairs for noun in plural.findall(sentence))
    return frozenset(noun for noun, count in counts.items() if count > 2 and noun[-1] not in "isu")


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Print a row for each kind of acts, and examples."""
    run = Run(folder)
    corpus = load_corpus(run.check().corpus.name, DATA)
    generator = Generator.load(folder)
    kinds = {"test": turns_of(corpus), "subsets": subsets(corpus, options.subsets, options.seed)}
    for kind, turns in kinds.items():
        if turns:
            found = generator.generate(turns, HARD, strict=False)
            report(f"{folder.name}, {kind}", generator.preprocessor, countable(corpus), turns, found, options.show)


def report(
    name: str,
    preprocessor: Preprocessor,
    singulars: frozenset[str],
    turns: Sequence[Turn],
    generations: Sequence[Generation],
    show: int,
) -> None:
    """Print how many sentences have each fault, and examples of each."""
    counts, examples = Counter[str](), dict[str, list[str]]()
    for turn, generation in zip(turns, generations, strict=True):
        seen = dict(faults(preprocessor, singulars, turn, generation.text))
        counts.update(seen.keys())
        for fault, words in seen.items():
            origin = f"{generation.origin}{'' if generation.slots_ok else ', faulty'}"
            examples.setdefault(fault, []).append(f"{words!r} [{origin}]: {generation.text}\n      {turn}")
    cells = [name, len(turns), *(counts[fault] for fault in FAULTS)]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    for fault, lines in examples.items():
        for line in random.Random(1).sample(lines, min(show, len(lines))):
            print(f"  {fault}: {line}")


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--subsets", type=int, default=1000, help="random subsets of slots for each run")
    parser.add_argument("--seed", type=int, default=1, help="of the subsets")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N examples of each fault")
    options = parser.parse_args()
    print("| sentences | number | " + " | ".join(FAULTS) + " |\n|" + "---|" * (len(FAULTS) + 2))
    for folder in options.runs:
        measure(folder, options)


if __name__ == "__main__":
    main()
