"""Rasa: sentences of a service, and the bot's own words while it is down. Copy this file into the Rasa project.

In endpoints.yml: `nlg: {type: rasa_nlg.FallbackGenerator, url: http://127.0.0.1:8080/rasa}`.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from rasa.core.nlg import CallbackNaturalLanguageGenerator, TemplatedNaturalLanguageGenerator

SECONDS = 3.0
logger = logging.getLogger(__name__)


class FallbackGenerator(TemplatedNaturalLanguageGenerator):
    """Asks the service; if it does not answer in time, Rasa's own generator says the response."""

    def __init__(self, endpoint_config: Any, domain: Any) -> None:
        super().__init__(domain.responses)
        self.service = CallbackNaturalLanguageGenerator(endpoint_config=endpoint_config)

    async def generate(self, utter_action: str, tracker: Any, output_channel: Any, **kwargs: Any) -> Any:
        """Return the message for a response, as Rasa asks for it."""
        try:
            asked = self.service.generate(utter_action, tracker, output_channel, **kwargs)
            return await asyncio.wait_for(asked, SECONDS)
        except Exception as error:  # noqa: BLE001  (whatever it is, the bot has something to say)
            logger.warning("%s is said in the bot's own words: %s %s", utter_action, type(error).__name__, error)
        kwargs.pop("domain_responses", None)
        return await super().generate(utter_action, tracker, output_channel, **kwargs)
