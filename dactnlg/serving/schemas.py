"""What clients send and get, with examples: the OpenAPI document is made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dactnlg._utils.web.documents import described
from dactnlg.fidelity.reports import FidelityReport
from dactnlg.generation.generation import Generation
from dactnlg.generation.options import GenerationOptions

EXAMPLE = "inform(name='Ivy Cutting';difficulty=easy)"
Text = Annotated[str, Field(max_length=1 << 20)]


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Answered(BaseModel):
    model_config = ConfigDict(json_schema_extra=described())


class OptionsBody(_Sent):
    """How sentences are generated; what is left out is as the model's run has it. The names are those of `generate`."""

    model_config = ConfigDict(json_schema_extra=described(GenerationOptions))

    constraint: Literal["none", "rerank", "hard"] | None = None
    beam_width: int | None = Field(default=None, ge=1)
    n_best: int = Field(default=1, ge=1)
    seed: int | None = Field(default=None, ge=0)
    sample: bool | None = None
    temperature: float | None = Field(default=None, ge=0)
    top_k: int | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, ge=0, le=1)
    append_questions: bool | None = None
    mbr: bool | None = None
    length_normalization: float | None = Field(default=None, ge=0)
    slot_error_weight: float | None = Field(default=None, ge=0)


class GenerateBody(_Sent):
    """Acts to be said: one, or a list, in any notation that `dactnlg.parse` reads."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"acts": EXAMPLE},
                {"acts": [EXAMPLE, "goodbye()"], "model": "trails-sclstm", "options": {"n_best": 3}},
            ]
        }
    )

    acts: Text | list[Text] = Field(description="One act, or a list of them.")
    context: Text | list[Text] | None = Field(
        default=None,
        description="What the user has said before, for models that see it: one text for all acts, or a list.",
    )
    model: str | None = Field(default=None, max_length=200, description="One of /v1/models; the first one by default.")
    options: OptionsBody = OptionsBody()
    spans: bool = Field(default=False, description="Whether each sentence comes with the places of its values.")


class Fallback(_Answered):
    """Why the model's best sentence was not taken.

    Attributes:
        reason: what was wrong with it.
        rejected: that sentence.
        origin: where the sentence that is given comes from: `model`, under the hard constraint, `inserted`, `composed`
            or `template`.
        faithful: whether that one has no fault that can be seen; where it is false, none without was found.
    """

    reason: str
    rejected: str
    origin: str
    faithful: bool


class SpanEntry(_Answered):
    """Where a sentence says a slot's value.

    Attributes:
        start, end: of the characters (Unicode code points), the end not included.
        place: the index of the slot among all slots of the act, as they are written.
        slot: its name.
    """

    start: int
    end: int
    place: int
    slot: str


class GeneratedSentence(_Answered):
    """A sentence with the proof of what it says; the fields are those of `dactnlg generate --format json`.

    Attributes:
        spans: where the text says values, if that is asked for; special values (yes, dontcare) have no place of their
            own. Those of `n_best` have it, too.
        fallback: why the model's best sentence was not taken; null where it was.
    """

    model_config = ConfigDict(json_schema_extra=described(Generation))

    act: str
    text: str
    delexicalized: str
    score: float | None
    slots_ok: bool
    missing: list[str]
    extra: list[str]
    unchecked: list[str]
    seen: bool | None
    doubts: int | None
    origin: str
    raw: str
    n_best: list[dict[str, Any]]
    fallback: Fallback | None = None
    spans: list[SpanEntry] | None = None


class ServedBy(_Answered):
    """The run that answered.

    Attributes:
        name: what it is called here.
        code: of its weights and preprocessor: it tells runs apart.
        loaded: when it was read, ISO 8601 in UTC.
    """

    name: str
    code: str
    loaded: str


class GenerateAnswer(_Answered):
    """A sentence for each act, in order."""

    model: ServedBy
    results: list[GeneratedSentence]


class CheckPair(_Sent):
    """An act, and a sentence by whomever."""

    act: Text
    text: Text


class CheckBody(_Sent):
    """Sentences to be checked against their acts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"pairs": [{"act": EXAMPLE, "text": "Ivy Cutting is a hard walk."}]}]}
    )

    pairs: list[CheckPair]
    model: str | None = Field(default=None, max_length=200, description="The model whose reader and cues are used.")
    spans: bool = Field(default=False, description="Whether each sentence comes with the places of its values.")


