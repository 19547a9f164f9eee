"""Commands of operations, made from their forms: they ask, show the rows, and say how to explain the run."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from pgclarify.cli import asking, connection, result_rendering, terminal
from pgclarify.cli.forms import AskingForm, Flag
from pgclarify.cli.options import read_options
from pgclarify.cli.rendering import Row

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
    parameters = [_parameter(flag) for flag in form.flags]
    if _asks_many(form):
        parameters.append(_named("file", File, None))
    parameters.append(_named("option", _options(form), None))
    parameters.append(_named("as_json", AsJson, False))
    parameters.append(_named("timeout", Timeout, form.timeout))

    def run(**given: Any) -> None:  # noqa: ANN401
        _ask(form, **given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__doc__ = form.summary
    run.__module__ = __name__
    return run


def examples(form: AskingForm) -> str:
    """Return the examples at the end of the help of a command."""
    as_json = f"pgclarify {form.name} 'deductible' --json | jq ."
    if _asks_many(form):
        as_json = f"cut -f2 searches.tsv | pgclarify {form.name} --file - --json | jq ."
    return terminal.examples(f"pgclarify {form.name} {form.example}", as_json)


def _asks_many(form: AskingForm) -> bool:
    return any(flag.name == "questions" for flag in form.flags)


def _options(form: AskingForm) -> Any:  # noqa: ANN401
    """Return the annotation of the parameter for all options that are no flags."""
    about = "An option of the SQL function"
    if form.options:
        names = ", ".join(form.options)
        about = f"An option: {names}"
    shown = typer.Option("--option", "-o", metavar="NAME=VALUE", help=f"{about}; may be repeated.")
    return Annotated[list[str] | None, shown]


def _parameter(flag: Flag) -> inspect.Parameter:
    kind: Any = _TYPES.get(flag.type, str)
    shown = _shown(flag)
    # Questions may be in a file instead.
    if flag.is_required and flag.name != "questions":
        return _named(flag.name, Annotated[kind, shown], inspect.Parameter.empty)
    return _named(flag.name, Annotated[kind | None, shown], flag.default)


def _shown(flag: Flag) -> Any:  # noqa: ANN401
    """Return how the help shows a flag."""
    if flag.name == "questions":
        return typer.Argument(metavar="QUESTION...", help="What you want to know.")
    if flag.name == "question":
        return typer.Argument(metavar="QUESTION", help=f"What you want to know: {flag.meaning}")
    if flag.is_required:
        return typer.Argument(metavar=flag.name.upper(), help=flag.meaning)
    names = ["--" + flag.name.replace("_", "-")]
    metavar = _METAVARS.get(flag.type, "TEXT")
    if flag.name in _SHORT:
        short, metavar = _SHORT[flag.name]
        names.append(short)
    meaning = flag.meaning
    if flag.type == "text[]":
        meaning += " May be repeated."
    return typer.Option(*names, metavar=metavar, help=meaning)


def _named(name: str, annotation: Any, default: object) -> inspect.Parameter:  # noqa: ANN401
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _ask(
    form: AskingForm,
    *,
    option: list[str] | None,
    timeout: float | None,
    as_json: bool,
    file: Path | None = None,
    **given: Any,  # noqa: ANN401
) -> None:
    """Ask, and show the rows, or why there are none, and how to explain the run."""
    if _asks_many(form):
        given["questions"] = _questions(given["questions"], file)
    arguments = _arguments(form, given) | read_options(option or [])
    with connection.connected() as database:
        rows, run_id, is_served = asking.perform(database, form.operation, form.doing, timeout=timeout, **arguments)
        run = connection.client_of(database).run(run_id)
        question = given.get("question") or run.get("question") or ""
        nothing = None
        if run and not rows:
            nothing = asking.nothing(database, question, given.get("corpus"), run)

    # If programs read the result, everything else is on the other stream.
    beside = terminal.notices() if as_json or form.remark is not None else terminal.results()
    if as_json:
        _print_as_json(rows)
    elif rows:
        _print_rows(form, question, rows)
    if nothing is not None:
        beside.print(nothing)
    elif run:
        for part in result_rendering.ending(run):
            beside.print(part)
    if run and not as_json and (more := result_rendering.less_sure(rows, run)):
        beside.print(more)
    if rows and run and not as_json:
        beside.print(result_rendering.explain_hint(run["run_id"], run["cost_usd"], is_served=is_served))
    if form.remark is not None and run.get("status") == "partial":
        raise typer.Exit(1)


def _arguments(form: AskingForm, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the client's method: what was given, with values of JSON decoded."""
    arguments = {name: value for name, value in given.items() if value is not None}
    for flag in form.flags:
        if flag.type == "jsonb" and flag.name in arguments:
            arguments[flag.name] = _json(flag, arguments[flag.name])
    return arguments


def _print_as_json(rows: Iterable[Row]) -> None:
    for row in rows:
        shown = dict(row)
        for name, value in row.items():
            # PostgreSQL's decimals are numbers in JSON, too.
            if isinstance(value, Decimal):
                shown[name] = float(value)
        terminal.print_json(shown)


def _print_rows(form: AskingForm, question: str, rows: Sequence[Row]) -> None:
    render = getattr(result_rendering, form.show)
    if form.remark is None:
        terminal.results().print(render(question, rows))
        return
    # Programs may read the result, so its lines are not broken.
    terminal.results().print(render(question, rows), soft_wrap=True)
    render_remark = getattr(result_rendering, form.remark)
    terminal.notices().print(render_remark(question, rows))


def _questions(questions: Sequence[str] | None, file: Path | None) -> list[str]:
    """Return the questions: those that are given, or the lines of a file.

    Raises:
        typer.BadParameter: If there are both, or none of them.
    """
    from pgclarify.evaluation.data_sets import read_lines

    has_file = file is not None
    if has_file == bool(questions):
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
