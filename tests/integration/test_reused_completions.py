"""A run counts reused replies as its stages do."""

from __future__ import annotations

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connection
from tests.openai_server import PROSE, Chat, Reply, Server, by_rules
from tests.workers import scalar, wait_until_searchable

CORPUS = "twins"
TEXT = "The deductible of a rental car is twelve dollars a day."


def asked(asker: Connection, question: str) -> int:
    return int(scalar(asker, "select pgclarify.submit('clarify', %s, %s)", question, CORPUS))


def counted(asker: Connection, run_id: int) -> tuple[int, int]:
    """The calls that were paid for, and those that were reused. Its stages say the same."""
    asker.execute("select pgclarify.wait(array[%s::bigint])", [run_id])
    run = "select completions, reused_completions from pgclarify.run where run_id = %s"
    stages = "select sum(calls), sum(reused_calls) from pgclarify_private.seen_stage where run_id = %s"
    (told,) = asker.execute(run.encode(), [run_id]).fetchall()
    assert asker.execute(stages.encode(), [run_id]).fetchall() == [told]
    return told[0], told[1]


def test_a_run_counts_as_its_stages_do(asker: Connection, superuser: Connection, model: Server) -> None:
    superuser.execute(MAKE_OPEN_CORPUS, [CORPUS])
    for document_id in ("a", "b"):
        superuser.execute("select pgclarify.add_document(%s, %s, %s)", [CORPUS, document_id, TEXT])
    wait_until_searchable(superuser, CORPUS)
    unread = [1]

    def unreadable_at_first(chat: Chat) -> Reply:
        return PROSE if chat.passage is not None and unread and unread.pop() else by_rules(chat)

    # The relaxation, and one verdict for both passages. The second one is no reuse, because this run paid for it.
    assert counted(asker, asked(asker, "deductible")) == (2, 0)
    # The first reply about the other passage cannot be read, so there is a second one. Both are reused.
    superuser.execute("select pgclarify.remove_document(%s, 'b')", [CORPUS])
    model.behavior = unreadable_at_first
    assert counted(asker, asked(asker, "rental car")) == (3, 0)
    asker.execute("set pgclarify.reuse_runs = off")
    again = asked(asker, "rental car")
    assert counted(asker, again) == (0, 3)
    # A consolidation copies the verdicts, and pays for nothing.
    run_id = scalar(asker, "select max(run_id) from pgclarify.consolidate(%s)", again)
    reused = "select completions, reused_completions from pgclarify.run where run_id = %s"
    assert asker.execute(reused.encode(), [run_id]).fetchall() == [(0, 1)]
