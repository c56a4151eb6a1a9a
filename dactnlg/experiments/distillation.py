"""Distillation: from paraphrases, written by a language model or by people, to a checked generator.

The package calls no language model: `experiments.prompts` writes the prompts and reads the answers. This module keeps
the sentences that express their acts faithfully, trains a run on them, and measures the result.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from dactnlg import models
from dactnlg._utils.files import made_folder, write_json, written
from dactnlg.acts import Slot, Turn
from dactnlg.data.columns import choose_columns
from dactnlg.data.corpus import load_corpus
from dactnlg.data.division import FEWEST
from dactnlg.data.proposal_files import initialize
from dactnlg.data.readers import pairs as pair_files
from dactnlg.data.readers.reading import read_csv, read_header, read_turn
from dactnlg.errors import CorpusError, UserError
from dactnlg.experiments.self_teaching import self_taught
from dactnlg.experiments.sifting import Inventory, Judged, Row, counted, judge, write_pairs
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.generation.generator import Generator
from dactnlg.runs.config import read_config
from dactnlg.runs.run import Run
from dactnlg.text.traits import kind
from dactnlg.training.readers import corpus_checker
from dactnlg.training.train import train

UNSEEN = 200
"""How many acts with unseen combinations of slots are generated to measure the run, at most."""


class DistilledFiles(NamedTuple):
    """The files that a distillation writes.

    Attributes:
        pairs: the kept pairs.
        rejected: the rejected pairs, with their reasons.
        card, configuration: those that the run was trained with.
    """

    pairs: str
    rejected: str
    card: str
    configuration: str


@dataclass(frozen=True, slots=True)
class Distilled:
    """The result of a distillation.

    Attributes:
        pairs: number of rows read.
        kept: number of pairs used for training.
        rejected: number of the others.
        reasons: kind of reason -> how often it was given.
        run: the run folder.
        files: the files in the folder beside it.
        minutes: training time.
        acts_per_second: speed of generating the measured acts in one batch.
        unseen: number of measured acts whose combinations of slots the kept pairs lack.
        faithful: share of their sentences in which the checker finds no fault; None without such acts.
        by_model: share of their sentences that are faultless and from the model itself; None without such acts.
    """

    pairs: int
    kept: int
    rejected: int
    reasons: dict[str, int]
    run: str
    files: DistilledFiles
    minutes: float
    acts_per_second: float
    unseen: int
    faithful: float | None
    by_model: float | None

    def lines(self) -> Iterator[str]:
        """Yield the lines of a summary."""
        yield f"{self.kept} of {self.pairs} pairs kept, {self.rejected} rejected: {self.files.rejected}"
        if self.reasons:
            yield "reasons: " + ", ".join(f"{name} {count}" for name, count in self.reasons.items())
        yield f"{self.run}: trained in {self.minutes:.1f} minutes, {self.acts_per_second:,.0f} acts/s"
        if self.faithful is None:
            yield "every combination of slots is in the pairs: none is left to measure"
        else:
            by = f", {self.by_model:.1%} by the model alone" if self.by_model is not None else ""
            yield f"faithful on {self.unseen} acts of unseen combinations of slots: {self.faithful:.1%}{by}"


def distil(
    pairs: Path,
    output: Path,
    *,
    check_with: str | None = None,
    overrides: Sequence[str] = (),
    data_dir: Path | None = None,
    overwrite: bool = False,
    progress: bool = True,
) -> Distilled:
    """Filter a file of paraphrases, train on the pairs kept, and measure the run.

    Args:
        pairs: CSV, TSV, JSON or JSONL with acts and sentences.
        output: the run folder; the other files are written to a sibling folder named `NAME-pairs`.
        check_with: a corpus, its card or its file, to train the checker on; by default the pairs themselves.
        overrides: keys of the configuration, such as "training.epochs=3".
        data_dir: a folder to look for that corpus in first.
        overwrite: replace existing output.
        progress: show progress bars on standard error.

    Raises:
        ConfigError: there are mistakes in the overrides.
        CorpusError: the file cannot be read, or too few pairs are kept.
        UserError: the output already exists.
    """
    # Mistakes in the overrides are reported now, not after minutes of judging. Of the models that may be proposed, this
    # one has all keys.
    read_config({"corpus": {"name": "trails"}, "model": {"name": "hierarchical"}}, overrides, models)
    rows, bad = read_rows(pairs)
    folder = output.parent / f"{output.name}-pairs"
    if not overwrite and (folder.exists() or output.exists()):
        raise UserError(f"{folder if folder.exists() else output} is there already; give --overwrite to replace it")
    if not any(text.strip() for _, text, _ in rows):
        first = f" ({'; '.join(bad[0]['reasons'])})" if bad else ""
        raise CorpusError(f"{pairs} has no act with a sentence{first}")
    if check_with is None:
        judged, checker = self_taught(rows, progress=progress)
    else:
        checker = corpus_checker(load_corpus(check_with, data_dir))
        known = Inventory([(turn, text) for turn, text, _ in rows], checker)
        judged = judge(rows, checker, known, progress=progress)
    kept = [each for each in judged if not each.reasons]
    rejected = [*bad, *(each.to_json() for each in judged if each.reasons)]
    reasons = {**counted(judged), **({"unreadable": len(bad)} if bad else {})}
    read = len(rows) + len(bad)
    if len(kept) < FEWEST:
        why = f" ({', '.join(f'{name} {count}' for name, count in reasons.items())})" if reasons else ""
        raise CorpusError(f"{len(kept)} of {read} pairs are left, and {FEWEST} are the least{why}")
    with made_folder(folder):
        files = _write(folder, kept, rejected, overwrite=overwrite)
    begin = time.monotonic()
    run = train(files.configuration, output, overrides=overrides, overwrite=overwrite, progress=progress)
    minutes = (time.monotonic() - begin) / 60
    measured = measure(run, [(each.turn, each.text) for each in kept], checker)
    found = Distilled(
        pairs=read,
        kept=len(kept),
        rejected=len(rejected),
        reasons=reasons,
        run=str(output),
        files=files,
        minutes=round(minutes, 2),
        **measured,
    )
    write_json(folder / "summary.json", asdict(found))
    return found


def read_rows(path: Path) -> tuple[list[Row], list[dict[str, Any]]]:
    """Return the pairs in a file, and the rows that cannot be read as pairs, each with its reason.

    Raises:
        CorpusError: the file cannot be read.
    """
    columns = choose_columns(path, nameable=False)
    rows: list[Row] = []
    bad: list[dict[str, Any]] = []
    for place, row in _table(path, columns) if path.suffix.lower() in pair_files.TABLES else pair_files.objects(path):
        origin = f"{path.name}, {place}"
        try:
            act, text = columns or pair_files.object_keys(row)
            given = row[pair_files.REFERENCES if pair_files.REFERENCES in row else text]
            texts = [given] if isinstance(given, str) else given
            if not texts or not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
                raise TypeError("no list of sentences")
            rows += [(read_turn(row[act], path, place), each, origin) for each in texts]
        except (CorpusError, TypeError, LookupError) as error:
            reason = str(error).partition("\n")[0] if isinstance(error, CorpusError) else "no act with a sentence"
            bad.append({"act": None, "text": None, "reasons": [f"unreadable: {reason}"], "origin": origin})
    return rows, bad


def _table(path: Path, columns: tuple[str, str] | None) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a table, with their places, in the form of a JSONL file's."""
    keys = columns or pair_files.table_columns(read_header(path))
    for line, cells in read_csv(path, keys):
        yield f"line {line}", dict(zip(keys, cells, strict=True))


