"""The setting for faults: a server with a small corpus, a faulty endpoint, and worker processes."""

from __future__ import annotations

import json
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import product
from benchmarks.faults import wire
from benchmarks.faults.accounts import ENDS, Account, Stored, account
from benchmarks.faults.endpoint import Call, Endpoint
from pgclarify import embedded
from pgclarify.embedding.packaged import PACKAGED
from tests import workers

CORPUS = "rental"
TOP_K = 4
CONCURRENCY = 8
# A call without a reply costs four times this many seconds, because it is tried four times.
_CALL_SECONDS = "3"
_NAME = "fault harness"
_PATIENCE_SECONDS = 120.0
# The connection broke, or the server shuts down or starts.
_GONE = ("08", "57P")
_STATES = "select run_id, status from pgclarify.run where run_id = any(%s)"
_STORED = """
    select left(reply, 64), extract(epoch from finished_at)::float8 from pgclarify_private.completion
    where reply is not null and finished_at >= to_timestamp(%s)
"""

_COUNTED = """
    select coalesce(sum(completions + unanswered_calls), 0)::bigint from pgclarify.run where run_id = any(%s)
"""


class Crew:
    """Worker processes that may be killed and replaced.

    Attributes:
        peak_megabytes: The most memory of one worker at any of the measurements.
        spared: The worker that `replace` never kills; None if it may kill all.
    """

    def __init__(self, base_url: str, folder: Path, embedding_model: str) -> None:
        self.peak_megabytes = 0.0
        self.spared: workers.Worker | None = None
        self._base_url = base_url
        self._folder = folder
        self._settings = {"PGCLARIFY_LLM_TIMEOUT": _CALL_SECONDS, "PGCLARIFY_EMBEDDING_MODEL": embedding_model}
        self._lock = threading.Lock()
        self._members: dict[workers.Worker, ExitStack] = {}

    @property
    def members(self) -> list[workers.Worker]:
        """The workers that are ready."""
        with self._lock:
            return list(self._members)

    def hire(self, dsn: str) -> workers.Worker:
        """Start a worker, and wait until it is ready."""
        stack = ExitStack()
        member = stack.enter_context(
            workers.worker(dsn, self._base_url, self._folder, concurrency=CONCURRENCY, settings=self._settings)
        )
        with self._lock:
            self._members[member] = stack
        return member

    def kill(self, member: workers.Worker) -> None:
        """Kill a worker by SIGKILL."""
        self.look()
        with self._lock:
            stack = self._members.pop(member)
        stack.close()

    def replace(self, dsn: str) -> None:
        """Kill a random worker and start another."""
        members = [member for member in self.members if member is not self.spared]
        if members:
            self.kill(random.choice(members))  # noqa: S311 - not for secrets
        self.hire(dsn)

    def dismiss(self) -> None:
        """Kill all workers."""
        for member in self.members:
            self.kill(member)

    def look(self) -> None:
        """Measure the workers' memory, and update the highest value."""
        for member in self.members:
            with suppress(OSError):
                self.peak_megabytes = max(self.peak_megabytes, megabytes(member, "VmHWM"))


def megabytes(member: workers.Worker, what: str = "VmRSS") -> float:
    """Resident memory of a worker, now (VmRSS) or its peak so far (VmHWM)."""
    status = Path(f"/proc/{member.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{what}:")) / 1024


