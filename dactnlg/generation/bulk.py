"""A file of sentences, however long, that any stop leaves whole and a later process can resume.

Sentences are written block by block. When those of a block are on the disk, the state file beside them (`FILE.state`)
is replaced by one that says up to where input and output belong together. A process that resumes truncates the output
there and continues with the next block, so that the file is the one that an unbroken run would have written.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import portalocker

from dactnlg._utils.files import replace_file
from dactnlg.errors import UserError
from dactnlg.generation import blocks
from dactnlg.generation.blocks import Generate, GeneratedBlock, encode_lines, turn_chunks


class SentenceFile:
    """A file of sentences, and beside it the state of the work.

    Args:
        path: the file.
        settings: what its sentences depend on beside the acts, under the names that users know.

    Attributes:
        lines: sentences in the file, all of them whole.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path, self.state_path = path, path.with_name(f"{path.name}.state")
        self.settings, self.lines = dict(settings), 0
        self._size = 0
        self._read, self._written = hashlib.sha256(), hashlib.sha256()
        self._file: BinaryIO

    @contextlib.contextmanager
    def opened(self, source: BinaryIO, name: str, *, resume: bool) -> Iterator[None]:
        """Hold the file open and locked, with the source at the first act that has no sentence yet.

        Args:
            source: the acts.
            name: what messages call the source.
            resume: continue a file that an earlier process began, if there is one.

        Raises:
            UserError: the file exists and is not to be resumed, another process writes it, or it was begun with other
                acts or settings.
        """
        if self.path.exists() and not resume:
            raise UserError(f"{self.path} exists already: continue it with --resume, or name another file")
        # Unbuffered: what is written is written, and a kill can only tear the last line.
        with self.path.open("r+b" if self.path.exists() else "xb", buffering=0) as self._file:
            try:
                portalocker.lock(self._file, portalocker.LOCK_EX | portalocker.LOCK_NB)
            except portalocker.LockException:
                raise UserError(f"{self.path} is being written by another process") from None
            if self.state_path.exists() and self.path.stat().st_size:
                self._resume(source, name)
            elif self.path.stat().st_size:
                raise UserError(f"{self.path} cannot be resumed: there is no {self.state_path.name} beside it")
            self._save()
            try:
                yield
            finally:
                # Also after Ctrl-C in the middle of a write: what is left is whole lines.
                self._file.truncate(self._size)

    def write(self, source: BinaryIO, name: str, generate: Generate, begin_block: Callable[[], None]) -> Iterator[int]:
        """Generate and write the rest of the acts; yield the number of sentences after each write.

        Args:
            source: the acts, as `opened` left them.
            name: what messages call the source.
            generate: generates lines.
            begin_block: called before each block.

        Raises:
            UserError: a line that is no act; the sentences before it have been written.
        """
        while block := list(islice(source, blocks.BLOCK)):
            begin_block()
            for turns in turn_chunks(block, self.lines, name):
                self._append(generate(turns, self.lines))
                yield self.lines
            self._hash_lines(block)
            self._save()

    def write_blocks(self, source: BinaryIO, name: str, generated: Iterable[GeneratedBlock]) -> Iterator[int]:
        """Write blocks that other processes generate; yield the number of sentences after each block.

        Args:
            source: the acts, as `opened` left them.
            name: what messages call the source.
            generated: the blocks from here on (`find_blocks`), in order.

        Raises:
            UserError: an act that was refused; the sentences before it have been written.
        """
        for block in generated:
            self._append_bytes(block.data, block.sentences)
            yield self.lines
            if block.error is not None:
                raise UserError(block.error)
            lines = list(islice(source, block.sentences))
            if len(lines) < block.sentences:
                raise UserError(f"{name} has become shorter while it was read")
            self._hash_lines(lines)
            self._save()

    def _append(self, texts: Iterable[str]) -> None:
        generated: list[str] = []
        try:
            for text in texts:
                generated.append(text)
        finally:
            # Where one act is refused, the sentences of those before it are kept.
            self._append_bytes(encode_lines(generated), len(generated))

    def _append_bytes(self, data: bytes, count: int) -> None:
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:])
        except OSError as error:
            # The system reports a full disk without the file's name.
            raise OSError(error.errno, error.strerror, str(self.path)) from None
        self._written.update(data)
        self._size, self.lines = self._size + len(data), self.lines + count

    def _hash_lines(self, lines: Iterable[bytes]) -> None:
        # The same act with another end of line, or with none, is the same act.
        self._read.update(b"".join(raw.rstrip(b"\r\n") + b"\n" for raw in lines))

    def _state(self) -> dict[str, Any]:
        hashes = {"input": self._read.hexdigest(), "output": self._written.hexdigest()}
        return {"lines": self.lines, "bytes": self._size, **hashes, "settings": self.settings}

    def _save(self) -> None:
        # The sentences first: a state never claims more than is on the disk.
        os.fsync(self._file.fileno())
        with replace_file(self.state_path) as partial:
            partial.write_text(json.dumps(self._state(), indent=1), encoding="utf-8")

    def _resume(self, source: BinaryIO, name: str) -> None:
        """Check that the file belongs to acts and settings, and set both files to where the next block begins."""
        try:
            known = json.loads(self.state_path.read_text(encoding="utf-8"))
            settings, self.lines, self._size = known["settings"], int(known["lines"]), int(known["bytes"])
            changed = [key for key in {**settings, **self.settings} if settings.get(key) != self.settings.get(key)]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{self.path} cannot be resumed: {self.state_path} is damaged") from None
        if changed:
            raise UserError(
                f"{self.path} was begun with another {' and another '.join(changed)}: resume it with what it was "
                "begun with, or name another file"
            )
        done = islice(source, self.lines)
        while lines := list(islice(done, blocks.BLOCK)):
            self._hash_lines(lines)
        left = self._size
        while left and (data := self._file.read(min(left, 1 << 20))):
            self._written.update(data)
            left -= len(data)
        state = self._state()
        if state["input"] != known["input"]:
            raise UserError(f"{self.path} was begun with other acts: {name} has changed, or is another file")
        if state["output"] != known["output"]:
            raise UserError(f"{self.path} cannot be resumed: another program has changed the sentences in it")
        self._file.truncate(self._size)
