"""The command demo: from nothing to readings with evidence, on corpora of the package."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from importlib.resources import files
from itertools import count
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.text import Text

from pgclarify import __version__
from pgclarify.cli import adding, asking, connection, planning, progress, rendering, result_rendering, server, terminal
from pgclarify.cli.rendering import Indented, Row, printable
from pgclarify.config import Provider, Settings
from pgclarify.data.counting import counted
from pgclarify.data.vocabulary import Document
from pgclarify.errors import InputError, UnreadableFile
from pgclarify.install.shipped import shipped

CORPUS = "insurance"
# Pages of our own documentation, which were not written for the demo. Their results are shown unchanged.
MANUAL_CORPUS = "pgclarify_manual"
MANUAL = ("attached-tables.md", "budgets.md", "limits.md", "operations.md", "roles.md")
MANUAL_QUESTIONS = ("worker", "backup")
QUESTION = "rental cars"
STATEMENT = """\
select interpretation, answer, support
from pgclarify.clarify('rental cars', corpus => 'insurance');"""
# What a plain search finds, for comparison.
SEARCH = """\
select document_id, passage_id, content
from pgclarify.search('rental cars', corpus => 'insurance')
order by rank"""
# The opened reading, the left-out passages and the next commands fit on a terminal of 24 lines.
_MOST_CITATIONS = 1
_MOST_LEFT_OUT = 3
_MOST_IN_BRIEF = 3
_NEXT_STEPS = """\
What to try next
  pgclarify ui                             the same on a page: click a quote to see it in its document
  pgclarify ask deductible -c insurance    or cancellation, hail, pets, discount
  psql "$(pgclarify dsn)"                  all of it is SQL
  pgclarify load mine FOLDER && pgclarify ask 'your question' -c mine
  pgclarify down                           stop it all"""
_WITH_A_MODEL = """\
A language model reads better: set OPENAI_API_KEY if it needs one, then run
pgclarify use URL MODEL && pgclarify demo"""


def demo() -> None:
    """Start everything, load two small corpora, ask; safe to repeat."""
    settings = connection.load_settings()
    console = terminal.results()
    dsn = server.install(settings)
    with connection.connect(dsn) as database:
        documents = _documents([Path(str(files("pgclarify"))) / "demo_corpus"])
        manual = _documents([shipped("docs") / page for page in MANUAL])
        _refuse_foreign_corpus(database, CORPUS, documents)
        _refuse_foreign_corpus(database, MANUAL_CORPUS, manual)
        workers = connection.client_of(database).rows("client_list_workers")
        # Others may be of before an upgrade.
        if all(worker["version"] != __version__ for worker in workers):
            server.start_worker(settings, dsn, environment=worker_environment(settings))
        took = _load(database, settings, CORPUS, documents)
        console.print(
            f"{len(documents)} documents of a made-up insurer (policies, letters, invoices, minutes, blogs) are {took}."
        )
        is_without_model = _say_who_judges(database, settings, console)
        rows = _ask_in_sql(database, console)
        if rows:
            _open_up(database, rows, console)
        took = _load(database, settings, MANUAL_CORPUS, manual)
        _ask_the_manual(database, took, console)
    console.print(terminal.commands(f"\n{_NEXT_STEPS}"), soft_wrap=True)
    if is_without_model and not server.tell_of_model_servers(settings):
        console.print(terminal.commands(_WITH_A_MODEL), soft_wrap=True)


def worker_environment(settings: Settings) -> dict[str, str]:
    """Return the environment of the demo's worker: no call costs money unless the user chose a model."""
    if settings.llm_provider is Provider.AUTO and not (settings.llm_model is not None and settings.has_model):
        return {"PGCLARIFY_LLM_PROVIDER": Provider.EXTRACTIVE.value}
    return {}


def _documents(paths: Sequence[Path]) -> list[Document]:
    """Read documents of the package.

    Raises:
        UnreadableFile: If the installation is damaged.
    """
    from pgclarify.ingest.files import read_documents
    from pgclarify.ingest.naming import Naming

    documents = []
    # Some installers put links to their cache in place of a package's files.
    for document in read_documents(paths, naming=Naming(source="pgclarify demo"), follows_links=True):
        if isinstance(document, UnreadableFile):
            raise document
        documents.append(document)
    return documents


def _load(database: connection.Database, settings: Settings, name: str, documents: list[Document]) -> str:
    """Load a corpus and wait until it is searchable; return how long that took, in words."""
    began = time.perf_counter()
    client = connection.client_of(database, name)
    report = adding.LoadReport()
    adding.add_documents(client, documents, settings, planning.Plan(), report)
    with progress.bars() as bars:
        adding.wait_until_searchable(client, bars)
    return f"loaded in {time.perf_counter() - began:.1f} s" if report.changed else "there already"


def _refuse_foreign_corpus(database: connection.Database, name: str, documents: list[Document]) -> None:
    known = {document.document_id for document in documents}
    stored = connection.client_of(database).rows(
        "client_list_documents", corpus=name, has_failed=False, most=len(known) + 1
    )
    foreign = sorted({document["document_id"] for document in stored} - known)
    if foreign:
        raise InputError(
            f"the corpus {name} is not the demo's",
            detail=f"It has another document, {printable(foreign[0])}, and was not changed.",
            hint="Run the demo in another place: PGCLARIFY_DATA_DIR=./demo pgclarify demo, without a database URL.",
        )


