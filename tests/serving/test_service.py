"""The service: the answers of `generate`, limits with plain messages, replaced sentences marked, reloads, batches."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers import until
from starlette.testclient import TestClient

from dactnlg import Generator, parse
from dactnlg._utils.web.problems import MEDIA_TYPE
from dactnlg.acts import Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import UserError
from dactnlg.generation.generation import Generation
from dactnlg.generation.options import GenerationOptions
from dactnlg.runs.config import DecodingConfig
from dactnlg.serving import plan
from dactnlg.serving.batching import Batcher
from dactnlg.serving.models import Models, parse_model
from dactnlg.serving.observation import ServiceMetrics
from dactnlg.serving.service import Service, application
from dactnlg.serving.settings import ServiceSettings

ACT = "inform(name='Ivy Cutting';difficulty=easy)"


@pytest.fixture(scope="module")
def models(neural_run: Path, random_run: Path) -> Models:
    return Models({"neural": neural_run, "random": random_run})


@pytest.fixture(scope="module")
def client(models: Models) -> Iterator[TestClient]:
    with TestClient(application(models, ServiceSettings()), raise_server_exceptions=False) as found:
        yield found


def with_settings(models: Models, **limits: Any) -> TestClient:
    return TestClient(application(models, ServiceSettings(**limits)), raise_server_exceptions=False)


def test_the_service_says_what_generate_says(client: TestClient, neural_run: Path) -> None:
    acts = [str(example.turn) for example in load_corpus("trails").split("test")][:40]
    answer = client.post("/v1/generate", json={"acts": acts, "options": {"constraint": "hard", "n_best": 2}}).json()
    wanted = Generator.load(neural_run).generate(acts, GenerationOptions(constraint="hard", n_best=2))
    assert [one["text"] for one in answer["results"]] == [one.text for one in wanted]
    assert [len(one["n_best"]) for one in answer["results"]] == [len(one.n_best) for one in wanted]
    assert answer["model"]["name"] == "neural"
    (alone,) = client.post("/v1/generate", json={"acts": acts[0]}).json()["results"]
    assert alone["act"] == acts[0]


def test_the_service_accepts_every_notation(client: TestClient) -> None:
    for act in ("name[Ivy Cutting], difficulty[easy]", '[{"act": "inform", "slots": [["name", "Ivy Cutting"]]}]'):
        (said,) = client.post("/v1/generate", json={"acts": act}).json()["results"]
        assert "Ivy Cutting" in said["text"]


@pytest.mark.parametrize(
    "act", [r'{"act": "inform", "slots": [["name", "\ud800"]]}', r'[{"act": "\udfff", "slots": []}]']
)
def test_half_a_surrogate_pair_in_json_is_the_client_s_mistake(client: TestClient, act: str) -> None:
    bodies = {"generate": {"acts": act}, "check": {"pairs": [{"act": act, "text": "Hi."}]}, "parse": {"act": act}}
    for path, body in bodies.items():
        answer = client.post(f"/v1/{path}", json=body)
        assert answer.status_code == 422 and "half of a surrogate pair" in answer.json()["detail"], path


def test_a_faulty_sentence_is_replaced_and_marked(models: Models) -> None:
    acts = [f"inform(name='Ivy Cutting';length='{n} km';near='Orrin';difficulty=easy;dogsallowed=no)" for n in range(9)]
    with with_settings(models) as client:
        body = {"acts": acts, "options": {"constraint": "none", "sample": True, "temperature": 3.0, "seed": 1}}
        results = client.post("/v1/generate", json=body).json()["results"]
    replaced = [one for one in results if one["fallback"]]
    assert replaced
    for one in replaced:
        assert one["fallback"]["reason"]
        assert one["fallback"]["rejected"] != one["text"]
        assert one["fallback"]["faithful"] == one["slots_ok"]
    assert all(one["slots_ok"] or one["fallback"] for one in results)


@pytest.mark.parametrize(
    ("options", "searches", "replaced"),
    [
        ({"constraint": "none", "n_best": 2}, 2, True),
        ({"constraint": "none"}, 2, False),
        ({"constraint": "hard"}, 1, False),
        ({}, 1, False),
        ({"n_best": 2}, 1, False),
    ],
)
def test_a_faulty_sentence_is_searched_again_only_with_other_options(
    options: dict[str, Any], searches: int, replaced: bool
) -> None:
    asked: list[GenerationOptions] = []

    async def generate(_generator: Any, _turns: Any, given: GenerationOptions, _contexts: Any) -> list[Generation]:
        asked.append(given)
        name, good = f"{len(asked)}", len(asked) > 1 and replaced
        one = Generation("a", name, name, name, 0.0, good, () if good else ("name",), ())
        return [replace(one, n_best=(one, one) if given.n_best > 1 else ())]

    metrics, run = ServiceMetrics(), SimpleNamespace(defaults=DecodingConfig(), seed=1)
    batcher: Any = SimpleNamespace(generate=generate)
    model: Any = SimpleNamespace(name="it", generator=run)
    service = Service(None, ServiceSettings(), metrics, batcher)  # type: ignore[arg-type]
    (found,) = asyncio.run(service.say(model, [parse("goodbye()")], GenerationOptions(**options)))
    assert len(asked) == searches
    assert found.fallback is not None and found.fallback.rejected == "1"
    assert found.text == ("2" if replaced else "1")
    assert found.slots_ok == found.fallback.faithful == replaced
    # The sentence of the answer comes first.
    assert [each["text"] for each in found.n_best] == [found.text] * (2 if "n_best" in options else 0)
    assert metrics.fallbacks.labels("it")._value.get() == replaced


def test_check_reports_missing_slots(client: TestClient) -> None:
    pairs = [{"act": ACT, "text": "Ivy Cutting is easy."}, {"act": ACT, "text": "Ivy Cutting is hard."}]
    good, bad = client.post("/v1/check", json={"pairs": pairs}).json()["results"]
    assert good["slots_ok"]
    assert not bad["slots_ok"]
    assert bad["missing"] == ["difficulty=easy"]


def test_models_readiness_metrics_and_document_are_served(client: TestClient) -> None:
    listed = client.get("/v1/models").json()["models"]
    assert [model["name"] for model in listed] == ["neural", "random"]
    assert "difficulty" in listed[0]["slots"]
    assert "inform" in listed[0]["act_types"]
    assert client.get("/readyz").json() == {"status": "ready"}
    client.post("/v1/generate", json={"acts": "goodbye()"})
    numbers = client.get("/metrics").text
    assert 'dactnlg_requests_total{path="/v1/generate",status="200"}' in numbers
    assert 'dactnlg_acts_total{model="neural",slots_ok="true"}' in numbers
    document = client.get("/openapi.json").json()
    assert {"/v1/generate", "/v1/check", "/v1/models"} <= document["paths"].keys()
    example = document["components"]["schemas"]["GenerateBody"]["examples"][0]
    assert client.post("/v1/generate", json=example).status_code == 200


@pytest.mark.parametrize(
    ("body", "told", "members"),
    [
        ({"acts": "inform(name='x'"}, "expected ';' or ')'", {"position": 15}),
        ({"acts": ["goodbye()", "inform("]}, "acts[1], column 8", {"index": 1, "position": 7}),
        ({"acts": ["goodbye()", "inform(nam='x')"]}, "did you mean 'name'?", {"index": 1}),
        ({"acts": "inform(nam='x')"}, "acts: unknown slot 'nam'", {}),
        ({"acts": []}, "send at least one act", {}),
        ({"acts": ["goodbye()"] * 6}, "at most 5 acts here; got 6", {}),
        ({"acts": f"inform({';'.join(['name=x'] * 8)})"}, "8 slots, and at most 7", {}),
        ({"acts": f"inform(name='{'x' * 60}')"}, "a value of more than 50 characters", {}),
        ({"acts": "x" * 1001}, "more than 1,000 characters", {}),
        ({"acts": ACT, "options": {"n_best": 4}}, "options.n_best is at most 3 here; got 4", {}),
        ({"acts": ACT, "options": {"beam_width": 31}}, "options.beam_width is at most 30", {}),
        ({"acts": ACT, "options": {"sample": False, "top_k": 3}}, "sampling, which is turned off", {}),
        ({"acts": ACT, "options": {"constraint": "soft"}}, "'none', 'rerank' or 'hard'", {}),
        ({"acts": ACT, "options": {"beam": 3}}, "Extra inputs are not permitted", {}),
    ],
)
def test_requests_beyond_a_limit_are_refused_in_plain_words(
    models: Models, body: dict[str, Any], told: str, members: dict[str, Any]
) -> None:
    limits = {"acts": 5, "slots": 7, "value_length": 50, "text_length": 1000, "n_best": 3, "beam_width": 30}
    with with_settings(models, **limits) as client:
        answer = client.post("/v1/generate", json=body)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert told in answer.json()["detail"]
    assert members.items() <= answer.json().items()


def test_only_the_given_models_are_served(client: TestClient) -> None:
    for name in ("../neural", "/etc", "neural\0", "other"):
        answer = client.post("/v1/generate", json={"acts": ACT, "model": name})
        assert answer.status_code == 404
        assert "there are neural, random" in answer.json()["detail"]


def test_the_service_requires_its_token(models: Models) -> None:
    with with_settings(models, token="sesame") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/v1/models").status_code == 401
        # Without the token nothing else about the request is reported.
        assert client.post("/v1/generate", json={"act": 3}).status_code == 401
        document = client.get("/openapi.json").json()
        ((name, scheme),) = document["components"]["securitySchemes"].items()
        assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
        secured = {
            path
            for path, each in document["paths"].items()
            for op in each.values()
            if op.get("security") == [{name: []}]
        }
        assert secured == {path for path in document["paths"] if path.startswith("/v1/")}
        for header in ("sesame", "Bearer", "Bearer sesam", "Basic sesame", "Bearer sesame\xe9"):
            answer = client.post(
                "/v1/generate", json={"acts": ACT}, headers={b"authorization": header.encode("latin-1")}
            )
            assert answer.status_code == 401
        good = client.post("/v1/generate", json={"acts": ACT}, headers={"Authorization": "Bearer sesame"})
        assert good.status_code == 200


def test_hostile_values_are_said_as_text(client: TestClient) -> None:
    for value in (
        "{0.__class__}",
        "%s%n",
        "<script>alert(1)</script>",
        "SLOT_NAME",
        "{{7*7}}",
        "\u202eabc",
        "a\u0000b",
    ):
        act = {"act": "inform", "slots": [["name", value]]}
        answer = client.post("/v1/generate", json={"acts": json.dumps([act])})
        assert answer.status_code in (200, 422)
        if answer.status_code == 200:
            (said,) = answer.json()["results"]
            # At the start of a sentence it has a capital.
            assert value.casefold() in said["text"].casefold() or not said["slots_ok"]


def test_a_changed_run_is_reloaded_and_a_missing_one_is_kept(
    neural_run: Path, random_run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(random_run, folder)
    models = Models({"it": folder})
    before = models.get("it")
    assert models.reload() == []
    shutil.rmtree(folder)
    assert models.reload() == []
    assert models.get("it").generator is before.generator
    assert models.get("it").trouble
    shutil.copytree(neural_run, folder)
    assert models.reload() == ["it"]
    after = models.get("it")
    assert after.code != before.code
    assert after.trouble is None
    # Requests that began with the old model end with it.
    assert before.generator.generate(ACT)


def test_every_reload_is_counted(random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served = []

    def serve(app: Any, _listening: object, on_reload: Callable[[], None], **_more: object) -> None:
        served.append(app)
        on_reload()
        with TestClient(app) as client:
            until(lambda: 'dactnlg_reloads_total{model="it"} 1.0' in client.get("/metrics").text.splitlines())

    monkeypatch.setattr(plan, "serve", serve)
    plan.ServicePlan(runs={"it": random_run}).serve(None, lambda: None)  # type: ignore[arg-type]
    assert len(served) == 1


def test_a_check_that_is_late_is_given_up_and_a_changed_run_is_noticed_meanwhile(
    random_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "run"
    shutil.copytree(random_run, place)
    models = Models({"it": place})
    checker, begun, go_on = models.get("it").checker, [], threading.Event()

    def slowly(turn: Turn, text: str) -> Any:
        begun.append(text)
        go_on.wait(30)
        return check(turn, text)

    check = checker.check
    monkeypatch.setattr(checker, "check", slowly)
    body = {"pairs": [{"act": ACT, "text": "Hello."}] * 8}
    # As many as there are threads, and more.
    count = 40
    with TestClient(application(models, ServiceSettings(seconds=0.5), watch=0.05)) as client:
        with ThreadPoolExecutor(count) as pool:
            late = [pool.submit(client.post, "/v1/check", json=body) for _ in range(count)]
            assert {each.result().status_code for each in late} == {503}
        (place / "preprocessor.json").write_text("{}", encoding="utf-8")
        try:
            until(lambda: bool(client.get("/v1/models").json()["models"][0]["trouble"]))
        finally:
            go_on.set()
        monkeypatch.undo()
        until(lambda: client.post("/v1/check", json=body).status_code == 200)
    # Each thread was at its first text, and began no other.
    assert len(begun) <= min(32, (os.cpu_count() or 1) + 4)


def test_at_the_end_a_request_may_take_as_long_as_ever(random_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, served = ServiceSettings(seconds=600.5), []
    monkeypatch.setattr(plan, "serve", lambda *_found, **named: served.append(named["drain_seconds"]))
    plan.ServicePlan(runs={"it": random_run}, settings=settings).serve(None, lambda: None)  # type: ignore[arg-type]
    assert served[0] > settings.seconds + settings.request_limits().body_seconds


def test_a_run_whose_manifest_is_copied_last_is_loaded(neural_run: Path, random_run: Path, tmp_path: Path) -> None:
    """A run copied file by file is refused half-way, and loaded once it is complete."""
    folder = tmp_path / "run"
    shutil.copytree(random_run, folder)
    models = Models({"it": folder})
    for path in sorted(neural_run.iterdir()):
        if path.is_file() and path.name != "manifest.json":
            shutil.copyfile(path, folder / path.name)
    assert models.reload() == [] and models.get("it").trouble
    assert models.reload() == []
    shutil.copyfile(neural_run / "manifest.json", folder / "manifest.json")
    assert models.reload() == ["it"] and models.get("it").trouble is None
    # New scores in the manifest change no answer.
    (folder / "manifest.json").touch()
    assert models.reload() == []


class Counting:
    """A generator that records its calls; that it has a `decoder` tells the batcher that it is deterministic."""

    decoder = object()

    def __init__(self, bad: str = "") -> None:
        self.calls: list[int] = []
        self.bad = bad
        self.defaults = type("Defaults", (), {"sample": False})

    def generate(self, turns: Sequence[Turn], options: GenerationOptions, context: Any = ()) -> list[Generation]:
        self.calls.append(len(turns))
        time.sleep(0.005)
        names = [str(turn) for turn in turns]
        if self.bad and any(self.bad in name for name in names):
            raise UserError(f"{self.bad} is bad")
        return [Generation(name, name, name, name, 0.0, True, (), ()) for name in names]


def said(batcher: Batcher, generator: Any, turns: list[str], **options: Any) -> list[str]:
    wanted = batcher.generate(generator, [parse(turn) for turn in turns], GenerationOptions(**options))

    async def answer() -> list[Generation]:
        return await wanted

    return [one.text for one in asyncio.run(answer())]


def test_requests_that_wait_are_batched_and_answered_in_order() -> None:
    generator: Any = Counting()
    batcher = Batcher(32, 0.002, 10_000)
    draw = random.Random(1)
    asked = [[f"inform(name=x{k}_{i})" for i in range(draw.randint(1, 5))] for k in range(300)]
    with ThreadPoolExecutor(40) as pool:
        found = list(pool.map(lambda turns: said(batcher, generator, turns), asked))
    batcher.close()
    assert found == [[str(parse(turn)) for turn in turns] for turns in asked]
    assert len(generator.calls) < 150
    assert max(generator.calls) <= 32


def test_requests_with_other_options_or_sampling_are_not_batched_together() -> None:
    generator: Any = Counting()
    batcher = Batcher(64, 0.05, 10_000)
    kinds: list[dict[str, Any]] = [{}, {"n_best": 2}, {"sample": True, "seed": 1}]
    with ThreadPoolExecutor(30) as pool:
        futures = [pool.submit(said, batcher, generator, ["goodbye()"], **kinds[k % 3]) for k in range(30)]
        assert all(future.result() == ["goodbye()"] for future in futures)
    batcher.close()
    assert sum(generator.calls) == 30
    assert len(generator.calls) >= 12


def test_a_bad_request_fails_alone_in_its_batch() -> None:
    generator: Any = Counting(bad="oops")
    batcher = Batcher(64, 0.05, 10_000)
    with ThreadPoolExecutor(8) as pool:
        acts = ["inform(name=oops)" if k == 3 else f"inform(name=x{k})" for k in range(8)]
        futures = [pool.submit(said, batcher, generator, [act]) for act in acts]
        for act, future in zip(acts, futures, strict=True):
            if "oops" in act:
                with pytest.raises(UserError, match="oops is bad"):
                    future.result()
            else:
                assert future.result() == [act]
    batcher.close()


def test_a_full_queue_refuses_further_requests() -> None:
    release = threading.Event()

    class Slow(Counting):
        def generate(self, turns: Sequence[Turn], options: GenerationOptions, context: Any = ()) -> list[Generation]:
            release.wait(20)
            return super().generate(turns, options)

    generator: Any = Slow()
    batcher = Batcher(1, 0, 2)
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(said, batcher, generator, ["goodbye()"]) for _ in range(8)]
        time.sleep(0.3)
        release.set()
        problems = [error for future in futures if (error := future.exception())]
    batcher.close()
    assert 1 <= len(problems) <= 6
    assert all("try again" in str(error) for error in problems)


def test_a_model_is_named_by_its_folder_or_as_given(tmp_path: Path) -> None:
    assert parse_model(str(tmp_path)) == (tmp_path.name, tmp_path)
    assert parse_model(f"new={tmp_path}") == ("new", tmp_path)
    (tmp_path / "lr=0.1").mkdir()
    assert parse_model(f"{tmp_path}/lr=0.1") == ("lr=0.1", tmp_path / "lr=0.1")
    assert parse_model(f"new={tmp_path}/lr=0.1") == ("new", tmp_path / "lr=0.1")
    for text, told in (
        (f"a b={tmp_path}", "a model's name has letters"),
        ("x=/nowhere", "dactnlg train CONFIG --output /nowhere"),
    ):
        with pytest.raises(UserError, match=told):
            parse_model(text)


def test_a_generation_cannot_be_changed() -> None:
    # The batcher shares one object between requests.
    one = Generation("a", "a", "a", "a", 0.0, True, (), ())
    with pytest.raises(AttributeError):
        one.text = "b"  # type: ignore[misc]
    assert replace(one, text="b").text == "b"
