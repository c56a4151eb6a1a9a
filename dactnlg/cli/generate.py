"""`dactnlg generate`: sentences for acts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from dactnlg.cli import options, streams
from dactnlg.errors import UserError

if TYPE_CHECKING:
    from dactnlg.generation.files.lines import ActRow
    from dactnlg.generation.files.worker import GenerationWorker
    from dactnlg.generation.options import GenerationOptions


@click.command()
@options.models
@click.argument("acts", nargs=-1, metavar="[ACT]...", help="Dialogue acts, one per argument.")
@click.option(
    "--input",
    "input_file",
    type=options.FILE,
    metavar="FILE",
    help="Read acts from FILE, one per line; - is standard input.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Write one sentence, or one JSON object, per line.",
)
@click.option(
    "--skip-bad",
    is_flag=True,
    help="For a line that is not an act, write its error instead of a sentence, and continue.",
)
@click.option(
    "--context",
    default="",
    metavar="TEXT",
    help="What the user has said before: for models that use it (model.context) and acts that have none of their own.",
)
@options.generation
@options.backend
@click.option("--output", type=options.PATH, metavar="FILE", help="Write to FILE. [default: standard output]")
@click.option("--resume", is_flag=True, help="Continue the FILE of --output.")
@click.option(
    "--jobs",
    type=click.IntRange(min=1, max=1024),
    default=1,
    metavar="N",
    help="Divide the acts of --input among N processes (through Ray if 2 or more).",
)
def generate(
    *,
    models: tuple[Path, ...],
    acts: tuple[str, ...],
    input_file: str | None,
    output_format: str,
    skip_bad: bool,
    context: str,
    generation: GenerationOptions,
    backend: str,
    output: Path | None,
    resume: bool,
    jobs: int,
) -> None:
    """Generate a sentence for each act: one line per act, in order.

    Acts come from the arguments, from --input, or from a pipe. A line that is blank or not an act ends the output
    there, with exit code 2. With --skip-bad, the output has a line beginning with "# error: " in its place (no sentence
    begins like that), or in JSON {"act", "error"}; the number of such lines is reported at the end, and the exit code
    is 0. A line may also be JSON, {"act": ACT, "context": TEXT}, with what the user has said before.

    If a command with --output is stopped, run it again with --resume: the output is the same as without the stop, to
    the last digit of a score. FILE.state beside FILE records the progress. With --jobs several processes generate,
    through Ray, and the output is the same. $RAY_ADDRESS names a cluster to use instead of this machine.

    \b
    dactnlg generate --model runs/trails-sclstm "inform(name='Ivy Cutting';difficulty=easy)"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --format json > answers.jsonl
    dactnlg generate --model runs/trails-sclstm --sample --temperature 0.8 --n-best 5 --seed 7 "goodbye()"
    dactnlg generate --model runs/trails-sclstm --input acts.txt --output sentences.txt --jobs 4 --resume
    dactnlg generate --model runs/dstc2-context-sclstm --context "any indian food" "request(area)"
    dactnlg generate --model runs/seed-1 --model runs/seed-2 --input acts.txt
    """
    from dactnlg._utils.files import check_folders
    from dactnlg.generation.files.lines import act_chunks, checked, open_acts

    # Like other commands, although --resume and --jobs need a file.
    output = None if str(output) == "-" else output
    given = _parsed(acts, input_file, skip_bad=skip_bad)
    _check(acts, input_file, output, resume=resume, jobs=jobs)
    check_folders(output)
    if not given and input_file is None and sys.stdin.isatty():
        raise UserError("no acts: give them as arguments, with --input FILE, or through a pipe")
    name = input_file or "-"
    with open_acts(name) as source:
        from dactnlg.generation.files.worker import GenerationWorker

        worker = GenerationWorker(models, backend, output_format, generation, skip_bad, checked(context, "--context"))
        # If several processes share a GPU, this one must not take up its memory.
        if jobs == 1 or worker.settings()["backend"] != "keras":
            worker.load()
            if context and not worker.generator.sees_context:
                streams.tell("--context changes nothing: the model was trained without model.context=true")
        if output is not None:
            _write(output, source, name, worker, resume=resume, jobs=jobs)
        else:
            _print([given] if given else act_chunks(source, name), worker)
    if skipped := worker.counts["skipped"]:
        streams.tell(f"acts that were skipped: {skipped}; the line of each says what is wrong with it")


def _parsed(acts: Sequence[str], input_file: str | None, *, skip_bad: bool) -> list[ActRow]:
    """Parse the acts given as arguments: they are few, so all are checked before the model is loaded."""
    from dactnlg.generation.files.lines import BadAct, parsed

    if acts and input_file is not None:
        raise UserError("give acts as arguments or with --input, not both")
    found = [parsed(text, f"act {number}") for number, text in enumerate(acts, 1)]
    for act in found:
        if isinstance(act, BadAct) and not skip_bad:
            raise act.error
    return found


def _check(acts: Sequence[str], input_file: str | None, output: Path | None, *, resume: bool, jobs: int) -> None:
    """Refuse options that contradict each other."""
    if resume and output is None:
        raise UserError("--resume continues a file: name it with --output")
    if acts and output is not None:
        raise UserError("--output is for the acts of a file or a pipe: give them with --input")
    if jobs > 1 and (output is None or not Path(input_file or "-").is_file()):
        raise UserError("--jobs is for the acts of a file, into another: name them with --input and --output")


def _print(chunks: Iterable[list[ActRow]], worker: GenerationWorker) -> None:
    """Print the lines of all acts, each chunk as soon as it is generated."""
    from tqdm import tqdm

    done = 0
    # Sentences printed to a terminal show the progress.
    hidden = True if sys.stdout.isatty() else None
    with tqdm(desc="generating", unit=" acts", delay=2, leave=False, disable=hidden) as bar:
        for chunk in chunks:
            for text in worker.generate(chunk, done):
                print(text)
            sys.stdout.flush()
            done += len(chunk)
            bar.update(len(chunk))


def _write(path: Path, source: BinaryIO, name: str, worker: GenerationWorker, *, resume: bool, jobs: int) -> None:
    """Write a file of sentences; after Ctrl-C, print how to continue."""
    from tqdm import tqdm

    from dactnlg.generation.files.blocks import count_lines, find_blocks
    from dactnlg.generation.files.bulk import SentenceFile

    if jobs > 1:
        from dactnlg._utils import cluster

        cluster.check_installed()
    file = SentenceFile(path, worker.settings())
    total = count_lines(Path(name)) if Path(name).is_file() else None
    shown = "standard input" if name == "-" else name
    with file.opened(source, shown, resume=resume) as lines:
        if jobs > 1:
            from dactnlg.generation.files.parallel import generate_in_parallel

            blocks = find_blocks(Path(name), source.tell(), file.lines)
            steps = file.write_blocks(lines, shown, generate_in_parallel(worker, Path(name), shown, blocks, jobs))
        else:
            steps = file.write(lines, shown, worker.generate, worker.forget)
        bar = tqdm(desc="generating", unit=" acts", total=total, initial=file.lines, delay=2, leave=False, disable=None)
        try:
            with bar:
                for done in steps:
                    bar.update(done - bar.n)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(
                f"{file.path} holds the sentences of the first {file.lines} acts; go on with the same command and "
                "--resume"
            ) from None
