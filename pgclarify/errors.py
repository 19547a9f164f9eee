"""The exceptions of pgclarify, as a tree.

PgclarifyError
├── ConfigurationError        a setting is missing, unknown or contradicts another
├── InputError                what was given cannot be used: a file, a question, a parameter
│   ├── UnreadableFile        a file that is not what its name says
│   │   └── MissingReader     the package that reads its kind is not installed
│   ├── NotFound              no such corpus, run or role, or none that the caller may see
│   └── AlreadyExists         there is one of that name
├── NotReady                  what is asked for is not there yet: a run goes on, documents wait to be indexed
│   └── NotCommitted          it was made in a transaction that is still open
├── EmbeddingError            the embedding model
│   ├── ModelNotFound         no model of that name on this machine
│   ├── EmbeddingUnavailable  no answer of its endpoint, or no memory on its GPU: the texts are not to blame
│   └── DimensionMismatch     vectors of another shape than expected
├── CompletionError           the language model
│   ├── EndpointUnavailable   not reached, refused or timed out, after all retries
│   │   ├── EndpointFailed    it failed, or was too slow: another request may do better
│   │   └── RequestRefused    it answers, but not to this request: too long, or of a form that it does not take
│   ├── InvalidReply          a reply that does not fit its schema
│   └── NotAllowed            the call was not made: a budget does not let it through
│       ├── BudgetSpent       what is left of a budget is not enough for it
│       └── PriceMissing      a budget in dollars, and a model without a price
├── DatabaseError             the server, or what it answered
│   ├── ServerUnavailable     no connection
│   ├── DatabaseBusy          it passes: a deadlock, a lock held for long, too few connections
│   ├── SchemaMismatch        the schema is not the one this version works with
│   ├── PermissionDenied      the role may not do that
│   ├── LoopbackUnavailable   the server cannot wait in one call: no dblink, or no way to itself
│   └── CallCancelled         somebody cancelled the statement, or statement_timeout came
└── RunError                  one run
    ├── NoWorker              nobody serves the queue
    ├── RunTimeout            the caller stopped waiting; the run goes on
    ├── RunFailed             the run ended with an error
    ├── RunSuspected          workers were lost with the run: it is carried out alone, or not at all
    └── RunLost               the run was cancelled, or another worker has taken it over
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# A library's message may quote its whole input; what is kept is to be read by a person.
_LONGEST_DESCRIPTION = 500
# Classes of SQLSTATE: data exceptions and program limits; and a value that a check refuses.
_ABOUT_DATA = ("22", "54", "23514")


class PgclarifyError(Exception):
    """Base of all errors that pgclarify raises.

    Args:
        message: One line, lower case, no full stop: what is wrong.
        detail: Whole sentences: the facts.
        hint: Whole sentences: what to do.
        sqlstate: The five-character SQLSTATE, if the error came from SQL; without it, the one that its class has.
        parameter: The parameter or option that is wrong; None if none is.
        choices: What may stand there or be passed instead; empty if it is not a list.
        run_ids: Runs that it is about.
        budget_id: The budget that it is about; None if none is.
    """

    # What docs/errors.md lists, and what a run keeps as its error_code. Internal error: what has no code of its own.
    sqlstate = "XX000"

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        sqlstate: str | None = None,
        parameter: str | None = None,
        choices: Sequence[str] = (),
        run_ids: Sequence[int] = (),
        budget_id: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
        self.parameter = parameter
        self.choices = tuple(choices)
        self.run_ids = tuple(run_ids)
        self.budget_id = budget_id
        if sqlstate is not None:
            self.sqlstate = sqlstate

    def __str__(self) -> str:
        return "\n".join(
            part
            for part in (
                self.message,
                self.detail and f"DETAIL: {self.detail}",
                self.hint and f"HINT: {self.hint}",
            )
            if part
        )


class ConfigurationError(PgclarifyError):
    """A setting is missing, unknown or contradicts another."""

    sqlstate = "PC009"


class InputError(PgclarifyError):
    """What was given cannot be used."""

    sqlstate = "22023"


class UnreadableFile(InputError):
    """A file that is not what its name says."""


class MissingReader(UnreadableFile):
    """A file of a kind that can be read, but not here: the package that reads it is not installed."""


class NotFound(InputError):
    """There is no such corpus, run or role, or none that the caller may see."""

    sqlstate = "42704"


class AlreadyExists(InputError):
    """There is one of that name."""

    sqlstate = "42710"


class NotReady(PgclarifyError):
    """What is asked for is not there yet, or not in a state for it."""

    sqlstate = "55000"


class NotCommitted(NotReady):
    """What is asked about was made in a transaction that is still open, so no worker sees it."""

    sqlstate = "PC004"


class EmbeddingError(PgclarifyError):
    """The embedding model failed."""

    sqlstate = "PC010"


class ModelNotFound(EmbeddingError):
    """No embedding model of that name can be loaded on this machine."""

    sqlstate = "PC011"


class EmbeddingUnavailable(EmbeddingError):
    """The endpoint of the embedding model was not reached, refused or timed out, or a GPU is out of memory.

    The texts are not to blame: they can be embedded once the endpoint answers, or there is memory.
    """

    sqlstate = "PC013"


class DimensionMismatch(EmbeddingError):
    """Vectors have another shape than expected."""


class CompletionError(PgclarifyError):
    """The language model failed."""

    sqlstate = "PC012"


class EndpointUnavailable(CompletionError):
    """The endpoint was not reached, refused or timed out, after all retries.

    Attributes:
        retry_after: Seconds that it asks to wait; None if it does not.
        may_pass: Whether the same request may succeed there later.
        tries: How many requests were made.
    """

    sqlstate = "PC013"
    retry_after: float | None = None
    may_pass: bool = True
    tries: int = 1


class EndpointFailed(EndpointUnavailable):
    """The endpoint failed or was too slow. It may do better with another request."""

    sqlstate = "PC017"


class RequestRefused(EndpointUnavailable):
    """The endpoint answers, but refuses this request for what it is: too long, or of a form that it does not take."""

    sqlstate = "PC014"


class InvalidReply(CompletionError):
    """A reply that does not fit its schema."""

    sqlstate = "PC015"


class NotAllowed(CompletionError):
    """The call was not made, since a budget does not let it through. It would not help to try again at once."""


class BudgetSpent(NotAllowed):
    """What is left of a budget is not enough for the call."""

    sqlstate = "PC007"


class PriceMissing(NotAllowed):
    """A budget in dollars is for the call, and its model has no price."""

    sqlstate = "PC008"


class DatabaseError(PgclarifyError):
    """The database server refused or failed."""

    sqlstate = "58000"

    @property
    def is_about_data(self) -> bool:
        """Whether it refused the values that it was given, now and whenever they are given again."""
        return self.sqlstate.startswith(_ABOUT_DATA)


class ServerUnavailable(DatabaseError):
    """No connection to the database server."""

    sqlstate = "08006"


class DatabaseBusy(DatabaseError):
    """It passes: a deadlock, a lock that is held for long, too few connections or too little room. Try again."""

    sqlstate = "53000"


class SchemaMismatch(DatabaseError):
    """The schema in the database is not the one this version works with."""

    sqlstate = "3F000"


class PermissionDenied(DatabaseError):
    """The role may not do that."""

    sqlstate = "42501"


class LoopbackUnavailable(DatabaseError):
    """The server cannot wait in one call: dblink is missing, or it has no way to connect to itself."""

    sqlstate = "PC005"


class CallCancelled(DatabaseError):
    """Somebody cancelled the statement, or statement_timeout came; a call that waited has cancelled its runs."""

    sqlstate = "57014"


class RunError(PgclarifyError):
    """One run did not come to its end."""


class NoWorker(RunError):
    """Nobody serves the queue."""

    sqlstate = "PC001"


class RunTimeout(RunError):
    """The caller stopped waiting; the run goes on, and run_ids names it."""

    sqlstate = "PC002"


class RunFailed(RunError):
    """The run ended with an error."""

    sqlstate = "PC003"


class RunSuspected(RunError):
    """Workers were lost with the run, so that it is carried out alone, or not at all."""

    sqlstate = "PC016"


class RunLost(RunError):
    """The run is lost for this attempt: it was cancelled, or another worker has taken it over."""

    sqlstate = "PC006"


def code_of(error: Exception) -> str:
    """Say in one SQLSTATE what went wrong: a run keeps it as its error_code, and a verdict that failed likewise."""
    return error.sqlstate if isinstance(error, PgclarifyError) else PgclarifyError.sqlstate


def describe(error: Exception) -> str:
    """Say on one line what went wrong, as it is kept beside a run, a verdict or a document.

    Of our own errors that is message and detail, of others' type and text.
    """
    if isinstance(error, PgclarifyError):
        text = f"{error.message}: {error.detail}" if error.detail else error.message
    else:
        text = f"{type(error).__name__}: {error}"
    # Neither PostgreSQL's text nor a terminal takes everything that a library may put into a message.
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    return " ".join(text.split())[:_LONGEST_DESCRIPTION]
