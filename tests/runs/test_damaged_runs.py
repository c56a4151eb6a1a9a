"""Run folders whose files are damaged, of another run, or no files at all: refused in one line, or without effect."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dactnlg.cli.main import main
from dactnlg.errors import RunError, UserError
from dactnlg.generation.generator import Generator
from dactnlg.models.weights import load_arrays, save_arrays

ACTS = ["inform(name='Ivy Cutting';difficulty=easy)", "goodbye()", "inform(name=x;dogsallowed=yes)"]
FILES = ("config.yaml", "preprocessor.json", "reader.safetensors", "weights.safetensors")
WORDS = [b"null", b"-1", b"[", b"}", b"1e999", b"NaN", b'"x"', b"9" * 5000, b"\xff", b"\0", b"[" * 5000]


@pytest.fixture(scope="module", params=["sclstm", "hierarchical", "random"])
def run(request: pytest.FixtureRequest, poor_run: Callable[[str], Path]) -> Path:
    return poor_run(request.param)


def copy(run: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in (*FILES, "manifest.json", "state.json"):
        if (run / name).exists():
            shutil.copy(run / name, folder / name)
    return folder


def said(run: Path) -> list[tuple[str, float | None]]:
    return [(found.text, found.score) for found in Generator.load(run).generate(ACTS)]


def damaged(content: bytes, rng: random.Random) -> bytes:
    changed, at = bytearray(content), rng.randrange(len(content))
    match rng.randrange(7):
        case 0:
            del changed[at:]
        case 1:
            changed.clear()
        case 2:
            changed[at] ^= 1 << rng.randrange(8)
        case 3:
            for _ in range(3):
                changed[rng.randrange(min(len(content), 800))] = rng.randrange(256)
        case 4:
            changed[at : at + 64] = bytes(len(changed[at : at + 64]))
        case 5:
            changed[at:at] = changed[at : at + 200]
        case _:
            changed[at:at] = rng.choice(WORDS)
    return bytes(changed)


def test_a_damaged_file_is_refused_or_changes_no_sentence(run: Path, tmp_path: Path) -> None:
    rng = random.Random(13)
    expected, folder, names = said(run), tmp_path / "run", [name for name in FILES if (run / name).exists()]
    outcomes: Counter[bool] = Counter()
    for case in range(60):
        copy(run, folder)
        file = folder / names[case % len(names)]
        file.write_bytes(damaged(file.read_bytes(), rng))
        try:
            found = said(folder)
        except UserError as error:
            outcomes[True] += 1
            # A configuration's mistakes have a line each.
            assert "\n" not in str(error) or file.name == "config.yaml", file
        else:
            outcomes[False] += 1
            assert found == expected, file
    assert outcomes[True] > 30


def test_files_of_another_run_are_refused_unless_they_are_equal(
    poor_run: Callable[[str], Path], tmp_path: Path
) -> None:
    for name in FILES:
        folder = copy(poor_run("sclstm"), tmp_path / name)
        shutil.copy(poor_run("hierarchical") / name, folder / name)
        if name in ("preprocessor.json", "reader.safetensors"):
            # The same corpus: the same file.
            assert said(folder) == said(poor_run("sclstm"))
        else:
            with pytest.raises(RunError, match="another run|another model"):
                Generator.load(folder)
    folder = copy(poor_run("sclstm"), tmp_path / "baseline")
    shutil.copy(poor_run("random") / "config.yaml", folder / "config.yaml")
    with pytest.raises(RunError, match=r"weights\.safetensors belongs to another run"):
        Generator.load(folder)


@pytest.mark.parametrize("backend", ["numpy", "keras"])
def test_another_vocabulary_of_the_same_size_is_refused(
    backend: str, poor_run: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = copy(poor_run("sclstm"), tmp_path / "run")
    path = folder / "preprocessor.json"
    text = path.read_text(encoding="utf-8")
    swapped = text.replace('"the"', '"THE"', 1).replace('"is"', '"the"', 1).replace('"THE"', '"is"', 1)
    assert swapped != text
    path.write_text(swapped, encoding="utf-8")
    with pytest.raises(RunError) as caught:
        Generator.load(folder, backend)
    assert f"{path} is not the file that training wrote" in str(caught.value)
    # Also while training goes on, or after it was stopped.
    (folder / "manifest.json").unlink()
    with pytest.raises(RunError, match="is not the file that training wrote"):
        Generator.load(folder, backend)


@pytest.mark.parametrize("backend", ["numpy", "keras"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.float64, "holds float64, not float32"),
        (np.int32, "holds int32, not float32"),
        (np.bool_, "holds bool, not float32"),
        (np.nan, "holds numbers that are not finite"),
        (np.inf, "holds numbers that are not finite"),
    ],
)
def test_weights_of_another_type_or_not_finite_are_refused(
    backend: str, value: object, message: str, poor_run: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = copy(poor_run("sclstm"), tmp_path / "run")
    path = folder / "weights.safetensors"
    arrays = load_arrays(path)
    bias = arrays["bias"]
    arrays["bias"] = bias.astype(value) if isinstance(value, type) else np.full_like(bias, value)
    save_arrays(path, arrays)
    with pytest.raises(RunError, match=f"weight 'bias' {message}"):
        Generator.load(folder, backend)


def test_a_flipped_bit_of_the_weights_is_noticed(poor_run: Callable[[str], Path], tmp_path: Path) -> None:
    folder = copy(poor_run("sclstm"), tmp_path / "run")
    path = folder / "weights.safetensors"
    content = bytearray(path.read_bytes())
    # The last bit of a number: hardly a sentence would show it.
    content[-4] ^= 1
    path.write_bytes(content)
    with pytest.raises(RunError, match="is not the file that training wrote"):
        Generator.load(folder)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "nothing"])
def test_pipes_folders_and_devices_in_place_of_files_are_refused(
    name: str, kind: str, poor_run: Callable[[str], Path], tmp_path: Path
) -> None:
    file = copy(poor_run("sclstm"), tmp_path / "run") / name
    file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "device":
        file.symlink_to("/dev/zero")
    with pytest.raises(RunError) as caught:
        # To open a pipe would wait for ever.
        Generator.load(file.parent)
    assert "\n" not in str(caught.value) and str(file.parent) in str(caught.value)


def test_generate_refuses_a_pipe_in_one_line(
    poor_run: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy(poor_run("sclstm"), tmp_path / "run")
    (folder / "weights.safetensors").unlink()
    os.mkfifo(folder / "weights.safetensors")
    assert main(["generate", "--model", str(folder), "goodbye()"]) == 2
    told = capsys.readouterr()
    assert told.err.startswith(f"dactnlg: {folder}/weights.safetensors is neither a file nor a folder")
    assert (told.out, told.err.count("\n")) == ("", 1)
