"""Commands of operations, made from their forms: they ask, show the rows, and say how to explain the run."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from pgclarify.cli import asking, connection, rendering, terminal
from pgclarify.cli.forms import AskingForm, Flag
from pgclarify.cli.options import read_options

# Types of parameters in SQL. Others are texts here.
_TYPES = {"boolean": bool, "integer": int, "bigint": int, "real": float, "text[]": list[str]}
# The short names and the kinds of values of frequent flags.
_SHORT = {"corpus": ("-c", "NAME"), "top_k": ("-k", "N")}
_METAVARS = {"boolean": "", "integer": "N", "bigint": "N", "real": "X", "jsonb": "JSON"}

File = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Many questions, one on each line; - is standard input.")
]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="JSON lines: one object for each row.")]
Timeout = Annotated[float | None, typer.Option(metavar="SECONDS", min=0.001, help="How long to wait.")]


def command(form: AskingForm) -> Callable[..., None]:
    """Make the function of a command."""
    names = f": {', '.join(form.options)}" if form.options else " of the SQL function"
    options = typer.Option("--option", "-o", metavar="NAME=VALUE", help=f"An option{names}; may be repeated.")
    parameters: dict[str, tuple[Any, Any]] = {flag.name: _declared(flag) for flag in form.flags}
    parameters |= {"file": (File, None)} if "questions" in parameters else {}
    parameters |= {"option": (Annotated[list[str] | None, options], None), "as_json": (AsJson, False)}
    parameters["timeout"] = (Timeout, form.timeout)

    def run(**given: Any) -> None:  # noqa: ANN401
        _ask(form, **given)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in parameters.items()
        ]
    )
    run.__annotations__ = {name: kind for name, (kind, _) in parameters.items()}
    run.__doc__ = form.summary
    run.__module__ = __name__
    return run


def examples(form: AskingForm) -> str:
    """Return the examples at the end of the help of a command."""
    asks_many = any(flag.name == "questions" for flag in form.flags)
    return terminal.examples(
        f"pgclarify {form.name} {form.example}",
        f"cut -f2 searches.tsv | pgclarify {form.name} --file - --json | jq ."
        if asks_many
        else f"pgclarify {form.name} 'deductible' --json | jq .",
    )


def _declared(flag: Flag) -> tuple[Any, Any]:
    """Return the annotation and the default of a parameter."""
    kind: Any = _TYPES.get(flag.type, str)
    if flag.name == "questions":
        shown = typer.Argument(metavar="QUESTION...", help="What you want to know.")
        return Annotated[kind | None, shown], None
    if flag.name == "question":
        shown = typer.Argument(metavar="QUESTION", help=f"What you want to know: {flag.meaning}")
    elif flag.is_required:
        shown = typer.Argument(metavar=flag.name.upper(), help=flag.meaning)
    else:
        more = " May be repeated." if flag.type == "text[]" else ""
        short, metavar = _SHORT.get(flag.name, (None, _METAVARS.get(flag.type, "TEXT")))
        names = [f"--{flag.name.replace('_', '-')}", *([short] if short else [])]
        shown = typer.Option(*names, metavar=metavar, help=flag.meaning + more)
    if flag.is_required:
        return Annotated[kind, shown], inspect.Parameter.empty
    return Annotated[kind | None, shown], flag.default


def _ask(
    form: AskingForm,
    *,
    option: list[str] | None,
    timeout: float | None,
    as_json: bool,
    file: Path | None = None,
    **given: Any,  # noqa: ANN401
) -> None:
    if "questions" in given:
        given["questions"] = _questions(given["questions"], file)
    for flag in form.flags:
        if flag.type == "jsonb" and given[flag.name] is not None:
            given[flag.name] = _json(flag, given[flag.name])
    arguments = {name: value for name, value in given.items() if value is not None}
    arguments |= {"timeout": timeout, **read_options(option or [])}
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        rows, run_id = asking.perform(database, form.operation, form.doing, **arguments)
        run = connection.client_of(database).run(run_id)
        question = given.get("question") or run.get("question") or ""
        nothing = asking.nothing(database, question, given.get("corpus"), run) if run and not rows else None
    beside = terminal.notices() if as_json or form.remark is not None else terminal.results()
    if as_json:
        for row in rows:
            # Numbers, also for PostgreSQL's decimals.
            terminal.print_json({name: float(v) if isinstance(v, Decimal) else v for name, v in row.items()})
    elif rows:
        terminal.results().print(getattr(rendering, form.show)(question, rows), soft_wrap=form.remark is not None)
        if form.remark is not None:
            beside.print(getattr(rendering, form.remark)(question, rows))
    if nothing is not None:
        beside.print(nothing)
    elif run:
        for part in rendering.ending(run):
            beside.print(part)
    if rows and run and not as_json:
        beside.print(rendering.explain_hint(run["run_id"], run["cost_usd"]))
    if form.remark is not None and run.get("status") == "partial":
        raise typer.Exit(1)


def _questions(questions: Sequence[str] | None, file: Path | None) -> list[str]:
    """Return the questions: those that are given, or the lines of a file.

    Raises:
        typer.BadParameter: If there are both, or none of them.
    """
    from pgclarify.evaluation.data_sets import read_lines

    if bool(questions) == (file is not None):
        raise typer.BadParameter("give either questions or --file, and only one of them", param_hint="QUESTION")
    if file is None:
        return list(questions or ())
    path = Path("/dev/stdin") if str(file) == terminal.STANDARD_STREAM else file
    return [line.strip() for _, line in read_lines(path)]


def _json(flag: Flag, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise typer.BadParameter(f"{text!r} is no JSON", param_hint=f"--{flag.name}") from None
