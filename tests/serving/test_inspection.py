"""What the playground requests: parsed acts, the places of values in a sentence, traces of a decoder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from dactnlg import Generator, parse
from dactnlg.acts import DialogueAct, Slot, Turn
from dactnlg.data.corpus import load_corpus
from dactnlg.errors import UserError
from dactnlg.generation.trace import Trace, trace
from dactnlg.serving.models import Models
from dactnlg.serving.service import application
from dactnlg.serving.settings import ServiceSettings
from dactnlg.text.encoding import features
from dactnlg.text.placeholders import is_placeholder
from dactnlg.text.surface import strip_joiner
from dactnlg.text.values.delexicalization import Delexicalizer
from dactnlg.text.values.spans import value_spans
from dactnlg.text.vocabulary import BOS_ID

ACT = "inform(name='Ivy Cutting';difficulty=easy;dogsallowed=yes)"


@pytest.fixture(scope="module")
def client(poor_run: Callable[[str], Path], random_run: Path) -> Iterator[TestClient]:
    models = Models({"sclstm": poor_run("sclstm"), "random": random_run})
    with TestClient(application(models, ServiceSettings()), raise_server_exceptions=False) as found:
        yield found


def post(client: TestClient, path: str, **body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: TestClient, path: str, **body: Any) -> Any:
    answer = client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    return answer.json()


def test_an_act_is_parsed_in_every_notation(client: TestClient) -> None:
    found = post(client, "/v1/parse", act=ACT)
    assert found["act"] == ACT
    (act,) = found["acts"]
    assert act["act_type"] == "inform"
    read = [(slot["name"], slot["value"], slot["special"], slot["place"]) for slot in act["slots"]]
    assert read == [
        ("name", "Ivy Cutting", False, 0),
        ("difficulty", "easy", False, 1),
        ("dogsallowed", "yes", True, 2),
    ]
    for other in (
        "name[Ivy Cutting], difficulty[easy], dogsallowed[yes]",
        '[{"act": "inform", "slots": [["name", "Ivy Cutting"], ["difficulty", "easy"], ["dogsallowed", "yes"]]}]',
    ):
        assert post(client, "/v1/parse", act=other)["acts"] == found["acts"]
    two = post(client, "/v1/parse", act="inform(name=x)&?request(region)")["acts"]
    assert [slot["place"] for act in two for slot in act["slots"]] == [0, 1]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("inform(name=", 12),
        ("inform name=x)", 7),
        ("inform(name='Ivy nmae';nmae=easy)", 23),
        ("infrom(name=x)", 0),
        ("inform(name=😀 x;difficulty=easy)&nope()", 33),
        ('[{"act": "inform", "slots": [["nmae", "x"]]}]', 31),
    ],
)
def test_a_mistake_in_an_act_has_a_position(client: TestClient, text: str, position: int) -> None:
    assert refused(client, "/v1/parse", act=text)["position"] == position


@pytest.mark.parametrize("path", ["/v1/parse", "/v1/trace"])
@pytest.mark.parametrize(
    ("text", "told", "position"),
    [
        ("inform(name=", "act, column 13", 12),
        ("inform(nmae=x)", "unknown slot 'nmae'", 7),
        ("x" * (1 << 15), "act ", None),
    ],
)
def test_a_mistake_in_an_act_names_the_field(
    client: TestClient, path: str, text: str, told: str, position: int | None
) -> None:
    found = refused(client, path, act=text)
    assert found["detail"].startswith(told)
    assert found.get("position") == position and "index" not in found


@given(st.text(max_size=60) | st.text("inform(name='x;difficulty=easy)&?[]\"\\ ", max_size=60))
def test_any_text_is_parsed_or_refused(client: TestClient, text: str) -> None:
    answer = client.post("/v1/parse", json={"act": text})
    assert answer.status_code in (200, 422)
    if answer.status_code == 422:
        assert 0 <= answer.json().get("position", 0) <= len(text)
    else:
        assert parse(answer.json()["act"]) == parse(text)


def test_spans_cover_the_values(client: TestClient) -> None:
    acts = [str(example.turn) for example in load_corpus("trails").split("test")][:60]
    found = post(client, "/v1/generate", acts=acts, spans=True, options={"n_best": 3})["results"]
    seen = 0
    for result in found:
        slots = [slot for _, slot in parse(result["act"]).slots()]
        for sentence in (result, *result["n_best"]):
            placeholders = [t for t in sentence["delexicalized"].split() if is_placeholder(t)]
            assert len(sentence["spans"]) >= len(placeholders)
            for span in sentence["spans"]:
                seen += 1
                said = sentence["text"][span["start"] : span["end"]].casefold()
                slot = slots[span["place"]]
                assert slot.name == span["slot"]
                assert said == (slot.value or "").casefold() or said.split()[0] in (slot.value or "").casefold()
    assert seen > 300
    (plain,) = post(client, "/v1/generate", acts=ACT)["results"]
    assert plain["spans"] is None


def test_spans_of_any_sentence_are_found_in_characters(client: TestClient) -> None:
    text = "😀 Dogs like Ivy Cutting's easy paths."
    (found,) = post(client, "/v1/check", pairs=[{"act": ACT, "text": text}], spans=True)["results"]
    assert [(text[s["start"] : s["end"]], s["slot"]) for s in found["spans"]] == [
        ("Ivy Cutting", "name"),
        ("easy", "difficulty"),
    ]


WORDS = st.lists(
    st.sampled_from(["red", "door", "7", "km", "St.", "Åre", "o'clock", "x-y", "a"]), min_size=1, max_size=3
)


@given(st.lists(WORDS, min_size=1, max_size=4, unique_by=tuple), st.text("ab ,.!￭😀\n", max_size=10))
def test_the_text_of_a_span_is_the_value_of_its_slot(values: list[list[str]], between: str) -> None:
    turn = Turn((DialogueAct("inform", tuple(Slot(f"s{n}", " ".join(words)) for n, words in enumerate(values))),))
    sentence = between.join(f" {' '.join(words)} " for words in values)
    delexicalizer = Delexicalizer()
    spans = value_spans(delexicalizer, turn, sentence)
    assert spans == sorted(spans)
    assert all(one.end <= other.start for one, other in zip(spans, spans[1:], strict=False))
    for span in spans:
        said = " ".join(sentence[span.start : span.end].split())
        assert said.casefold() == (turn.acts[0].slots[span.place].value or "").casefold()
    done = delexicalizer.delexicalize(turn, sentence)
    assert len(spans) == len(done.mentions)


def test_two_values_of_one_slot_have_their_own_places() -> None:
    turn = parse("compare(length='7 km';name=b;length='9 km')")
    text = "One is 9 km, the other 7 km."
    found = value_spans(Delexicalizer(), turn, text)
    assert [(text[s.start : s.end], s.place) for s in found] == [("9 km", 2), ("7 km", 0)]
    # A value "A or B" that may be said in two parts belongs to one slot.
    turn = parse("inform(season='may or june')")
    found = value_spans(Delexicalizer(apart=["season"]), turn, "June and May")
    assert [s.place for s in found] == [0, 0]


def traces(generator: Generator, count: int) -> Iterator[Trace]:
    """Yield traces of what a model says for test acts of the embedded corpus."""
    turns = [example.turn for example in load_corpus("trails").split("test")][:count]
    for turn, said in zip(turns, generator.generate(turns), strict=True):
        yield trace(generator, turn, said.delexicalized.split())


def test_the_reading_gate_falls_when_a_value_is_said(poor_run: Callable[[str], Path]) -> None:
    """The reading gates of Wen et al. (2015b, figure 4): the weight of a slot falls at the words that say it."""
    before, after = [], []
    for found in traces(Generator.load(poor_run("sclstm"), "numpy"), 60):
        assert found.kind == "left"
        assert found.weights.shape == (len(found.entries), len(found.tokens))
        assert ((found.weights >= 0) & (found.weights <= 1)).all()
        # Gates never raise a weight.
        assert (np.diff(found.weights, axis=1) <= 1e-6).all()
        placeholders = [strip_joiner(token) for token in found.tokens]
        for entry, row in zip(found.entries, found.weights, strict=True):
            name = f"SLOT_{entry.name.upper()}"
            if placeholders.count(name) == 1 and f"{name}#2" not in placeholders:
                at = placeholders.index(name)
                before.append(row[at - 1])
                after.append(row[at])
    assert len(before) > 50
    assert np.mean(after) < np.mean(before) - 0.15


def test_traces_of_both_backends_are_those_of_training(poor_run: Callable[[str], Path]) -> None:
    run = poor_run("hierarchical")
    numpy, keras = (Generator.load(run, backend) for backend in ("numpy", "keras"))
    turn = parse("compare(name='Ivy Cutting';name='Red Kite Ridge';dogsallowed=no)")
    tokens = numpy.generate(turn)[0].delexicalized.split()
    one, other = trace(numpy, turn, tokens), trace(keras, turn, tokens)
    assert one[:3] == other[:3]
    assert [entry.place for entry in one.entries] == [None, 0, 1, 2]
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)
    # Independent of `step`: the outputs of training, for whole sentences.
    decoder: Any = keras.decoder
    model, encoder = decoder.model, keras.preprocessor.encoder
    numbers = [BOS_ID, *keras.preprocessor.vocabulary.encode(tokens)]
    inputs = keras.preprocessor.arrays([turn], decoder.model_inputs)
    outputs = model.outputs(*model.prepare(inputs), np.array([numbers], np.int32))
    left = np.asarray(outputs)[0, :, model.hidden_size :]  # (T, D)
    assert {"compare|dogsallowed=no", "slot:dogsallowed=no"} <= features(turn)
    rows = [encoder.features.index(name) for name in ("compare|dogsallowed=no", "slot:dogsallowed=no")]
    np.testing.assert_allclose(one.weights[3], left[:, rows].max(axis=1), atol=1e-5)


def test_attention_weights_sum_to_one(poor_run: Callable[[str], Path]) -> None:
    for found in traces(Generator.load(poor_run("seq2seq")), 5):
        assert found.kind == "attention"
        assert found.entries[0].name == "whole act"
        np.testing.assert_allclose(found.weights.sum(axis=0), 1, atol=1e-4)


def test_models_without_a_trace_are_refused(client: TestClient, poor_run: Callable[[str], Path]) -> None:
    assert "nothing to show" in refused(client, "/v1/trace", act=ACT, model="random")["detail"]
    with pytest.raises(UserError, match="nothing to show"):
        trace(Generator.load(poor_run("lstm")), parse(ACT), ["hello"])
    ensemble = Generator.load([poor_run("sclstm"), poor_run("sclstm")])
    with pytest.raises(UserError, match="nothing to show"):
        trace(ensemble, parse(ACT), ["hello"])


def test_a_trace_over_http(client: TestClient) -> None:
    (said,) = post(client, "/v1/generate", acts=ACT)["results"]
    best = post(client, "/v1/trace", act=ACT)
    assert best == post(client, "/v1/trace", act=ACT, delexicalized=said["delexicalized"])
    assert best["tokens"] == ["<bos>", *said["delexicalized"].split()]
    assert [slot["name"] for slot in best["slots"]] == ["inform", "name", "difficulty", "dogsallowed"]
    assert [len(row) for row in best["left"]] == [len(best["tokens"])] * 4
    at = best["tokens"].index("SLOT_NAME")
    assert (best["words"][at], best["places"][at]) == ("Ivy Cutting", 0)
    twice = post(client, "/v1/trace", act="inform(name='Ivy Cutting';name='Ivy Cutting')")
    assert [slot["place"] for slot in twice["slots"]] == [None, 0]
    assert refused(client, "/v1/trace", act=ACT, delexicalized=" ")["detail"]
    assert "at most 300" in refused(client, "/v1/trace", act=ACT, delexicalized="x " * 301)["detail"]
    unknown = post(client, "/v1/trace", act=ACT, delexicalized="<script> SLOT_NOPE {0}")
    assert unknown["words"][1:] == ["<script>", "SLOT_NOPE", "{0}"]
    assert "unknown slot" in refused(client, "/v1/trace", act="inform(nope=x)")["detail"]
    assert client.post("/v1/trace", json={"act": ACT, "model": "nope"}).status_code == 404


def test_every_example_of_the_inventory_can_be_parsed_and_generated(client: TestClient) -> None:
    for model in client.get("/v1/models").json()["models"]:
        assert set(model["slots_of_acts"]) == set(model["act_types"])
        assert {slot for slots in model["slots_of_acts"].values() for slot in slots} <= set(model["slots"])
        assert model["special_values"]["dogsallowed"] == ["dontcare", "no", "yes"]
        assert len(model["examples"]) == 3
        for example in model["examples"]:
            assert post(client, "/v1/parse", act=example, model=model["name"])["act"] == example
            assert post(client, "/v1/generate", acts=example, model=model["name"])["results"][0]["text"]


def test_inspection_requires_the_token(random_run: Path) -> None:
    app = application(Models({"random": random_run}), ServiceSettings(token="secret"))
    with TestClient(app) as client:
        for path, body in (("/v1/parse", {"act": ACT}), ("/v1/trace", {"act": ACT})):
            assert client.post(path, json=body).status_code == 401
        assert client.get("/").status_code == client.get("/docs").status_code == 200
