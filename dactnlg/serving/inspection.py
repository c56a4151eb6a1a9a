"""Inspection, for the playground and other editors: parsing acts without generating, value spans, and traces."""

from __future__ import annotations

import asyncio
import re
from typing import Any, Literal, TypeVar, cast

from fastapi import APIRouter, Request

from dactnlg._utils.web.problems import Problem
from dactnlg._utils.web.tokens import bearer
from dactnlg.acts import Turn
from dactnlg.errors import UnknownNameError
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.generation.trace import Trace, trace
from dactnlg.serving import requests
from dactnlg.serving.batching import Batcher
from dactnlg.serving.models import Models, ServedModel
from dactnlg.serving.schemas import (
    Checked,
    GeneratedSentence,
    ParseAnswer,
    ParseBody,
    ReadAct,
    ReadSlot,
    SpanEntry,
    TraceAnswer,
    TraceBody,
    TracedSlot,
)
from dactnlg.serving.settings import ServiceSettings
from dactnlg.text.surface import strip_joiners
from dactnlg.text.values.spans import value_spans, written_places

Result = TypeVar("Result", GeneratedSentence, Checked)
_WRONG = 422
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")


def add_spans(result: Result, turn: Turn, model: ServedModel) -> Result:
    """Add the spans of a turn's values to a result, and return it."""
    names = [slot.name for _, slot in turn.slots()]

    def spans(text: str) -> list[SpanEntry]:
        found = value_spans(model.generator.preprocessor.delexicalizer, turn, text)
        return [SpanEntry(start=s.start, end=s.end, place=s.place, slot=names[s.place]) for s in found]

    result.spans = spans(result.text)
    if isinstance(result, GeneratedSentence):
        for other in result.n_best:
            other["spans"] = [span.model_dump() for span in spans(other["text"])]
    return result


def inspections(models: Models, settings: ServiceSettings, batcher: Batcher) -> APIRouter:
    """Return the routes `/v1/parse` and `/v1/trace`."""
    router = APIRouter(prefix="/v1", tags=["acts and sentences"], dependencies=bearer(settings.token))

    @router.post("/parse", summary="Read an act, and say where it is wrong, without generating")
    def parse(body: ParseBody) -> ParseAnswer:
        model = models.get(body.model)
        turn = _turn(body.act, model.generator, settings)
        return ParseAnswer(model=model.served(), act=str(turn), acts=_read(turn, model))

    @router.post("/trace", summary="Show which slot the model is at with every word")
    async def traced(request: Request, body: TraceBody) -> TraceAnswer:
        model = models.get(body.model)
        turn = _turn(body.act, model.generator, settings)
        contexts = requests.read_contexts(body.context, 1, settings)
        request.state.facts |= {"model": model.name, "acts": 1}
        sentence = body.delexicalized
        if sentence is None:
            (said,) = await batcher.generate(model.generator, [turn], GenerationOptions(), contexts)
            sentence = said.delexicalized
        tokens = sentence.split()
        if len(tokens) > settings.tokens:
            raise Problem(_WRONG, f"a sentence to be traced has at most {settings.tokens} tokens; got {len(tokens)}")
        found = await asyncio.to_thread(trace, model.generator, turn, tokens, *contexts)
        return _answer(model, turn, found)

    return router


def _turn(text: str, generator: Generator, settings: ServiceSettings) -> Turn:
    """Return the act in the field `act`.

    Raises:
        Problem: 422, it is not an act, or a name in it is unknown; with the nearest known ones, and the position.
    """
    turn = requests.read_act(text, "act", None, settings)
    try:
        generator.check_names(turn)
    except UnknownNameError as error:
        members: dict[str, Any] = {"kind": error.kind, "name": error.name}
        # In JSON names are quoted, too; elsewhere only values are.
        bare = text if text.lstrip()[:1] in ("[", "{") else _QUOTED.sub(lambda match: " " * len(match.group()), text)
        place = re.search(rf"(?<![\w=]){re.escape(error.name)}(?![\w.-])", bare)
        if place:
            members |= {"position": place.start(), "length": len(error.name)}
        raise Problem(_WRONG, str(error), members) from None
    return turn


def _read(turn: Turn, model: ServedModel) -> list[ReadAct]:
    delexicalizer, place, acts = model.generator.preprocessor.delexicalizer, 0, []
    for act in turn:
        slots = []
        for slot in act.slots:
            special = slot.value is not None and not any(part.delexicalizable for part in delexicalizer.parts(slot))
            slots.append(ReadSlot(name=slot.name, value=slot.value, special=special, place=place))
            place += 1
        acts.append(ReadAct(act_type=act.act_type, slots=slots))
    return acts


def _answer(model: ServedModel, turn: Turn, found: Trace) -> TraceAnswer:
    delexicalizer = model.generator.preprocessor.delexicalizer
    values = {item.placeholder: item.slot.value or "" for item in delexicalizer.required(turn)}
    places = written_places(delexicalizer, turn)
    bare = strip_joiners(found.tokens)
    return TraceAnswer(
        model=model.served(),
        act=str(turn),
        kind=cast(Literal["left", "attention"], found.kind),
        tokens=list(found.tokens),
        words=[values.get(token, token) for token in bare],
        places=[places.get(token) for token in bare],
        slots=[TracedSlot(name=entry.name, value=entry.value, place=entry.place) for entry in found.entries],
        left=[[round(float(weight), 4) for weight in row] for row in found.weights],
    )
