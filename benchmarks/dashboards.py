"""Every view for dashboards over many runs: its newest page, a sample of rows, an aggregate and one week.

Also the queries of docs/dashboards.md, and generic tests of the dbt package (--view dbt).

python -m benchmarks.dashboards [--runs 1000000] [--documents 20000] [--database DIR] [--view NAME...]

Three roles read them: the owner, a user who has asked a fiftieth of the runs, and the analyst of all corpora. The
figures are milliseconds, and the ratio to a plain count of all runs in the same minute. With --database, the server
stays, and the runs are made only once.
"""

from __future__ import annotations

import argparse
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb
from rich.console import Console
from rich.table import Table

from benchmarks import product
from benchmarks.figures import step
from pgclarify import embedded
from pgclarify.install.installer import install
from tests.pages import CHECKOUT, blocks

RUNS = 1_000_000
_CORPORA = 4
DOCUMENTS = 20_000
_REPEATS = 3
_READER, _ANALYST = "benchmark_reader", "benchmark_analyst"
_COUNT = "select count(*) from pgclarify.run"
# Metabase samples this many rows of each view to learn about its columns.
_SAMPLE = 10_000


@dataclass(frozen=True)
class _View:
    """The queries that a dashboard sends to a view.

    Args:
        name: The view.
        newest: The order of its first page.
        aggregate: Select list, condition and grouping of its usual chart; None if the view is an aggregate itself.
        everything: The same over all rows, if the usual chart has a condition.
        filtered: The condition of a week.
    """

    name: str
    newest: str
    aggregate: str | None = None
    filtered: str | None = None
    everything: str | None = None

    def queries(self) -> Iterator[tuple[str, str]]:
        """A query and its settings."""
        yield "page", f"select * from pgclarify.{self.name} order by {self.newest} limit 100"  # noqa: S608 - constants
        yield "sample", f"select * from pgclarify.{self.name} limit {_SAMPLE}"  # noqa: S608 - constants
        for what, chart in (("aggregate", self.aggregate), ("of all", self.everything)):
            if chart is not None:
                chosen, _, grouping = chart.partition(" by ")
                columns, where, condition = chosen.partition(" where ")
                yield what, f"select {columns} from pgclarify.{self.name}{where}{condition} group by {grouping}"  # noqa: S608 - constants
        if self.filtered is not None:
            yield "week", f"select * from pgclarify.{self.name} where {self.filtered}"  # noqa: S608 - constants


def _generic_tests() -> Iterator[tuple[str, str]]:
    """The generic tests of the dbt package, over twenty thousand readings, that read more than the model."""
    for name in ("quotes_are_verbatim", "cited_documents_are_current", "every_interpretation_is_cited"):
        macro = (CHECKOUT / "dbt" / "macros" / "generic_tests" / f"{name}.sql").read_text(encoding="utf-8")
        _, body = macro.split("{% macro ", 1)
        query = re.sub(r"{#.*?#}", "", body.split("%}", 1)[1].split("{% endmacro %}")[0])
        yield name, query.replace("{{ model }}", "public.benchmark_readings")


def _printed(view: str) -> Iterator[tuple[str, str]]:
    """The queries of docs/dashboards.md that read this view."""
    for block in blocks(CHECKOUT / "docs" / "dashboards.md", "sql"):
        for query in block.code.split(";"):
            if re.search(rf"pgclarify\.{view}\b", query):
                yield "as printed", query


def _week(column: str) -> str:
    return f"{column} between now() - interval '9 days' and now() - interval '2 days'"


_VIEWS = (
    _View(
        "run",
        "created_at desc",
        "corpus, status, count(*), sum(interpretations), sum(candidates) by corpus, status",
        _week("created_at"),
    ),
    _View(
        "citation",
        "created_at desc",
        # For one month: document.citations has the citations of all time.
        "corpus, count(*), count(distinct document_id) where created_at > now() - interval '30 days' by corpus",
        f"{_week('created_at')} limit {_SAMPLE}",
        "corpus, count(*), count(distinct document_id) by corpus",
    ),
    _View("asked_question", "times_asked desc", "corpus, sum(times_asked) by corpus", _week("last_asked_at")),
    _View(
        "asked_question",
        "times_unanswered desc",
        "corpus, is_gap, avg(interpretations), count(*) by corpus, is_gap",
        _week("last_unanswered_at"),
    ),
    _View("stale_answer", "created_at desc", "corpus, count(*) by corpus", _week("created_at")),
    _View("document", "citations desc", "corpus_id, citations = 0, count(*) by corpus_id, citations = 0"),
    _View("usage", "day desc", "corpus, sum(cost_usd) by corpus", "day between current_date - 9 and current_date - 2"),
    _View("budget", "name"),
    _View("corpus", "corpus"),
    _View("queue_status", "queued"),
    _View("worker_status", "seen_at desc"),
)

