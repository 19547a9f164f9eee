"""All benchmarks that need no data from elsewhere: `make bench`."""

from __future__ import annotations

import argparse

from benchmarks import product
from benchmarks.figures import show
from benchmarks.scale import filters, many_corpora
from benchmarks.speed import (
    capture,
    churn,
    clarify_latency,
    clarify_throughput,
    detection,
    exploration,
    graph,
    idle,
    imports,
    ingest,
    lexical,
    repeat,
)


def main() -> None:
    """Run them, and show their figures."""
    argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__).parse_args()
    with product.made_up_corpus() as (dsn, corpus):
        figures = [
            *clarify_latency.measure(dsn, corpus),
            *clarify_throughput.measure(dsn, corpus),
            *repeat.measure(dsn, corpus),
            *lexical.measure(dsn),
            *filters.measure(dsn, by_readers=True),
            *graph.measure(dsn, sizes=(10_000,)),
            *exploration.measure(dsn),
            # The last one here: it leaves a thousand corpora behind.
            *many_corpora.measure(dsn),
        ]
    show(
        [
            *figures,
            *imports.measure(),
            *idle.measure(),
            *capture.measure(),
            *ingest.measure(),
            *detection.measure(questions=4_000),
            *churn.measure(seconds=20),
        ]
    )


if __name__ == "__main__":
    main()
