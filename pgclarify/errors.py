"""The exceptions of pgclarify, as a tree.

PgclarifyError
├── ConfigurationError        a setting is missing, unknown or contradicts another
├── InputError                the input cannot be used: a file, a question, a parameter
│   ├── UnreadableFile        the content of a file does not match its name
│   │   └── MissingReader     the package that reads its kind is not installed
│   ├── NotFound              the corpus, run or role does not exist, or the caller may not see it
│   └── AlreadyExists         an object of that name already exists
├── NotReady                  the requested object is not ready: a run continues, documents wait to be indexed
│   └── NotCommitted          it was created in a transaction that is still open
├── EmbeddingError            the embedding model
│   ├── ModelNotFound         no model of that name on this machine
│   ├── ModelChanged          the model gives other vectors to stored texts than before
│   ├── EmbeddingUnavailable  no answer of its endpoint, or no memory on its GPU: the texts are not the cause
│   └── DimensionMismatch     vectors of another shape than expected
├── CompletionError           the language model
│   ├── EndpointUnavailable   not reached, refused or timed out, after all retries
│   │   ├── EndpointFailed    it failed, or was too slow: another request may succeed
│   │   └── RequestRefused    it works, but refuses this request: too long, or in a form that it does not accept
│   ├── InvalidReply          a reply that does not fit its schema
│   │   └── FilteredReply      a filter of the endpoint removed it: the same call has the same end
│   └── NotAllowed            the call was not made: a budget does not allow it
│       ├── BudgetSpent       the rest of a budget is too small for it
│       └── PriceMissing      a budget in dollars, and a model without a price
├── DatabaseError             the server, or what it answered
│   ├── ServerUnavailable     no connection
│   ├── DatabaseBusy          a temporary failure: a deadlock, a long lock, too few connections
│   ├── SchemaMismatch        this version does not work with the schema
│   ├── PermissionDenied      the role may not do that
│   ├── LoopbackUnavailable   the server cannot wait in one call: no dblink, or no way to itself
│   └── CallCancelled         the statement was cancelled, or statement_timeout expired
└── RunError                  one run
    ├── NoWorker              no worker serves the queue
    ├── RunTimeout            the caller stopped waiting; the run continues
    │   └── NotIndexed        it waits until the first documents of its corpus are indexed
    ├── RunFailed             the run ended with an error
    └── RunLost               the run was cancelled, or another worker has taken it over
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# A library's message may quote its whole input, but stored descriptions are read by people.
_LONGEST_DESCRIPTION = 500
# Classes of SQLSTATE: data exceptions and program limits; and a value that a check refuses.
_ABOUT_DATA = ("22", "54", "23514")

TOO_MANY_CRASHES: Final = "PC016"
"""The error_code of a run whose workers were lost, ten in a row. No exception has it: workers do not end such a run."""

PROGRESS: Final = "PC019"
"""The code of the notices of a call that waits."""

UNFOLLOWED: Final = "PC021"
"""The code of the warning that a table of the corpus is not followed, so that answers may be out of date."""


class PgclarifyError(Exception):
    """Base of all errors that pgclarify raises.

    Args:
        message: One line, lower case, no full stop: what is wrong.
        detail: Whole sentences: the facts.
        hint: Whole sentences: what to do.
        sqlstate: The five-character SQLSTATE of an error from SQL; else that of the class is used.
        parameter: The wrong parameter or option; None if there is none.
        choices: The valid values; empty if there is no list of them.
        run_ids: The runs that the error is about.
        budget_id: The budget that the error is about; None if there is none.
    """

    # docs/errors.md lists these codes, and a run stores one as its error_code. XX000 (internal error) is for errors
    # without a code of their own.
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

    @property
    def is_about_data(self) -> bool:
        """Return whether the given values are refused. Then every retry fails too."""
        return self.sqlstate.startswith(_ABOUT_DATA)

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
    """The content of a file does not match its name.

    Attributes:
        document_id: The id of the line or row that cannot be read; None for another thing, or if its id is unknown.
        origin: The origin of the document, file or folder that cannot be read; None if that is unknown.
    """

    document_id: str | None = None
    origin: str | None = None


class MissingReader(UnreadableFile):
    """The package that reads files of this kind is not installed."""


class NotFound(InputError):
    """The corpus, run or role does not exist, or the caller may not see it."""

    sqlstate = "42704"


class AlreadyExists(InputError):
    """An object of that name already exists."""

    sqlstate = "42710"


class NotReady(PgclarifyError):
    """The requested object does not exist yet, or is not in the right state."""

    sqlstate = "55000"


class NotCommitted(NotReady):
    """The object was created in a transaction that is still open, so no worker sees it."""

    sqlstate = "PC004"


class EmbeddingError(PgclarifyError):
    """The embedding model failed."""

    sqlstate = "PC010"


class ModelNotFound(EmbeddingError):
    """No embedding model of that name can be loaded on this machine.

    Attributes:
        is_lasting: Whether the hub says that it has none, so that this process does not ask the hub again.
    """

    sqlstate = "PC011"
    is_lasting: bool = False


class ModelChanged(EmbeddingError):
    """The model of that name gives other vectors to stored texts than before, so its vectors must not be mixed."""

    sqlstate = "PC011"


class EmbeddingUnavailable(EmbeddingError):
    """The endpoint of the embedding model was not reached, refused or timed out, or a GPU is out of memory.

    The texts are not the cause. They can be embedded when the endpoint answers, or when memory is free.
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
        retry_after: Seconds that the endpoint asks to wait; None if it does not ask.
        may_pass: Whether the same request may succeed later.
        tries: Number of requests that were made.
    """

    sqlstate = "PC013"
    retry_after: float | None = None
    may_pass: bool = True
    tries: int = 1


class NoBatches(EndpointUnavailable):
    """The endpoint has no batch API, or refuses this batch."""


class EndpointFailed(EndpointUnavailable):
    """The endpoint failed or was too slow. Another request may succeed."""

    sqlstate = "PC017"


class RequestRefused(EndpointUnavailable):
    """The endpoint works, but refuses this request: it is too long, or in a form that the endpoint does not accept."""

    sqlstate = "PC014"


class InvalidReply(CompletionError):
    """A reply that does not fit its schema.

    Args:
        message: As for all errors.
        detail: Likewise; without words of the reply.
        hint: Likewise.
        reply: The reply, shortened; it may repeat a passage.

    Attributes:
        was_cut: Whether the reply was cut off at its limit of tokens.
    """

    sqlstate = "PC015"
    was_cut = False

    def __init__(
        self, message: str, *, detail: str | None = None, hint: str | None = None, reply: str | None = None
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.reply = reply


class FilteredReply(InvalidReply):
    """A filter of the endpoint removed the reply, or refused the request. It is not asked again."""

    sqlstate = "PC020"


class NotAllowed(CompletionError):
    """The call was not made, because a budget does not allow it. An immediate retry would fail too."""


class BudgetSpent(NotAllowed):
    """The rest of a budget is too small for the call."""

    sqlstate = "PC007"


class PriceMissing(NotAllowed):
    """A budget in dollars applies to the call, and its model has no price."""

    sqlstate = "PC008"


class DatabaseError(PgclarifyError):
    """The database server refused or failed."""

    sqlstate = "58000"


class ServerUnavailable(DatabaseError):
    """No connection to the database server."""

    sqlstate = "08006"


class DatabaseBusy(DatabaseError):
    """A temporary failure: a deadlock, a long lock, too few connections or too little space. Try again."""

    sqlstate = "53000"


class SchemaMismatch(DatabaseError):
    """This version does not work with the schema in the database."""

    sqlstate = "3F000"


class PermissionDenied(DatabaseError):
    """The role may not do that."""

    sqlstate = "42501"


class LoopbackUnavailable(DatabaseError):
    """The server cannot wait in one call: dblink is missing, or it has no way to connect to itself."""

    sqlstate = "PC005"


class CallCancelled(DatabaseError):
    """The statement was cancelled, or statement_timeout expired. A call that waited has cancelled its runs."""

    sqlstate = "57014"


class RunError(PgclarifyError):
    """A run has no result for the caller."""


class NoWorker(RunError):
    """No worker serves the queue."""

    sqlstate = "PC001"


class RunTimeout(RunError):
    """The caller stopped waiting. The run continues, and run_ids has its id."""

    sqlstate = "PC002"


class NotIndexed(RunTimeout):
    """The caller stopped waiting while no document of the corpus was indexed. The run continues."""

    sqlstate = "PC018"


class RunFailed(RunError):
    """The run ended with an error."""

    sqlstate = "PC003"


class RunLost(RunError):
    """This attempt has lost its run: the run was cancelled, or another worker has taken it over."""

    sqlstate = "PC006"


def codes_of(*roots: type[PgclarifyError]) -> tuple[str, ...]:
    """Return the codes of these exceptions and of all below them in this module's tree, sorted, each once."""
    found = set[str]()
    for root in roots:
        found |= {root.sqlstate, *codes_of(*root.__subclasses__())}
    return tuple(sorted(found))


def code_of(error: Exception) -> str:
    """Return the SQLSTATE of an error, which a run or a failed verdict stores as its error_code."""
    return error.sqlstate if isinstance(error, PgclarifyError) else PgclarifyError.sqlstate


VERDICT_CODES: Final = (*codes_of(CompletionError, EmbeddingError), PgclarifyError.sqlstate)
"""The codes that a failed verdict may have: the CHECK of verdict.error_code."""


def describe(error: Exception, *, with_reply: bool = False) -> str:
    """Describe an error on one line, as it is stored with a run, a verdict or a document.

    For our own errors this is message and detail; for others, type and text.

    Args:
        error: The error.
        with_reply: Whether to quote the model's reply. Only for what is hidden from roles that may not read the
            passage, because the reply may repeat the passage.
    """
    if isinstance(error, PgclarifyError):
        reply = error.reply if with_reply and isinstance(error, InvalidReply) else None
        facts = " ".join(filter(None, (error.detail, reply and f"It replied: {reply}")))
        text = f"{error.message}: {facts}" if facts else error.message
    else:
        text = f"{type(error).__name__}: {error}"
    # A library's message may have characters that PostgreSQL's text or a terminal cannot take.
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    return " ".join(text.split())[:_LONGEST_DESCRIPTION]
