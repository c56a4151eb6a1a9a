"""A file of sentences of any length that stays intact when generation is interrupted, and can be resumed.

Sentences are written block by block. Once those of a block are on disk, the state file next to the output
(`FILE.state`) is replaced by one that records up to where input and output correspond. To resume, the output is
truncated there and continued with the next block, so that the file is the same as from an uninterrupted run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from dactnlg._utils.files import naming, write_json
from dactnlg._utils.locks import hold
from dactnlg.errors import UserError
from dactnlg.generation.files import blocks
from dactnlg.generation.files.blocks import Generate, GeneratedBlock, act_rows, encode_lines
from dactnlg.generation.files.lines import bounded_lines

_BEGIN = b'{\n "lines": '
"""The first bytes of a state file."""


class SentenceFile:
    """A file of sentences, with its state file.

    Args:
        path: the file.
        settings: what its sentences depend on besides the acts, under the names that users know.

    Attributes:
        lines: number of complete sentences in the file.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path, self.state_path = path, path.with_name(f"{path.name}.state")
        self.settings, self.lines = dict(settings), 0
        self._size = 0
        self._read, self._written = hashlib.sha256(), hashlib.sha256()
        self._file: BinaryIO

    @contextlib.contextmanager
    def opened(self, source: BinaryIO, name: str, *, resume: bool) -> Iterator[Iterator[bytes]]:
        """Hold the file open and locked, and yield the lines of the source from the first act without a sentence.

        A seekable source is positioned at that line.

        Args:
            source: the acts.
            name: the source's name in messages.
            resume: continue the file of an earlier process, if it exists.

        Raises:
            UserError: the file exists and is not to be resumed, its state file is some other file, another process is
                writing it, or it was begun with other acts or settings; while reading lines: one is longer than any
                act.
        """
        if self.path.exists() and not self.path.is_file():
            raise UserError(f"{self.path} is no file: leave out --output to write to a pipe or a device, with >")
        if self.path.exists() and not resume:
            raise UserError(f"{self.path} exists already: continue it with --resume, or name another file")
        new = not self.path.exists()
        if new and self.state_path.exists() and not _is_state(self.state_path):
            # Do not overwrite it: it may even hold the acts.
            raise UserError(f"{self.state_path} is no state of generate: name another file than {self.path}")
        # Unbuffered, so that killing the process can only truncate the last line.
        with self.path.open("xb" if new else "r+b", buffering=0) as self._file:
            hold(self._file, UserError(f"{self.path} is being written by another process"))
            try:
                lines = self._begin(source, name)
                try:
                    yield lines
                finally:
                    # Leaves complete lines, even after Ctrl-C in the middle of a write.
                    with naming(self.path):
                        self._file.truncate(self._size)
            except (OSError, UserError):
                if new and not self._size:
                    # Nothing was written: leave no empty files behind.
                    for path in (self.path, self.state_path):
                        path.unlink(missing_ok=True)
                raise

    def _begin(self, source: BinaryIO, name: str) -> Iterator[bytes]:
        """Start a new file or resume an existing one, and return the lines of the remaining acts."""
        if not self.path.stat().st_size:
            self._save()
            return bounded_lines(source)
        if not self.state_path.exists():
            raise UserError(f"{self.path} cannot be resumed: there is no {self.state_path.name} beside it")
        return self._resume(source, name)

    def write(
        self, lines: Iterator[bytes], name: str, generate: Generate, begin_block: Callable[[], None]
    ) -> Iterator[int]:
        """Generate and write the sentences of the remaining acts; yield the number of sentences after each write.

        Args:
            lines: the acts, from `opened`.
            name: the source's name in messages.
            generate: generates output lines.
            begin_block: called before each block.

        Raises:
            UserError: an act was rejected; the sentences before it have been written.
        """
        while block := list(islice(lines, blocks.BLOCK)):
            begin_block()
            for acts in act_rows(block, self.lines, name):
                self._append(generate(acts, self.lines))
                yield self.lines
            self._hash_lines(block)
            self._save()

    def write_blocks(self, lines: Iterator[bytes], name: str, generated: Iterable[GeneratedBlock]) -> Iterator[int]:
        """Write blocks generated by other processes; yield the number of sentences after each block.

        Args:
            lines: the acts, from `opened`.
            name: the source's name in messages.
            generated: the remaining blocks (`find_blocks`), in order.

        Raises:
            UserError: an act was rejected (the sentences before it have been written), or the source became shorter.
        """
        for block in generated:
            self._append_bytes(block.data, block.sentences)
            yield self.lines
            if block.error is not None:
                raise UserError(block.error)
            acts = list(islice(lines, block.sentences))
            if len(acts) < block.sentences:
                raise UserError(f"{name} has become shorter while it was read")
            self._hash_lines(acts)
            self._save()

    def _append(self, texts: Iterable[str]) -> None:
        generated: list[str] = []
        try:
            for text in texts:
                generated.append(text)
        finally:
            # If an act is rejected, the sentences of the acts before it are kept.
            self._append_bytes(encode_lines(generated), len(generated))

    def _append_bytes(self, data: bytes, count: int) -> None:
        written = 0
        with naming(self.path):
            while written < len(data):
                written += self._file.write(data[written:])
        self._written.update(data)
        self._size, self.lines = self._size + len(data), self.lines + count

    def _hash_lines(self, lines: Iterable[bytes]) -> None:
        # Line ends are normalised, as they do not change an act.
        self._read.update(b"".join(raw.rstrip(b"\r\n") + b"\n" for raw in lines))

    def _state(self) -> dict[str, Any]:
        hashes = {"input": self._read.hexdigest(), "output": self._written.hexdigest()}
        return {"lines": self.lines, "bytes": self._size, **hashes, "settings": self.settings}

    def _save(self) -> None:
        # The sentences first, so that the state never claims more than is on disk.
        with naming(self.path):
            os.fsync(self._file.fileno())
        write_json(self.state_path, self._state())

    def _resume(self, source: BinaryIO, name: str) -> Iterator[bytes]:
        """Check that the file belongs to these acts and settings, and position both files at the next block.

        Returns:
            The lines of the source from there on.

        Raises:
            UserError: the state file is damaged, or acts, settings or sentences have changed.
        """
        try:
            known = json.loads(self.state_path.read_text(encoding="utf-8"))
            settings, lines, size = known["settings"], int(known["lines"]), int(known["bytes"])
            changed = [key for key in {**settings, **self.settings} if settings.get(key) != self.settings.get(key)]
            hashes = (known["input"], known["output"])
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            raise UserError(f"{self.path} cannot be resumed: {self.state_path} is damaged") from None
        if changed:
            raise UserError(
                f"{self.path} was begun with another {' and another '.join(changed)}: resume it with what it was "
                "begun with, or name another file"
            )
        # A last block that is not full is generated again if the input has grown: keep its lines, and the hash of the
        # acts before it.
        read, last = self._read.copy(), list[bytes]()
        every = bounded_lines(source)
        done = islice(every, max(lines, 0))
        while acts := list(islice(done, blocks.BLOCK)):
            read, last = self._read.copy(), acts
            self._hash_lines(acts)
        self._hash_sentences(max(size, 0))
        if self._read.hexdigest() != hashes[0]:
            raise UserError(f"{self.path} was begun with other acts: {name} has changed, or is another file")
        if self._written.hexdigest() != hashes[1]:
            raise UserError(f"{self.path} cannot be resumed: another program has changed the sentences in it")
        self.lines, self._size = lines, size
        more = next(every, None)
        if more is None or len(last) == blocks.BLOCK:
            last = []
        if last:
            self._go_back(len(last), read)
        back = [*last, *([] if more is None else [more])]
        if source.seekable():
            source.seek(-sum(map(len, back)), os.SEEK_CUR)
            back = []
        self._save()
        self._file.truncate(self._size)
        self._file.seek(self._size)
        return chain(back, bounded_lines(source))

    def _hash_sentences(self, size: int) -> None:
        """Update the hash of the output with the first `size` bytes of the file."""
        self._file.seek(0)
        while size and (data := self._file.read(min(size, 1 << 20))):
            self._written.update(data)
            size -= len(data)

    def _go_back(self, count: int, read: Any) -> None:
        """Drop the last block, which was not full: unless a block is generated as a whole, the last digits differ.

        Args:
            count: its number of lines.
            read: the hash of the acts before it.
        """
        with self.path.open("rb") as file:
            size = sum(map(len, islice(file, self.lines - count)))
        self._read, self._written, self._size, self.lines = read, hashlib.sha256(), size, self.lines - count
        self._hash_sentences(size)


def _is_state(path: Path) -> bool:
    """Return whether a file begins as state files do; a pipe is not read."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_BEGIN)) == _BEGIN
