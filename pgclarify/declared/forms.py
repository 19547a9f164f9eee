"""The forms of declarations: options, parameters, columns, rows, functions and operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from pgclarify.declared.releases import FIRST, in_order, number


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A key of the parameter `options`.

    Attributes:
        name: Its name.
        type: boolean, integer, number, string, array, object, or interval (a string that PostgreSQL reads as one, above
            0).
        meaning: When to change it, in one sentence.
        default: Its value if it is omitted; None if it then has none, or one that depends on other options.
        choices: All values of a string, the usual one first; empty if there are others.
        least: The least number.
        most: The greatest number.
        longest: Most characters of a string that names something.
        keywords: Strings that have a meaning of their own where a name is expected.
        never: Strings that would be taken for names.
        keys: The options that an object has. In SQL, they may also stand beside it, where 0.3.0 had them.
    """

    name: str
    type: str = "string"
    meaning: str
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    longest: int | None = None
    keywords: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    keys: tuple[Option, ...] = ()

    def __post_init__(self) -> None:
        if self.type in ("integer", "number") and (self.least is None or self.most is None):
            raise TypeError(f"option {self.name} needs a least and a most number")

    def but(self, **changes: Any) -> Self:  # noqa: ANN401 - of any attribute
        """Return the option as another function has it."""
        return replace(self, **changes)

    @property
    def check(self) -> dict[str, Any]:
        """What `pgclarify_private.check_options` reads."""
        bounds = {"least": self.least, "most": self.most, "longest": self.longest, "default": self.default}
        names = {"choices": self.choices, "keywords": self.keywords, "never": self.never}
        keys = {"keys": {one.name: one.check for one in self.keys} or None}
        kind = {} if self.choices else {"type": self.type}
        known = {**names, **keys, **bounds}
        return kind | {name: value for name, value in known.items() if value is not None and value != ()}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a public function.

    Attributes:
        name: Its name.
        type: Its type in SQL.
        meaning: What it is, and its range; empty if the function's summary says so.
        default: An expression of SQL; None if it must be passed.
        json: For a parameter of an operation: its type in JSON, for submit.
        least: The least number.
        most: The greatest number.
        since: The release that has added it to the function.
    """

    name: str
    type: str
    meaning: str = ""
    default: str | None = None
    json: str = "string"
    least: int | None = None
    most: int | None = None
    since: str = FIRST

    def but(self, **changes: Any) -> Self:  # noqa: ANN401 - of any attribute
        """Return the parameter as another function has it."""
        return replace(self, **changes)

    @property
    def check(self) -> dict[str, Any]:
        """What `pgclarify_private.check_options` reads if the operation is submitted."""
        if self.json != "integer":
            return {"type": self.json}
        default = {} if self.default in (None, "null") else {"default": int(self.default or 0)}
        return {"type": "integer", "least": self.least, "most": self.most} | default


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a result: of its table, its view, its row type and its record.

    Attributes:
        name: Its name.
        type: Its type in SQL.
        meaning: What it says, in SQL's words (null).
        null: Whether it may be null.
        is_prose: Whether it has text of people, documents or models, which views wrap and statistics leave out.
        record_type: The type of the field in the Python record, if the type in SQL does not determine it.
        default: The field's default, in Python, for servers that do not send it; None if it has none.
        source: What it is in SQL, if it is not the column of that name of the table of the results.
        sql_default: Its default in the table, an expression of SQL; None if it has none.
        since: The release that has added it.
    """

    name: str
    type: str
    meaning: str
    null: bool = False
    is_prose: bool = False
    record_type: str | None = None
    default: str | None = None
    source: str | None = None
    sql_default: str | None = None
    since: str = FIRST

    def but(self, **changes: Any) -> Self:  # noqa: ANN401 - of any attribute
        """Return the column as another row has it."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of results. Its key is run_id, with ordinal if it has this column.

    Attributes:
        name: Its name, in schema pgclarify_private.
        meaning: What one row is.
        columns: Its columns, without run_id, in the order of their releases.
        withheld_if: Which citations hide the row from views if they are closed to the reader, in SQL; None if none do.
            A function that returns such rows leaves out those whose first citation is closed.
        is_erased: Whether all rows of a run go if a document is erased that the run has read.
        depends_on_earlier: Whether withheld_if is also asked of citations of earlier rows of the run.
        is_recorded: Whether workers store its rows with record_results.
        has_unshown: Whether it has a column is_shown: views leave out rows without it, and functions return these rows
            only if their parameter include asks for it.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    withheld_if: str | None
    is_erased: bool
    depends_on_earlier: bool = False
    is_recorded: bool = True
    has_unshown: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", in_order(self.columns))
        if (self.withheld_if is not None or self.is_erased) and not self.named("ordinal"):
            raise TypeError(f"rows of {self.name} cannot be found by their citations without an ordinal")

    def named(self, *names: str) -> tuple[Column, ...]:
        """Return the columns with these names that it has, in this order."""
        return tuple(column for name in names for column in self.columns if column.name == name)

    def until(self, name: str) -> tuple[Column, ...]:
        """Return the columns up to the one with this name."""
        names = [column.name for column in self.columns]
        return self.columns[: names.index(name) + 1]

    def after(self, columns: tuple[Column, ...], *left_out: str) -> tuple[Column, ...]:
        """Return columns of a view or a row type, and after them the others of the table.

        Args:
            columns: Columns that have a place.
            left_out: Columns of the table that are not shown.
        """
        known = {*left_out, *(column.name for column in columns)}
        return (*columns, *(column for column in self.columns if column.name not in known))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows that a function returns, or that a view shows.

    Attributes:
        name: The composite type, or the view, in schema pgclarify.
        meaning: What one row is.
        columns: Its columns, in the order of their releases: an upgraded database has later ones at the end.
        table: The table of the results; None if a function that is written by hand returns the rows.
        is_view: Whether the name is that of a view, which shows the columns.
        record: The class of the Python records; None if there is none.
        record_columns: The fields of that class, if they are not the columns.
        record_base: The class of `pgclarify.client.parts` from which it inherits; None if it inherits nothing.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    table: Table | None = None
    is_view: bool = False
    record: str | None = None
    record_columns: tuple[Column, ...] = ()
    record_base: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", in_order(self.columns))

    @property
    def cites(self) -> bool:
        """Whether the citations of a result are in its row."""
        return self.table is not None and any(column.name == "citations" for column in self.columns)

    @property
    def is_withheld(self) -> bool:
        """Whether a row is left out if its first citation is closed to the reader."""
        return self.cites and self.table is not None and self.table.withheld_if is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A method of the Python clients. Its parameters, their meanings and its options are those of the function.

    Attributes:
        about: What it does: a sentence, and further paragraphs; empty for the summary of the function.
        example: Lines of code that call it.
        returns: What it returns; empty for the meaning of the rows.
        positional: Parameters that may be passed by position although they have defaults.
        script: The function of `pgclarify.client.asking` that calls the function and reads its rows: ask for a list of
            records, ask_one for a single record, ask_many for an answer to each question.
    """

    about: str = ""
    example: str = ""
    returns: str = ""
    positional: tuple[str, ...] = ()
    script: str = "ask"


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A public function: a wrapper that passes the caller and its parameters to an internal one.

    Attributes:
        name: Its name.
        summary: What it does.
        parameters: Its parameters but options, in the order of their releases. What earlier releases had stays in the
            private schema, for views that use it.
        options: The keys of its parameter `options`, the last one of its release; None if it has no options.
        options_default: Whether `options` may be omitted.
        options_since: The release that has added options to it.
        since: The first release that has it. Parameters that other functions had before then are its first ones.
        options_of: The function whose options it has, and whose parameters are meant by "as in"; None for its own.
        returns: A type of SQL, or rows.
        is_set: Whether it returns a set of them.
        expected_rows: The planner's estimate; None for its default.
        volatility: volatile or stable.
        writes: Whether it stores something in the caller's transaction, which it cannot on a standby.
        grantee: The role that may call it.
        calls: The internal function. None for the one of the same name or, if it is the function of an operation, for
            start_and_wait.
        passes: What is passed beside the caller, if it is not just the parameters.
        apart: Parameters that are passed by themselves, if the others are passed as one JSON object.
        remark: What its comment says after the parameters.
        method: Its method of the Python clients; None if it has none, or one that is written by hand. An operation
            always has one.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    options: tuple[Option, ...] | None = None
    options_default: bool = True
    options_since: str = FIRST
    since: str = FIRST
    options_of: str | None = None
    returns: str | Rows
    is_set: bool = False
    expected_rows: int | None = None
    volatility: str = "volatile"
    writes: bool = False
    grantee: str = "pgclarify_user"
    calls: str | None = None
    passes: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    remark: str = ""
    method: Method | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", in_order(self.parameters, self.since))
        for one in self.signature:
            if number(one.since) > number(self.since) and one.default is None:
                raise TypeError(f"parameter {one.name} of {self.name} needs a default: earlier calls do not pass it")

    @property
    def signature(self) -> tuple[Parameter, ...]:
        """Its parameters in SQL, with options."""
        if self.options is None:
            return self.parameters
        default = "'{}'" if self.options_default else None
        options = Parameter("options", "jsonb", default=default, since=self.options_since)
        return in_order((*self.parameters, options), self.since)


