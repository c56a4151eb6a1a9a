"""Rasa: a run as its NLG endpoint, over HTTP or in Rasa's own process.

Over HTTP (`endpoints.yml`: `nlg: {url: http://127.0.0.1:8080/rasa}`) Rasa silently drops a turn on any error, so
`RasaResponder` always answers: with the act's sentence, or else with the response's own text. For use in process,
`endpoints.yml` has `nlg: {type: dactnlg.serving.rasa.Generator, run: RUN, mapping: FILE}`.

Interfaces are those of Rasa 3.6.21 and Rasa Pro 3.21.0 (`rasa/core/nlg/callback.py`, `generator.py`, `response.py`).
"""

from __future__ import annotations

from typing import Any

from dactnlg.serving.rasa_responder import RasaResponder, rasa_route

__all__ = ["RasaResponder", "rasa_route"]


def __getattr__(name: str) -> Any:
    # Only on request, because it imports Rasa if that is installed.
    if name != "Generator":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from dactnlg.serving.rasa_generator import rasa_class

    return rasa_class()
