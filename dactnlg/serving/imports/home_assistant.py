"""Responses of Home Assistant's intents as templates, from Jinja that is parsed but never executed.

`{{ slots.name }}` is the slot `name`, `{{ state.state }}` the slot `state`; filters that only affect the form of a
value, such as its case, are dropped. Each branch of `{% if %}` becomes a response of its own: `NAME.1`, `NAME.2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, TemplateError, nodes

from dactnlg.errors import ConfigError, UserError
from dactnlg.runs import yamlfile
from dactnlg.serving.imports.templates import ResponseTemplate, TemplateSource

MOST_CASES = 16
"""Maximum number of cases of one template."""
_HARMLESS = frozenset({"capitalize", "title", "lower", "upper", "trim", "string", "float"})


class JinjaReadingError(ValueError):
    """A template does more than insert values into a text."""


def read(folder: Path, language: str | None = None) -> TemplateSource:
    """Read the responses from all YAML files in a `responses` folder, or in one language's folder.

    Args:
        folder: the folder, or a file.
        language: name of the language's folder; by default `en`.

    Raises:
        UserError: there are no YAML files, or no responses in them, or the only file cannot be read.
    """
    wanted = language or "en"
    inside = folder / wanted
    place = inside if inside.is_dir() else folder
    files = sorted(f for f in place.rglob("*") if f.suffix in (".yaml", ".yml")) if place.is_dir() else [folder]
    if not files:
        raise UserError(f"there is no YAML file in {place}")
    source = TemplateSource(language=wanted.split("-")[0].lower())
    for file in files:
        try:
            data = yamlfile.read(file, "responses are a mapping with language and responses").data
        except ConfigError as error:
            if place is folder and len(files) == 1:
                raise UserError(str(error)) from None
            source.leave_out(file.name, "", str(error))
            continue
        if str(data.get("language", wanted)).casefold() != wanted.casefold():
            source.leave_out(file.name, "", f"its language is {data['language']}, not {wanted}")
            continue
        responses = data.get("responses")
        intents = responses.get("intents") if isinstance(responses, dict) else None
        for intent, texts in intents.items() if isinstance(intents, dict) else ():
            for key, text in _texts(texts):
                _read(source, f"{intent}.{key}", text, f"{file.name}, {intent}, {key}")
    if not source.templates and not source.unread:
        raise UserError(f"{place} has no responses: files of Home Assistant have them under responses: intents:")
    return source


def _texts(data: Any) -> Iterator[tuple[str, Any]]:
    """Yield key and template, from `default: TEXT` or, in older files, `success: [{templates: [TEXT, ...]}]`."""
    for key, value in data.items() if isinstance(data, dict) else ():
        if isinstance(value, list):
            for entry in value:
                found = entry.get("templates", [entry]) if isinstance(entry, dict) else [entry]
                yield from ((key, text) for text in (found if isinstance(found, list) else [found]))
        else:
            yield key, value


def _read(source: TemplateSource, name: str, text: Any, origin: str) -> None:
    if not isinstance(text, str):
        source.leave_out(origin, text, "it is no text")
        return
    try:
        cases = list(dict.fromkeys(" ".join(case.split()) for case in _cases(Environment().parse(text).body)))
    except (TemplateError, JinjaReadingError) as error:
        source.leave_out(origin, text, str(error))
        return
    except RecursionError:
        source.leave_out(origin, text, "it is nested too deeply")
        return
    cases = [case for case in cases if case]
    for number, case in enumerate(cases, start=1):
        source.templates.append(ResponseTemplate(name if len(cases) == 1 else f"{name}.{number}", case, origin))


def _cases(body: Sequence[nodes.Node]) -> list[str]:
    """Return the texts that a template can produce, one per case, with `{slot}` for values."""
    texts = [""]
    for node in body:
        if isinstance(node, nodes.Output):
            more = _joined([_expression(each) for each in node.nodes])
        elif isinstance(node, nodes.If):
            more = [case for part in (node.body, *(each.body for each in node.elif_)) for case in _cases(part)]
            more += _cases(node.else_)
        else:
            raise JinjaReadingError(f"it has {{% {type(node).__name__.lower()} %}}, which computes what is said")
        texts = [text + other for text in texts for other in more]
        if len(texts) > MOST_CASES:
            raise JinjaReadingError(f"it has more than {MOST_CASES} cases")
    return texts


def _joined(parts: Sequence[list[str]]) -> list[str]:
    texts = [""]
    for part in parts:
        texts = [text + other for text in texts for other in part]
        if len(texts) > MOST_CASES:
            raise JinjaReadingError(f"it has more than {MOST_CASES} cases")
    return texts


def _expression(node: nodes.Node) -> list[str]:
    if isinstance(node, nodes.TemplateData):
        if "{" in node.data or "}" in node.data:
            raise JinjaReadingError("it has braces that are no slot")
        return [node.data]
    if isinstance(node, nodes.Const):
        return [str(node.value)]
    if isinstance(node, nodes.CondExpr):
        return [*_expression(node.expr1), *(_expression(node.expr2) if node.expr2 is not None else [""])]
    if isinstance(node, nodes.Filter):
        if node.name not in _HARMLESS or node.node is None:
            raise JinjaReadingError(f"the filter {node.name} makes something else of a value")
        return _expression(node.node)
    return ["{" + _name(node) + "}"]


def _name(node: nodes.Node) -> str:
    """Return the name of a slot: that of the variable, or of the attribute of `slots` or `state`."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        inner = _name(node.node)
        return node.attr if inner in ("slots", "state", "state.attributes") else f"{inner}.{node.attr}"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, str):
        return node.arg.value if _name(node.node) in ("slots", "state") else f"{_name(node.node)}.{node.arg.value}"
    raise JinjaReadingError(f"it computes a value ({type(node).__name__.lower()})")
