"""alter_corpus changes the embedding model, the graph and the classifier of a corpus; finding shows what is wrong."""

from __future__ import annotations

import json

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MODEL, MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

NEXT = "select next_embedding_model from pgclarify.corpus where corpus = 'insurance'"


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute("update pgclarify_private.embedding_space set model = %s", [MODEL])
    connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
    hired = make_worker()
    hired.index_everything()
    return hired


def alter(connection: Connection, **options: object) -> bool:
    return bool(scalar(connection, "select pgclarify.alter_corpus('insurance', %s)", json.dumps(options)))


def test_a_change_of_the_embedding_model_begins_and_ends(connection: Connection, worker: ManualWorker) -> None:
    assert alter(connection, embedding_model="another-model")
    assert scalar(connection, NEXT) == "another-model"
    assert alter(connection, embedding_model=None)
    assert scalar(connection, NEXT) is None
    assert not alter(connection, embedding_model=None)
    assert alter(connection, embedding_model="another-model")
    assert alter(connection, embedding_model=MODEL)
    assert scalar(connection, NEXT) is None
    assert not alter(connection, embedding_model=MODEL)


def test_the_graph_is_built_again(connection: Connection, worker: ManualWorker) -> None:
    assert alter(connection, graph="rebuild")
    assert scalar(connection, "select linking_passages from pgclarify_private.embedding_space") == 1


def test_wrong_changes_and_changes_by_others_are_refused(
    connection: Connection, worker: ManualWorker, connect: Connect, make_role: MakeRole
) -> None:
    change = "select pgclarify.alter_corpus('insurance', %s)"
    assert sqlstate_of(connection, change, ['{"graph": "drop"}']) == "22023"
    assert sqlstate_of(connection, change, ['{"ambiguity_classifier": 7}']) == "42704"
    assert sqlstate_of(connection, change, ['{"embedding_model": ""}']) == "22023"
    for options in ('{"graph": "rebuild"}', '{"embedding_model": "x"}', '{"ambiguity_classifier": null}'):
        assert sqlstate_of(connect(make_role("pgclarify_user")), change, [options]) == "42501"


def test_findings_are_what_is_wrong(connection: Connection, worker: ManualWorker) -> None:
    assert connection.execute("select * from pgclarify.finding where kind <> 'graph'").fetchall() == []
    assert alter(connection, embedding_model="no-such-model")
    connection.execute("update pgclarify_private.embedding_space set error = 'no such model' where state = 'building'")
    ((name, level, finding),) = connection.execute(
        "select name, level, finding from pgclarify.finding where kind = 'corpora'"
    )
    assert (name, level) == ("insurance", "problem")
    assert finding == "keeps its embedding model, and does not get on to no-such-model: no such model"
