"""Cards and archives of strangers: nothing is written outside the data folder or through a link, nor without end."""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from test_corpora_fetching import TEST, TRAIN, Publisher, card, files_below, packed, publisher

from dactnlg.data.archives import DAMAGES, unpack
from dactnlg.data.card import load_card
from dactnlg.data.fetching import fetch
from dactnlg.errors import CorpusError

__all__ = ["card", "publisher"]
OUTSIDE = [
    "../../x.jsonl",
    "/tmp/x.jsonl",
    "a/../../x.jsonl",
    "..\\x.jsonl",
    "C:\\x.jsonl",
    "C:x",
    "//host/x",
    "..",
    "",
]


def write(card: Path, publisher: Publisher, *lines: str, path: str = "mine/train.jsonl", url: str = "") -> Path:
    url = f", url: '{url}'" if url else ""
    card.write_text("\n".join(["name: mine", "format: pairs", f"files: {{train: {{path: '{path}'{url}}}}}", *lines]))
    return card


@pytest.mark.parametrize("path", OUTSIDE)
def test_paths_of_a_card_lie_below_the_data_folder(card: Path, publisher: Publisher, path: str, tmp_path: Path) -> None:
    publisher.files["x"] = TRAIN
    before = files_below(tmp_path)
    archive = f"archives: [{{url: '{publisher.url}/all.zip', members: {{'{path}': a.jsonl}}}}]"
    into = f"archives: [{{url: '{publisher.url}/all.zip', into: '{path}'}}]"
    odd = [write(card, publisher, path=path, url=f"{publisher.url}/x").read_text()]
    odd.append(write(card, publisher, archive).read_text())
    if path:
        odd.append(write(card, publisher, into).read_text())
    for text in odd:
        card.write_text(text)
        with pytest.raises(CorpusError, match=r"line \d+: .*(leads out of its folder|names no file)"):
            fetch(card, tmp_path / "data", progress=False)
    assert files_below(tmp_path) == before
    assert publisher.requests == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://a/b", "sftp://a/b", "doi:10/1", "HTTP//x", "http://a b", "-x"]
)
def test_addresses_are_of_the_web(card: Path, publisher: Publisher, url: str, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"line 3: files.train.url"):
        load_card(write(card, publisher, url=url))


def test_nothing_is_fetched_through_a_link(card: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorpusError, match="leads out of .* through a link"):
        fetch(card, tmp_path / "data", progress=False)
    (tmp_path / "data" / "mine").unlink()
    (tmp_path / "data" / "mine").mkdir()
    (tmp_path / "kept").write_text("mine")
    (tmp_path / "data" / "mine" / "train.jsonl").symlink_to(tmp_path / "kept")
    with pytest.raises(CorpusError, match="leads out of .* through a link"):
        fetch(card, tmp_path / "data", progress=False)
    assert (tmp_path / "kept").read_text() == "mine"
    assert files_below(tmp_path / "elsewhere") == []


def test_a_card_does_not_replace_another_corpus(card: Path, publisher: Publisher, tmp_path: Path) -> None:
    theirs = tmp_path / "data" / "hotel" / "train.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("[]")
    publisher.files |= {"x": TRAIN, "all.zip": packed("zip", {"top/train.json": TRAIN, "top/b": b""})}
    one = write(card, publisher, path="hotel/train.json", url=f"{publisher.url}/x").read_text()
    other = write(card, publisher, f"archives: [{{url: '{publisher.url}/all.zip', into: hotel}}]").read_text()
    for text in (one, other):
        card.write_text(text)
        with pytest.raises(CorpusError, match="train.json is a file of 'hotel'"):
            fetch(card, tmp_path / "data", progress=False)
    assert theirs.read_text() == "[]"
    assert files_below(tmp_path / "data") == ["hotel/train.json"]


