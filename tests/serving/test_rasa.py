"""Rasa: every request has a valid answer; mapped responses are generated from acts, others are those of the domain."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from dactnlg import Generator
from dactnlg.acts import Turn
from dactnlg.errors import ConfigError, UserError
from dactnlg.generation.generation import Generation
from dactnlg.serving.models import Models
from dactnlg.serving.rasa import RasaResponder, rasa_route
from dactnlg.serving.rasa_generator import RasaGenerator, rasa_class
from dactnlg.serving.rasa_mapping import RasaMapping, read_mapping
from dactnlg.serving.rasa_responses import choose, eligible, filled, read_responses
from dactnlg.serving.service import application
from dactnlg.serving.settings import TRACKER_BYTES, ServiceSettings

PROJECT = Path(__file__).parent / "rasa_project"
RESPONSES = read_responses(PROJECT / "domain.yml")
SLOTS = {"difficulty": "hard", "region": "north", "trail_name": "Red Kite Ridge", "guide_day": "Sunday", "dogs": True}
SLOTS |= {"guide_name": "Ines"}
SCHEMA = {
    "text": (str,),
    "id": (str, type(None)),
    "buttons": (list, type(None)),
    "elements": (list, type(None)),
    "attachment": (dict, type(None)),
    "image": (str, type(None)),
    "custom": (dict,),
}
"""What `nlg_response_format_spec` of Rasa 3.6.21 accepts; that of Rasa Pro accepts all of it."""


def valid(answer: Any) -> dict[str, Any]:
    assert isinstance(answer, dict) and set(SCHEMA) <= set(answer)
    for key, kinds in SCHEMA.items():
        assert isinstance(answer[key], kinds), key
    for key in ("buttons", "elements"):
        assert all(isinstance(each, dict) for each in answer[key])
    json.dumps(answer)
    return answer


def request(response: str, slots: dict[str, Any] = SLOTS, **more: Any) -> dict[str, Any]:
    """Return a body as `nlg_request_format` makes it."""
    tracker = {"sender_id": "x", "slots": slots, "events": [], "latest_message": {"text": "/x"}}
    return {"response": response, "id": None, "arguments": {}, "tracker": tracker, "channel": {"name": "rest"}, **more}


def saying(turn: Turn) -> Generation:
    return Generation(str(turn), f"<{turn}>", "", "", 0.0, slots_ok=True, missing=(), extra=())


def responder(generate: Callable[[Turn], Generation] = saying, **mapping: Any) -> RasaResponder:
    read = RasaMapping.model_validate(mapping) if mapping else read_mapping(PROJECT / "mapping.yml")
    return RasaResponder(read, RESPONSES, generate, seed=1)


def test_the_guide_to_frameworks_shows_the_mapping_of_these_tests(repository: Path) -> None:
    guide = (repository / "docs/pages/guides/frameworks.md").read_text(encoding="utf-8")
    assert (PROJECT / "mapping.yml").read_text(encoding="utf-8").partition("\n")[2] in guide


def test_mapped_responses_are_generated_and_others_are_the_domains() -> None:
    said = responder()
    acts = {
        "utter_recommend": "recommend(name='Red Kite Ridge';difficulty=strenuous;region=north)",
        "utter_dogs": "inform(name='Red Kite Ridge';dogsallowed=yes)",
        "utter_ask_difficulty": "?request(difficulty)",
        "utter_goodbye": "goodbye()",
    }
    for name, act in acts.items():
        assert valid(said.respond(request(name)))["text"] == f"<{act}>"
    assert said.respond(request("utter_booked"))["text"] == "Ines meets you at Red Kite Ridge on Sunday."
    # The buttons of the domain stay beside a generated text.
    assert [b["title"] for b in said.respond(request("utter_ask_difficulty"))["buttons"]] == ["Easy", "Hard"]
    assert said.respond(request("utter_thanks"))["text"] == "You are welcome."
    assert said.respond(request("utter_thanks", channel={"name": "slack"}))["text"] == "My pleasure."
    # Arguments take precedence over slots.
    assert "Ivy" in said.respond(request("utter_dogs", arguments={"trail_name": "Ivy"}))["text"]
    assert said.counts["said"] == 6 and said.counts["not mapped"] == 3


def unfaithful(turn: Turn) -> Generation:
    return Generation(str(turn), "wrong", "", "", 0.0, slots_ok=False, missing=("name",), extra=())


def broken(_turn: Turn) -> Generation:
    raise RuntimeError("out of order")


@pytest.mark.parametrize(("generate", "reason"), [(unfaithful, "not faithful"), (broken, "failed")])
def test_a_failed_generation_gives_the_text_of_the_domain(generate: Callable[[Turn], Generation], reason: str) -> None:
    said = responder(generate)
    assert said.respond(request("utter_goodbye"))["text"] == "Bye."
    assert said.counts == {reason: 1}


@pytest.mark.parametrize("value", [None, "", " ", {"a": 1}, "x" * 501, ["a"] * 21])
def test_a_value_that_cannot_be_said_gives_the_text_of_the_domain(value: Any) -> None:
    said = responder()
    assert said.respond(request("utter_dogs", {**SLOTS, "dogs": value}))["text"].startswith("Dogs on Red Kite Ridge: ")
    assert said.counts == {"no value": 1}


def test_a_response_without_a_text_is_empty_or_the_mapping_s_default() -> None:
    assert valid(responder().respond(request("utter_other")))["text"] == ""
    mapping = {"otherwise": "Sorry?", "responses": {"utter_other": "goodbye()"}}
    assert responder(broken, **mapping).respond(request("utter_other"))["text"] == "Sorry?"


def test_a_mapping_fills_slots_from_templates_lists_and_constants() -> None:
    responses = {
        "a": "inform(name={trail_name};length='{km} km';region={region?})",
        "b": {"act": "inform", "slots": {"name": "trail_name", "near": {"value": 7}, "food": None}},
        "c": {"act": "inform", "slots": {"region": {"from": "region", "default": "dontcare"}}},
        "d": {"act": "inform", "slots": {"toilets": {"from": "dogs", "values": {"true": "no"}}, "name": "trail_name"}},
    }
    said = responder(responses=responses)
    values = {"trail_name": ["A", "B"], "km": 7.0, "dogs": True}
    hostile = {"trail_name": "{km}'; x=(y)", "km": "\\", "region": "%s{0}"}
    assert said.sentence("a", values) == "<inform(name=A;name=B;length='7 km')>"
    assert said.sentence("b", values) == "<inform(name=A;name=B;near=7;food)>"
    assert said.sentence("c", values) == "<inform(region=dontcare)>"
    assert said.sentence("d", values) == "<inform(toilets=no;name=A;name=B)>"
    assert said.sentence("a", {"km": 3}) is None
    turn = read(said, "a", hostile)
    assert [slot.value for _, slot in turn.slots()] == ["{km}'; x=(y)", "\\ km", "%s{0}"]


def read(said: RasaResponder, name: str, values: dict[str, Any]) -> Turn:
    return said.mapping.responses[name].turn(values)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON, JSON, JSON)
def test_any_request_of_rasa_has_a_valid_answer(one: Any, two: Any, three: Any, four: Any) -> None:
    said = responder()
    valid(said.respond(one))
    body = {"response": one, "id": two, "arguments": three, "tracker": four, "channel": one}
    valid(said.respond(body))
    valid(said.respond({**body, "response": "utter_recommend"}))
    slots = {"difficulty": one, "region": two, "trail_name": three}
    valid(said.respond(request("utter_recommend", slots, channel=four)))


def test_variations_are_chosen_by_channel_and_condition() -> None:
    # The four groups of ResponseVariationFilter.responses_for_utter_action, in its order.
    condition = [{"type": "slot", "name": "vip", "value": "YES"}]
    both, channel = {"text": "1", "channel": "rest", "condition": condition}, {"text": "2", "channel": "rest"}
    holds, plain = {"text": "3", "condition": condition}, {"text": "4", "id": "four"}
    all_of = [plain, holds, channel, both]
    assert eligible(all_of, {"vip": "yes"}, "rest") == [both]
    assert eligible(all_of, {}, "rest") == [channel]
    assert eligible(all_of, {"vip": "yes"}, "slack") == [holds]
    assert eligible(all_of, {"vip": 1}, None) == [plain]
    assert eligible([{"text": "5", "condition": "slots.vip is 'yes'"}], {"vip": "yes"}, "rest") == []
    chance = responder()._chance
    assert choose(all_of, {"vip": "yes"}, "rest", "four", chance) == plain


def interpolated(text: str, values: dict[str, Any]) -> str:
    """Fill a text as Rasa 3.6.21 does, which looks up names by `str.format`."""
    try:
        found = re.sub(r"{([^\n{}]+?)}", r"{0[\1]}", text).format(values)
        return text.format({}) if "0[" in found else found
    except KeyError:
        return text


@pytest.mark.parametrize(
    "text", ["{a} and {b c}", "{a} {unknown}", "{{a}}", "{{a}} {b c}", "{a.b}", "no names", "{n}", "{a:>9}", "{{x}} y"]
)
def test_texts_are_filled_as_rasa_fills_them(text: str) -> None:
    values = {"a": "A{b c}", "b c": 3, "a.b": "dotted", "n": None}
    assert filled(text, values) == interpolated(text, values)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("responses: {}", "no response is mapped"),
        ("responses: {a: 'inform(x='}", "expected a value"),
        ("responses: {a: {act: inform, slot: {}}}", "slot"),
        ("responses: {a: {act: 'inform(x)', slots: {y: z}}}", "leave out slots"),
        ("responses: {a: {act: inform, slots: {y: {values: {}}}}}", "give either from"),
        ("responses: {a: {act: inform, slots: {y: {value: ''}}}}", "a value is empty"),
        ("responses: {a: {act: inform, slots: {y: {from: x, default: ' '}}}}", "a value is empty"),
        ("responses: {a: {act: inform, slots: {y: {from: x, values: {z: ''}}}}}", "a value is empty"),
        ("respones: {}", "respones"),
        ("[]", "mapping file is a mapping"),
    ],
)
def test_mistakes_in_a_mapping_are_reported(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mapping.yml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(told)):
        read_mapping(path)


@pytest.fixture(scope="module")
def generator(poor_run: Callable[[str], Path]) -> Generator:
    return Generator.load(poor_run("sclstm"))


def test_a_mapping_that_does_not_fit_the_run_is_refused(generator: Generator, tmp_path: Path) -> None:
    path = tmp_path / "mapping.yml"
    for text, told in (
        ("otherwise: x\nresponses: {a: 'inform(dificulty=easy)'}", "did you mean 'difficulty'"),
        ("otherwise: x\nresponses: {a: {act: infrm}}", "did you mean 'inform'"),
        ("responses: {a: goodbye()}", "nothing could be said for a"),
        ("domain: none.yml\nresponses: {a: goodbye()}", "none.yml"),
    ):
        path.write_text(text)
        with pytest.raises(UserError, match=told):
            RasaResponder.load(generator, path)


TURNS = [
    ("utter_greet", {}),
    ("utter_ask_difficulty", {}),
    ("utter_ask_region", {"difficulty": "easy"}),
    ("utter_recommend", {"difficulty": "easy", "region": "north"}),
    ("utter_dogs", {"dogs": True}),
    ("utter_ask_guide_day", {}),
    ("utter_booked", {"guide_day": "Sunday"}),
    ("utter_thanks", {}),
    ("utter_goodbye", {}),
]
"""The responses that Rasa 3.6.21 requests in a conversation, and the slots set before each."""


def walk(say: Callable[[str, dict[str, Any]], dict[str, Any]]) -> dict[str, str]:
    slots, said = {"trail_name": "Red Kite Ridge", "guide_name": "Ines"}, {}
    for name, more in TURNS:
        slots |= more
        said[name] = say(name, slots)["text"]
    return said


def check_said(said: dict[str, str]) -> None:
    """Check every response: mapped ones have their values, the others the words of the domain."""
    assert all(said.values())
    for word in ("Red Kite Ridge", "easy", "north"):
        assert word in said["utter_recommend"]
    assert said["utter_recommend"] != "I found Red Kite Ridge: easy, in north."
    assert "Red Kite Ridge" in said["utter_dogs"] and "True" not in said["utter_dogs"]
    assert said["utter_greet"] == "Welcome to the visitor centre!"
    assert said["utter_booked"] == "Ines meets you at Red Kite Ridge on Sunday."
    assert said["utter_ask_guide_day"] == "On which day shall the guide come?"


def test_a_conversation_over_http(generator: Generator) -> None:
    app = FastAPI()
    # A function, because a service that reloads its run has another generator afterwards.
    rasa_route(app, RasaResponder.load(lambda: generator, PROJECT / "mapping.yml"))
    client = TestClient(app)

    def say(name: str, slots: dict[str, Any]) -> dict[str, Any]:
        answer = client.post("/rasa", json=request(name, slots))
        assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
        return valid(answer.json())

    check_said(walk(say))
    for body in (b"", b"{", b"\xff", b"[1]", b"[" * 9999, b'{"response": "utter_greet", "tracker": {"slots": 1}}'):
        answer = client.post("/rasa", content=body)
        assert answer.status_code == 200
        valid(answer.json())
    # `json.dumps` writes NaN, which is not JSON; in a slot that no response uses it must not silence the bot.
    with_nan = json.dumps(request("utter_recommend", {**SLOTS, "score": float("nan")})).encode()
    assert b"NaN" in with_nan
    assert client.post("/rasa", content=with_nan).json()["text"] == say("utter_recommend", SLOTS)["text"] != ""
    surrogate = client.post("/rasa", content=b'{"response": "utter_booked", "arguments": {"guide_name": "\\ud800"}}')
    assert surrogate.status_code == 200 and valid(surrogate.json())["text"]


def test_the_service_has_a_route_for_rasa(poor_run: Callable[[str], Path]) -> None:
    models = Models({"trails": poor_run("sclstm")})
    bot = RasaResponder.load(lambda: models.get(None).generator, PROJECT / "mapping.yml")
    with TestClient(application(models, ServiceSettings(token="secret"), rasa=bot)) as client:
        assert client.post("/rasa", json=request("utter_goodbye")).status_code == 401
        # The token is asked for before the body is read.
        assert client.post("/rasa", content=b"x" * (TRACKER_BYTES + 1)).status_code == 401
        admitted = {"Authorization": "Bearer secret"}
        answer = client.post("/rasa", json=request("utter_goodbye"), headers=admitted)
        assert answer.status_code == 200 and valid(answer.json())["text"]
        numbers = client.get("/metrics").text
        assert 'dactnlg_requests_total{path="/rasa",status="200"} 1.0' in numbers and 'path="other"' not in numbers


def test_without_a_bot_its_path_has_the_limits_of_all(poor_run: Callable[[str], Path]) -> None:
    settings = ServiceSettings(body_bytes=1000, per_minute=3)
    with TestClient(application(Models({"trails": poor_run("sclstm")}), settings)) as client:
        found = [client.post("/rasa", content=b"x" * size).status_code for size in (1000, 1001, 0, 0)]
    assert found == [404, 413, 404, 429]


def test_the_bot_has_an_answer_whatever_the_limits_of_the_service(poor_run: Callable[[str], Path]) -> None:
    models = Models({"trails": poor_run("sclstm")})
    bot = RasaResponder.load(lambda: models.get(None).generator, PROJECT / "mapping.yml")
    generate, ended = bot.generate, threading.Event()

    def slowly(turn: Turn) -> Generation:
        ended.wait(30)
        return generate(turn)

    # Of five seconds one is left for all but the sentence: a busy machine needs some of it.
    settings = ServiceSettings(body_bytes=1000, per_minute=1, seconds=5)
    with TestClient(application(models, settings, rasa=bot)) as client:
        long = request("utter_goodbye")
        # All events of a dialogue of some thousand turns.
        long["tracker"]["events"] = [{"event": "user", "text": "hello" * 100}] * 4000
        for _ in range(3):
            answer = client.post("/rasa", json=long)
            assert answer.status_code == 200 and valid(answer.json())["text"]
        # A busy machine may have been late before.
        late = bot.counts["late"]
        bot.generate = slowly
        slots = {"trail_name": "X", "difficulty": "easy", "region": "north"}
        answer = client.post("/rasa", json=request("utter_recommend", slots))
        ended.set()
        assert answer.status_code == 200 and valid(answer.json())["text"].startswith("I found X: easy, in north")
        assert bot.counts["late"] == late + 1
        assert client.post("/v1/generate", content=b"x" * 2000).status_code == 413


class Tracker:
    def __init__(self, slots: dict[str, Any]) -> None:
        self.slots = slots

    def current_slot_values(self) -> dict[str, Any]:
        return self.slots


class Channel:
    """An output channel as Rasa Pro passes it."""

    def name(self) -> str:
        return "rest"


@pytest.mark.parametrize("channel", ["rest", Channel()])
def test_a_conversation_in_process(poor_run: Callable[[str], Path], channel: Any) -> None:
    keys = {"run": str(poor_run("sclstm")), "mapping": str(PROJECT / "mapping.yml")}
    # As in `rasa.core.agent.load_agent`: the domain is empty at first, and comes with the request.
    made = RasaGenerator(endpoint_config=SimpleNamespace(kwargs=keys, url=None), domain=SimpleNamespace(responses={}))

    def say(name: str, slots: dict[str, Any]) -> dict[str, Any]:
        found = asyncio.run(made.generate(name, Tracker(slots), channel, domain_responses=RESPONSES))
        assert found is not None
        return found

    check_said(walk(say))
    assert asyncio.run(made.generate("utter_other", Tracker({}), channel)) is None
    found = asyncio.run(made.generate("utter_ask_difficulty", Tracker({}), channel))
    assert found is not None and len(found["buttons"]) == 2
    with pytest.raises(UserError, match="nlg has no mapping"):
        RasaGenerator(endpoint_config=SimpleNamespace(kwargs={"run": "x"}), domain=None)


class Templated:
    """Stands for `rasa.core.nlg.response.TemplatedNaturalLanguageGenerator`."""

    def __init__(self, responses: dict[str, Any]) -> None:
        self.responses = responses

    async def generate(self, utter_action: str, tracker: Any, output_channel: Any, **kwargs: Any) -> Any:
        (found,) = self.responses.get(utter_action, [])[:1] or [None]
        return found and {**found, "text": interpolated(found["text"], {**tracker.current_slot_values(), **kwargs})}


class Callback:
    """Stands for `rasa.core.nlg.callback.CallbackNaturalLanguageGenerator`, which raises every error."""

    def __init__(self, endpoint_config: Any) -> None:
        self.url = endpoint_config.url

    async def generate(self, utter_action: str, tracker: Any, output_channel: Any, **kwargs: Any) -> Any:
        assert kwargs.pop("domain_responses") is RESPONSES
        async with httpx.AsyncClient() as client:
            body = request(utter_action, tracker.current_slot_values(), arguments=kwargs)
            answer = await client.post(self.url, json=body)
        return valid(answer.raise_for_status().json())


@pytest.fixture
def rasa(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a module that stands for Rasa's."""
    module = ModuleType("rasa.core.nlg")
    module.CallbackNaturalLanguageGenerator = Callback  # type: ignore[attr-defined]
    module.TemplatedNaturalLanguageGenerator = Templated  # type: ignore[attr-defined]
    for name in ("rasa", "rasa.core", "rasa.core.nlg"):
        monkeypatch.setitem(sys.modules, name, module if name.endswith("nlg") else ModuleType(name))
    rasa_class.cache_clear()
    yield
    rasa_class.cache_clear()


