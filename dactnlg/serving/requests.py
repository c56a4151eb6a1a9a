"""Reading requests: from what a client sent to acts and options, within limits, with plain error messages."""

from __future__ import annotations

from collections.abc import Sequence

from dactnlg._utils.web.problems import Problem
from dactnlg.acts import Turn, parse
from dactnlg.errors import ActError, ActSyntaxError, UnknownNameError
from dactnlg.generation.generator import Generator
from dactnlg.generation.options import GenerationOptions
from dactnlg.serving.schemas import CheckPair, OptionsBody
from dactnlg.serving.settings import ServiceSettings

_WRONG = 422


def read_acts(given: str | Sequence[str], settings: ServiceSettings) -> list[Turn]:
    """Return the acts of a request.

    Raises:
        Problem: 422, there are none or too many, or one is too long or not an act (`position` locates the error).
    """
    if isinstance(given, str):
        return [read_act(given, "acts", None, settings)]
    _check_count(len(given), settings)
    return [read_act(text, f"acts[{at}]", at, settings) for at, text in enumerate(given)]


def read_contexts(given: str | Sequence[str] | None, count: int, settings: ServiceSettings) -> list[str]:
    """Return the preceding user turn of each of `count` acts; empty if there is no context.

    Raises:
        Problem: 422, the numbers of texts and acts differ, or a text is too long.
    """
    if given is None:
        return []
    found = [given] * count if isinstance(given, str) else list(given)
    if len(found) != count:
        raise Problem(_WRONG, f"context has {len(found)} texts for {count} acts: send one for each, or one for all")
    for at, text in enumerate(found):
        where = "context" if isinstance(given, str) else f"context[{at}]"
        if len(text) > settings.context_length:
            raise Problem(_WRONG, f"{where} has more than {settings.context_length:,} characters", {"index": at})
    return found


def read_pairs(given: Sequence[CheckPair], settings: ServiceSettings) -> list[tuple[Turn, str]]:
    """Return pairs of an act and the sentence to check against it; raises as `read_acts` does."""
    _check_count(len(given), settings)
    found = []
    for at, pair in enumerate(given):
        where = f"pairs[{at}]"
        if len(pair.text) > settings.text_length:
            raise Problem(_WRONG, f"{where}.text has more than {settings.text_length:,} characters", {"index": at})
        found.append((read_act(pair.act, f"{where}.act", at, settings), pair.text))
    return found


def read_options(given: OptionsBody, settings: ServiceSettings, generator: Generator) -> GenerationOptions:
    """Return the options of a request.

    Raises:
        Problem: 422, a number is above a limit of the service.
        UserError: a number is outside the generator's own bounds, or options exclude each other.
    """
    for name, most in (("n_best", settings.n_best), ("beam_width", settings.beam_width)):
        value = getattr(given, name)
        if value is not None and value > most:
            raise Problem(_WRONG, f"options.{name} is at most {most} here; got {value}")
    options = GenerationOptions(**given.model_dump())
    options.resolve(generator.defaults, generator.seed)
    return options


def check_known(turns: Sequence[Turn], given: str | Sequence[str], generator: Generator) -> None:
    """Refuse act types and slots that a model does not know.

    Args:
        turns: the acts.
        given: what they were read from, for messages.
        generator: of the model.

    Raises:
        Problem: 422, with the nearest known names and the index of the act.
    """
    for at, turn in enumerate(turns):
        single = isinstance(given, str)
        try:
            generator.check_names(turn, "acts" if single else f"acts[{at}]")
        except UnknownNameError as error:
            raise Problem(_WRONG, str(error), {} if single else {"index": at}) from None


def _check_count(count: int, settings: ServiceSettings) -> None:
    if not count:
        raise Problem(_WRONG, "the list is empty: send at least one act")
    if count > settings.acts:
        raise Problem(_WRONG, f"a request has at most {settings.acts} acts here; got {count}")


def read_act(text: str, where: str, index: int | None, settings: ServiceSettings) -> Turn:
    """Return one act of a request; raises as `read_acts` does.

    Args:
        text: the act.
        where: the field of the request, for messages.
        index: its index if the field is a list.
        settings: limits.
    """
    members: dict[str, object] = {} if index is None else {"index": index}
    if len(text) > settings.text_length:
        raise Problem(_WRONG, f"{where} has more than {settings.text_length:,} characters", members)
    try:
        turn = parse(text, where)
    except ActSyntaxError as error:
        members |= {"position": error.position, "reason": error.reason}
        raise Problem(_WRONG, str(error), members) from None
    except ActError as error:
        raise Problem(_WRONG, str(error), members) from None
    try:
        str(turn).encode()
    except UnicodeEncodeError as error:
        # JSON in a string has escapes of its own, and no answer could hold what they stand for.
        half = f"U+{ord(error.object[error.start]):04X}"
        raise Problem(_WRONG, f"{where}: {half} is no character but half of a surrogate pair", members) from None
    slots = [slot for act in turn for slot in act.slots]
    if len(slots) > settings.slots:
        raise Problem(_WRONG, f"{where} has {len(slots)} slots, and at most {settings.slots} are said here", members)
    if any(len(slot.value or "") > settings.value_length for slot in slots):
        raise Problem(_WRONG, f"{where} has a value of more than {settings.value_length} characters", members)
    return turn
