"""Several devices and worker processes learn what one process on one device learns."""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path

import keras
import numpy as np
import pytest

from dactnlg import models
from dactnlg.cli.main import main
from dactnlg.data.batching import Dataset
from dactnlg.data.corpus import load_corpus
from dactnlg.data.pairs import build_preprocessor
from dactnlg.errors import WorkerError
from dactnlg.generation.generator import Generator
from dactnlg.models.backend import computing
from dactnlg.models.weights import load_arrays
from dactnlg.runs.config import Config, load_config
from dactnlg.training.devices.rendezvous import rendezvous
from dactnlg.training.devices.workers import Cluster
from dactnlg.training.keras_learner import KerasLearner
from dactnlg.training.train import train

# Seven is odd, and the last batch is not full.
SETTINGS = ["training.backend=keras", "training.epochs=2", "training.batch_size=7", "training.learning_rate=0.02"]
SIZES = ["model.hidden_size=8", "model.embedding_size=6", "model.dropout=0.0"]
DEVICES = """
import sys
import tensorflow as tf
two = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], two)
from dactnlg.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
BACKENDS = ["tensorflow", pytest.param("jax", marks=pytest.mark.needs("jax", "dactnlg[jax]"))]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose sentences are all padded to one length, since JAX compiles for each length, slowly."""
    folder = tmp_path_factory.mktemp("corpus")
    templates = ["{} is an {} trail .", "an {1} one : {0} .", "take {} , {} one .", "{} , the {} one ."]
    rows = []
    for name, level, template in product(["Ivy", "Oak", "Elm"], ["easy", "hard", "mild"], templates):
        text = template.format(name, level)
        rows.append({"act": f"inform(name='{name}';difficulty={level})", "text": text})
        rows.append({"act": f"?confirm(name='{name}';difficulty={level};dogsallowed=yes)", "text": f"so {text}"})
    for split, part in (("train", rows), ("valid", rows[::5])):
        (folder / f"{split}.jsonl").write_text("\n".join(json.dumps(row) for row in part))
    return folder


Started = subprocess.Popen[str]


def words(corpus: Path, output: Path) -> list[str]:
    """Return the command that trains on the corpus."""
    settings(corpus)
    sets = [word for setting in (*SETTINGS, *SIZES) for word in ("--set", setting)]
    return ["train", str(corpus / "config.yaml"), "--output", str(output), *sets]


def start(repository: Path, corpus: Path, backend: str, output: Path, *more: str, script: str = "") -> Started:
    program = ["-c", script] if script else ["-m", "dactnlg"]
    command = [sys.executable, *program, *words(corpus, output), *more]
    environment = {**os.environ, "KERAS_BACKEND": backend, "PYTHONPATH": str(repository)}
    flags = ["--xla_backend_optimization_level=0", "--xla_llvm_disable_expensive_passes=true"]  # to compile sooner
    flags += ["--xla_force_host_platform_device_count=2"] if "--devices" in more else []
    environment |= {"XLA_FLAGS": " ".join(flags)}
    return subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def settings(corpus: Path, *more: str) -> Config:
    (corpus / "config.yaml").write_text(f"corpus: {{name: {corpus}}}\nmodel: {{name: sclstm}}\n")
    return load_config(corpus / "config.yaml", [*SETTINGS, *SIZES, *more], models)


def finish(process: Started) -> tuple[str, str]:
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out, errors


