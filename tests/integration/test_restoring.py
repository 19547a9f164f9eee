"""A restore builds the index over vectors as fast as docs/operations.md says, if it may use so much memory."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import closing

import psycopg

from pgclarify import embedded
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.sessions import Connection, scalar

PASSAGES = 2000
# Besides 1.5 kB a passage, a megabyte for an index of any size.
KILOBYTES = PASSAGES * 3 // 2 + 1000
TOO_LITTLE = "hnsw graph no longer fits into maintenance_work_mem"


def test_one_and_a_half_kilobytes_a_passage_are_enough_to_build_the_index(
    connection: Connection,
    make_worker: MakeWorker,
    database: str,
    make_database: Callable[..., str],
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    make_worker().open_spaces(dimensions=384)
    connection.execute(
        """
        insert into pgclarify_private.passage_embedding (embedding_space_id, document_id, passage_id, vector)
        select space.embedding_space_id, 'd' || passage, passage, numbers.vector
        from pgclarify_private.embedding_space as space
        cross join generate_series(1, %s) as passage
        cross join lateral (
            select array_agg(sin(passage * place))::halfvec as vector from generate_series(1, 384) as place
        ) as numbers
        """,
        [PASSAGES],
    )
    target = make_database()

    dump = subprocess.run([embedded.binary("pg_dump"), database], stdout=subprocess.PIPE, check=True, timeout=120)
    restored = subprocess.run(
        [embedded.binary("psql"), "-qX", "-v", "ON_ERROR_STOP=1", target],
        # The dump hides notices.
        input=dump.stdout.replace(b"SET client_min_messages = warning;", b""),
        env=os.environ | {"PGOPTIONS": f"-c maintenance_work_mem={KILOBYTES}kB"},
        capture_output=True,
        check=True,
        timeout=120,
    )

    assert TOO_LITTLE not in restored.stderr.decode()
    # With less, the server says so.
    notices: list[str] = []
    with closing(psycopg.connect(target, autocommit=True)) as superuser:
        assert scalar(superuser, "select count(*) from pgclarify_private.passage_embedding") == PASSAGES
        superuser.add_notice_handler(lambda said: notices.append(said.message_primary or ""))
        superuser.execute("set maintenance_work_mem = '2MB'")
        superuser.execute("reindex table pgclarify_private.passage_embedding")
    assert any(TOO_LITTLE in notice for notice in notices)
