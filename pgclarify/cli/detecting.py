"""The commands detect and rewrite."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import asking, connection, terminal
from pgclarify.cli.options import AsOneObject, Timeout, with_flags
from pgclarify.cli.questions import STANDARD_INPUT, Questions, check_file, read_questions
from pgclarify.cli.waiting import interruptible, read_seconds, waiting
from pgclarify.errors import RunFailed, RunTimeout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from pgclarify.cli.rendering import Row

DETECT_EXAMPLES = terminal.examples(
    "pgclarify detect 'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
    "pgclarify detect 'rental cars' --corpus insurance",
    "pgclarify detect --file searches.txt --json | jq -r 'select(.is_ambiguous) | .question'",
    "cut -f2 searches.tsv | pgclarify detect -",
)
REWRITE_EXAMPLES = terminal.examples(
    "pgclarify rewrite 'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
    "pgclarify rewrite 'And abroad?' --history 'Is a rental car insured?' --json | jq -r .reason",
)
# Batches are as fast as all questions at once, and the first lines appear soon.
_QUESTIONS_AT_ONCE = 2_000

History = Annotated[
    list[str] | None,
    typer.Option("--history", metavar="TEXT", help="An earlier turn, of either side; may be repeated, oldest first."),
]
Threshold = Annotated[
    float | None,
    typer.Option(metavar="X", min=0.0, max=1.0, help="A question is ambiguous if its probability is at least this."),
]
OtherOptions = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the SQL function; may be repeated."),
]


def detect(
    context: typer.Context,
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="The question; - reads many from standard input.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Many questions, one on each line."),
    ] = None,
    history: History = None,
    corpus: Annotated[
        str | None,
        typer.Option(
            "--corpus",
            "-c",
            metavar="NAME",
            help="Use its rules and classifier. For a single question, also count the readings that it supports.",
        ),
    ] = None,
    threshold: Threshold = None,
    option: OtherOptions = None,
    timeout: Annotated[
        str | None, typer.Option(metavar="INTERVAL", help="How long to wait: 60s for one question, else without limit.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", metavar="", help="JSON lines: one object for each question.")
    ] = False,
) -> None:
    """Say whether one question, or each of many, is ambiguous, and why. It needs no language model."""
    if (question is None) == (file is None):
        raise typer.BadParameter("give either a question or --file, and only one of them", param_hint="QUESTION")
    check_file(file)
    options = with_flags(context, option or [], corpus=corpus, threshold=threshold, timeout=timeout)
    if question is not None and question != STANDARD_INPUT:
        _detect_one(question, history or [], options, as_json=as_json)
        return
    if history:
        raise typer.BadParameter("use it with a single question", param_hint="--history")
    _detect_many(read_questions(file), options, as_json=as_json)


def _detect_one(question: str, history: Sequence[str], options: dict[str, object], *, as_json: bool) -> None:
    from pgclarify.cli import dialogue_rendering, rendering

    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database, _looking():
        (row,) = connection.fetch(
            database, "client_detect_ambiguity", question=question, history=history, options=json.dumps(options)
        )
        run = asking.get_run(database, row["run_id"])
    if as_json:
        # As the first and only row of many questions.
        as_one = {"question_ordinal": 1, "question": question.strip(), **row, "status": run["status"]}
        terminal.print_json({**as_one, "line": None})
        return
    terminal.results().print(dialogue_rendering.ambiguity(row))
    terminal.results().print(rendering.explain_hint(row["run_id"]))


def _looking() -> AbstractContextManager[None]:
    # It pays for nothing.
    return waiting("Looking at the question", lambda: "Cancelled.")


def _detect_many(questions: Questions, options: dict[str, object], *, as_json: bool) -> None:
    from pgclarify.cli import dialogue_rendering
    from pgclarify.cli.corpus import progress_bar
    from pgclarify.cli.rendering import counted

    ambiguous = looked_at = 0
    total = len(questions.texts)
    lost: list[int] = []
    settings = connection.load_settings()
    with (
        connection.connect(connection.running_dsn(settings)) as database,
        interruptible(lambda: f"Cancelled; {looked_at:,} of {counted(total, 'question')} were looked at."),
        progress_bar() as progress,
    ):
        task = progress.add_task("Looking at questions", total=total)
        for looked_at, rows in _in_batches(database, questions, options):
            ambiguous += sum(bool(row["is_ambiguous"]) for row in rows)
            lost += [row["run_id"] for row in rows if row["is_ambiguous"] is None]
            # Output on the other stream would break the moving line.
            progress.stop()
            if as_json:
                for row in rows:
                    terminal.print_json(row)
            else:
                if looked_at == len(rows):
                    terminal.results().print(dialogue_rendering.ambiguities_head())
                terminal.results().print(dialogue_rendering.ambiguities(rows), soft_wrap=True)
            progress.update(task, completed=looked_at)
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


def _in_batches(
    database: connection.Database, questions: Questions, options: dict[str, object]
) -> Iterator[tuple[int, list[Row]]]:
    """Ask in batches; yield how many are done, and the last rows, with their place and line.

    Raises:
        RunTimeout: If the time is up.
    """
    timeout = options.get("timeout")
    # The server refuses a value that is not a text, as for any option.
    limit = read_seconds(database, timeout) if isinstance(timeout, str) else None
    submit_options = {name: value for name, value in options.items() if name != "timeout"}
    began = time.monotonic()
    total = len(questions.texts)
    for start in range(0, total, _QUESTIONS_AT_ONCE):
        left = 0.0
        if limit is not None:
            left = limit - (time.monotonic() - began)
            if left <= 0:
                raise _timed_out(timeout, start, total)
        batch = list(questions.texts[start : start + _QUESTIONS_AT_ONCE])
        (submitted,) = connection.fetch(
            database,
            "client_submit_many",
            operation="detect_ambiguity",
            questions=batch,
            corpus=None,
            options=json.dumps(submit_options),
        )
        run_ids = submitted["run_ids"]
        outcomes = connection.fetch(
            database,
            "client_wait",
            run_ids=list(dict.fromkeys(run_ids)),
            timeout=None if limit is None else f"{left:f} seconds",
        )
        if any(outcome["status"] in ("queued", "running") for outcome in outcomes):
            raise _timed_out(timeout, start, total)
        rows = connection.fetch(database, "cli_list_detections", questions=batch, run_ids=run_ids)
        yield (
            start + len(batch),
            [row | _place(questions, start + row["question_ordinal"]) for row in rows],
        )


def _timed_out(timeout: object, done: int, total: int) -> RunTimeout:
    return RunTimeout(
        f"not all questions were judged within {timeout}",
        detail=f"{done:,} of {total:,} are done.",
        hint="Ask again with a longer --timeout.",
    )


def _place(questions: Questions, ordinal: int) -> dict[str, int]:
    return {"question_ordinal": ordinal, "line": questions.lines[ordinal - 1]}


def rewrite(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question that depends on earlier turns.")],
    history: History = None,
    corpus: Annotated[
        str | None, typer.Option("--corpus", "-c", metavar="NAME", help="Whose rules and classifier count.")
    ] = None,
    threshold: Threshold = None,
    option: OtherOptions = None,
    timeout: Timeout = "60s",
    as_json: AsOneObject = False,
) -> None:
    """Rewrite a question, using the earlier turns, so that it stands alone. A clear question is not changed.

    Without a language model, no question is changed. Only the question is written to standard output; remarks are not.
    The exit code is 1 if the model failed; then the question is not changed either.
    """
    from pgclarify.cli import dialogue_rendering, rendering

    options = with_flags(context, option or [], corpus=corpus, threshold=threshold, timeout=timeout)
    settings = connection.load_settings()
    with connection.connect(connection.running_dsn(settings)) as database, waiting("Rewriting the question"):
        (row,) = connection.fetch(
            database,
            "client_rewrite",
            question=question,
            history=history or [],
            options=json.dumps(options),
        )
        run = asking.get_run(database, row["run_id"])
    if as_json:
        terminal.print_json({**row, "status": run["status"]})
    else:
        terminal.results().print(rendering.printable(row["rewritten"]), soft_wrap=True)
        terminal.notices().print(dialogue_rendering.rewriting(row))
        terminal.notices().print(rendering.explain_hint(row["run_id"]))
    if run["status"] == "partial":
        raise typer.Exit(1)
