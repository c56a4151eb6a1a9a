"""Files of sentences, without a model: complete after a stop anywhere, and never written by two processes."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from act_files import write_acts

from dactnlg.errors import ActError, UserError
from dactnlg.generation.files import blocks, lines
from dactnlg.generation.files.blocks import count_lines
from dactnlg.generation.files.bulk import SentenceFile
from dactnlg.generation.files.lines import ActRow, BadAct


def number_acts(chunk: list[ActRow], first: int) -> Iterator[str]:
    """Yield the number of each act as its sentence."""
    for number, act in enumerate(chunk, start=first):
        if isinstance(act, BadAct):
            raise act.error
        yield str(number)


def name_batch(chunk: list[ActRow], first: int) -> Iterator[str]:
    """Yield for each act the batch that it is generated in: its first act and its size."""
    return (f"{first}/{len(chunk)}" for _ in chunk)


def generate_numbers(source: Path, place: blocks.ActBlock) -> blocks.GeneratedBlock:
    """Return what another process would return for a block."""
    data = source.read_bytes()[place.start : place.start + place.size]
    return blocks.generate_block(data.splitlines(keepends=True), place.first, "acts.txt", number_acts)


class Stop(BaseException):
    """Stands for a kill, inside the process."""


class StoppedCalls:
    """Raises `Stop` before or after a call that changes files, once `left` such points have passed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left, self.stopped = 0, False
        for owner, name in ((SentenceFile, "_append_bytes"), (SentenceFile, "_save"), (os, "fsync"), (Path, "replace")):
            monkeypatch.setattr(owner, name, self._counted(getattr(owner, name)))

    def _counted(self, function):  # type: ignore[no-untyped-def]
        def counted(*arguments):  # type: ignore[no-untyped-def]
            self._pass()
            result = function(*arguments)
            self._pass()
            return result

        return counted

    def _pass(self) -> None:
        if self.left == 0:
            self.stopped = True
            raise Stop
        self.left -= 1


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    source = write_acts(tmp_path, 10)
    with source.open("rb") as acts, source.open("rb") as same:
        first, second = (SentenceFile(tmp_path / "out.txt", {}) for _ in range(2))
        with first.opened(acts, "acts.txt", resume=True):
            with pytest.raises(UserError, match="another process"), second.opened(same, "acts.txt", resume=True):
                pass
            list(first.write(acts, "acts.txt", number_acts, lambda: None))
    assert (tmp_path / "out.txt").read_text() == "".join(f"{n}\n" for n in range(10))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_stop_between_any_two_system_calls_loses_nothing(
    elsewhere: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stops before and after every write, sync and replacement: resuming always ends in the same file."""
    monkeypatch.setattr(blocks, "BLOCK", 7)
    monkeypatch.setattr(blocks, "CHUNK", 3)
    source = write_acts(tmp_path, 20)
    wanted = "".join(f"{n}\n" for n in range(20))
    calls = StoppedCalls(monkeypatch)
    for limit in range(200):
        folder = tmp_path / str(limit)
        folder.mkdir()
        for left in (limit, 10_000):
            calls.left = left
            with contextlib.suppress(Stop), source.open("rb") as acts:
                file = SentenceFile(folder / "out", {"a": None})
                with file.opened(acts, "acts.txt", resume=True) as lines:
                    if elsewhere:
                        places = blocks.find_blocks(source, acts.tell(), file.lines)
                        list(
                            file.write_blocks(lines, "acts.txt", (generate_numbers(source, place) for place in places))
                        )
                    else:
                        list(file.write(lines, "acts.txt", number_acts, lambda: None))
        assert (folder / "out").read_text() == wanted, limit
        assert json.loads((folder / "out.state").read_text())["lines"] == 20
        if not calls.stopped:
            break
        calls.stopped = False
    else:
        pytest.fail("never ran through")


def test_a_last_line_without_a_newline_counts(tmp_path: Path) -> None:
    for text, count in ("", 0), ("a", 1), ("a\n", 1), ("a\n\nb", 3):
        (tmp_path / "x").write_text(text)
        assert count_lines(tmp_path / "x") == count


def test_the_beginning_of_every_block_is_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    source, begun = write_acts(tmp_path, 20), []
    with source.open("rb") as acts:
        file = SentenceFile(tmp_path / "out", {})
        with file.opened(acts, "acts.txt", resume=False) as lines:
            list(file.write(lines, "acts.txt", number_acts, lambda: begun.append(file.lines)))
    assert begun == [0, 8, 16]


@pytest.mark.parametrize("piped", [False, True])
def test_an_input_that_grows_gives_the_same_file(piped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    lines = write_acts(tmp_path, 20).read_bytes().splitlines(keepends=True)
    for name, counts in ("grown", (3, 8, 13, 20)), ("whole", (20,)):
        for count in counts:
            source = io.BytesIO(b"".join(lines[:count]))
            if piped:
                monkeypatch.setattr(source, "seekable", lambda: False)
            file = SentenceFile(tmp_path / name, {})
            with file.opened(source, "acts", resume=True) as acts:
                list(file.write(acts, "acts", name_batch, lambda: None))
    assert (tmp_path / "grown").read_text() == (tmp_path / "whole").read_text()
    assert (tmp_path / "grown.state").read_text() == (tmp_path / "whole.state").read_text()


def test_a_bad_first_line_leaves_no_file(tmp_path: Path) -> None:
    (tmp_path / "acts.txt").write_bytes(b"\xff\n")
    with (tmp_path / "acts.txt").open("rb") as acts:
        file = SentenceFile(tmp_path / "out", {})
        with pytest.raises(ActError, match="line 1: not UTF-8"), file.opened(acts, "acts.txt", resume=False) as lines:
            list(file.write(lines, "acts.txt", number_acts, lambda: None))
    # Nothing is left, so the same command can be run again.
    assert not (tmp_path / "out").exists() and not (tmp_path / "out.state").exists()


def test_a_line_longer_than_any_act_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 50)
    path = tmp_path / "acts.txt"
    path.write_bytes(b"goodbye()\n" + b"x" * 10_000)
    with pytest.raises(ActError, match="50 bytes"):
        blocks.find_blocks(path, 0, 0)
    file = SentenceFile(tmp_path / "out.txt", {})
    said = lambda acts, first: ["x"] * len(acts)  # noqa: E731
    with (
        path.open("rb") as source,
        pytest.raises(ActError, match="50 bytes"),
        file.opened(source, "acts.txt", resume=False) as rest,
    ):
        list(file.write(rest, "acts.txt", said, lambda: None))
    assert not (tmp_path / "out.txt").exists()
