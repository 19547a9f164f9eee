"""The command train-ambiguity."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import connection, terminal
from pgclarify.cli.options import AsOneObject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from pgclarify.algorithms.ambiguity import AmbiguityClassifier
    from pgclarify.config import Settings
    from pgclarify.dialogue import TrainedVersion
    from pgclarify.evaluation.ambiguity_training import Looked
    from pgclarify.evaluation.labelled_log import LabelledQuestion

TRAIN_AMBIGUITY_EXAMPLES = terminal.examples(
    "pgclarify train-ambiguity searches.csv --corpus insurance",
    "pgclarify train-ambiguity chats.jsonl --corpus insurance --field is_ambiguous=needs_clarification",
    "pgclarify train-ambiguity searches.csv --corpus insurance --no-use --json | jq .figures.f1",
)


def train_ambiguity(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="JSON lines or CSV, gzipped or not: question, is_ambiguous (true or false), history.",
        ),
    ],
    corpus: Annotated[
        str, typer.Option("--corpus", "-c", metavar="NAME", help="Corpus whose questions it will judge.")
    ],
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="PART=FIELD",
            help="The name of question, history or is_ambiguous in the file, if it differs; may be repeated.",
        ),
    ] = None,
    use: Annotated[
        bool | None,
        typer.Option("--use/--no-use", metavar="", help="Use it, or only store it, independent of its figures."),
    ] = None,
    as_json: AsOneObject = False,
) -> None:
    """Train the classifier of ambiguity on your own labelled questions, and compare it with the shipped classifier.

    Three in ten questions are held out for comparing. The new version is stored for the corpus. It judges the corpus's
    questions from then on if its F1 is higher than that of the classifier in use, by the whole 95 % interval. Questions
    are embedded in this process. The database gets the trained weights, and no question.
    """
    from pgclarify.algorithms.ambiguity import AmbiguityClassifier
    from pgclarify.cli import training_rendering
    from pgclarify.evaluation.ambiguity_comparison import learn
    from pgclarify.evaluation.ambiguity_training import trainable
    from pgclarify.evaluation.case_fields import CaseFields
    from pgclarify.evaluation.labelled_log import read_labelled_log

    log = read_labelled_log(file, fields=CaseFields.parse(field or []))
    questions = trainable(log.questions)
    terminal.notices().print(training_rendering.log(log, len(questions)))
    settings = connection.load_settings()
    dsn = connection.running_dsn(settings)
    # First check that the role may store the result.
    in_use = _in_use(dsn, corpus)
    shipped = AmbiguityClassifier.load()
    looked = asyncio.run(_look(settings, shipped, questions))
    with _learning():
        outcome = learn(looked, shipped, in_use)
    is_used = outcome.is_to_be_used if use is None else use
    with connection.connect(dsn) as database:
        (stored,) = connection.fetch(
            database,
            "cli_add_trained_classifier",
            corpus=corpus,
            trained=json.dumps(outcome.as_json()),
            weights=outcome.trained.weights,
            is_used=is_used,
        )
    version = stored["version"]
    if as_json:
        terminal.print_json({"corpus": corpus, "version": version, "is_used": is_used, **outcome.as_json()})
        return
    terminal.results().print(training_rendering.comparison(outcome.shipped, "shipped"))
    if outcome.in_use is not None and in_use is not None:
        terminal.results().print(training_rendering.comparison(outcome.in_use, f"version {in_use.version}"))
    terminal.notices().print(training_rendering.stored(outcome, corpus, version, is_used=is_used), soft_wrap=True)


def _in_use(dsn: str, corpus: str) -> TrainedVersion | None:
    from pgclarify.dialogue import TrainedVersion

    with connection.connect(dsn) as database:
        rows = connection.fetch(database, "cli_classifier_in_use", corpus=corpus)
    return TrainedVersion(**rows[0]) if rows else None


async def _look(settings: Settings, shipped: AmbiguityClassifier, questions: Sequence[LabelledQuestion]) -> Looked:
    from pgclarify.cli.corpus import progress_bar
    from pgclarify.corpora.embedders import open_embedders
    from pgclarify.evaluation.ambiguity_training import look

    async with open_embedders(settings) as embedders:
        embedder = await embedders.get(shipped.embedding_model)
        with progress_bar() as progress:
            task = progress.add_task("Embedding questions", total=len(questions))
            return await look(
                shipped, embedder, questions, on_progress=lambda done: progress.update(task, completed=done)
            )


def _learning() -> AbstractContextManager[None]:
    from pgclarify.cli.waiting import waiting

    return waiting("Learning", lambda: "Cancelled; nothing was stored.")
