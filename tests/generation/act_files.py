"""Files of acts for the tests of commands that read them."""

from __future__ import annotations

from pathlib import Path

from dactnlg.data.corpus import load_corpus


def write_acts(folder: Path, count: int) -> Path:
    """Write `count` acts of the embedded corpus's test split, repeated as needed, to `acts.txt` in a folder."""
    turns = [str(example.turn) for example in load_corpus("trails").split("test")]
    path = folder / "acts.txt"
    path.write_text("".join(f"{turns[n % len(turns)]}\n" for n in range(count)), encoding="utf-8")
    return path
