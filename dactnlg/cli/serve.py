"""`dactnlg serve`: runs behind HTTP."""

from __future__ import annotations

import os
from pathlib import Path

import click

from dactnlg.cli import options, streams
from dactnlg.errors import UserError

TOKEN = "DACTNLG_TOKEN"


@click.command()
@click.argument(
    "runs",
    nargs=-1,
    required=True,
    type=options.FILE,
    metavar="RUN|NAME=RUN...",
    help="Run folders; the first is used if a request names none.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="HOST",
    help="The address to listen on; 0.0.0.0 for all addresses of this machine.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8080,
    metavar="PORT",
    help="The port to listen on; 0 takes any free port.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    metavar="N",
    help="Worker processes, each with the runs in its own memory; one uses little more than one CPU core.",
)
@options.backend
@click.option("--no-reuse", is_flag=True, help="Search for every act anew, even if an equal one was said before.")
@click.option(
    "--token-file",
    type=options.PATH,
    metavar="FILE",
    help=f"Answer only requests with the token in FILE (or in ${TOKEN}) as Authorization: Bearer TOKEN.",
)
@click.option(
    "--watch",
    type=options.Number(min=0),
    default=2.0,
    metavar="S",
    help="Check every S seconds whether a run has changed, and reload it if so; 0 never checks.",
)
@click.option(
    "--rasa", type=options.PATH, metavar="MAPPING", help="Answer a Rasa bot at /rasa, using this mapping file."
)
@click.option("--log", is_flag=True, help="Write a line of JSON for each request to standard error.")
@click.option("--log-values", is_flag=True, help="With --log: also write acts and checked sentences.")
@click.option(
    "--max-body", type=click.IntRange(min=1), default=1 << 20, metavar="BYTES", help="Maximum size of a request."
)
@click.option(
    "--max-acts", type=click.IntRange(min=1), default=256, metavar="N", help="Maximum number of acts in a request."
)
@click.option(
    "--max-slots", type=click.IntRange(min=1), default=40, metavar="N", help="Maximum number of slots in an act."
)
@click.option(
    "--max-value",
    type=click.IntRange(min=1),
    default=500,
    metavar="N",
    help="Maximum length of a value, in characters.",
)
@click.option(
    "--max-n-best", type=click.IntRange(min=1), default=20, metavar="N", help="Maximum number of sentences for an act."
)
@click.option("--max-beam", type=click.IntRange(min=1), default=50, metavar="N", help="Maximum beam width.")
@click.option(
    "--max-rate",
    type=click.IntRange(min=1),
    metavar="N",
    help="Maximum number of requests per minute from one address, for each worker.",
)
@click.option(
    "--timeout",
    type=options.Number(min=0, min_open=True),
    default=30.0,
    metavar="S",
    help="Maximum time for an answer, in seconds.",
)
def serve(
    *,
    runs: tuple[str, ...],
    host: str,
    port: int,
    workers: int,
    backend: str,
    no_reuse: bool,
    token_file: Path | None,
    watch: float,
    rasa: Path | None,
    log: bool,
    log_values: bool,
    max_body: int,
    max_acts: int,
    max_slots: int,
    max_value: int,
    max_n_best: int,
    max_beam: int,
    max_rate: int | None,
    timeout: float,
) -> None:
    """Serve runs over HTTP: POST /v1/generate says acts, POST /v1/check checks sentences; see /docs, with examples.

    A faulty sentence is never returned silently: one generated under the hard constraint, or a template, takes its
    place, and the answer says so. On SIGTERM or Ctrl-C the server finishes pending requests, then ends; SIGHUP, or a
    changed run folder, reloads the runs without losing a request.

    \b
    dactnlg serve runs/trails-sclstm
    dactnlg serve runs/trails-sclstm --workers 4
    dactnlg serve runs/mybot --rasa mapping.yml
    dactnlg serve old=runs/1 new=runs/2 --port 9000 --token-file token.txt --max-rate 600 --log
    curl -d '{"acts": "goodbye()"}' -H 'Content-Type: application/json' http://127.0.0.1:8080/v1/generate
    """
    from dactnlg._utils.web.server import address, bound_together
    from dactnlg.serving.models import parse_model
    from dactnlg.serving.plan import ServicePlan
    from dactnlg.serving.settings import ServiceSettings

    if log_values and not log:
        raise UserError("--log-values adds to the lines of --log: give both")
    paths: dict[str, Path] = {}
    for text in runs:
        name, path = parse_model(text)
        if name in paths:
            raise UserError(f"two models are called {name}: name one of them with NAME=RUN")
        paths[name] = path
    settings = ServiceSettings(
        body_bytes=max_body,
        acts=max_acts,
        slots=max_slots,
        value_length=max_value,
        n_best=max_n_best,
        beam_width=max_beam,
        per_minute=max_rate,
        seconds=timeout,
        token=_token(token_file),
        log_values=log_values,
    )
    plan = ServicePlan(
        runs=paths, settings=settings, backend=backend, reuse=not no_reuse, watch=watch or None, rasa=rasa, log=log
    )
    listening = bound_together(host, port, workers)
    here = address(listening[0])

    def ready() -> None:
        streams.tell(f"{', '.join(paths)}: {here}; try it at {here}/, read {here}/docs; Ctrl-C ends it")

    if workers == 1:
        plan.serve(listening[0], ready)
    else:
        plan.serve_in_processes(listening, ready, workers)


def _token(path: Path | None) -> str | None:
    """Return the token that clients must send; None if neither the option nor the environment variable is given."""
    if path is None:
        where, given = f"${TOKEN}", os.environ.get(TOKEN, "")
        if not given:
            return None
    else:
        from dactnlg._utils.reading import regular_file

        where, given = str(path), regular_file(path).read_text(encoding="utf-8", errors="replace")
    # Secrets that come from files often end with a line break, which no header can have.
    token = given.strip()
    if not token:
        raise UserError(f"{where} is empty: a token was expected")
    if not (token.isascii() and token.isprintable()):
        raise UserError(f"{where}: a token is a line of ASCII, for clients send it in a header")
    return token
