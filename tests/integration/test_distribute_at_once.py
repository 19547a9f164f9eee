"""Calls that start while a corpus is being distributed. The test stands in for distribute, which needs a cluster."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration.by_hand import Connect, Connection, Hire, scalar, state_of
from tests.integration.linking import MANY, add, link

LOCK = "select from pgclarify.corpus for update"
# As when distribute has ended: the corpus counts as distributed.
DISTRIBUTED = """
    create or replace function pgclarify_private.is_distributed(corpus_id bigint) returns boolean
    language sql stable security definer set search_path = pg_catalog, pg_temp
    return corpus_id = (select min(corpus.corpus_id) from pgclarify.corpus)
"""


@pytest.mark.parametrize(
    "call",
    ["select pgclarify.build_graph('insurance')", "select pgclarify.set_embedding_model('insurance', 'another-model')"],
)
def test_a_call_that_has_waited_for_distribute_is_refused(connection: Connection, connect: Connect, call: str) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    other = connect(connection.info.user)
    with ThreadPoolExecutor() as pool:
        with connection.transaction():
            connection.execute(LOCK)
            waiting = pool.submit(state_of, other, call)
            with pytest.raises(TimeoutError):
                waiting.result(0.5)
            connection.execute(DISTRIBUTED)
        assert waiting.result(60) == "0A000"


def test_a_distributed_corpus_is_not_linked(connection: Connection, hire: Hire) -> None:
    """Its passages cannot be linked any more, and the worker continues with the other corpus."""
    for corpus in ("insurance", "other"):
        connection.execute("select pgclarify.create_corpus(%s)", [corpus])
        add(connection, MANY, corpus)
    worker = hire()
    worker.index_everything()
    connection.execute(DISTRIBUTED)

    assert link(worker) == len(MANY)
    spaces = "select count(*) from pgclarify_private.linkable_spaces()"
    assert scalar(connection, spaces) == 0
    assert scalar(connection, "select count(*) from pgclarify_private.pending_link") == len(MANY)
