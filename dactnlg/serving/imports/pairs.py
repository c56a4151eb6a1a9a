"""The files of an import: training pairs, templates, slot map, data card, configuration, and what was left out."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dactnlg._utils.files import made_folder, written
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.division import FEWEST
from dactnlg.data.proposal_files import initialize
from dactnlg.errors import ActError, ConfigError, CorpusError, UserError
from dactnlg.fidelity.checker import FidelityChecker
from dactnlg.runs import yamlfile
from dactnlg.serving.imports.slot_map import SlotMap, map_of, map_text
from dactnlg.serving.imports.templates import SLOT, ResponseTemplate, TemplateSource, Unread
from dactnlg.text.style import Style

PER_TEMPLATE = 12
"""Pairs made from each template, with varying values; with fewer values, or no slots, pairs are repeated."""
PAIRS, TEMPLATES, SLOTS, ACTS = "pairs.jsonl", "templates.jsonl", "slots.yaml", "acts.txt"
UNREAD, MAPPING = "not-read.jsonl", "mapping.yml"


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    Attributes:
        responses: number of responses with a template.
        templates: number of templates used.
        pairs: number of pairs made from them, all checked.
        unread: what was left out.
        folder: the folder with the files.
        configuration: the configuration file for training.
    """

    responses: int
    templates: int
    pairs: int
    unread: tuple[Unread, ...]
    folder: Path
    configuration: Path

    def lines(self) -> Iterator[str]:
        """Yield the lines of a summary for the user."""
        yield f"{self.responses} responses, {self.templates} templates, {self.pairs} pairs: {self.folder / PAIRS}"
        if self.unread:
            yield f"{len(self.unread)} not read ({self.folder / UNREAD}):"
            yield from (f"  {each.origin}: {each.reason}" for each in self.unread)
        if self.pairs < FEWEST:
            yield f"{self.pairs} pairs are too few to train on: {FEWEST} are the least"
        yield f"names and values: {self.folder / SLOTS}; mend them, and import again with --map"
        yield f"next: dactnlg train {self.configuration} --output runs/{self.folder.name}"
        yield f"      dactnlg generate --model runs/{self.folder.name} --input {self.folder / ACTS}"


def write_import(
    source: TemplateSource, folder: Path, given: SlotMap | None = None, *, kind: str = "rasa", overwrite: bool = False
) -> Imported:
    """Write acts, pairs and a configuration for the templates of a source.

    Args:
        source: the templates.
        folder: the folder to write to.
        given: a slot map edited by the user.
        kind: the framework; for `rasa`, a mapping file for its NLG endpoint is written, too.
        overwrite: replace existing files; a mapping file keeps its `domain` and `otherwise`.

    Raises:
        UserError: no template or too few templates can be used, or files exist already.
    """
    if not source.templates:
        reasons = "; ".join(f"{each.origin}: {each.reason}" for each in source.unread[:3])
        raise UserError(f"no template could be read ({reasons or 'there is none'})")
    names = (PAIRS, TEMPLATES, SLOTS, ACTS, UNREAD, *([MAPPING] if kind == "rasa" else []))
    if not overwrite and (there := [name for name in names if (folder / name).exists()]):
        raise UserError(f"{folder / there[0]} is there already; give --overwrite to replace it, or another --output")
    found = map_of(source, given)
    made, unread = _made(source, found)
    if not made:
        raise UserError("; ".join(f"{each.origin}: {each.reason}" for each in unread[:3]))
    templates = [template for template, _ in made]
    acts: dict[tuple[str, frozenset[str]], Turn] = {}
    for template, rows in made:
        acts.setdefault((template.response, frozenset(template.slots)), rows[0][0])
    head = ["Imported responses and slots: act types, slot names, and the values that pairs are made of.", _REMEDY]
    with made_folder(folder):
        _lines(folder / PAIRS, ({"act": str(turn), "text": text} for _, rows in made for turn, text in rows))
        _lines(folder / TEMPLATES, (_template(found, template) for template in templates))
        _lines(folder / UNREAD, ({"origin": u.origin, "text": u.text, "reason": u.reason} for u in unread))
        texts = {SLOTS: map_text(found, head), ACTS: "".join(f"{act}\n" for act in dict.fromkeys(acts.values()))}
        if kind == "rasa":
            texts[MAPPING] = _mapping(found, templates, folder / MAPPING)
        for name, text in texts.items():
            with written(folder / name) as file:
                file.write(text)
        try:
            files = initialize(folder / PAIRS, output=folder, overwrite=overwrite)
        except CorpusError as error:
            raise UserError(f"the templates are too few to train on: {error}") from None
        if source.language != "en":
            card = files.card.read_text(encoding="utf-8")
            with written(files.card) as file:
                file.write(re.sub(r"^language: .*", f"language: {source.language}", card, count=1, flags=re.M))
    return Imported(
        responses=len({template.response for template in templates}),
        templates=len(templates),
        pairs=sum(len(rows) for _, rows in made),
        unread=tuple(unread),
        folder=folder,
        configuration=files.configuration,
    )


