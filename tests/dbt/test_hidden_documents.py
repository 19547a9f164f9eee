"""Builds by a role that may read only a part of the corpus."""

from __future__ import annotations

from tests.dbt.project import Project
from tests.dbt.searching import MODEL, Connection, log
from tests.openai_server import Server
from tests.sessions import scalar
from tests.workers import CORPUS, until, wait_until_searchable


def hide(superuser: Connection, document_id: str, content: str) -> None:
    """Add a document that dbt's role may not read, and wait until other roles can find it."""
    superuser.execute(
        "select pgclarify.add_document(%s, %s, %s, readers => array['pgclarify_worker'])",
        [CORPUS, document_id, content],
    )
    wait_until_searchable(superuser)


def test_a_role_that_sees_a_part_of_the_corpus_asks_once(
    project: Project, asker: Connection, superuser: Connection, model: Server
) -> None:
    asked = "select coalesce(sum(times_asked), 0) from pgclarify.asked_question"
    hide(superuser, "901", "Rental cars of the board come with a chauffeur.")
    assert (
        scalar(asker, "select document_id from pgclarify.search('chauffeur', options => '{\"method\": \"lexical\"}')")
        is None
    )
    log(asker, project, "fees", "hail", "tolls")
    assert "3 distinct questions, 3 to be asked" in project.done("run", "--select", "+search_interpretations").log
    calls = model.calls
    # Runs count after they are grouped, which happens some time after their end.
    assert until(lambda: scalar(superuser, asked) == 3)

    assert "3 distinct questions, 0 to be asked" in project.done("run", "--select", MODEL).log
    hide(superuser, "902", "The board pays no tolls and no fees.")
    assert "3 distinct questions, 0 to be asked" in project.done("run", "--select", MODEL).log
    assert model.calls == calls
    assert scalar(superuser, asked) == 3

    # A new document that dbt's role may read makes the questions due again, unless the model says that they may wait.
    superuser.execute("select pgclarify.add_document(%s, '903', 'Hail dents are repaired for free.')", [CORPUS])
    wait_until_searchable(superuser)
    assert "3 distinct questions, 0 to be asked" in project.done("run", "--select", MODEL, max_staleness="7d").log
    assert "3 distinct questions, 3 to be asked" in project.done("run", "--select", MODEL).log
