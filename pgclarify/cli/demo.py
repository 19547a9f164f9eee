"""The command demo: from nothing to readings with their proof, on a corpus that comes with the package."""

from __future__ import annotations

import subprocess
import time
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from pgclarify.cli import asking, connection, corpus, server, terminal
from pgclarify.errors import DatabaseError, InputError

if TYPE_CHECKING:
    from rich.console import Console

    from pgclarify.cli.rendering import Row
    from pgclarify.config import Settings
    from pgclarify.model import Document

CORPUS = "insurance"
QUESTION = "rental cars"
SECOND_QUESTION = "cancellation"
STATEMENT = """\
select ordinal, interpretation, answer, support, document_ids
from pgclarify.clarify('rental cars', corpus => 'insurance');"""
_NEXT_STEPS = """\
What to try next
  pgclarify ask deductible --corpus insurance
  pgclarify psql -c "select * from pgclarify.search('deductible', corpus => 'insurance')"
  pgclarify load mine path/to/documents && pgclarify ask 'your question' --corpus mine
  pgclarify status
  pgclarify down
With a language model in place of the extractive method
  pgclarify down
  OPENAI_BASE_URL=... OPENAI_API_KEY=... PGCLARIFY_LLM_MODEL=... pgclarify up --detach"""


def demo() -> None:
    """Start everything, load a small corpus, ask two vague questions; safe to repeat."""
    settings = connection.load_settings()
    console = terminal.results()
    dsn = server.start_server(settings)
    with connection.connect(dsn) as database:
        documents = _documents()
        _refuse_foreign_corpus(database, documents)
        _start_worker(database, settings, dsn)
        _load(database, settings, documents, console)
        _ask_in_sql(database, dsn, console)
        _ask_again(database, console)
        console.print(f"\nAnother one: pgclarify ask {SECOND_QUESTION} --corpus {CORPUS}\n", style="bold")
        rows = asking.clarify(database, SECOND_QUESTION, CORPUS)
        console.print(asking.answer(database, SECOND_QUESTION, CORPUS, rows))
    console.print(f"\n{_NEXT_STEPS}", soft_wrap=True)


def _start_worker(database: connection.Database, settings: Settings, dsn: str) -> None:
    if not connection.fetch(database, "cli_list_workers"):
        server.start_worker(settings, dsn, environment=worker_environment(settings))


def worker_environment(settings: Settings) -> dict[str, str]:
    """What the demo's worker needs beyond our environment: no call that costs money unless someone chose a model."""
    from pgclarify.config import Provider

    if settings.llm_provider is Provider.AUTO and settings.llm_model is None:
        return {"PGCLARIFY_LLM_PROVIDER": Provider.EXTRACTIVE.value}
    return {}


def _documents() -> list[Document]:
    """The documents that come with the package.

    Raises:
        UnreadableFile: If the installation is damaged.
    """
    from pgclarify.errors import UnreadableFile
    from pgclarify.ingest.readers import read_documents

    documents = []
    with as_file(files("pgclarify.cli") / "demo_corpus") as folder:
        for document in read_documents([folder]):
            if isinstance(document, UnreadableFile):
                raise document
            documents.append(document)
    return documents


def _load(database: connection.Database, settings: Settings, documents: list[Document], console: Console) -> None:
    corpus.ensure_corpus(database, CORPUS, settings)
    report = corpus.add_documents(database, CORPUS, documents)
    with corpus.progress_bar() as progress:
        corpus.wait_until_searchable(database, CORPUS, progress)
    state = "loaded" if report.changed else "already there"
    console.print(f"{len(documents)} documents of a made-up insurance company are {state}: corpus {CORPUS}\n")


def _refuse_foreign_corpus(database: connection.Database, documents: list[Document]) -> None:
    from pgclarify.cli import rendering

    known = [document.document_id for document in documents]
    (foreign,) = connection.fetch(database, "cli_count_foreign_documents", corpus=CORPUS, document_ids=known)
    if foreign["documents"]:
        raise InputError(
            f"the corpus {CORPUS} is not the demo's",
            detail=f"It has {rendering.counted(foreign['documents'], 'document')} of others, and was left as it is.",
            hint="Run the demo in another place: PGCLARIFY_DATA_DIR=./demo pgclarify demo, without a database URL.",
        )


def _ask_in_sql(database: connection.Database, dsn: str, console: Console) -> None:
    """Run the statement in psql itself if it is here, and show it as psql does if not."""
    from pgclarify.cli import rendering

    (connected,) = connection.fetch(database, "cli_get_server")
    console.print(rendering.statement(connected["database"], STATEMENT), soft_wrap=True)
    if server.psql_program() is None:
        # The constant above has no parameters; rows are those that psql would print.
        console.print(rendering.psql_table(database.execute(STATEMENT).fetchall()))
        return
    # The rows are wider than most terminals.
    looks = ("expanded=on", "format=wrapped", f"columns={console.width}", "pager=off")
    options = ["--no-psqlrc", "--quiet", *(part for look in looks for part in ("--pset", look)), "--command", STATEMENT]
    arguments, environment = server.psql_call(dsn, options)
    console.file.flush()
    if subprocess.run(arguments, env=environment, check=False).returncode != 0:  # noqa: S603
        raise DatabaseError("psql could not run the demo's statement", detail="Its own message stands above.")


def _ask_again(database: connection.Database, console: Console) -> None:
    console.print("The same question as a person asks it, with the evidence: ", end="")
    console.print(f"pgclarify ask '{QUESTION}' --corpus {CORPUS}\n", style="bold")
    began = time.perf_counter()
    rows = asking.clarify(database, QUESTION, CORPUS)
    milliseconds = 1000 * (time.perf_counter() - began)
    console.print(asking.answer(database, QUESTION, CORPUS, rows))
    _say_what_is_different(database, rows, milliseconds, console)


def _say_what_is_different(
    database: connection.Database, rows: list[Row], milliseconds: float, console: Console
) -> None:
    if not rows:
        return
    (run,) = connection.fetch(database, "cli_get_run", run_id=rows[0]["run_id"])
    cited = {(citation["document_id"], citation["passage_id"]) for row in rows for citation in row["citations"]}
    console.print(
        "\nWhat is different here: no reading was guessed from the question."
        f" {run['candidates']} passages were read, and {len(cited)} of them each answer a reading completely, in words"
        f" that are quoted above and checked. The others mention {QUESTION} or sound like it, but prove nothing, so"
        f" they are not here. Asked a second time, the answer came from the tables in {milliseconds:.0f} ms.",
        style="dim",
    )