_REMEDY = "After a change: dactnlg import ... --map THIS_FILE --overwrite."
Rows = list[tuple[Turn, str]]


def _made(source: TemplateSource, found: SlotMap) -> tuple[list[tuple[ResponseTemplate, Rows]], list[Unread]]:
    """Return each usable template with its pairs, all checked, and what was left out."""
    cased = any(template.text != template.text.lower() for template in source.templates)
    style = Style(cased=cased, spaced=False, aliases={}, cues={}, silent=(), language=source.language)
    checker, unread = FidelityChecker(style.checker()), list(source.unread)
    made: list[tuple[ResponseTemplate, Rows]] = []
    for template in source.templates:
        reason, rows = "", Rows()
        try:
            rows = list(_pairs(template, found))
        except ActError as error:
            reason = str(error)
        names = [found.name(slot) for slot in template.slots]
        if len(set(names)) < len(names):
            reason = "a slot stands in it twice, or two of its slots have one name"
        for turn, text in rows if not reason else ():
            report = checker.check(turn, text)
            if not report.ok:
                faults = [*report.missing, *report.extra, *report.contradicted]
                reason = (
                    f"its values are not found again in its text ({', '.join(faults)}): give others in the slot map"
                )
        if reason:
            unread.append(Unread(template.origin, template.text[:200], reason))
        else:
            made.append((template, rows))
    return made, unread


def _pairs(template: ResponseTemplate, found: SlotMap) -> Iterator[tuple[Turn, str]]:
    """Yield the pairs of a template; within a pair the slots have different values, as far as possible."""
    chance = random.Random(f"{template.response}|{template.text}")
    text = " ".join(template.text.split())
    for number in range(PER_TEMPLATE):
        values: dict[str, str] = {}
        for slot in dict.fromkeys(template.slots):
            known = found.values(slot)
            start = number if not values else chance.randrange(len(known))
            several = [known[(start + step) % len(known)] for step in range(len(known))]
            values[slot] = next(
                (v for v in several if v.casefold() not in map(str.casefold, values.values())), known[0]
            )
        slots = tuple(Slot(found.name(slot), value) for slot, value in values.items())
        turn = Turn((DialogueAct(found.act_type(template.response), slots),))
        if any(not slot.delexicalizable for slot in slots):
            raise ActError("a value of it is a special one (yes, no, true, none ...): give words in the slot map")
        yield turn, SLOT.sub(lambda match, values=values: values[match[1].strip()], text)  # type: ignore[misc]


def _template(found: SlotMap, template: ResponseTemplate) -> dict[str, str]:
    names = ";".join(found.name(slot) for slot in dict.fromkeys(template.slots))
    act = f"{found.act_type(template.response)}({names})"
    return {"response": template.response, "act": act, "template": template.text, "origin": template.origin}


def _mapping(found: SlotMap, templates: Sequence[ResponseTemplate], before: Path) -> str:
    """Return the text of a mapping file for Rasa's NLG endpoint, to replace the one at `before`, if there is one.

    See `serving.rasa_mapping`.
    """
    slots: dict[str, dict[str, int]] = {}
    variations: dict[str, int] = {}
    for template in templates:
        variations[template.response] = variations.get(template.response, 0) + 1
        for slot in dict.fromkeys(template.slots):
            counts = slots.setdefault(template.response, {})
            counts[slot] = counts.get(slot, 0) + 1
    responses: dict[str, Any] = {}
    for name, times in variations.items():
        # A slot that is missing from some variations is optional.
        sources = {
            found.name(slot): slot if count == times else {"from": slot, "optional": True}
            for slot, count in slots.get(name, {}).items()
        }
        responses[name] = {"act": found.act_type(name), **({"slots": sources} if sources else {})}
    head = "# For dactnlg serve RUN --rasa THIS_FILE. Add `domain: PATH`: its texts are said where an act cannot be.\n"
    body: dict[str, Any] = {"otherwise": "Sorry, I cannot say that."}
    with contextlib.suppress(ConfigError):
        data = yamlfile.read(before, "a mapping file is a mapping").data
        body |= {key: data[key] for key in ("domain", "otherwise") if key in data}
    body["responses"] = responses
    return head + yamlfile.dump(body, width=120)


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with written(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
