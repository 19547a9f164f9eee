"""Groups of questions whose runs were started more than once."""

from __future__ import annotations

from tests.integration.by_hand import Connection, HandWorker, scalar
from tests.integration.test_question_groups import Ask, ask, at, group, groups, worker

__all__ = ["ask", "worker"]


def test_a_vector_of_an_earlier_attempt_is_of_no_use(connection: Connection, worker: HandWorker, ask: Ask) -> None:
    ask("cars covered", at(1))
    run_id = int(scalar(connection, "select pgclarify.submit('clarify', 'how much is leave', 'insurance')"))
    worker.start(run_id)
    worker.retrieve(run_id, 1, "vehicles covered", at(0.99))

    worker.start(run_id)
    connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
    group(worker)

    cars, leave = groups(connection)
    assert None not in (cars, leave)
    assert cars != leave
