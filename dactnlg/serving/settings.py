"""Settings of a service: all its limits in one place."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from dactnlg._utils.web.limits import RequestLimits

RASA = "/rasa"
"""The path for the requests of a Rasa bot. Rasa drops a turn whose request is refused."""
TRACKER_BYTES = 32 << 20
"""Maximum bytes of a Rasa bot's request, which contains all events of the dialogue so far."""


class ServiceSettings(BaseModel):
    """Limits of a service, and how requests are batched. Limits are maxima.

    Attributes:
        body_bytes: bytes of a request body.
        acts: acts, or pairs to check, per request.
        slots: slots per turn, over all its acts.
        value_length: characters of a slot's value.
        text_length: characters of an act, and of a sentence to check.
        context_length: characters of the user turn that precedes an act.
        tokens: tokens of a sentence to trace.
        n_best: sentences per act.
        beam_width: hypotheses of a search.
        per_minute: requests per minute from one address; None for no limit.
        seconds: time for an answer.
        batch: acts per batch.
        wait: seconds that a request waits for others to share its batch.
        waiting: queued acts; further requests are answered with 503.
        token: the token that clients have to send as `Authorization: Bearer TOKEN`; None for none.
        log_values: whether acts and sentences are logged; they may be about people.
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

    def request_limits(self, *, rasa: bool = False) -> RequestLimits:
        """Return the limits that are enforced in front of the application.

        Args:
            rasa: whether a Rasa bot is served, whose requests are long.
        """
        return RequestLimits(
            body_bytes=self.body_bytes,
            seconds=self.seconds,
            per_minute=self.per_minute,
            bodies={RASA: max(TRACKER_BYTES, self.body_bytes)} if rasa else {},
        )
