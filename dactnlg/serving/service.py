"""The service: acts in, checked sentences out, over HTTP."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, FastAPI, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp

from dactnlg._utils.web.application import create, guarded
from dactnlg._utils.web.background import in_thread
from dactnlg._utils.web.problems import Problem
from dactnlg._utils.web.tokens import bearer, check_bearer
from dactnlg.acts import Turn
from dactnlg.generation.generation import Generation
from dactnlg.generation.options import GenerationOptions
from dactnlg.serving import requests
from dactnlg.serving.batching import Batcher
from dactnlg.serving.inspection import add_spans, inspections
from dactnlg.serving.models import Models, ServedModel
from dactnlg.serving.observation import Observed, ServiceMetrics
from dactnlg.serving.playground import playground
from dactnlg.serving.rasa import RasaResponder, rasa_route
from dactnlg.serving.schemas import (
    CheckAnswer,
    CheckBody,
    Checked,
    Fallback,
    GenerateAnswer,
    GenerateBody,
    GeneratedSentence,
    ModelsAnswer,
)
from dactnlg.serving.settings import RASA, ServiceSettings

_FREE = frozenset({"/healthz", "/readyz", "/metrics"})
"""Paths that do not count towards a client's rate limit."""
_log = logging.getLogger("dactnlg")


@dataclass
class Service:
    """The parts that answer requests.

    Attributes:
        models: the runs.
        settings: limits.
        metrics: metrics for Prometheus.
        batcher: generates sentences in its own thread.
    """

    models: Models
    settings: ServiceSettings
    metrics: ServiceMetrics
    batcher: Batcher

    async def say(
        self, model: ServedModel, turns: Sequence[Turn], options: GenerationOptions, contexts: Sequence[str] = ()
    ) -> list[GeneratedSentence]:
        """Return one sentence per turn; a faulty one is replaced by a better one, of any origin, if there is one."""
        said = await self.batcher.generate(model.generator, turns, options, contexts)
        results = [GeneratedSentence(**one.to_json()) for one in said]
        faulty = [at for at, one in enumerate(said) if not one.slots_ok]
        if faulty:
            # The hard constraint loses no slot, and falls back to templates if the search finds nothing faithful.
            hard = GenerationOptions(constraint="hard", n_best=options.n_best)
            others, run = [said[at] for at in faulty], (model.generator.defaults, model.generator.seed)
            if options.resolve(*run) != hard.resolve(*run):
                again, before = [turns[at] for at in faulty], [contexts[at] for at in faulty] if contexts else []
                others = await self.batcher.generate(model.generator, again, hard, before)
            for at, other in zip(faulty, others, strict=True):
                better = _better(other, said[at])
                results[at] = _replaced(said[at], other if better else said[at])
                self.metrics.fallbacks.labels(model.name).inc(better)
        for result in results:
            self.metrics.acts.labels(model.name, str(result.slots_ok).lower()).inc()
        return results


def _better(one: Generation, other: Generation) -> bool:
    return one.slots_ok or len(one.missing) + len(one.extra) < len(other.missing) + len(other.extra)


def _replaced(first: Generation, taken: Generation) -> GeneratedSentence:
    """Return the answer for a faulty sentence: the one taken in its place, or itself if there is no better one."""
    faults = [*(f"{slot} is missing" for slot in first.missing), *(f"{slot} is too much" for slot in first.extra)]
    reason = "; ".join(faults) or "it does not say what the act says"
    said = GeneratedSentence(**taken.to_json())
    said.fallback = Fallback(reason=reason, rejected=first.text, origin=taken.origin, faithful=taken.slots_ok)
    return said


def reload(models: Models, metrics: ServiceMetrics, *, all_of_them: bool = False) -> None:
    """Reload the runs whose files have changed, or all, and count them; see `Models.reload`."""
    for name in models.reload(all_of_them=all_of_them):
        metrics.reloads.labels(name).inc()


