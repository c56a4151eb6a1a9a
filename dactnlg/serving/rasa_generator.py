"""A Rasa NLG generator that uses a run in Rasa's own process: see `serving.rasa`."""

from __future__ import annotations

import asyncio
import random
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from dactnlg.errors import UserError
from dactnlg.generation.generator import Generator
from dactnlg.serving.rasa_mapping import read_mapping
from dactnlg.serving.rasa_responder import RasaResponder, check, of_generator
from dactnlg.serving.rasa_responses import Responses, checked_responses, choose, said


class OwnWords:
    """Says a domain's responses as written; stands in for Rasa's own generator if Rasa is not installed.

    Args:
        responses: the responses of the domain.
    """

    def __init__(self, responses: Responses) -> None:
        self.responses = responses
        self._chance = random.Random()

    async def generate(
        self, utter_action: str, tracker: Any, output_channel: Any, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Return a response of the domain with its slots filled in; None if the domain does not have it."""
        slots = dict(tracker.current_slot_values())
        # Rasa 3.6 passes the channel's name, Rasa Pro the channel.
        channel = output_channel if isinstance(output_channel, str) or output_channel is None else output_channel.name()
        found = choose(self.responses.get(utter_action, []), slots, channel, None, self._chance)
        return None if found is None else said(found, {**slots, **kwargs})


class RasaGenerator(OwnWords):
    """Says mapped responses with a run, and others, or those that fail, in the words of the domain.

    Args:
        endpoint_config: Rasa's; its `kwargs` are the keys from `endpoints.yml`: `run`, a run folder, and `mapping`.
        domain: Rasa's; its `responses` may also be passed later, to `generate`.

    Raises:
        UserError: a key is missing, or a file cannot be read; the bot does not start.
    """

    def __init__(self, endpoint_config: Any, domain: Any = None) -> None:
        super().__init__(checked_responses(getattr(domain, "responses", None) or {}, "the domain"))
        keys: dict[str, Any] = dict(getattr(endpoint_config, "kwargs", None) or {})
        if missing := [key for key in ("run", "mapping") if not keys.get(key)]:
            raise UserError(f"endpoints.yml: nlg has no {missing[0]}: with this type it needs run and mapping")
        path, generator = Path(str(keys["mapping"])), Generator.load(Path(str(keys["run"])))
        mapping = read_mapping(path)
        check(mapping, generator, str(path))
        self.responder = RasaResponder(mapping, {}, of_generator(generator))

    async def generate(
        self, utter_action: str, tracker: Any, output_channel: Any, **kwargs: Any
    ) -> dict[str, Any] | None:
        """Return the message for a response; None if it cannot be said and neither domain nor mapping has a fallback.

        Args:
            utter_action: the name of the response.
            tracker: Rasa's tracker; only `current_slot_values()` is called.
            output_channel: the channel's name (Rasa 3.6), or the channel, with a method `name()` (Rasa Pro).
            **kwargs: arguments of the response; `domain_responses` is set by Rasa.
        """
        given = kwargs.pop("domain_responses", None)
        if given:
            self.responses = given
        values = {**tracker.current_slot_values(), **kwargs}
        # In a thread, so that Rasa's event loop can serve other conversations.
        text = await asyncio.to_thread(self.responder.sentence, utter_action, values)
        own = await super().generate(utter_action, tracker, output_channel, **kwargs)
        if text is None:
            otherwise = self.responder.mapping.otherwise
            return {"text": otherwise} if own is None and otherwise else own
        return {**(own or {}), "text": text}


@cache
def rasa_class() -> type[RasaGenerator]:
    """Return `RasaGenerator`, as a subclass of Rasa's generator if Rasa is installed, as Rasa's agent requires.

    Fallback responses then come from Rasa's own generator, with its conditions, translations and templates.
    """
    try:
        own = import_module("rasa.core.nlg").TemplatedNaturalLanguageGenerator
    except ImportError:
        return RasaGenerator
    # Its `generate` replaces that of `OwnWords`.
    base = type("_RasaOwnWords", (OwnWords, own), {"generate": own.generate, "__module__": __name__})
    return type("Generator", (RasaGenerator, base), {"__module__": __name__, "__doc__": RasaGenerator.__doc__})
