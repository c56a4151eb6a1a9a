"""The bodies of requests and answers, with examples; the OpenAPI document is generated from them."""

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
    """How sentences are generated; defaults are those of the model's run. Names are those of `generate`."""

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
    """One act or a list of acts to say, in any notation that `dactnlg.parse` reads."""

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
    """Why the model's best sentence was rejected.

    Attributes:
        reason: its faults.
        rejected: the rejected sentence.
        origin: where the sentence in the answer comes from: `model` (under the hard constraint), `inserted`, `composed`
            or `template`.
        faithful: whether no fault was found in the sentence in the answer; if false, no faultless one was found.
    """

    reason: str
    rejected: str
    origin: str
    faithful: bool


class SpanEntry(_Answered):
    """Where a sentence says a slot's value.

    Attributes:
        start, end: offsets in characters (Unicode code points), end exclusive.
        place: the index of the slot among all slots of the act, in the order in which they are written.
        slot: the name of the slot.
    """

    start: int
    end: int
    place: int
    slot: str


class GeneratedSentence(_Answered):
    """A sentence with a report on what it says; the fields are those of `dactnlg generate --format json`.

    Attributes:
        spans: where the text says values, if requested, also for each of `n_best`; special values (yes, dontcare) have
            no span.
        fallback: why the model's best sentence was rejected; null if it was not.
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
        name: its name in this service.
        code: identifies its weights and preprocessor.
        loaded: when it was loaded, ISO 8601 in UTC.
    """

    name: str
    code: str
    loaded: str


class GenerateAnswer(_Answered):
    """One sentence per act, in order."""

    model: ServedBy
    results: list[GeneratedSentence]


class CheckPair(_Sent):
    """An act and a sentence, by any author."""

    act: Text
    text: Text


class CheckBody(_Sent):
    """Sentences to check against their acts."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"pairs": [{"act": EXAMPLE, "text": "Ivy Cutting is a hard walk."}]}]}
    )

    pairs: list[CheckPair]
    model: str | None = Field(default=None, max_length=200, description="The model whose reader and cues are used.")
    spans: bool = Field(default=False, description="Whether each sentence comes with the places of its values.")


class Checked(_Answered):
    """The check of a sentence against its act; the fields are those of `dactnlg check`.

    Attributes:
        text: the sentence.
        act: the act in canonical notation.
        slots_ok: whether no fault was found in anything that could be checked.
        spans: where the text says values, if requested.
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
    """The result for each sentence, in order."""

    model: ServedBy
    results: list[Checked]


class ModelEntry(_Answered):
    """A served model.

    Attributes:
        name: its name in this service.
        code: identifies its weights and preprocessor.
        loaded: when it was loaded, ISO 8601 in UTC.
        corpus: the corpus it was trained on.
        architecture: the kind of model.
        act_types, slots: the act types and slots that it knows.
        slots_of_acts: act type -> slots that occur with it in the training data.
        special_values: slot -> its special values: yes, no, dontcare, those of closed classes.
        examples: acts like the most frequent ones of the training data, with made-up values.
        trouble: why its changed folder could not be loaded; the previous run is still served.
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
    """All models, the default one first."""

    models: list[ModelEntry]


class ParseBody(_Sent):
    """An act to parse without generating."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"act": EXAMPLE}]})

    act: Text
    model: str | None = Field(default=None, max_length=200, description="The model that has to know its names.")


class ReadSlot(_Answered):
    """A slot of an act.

    Attributes:
        name: such as `difficulty`.
        value: null if there is none.
        special: whether the value is special, said in the model's own words (yes, no, dontcare, closed classes).
        place: the index of the slot among all slots of the act, in the order in which they are written.
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
    """A parsed act.

    Attributes:
        act: the act in canonical notation.
        acts: its parts.
    """

    model: ServedBy
    act: str
    acts: list[ReadAct]


class TraceBody(_Sent):
    """An act, and the sentence to trace the model on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"act": EXAMPLE}]})

    act: Text
    model: str | None = Field(default=None, max_length=200, description="One of /v1/models; the first one by default.")
    delexicalized: Text | None = Field(
        default=None, description="A sentence as /v1/generate gives it in `delexicalized`; by default the best one."
    )
    context: Text | None = Field(default=None, description="What the user has said before, for models that see it.")


class TracedSlot(_Answered):
    """The act type or slot of a row of a trace.

    Attributes:
        name: an act type, or the name of a slot.
        value: the value of the slot.
        place: the index of the slot among all slots of the act; null for an act type.
    """

    name: str
    value: str | None
    place: int | None


class TraceAnswer(_Answered):
    """Which part of an act the model is saying at each token.

    Attributes:
        kind: `left`, how much of a slot the reading gates have left after each token, from 1 at the start to 0 once it
            is said; or `attention`, the share of attention on a slot when each token is chosen.
        tokens: the tokens of the sentence, with placeholders; for `left`, the first stands for its beginning.
        words: the text of each token; for a placeholder, its value.
        places: for each token, the index of the slot whose value it says; null for other words.
        slots: act types and slots, one per row of `left`.
        left: values from 0 to 1, a row per act type or slot, a column per token.
    """

    model: ServedBy
    act: str
    kind: Literal["left", "attention"]
    tokens: list[str]
    words: list[str]
    places: list[int | None]
    slots: list[TracedSlot]
    left: list[list[float]]