def application(
    models: Models,
    settings: ServiceSettings,
    watch: float | None = None,
    rasa: RasaResponder | None = None,
    metrics: ServiceMetrics | None = None,
) -> ASGIApp:
    """Return the application of a service.

    Args:
        models: the runs.
        settings: limits.
        watch: seconds between checks for changes in the run folders; None to never check.
        rasa: answers a Rasa bot at `/rasa`; None for no such route.
        metrics: what `/metrics` shows; by default its own.
    """
    metrics = metrics or ServiceMetrics()
    service = Service(
        models, settings, metrics, Batcher(settings.batch, settings.wait, settings.waiting, metrics.batch)
    )

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        ended = threading.Event()
        if watch:
            threading.Thread(target=_watch, args=(models, metrics, watch, ended), daemon=True).start()
        yield
        ended.set()
        service.batcher.close()

    app = create("dactnlg", "Dialogue acts in, checked sentences out.", lifespan)
    app.include_router(_answers(service))
    app.include_router(inspections(models, settings, service.batcher))
    app.include_router(_states(service))
    if rasa is not None:
        # Leaves time to answer before this service's own time limit.
        seconds = 0.8 * settings.seconds
        rasa_route(app, rasa, RASA, seconds=seconds)
    playground.mount(app)

    def admit(request: Request) -> None:
        # Nobody else may send as much as a bot does.
        if rasa is not None and request.scope["path"] == RASA:
            check_bearer(request, settings.token)

    free = _FREE if rasa is None else _FREE | {RASA}
    return Observed(guarded(app, settings.request_limits(rasa=rasa is not None), free, admit), metrics)


def _watch(models: Models, metrics: ServiceMetrics, seconds: float, ended: threading.Event) -> None:
    """Reload changed runs until the service ends; in a thread of its own, since requests may occupy all others."""
    while not ended.wait(seconds):
        try:
            reload(models, metrics)
        except OSError as error:
            _log.error("the folders of the models could not be looked at: %s", error)


def _answers(service: Service) -> APIRouter:
    settings = service.settings
    router = APIRouter(prefix="/v1", tags=["acts and sentences"], dependencies=bearer(settings.token))

    @router.post("/generate", summary="Say acts")
    async def generate(request: Request, body: GenerateBody) -> GenerateAnswer:
        model = service.models.get(body.model)
        turns = requests.read_acts(body.acts, settings)
        contexts = requests.read_contexts(body.context, len(turns), settings)
        options = requests.read_options(body.options, settings, model.generator)
        request.state.facts |= {"model": model.name, "acts": len(turns)}
        if settings.log_values:
            request.state.facts["said"] = [str(turn) for turn in turns]
        requests.check_known(turns, body.acts, model.generator)
        results = await service.say(model, turns, options, contexts)
        if body.spans:
            pairs = zip(results, turns, strict=True)
            results = await in_thread(add_spans(result, turn, model) for result, turn in pairs)
        return GenerateAnswer(model=model.served(), results=results)

    @router.post("/check", summary="Check sentences, whoever wrote them")
    async def check(request: Request, body: CheckBody) -> CheckAnswer:
        model = service.models.get(body.model)
        pairs = requests.read_pairs(body.pairs, settings)
        request.state.facts |= {"model": model.name, "acts": len(pairs)}
        if settings.log_values:
            request.state.facts["checked"] = [[str(turn), text] for turn, text in pairs]

        def checked(turn: Turn, text: str) -> Checked:
            result = Checked(act=str(turn), text=text, **model.checker.check(turn, text).to_json())
            return add_spans(result, turn, model) if body.spans else result

        results = await in_thread(checked(turn, text) for turn, text in pairs)
        service.metrics.checked.labels(model.name).inc(len(results))
        return CheckAnswer(model=model.served(), results=results)

    @router.get("/models", summary="What is served, and which acts and slots it knows")
    def listed() -> ModelsAnswer:
        return ModelsAnswer(models=[model.entry() for model in service.models.listed()])

    return router


def _states(service: Service) -> APIRouter:
    router = APIRouter(tags=["state"])

    @router.get("/healthz", summary="Whether the process is alive")
    def alive() -> dict[str, str]:
        return {"status": "ok"}

    @router.get("/readyz", summary="Whether it can answer")
    def ready() -> dict[str, str]:
        if not service.models.listed():
            raise Problem(503, "no model is loaded")
        return {"status": "ready"}

    @router.get("/metrics", summary="Numbers for Prometheus", response_class=Response)
    def metrics() -> Response:
        return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return router
