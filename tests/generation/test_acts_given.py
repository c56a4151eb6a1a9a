"""The forms of acts that a generator accepts, errors that name the act, and pickled generators."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from dactnlg import DialogueAct, Generator, Slot, Turn, parse
from dactnlg.errors import ActError, ActSyntaxError, RunError, UnknownNameError
from dactnlg.generation.files.lines import BadAct, PlacedTurn, parsed, read_act
from dactnlg.generation.options import GenerationOptions

ACT = "inform(name='Ivy Cutting';length='7 km')"
BRACKET = "inform(name[Ivy Cutting], length[7 km])"


@pytest.fixture
def generator(random_run: Path) -> Generator:
    return Generator.load(random_run)


def test_acts_are_accepted_in_every_form(generator: Generator) -> None:
    turn = parse(ACT)
    slots = (Slot("name", "Ivy Cutting"), Slot("length", "7 km"))
    wanted = generator.generate([ACT])
    for given in (turn, DialogueAct("inform", slots), Turn((DialogueAct("inform", slots),)), BRACKET):
        assert generator.generate([given]) == wanted
        # A single act counts as a list of one, and a turn of two acts as one.
        assert generator.generate(given) == wanted
    two = parse(f"{ACT} & goodbye()")
    assert [said.act for said in generator.generate(two)] == [str(two)]
    assert [said.act for said in generator.generate((ACT, turn))] == [ACT, ACT]


def test_a_line_in_utf16_is_reported_as_such() -> None:
    row = read_act("goodbye()\n".encode("utf-16"), "acts.txt", 1)
    assert isinstance(row, BadAct)
    assert str(row.error) == "acts.txt, line 1: not UTF-8 (byte 1 of the line); is it UTF-16?"


@pytest.mark.parametrize("act", ['"goodbye()"', '"goodbye"', '{"act": "goodbye"}', '[{"act": "goodbye", "slots": []}]'])
def test_a_line_of_json_holds_its_act_in_any_form(act: str) -> None:
    assert parsed(f'{{"act": {act}}}', "line 1") == PlacedTurn(parse("goodbye()"), "line 1")
    assert parsed(f'{{"act": {act}, "context": "bye"}}', "line 1") == PlacedTurn(parse("goodbye()"), "line 1", "bye")
    # Slots next to a whole act would be lost.
    if act != '"goodbye"':
        assert isinstance(parsed(f'{{"act": {act}, "slots": []}}', "line 1"), BadAct)


@pytest.mark.parametrize(
    ("acts", "kind", "message"),
    [
        (["goodbye()", "inform("], ActSyntaxError, r"^acts\[1\], column 8: expected"),
        (["goodbye()", "goodbye()", 3], ActError, r"^acts\[2\] is no act: give a string, .* not int$"),
        (["goodbye()", None], ActError, r"^acts\[1\] is no act.* not NoneType$"),
        (["goodbye()", ACT, "inform(nmae=x)"], UnknownNameError, r"^acts\[2\]: unknown slot 'nmae'; did you mean 'n"),
        (["goodbye()", "goodbey()"], UnknownNameError, r"^acts\[1\]: unknown act type 'goodbey'"),
        ("inform(nmae=x)", UnknownNameError, "^unknown slot 'nmae'"),
        ("inform(", ActSyntaxError, "^line 1, column 8"),
        (None, ActError, "^no acts: give a list of them, not NoneType$"),
    ],
)
def test_a_bad_act_is_named_by_its_index(
    generator: Generator, acts: object, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        generator.generate(acts)  # type: ignore[arg-type]


def _generated(generator: Generator, acts: list[str]) -> list[str]:
    return [said.text for said in generator.generate(acts)]


def test_a_pickled_generator_works_in_another_process(
    poor_run: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = poor_run("sclstm")
    monkeypatch.chdir(run.parent)
    generator = Generator.load(run.name)
    assert repr(generator) == f"Generator.load({str(run)!r}, backend='numpy')"
    generator.seed = 7
    # Only the path of the folder is pickled.
    assert len(pickle.dumps(generator)) < 2000
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(_generated, (generator, [ACT, "goodbye()"]))
    assert found == _generated(generator, [ACT, "goodbye()"])


def test_a_pickled_generator_keeps_its_seed_and_defaults(
    random_run: Path, generator: Generator, tmp_path: Path
) -> None:
    generator.seed = 3
    generator.defaults = generator.defaults.model_copy(update={"constraint": "rerank"})
    copied = pickle.loads(pickle.dumps(generator))
    assert copied.seed == 3 and copied.defaults == generator.defaults
    options = GenerationOptions(n_best=3)
    assert copied.generate([ACT] * 5, options) == generator.generate([ACT] * 5, options)
    again = pickle.dumps(copied)
    assert pickle.loads(again).seed == 3
    # The folder may have been deleted in the meantime.
    (moved := tmp_path / "run").symlink_to(random_run)
    data = pickle.dumps(Generator.load(moved))
    moved.unlink()
    with pytest.raises(RunError, match="does not exist"):
        pickle.loads(data)


def test_a_generator_without_a_run_folder_cannot_be_pickled(generator: Generator) -> None:
    made = Generator(generator.preprocessor, None, generator.defaults)
    with pytest.raises(RunError, match="can be pickled"):
        pickle.dumps(made)
