"""Answers to Rasa's requests to an NLG endpoint: see `serving.rasa`."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dactnlg._utils.reading import parse_json
from dactnlg._utils.terminal import printable
from dactnlg.errors import DactnlgError, UserError
from dactnlg.generation.generation import Generation
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.serving.rasa_mapping import MissingValueError, RasaMapping, read_mapping
from dactnlg.serving.rasa_responses import Responses, choose, read_responses, said

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response as Answer

    from dactnlg.acts import Turn

_FAITHFUL = GenerationOptions(constraint="hard")
_EMPTY: dict[str, Any] = {"id": None, "buttons": [], "elements": [], "attachment": None, "image": None, "custom": {}}
_TYPES = {"buttons": list, "elements": list, "quick_replies": list, "attachment": dict, "image": str, "custom": dict}
_log = logging.getLogger("dactnlg")
Source = Generator | Callable[[], Generator]


class RasaResponder:
    """Answers the requests of a Rasa bot; thread-safe.

    Args:
        mapping: the acts of the responses.
        responses: the domain's responses, said if an act cannot be.
        generate: says an act; `of_generator` makes it from a run's generator.
        seed: for the choice among variations of a response.

    Attributes:
        counts: number of acts said (`said`), and of responses in their own words, by reason (`not mapped`, `no value`,
            `not faithful`, `failed`, `late`).
    """

    def __init__(
        self,
        mapping: RasaMapping,
        responses: Responses,
        generate: Callable[[Turn], Generation],
        seed: int | None = None,
    ) -> None:
        self.mapping, self.responses, self.generate = mapping, responses, generate
        self.counts = Counter[str]()
        self._chance, self._counting = random.Random(seed), threading.Lock()

    @classmethod
    def load(cls, generator: Source, path: Path) -> RasaResponder:
        """Read a mapping file and the domain that it names.

        Args:
            generator: the generator, or a function that returns the current one, for runs that are reloaded.
            path: the mapping file.

        Raises:
            UserError: a file cannot be read, the run lacks an act type or a slot, or a response has no text to fall
                back on.
        """
        mapping = read_mapping(path)
        responses = read_responses(path.parent / mapping.domain) if mapping.domain else {}
        check(mapping, generator if isinstance(generator, Generator) else generator(), str(path))
        if not mapping.otherwise and (bare := sorted(set(mapping.responses) - set(responses))):
            raise UserError(
                f"{path}: nothing could be said for {bare[0]} if its act fails: name the domain that has it (domain: "
                "domain.yml), or give a sentence for such cases (otherwise: Sorry, I cannot say that.)"
            )
        return cls(mapping, responses, of_generator(generator))

    def respond(self, payload: object) -> dict[str, Any]:
        """Return the answer to a request of Rasa's `CallbackNaturalLanguageGenerator`; never raises.

        Args:
            payload: `{"response", "id", "arguments", "tracker", "channel": {"name"}}`.

        Returns:
            `{"text", "id", "buttons", "elements", "attachment", "image", "custom"}`, valid for Rasa 3.6 and Pro; `text`
            and `custom` are never null.
        """
        request = _request(payload)
        name = request.get("response")
        return self._answer(request, self.sentence(name if isinstance(name, str) else "", _values(request)))

    def own_words(self, payload: object, reason: str) -> dict[str, Any]:
        """Return the answer in the response's own words, and count the reason; see `respond`."""
        with self._counting:
            self.counts[reason] += 1
        return self._answer(_request(payload), None)

    def _answer(self, request: Mapping[str, Any], text: str | None) -> dict[str, Any]:
        own = self._own(request, _values(request))
        found = {**_EMPTY, **{key: own[key] for key, kind in _TYPES.items() if isinstance(own.get(key), kind)}}
        for key in ("buttons", "elements"):
            found[key] = [each for each in found[key] if isinstance(each, dict)]
        found["id"] = own.get("id") if isinstance(own.get("id"), str) else _text(request.get("id"))
        # A response may be just an image; then its text is empty, as in Rasa.
        found["text"] = text or _text(own.get("text")) or ("" if own else self.mapping.otherwise)
        return found

    def sentence(self, name: str, values: Mapping[str, Any]) -> str | None:
        """Return the sentence for a response's act; None if its own words are to be said.

        Args:
            name: the name of the response.
            values: the slots of the tracker, overridden by the arguments of the response.
        """
        mapped = self.mapping.responses.get(name)
        found, reason, detail = None, "not mapped", ""
        try:
            found = None if mapped is None else self.generate(mapped.turn(values))
        except MissingValueError as error:
            reason, detail = "no value", str(error)
        except DactnlgError as error:
            reason, detail = "failed", type(error).__name__
        except Exception as error:  # noqa: BLE001  (whatever it is, Rasa would drop the turn)
            reason, detail = "failed", type(error).__name__
            _log.error("%s could not be said", printable(name), exc_info=error)
        if found is not None and found.slots_ok and found.text.strip():
            reason = "said"
        elif found is not None:
            reason, detail = "not faithful", f"missing {len(found.missing)}, extra {len(found.extra)}"
        with self._counting:
            self.counts[reason] += 1
        if detail:
            # Without values: they may be about people.
            _log.info("%s is said in its own words (%s: %s)", printable(name), reason, printable(detail))
        return found.text if found is not None and reason == "said" else None

    def _own(self, request: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the domain's response to a request with its slots filled in; empty if there is none."""
        variations = self.responses.get(str(request.get("response")), [])
        channel = request.get("channel")
        channel = channel.get("name") if isinstance(channel, Mapping) else channel
        try:
            found = choose(
                variations,
                _slots(request),
                _text(channel),
                _text(request.get("id")),
                self._chance,
            )
            return {} if found is None else said(found, values)
        except (TypeError, ValueError, LookupError, RecursionError) as error:
            _log.error("a response of the domain cannot be said: %s", type(error).__name__)
            return {}


def of_generator(generator: Source) -> Callable[[Turn], Generation]:
    """Return a function that says one act with a generator, without dropping or inventing slots."""

    def generate(turn: Turn) -> Generation:
        present = generator if isinstance(generator, Generator) else generator()
        return present.generate(turn, _FAITHFUL)[0]

    return generate


def check(mapping: RasaMapping, generator: Generator, where: str) -> None:
    """Refuse act types and slots that a run does not know.

    Raises:
        UnknownNameError: the message suggests the nearest known names.
    """
    for name, mapped in mapping.responses.items():
        generator.check_names(mapped.names(), f"{where}: {name}")


def rasa_route(
    app: Any,
    responder: RasaResponder,
    path: str = "/rasa",
    seconds: float | None = None,
) -> None:
    """Add the route for Rasa's requests to an application or router: `POST /rasa`, always answered with 200.

    Args:
        app: a FastAPI or Starlette application or router.
        responder: answers the requests.
        path: the path of the route.
        seconds: time limit for a sentence, after which the response's own words are the answer; None for no limit.
    """
    from starlette.responses import Response

    async def answer(request: Request) -> Answer:
        try:
            # A request has all slots of the bot; a NaN among them must not silence it.
            payload = parse_json((await request.body()).decode(), lenient=True)
        except ValueError:
            payload = None
        try:
            # A late answer is abandoned; its thread runs on.
            found = await asyncio.wait_for(asyncio.to_thread(responder.respond, payload), seconds)
        except TimeoutError:
            found = responder.own_words(payload, "late")
        return Response(_json(found), media_type="application/json")

    app.add_route(path, answer, methods=["POST"])


def _json(found: Mapping[str, Any]) -> str:
    """Return an answer as ASCII JSON, which can also escape lone surrogates."""
    try:
        return json.dumps(found, allow_nan=False)
    except (TypeError, ValueError):
        # Custom data of a domain may not be valid JSON; at least the text is sent.
        return json.dumps({**_EMPTY, "text": found["text"], "id": found["id"]})


def _request(payload: object) -> Mapping[str, Any]:
    return payload if isinstance(payload, Mapping) else {}


def _values(request: Mapping[str, Any]) -> dict[str, Any]:
    arguments = request.get("arguments")
    return {**_slots(request), **(arguments if isinstance(arguments, Mapping) else {})}


def _slots(request: Mapping[str, Any]) -> dict[str, Any]:
    tracker = request.get("tracker")
    slots = tracker.get("slots") if isinstance(tracker, Mapping) else None
    return dict(slots) if isinstance(slots, Mapping) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
