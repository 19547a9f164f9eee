"""The command eval train-ambiguity."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import connection, progress, terminal
from pgclarify.cli.rendering import Figure, table
from pgclarify.config import Settings

if TYPE_CHECKING:
    from pgclarify.algorithms.ambiguity import AmbiguityClassifier
    from pgclarify.evaluation.ambiguity_training import Examples, LabelledQuestion

TRAIN_AMBIGUITY_EXAMPLES = terminal.examples(
    "pgclarify eval train-ambiguity searches.csv --corpus insurance",
    "pgclarify eval train-ambiguity searches.csv --corpus insurance --no-use --json | jq .figures.f1",
)


_SIDES = (("before", ""), ("trained", ""), ("difference", "+"))


def train_ambiguity(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="JSON lines or CSV, gzipped or not: question, is_ambiguous (true or false), history."
        ),
    ],
    corpus: Annotated[
        str, typer.Option("--corpus", "-c", metavar="NAME", help="Corpus whose questions it will judge.")
    ],
    use: Annotated[
        bool | None,
        typer.Option("--use/--no-use", metavar="", help="Use it, or only store it, independent of its figures."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="One JSON object.")] = False,
) -> None:
    """Train the classifier of ambiguity on your own labelled questions, and compare it with the shipped classifier.

    Three in ten questions are held out for comparing. The new version is stored for the corpus. It judges the corpus's
    questions from then on if its F1 is higher than that of the classifier in use, by the whole 95 % interval. Questions
    are embedded in this process. The database gets the trained weights, and no question.
    """
    from pgclarify.algorithms.ambiguity import AmbiguityClassifier
    from pgclarify.database.evaluations import add_trained_classifier, classifier_in_use
    from pgclarify.evaluation.ambiguity_training import compare, is_better, read_log, train, trainable, usable

    questions = trainable(read_log(file))
    settings = connection.load_settings()
    dsn = connection.running_dsn(settings)
    # First check that the role may store the result.
    with connection.connect(dsn) as database:
        found = classifier_in_use(database, corpus)
    shipped = AmbiguityClassifier.load()
    in_use = usable(found, shipped)
    examples = asyncio.run(_see(settings, shipped, questions))
    with progress.waiting("Learning"):
        trained = train(examples, shipped)
        figures = compare(examples, None, trained)
        rival = figures if in_use is None else compare(examples, in_use, trained)
    is_used = is_better(rival) if use is None else use
    stored = {
        "shipped_version": trained.shipped_version,
        "examples": len(questions) - figures["questions"],
        "threshold": trained.threshold,
        "judges_questions": trained.judges_questions,
        "judges_conversations": trained.judges_conversations,
        "figures": figures,
        "is_better": is_better(figures),
    }
    with connection.connect(dsn) as database:
        version = add_trained_classifier(database, corpus, stored, trained.weights, is_used=is_used)
    if as_json:
        terminal.print_json({"corpus": corpus, "version": version, "is_used": is_used, **stored})
        return
    _show("the classifier that ships" if in_use is None else "the version in use", rival)
    chosen = "null" if is_used else version
    terminal.notices().print(
        f"Version {version} {'judges from now on' if is_used else 'is stored and not used'}. To change that, set "
        f'option ambiguity_classifier of alter_corpus: {{"ambiguity_classifier": {chosen}}}.',
        soft_wrap=True,
    )


def _show(before: str, figures: Mapping[str, Any]) -> None:
    row = ("f1", *(_cell(figures["f1"][side], sign) for side, sign in _SIDES))
    held = f"{figures['questions']:,} questions held out, {figures['ambiguous']:,} of them ambiguous"
    terminal.results().print(f"{held}; 95 % intervals")
    terminal.results().print(table(("", before, "yours", "difference"), [row]))


def _cell(figure: Sequence[float], sign: str) -> Figure:
    value, *ends = (format(number, f"{sign}.3f") for number in figure)
    return Figure(f"{value} ({ends[0]} to {ends[1]})")


async def _see(settings: Settings, shipped: AmbiguityClassifier, questions: Sequence[LabelledQuestion]) -> Examples:
    from pgclarify.corpora.embedders import open_embedders
    from pgclarify.evaluation.ambiguity_training import see

    async with open_embedders(settings) as embedders:
        embedder = await embedders.get(shipped.embedding_model)
        with progress.bars() as bars:
            task = bars.add_task("Embedding questions", total=len(questions))
            return await see(shipped, embedder, questions, on_progress=lambda done: bars.update(task, completed=done))