_MAKE = (
    """
    insert into pgclarify_private.worker (host, process_id, version, provider, model, prompt_version)
    select 'host', number, '0', 'openai', 'model', '1' from generate_series(1, 20) as number
    """,
    """
    insert into pgclarify_private.document (corpus_id, id, title, uri, content, content_hash, created_at, updated_at)
    select
        1 + number % %(corpora)s, number::text, 'Document ' || number, 'https://example.com/' || number,
        (select string_agg(md5(number || ' ' || line), ' ' order by line) from generate_series(1, 60) as line),
        sha256(number::text::bytea), now() - interval '400 days', now() - random() * interval '400 days'
    from generate_series(1, %(documents)s) as number
    """,
    """
    create temporary table drawn as
    select place, (select array_agg(random() - 0.5)::real[]::vector::halfvec from generate_series(place, place + 383))
        as vector
    from generate_series(0, 99) as place
    """,
    """
    insert into pgclarify_private.run (
        operation, corpus_id, corpus_name, question, question_vector, embedding_model, settings, requested_by,
        requested_by_oid, reuse_key, status, error, error_code, attempt, worker_id, corpus_revision, model,
        prompt_version, completions, reused_completions, prompt_tokens, completion_tokens, cost_usd, created_at,
        started_at, finished_at, interpretations, candidates, verdicts, served, last_served_at, question_group_id,
        stop_reason, stop_code
    )
    select
        operation, 1 + meaning %% %(corpora)s, 'corpus ' || 1 + meaning %% %(corpora)s,
        'What about ' || md5(meaning::text) || ', and where does it say so?', vector, 'all-MiniLM-L6-v2',
        '{"top_k": 20, "max_passages": 20, "method": "hybrid", "retrieval": "fixed", "refresh": 0, "singletons": "keep",
          "consolidation": "default"}',
        asker, pgclarify_private.role_oid(asker), sha256(number::text::bytea), status,
        case when status = 'failed' then 'the endpoint was gone' end, case when status = 'failed' then 'PC013' end, 1,
        1 + number %% 20, number / 1000, 'model-' || number %% 3, '1', 20, 3, 20000, 800, 0.0123, asked_at,
        asked_at + interval '1 second', asked_at + interval '4 seconds',
        case
            when operation = 'clarify' and status in ('succeeded', 'partial')
                then case when meaning %% 5 = 0 then 0 else 1 + meaning %% 5 end
        end,
        20, 20, served, case when served > 0 then asked_at + interval '2 days' end, meaning,
        case when number %% 7 = 0 then 'no new reading in a batch' end,
        case
            when status = 'partial' then 'failed_calls'
            when operation = 'clarify' and status = 'succeeded' and meaning %% 5 = 0 then 'not_answered'
        end
    from (
        select
            number,
            case when chance < 0.85 then 'clarify' when chance < 0.95 then 'search' else 'investigate' end as operation,
            case
                when number %% 50 = 0 then 'failed' when number %% 25 = 1 then 'partial'
                when number %% 100 = 2 then 'cancelled' else 'succeeded'
            end as status,
            case when number %% 50 = 7 then %(reader)s else 'role_' || number %% 49 end as asker,
            (300000 * power(chance_of_meaning, 2))::bigint as meaning,
            case when number %% 4 = 0 then number %% 9 else 0 end as served,
            now() - interval '365 days' * (1 - number::double precision / %(runs)s) as asked_at
        from generate_series(1, %(runs)s) as number
        cross join lateral (
            select random() + 0 * number as chance, random() + 0 * number as chance_of_meaning
        ) as chances
    ) as made
    -- A part of them: searches by words alone have none.
    left join drawn on drawn.place * 10 = made.number %% 1000
    order by made.number
    """,
    """
    insert into pgclarify_private.interpretation (
        run_id, ordinal, interpretation, answer, support, cohesion, is_contested
    )
    select
        run.run_id, ordinal,
        'What about ' || md5(run.run_id || ' ' || ordinal) || ' when it is the case of number ' || ordinal,
        'It is so, as far as ' || md5(ordinal::text), 2, 0.9, false
    from pgclarify_private.run
    cross join lateral generate_series(1, run.interpretations) as ordinal
    order by run.run_id, ordinal
    """,
    """
    insert into pgclarify_private.citation (
        run_id, ordinal, rank, candidate_rank, corpus_id, document_id, passage_id, heading, is_medoid, quote,
        start_char, end_char
    )
    select
        run_id, ordinal, rank, rank, corpus_id, document, document, 'Part > Chapter', rank = 1,
        concat_ws(
            ' ', md5(document || ' ' || line), md5(document || ' ' || line + 1), md5(document || ' ' || line + 2)
        ),
        (line - 1) * 33, (line - 1) * 33 + 98
    from (
        select
            run.run_id, interpretation.ordinal, rank, run.corpus_id,
            -- Of its corpus, some far oftener than others, and the last ones never.
            (%(documents)s * 0.9 / %(corpora)s * power(random(), 2))::bigint * %(corpora)s + run.corpus_id - 1
                as document,
            1 + run.run_id %% 50 as line
        from pgclarify_private.run
        inner join pgclarify_private.interpretation on interpretation.run_id = run.run_id
        cross join lateral generate_series(1, 1 + interpretation.ordinal %% 2) as rank
    ) as cited
    order by run_id, ordinal, rank
    """,
    """
    insert into pgclarify_private.citation_tally
        (corpus_id, document_id, requested_by, requested_by_oid, citations, runs, last_cited_at)
    select
        citation.corpus_id, citation.document_id, run.requested_by, run.requested_by_oid, count(*),
        count(distinct run.run_id), max(run.finished_at)
    from pgclarify_private.citation
    inner join pgclarify_private.run on citation.run_id = run.run_id
    group by citation.corpus_id, citation.document_id, run.requested_by, run.requested_by_oid
    """,
    "insert into pgclarify_private.corpus_tally (corpus_id, revision) select corpus_id, %(runs)s / 1000"
    " from pgclarify_private.corpus",
    "select pgclarify_private.fold_tallies()",
    # As a model of the dbt package has them.
    """
    create table public.benchmark_readings as
    select
        found.run_id, found.ordinal, found.interpretation, array_agg(distinct cited.document_id) as document_ids,
        jsonb_agg(
            jsonb_build_object(
                'ordinal', cited.ordinal, 'document_id', cited.document_id, 'quote', cited.quote,
                'start_char', cited.start_char, 'end_char', cited.end_char
            )
        ) as citations
    from (select * from pgclarify_private.interpretation order by run_id desc limit 20000) as found
    inner join pgclarify_private.citation as cited
        on found.run_id = cited.run_id and found.ordinal = cited.ordinal
    group by found.run_id, found.ordinal, found.interpretation
    """,
    "grant select on public.benchmark_readings to public",
)