class Checked(_Answered):
    """What a sentence says of what its act says; the fields are those of `dactnlg check`.

    Attributes:
        text: the sentence.
        act: the act in canonical notation.
        slots_ok: whether nothing that could be checked was found at fault.
        spans: where the text says values, if that is asked for.
    """

    model_config = ConfigDict(json_schema_extra=described(FidelityReport))

    act: str
    text: str
    slots_ok: bool
    missing: list[str]
    extra: list[str]
    contradicted: dict[str, str]
    misplaced: dict[str, str]
    questions: list[str]
    acts: dict[str, str]
    unchecked: list[str]
    spans: list[SpanEntry] | None = None


class CheckAnswer(_Answered):
    """What was found in each sentence, in order."""

    model: ServedBy
    results: list[Checked]


class ModelEntry(_Answered):
    """A model that is served.

    Attributes:
        name: what it is called here.
        code: of its weights and preprocessor: it tells runs apart.
        loaded: when it was read, ISO 8601 in UTC.
        corpus, architecture: what it was trained on, and its kind.
        act_types, slots: what it knows.
        slots_of_acts: the slots that training had with each act type.
        special_values: the values of slots that are more than names: yes, no, dontcare, those of closed classes.
        examples: acts of the kinds that training had most often, with values made up.
        trouble: why its changed folder could not be read; the run read before goes on serving.
    """

    name: str
    code: str
    loaded: str
    corpus: str
    architecture: str
    act_types: list[str]
    slots: list[str]
    slots_of_acts: dict[str, list[str]]
    special_values: dict[str, list[str]]
    examples: list[str]
    trouble: str | None = None


class ModelsAnswer(_Answered):
    """All models, the one that answers by default first."""

    models: list[ModelEntry]


class ParseBody(_Sent):
    """An act that is to be read, and not said."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"act": EXAMPLE}]})

    act: Text
    model: str | None = Field(default=None, max_length=200, description="The model that has to know its names.")


class ReadSlot(_Answered):
    """A slot of an act.

    Attributes:
        name: such as `difficulty`.
        value: null where only the slot is named.
        special: whether the value is said in words of the model's own (yes, no, dontcare, closed classes).
        place: the index of the slot among all slots, as they are written.
    """

    name: str
    value: str | None
    special: bool
    place: int


class ReadAct(_Answered):
    """An act type with its slots."""

    act_type: str
    slots: list[ReadSlot]


class ParseAnswer(_Answered):
    """An act as it was read.

    Attributes:
        act: in canonical notation.
        acts: its parts.
    """

    model: ServedBy
    act: str
    acts: list[ReadAct]


class TraceBody(_Sent):
    """An act, and the sentence that the model is led through."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"act": EXAMPLE}]})

    act: Text
    model: str | None = Field(default=None, max_length=200, description="One of /v1/models; the first one by default.")
    delexicalized: Text | None = Field(
        default=None, description="A sentence as /v1/generate gives it in `delexicalized`; by default the best one."
    )
    context: Text | None = Field(default=None, description="What the user has said before, for models that see it.")


class TracedSlot(_Answered):
    """What a row of a trace is about.

    Attributes:
        name: an act type, or a slot's name.
        value: the slot's value.
        place: the index of the slot among all slots of the act; null for an act type.
    """

    name: str
    value: str | None
    place: int | None


class TraceAnswer(_Answered):
    """Which part of an act the model is at with every word.

    Attributes:
        kind: `left`, how much of a slot the reading gates have left after each token: 1 at first, 0 when it is said; or
            `attention`, the share of attention that a slot has when each token is chosen.
        tokens: of the sentence, with placeholders; with `left`, the beginning of the sentence comes first.
        words: how each token is written; a placeholder as the value that stands in its place.
        places: of each token the index of the slot whose value it stands for; null for other words.
        slots: act types and slots, a row each.
        left: the numbers, 0 to 1: a row for each slot, with a number for each token.
    """

    model: ServedBy
    act: str
    kind: Literal["left", "attention"]
    tokens: list[str]
    words: list[str]
    places: list[int | None]
    slots: list[TracedSlot]
    left: list[list[float]]