def test_a_file_larger_than_announced_is_refused(card: Path, publisher: Publisher, tmp_path: Path) -> None:
    publisher.files["x"] = b"x" * 300_000
    mine = write(card, publisher, url=f"{publisher.url}/x', size: 200000, release: ['b")
    mine.write_text(mine.read_text().replace("['b'", "['b']"))
    with pytest.raises(CorpusError, match="more than the 200,000 bytes"):
        fetch(mine, tmp_path / "data", progress=False)
    assert files_below(tmp_path / "data") == []


# --- archives


def tar(*members: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member in members:
            archive.addfile(member, io.BytesIO(b"x" * member.size))
    return buffer.getvalue()


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, target, size
    return member


def zip_member(name: str, kind: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = (kind | 0o777) << 16
        archive.writestr(info, "../../x")
    return buffer.getvalue()


LINKS = {
    "symbolic": tar(tar_member("a/link", tarfile.SYMTYPE, "/tmp")),
    "symbolic inside": tar(tar_member("a/link", tarfile.SYMTYPE, "b")),
    "hard": tar(tar_member("a/b", size=1), tar_member("a/link", tarfile.LNKTYPE, "a/b")),
    "device": tar(tar_member("a/null", tarfile.CHRTYPE)),
    "pipe": tar(tar_member("a/pipe", tarfile.FIFOTYPE)),
    "zip's link": zip_member("a/link", stat.S_IFLNK),
    "zip's pipe": zip_member("a/pipe", stat.S_IFIFO),
}
NAMES = [name for name in OUTSIDE if name] + ["a/\x1b[2J"]


@pytest.mark.parametrize("kind", LINKS)
def test_links_and_devices_in_archives_are_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(LINKS[kind])
    with pytest.raises(ValueError, match="is a link or a device"):
        unpack(tmp_path / "packed", tmp_path / "unpacked", 1000)
    assert files_below(tmp_path / "unpacked") == []


@pytest.mark.parametrize("kind", ["zip", "tar"])
@pytest.mark.parametrize("name", NAMES)
def test_members_lie_below_the_folder(kind: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "packed").write_bytes(packed(kind, {"a/b": b"x", name: b"x"}))
    with pytest.raises(ValueError, match="leads out of its folder|a control character"):
        unpack(tmp_path / "packed", tmp_path / "unpacked", 1000)
    assert files_below(tmp_path) == ["packed"]


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_bomb_is_not_unpacked(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "packed").write_bytes(packed(kind, {f"a/{n}": b"\0" * 10**6 for n in range(5)}))
    with pytest.raises(ValueError, match="more than 4,000,000 bytes"):
        unpack(tmp_path / "packed", tmp_path / "unpacked", 4_000_000)
    monkeypatch.setattr("dactnlg.data.archives.MOST_FILES", 4)
    with pytest.raises(ValueError, match="more than 4 files"):
        unpack(tmp_path / "packed", tmp_path / "unpacked", 10**9)
    assert files_below(tmp_path) == ["packed"]


def test_a_zip_with_a_password_is_refused(tmp_path: Path) -> None:
    content = bytearray(packed("zip", {"a": TRAIN}))
    for at in (6, content.index(b"PK\x01\x02") + 8):
        content[at] |= 1
    (tmp_path / "packed").write_bytes(content)
    with pytest.raises(DAMAGES):
        unpack(tmp_path / "packed", tmp_path / "unpacked", 1000)


def test_a_strange_archive_is_one_message_and_nothing_is_placed(
    card: Path, publisher: Publisher, tmp_path: Path
) -> None:
    before = files_below(tmp_path)
    for kind, content in {**LINKS, "names": packed("zip", {"ok": TEST, "../../x": TRAIN})}.items():
        publisher.files["all.zip"] = content
        mine = write(card, publisher, f"archives: [{{url: '{publisher.url}/all.zip', into: mine}}]")
        with pytest.raises(CorpusError, match="not one to unpack") as caught:
            fetch(mine, tmp_path / "data", progress=False)
        assert "\n" not in str(caught.value), kind
    assert files_below(tmp_path) == before