def addresses() -> str:
    """Two addresses of this machine that nobody uses."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    found = ",".join(f"127.0.0.1:{taken.getsockname()[1]}" for taken in sockets)
    for taken in sockets:
        taken.close()
    return found


def curve(run: Path) -> list[list[float]]:
    with (run / "history.csv").open() as file:
        return [[float(row[name]) for name in ("loss", "valid_loss", "learning_rate")] for row in csv.DictReader(file)]


def weights(run: Path) -> dict[str, np.ndarray]:
    return load_arrays(run / "weights.safetensors")


def assert_same(run: Path, single: Path) -> None:
    np.testing.assert_allclose(curve(run), curve(single), atol=1e-5)
    ours, theirs = weights(run), weights(single)
    assert list(ours) == list(theirs)
    for name, array in ours.items():
        np.testing.assert_allclose(array, theirs[name], atol=1e-4, err_msg=name)


@pytest.fixture(scope="module")
def single(repository: Path, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Train in one process with a backend, once, and return the run."""

    @cache
    def run(backend: str) -> Path:
        output = tmp_path_factory.mktemp("single") / backend
        if backend == keras.backend.backend():
            return train(settings(corpus), output, progress=False).path
        finish(start(repository, corpus, backend, output))
        return output

    return run


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_workers_learn_what_one_process_learns(
    backend: str, repository: Path, corpus: Path, single: Callable[[str], Path], tmp_path: Path
) -> None:
    where = addresses()
    runs = [tmp_path / "rank-0", tmp_path / "rank-1"]
    processes = [
        start(repository, corpus, backend, run, "--workers", where, "--worker", str(number))
        for number, run in enumerate(runs)
    ]
    one = single(backend)
    printed = [finish(process)[0] for process in processes]
    assert printed == [f"{runs[0]}\n", ""], "only rank 0 prints its run folder"
    assert not runs[1].exists(), "only rank 0 writes one"
    assert len(curve(one)) == 2 and curve(one)[1][0] < curve(one)[0][0]
    assert_same(runs[0], one)
    assert json.loads((runs[0] / "manifest.json").read_text())["training"]["workers"] == 2
    assert Generator.load(runs[0]).generate(["inform(name=Ash;difficulty=hard)"])[0].text


@pytest.mark.parametrize("backend", BACKENDS)
def test_two_devices_learn_what_one_learns(
    backend: str, repository: Path, corpus: Path, single: Callable[[str], Path], tmp_path: Path
) -> None:
    script = DEVICES if backend == "tensorflow" else ""
    finish(start(repository, corpus, backend, tmp_path / "run", "--devices", "2", script=script))
    assert_same(tmp_path / "run", single(backend))


FREE_BITS = (
    DEVICES.partition("from dactnlg")[0]
    + """
import keras
import numpy as np
from dactnlg.models import build_model
from dactnlg.text.encoding import Sizes
from dactnlg.training.devices.device_groups import TensorFlowGroup
from dactnlg.training.devices.process_group import ProcessGroup
from dactnlg.training.devices.workers import Cluster

tokens = np.array([[1, 4, 5, 6, 2], [1, 7, 8, 9, 2], [1, 4, 8, 10, 2], [1, 5, 6, 10, 2]], np.int32)
batch = {"tokens": tokens[:, :-1], "targets": tokens[:, 1:], "lengths": np.full(4, 4, np.int32)}
batch |= {"act": np.eye(4, 5, dtype=np.float32), "weights": np.ones(4, np.float32)}
for group in (ProcessGroup(Cluster()), TensorFlowGroup(Cluster(2))):
    keras.utils.set_random_seed(1)
    with group.scope():
        model = build_model("cvae", Sizes(11, 5, 9), hidden_size=8, embedding_size=6, latent_size=8, free_bits=0.1)
        model.batches.assign(1000.0)
        # Random draws have no effect.
        model.latent_projection.assign(0.0 * model.latent_projection)
        model.posterior_kernel.assign(2.0 * model.posterior_kernel)
        model.compile(keras.optimizers.Adam(0.01))
        model.optimizer.build(model.trainable_variables)
        print(group.learn(model, batch))
"""
)


def test_free_bits_are_those_of_the_whole_batch(repository: Path) -> None:
    there = {**os.environ, "KERAS_BACKEND": "tensorflow", "PYTHONPATH": str(repository)}
    done = subprocess.run([sys.executable, "-c", FREE_BITS], capture_output=True, text=True, timeout=300, env=there)
    assert done.returncode == 0, done.stderr
    one, two = map(float, done.stdout.split())
    assert two == pytest.approx(one, abs=1e-6)


def outcome(cluster: Cluster, seconds: float) -> str:
    try:
        rendezvous(cluster, seconds)
    except WorkerError as error:
        return str(error)
    return "all there"


def test_workers_meet_in_any_order() -> None:
    where = (*addresses().split(","), "localhost:1")
    members = [Cluster(addresses=where, rank=number) for number in (2, 0, 1)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(outcome, members, [20.0] * 3)) == ["all there"] * 3


