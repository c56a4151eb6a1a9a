"""The file of a reader: named arrays with their description as JSON, fully validated when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from dactnlg._utils.reading import regular_file
from dactnlg.fidelity.facts import Fact
from dactnlg.fidelity.reader import Limits, Misplacing, Reader, ReaderParts
from dactnlg.fidelity.table import Table
from dactnlg.text.preprocessor_file import FilePart, unreadable

_KEY = "reader"
Number = Annotated[float, Field(ge=-1e9, le=1e9)]


class _FactPart(FilePart):
    name: str
    kind: str
    slot: str | None
    least: Number
    most: Number


class _ReaderFile(FilePart):
    facts: list[_FactPart]
    kinds: list[str]
    grams: list[str]
    names: list[str]
    places: list[str]
    slot_words: dict[str, list[str]]
    place_slots: list[str]
    alone: dict[str, Number]
    swapped: Number
    margins: dict[str, dict[str, Number]]
    triggers: dict[str, list[str]]
    # Missing in files of older versions.
    telling: dict[str, str] = {}
    values: dict[str, list[str]]
    told: dict[str, list[str]] = {}
    unlearned: list[str] = []

    @model_validator(mode="after")
    def _consistent(self) -> _ReaderFile:
        """Refuse duplicate names, and references to unknown ones."""
        known = {fact.name for fact in self.facts}
        named = {*self.margins, *self.triggers, *(other for others in self.margins.values() for other in others)}
        slots = set(self.place_slots)
        if len(known) < len(self.facts) or len(set(self.kinds)) < len(self.kinds) or not named <= known:
            raise ValueError("the facts do not fit together")
        if len(slots) < len(self.place_slots) or self.alone.keys() != slots:
            raise ValueError("the placeholders do not fit together")
        return self


def save_reader(reader: Reader, path: Path) -> None:
    """Write a reader to a file."""
    from safetensors.numpy import save

    parts = reader.parts
    facts = [
        _FactPart(name=fact.name, kind=fact.kind, slot=fact.slot, least=limits.least, most=limits.most)
        for fact, limits in zip(parts.facts, parts.limits, strict=True)
    ]
    tables: dict[str, Table] = {name: getattr(parts, name) for name in _TABLES}
    data = _ReaderFile(
        facts=facts,
        alone=dict(parts.misplacing.alone),
        swapped=parts.misplacing.swapped,
        margins={name: dict(others) for name, others in parts.margins.items()},
        kinds=list(parts.kinds),
        place_slots=list(parts.place_slots),
        slot_words=_lists(parts.slot_words),
        triggers=_lists(parts.triggers),
        telling=dict(parts.telling),
        values=_lists(parts.values),
        told=_lists(parts.told),
        unlearned=list(parts.unlearned),
        grams=list(parts.grams.features),
        names=list(parts.names.features),
        places=list(parts.places.features),
    )
    arrays = {name: np.asarray(table.weights, np.float16, order="C") for name, table in tables.items()}
    arrays |= {name: np.asarray(getattr(parts, name), np.float32, order="C") for name in _BIASES}
    path.write_bytes(save(arrays, {_KEY: data.model_dump_json()}))


def load_reader(path: Path) -> Reader:
    """Read what `save_reader` wrote.

    Raises:
        RunError: the file cannot be read, is damaged, or is of another version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(regular_file(path), framework="numpy") as file:
            data = _ReaderFile.model_validate_json((file.metadata() or {})[_KEY])
            arrays = {name: file.get_tensor(name) for name in (*_TABLES, *_BIASES)}
        return Reader(_parts(data, arrays))
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, error) from None


_TABLES, _BIASES = ("grams", "names", "places"), ("bias", "place_bias")


def _parts(data: _ReaderFile, arrays: dict[str, NDArray[Any]]) -> ReaderParts:
    facts, kinds, slots = len(data.facts), len(data.kinds), len(data.place_slots)
    shapes = {
        "grams": (len(data.grams), facts + kinds),
        "names": (len(data.names), kinds),
        "places": (len(data.places), slots),
        "bias": (facts,),
        "place_bias": (slots,),
    }
    for name, shape in shapes.items():
        dtype = "float16" if name in _TABLES else "float32"
        if arrays[name].shape != shape or arrays[name].dtype != dtype or not np.isfinite(arrays[name]).all():
            raise ValueError(f"the array '{name}' is not what it should be")
    return ReaderParts(
        facts=tuple(Fact(fact.name, fact.kind, fact.slot) for fact in data.facts),
        kinds=tuple(data.kinds),
        bias=arrays["bias"],
        limits=tuple(Limits(fact.least, fact.most) for fact in data.facts),
        grams=_table(data.grams, arrays["grams"]),
        names=_table(data.names, arrays["names"]),
        slot_words=data.slot_words,
        places=_table(data.places, arrays["places"]),
        place_slots=tuple(data.place_slots),
        place_bias=arrays["place_bias"],
        misplacing=Misplacing(data.alone, data.swapped),
        margins=data.margins,
        triggers=data.triggers,
        telling=data.telling,
        values=data.values,
        told=data.told,
        unlearned=tuple(data.unlearned),
    )


def _table(features: Sequence[str], weights: NDArray[Any]) -> Table:
    return Table(features, weights.astype(np.float32))


def _lists(words: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {name: list(each) for name, each in words.items()}
