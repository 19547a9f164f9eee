"""Commands of operations, made from one table: they ask, show the rows, and say how to explain the run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from pgclarify.cli import asking, connection, rendering, terminal
from pgclarify.cli.options import read_options


@dataclass(frozen=True, slots=True)
class Operation:
    """A command that asks.

    Attributes:
        name: The client's method.
        summary: The command's sentence.
        doing: What is shown meanwhile.
        show: The function in `rendering` that renders a question and its rows, at least one.
        example: The end of its example.
        timeout: How many seconds it waits by default.
        top_k: The default number of passages; None without this option.
        has_history: Whether it has option --history.
        remark: Likewise for what is written to standard error, so that only the result is on standard output; None if
            all is the result. The exit code is then 1 if the run ended early.
    """

    name: str
    summary: str
    doing: str
    show: str
    example: str
    timeout: float = 60.0
    top_k: int | None = None
    has_history: bool = False
    remark: str | None = None


OPERATIONS: Mapping[str, Operation] = {
    "ask": Operation(
        "clarify",
        "Ask a vague question; get the readings that documents answer, each with its proof.",
        "Reading passages",
        "readings",
        "'rental cars' --corpus insurance --top-k 50",
        top_k=20,
    ),
    "search": Operation(
        "search",
        "Find the passages that match a question best, without judging them.",
        "Searching",
        "passages",
        "'rental cars' --corpus insurance -o method=lexical",
        top_k=10,
    ),
    "list-answers": Operation(
        "list_answers",
        "List all answers of a question, each one once, with its proof.",
        "Looking for answers",
        "answers",
        "'Which companies insure rental cars?' -o max_answers=3",
        timeout=300.0,
        top_k=20,
    ),
    "investigate": Operation(
        "investigate",
        "Split a question into steps, answer each, and prove the answer. Needs a language model.",
        "Taking the question apart",
        "investigation",
        "'Who pays for the car that replaces one damaged by hail?' -o max_steps=2",
        timeout=300.0,
    ),
    "detect-ambiguity": Operation(
        "detect_ambiguity",
        "Say whether a question is ambiguous, and why. With --corpus, its rules and its classifier judge.",
        "Looking at the question",
        "ambiguity",
        "'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
        has_history=True,
    ),
    "rewrite": Operation(
        "rewrite",
        "Rewrite a question so that it stands alone. A clear question stays as it is. Needs a language model.",
        "Looking at the question",
        "rewritten",
        "'When was she born?' --history 'Who wrote Emma?' --history 'Jane Austen.'",
        has_history=True,
        remark="why_rewritten",
    ),
    "clarifying-questions": Operation(
        "clarifying_questions",
        "Ask back about a vague question. Needs a language model.",
        "Thinking of what to ask back",
        "proposals",
        "'rental cars' --corpus insurance -o form=select",
        timeout=300.0,
        has_history=True,
    ),
}

Corpus = Annotated[
    str | None,
    typer.Option("--corpus", "-c", metavar="NAME", help="Corpus to ask; may be left out if there is only one."),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the SQL function; may be repeated."),
]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="JSON lines: one object for each row.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know.")]
History = Annotated[
    list[str] | None,
    typer.Option("--history", metavar="TEXT", help="An earlier turn, of either side; may be repeated, oldest first."),
]
# The server knows the limits of each function.
TopK = Annotated[int, typer.Option("--top-k", "-k", metavar="N", help="How many passages.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", min=0.001, help="How long to wait.")]


def command(name: str) -> Callable[..., None]:
    """Make the function of a command, with the options that its operation has."""
    operation = OPERATIONS[name]
    parameters: dict[str, tuple[Any, Any]] = {"question": (Question, inspect.Parameter.empty)}
    parameters |= {"top_k": (TopK, operation.top_k)} if operation.top_k is not None else {}
    parameters |= {"history": (History, None)} if operation.has_history else {}
    parameters |= {"corpus": (Corpus, None), "option": (Options, None), "as_json": (AsJson, False)}
    parameters["timeout"] = (Timeout, operation.timeout)

    def run(**given: Any) -> None:  # noqa: ANN401
        _ask(operation, **given)

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in parameters.items()
        ]
    )
    run.__annotations__ = {name: kind for name, (kind, _) in parameters.items()}
    run.__doc__ = operation.summary
    run.__module__ = __name__
    return run


def _ask(
    operation: Operation,
    *,
    question: str,
    option: list[str] | None,
    timeout: float,
    as_json: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    arguments: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    arguments |= {"question": question, "timeout": timeout, **read_options(option or [])}
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        rows, run_id = asking.perform(database, operation.name, operation.doing, **arguments)
        run = connection.client_of(database).run(run_id)
        nothing = asking.nothing(database, question, given["corpus"], run) if run and not rows else None
    beside = terminal.notices() if as_json or operation.remark is not None else terminal.results()
    if as_json:
        for row in rows:
            terminal.print_json(row)
    elif rows:
        terminal.results().print(
            getattr(rendering, operation.show)(question, rows), soft_wrap=operation.remark is not None
        )
        if operation.remark is not None:
            beside.print(getattr(rendering, operation.remark)(question, rows))
    if nothing is not None:
        beside.print(nothing)
    elif run:
        for part in rendering.ending(run):
            beside.print(part)
    if rows and run and not as_json:
        beside.print(rendering.explain_hint(run["run_id"], run["cost_usd"]))
    if operation.remark is not None and run.get("status") == "partial":
        raise typer.Exit(1)


def estimate(
    questions: Annotated[list[str] | None, typer.Argument(metavar="QUESTION...", help="What you want to know.")] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Many questions, one on each line; - is standard input.")
    ] = None,
    corpus: Corpus = None,
    top_k: TopK = 20,
    option: Options = None,
    timeout: Timeout = 60.0,
    as_json: AsJson = False,
) -> None:
    """Estimate what asking questions would cost. No language model is called.

    Replies that are paid for already cost nothing. Questions whose answers can be reused cost nothing either.
    """
    from pgclarify.evaluation.data_sets import read_lines

    if bool(questions) == (file is not None):
        raise typer.BadParameter("give either questions or --file, and only one of them", param_hint="QUESTION")
    if file is not None:
        path = Path("/dev/stdin") if str(file) == terminal.STANDARD_STREAM else file
        questions = [line.strip() for _, line in read_lines(path)]
    arguments: dict[str, Any] = {"questions": questions, "corpus": corpus, "top_k": top_k, "timeout": timeout}
    arguments |= read_options(option or [])
    with connection.connect(connection.running_dsn(connection.load_settings())) as database:
        (row,), run_id = asking.perform(database, "estimate", "Looking at what would be asked", **arguments)
    cost = row["cost_usd"]
    if as_json:
        # Numbers, also for PostgreSQL's decimals.
        terminal.print_json({**row, "cost_usd": None if cost is None else float(cost)})
        return
    terminal.results().print(rendering.columns({**row, "cost_usd": "unknown" if cost is None else cost}))
    if run_id is not None:
        terminal.notices().print(rendering.explain_hint(run_id))


ask, search, list_answers, investigate, detect_ambiguity, rewrite, clarifying_questions = map(command, OPERATIONS)
(
    ASK_EXAMPLES,
    SEARCH_EXAMPLES,
    LIST_ANSWERS_EXAMPLES,
    INVESTIGATE_EXAMPLES,
    DETECT_AMBIGUITY_EXAMPLES,
    REWRITE_EXAMPLES,
    CLARIFYING_QUESTIONS_EXAMPLES,
) = (
    terminal.examples(f"pgclarify {name} {operation.example}", f"pgclarify {name} 'deductible' --json | jq .")
    for name, operation in OPERATIONS.items()
)
ESTIMATE_EXAMPLES = terminal.examples(
    "pgclarify estimate 'rental cars' deductible --corpus insurance",
    "cut -f2 searches.tsv | pgclarify estimate --file - --json | jq -r .cost_usd",
)
