"""A file of acts said by several processes, through Ray Data.

Each block of lines is read and said as a whole by one of them, as a single process would; what they say comes back in
the order of the file. So the output is the same, byte for byte, whoever says it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dactnlg._utils import cluster
from dactnlg.generation.bulk import SaidBlock, Stretch, say_block
from dactnlg.generation.speaking import Speaker


def said_by_many(speaker: Speaker, path: Path, name: str, stretches: list[Stretch], jobs: int) -> Iterator[SaidBlock]:
    """Yield the blocks of a file in order, each said by one of several processes.

    Args:
        speaker: how they are said.
        path: the file; on a cluster every machine must see it and the run under the same name.
        name: what messages call it.
        stretches: where the blocks are.
        jobs: how many processes.

    Raises:
        UserError: Ray is not installed, or cannot be reached.
    """
    if not stretches:
        return
    with cluster.started(jobs) as ray:
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        rows = [stretch._asdict() for stretch in stretches]
        blocks = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
            _Voice,
            fn_constructor_args=(speaker, path.absolute(), name),
            batch_size=1,
            compute=ray.data.ActorPoolStrategy(size=jobs),
            num_cpus=1,
            num_gpus=cluster.gpu_share(ray, jobs) if speaker.settings()["backend"] == "keras" else 0,
        )
        for row in blocks.iter_rows():
            yield SaidBlock(row["data"], int(row["sentences"]), row["error"] or None)


class _Voice:
    """One of the processes."""

    def __init__(self, speaker: Speaker, path: Path, name: str) -> None:
        self._speaker, self._path, self._name = speaker, path, name

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        stretch = Stretch(*(int(batch[field][0]) for field in Stretch._fields))
        with self._path.open("rb") as file:
            file.seek(stretch.start)
            lines = list(io.BytesIO(file.read(stretch.size)))
        self._speaker.forget()
        said = say_block(lines, stretch.first, self._name, self._speaker.say)
        return {"data": [said.data], "sentences": [said.sentences], "error": [said.error or ""]}
