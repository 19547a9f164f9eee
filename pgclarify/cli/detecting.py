"""The command detect-ambiguity."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.options import read_options
from pgclarify.cli.questions import STANDARD_INPUT, Questions, check_file, read_questions
from pgclarify.cli.waiting import interruptible, read_seconds
from pgclarify.errors import RunFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pgclarify.cli.rendering import Row
    from pgclarify.client import Client

DETECT_AMBIGUITY_EXAMPLES = terminal.examples(
    "pgclarify detect-ambiguity 'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.' --rewrite",
    "pgclarify detect-ambiguity 'rental cars' --corpus insurance",
    "pgclarify detect-ambiguity --file searches.txt --json | jq -r 'select(.is_ambiguous) | .question'",
)
# Batches are as fast as all questions at once, and the first lines appear soon.
_QUESTIONS_AT_ONCE = 2_000


def detect_ambiguity(
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="The question; - reads many from standard input.")
    ] = None,
    file: Annotated[Path | None, typer.Option(metavar="PATH", help="Many questions, one on each line.")] = None,
    history: Annotated[
        list[str] | None,
        typer.Option(
            "--history", metavar="TEXT", help="An earlier turn, of either side; may be repeated, oldest first."
        ),
    ] = None,
    rewrite: Annotated[
        bool,
        typer.Option(
            "--rewrite", metavar="", help="Rewrite the question so that it stands alone. Needs a language model."
        ),
    ] = False,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            "-c",
            metavar="NAME",
            help="Use its rules and classifier. For a single question, also count the readings that it supports.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the SQL function; may be repeated."),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="DURATION", help="How long to wait: 60s for one question, else without limit.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each question.")
    ] = False,
) -> None:
    """Say whether a question, or each of many, is ambiguous, and why; or rewrite it so that it is not.

    With --rewrite, only the question is written to standard output. A clear question is not changed. The exit code is 1
    if the model failed; then the question is not changed either.
    """
    if (question is None) == (file is None):
        raise typer.BadParameter("give either a question or --file, and only one of them", param_hint="QUESTION")
    check_file(file)
    options = read_options(option or []) | ({} if corpus is None else {"corpus": corpus})
    is_one = question is not None and question != STANDARD_INPUT
    if not is_one and (history or rewrite):
        raise typer.BadParameter("use it with a single question", param_hint="--history" if history else "--rewrite")
    many = None if is_one else read_questions(file)
    seconds = read_seconds(timeout) if timeout is not None else 60.0 if is_one else None
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        if many is None:
            options |= {"question": question, "history": history or []}
            _one(database, "rewrite" if rewrite else "detect_ambiguity", options, seconds, as_json=as_json)
        else:
            _many(database, many, options, seconds, as_json=as_json)


def _one(
    database: connection.Database, operation: str, options: dict[str, Any], seconds: float | None, *, as_json: bool
) -> None:
    from pgclarify.cli import dialogue_rendering, rendering

    (row,), _ = asking.perform(database, operation, "Looking at the question", timeout=seconds, **options)
    run = asking.get_run(database, row["run_id"])
    if as_json:
        terminal.print_json({**row, "status": run["status"]})
    elif operation == "rewrite":
        terminal.results().print(rendering.printable(row["rewritten"]), soft_wrap=True)
        terminal.notices().print(dialogue_rendering.rewriting(row))
        terminal.notices().print(rendering.explain_hint(row["run_id"]))
    else:
        terminal.results().print(dialogue_rendering.ambiguity(row))
        terminal.results().print(rendering.explain_hint(row["run_id"]))
    if run["status"] == "partial":
        raise typer.Exit(1)


def _many(
    database: connection.Database,
    questions: Questions,
    options: dict[str, object],
    seconds: float | None,
    *,
    as_json: bool,
) -> None:
    from pgclarify.cli import dialogue_rendering
    from pgclarify.cli.corpus import progress_bar
    from pgclarify.cli.rendering import counted

    client = connection.client_of(database)
    asking.require_worker(client)
    ambiguous = done = 0
    total = len(questions.texts)
    lost: list[int] = []
    with (
        interruptible(lambda: f"Cancelled; {done:,} of {counted(total, 'question')} were looked at."),
        progress_bar() as progress,
    ):
        task = progress.add_task("Looking at questions", total=total)
        for rows in _batches(client, questions, options, seconds):
            done += len(rows)
            # Output on the other stream would break the moving line.
            progress.stop()
            if as_json:
                for row in rows:
                    terminal.print_json(row)
            else:
                if done == len(rows):
                    terminal.results().print(dialogue_rendering.ambiguities_head())
                terminal.results().print(dialogue_rendering.ambiguities(rows), soft_wrap=True)
            ambiguous += sum(bool(row["is_ambiguous"]) for row in rows)
            lost += [row["run_id"] for row in rows if row["is_ambiguous"] is None]
            progress.update(task, completed=done)
            progress.start()
    terminal.notices().print(dialogue_rendering.ambiguities_end(ambiguous, total - len(lost)))
    if questions.blank:
        verb = "was" if questions.blank == 1 else "were"
        terminal.notices().print(f"{counted(questions.blank, 'blank line')} {verb} left out.")
    if lost:
        raise RunFailed(
            f"{counted(len(lost), 'question')} could not be judged",
            detail=f"The first of them is in run {lost[0]}, which failed or was cancelled.",
            hint=f"See pgclarify explain {lost[0]}",
        )


def _batches(
    client: Client, questions: Questions, options: dict[str, Any], seconds: float | None
) -> Iterator[list[Row]]:
    """Ask in batches; yield their rows, each with the place and the line of its question."""
    import psycopg

    for start in range(0, len(questions.texts), _QUESTIONS_AT_ONCE):
        batch = list(questions.texts[start : start + _QUESTIONS_AT_ONCE])
        run_ids = client.submit_many("detect_ambiguity", batch, **options)
        # In the order of the questions, each once.
        runs = list(dict.fromkeys(run_ids))
        asking.wait(client, runs, seconds)
        found: dict[str, Row] = {}
        for run_id in runs:
            try:
                found |= {row.question: asdict(row) for row in client.result(run_id)}
            except psycopg.Error as error:
                # PC003: the run failed or was cancelled.
                if error.sqlstate != "PC003":
                    raise
        yield [
            _judged(question, run_id, found.get(question))
            | {"question_ordinal": start + place + 1, "line": questions.lines[start + place]}
            for place, (question, run_id) in enumerate(zip(batch, run_ids, strict=True))
        ]


def _judged(question: str, run_id: int, row: Row | None) -> dict[str, object]:
    lost: dict[str, object] = {"run_id": run_id, "is_ambiguous": None, "probability": None, "kind": None, "reasons": []}
    judged = {name: (row or lost)[name] for name in lost}
    return {**judged, "question": question, "status": "succeeded" if row else "failed"}
