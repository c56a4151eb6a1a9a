"""Import a Rasa domain of 60 responses, and train a run with the configuration that the import proposes.

    python benchmarks/imports.py [DOMAIN]

Prints how long each step took, how many responses the run generates with all their slots, and how many of its sentences
are one of the response's own texts with values filled in.
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from dactnlg.acts import parse
from dactnlg.generation.generator import Generator
from dactnlg.serving.imports import rasa
from dactnlg.serving.imports.pairs import write_import
from dactnlg.serving.imports.templates import SLOT
from dactnlg.training.train import train

DOMAIN = Path(__file__).resolve().parents[1] / "tests" / "serving" / "shop_domain.yml"


def main() -> None:
    """Import, train, generate, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "domain", type=Path, nargs="?", default=DOMAIN, help="a Rasa domain file [default: one of the tests]"
    )
    domain = parser.parse_args().domain
    with TemporaryDirectory() as folder:
        place = Path(folder) / "imported"
        begin = time.monotonic()
        source = rasa.read(domain)
        found = write_import(source, place)
        print(f"imported: {found.responses} responses, {found.pairs} pairs, {len(found.unread)} not read", end="; ")
        print(f"{time.monotonic() - begin:.1f} s")
        begin = time.monotonic()
        run = train(found.configuration, place / "run", progress=False)
        print(f"trained: {(time.monotonic() - begin) / 60:.2f} minutes")
        acts = [parse(line) for line in (place / "acts.txt").read_text(encoding="utf-8").splitlines()]
        own: dict[str, list[str]] = {}
        for template in source.templates:
            pattern = "(.+)".join(map(re.escape, SLOT.split(template.text)[::2]))
            own.setdefault(template.response.removeprefix("utter_"), []).append(pattern)
        said = Generator.load(run.path).generate(acts)
        whole = sum(each.slots_ok for each in said)
        same = sum(
            any(re.fullmatch(pattern, each.text) for pattern in own[turn.acts[0].act_type])
            for turn, each in zip(acts, said, strict=True)
        )
        print(f"said: {len(acts)} responses, {whole} with all slots, {same} in the words of one of their texts")


if __name__ == "__main__":
    main()
