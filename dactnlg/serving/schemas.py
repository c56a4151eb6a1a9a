"""What clients send and get, with examples: the OpenAPI document is made of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

EXAMPLE = "inform(name='Ivy Cutting';difficulty=easy)"
Text = Annotated[str, Field(max_length=1 << 20)]


class _Sent(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OptionsBody(_Sent):
    """How sentences are generated; what is left out is as the model's run has it. The names are those of `generate`."""

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

    acts: Text | list[Text]
    model: str | None = Field(default=None, max_length=200, description="One of /v1/models; the first one by default.")
    options: OptionsBody = OptionsBody()


class Fallback(BaseModel):
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


class GeneratedSentence(BaseModel):
    """A sentence with the proof of what it says; the fields are those of `dactnlg generate --format json`."""

    act: str
    text: str
    delexicalized: str
    score: float | None
    slots_ok: bool
    missing: list[str]
    extra: list[str]
    unchecked: list[str]
    seen: bool | None
    origin: str
    raw: str
    n_best: list[dict[str, Any]]
    fallback: Fallback | None = None


class ServedBy(BaseModel):
    """The run that answered: its name here, a code of its weights and preprocessor, and when it was read."""

    name: str
    code: str
    loaded: str


class GenerateAnswer(BaseModel):
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


class Checked(BaseModel):
    """What a sentence says of what its act says; the fields are those of `dactnlg check`."""

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


class CheckAnswer(BaseModel):
    """What was found in each sentence, in order."""

    model: ServedBy
    results: list[Checked]


class ModelEntry(BaseModel):
    """A model that is served.

    Attributes:
        name, code, loaded: see `ServedBy`.
        corpus, architecture: what it was trained on, and its kind.
        act_types, slots: what it knows.
        trouble: why its changed folder could not be read; the run read before goes on serving.
    """

    name: str
    code: str
    loaded: str
    corpus: str
    architecture: str
    act_types: list[str]
    slots: list[str]
    trouble: str | None = None


class ModelsAnswer(BaseModel):
    """All models, the one that answers by default first."""

    models: list[ModelEntry]
