"""Names that strangers chose lie inside a folder, or are refused."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dactnlg._utils.paths import inside, refuse_links, relative
from dactnlg.errors import CorpusError


@pytest.mark.parametrize(
    "name", ["..", "../x", "a/../../x", "/x", "//h/x", "\\x", "a\\..\\..\\x", "C:x", "C:\\x", "a:b"]
)
def test_names_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leads out of its folder"):
        inside(tmp_path, name)


@pytest.mark.parametrize("name", ["a\0b", "a\n", "\x1b[2J", "a\u202eb"])
def test_names_with_control_characters_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"holds a control character") as caught:
        relative(name)
    assert name not in str(caught.value)


def test_names_inside_are_resolved(tmp_path: Path) -> None:
    assert inside(tmp_path, "a/b c/é.txt") == tmp_path.resolve() / "a" / "b c" / "é.txt"
    assert inside(tmp_path, ".") == tmp_path.resolve()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert inside(tmp_path, "link/x") == tmp_path.resolve() / "real" / "x"
    (tmp_path / "out").symlink_to(tmp_path.parent)
    with pytest.raises(ValueError, match="through a link"):
        inside(tmp_path, "out/x")


def test_a_folder_may_hold_files_folders_and_links_inside_it(tmp_path: Path) -> None:
    refuse_links(tmp_path / "nowhere", CorpusError)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").write_text("")
    (tmp_path / "inside").symlink_to("a")
    refuse_links(tmp_path, CorpusError)
    (tmp_path / "lost").symlink_to("nowhere")
    with pytest.raises(CorpusError, match="lost is neither"):
        refuse_links(tmp_path, CorpusError)
    (tmp_path / "lost").unlink()
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(tmp_path / "a" / "s"))
        with pytest.raises(CorpusError, match="s is neither a file nor a folder"):
            refuse_links(tmp_path, CorpusError)


def test_a_file_that_another_process_writes_anew_is_no_link(tmp_path: Path) -> None:
    file, imports = tmp_path / "manifest.json", "from pathlib import Path; from dactnlg._utils.files import write_json"
    program = f"{imports}\nwhile True: write_json(Path({str(file)!r}), {{}})"
    writing = subprocess.Popen([sys.executable, "-c", program])
    try:
        while not file.exists():
            assert writing.poll() is None
        for _ in range(20_000):
            refuse_links(tmp_path, CorpusError)
    finally:
        writing.kill()
        writing.wait()
