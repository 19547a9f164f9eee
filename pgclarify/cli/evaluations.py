"""The group of commands under eval, with list, remove and report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from pgclarify.cli import comparing, evaluating, terminal, training
from pgclarify.cli.rendering import table
from pgclarify.errors import NotFound

if TYPE_CHECKING:
    from pgclarify.database.evaluations import EvaluationTables, Rated

app = typer.Typer(no_args_is_help=True)
_Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - is standard output.")
]
app.command(epilog=evaluating.RUN_EXAMPLES)(evaluating.run)
app.command(epilog=comparing.COMPARE_EXAMPLES)(comparing.compare)


@app.command(
    "from-feedback",
    epilog=terminal.examples(
        "pgclarify eval from-feedback --corpus insurance", "pgclarify eval from-feedback --output - | jq .question"
    ),
)
def from_feedback(
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", "-c", metavar="NAME", help="Corpus; may be left out if there is only one."),
    ] = None,
    output: _Output = "feedback.jsonl",
) -> None:
    """Make a data set of what people say of readings, for eval run: right, missing and wrong answers."""
    from pgclarify.evaluation.feedback import cases_from

    async def rated(tables: EvaluationTables) -> tuple[str, list[Rated]]:
        name = (await tables.corpus(corpus)).name
        return name, await tables.feedback(name)

    name, given = comparing.read(rated)
    found = cases_from(given)
    for reason, count in found.unused.items():
        if count:
            terminal.notices().print(f"Not used: {count:,} of {len(given):,} that {reason}.", soft_wrap=True)
    if not found.lines:
        raise NotFound(
            f"corpus {name} has no feedback that makes a case",
            detail="Or you may not see it.",
            hint="Say that an answer is right, wrong or missing: pgclarify feedback RUN_ID ORDINAL right",
        )
    terminal.write_page("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in found.lines), output)


@app.command(epilog=terminal.examples("pgclarify eval report", "pgclarify eval report 12 13 rac --output tuning.html"))
def report(
    references: Annotated[
        list[str] | None,
        typer.Argument(metavar="EVALUATION...", help="Ids or names; if left out, those of the latest data set."),
    ] = None,
    output: _Output = "evaluations.html",
) -> None:
    """Write evaluations side by side as one HTML page: figures and single cases."""
    from pgclarify.reports.evaluation_page import evaluation_page, read_evaluations

    terminal.write_page(
        evaluation_page(comparing.read(lambda tables: read_evaluations(tables, references or []))), output
    )


@app.command("list", epilog=terminal.examples("pgclarify eval list", "pgclarify eval list --json | jq .figures"))
def list_evaluations(
    limit: Annotated[int, typer.Option(metavar="N", min=1, help="Show the latest N.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="JSON lines, one object an evaluation.")] = False,
) -> None:
    """List evaluations, newest first."""
    found = comparing.read(lambda tables: tables.evaluations())[:limit]
    rows = []
    for one in found:
        if as_json:
            row = {name: getattr(one, name) for name in type(one).__slots__ if name != "data_set_hash"}
            terminal.print_json(row)
        done = f"{one.done_cases:,}" if one.finished_at else f"{one.done_cases:,} of {one.planned_cases:,}"
        coverage = (one.figures or {}).get("coverage")
        value = None if coverage is None else evaluating.shown(coverage["value"])
        rows.append((str(one.eval_run_id), one.name, one.data_set, one.corpus_name, done, value, one.created_at))
    if not as_json:
        shown = table(("id", "name", "data set", "corpus", "cases", "coverage", "begun"), rows)
        terminal.results().print(shown if found else "There is no evaluation. Start one with: pgclarify eval run")


@app.command(epilog=terminal.examples("pgclarify eval remove 12 13"))
def remove(
    eval_run_ids: Annotated[list[int], typer.Argument(metavar="ID...", help="Ids, as eval list shows them.")],
) -> None:
    """Remove evaluations of your role with their cases. Runs and paid replies stay."""
    for eval_run_id in eval_run_ids:
        if not comparing.read(lambda tables, one=eval_run_id: tables.remove(one)):  # type: ignore[misc]
            raise NotFound(f"evaluation {eval_run_id} does not exist", detail="Or it is not yours.")
        terminal.notices().print(f"Removed evaluation {eval_run_id}.")


app.command("train-ambiguity", epilog=training.TRAIN_AMBIGUITY_EXAMPLES)(training.train_ambiguity)
