"""Fetching from a local server: whole, tampered or broken-off files and archives; half a file is never left."""

from __future__ import annotations

import io
import socketserver
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dactnlg._utils import resources
from dactnlg.cli.main import main
from dactnlg.data.corpus import load_card, load_corpus
from dactnlg.data.fetching import fetch
from dactnlg.errors import CorpusError

TRAIN = b'{"act": "inform(food=thai)", "text": "Thai food."}\n'
TEST = b'{"act": "goodbye()", "text": "Bye."}\n'
RAW = Path(__file__).parents[1] / "fixtures" / "dstc2_raw"


class Publisher:
    """A web server with files in memory; it counts requests and can break off half way."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.break_off = False
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.requests.append(self.path)
                content = publisher.files.get(self.path.lstrip("/"))
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content[: len(content) // 2] if publisher.break_off else content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        # It looks often whether it is to stop, so that tests do not wait for that.
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    publisher = Publisher()
    yield publisher
    publisher.server.shutdown()
    publisher.server.server_close()


@pytest.fixture
def card(tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("DACTNLG_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    publisher.files = {"mine/train.jsonl": TRAIN, "mine/test.jsonl": TEST}
    lines = ["name: mine", "format: pairs", "files:"]
    for split, content in (("train", TRAIN), ("test", TEST)):
        digest = sha256(content).hexdigest()
        path = f"mine/{split}.jsonl"
        lines.append(f"  {split}: {{path: {path}, url: '{publisher.url}/{path}', sha256: {digest}}}")
    (tmp_path / "cards").mkdir()
    path = tmp_path / "cards" / "mine.yaml"
    path.write_text("\n".join(lines))
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_fetch_into_a_folder_and_read(card: Path, tmp_path: Path, publisher: Publisher) -> None:
    paths = fetch(card, tmp_path / "data", progress=False)
    assert [path.read_bytes() for path in paths] == [TRAIN, TEST]
    assert files_below(tmp_path / "data") == ["mine/test.jsonl", "mine/train.jsonl"]
    assert load_corpus(card, tmp_path / "data").split("test")[0].references == ("Bye.",)
    fetch(card, tmp_path / "data", progress=False)
    assert len(publisher.requests) == 2, "what is there and whole is not fetched again"


def test_fetch_goes_to_the_cache_by_default_and_draws_a_bar(
    card: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    paths = fetch(card)
    assert all(path.is_relative_to(tmp_path / "cache") for path in paths)
    assert "100%" in capfd.readouterr().err
    assert len(load_corpus(card).split("train")) == 1


def test_a_damaged_file_is_replaced(card: Path, tmp_path: Path) -> None:
    fetch(card, tmp_path / "data", progress=False)
    (tmp_path / "data" / "mine" / "train.jsonl").write_bytes(TRAIN[:9])
    assert fetch(card, tmp_path / "data", progress=False)[0].read_bytes() == TRAIN


@pytest.mark.parametrize("damage", ["tampered", "broken off", "gone"])
def test_a_bad_download_leaves_nothing(card: Path, tmp_path: Path, publisher: Publisher, damage: str) -> None:
    if damage == "tampered":
        publisher.files["mine/test.jsonl"] = TEST.replace(b"Bye", b"Boo")
    elif damage == "gone":
        del publisher.files["mine/test.jsonl"]
    publisher.break_off = damage == "broken off"
    message = {"tampered": "not the file it should be", "gone": "404"}.get(damage, "mine/train.jsonl")
    with pytest.raises(CorpusError, match=message):
        fetch(card, tmp_path / "data", progress=False)
    whole = [] if damage == "broken off" else ["mine/train.jsonl"]
    assert files_below(tmp_path / "data") == whole


def test_a_server_that_does_not_answer_is_one_error(card: Path, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot fetch http://127.0.0.1:9/"):
        fetch(card, tmp_path / "data", base_url="http://127.0.0.1:9", progress=False)


def test_a_folder_that_cannot_be_written_is_one_error(card: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, not a folder")
    with pytest.raises(CorpusError, match="cannot write"):
        fetch(card, tmp_path / "data", progress=False)


def test_a_known_corpus_is_fetched_from_a_mirror(
    card: Path, tmp_path: Path, publisher: Publisher, data_dir: Path
) -> None:
    for split in ("train", "valid", "test"):
        publisher.files[f"hotel/{split}.json"] = (data_dir / "hotel" / f"{split}.json").read_bytes()
    fetch("hotel", tmp_path / "data", base_url=publisher.url + "/", progress=False)
    assert len(load_corpus("hotel", tmp_path / "data").split("valid")) == 1075


def test_the_embedded_corpus_needs_no_fetching(tmp_path: Path) -> None:
    assert all(path.is_file() for path in fetch("trails", tmp_path, progress=False))
    assert not list(tmp_path.iterdir())


def test_a_corpus_without_an_address_cannot_be_fetched(card: Path, tmp_path: Path) -> None:
    card.write_text("name: mine\nformat: pairs\nfiles: {train: {path: mine/x.jsonl}}\nsource: https://example.org\n")
    with pytest.raises(CorpusError, match="no address to fetch it from; see https://example.org"):
        fetch(card, tmp_path / "data", progress=False)


# --- archives


def packed(kind: str, contents: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            for name, content in contents.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def archive_card(card: Path, publisher: Publisher, digest: str | None = None) -> Path:
    card.write_text(
        f"name: mine\nformat: pairs\nfiles: {{train: {{path: mine/train.jsonl, "
        f"sha256: {sha256(TRAIN).hexdigest()}}}}}\n"
        f"archives:\n  - url: {publisher.url}/v1/all.zip\n    members: {{mine/train.jsonl: corpus/train.jsonl}}\n"
        + (f"    sha256: {digest}\n" if digest else "")
    )
    return card


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_members_of_an_archive_are_fetched_once(card: Path, tmp_path: Path, publisher: Publisher, kind: str) -> None:
    content = packed(kind, {"corpus/train.jsonl": TRAIN, "corpus/README": b"x"})
    publisher.files["v1/all.zip"] = content
    mine = archive_card(card, publisher, sha256(content).hexdigest())
    assert fetch(mine, tmp_path / "data", progress=False)[0].read_bytes() == TRAIN
    fetch(mine, tmp_path / "data", progress=False)
    assert publisher.requests == ["/v1/all.zip"]
    assert files_below(tmp_path / "data") == ["mine/train.jsonl"]


@pytest.mark.parametrize("top", ["", "v1/"])
def test_a_member_is_found_by_its_whole_path(card: Path, tmp_path: Path, publisher: Publisher, top: str) -> None:
    contents = {"a/train.jsonl": TEST, "old/corpus/train.jsonl": TEST, "corpus/train.jsonl": TRAIN}
    publisher.files["v1/all.zip"] = packed("zip", {top + name: content for name, content in contents.items()})
    assert fetch(archive_card(card, publisher), tmp_path / "data", progress=False)[0].read_bytes() == TRAIN


def test_a_file_of_forms_in_an_archive_is_checked(card: Path, tmp_path: Path, publisher: Publisher) -> None:
    publisher.files["v1/all.zip"] = packed("zip", {"corpus/train.jsonl": TRAIN, "forms.json": b"{'tampered': 1}"})
    mine = archive_card(card, publisher)
    forms = f"forms: {{path: mine/forms.json, sha256: {sha256(b'{}').hexdigest()}}}\n"
    text = mine.read_text().replace("train.jsonl}\n", "train.jsonl, mine/forms.json: forms.json}\n")
    mine.write_text(text + forms)
    with pytest.raises(CorpusError, match="forms.json in .* is not the file it should be"):
        fetch(mine, tmp_path / "data", progress=False)
    assert files_below(tmp_path / "data") == []


@pytest.mark.parametrize("derived", [False, True])
def test_a_file_of_forms_belongs_to_its_corpus(tmp_path: Path, publisher: Publisher, derived: bool) -> None:
    shipped = (resources.datasets_dir() / "cs_restaurants.yaml").read_text(encoding="utf-8")
    text = f"name: mine\nformat: pairs\nfiles: {{train: {{path: m/x.jsonl, url: '{publisher.url}/x'}}}}\n"
    forms = load_card("cs_restaurants").forms
    assert forms is not None
    text += f"forms: {{path: {forms.path}, url: '{publisher.url}/forms'}}\n"
    card = tmp_path / "mine.yaml"
    card.write_text(shipped.replace("street _", "way _") if derived else text, encoding="utf-8")
    publisher.files = {"x": TRAIN, "forms": b"{}"}
    message = "cannot fetch" if derived else "surface_forms.json is a file of 'cs_restaurants'"
    with pytest.raises(CorpusError, match=message):
        fetch(card, tmp_path / "data", publisher.url if derived else None, progress=False)


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ({"corpus/other.jsonl": TRAIN}, "holds no corpus/train.jsonl"),
        ({"corpus/train.jsonl": TEST}, "not the file it should be"),
        (None, "not a whole archive"),
    ],
)
def test_a_bad_archive_leaves_nothing(
    card: Path, tmp_path: Path, publisher: Publisher, contents: dict[str, bytes] | None, message: str
) -> None:
    publisher.files["v1/all.zip"] = packed("zip", contents) if contents else packed("tar", {"a": TRAIN * 99})[:-60]
    with pytest.raises(CorpusError, match=message):
        fetch(archive_card(card, publisher), tmp_path / "data", progress=False)
    assert files_below(tmp_path / "data") == []


def test_an_archive_cannot_write_outside(card: Path, tmp_path: Path, publisher: Publisher) -> None:
    publisher.files["v1/all.zip"] = packed("tar", {"../../../escaped.jsonl": TRAIN})
    with pytest.raises(CorpusError, match="not a whole archive"):
        fetch(archive_card(card, publisher), tmp_path / "data", progress=False)
    assert not list(tmp_path.rglob("escaped*"))


def test_the_dstc2_release_is_fetched_and_read(card: Path, tmp_path: Path, publisher: Publisher) -> None:
    """Two tarballs that both hold `data/` and `scripts/config/`, as the publishers pack them."""
    contents = {str(path.relative_to(RAW)): path.read_bytes() for path in RAW.rglob("*") if path.is_file()}
    test = {name: text for name, text in contents.items() if "test" in name or "S1A0" in name}
    publisher.files["dstc2_test.tar.gz"] = packed("tar", test)
    publisher.files["dstc2_traindev.tar.gz"] = packed("tar", {n: t for n, t in contents.items() if n not in test})
    paths = fetch("dstc2", tmp_path / "data", base_url=publisher.url, progress=False)
    assert [path.name for path in paths] == ["dstc2_train.flist", "dstc2_dev.flist", "dstc2_test.flist"]
    corpus = load_corpus("dstc2", tmp_path / "data")
    assert [len(corpus.split(split)) for split in corpus.splits] == [3, 2, 2]
    fetch("dstc2", tmp_path / "data", base_url=publisher.url, progress=False)
    assert len(publisher.requests) == 2


def test_pooch_waits_until_something_is_fetched() -> None:
    code = "import sys, dactnlg.data.fetching; assert not {'pooch', 'requests', 'tqdm'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


class _Refusing(BaseHTTPRequestHandler):
    """A proxy that lets nothing through."""

    def do_CONNECT(self) -> None:
        self.send_error(403, "Forbidden")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_proxy_that_refuses_is_one_plain_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        for name in ("https_proxy", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{server.server_port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        assert main(["corpora", "fetch", "tv", "--data-dir", str(tmp_path)]) == 2
        server.shutdown()
    told = capfd.readouterr().err
    assert told.startswith("dactnlg: cannot fetch https://") and told.count("\n") == 1
    assert told.endswith("train.json: the proxy does not let it through (403 Forbidden)\n")