def make(dsn: str, runs: int, documents: int) -> None:
    """Make all runs at once, without checking foreign keys."""
    given = {"runs": runs, "corpora": _CORPORA, "documents": documents, "reader": _READER}
    with product.connect(dsn) as connection:
        for role in (_READER, _ANALYST):
            connection.execute(sql.SQL("create role {} in role pgclarify_reader").format(sql.Identifier(role)))
        for number in range(1, _CORPORA + 1):
            connection.execute(
                "select pgclarify.create_corpus(%s, options => %s)",
                [f"corpus {number}", Jsonb({"reader": "pgclarify_reader", "analyst": _ANALYST})],
            )
        connection.execute("set session_replication_role = replica")
        connection.execute("set synchronous_commit = off")
        connection.execute("select setseed(0.5)")
        for statement in _MAKE:
            with step(" ".join(statement.split()[:4])):
                connection.execute(_bound(statement, given))
        with step("vacuum"):
            connection.execute("vacuum analyze")


def _bound(statement: str, given: dict[str, object]) -> bytes:
    # The client binds the values: the server would not know their types.
    text = statement
    for name, value in given.items():
        text = text.replace(f"%({name})s", f"'{value}'" if isinstance(value, str) else str(value))
    return text.replace("%%", "%").encode()


def measure(dsn: str, views: Sequence[str] = ()) -> Table:
    """Send all queries to all views, as each role. views: names of the views; none for all."""
    table = Table("view", "query", "rows", *(f"{who}, ms" for who in ("owner", "reader", "analyst")), "most over count")
    for column in table.columns[2:]:
        column.justify = "right"
    with product.connect(dsn) as connection:
        connection.execute("set statement_timeout = '60s'")
        count, _ = _milliseconds(connection, None, _COUNT)
        queries = [
            (view.name, what, query)
            for view in _VIEWS
            for what, query in (*view.queries(), *_printed(view.name))
            if not views or view.name in views
        ]
        queries += [("dbt test", what, query) for what, query in _generic_tests() if not views or "dbt" in views]
        for view, what, query in queries:
            with step(f"{view}: {what}"):
                measured = [_milliseconds(connection, role, query) for role in (None, _READER, _ANALYST)]
            times = [each for each, _ in measured]
            table.add_row(
                view, what, f"{measured[2][1]:,}", *(f"{each:,.0f}" for each in times), f"{max(times) / count:.2f}"
            )
        table.add_row("run", "count", "1", f"{count:,.0f}", "", "", "1")
    return table


def _milliseconds(connection: product.Connection, role: str | None, query: str) -> tuple[float, int]:
    """Median milliseconds over some repeats, and the number of rows."""
    connection.execute(sql.SQL("set role {}").format(sql.SQL("none") if role is None else sql.Identifier(role)))
    seconds = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        try:
            rows = len(connection.execute(query.encode()).fetchall())
        except psycopg.errors.QueryCanceled:
            return float("inf"), 0
        seconds.append(time.perf_counter() - started)
        if seconds[0] > 10:
            break
    return statistics.median(seconds) * 1000, rows


@contextmanager
def _database(folder: Path | None, runs: int, documents: int) -> Iterator[str]:
    if folder is None:
        with product.database() as dsn:
            make(dsn, runs, documents)
            yield dsn
        return
    is_new = not folder.exists()
    dsn = embedded.start(folder)
    install(dsn)
    if is_new:
        make(dsn, runs, documents)
    yield dsn


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--view", nargs="*", default=())
    given = parser.parse_args()
    with _database(given.database, given.runs, given.documents) as dsn:
        Console(width=140).print(measure(dsn, given.view))
