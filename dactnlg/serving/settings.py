"""What a service allows, and how it works: every limit in one place."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from dactnlg._utils.web.limits import RequestLimits

RASA = "/rasa"
"""The path of a Rasa bot's requests. Rasa drops the turn of one that is refused."""
TRACKER_BYTES = 32 << 20
"""Bytes of a Rasa bot's request: it holds all events of the dialogue so far."""


class ServiceSettings(BaseModel):
    """Limits of a service, and how requests are put together.

    Attributes:
        body_bytes: bytes of a request.
        acts: acts, or pairs to be checked, of one request.
        slots: slots of one act, of all acts of a turn together.
        value_length: characters of a slot's value.
        text_length: characters of an act, and of a sentence to be checked.
        context_length: characters of what the user has said before an act.
        tokens: of a sentence whose trace is asked for.
        n_best: sentences for an act.
        beam_width: hypotheses of a search.
        per_minute: requests of one address in a minute; None for any.
        seconds: how long an answer may take.
        batch: acts that are searched for together at most.
        wait: seconds that a request waits for others to be searched for with it.
        waiting: acts that wait at most; further requests are answered with 503.
        token: what clients have to send as `Authorization: Bearer TOKEN`; None for nothing.
        log_values: whether the log has acts and sentences; they may be about people.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    body_bytes: int = Field(default=1 << 20, ge=1)
    acts: int = Field(default=256, ge=1)
    slots: int = Field(default=40, ge=1)
    value_length: int = Field(default=500, ge=1)
    text_length: int = Field(default=10_000, ge=1)
    context_length: int = Field(default=2_000, ge=1)
    tokens: int = Field(default=300, ge=1)
    n_best: int = Field(default=20, ge=1)
    beam_width: int = Field(default=50, ge=1)
    per_minute: int | None = Field(default=None, ge=1)
    seconds: float = Field(default=30.0, gt=0)
    batch: int = Field(default=128, ge=1)
    wait: float = Field(default=0.002, ge=0, le=1)
    waiting: int = Field(default=4096, ge=1)
    token: str | None = Field(default=None, min_length=1, repr=False)
    log_values: bool = False

    def request_limits(self) -> RequestLimits:
        """Return those that stand before the application."""
        return RequestLimits(
            body_bytes=self.body_bytes,
            seconds=self.seconds,
            per_minute=self.per_minute,
            bodies={RASA: max(TRACKER_BYTES, self.body_bytes)},
        )
