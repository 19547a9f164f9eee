"""An open transaction of a corpus's owner delays the runs of that corpus, and no others."""

from __future__ import annotations

from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, scalar

ASK = "select pgclarify.submit('clarify', %s, %s)"


def owner(connect: Connect, make_role: MakeRole, worker: ManualWorker, corpus: str) -> Connection:
    """A user with a corpus that can be searched."""
    session = connect(make_role("pgclarify_user"))
    session.execute("select pgclarify.create_corpus(%s)", [corpus])
    session.execute("select pgclarify.add_document(%s, '1', 'Cars.')", [corpus])
    worker.index_everything()
    return session


def taken(worker: ManualWorker) -> tuple[int, bool] | None:
    """The run that a worker takes next, and whether it could be started."""
    found = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False)
    return (found[0]["run_id"], found[0]["refusal"] is None) if found else None


def test_runs_of_a_locked_corpus_come_after_those_of_others(
    connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    worker = make_worker()
    alice, mallory = (owner(connect, make_role, worker, corpus) for corpus in ("hers", "locked"))
    delayed = [scalar(mallory, ASK, f"cars {number}", "locked") for number in range(3)]
    with mallory.transaction():
        mallory.execute("select pgclarify.grant_access('locked', 'pgclarify_reader')")
        free = [scalar(alice, ASK, f"cars {number}", "hers") for number in range(2)]

        assert [taken(worker) for _ in free] == [(run_id, True) for run_id in free]
        assert taken(worker) == (delayed[0], False)
        late = scalar(alice, ASK, "late cars", "hers")
        assert taken(worker) == (late, True)

    assert taken(worker) == (delayed[1], True)