class Measure(StrEnum):
    """What an evaluation measures."""

    READINGS = "readings"
    RANKING = "ranking"
    AMBIGUITY = "ambiguity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What a worker does with a run. The core asks for these traits, and never for the name of an operation.

    Attributes:
        function: The public function that starts it and waits.
        searches: Whether it searches the passages of a corpus.
        searches_for_question: Whether it searches for the question itself, and not for questions of its own.
        finds_readings: Whether its results are readings: its run has interpretations, from verdicts on passages.
        answers_questions: Whether it answers a question of a person from documents. Such questions are grouped.
        is_shown_as_question: Whether the views of questions count its runs.
        copies_verdicts: Whether it reads the verdicts of its parent run instead of passages.
        is_conversation: Whether its run has what a person said before, which only the asking role may continue.
        has_question: Whether its run is for one question, or for one of many.
        takes_many: Whether one run of it may have many questions.
        needs_corpus: Whether its run has a corpus.
        prefers_language_model: Whether workers with a language model are preferred, whatever the settings.
        reuses_runs: Whether an earlier run with the same question and corpus has the answer.
        view: The view that shows its results by run_id, or the name of one that is written by hand.
        result_condition: Which rows of its table count as results, in SQL; None if all do.
        looks_for_answers: Whether it looks for answers in documents, so that a run without any says why.
        check_settings: The internal function that completes and checks its settings; None if nothing is left to check.
        prepare: The internal function that makes its run of parameters.
        is_estimated: Whether `estimate` says what it would cost.
        measured: What an evaluation measures of it.
        command: Its command of the command line; None if there is none.
    """

    function: Function
    searches: bool = False
    searches_for_question: bool = False
    finds_readings: bool = False
    answers_questions: bool = False
    is_shown_as_question: bool = False
    copies_verdicts: bool = False
    is_conversation: bool = False
    has_question: bool = True
    takes_many: bool = False
    needs_corpus: bool = True
    prefers_language_model: bool = False
    reuses_runs: bool = True
    looks_for_answers: bool = False
    result_condition: str | None = None
    view: Rows | str
    check_settings: str | None = None
    prepare: str = "prepare_question"
    is_estimated: bool = False
    measured: frozenset[Measure] = frozenset()
    command: Command | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.function.name

    @property
    def rows(self) -> Rows:
        """The rows that its function returns."""
        if not isinstance(self.function.returns, Rows):
            raise TypeError(f"{self.name} returns no rows")
        return self.function.returns

    @property
    def result_view(self) -> str:
        """The name of the view."""
        return self.view if isinstance(self.view, str) else self.view.name

    @property
    def result_table(self) -> str:
        """The name of the table that has its results: for a view that is written by hand, it is that of the view."""
        if isinstance(self.view, Rows) and self.view.table is not None:
            return self.view.table.name
        return self.result_view

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Its parameters by name, without timeout: a run has none."""
        return {one.name: one for one in self.function.parameters if one.name != "timeout"}

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The defaults of its options, and of top_k, by name."""
        options = {one.name: one.default for one in self.function.options or () if one.default is not None}
        top_k = self.parameters.get("top_k")
        return options if top_k is None else {"top_k": top_k.check["default"], **options}


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the command line that asks. Its flags are the parameters of the operation.

    Attributes:
        name: Its name.
        summary: Its sentence, for the list of commands; and more sentences, for its own help.
        doing: What is shown meanwhile.
        example: The end of its example.
        show: The function of `pgclarify/cli/result_rendering.py` that renders a question and its rows; None for a plain
            table.
        remark: Likewise for what is written to standard error, so that only the result is on standard output; None if
            all is the result. The exit code is then 1 if the run ended early.
    """

    name: str
    summary: str
    doing: str
    example: str
    show: str | None = None
    remark: str | None = None


TRAITS = (
    "searches",
    "searches_for_question",
    "finds_readings",
    "answers_questions",
    "is_shown_as_question",
    "copies_verdicts",
    "is_conversation",
    "takes_many",
    "prefers_language_model",
    "reuses_runs",
)
"""Those that SQL asks for."""
