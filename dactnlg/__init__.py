"""dactnlg: dialogue acts in, checked sentences out.

>>> import dactnlg
>>> turn = dactnlg.parse("inform(name='red door cafe';kidsallowed=no)")
>>> turn.acts[0].slots[0].value
'red door cafe'

The public names are those in `__all__`; everything else may change between versions. They are imported on first use,
so that parsing, scoring and the command line never wait for TensorFlow.

The package logs to Python's logger `dactnlg`, which is silent by default: `logging.basicConfig(level=logging.INFO)`
shows one line per epoch during training.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dactnlg import errors
    from dactnlg.acts import DialogueAct, Slot, Turn, parse
    from dactnlg.evaluation.evaluate import evaluate
    from dactnlg.evaluation.scoring import score
    from dactnlg.generation.generation import Generation
    from dactnlg.generation.generator import Generator
    from dactnlg.generation.options import GenerationOptions
    from dactnlg.training.train import train

__version__ = "0.1.0"
__all__ = [
    "DialogueAct",
    "Generation",
    "GenerationOptions",
    "Generator",
    "Slot",
    "Turn",
    "__version__",
    "errors",
    "evaluate",
    "parse",
    "score",
    "train",
]

_MODULES = {
    "DialogueAct": "acts",
    "Generation": "generation.generation",
    "GenerationOptions": "generation.options",
    "Generator": "generation.generator",
    "Slot": "acts",
    "Turn": "acts",
    "evaluate": "evaluation.evaluate",
    "parse": "acts",
    "score": "evaluation.scoring",
    "train": "training.train",
}
"""Public name -> the module that defines it."""


logging.getLogger(__name__).addHandler(logging.NullHandler())


# Type checkers would take it that the module has every attribute.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name == "errors":
            return import_module("dactnlg.errors")
        if name not in _MODULES:
            raise AttributeError(f"module 'dactnlg' has no attribute '{name}'")
        return getattr(import_module(f"dactnlg.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
