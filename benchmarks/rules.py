"""Rules of English and what they decide: sentences for acts that training lacks, with each rule switched off by itself.

    python benchmarks/rules.py RUN...                           all rules; one round of sentences for each
    python benchmarks/rules.py RUN... --rule joints.splices --rule phrasing.rephrased --show

A rule is a function or method in `dactnlg/text/grammar` or `dactnlg/text/corrections` that returns a truth value or a
number of doubts, or the sentence that it is given, changed. Switched off, it returns False, 0 or the sentence itself. A
rule without which hardly any sentence changes can go; without a rule that several others need (`denials.denies`) most
change. Rules may do each other's work: several that change nothing have to be switched off together as well
(`--together`).
"""

from __future__ import annotations

import argparse
import inspect
import pkgutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, get_type_hints
from unittest import mock

from reading import KINDS, sentences

from dactnlg.text import corrections, grammar
from dactnlg.text.sentences import Tokens

Owner = ModuleType | type


def rules() -> dict[str, tuple[Owner, FunctionType]]:
    """Return the rules by name: `joints.splices`, `copulas.Copulas.faults`."""
    found: dict[str, tuple[Owner, FunctionType]] = {}
    for name, module in modules():
        own = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
        owners: list[Owner] = [module, *own]
        for owner in owners:
            for rule in vars(owner).values():
                # A rule may be cached.
                function = not isinstance(rule, staticmethod) and inspect.isfunction(inspect.unwrap(rule))
                if function and rule.__module__ == module.__name__ and _neutral(rule) is not None:
                    found[f"{name}.{rule.__qualname__}"] = owner, rule
    return found


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield the modules that have rules, by name."""
    for package in (grammar, corrections):
        for each in pkgutil.iter_modules(package.__path__):
            yield each.name, import_module(f"{package.__name__}.{each.name}")


def _neutral(rule: FunctionType) -> Any:
    """Return a function that does nothing instead of a rule, None if it is no rule."""
    hints = get_type_hints(rule)
    result, given = hints.pop("return", None), [*hints.values()]
    if result in (bool, int):
        return lambda *_, **__: result()
    if result == Tokens and given and given[0] == Tokens:
        place = "self" in inspect.signature(rule).parameters
        return lambda *arguments, **_: arguments[place]
    return None


@contextmanager
def without(owner: Owner, rule: FunctionType) -> Iterator[None]:
    """Switch a rule off, wherever it has been imported."""
    owners, neutral = [owner], _neutral(rule)
    if inspect.ismodule(owner):
        loaded = [each for name, each in sys.modules.items() if name.startswith("dactnlg.")]
        owners = [each for each in loaded if vars(each).get(rule.__name__) is rule]
    with ExitStack() as stack:
        for each in owners:
            stack.enter_context(mock.patch.object(each, rule.__name__, neutral))
        yield


def said(folders: Sequence[Path], numbers: Mapping[str, int], seed: int) -> list[list[str]]:
    """Return the acts of all runs, each with its sentence and whether it passed the check."""
    for cached in (each for _, module in modules() for each in vars(module).values() if hasattr(each, "cache_clear")):
        cached.cache_clear()
    return [row for folder in folders for row in sentences(folder, numbers, seed)]


def main() -> None:
    """Print for each rule how many sentences change without it."""
    known = rules()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--rule", action="append", choices=sorted(known), metavar="NAME", help="only this one")
    parser.add_argument("--together", action="store_true", help="switch these rules off together")
    parser.add_argument(
        "--show", action="store_true", help="print the sentences that change, with and without the rule"
    )
    for option, (_, _, text) in KINDS.items():
        default = {"away": 60, "subsets": 80}.get(option, 20)
        parser.add_argument(f"--{option}", type=int, metavar="N", default=default, help=f"{text}, N for each run")
    parser.add_argument("--seed", type=int, default=101, help="of the draw")
    options = parser.parse_args()
    numbers, names = {option: getattr(options, option) for option in KINDS}, options.rule or sorted(known)
    usual = said(options.runs, numbers, options.seed)
    print(
        f"{len(usual)} sentences\n\n| without | other sentences | slots_ok lost | gained |\n|---|---|---|---|",
        flush=True,
    )
    for group in [names] if options.together else [[name] for name in names]:
        with ExitStack() as stack:
            for name in group:
                stack.enter_context(without(*known[name]))
            other = said(options.runs, numbers, options.seed)
        changed = [pair for pair in zip(usual, other, strict=True) if pair[0][2] != pair[1][2]]
        passed = [(one[3] == "yes", more[3] == "yes") for one, more in zip(usual, other, strict=True)]
        lost, gained = passed.count((True, False)), passed.count((False, True))
        print(f"| {', '.join(group)} | {len(changed)} | {lost} | {gained} |", flush=True)
        for one, more in changed if options.show else ():
            print(f"\n{one[0]} {one[1]}\nwith     {one[2]}\nwithout  {more[2]}")


if __name__ == "__main__":
    main()
