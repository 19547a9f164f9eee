"""Ten thousand edits of an attached table in a minute: how late the corpus is, and when it is up to date again.

python -m benchmarks.speed.edits [--rows N] [--seconds N] [--backend torch]
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from itertools import islice
from threading import Event, Thread

from benchmarks import made_up, product
from benchmarks.figures import Figure, show, step
from benchmarks.speed.ingest import wait_until_searchable, worker_of
from pgclarify.config import EmbeddingBackend

ROWS = 10_000
SECONDS = 60.0
_SAMPLE_SECONDS = 0.5
_STALE = """
    select count(*) as rows
    from public.article
    full join pgclarify.document on document.id = article.id::text
    full join pgclarify.passage on passage.document_id = document.id and passage.corpus_id = document.corpus_id
    where article.body is distinct from document.content or document.content is distinct from passage.content
"""


@dataclass
class _Watch:
    """The figures of view corpus during the edits."""

    most_pending: int = 0
    longest_lag: float = 0.0
    over: Event = field(default_factory=Event)

    def look(self, dsn: str) -> None:
        with product.connect(dsn) as connection:
            while not self.over.wait(_SAMPLE_SECONDS):
                (seen,) = connection.execute(
                    "select pending, coalesce(extract(epoch from lag), 0)::float as lag from pgclarify.corpus"
                ).fetchall()
                self.most_pending = max(self.most_pending, seen["pending"])
                self.longest_lag = max(self.longest_lag, seen["lag"])


def measure(
    rows: int = ROWS, seconds: float = SECONDS, backend: EmbeddingBackend = EmbeddingBackend.AUTO
) -> list[Figure]:
    """Edit each row of an attached table once, in one transaction for each UPDATE, evenly over the seconds."""
    sentences = made_up.phrases(12, seed=5)
    with product.database() as dsn, worker_of(dsn, backend), product.connect(dsn) as connection:
        connection.execute("create table public.article (id integer primary key, body text not null)")
        with connection.cursor() as cursor, cursor.copy("copy public.article from stdin") as copy:
            for number, sentence in enumerate(islice(sentences, rows)):
                copy.write_row((number, sentence))
        connection.execute("select pgclarify.create_corpus('articles')")
        connection.execute("select pgclarify.attach_table('articles', 'public.article', 'id', 'body')")
        with step(f"loading {rows:,} rows"):
            wait_until_searchable(connection, "articles")
        watch = _Watch()
        watcher = Thread(target=watch.look, args=(dsn,))
        watcher.start()
        with step(f"{rows:,} edits in {seconds:.0f} s"):
            started = time.perf_counter()
            for number, sentence in enumerate(islice(sentences, rows)):
                time.sleep(max(0.0, started + number * seconds / rows - time.perf_counter()))
                connection.execute("update public.article set body = %s where id = %s", [sentence, number])
            edited = time.perf_counter()
        with step("catching up"):
            wait_until_searchable(connection, "articles")
            caught_up = time.perf_counter()
        watch.over.set()
        watcher.join()
        (stale,) = connection.execute(_STALE).fetchall()
        assert stale["rows"] == 0, stale
    return [
        Figure(f"edits, {backend}: made in", edited - started, "s"),
        Figure(f"edits, {backend}: most documents behind", watch.most_pending, "documents"),
        Figure(f"edits, {backend}: longest lag", watch.longest_lag, "s"),
        Figure(f"edits, {backend}: all searchable after the last one", caught_up - edited, "s"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--backend", type=EmbeddingBackend, default=EmbeddingBackend.AUTO, choices=EmbeddingBackend)
    arguments = parser.parse_args()
    show(measure(arguments.rows, arguments.seconds, arguments.backend))
