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
│   └── DimensionMismatch     vectors of another shape than expected
├── CompletionError           the language model
│   ├── EndpointUnavailable   not reached, refused or timed out, after all retries
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

import re

# A library's message may quote its whole input; what is kept is to be read by a person.
_LONGEST_DESCRIPTION = 500


class PgclarifyError(Exception):
    """Base of all errors that pgclarify raises.

    Args:
        message: One line, lower case, no full stop: what is wrong.
        detail: Whole sentences: the facts.
        hint: Whole sentences: what to do.
        sqlstate: The five-character SQLSTATE, if the error came from SQL.
    """

    def __init__(
        self,
        message: str,
        *,
        detail: str | None = None,
        hint: str | None = None,
        sqlstate: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint
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


class InputError(PgclarifyError):
    """What was given cannot be used."""


class UnreadableFile(InputError):
    """A file that is not what its name says."""


class MissingReader(UnreadableFile):
    """A file of a kind that can be read, but not here: the package that reads it is not installed."""


class NotFound(InputError):
    """There is no such corpus, run or role, or none that the caller may see."""


class AlreadyExists(InputError):
    """There is one of that name."""


class NotReady(PgclarifyError):
    """What is asked for is not there yet, or not in a state for it."""


class NotCommitted(NotReady):
    """What is asked about was made in a transaction that is still open, so no worker sees it."""


class EmbeddingError(PgclarifyError):
    """The embedding model failed."""


class ModelNotFound(EmbeddingError):
    """No embedding model of that name can be loaded on this machine."""


class DimensionMismatch(EmbeddingError):
    """Vectors have another shape than expected."""


class CompletionError(PgclarifyError):
    """The language model failed."""


class EndpointUnavailable(CompletionError):
    """The endpoint was not reached, refused or timed out, after all retries."""


class RequestRefused(EndpointUnavailable):
    """The endpoint answers, but refuses this request for what it is: too long, or of a form that it does not take."""


class InvalidReply(CompletionError):
    """A reply that does not fit its schema."""


class NotAllowed(CompletionError):
    """The call was not made, since a budget does not let it through. It would not help to try again at once."""


class BudgetSpent(NotAllowed):
    """What is left of a budget is not enough for the call."""


class PriceMissing(NotAllowed):
    """A budget in dollars is for the call, and its model has no price."""


class DatabaseError(PgclarifyError):
    """The database server refused or failed."""


class ServerUnavailable(DatabaseError):
    """No connection to the database server."""


class DatabaseBusy(DatabaseError):
    """It passes: a deadlock, a lock that is held for long, too few connections or too little room. Try again."""


class SchemaMismatch(DatabaseError):
    """The schema in the database is not the one this version works with."""


class PermissionDenied(DatabaseError):
    """The role may not do that."""


class LoopbackUnavailable(DatabaseError):
    """The server cannot wait in one call: dblink is missing, or it has no way to connect to itself."""


class CallCancelled(DatabaseError):
    """Somebody cancelled the statement, or statement_timeout came; a call that waited has cancelled its runs."""


class RunError(PgclarifyError):
    """One run did not come to its end."""


class NoWorker(RunError):
    """Nobody serves the queue."""


class RunTimeout(RunError):
    """The caller stopped waiting; the run goes on."""

    @property
    def run_ids(self) -> tuple[int, ...]:
        """Runs that go on, as DETAIL names them: "Run 17 goes on." or "Runs 17, 18 go on."; empty if it names none."""
        named = re.match(r"Runs? (\d+(?:, \d+)*) go", self.detail or "")
        return tuple(int(run_id) for run_id in named[1].split(", ")) if named else ()


class RunFailed(RunError):
    """The run ended with an error."""


class RunSuspected(RunError):
    """Workers were lost with the run, so that it is carried out alone, or not at all."""


class RunLost(RunError):
    """The run was cancelled, or another worker has taken it over."""


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