def _say_who_judges(database: connection.Database, settings: Settings, console: Console) -> bool:
    """Name the models of the running workers; return whether there is no language model."""
    workers = connection.client_of(database).rows("client_list_workers")
    models = sorted({worker["model"] for worker in workers if worker["provider"] != "extractive"})
    for line in judges(models, settings):
        console.print(terminal.commands(line))
    return not models


def judges(models: Sequence[str], settings: Settings) -> list[str]:
    """Say what judges the passages, and why it is not the configured endpoint, if there is one.

    Args:
        models: Language models of the running workers.
        settings: Settings in use.
    """
    if models:
        return [f"Passages are read by a language model: {printable(', '.join(models))}."]
    lines = ["Passages are read by the built-in extractive method, without a language model."]
    if settings.has_endpoint and settings.llm_model is None:
        lines.append("An endpoint is set, but no PGCLARIFY_LLM_MODEL: nothing is sent there, and nothing costs money.")
    elif worker_environment(settings) == {} and settings.has_endpoint:
        lines.append("The worker was running before your endpoint was set. To use it: pgclarify down && pgclarify demo")
    return lines


def _ask_in_sql(database: connection.Database, console: Console) -> list[Row]:
    """Show the statement and its rows as psql does. psql itself would break lines inside words.

    Returns:
        The same readings with their citations.
    """
    console.print()
    console.print(rendering.statement(database.info.dbname, STATEMENT), soft_wrap=True)
    with progress.waiting("Reading passages"):
        # It has no parameters.
        shown: list[Row] = [*database.execute(STATEMENT).fetchall()]
    # The result is reused, because the question was just asked.
    rows, run_id = _clarify(database, QUESTION, CORPUS)
    if shown:
        console.print(rendering.psql_table(shown))
    else:
        run = connection.client_of(database).run(run_id)
        console.print(asking.nothing(database, QUESTION, CORPUS, run))
    return rows


def _clarify(database: connection.Database, question: str, name: str) -> tuple[list[Row], int | None]:
    asked = {"question": question, "corpus": name}
    rows, run_id, _ = asking.perform(database, "clarify", "Reading passages", timeout=60.0, **asked)
    return rows, run_id


def _open_up(database: connection.Database, rows: Sequence[Row], console: Console) -> None:
    """Show the first reading as `ask` does, the passages that were left out, and how they differ."""
    console.print()
    console.print(Text("The first one opened up, as pgclarify ask shows each:", style="bold"))
    first = {**rows[0], "citations": rows[0]["citations"][:_MOST_CITATIONS]}
    console.print(Group(*result_rendering.reading(first, count(1))))
    hidden = len(rows[0]["citations"]) - _MOST_CITATIONS
    if hidden > 0:
        console.print(f"   and {counted(hidden, 'more passage')}, quoted in the same way", style="dim")

    cited = {(citation["document_id"], citation["passage_id"]) for row in rows for citation in row["citations"]}
    found = database.execute(SEARCH).fetchall()
    left_out = [row for row in found if (row["document_id"], row["passage_id"]) not in cited]
    console.print()
    console.print(Text("Left out, though a search ranks them high: no reading rests on these", style="bold"))
    for row in left_out[:_MOST_LEFT_OUT]:
        console.print(mention(row["document_id"], row["content"], console.width))
    run = connection.client_of(database).run(rows[0]["run_id"])
    console.print(
        f"\nWhat is different: of the {run['candidates']} passages that were read, {len(cited)} answer a reading of the"
        " question. Each reading is read out of a passage, and its quote is checked to stand there."
    )


def _ask_the_manual(database: connection.Database, took: str, console: Console) -> None:
    """Ask about pages that were not written for the demo, and show the result, right or wrong."""
    console.print()
    console.print(Text("The same on pages that were not written for a demo, right or wrong", style="bold"))
    console.print(f"{len(MANUAL)} pages of pgclarify's own manual are {took}.")
    for question in MANUAL_QUESTIONS:
        rows, _ = _clarify(database, question, MANUAL_CORPUS)
        console.print(in_brief(question, rows))


def in_brief(question: str, rows: Sequence[Row]) -> RenderableType:
    """Render a question with its first readings: a line for the reading and its document, one for the answer."""
    number = counted(len(rows), "reading") if rows else "nothing could be read"
    parts: list[RenderableType] = [Text.assemble("\n", (question, "bold"), f": {number}")]
    for row in rows[:_MOST_IN_BRIEF]:
        asked = Text.assemble(printable(row["interpretation"]), "  ", (printable(row["document_ids"][0]), "cyan"))
        parts.append(Indented(Text(f"{row['ordinal']}. "), asked))
        parts.append(Indented(Text("   "), Text(printable(row["answer"]), style="green")))
    if len(rows) > _MOST_IN_BRIEF:
        parts.append(Text(f"   and {len(rows) - _MOST_IN_BRIEF} more", style="dim"))
    return Group(*parts)


def mention(document_id: str, content: str, width: int) -> Text:
    """Render one line about a left-out passage: its first sentence with words of the question."""
    plain = " ".join(line for line in content.splitlines() if not line.startswith("#"))
    sentences = re.split(r"(?<=[.!?]) +", printable(plain))
    said = next((one for one in sentences if QUESTION.removesuffix("s") in one.lower()), sentences[0])
    line = Text.assemble("  ", (printable(document_id), "cyan"), "  ", (f'"{said}"', "italic"))
    line.truncate(width, overflow="ellipsis")
    return line