def test_with_rasa_installed_the_generator_is_a_class_of_rasa(rasa: None, poor_run: Callable[[str], Path]) -> None:
    from dactnlg.serving import rasa as door

    keys = {"run": str(poor_run("sclstm")), "mapping": str(PROJECT / "mapping.yml")}
    made = door.Generator(endpoint_config=SimpleNamespace(kwargs=keys), domain=None)
    # Rasa's agent does not wrap an instance of its own classes, and sets the domain's responses on this one.
    assert isinstance(made, Templated) and isinstance(made, RasaGenerator)
    made.responses = RESPONSES
    check_said(walk(lambda name, slots: asyncio.run(made.generate(name, Tracker(slots), "rest"))))
    with pytest.raises(AttributeError, match="has no attribute 'Generators'"):
        _ = door.Generators


def test_the_bot_answers_while_the_service_is_down(rasa: None, generator: Generator, repository: Path) -> None:
    spec = importlib.util.spec_from_file_location("rasa_nlg", repository / "docs/pages/guides/rasa_nlg.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app = FastAPI()
    rasa_route(app, RasaResponder.load(generator, PROJECT / "mapping.yml"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/rasa"
    nlg = module.FallbackGenerator(SimpleNamespace(url=url), SimpleNamespace(responses=RESPONSES))

    def say(name: str, slots: dict[str, Any]) -> Any:
        return asyncio.run(nlg.generate(name, Tracker(slots), "rest", domain_responses=RESPONSES))

    check_said(walk(say))
    server.should_exit = True
    thread.join()
    down = walk(say)
    assert all(down.values())
    assert down["utter_recommend"] == "I found Red Kite Ridge: easy, in north."
    # Rasa's own callback generator raises, and Rasa then drops the turn.
    with pytest.raises(httpx.ConnectError):
        asyncio.run(Callback(nlg.service).generate("utter_greet", Tracker({}), "rest", domain_responses=RESPONSES))
