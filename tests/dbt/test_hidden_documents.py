"""Builds by a role that may read only a part of the corpus."""

from __future__ import annotations

from tests.dbt.project import Project
from tests.dbt.searching import MODEL, Connection, log, rows
from tests.openai_server import Server
from tests.sessions import scalar
from tests.workers import CORPUS, Service, until, wait_until_searchable


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


def test_a_role_with_a_fence_asks_again_after_a_document_has_left_it(
    project: Project, asker: Connection, superuser: Connection, service: Service, model: Server
) -> None:
    superuser.execute("select pgclarify.create_corpus('fenced')")
    add = "select pgclarify.add_document('fenced', '1', 'The fee of a rental car is nine dollars.', metadata => %s)"
    superuser.execute(add, ['{"tenant": "ours"}'])
    superuser.execute(
        "select pgclarify.grant_access('fenced', %s, filter => '{\"tenant\": \"ours\"}')", [service.asker]
    )
    wait_until_searchable(superuser, "fenced")
    log(asker, project, "rental car fee")
    project.done("run", "--select", "+of_any_corpus", corpus="fenced")
    assert rows(asker, project, "search_id document_ids", "of_any_corpus") == [(1, ["1"])]

    superuser.execute(add, ['{"tenant": "theirs"}'])

    assert project.run("test", "--select", "of_any_corpus", corpus="fenced").statuses() == {"seen": "fail"}
    project.done("build", "--select", "of_any_corpus", corpus="fenced")
    assert rows(asker, project, "search_id document_ids", "of_any_corpus") == [(1, None)]


def test_a_build_waits_until_changed_documents_are_searchable(
    project: Project, asker: Connection, model: Server
) -> None:
    asker.execute("select pgclarify.create_corpus('growing')")
    add = "select pgclarify.add_document('growing', '{0}', 'The fee of rental car {0} is nine dollars.')"
    log(asker, project, "rental car fee")
    for number in (1, 2):
        project.done("run", "--select", "+of_any_corpus", corpus="growing", pre_hook=add.format(number))
    cited = {document for (found,) in rows(asker, project, "document_ids", "of_any_corpus") for document in found}
    assert cited == {"1", "2"}
