"""Every operation on a distributed corpus leaves rows in the same tables and views as on another corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.by_hand import Connection, HandWorker
from tests.integration.distributed.corpora import distribute, found
from tests.servers import cluster
from tests.workers import (
    environment,
    load,
    model_server,
    run_command,
    scalar,
    until,
    wait,
    wait_until_searchable,
    worker,
)

pytestmark = cluster.needed

HOPS = "Which deductible applies to damage by hail? Which cleaning fee is charged when somebody has smoked?"
OPERATIONS: dict[str, dict[str, Any]] = {
    "search": {"question": "cleaning fee"},
    "clarify": {"question": "Which fee is charged?", "top_k": 6},
    "investigate": {"question": HOPS},
    "list_answers": {"question": "Which fee is charged?"},
    "clarifying_questions": {"question": "Which fee is charged?"},
    "estimate": {"questions": ["Which fee is charged?"]},
}
CASES = [{"question": "What does smoking cost?", "answers": ["two hundred dollars"], "gold": ["108"]}]
# What docs/citus.md names.
MISSING = {"passage"}


def filled(connection: Connection, corpus: str) -> set[str]:
    """The tables and views that have rows of a corpus."""
    relations = connection.execute(
        """
        select relname::text, (
            select attname::text
            from pg_attribute
            where attrelid = pg_class.oid and attname in ('corpus', 'corpus_id', 'run_id', 'eval_run_id')
            order by attname limit 1
        ) as key
        from pg_class where relnamespace = 'pgclarify'::regnamespace and relkind in ('r', 'p', 'v')
        """
    ).fetchall()
    of_corpus = {
        "corpus": "corpus = %s",
        "corpus_id": "corpus_id = (select corpus_id from pgclarify.corpus where corpus = %s)",
        "run_id": "run_id in (select run_id from pgclarify.run where corpus_name = %s)",
        "eval_run_id": "eval_run_id in (select eval_run_id from pgclarify_private.eval_run where corpus_name = %s)",
    }
    found = set()
    for relation, key in relations:
        if key is not None:
            exists = f"select exists (select from pgclarify.{relation} where {of_corpus[key]})"  # noqa: S608 - ours
            if scalar(connection, exists, corpus):
                found.add(relation)
    return found


def test_every_operation_has_its_rows(database: str, connection: Connection, tmp_path: Path) -> None:
    (tmp_path / "ours.jsonl").write_text("\n".join(map(json.dumps, CASES)))
    with model_server() as model, worker(database, model.base_url, tmp_path):
        for corpus in ("here", "there"):
            load(connection, corpus)
            wait_until_searchable(connection, corpus)
        distribute(connection, "there", shards=2)
        until(lambda: scalar(connection, "select linked = passages from pgclarify.corpus where corpus = 'here'"))
        variables = environment(database, model.base_url)

        def command(*arguments: str) -> str:
            done = run_command(*arguments, variables=variables, folder=tmp_path)
            assert done.returncode == 0, done.stderr
            return done.stdout

        contents, runs = {}, dict[str, int]()
        for corpus in ("here", "there"):
            for operation, arguments in OPERATIONS.items():
                options = {**arguments, **arguments.get("options", {}), "corpus": corpus}
                question = options.pop("question", None)
                options.pop("options", None)
                runs[operation] = scalar(
                    connection,
                    "select pgclarify.submit(%s, %s, options => %s)",
                    operation,
                    question,
                    json.dumps(options),
                )
                assert wait(connection, [runs[operation]]) == ["succeeded"], (corpus, operation)
            evaluated = command("eval", "run", "ours.jsonl", "-c", corpus, "--method", "search", "--yes", "--json")
            metrics = json.loads(evaluated)["metrics"]
            del metrics["seconds"]
            contents[corpus] = filled(connection, corpus), metrics
        assert "<html" in command("report", str(runs["clarify"]), "-o", "-")

    (here, metrics_here), (there, metrics_there) = contents["here"], contents["there"]
    # The model was asked the same about both corpora, so the replies about the second one were paid for by the first.
    assert here - there == MISSING | {"completion"}
    assert not there - here
    assert {"investigation_step", "answer_list", "clarifying_question_list", "eval_case"} <= there
    assert metrics_there == metrics_here


def test_a_document_is_erased(connection: Connection, both: HandWorker, reader: str) -> None:
    assert found(connection, "there", [reader], "lexical", "item7")
    for corpus in ("here", "there"):
        assert scalar(connection, "select pgclarify.erase_document(%s, 'd7')", corpus)
    both.index_everything()

    for method in ("dense", "lexical"):
        here, there = (found(connection, corpus, [reader], method, "item7", 100) for corpus in ("here", "there"))
        assert here == there
        assert "d7" not in {document_id for document_id, *_ in there}
