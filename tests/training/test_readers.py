"""The cached reader of a corpus: learned once, and again if what decides on it changes or its file is damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dactnlg.data.corpus import Corpus, load_corpus
from dactnlg.fidelity.learning import learn_reader
from dactnlg.fidelity.reader_file import save_reader
from dactnlg.training import readers
from dactnlg.training.readers import learn_from


@pytest.fixture
def learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An empty cache, and the number of pairs of each reader that is learned."""
    found: list[int] = []
    learn = learn_reader

    def counted(train, valid, checker, **more):  # type: ignore[no-untyped-def]
        found.append(len(train))
        return learn(train[:200], valid[:50], checker, **more)

    monkeypatch.setattr(readers, "learn_reader", counted)
    monkeypatch.setattr(readers, "cache_dir", lambda: tmp_path / "cache")
    return found


def same(tmp_path: Path, *found: object) -> bool:
    files = [tmp_path / str(place) for place in range(len(found))]
    for file, reader in zip(files, found, strict=True):
        save_reader(reader, file)  # type: ignore[arg-type]
    return len({file.read_bytes() for file in files}) == 1


def test_a_reader_is_learned_once(tmp_path: Path, learned: list[int]) -> None:
    corpus = load_corpus("trails")
    style = corpus.card.style()
    first, second = learn_from(corpus, style, progress=False), learn_from(corpus, style, progress=False)
    assert len(learned) == 1
    assert same(tmp_path, first, second)
    # One sentence fewer, or another card, gives another reader.
    shorter = Corpus(corpus.card, [])
    shorter._splits = {name: corpus.split(name) for name in ("train", "valid")}
    shorter._splits["train"] = shorter._splits["train"][:-1]
    learn_from(shorter, style, progress=False)
    learn_from(load_corpus("trails"), load_corpus("e2e").card.style(), progress=False)
    assert len(learned) == 3
    assert len(list((tmp_path / "cache" / "readers").iterdir())) == 3


def test_changed_code_gives_another_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = Path(readers.dactnlg.__file__).parent
    copy = Path(shutil.copytree(package, tmp_path / "dactnlg", ignore=shutil.ignore_patterns("__pycache__", "web")))
    monkeypatch.setattr(readers.dactnlg, "__file__", str(copy / "__init__.py"))
    found = {readers._code.__wrapped__()}
    for name in ("fidelity/samples.py", "text/slots.py", "text/values/mentions.py", "text/grammar/denials.py"):
        with (copy / name).open("a") as file:
            file.write("# changed\n")
        found.add(readers._code.__wrapped__())
    assert len(found) == 5


def test_a_damaged_reader_is_learned_again(tmp_path: Path, learned: list[int]) -> None:
    corpus = load_corpus("trails")
    first = learn_from(corpus, corpus.card.style(), progress=False)
    (file,) = (tmp_path / "cache" / "readers").iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    again = learn_from(corpus, corpus.card.style(), progress=False)
    assert len(learned) == 2 and file.read_bytes() == whole
    assert same(tmp_path, first, again)


def test_without_a_cache_readers_are_learned_every_time(tmp_path: Path, learned: list[int]) -> None:
    # A file instead of the folder: the cache cannot be written, as in the home of a service.
    (tmp_path / "cache").write_text("")
    corpus = load_corpus("trails")
    for _ in range(2):
        learn_from(corpus, corpus.card.style(), progress=False)
    assert len(learned) == 2


def test_only_the_newest_readers_are_kept(tmp_path: Path, learned: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "KEPT", 1)
    corpus = load_corpus("trails")
    for name in ("trails", "e2e"):
        learn_from(corpus, load_corpus(name).card.style(), progress=False)
    assert len(list((tmp_path / "cache" / "readers").iterdir())) == 1
    learn_from(corpus, load_corpus("e2e").card.style(), progress=False)
    assert len(learned) == 2