def test_strangers_without_a_rank_are_no_workers() -> None:
    where = tuple(addresses().split(","))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(outcome, Cluster(addresses=where, rank=0), 2.0)
        for greeting in (b"", b"GET / HTTP/1.1", b"2"):
            with socket.socket() as stranger:
                while stranger.connect_ex(("127.0.0.1", int(where[0].split(":")[1]))):
                    time.sleep(0.01)
                stranger.sendall(greeting)
        assert waiting.result() == "of 2 workers only 1 came within 2 s"


def test_workers_that_stay_away_are_reported() -> None:
    where = tuple(addresses().split(","))
    assert outcome(Cluster(addresses=where, rank=0), 0.2) == "of 2 workers only 1 came within 0.2 s"
    assert "worker 0 at 127.0.0.1:" in outcome(Cluster(addresses=where, rank=1), 0.2)
    with socket.create_server(("127.0.0.1", int(where[0].split(":")[1]))):
        assert "cannot listen on port" in outcome(Cluster(addresses=where, rank=0), 0.2)


@pytest.mark.parametrize(
    ("devices", "workers", "worker", "message"),
    [
        (0, None, None, "at least one device; got 0"),
        (1, "a:1,b:2", None, "--workers needs --worker"),
        (1, None, 1, "--worker needs --workers"),
        (1, "a:1,b:2", 2, "no worker 2 among 2 address.*valid: 0 to 1"),
        (1, "a:1,b", 0, "'b' is not HOST:PORT"),
        (1, "a:1,b:70000", 0, "'b:70000' is not HOST:PORT"),
        (1, "a:1,a:1", 0, "named twice: a:1"),
    ],
)
def test_impossible_clusters_are_refused(devices: int, workers: str | None, worker: int | None, message: str) -> None:
    with pytest.raises(WorkerError, match=message):
        Cluster.read(devices, workers, worker)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--devices", "2", "--set", "training.backend=numpy"], "with training.backend=keras"),
        (["--devices", "3"], "--devices 3: Keras' backend tensorflow sees 1 device(s)"),
    ],
)
def test_devices_that_are_not_there_are_refused_before_anything_is_written(
    more: list[str], message: str, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words(corpus, tmp_path / "run"), *more]) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "run").exists()


def test_a_backend_that_cannot_train_is_refused_before_anything_is_written(
    repository: Path, corpus: Path, tmp_path: Path
) -> None:
    given = words(corpus, tmp_path / "run")
    program = (
        f"from dactnlg.cli.main import main; print([main([*{given}, *more]) for more in ([], ['--devices', '2'])])"
    )
    there = {**os.environ, "KERAS_BACKEND": "numpy", "PYTHONPATH": str(repository)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=there)
    assert done.stdout == "[2, 2]\n", done.stderr
    one, two = (line for line in done.stderr.splitlines() if line.startswith("dactnlg: "))
    assert "Keras' backend numpy cannot train; set KERAS_BACKEND" in one
    assert "set KERAS_BACKEND=jax or KERAS_BACKEND=tensorflow" in two
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("precision", ["mixed_bfloat16", "mixed_float16"])
def test_half_precision_learns_nearly_the_same_weights(precision: str, corpus: Path, tmp_path: Path) -> None:
    single = train(settings(corpus, "training.backend=numpy"), tmp_path / "single", progress=False).path
    config = settings(corpus, f"training.precision={precision}")
    run = train(config, tmp_path / "half", progress=False).path
    np.testing.assert_allclose(curve(run), curve(single), rtol=0.01)
    assert np.abs(np.array(curve(run)) - curve(single)).max() > 2e-6
    assert {str(weight.dtype) for weight in weights(run).values()} == {"float32"}
    # A resumed run restores what was saved; with float16, also the scale of the loss.
    state = load_arrays(next(run.glob("checkpoint-*.safetensors")))
    preprocessor, pairs = build_preprocessor(load_corpus(str(corpus)))
    with computing(precision):
        model = models.build_model("sclstm", preprocessor.sizes, **config.model.keywords())
    data = Dataset.encode(preprocessor, pairs, model.inputs)
    learner = KerasLearner(model, 0.1, 1.0, sample=data, batch_size=7)
    learner.restore(state)
    restored = learner.state()
    assert set(state) == set(restored) and len(learner.optimizer.variables) > 2
    assert all(np.array_equal(array, restored[name]) for name, array in state.items())
    paths = [variable.path for variable in learner.optimizer.variables]
    assert any("scale" in path for path in paths) == (precision == "mixed_float16")
