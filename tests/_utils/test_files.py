"""Files that are replaced at once."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from dactnlg._utils.files import check_folders, final_name, replace_file, written
from dactnlg.errors import UserError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that has something in it."""
    file = tmp_path / "model.keras"
    file.write_text("old")
    return file


def test_a_file_is_replaced_when_it_is_whole(path: Path) -> None:
    with replace_file(path) as partial:
        assert partial.parent == path.parent and partial.suffix == path.suffix
        partial.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_fails_leaves_the_old_file(path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), replace_file(path) as partial:
        partial.write_text("half")
        raise error
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_two_processes_write_the_same_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with replace_file(path) as first:
        first.write_text("first")
        # Another process, which runs.
        monkeypatch.setattr(os, "getpid", os.getppid)
        with replace_file(path) as second:
            second.write_text("second")
            assert first.read_text() == "first"
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_kill_left_is_deleted_with_the_next_write(path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    for name in (f"partial-{ended.pid}-model.keras", f"partial-{ended.pid}-other"):
        (path.parent / name).write_text("half")
    (path.parent / "partial-999999999-model.keras").mkdir()
    with replace_file(path) as partial:
        partial.write_text("new")
    assert {each.name for each in path.parent.iterdir()} == {path.name, f"partial-{ended.pid}-other"}
    assert [*map(final_name, ("partial-7-a", "partial-a", "a"))] == ["a"] * 3


def test_it_is_on_the_disk_before_it_has_the_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []

    def fsync(number: int) -> None:
        synced.append((Path(f"/proc/self/fd/{number}").resolve().name, path.read_text()))

    monkeypatch.setattr(os, "fsync", fsync)
    with replace_file(path) as partial:
        partial.write_text("new")
    assert synced == [(f"partial-{os.getpid()}-model.keras", "old"), (path.parent.name, "new")]


def test_a_full_disk_is_told_with_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError) as caught, replace_file(path) as partial:
        partial.write_text("new")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(path))
    assert path.read_text() == "old"
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_told_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "none" / "state.json"
    with pytest.raises(FileNotFoundError) as caught, replace_file(path) as partial:
        partial.write_text("{}")
    assert caught.value.filename == str(path)


def test_errors_about_other_files_are_as_they_were(path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, replace_file(path):
        (path.parent / "other").read_text()
    assert caught.value.filename == str(path.parent / "other")


def test_folders_are_checked_before_the_work(tmp_path: Path) -> None:
    check_folders(None, "-", tmp_path / "file", "file")
    with pytest.raises(UserError, match=r"cannot write .*none/file: there is no folder .*none"):
        check_folders(tmp_path / "none" / "file")
    (tmp_path / "folder").mkdir()
    for name in (tmp_path / "folder", "", "."):
        with pytest.raises(UserError, match="cannot write"):
            check_folders(name)


def test_what_is_written_has_its_name_when_it_is_whole(path: Path) -> None:
    with pytest.raises(ValueError, match="in the middle"), written(path) as file:
        file.write("half")
        raise ValueError("in the middle")
    assert path.read_text() == "old"
    with written(str(path)) as file:
        file.write("new \ud800")
    assert path.read_text() == "new \\ud800"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_link_points_to_is_replaced(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    with written(link) as file:
        file.write("new")
    assert link.is_symlink() and path.read_text() == "new"


def test_pipes_and_devices_are_written_to_as_they_are(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True)
    with written(fifo) as file:
        file.write("through")
    assert reader.communicate(timeout=60)[0] == "through"
    with written("/dev/null") as file:
        file.write("gone")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"] and Path("/dev/null").is_char_device()


def test_a_folder_is_made_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError), replace_file(tmp_path / "model") as partial:
        partial.mkdir()
        (partial / "a").touch()
        raise ValueError
    assert not list(tmp_path.iterdir())
    with replace_file(tmp_path / "model") as partial:
        partial.mkdir()
        (partial / "a").touch()
    assert [path.name for path in (tmp_path / "model").iterdir()] == ["a"]