@dataclass
class Stage:
    """The server, the endpoint and the workers.

    Attributes:
        dsn: The server, as a superuser.
        data_dir: The server's data directory.
        endpoint: The endpoint that workers call.
        crew: The workers; none at first.
        embedding_model: The model of corpora.
        passages_per_call: The option of runs.
    """

    dsn: str
    data_dir: Path
    endpoint: Endpoint
    crew: Crew
    embedding_model: str
    passages_per_call: int = 1
    _since: float = field(default_factory=time.time)
    _first_call: int = 0

    def query(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Send one statement on a new connection. Try again while the server takes no connections."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                with psycopg.connect(self.dsn, autocommit=True, application_name=_NAME) as connection:
                    cursor = connection.execute(statement.encode(), parameters)
                    return cursor.fetchall() if cursor.description else []
            except psycopg.OperationalError as error:
                is_gone = error.sqlstate is None or error.sqlstate.startswith(_GONE)
                if not is_gone or time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def cut_sessions(self) -> None:
        """End all sessions but those of this process."""
        self.query(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where backend_type = 'client backend' and datname = current_database() and application_name <> %s",
            _NAME,
        )

    def restart_server(self) -> None:
        """Stop the server, which ends all sessions, and start it again."""
        embedded.stop(self.data_dir)
        embedded.start(self.data_dir)

    def ask(self, questions: Sequence[str]) -> list[int]:
        """Submit questions, and return the ids of their runs."""
        statement = "select pgclarify.submit_many('clarify', %s, corpus => %s, options => %s)"
        options = json.dumps({"top_k": TOP_K, "passages_per_call": self.passages_per_call})
        ((run_ids,),) = self.query(statement, list(questions), CORPUS, options)
        return list(run_ids)

    def states(self, run_ids: Sequence[int]) -> dict[int, str]:
        """The state of each run that has a row."""
        return dict(self.query(_STATES, list(run_ids)))

    def wait(self, run_ids: Sequence[int], seconds: float) -> bool:
        """Wait for the end of runs; false if some are still open after these seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.crew.look()
            if all(state in ENDS for state in self.states(run_ids).values()):
                return True
            time.sleep(0.5)
        return False

    def errors(self, run_ids: Sequence[int]) -> list[tuple[int, str]]:
        """Why runs failed, and how many failed for each reason, the most frequent first."""
        counted = self.query(
            "select count(*), left(error, 200) as error from pgclarify.run where run_id = any(%s) and status = 'failed'"
            " group by 2 order by 1 desc limit 20",
            list(run_ids),
        )
        return [(count, error) for count, error in counted]

    def begin(self) -> None:
        """Start to count calls for `account`."""
        self._since, self._first_call = time.time() - 1, len(self.endpoint.calls)

    @property
    def calls(self) -> list[Call]:
        """Calls since `begin`."""
        return self.endpoint.calls[self._first_call :]

    def account(self, run_ids: Sequence[int]) -> Account:
        """The results of these runs, and of all calls since `begin`."""
        calls = self.calls
        stored = [
            Stored(serial, at)
            for reply, at in self.query(_STORED, self._since)
            if (serial := wire.serial_of(reply)) is not None
        ]
        ((counted,),) = self.query(_COUNTED, list(run_ids))
        return account(run_ids, self.states(run_ids), calls, stored, counted)


@contextmanager
def staged(endpoint: Endpoint | None = None) -> Iterator[Stage]:
    """A stage with a searchable corpus and no worker. It is removed at the end. endpoint: one that serves already."""
    with tempfile.TemporaryDirectory(prefix="pgclarify-faults-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o711)  # the server may run as a user of its own
        (folder / "logs").mkdir()
        data_dir = folder / "data"
        dsn = stack.enter_context(product.server(data_dir))
        if endpoint is None:
            endpoint = Endpoint()
            stack.enter_context(endpoint.serving())
        # It loads in half a second. With PyTorch, most workers would be killed before their first call.
        embedding_model = PACKAGED
        crew = Crew(endpoint.base_url, folder / "logs", embedding_model)
        stack.callback(crew.dismiss)
        stage = Stage(dsn, data_dir, endpoint, crew, embedding_model)
        stage.query("select pgclarify.create_corpus(%s, %s)", CORPUS, embedding_model)
        for document_id, (title, content) in workers.DOCUMENTS.items():
            add = "select pgclarify.add_document(%s, %s, %s, title => %s)"
            stage.query(add, CORPUS, str(document_id), content, title)
        crew.hire(dsn)
        ready = "select pending = 0 and passages > 0 from pgclarify.corpus where corpus = %s"
        workers.until(lambda: stage.query(ready, CORPUS)[0][0])
        crew.dismiss()
        yield stage


def send(member: workers.Worker, number: signal.Signals) -> None:
    """Send a worker a signal."""
    assert member.process.pid is not None
    os.kill(member.process.pid, number)