def measure(run: Run, pairs: Sequence[tuple[Turn, str]], checker: FidelityChecker) -> dict[str, Any]:
    """Return a run's speed and faithfulness on acts with unseen combinations of slots, as fields of `Distilled`."""
    turns = unseen(pairs, UNSEEN)
    generator = Generator.load(run.path)
    generator.generate(pairs[0][0], strict=False)
    asked = turns or [turn for turn, _ in pairs[:UNSEEN]]
    begin = time.perf_counter()
    found = generator.generate(asked, strict=False)
    speed = len(asked) / (time.perf_counter() - begin)
    good = [each.slots_ok and checker.check(turn, each.raw).ok for turn, each in zip(asked, found, strict=True)]
    alone = [ok and each.origin == "model" for ok, each in zip(good, found, strict=True)]
    return {
        "acts_per_second": round(speed, 1),
        "unseen": len(turns),
        "faithful": sum(good) / len(good) if turns else None,
        "by_model": sum(alone) / len(alone) if turns else None,
    }


def unseen(pairs: Sequence[tuple[Turn, str]], count: int, seed: int = 1) -> list[Turn]:
    """Return at most `count` acts with combinations of slots that the pairs lack, made from their slots and values.

    Each takes slots from two acts of the same type.
    """
    chance = random.Random(seed)
    turns = list(dict.fromkeys(turn for turn, _ in pairs if len(turn.acts) == 1 and turn.acts[0].slots))
    known = {kind(turn) for turn, _ in pairs}
    by_type: dict[str, list[Turn]] = {}
    for turn in turns:
        by_type.setdefault(turn.acts[0].act_type, []).append(turn)
    longest = {name: max(len(turn.acts[0].slots) for turn in each) for name, each in by_type.items()}
    found: dict[tuple[str, ...], Turn] = {}
    for _ in range(20 * count if turns else 0):
        first = chance.choice(turns).acts[0]
        second = chance.choice(by_type[first.act_type]).acts[0]
        slots: dict[str, Slot] = {slot.name: slot for slot in (*first.slots, *second.slots)}
        size = chance.randint(1, min(len(slots), longest[first.act_type]))
        names = set(chance.sample(sorted(slots), size))
        # In the order of the two acts, so that a name stays first: a sentence about nothing reads oddly.
        turn = Turn((replace(first, slots=tuple(slot for name, slot in slots.items() if name in names)),))
        if kind(turn) not in known:
            found.setdefault(kind(turn), turn)
        if len(found) == count:
            break
    return list(found.values())


def _write(
    folder: Path, kept: Sequence[Judged], rejected: Sequence[dict[str, Any]], *, overwrite: bool
) -> DistilledFiles:
    good, bad = folder / "pairs.jsonl", folder / "rejected.jsonl"
    write_pairs(good, [(each.turn, each.text) for each in kept])
    with written(bad) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rejected)
    made = initialize(good, output=folder, overwrite=overwrite)
    return DistilledFiles(*map(str, (good, bad, made.card, made.configuration)))
