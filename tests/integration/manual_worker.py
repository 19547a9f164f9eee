"""A worker whose statements a test sends, one at a time.

A real worker (tests/workers.py) decides itself when it does what. Tests of races, leases, crashes and single statements
need each statement at a chosen moment, and figures that no model computes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.rows import dict_row

from pgclarify import __version__
from pgclarify.data.documents import Chunk, passage_hash
from pgclarify.database.queries import queries, statement
from tests.sessions import Connect, Connection, MakeRole, scalar

DIMENSIONS = 4
MODEL = "a-model"
# A new corpus is closed: without the option, only its owner could search it.
MAKE_OPEN_CORPUS = b'select pgclarify.create_corpus(%s, options => \'{"reader": "pgclarify_reader"}\')'
PROMPTS = "v1"


def rows_of(row_type: str) -> str:
    """The statement that reads the rows of a run in the columns of the function that waits for it."""
    return (
        "select seen.* from pgclarify_private.caller cross join lateral jsonb_populate_recordset("  # noqa: S608 - names
        f"null::pgclarify.{row_type}, pgclarify_private.result_rows(caller, %s, '{row_type}')) as seen"
    )


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """A vector of unit length with a different direction for each text. dimensions: at most 32."""
    numbers = [byte - 127.5 for byte in hashlib.sha256(text.encode()).digest()[:dimensions]]
    length = sum(number * number for number in numbers) ** 0.5
    return [number / length for number in numbers]


def paragraphs(content: str) -> list[Chunk]:
    """Cut a document: a passage for each paragraph, headed by the last line before it that starts with "# "."""
    chunks: list[Chunk] = []
    heading = None
    for found in re.finditer(r"\S(?:(?!\n\n).)*", content, re.DOTALL):
        if found[0].startswith("# "):
            heading = found[0].splitlines()[0].removeprefix("# ")
        chunks.append(Chunk(len(chunks) + 1, heading, found[0], found.start(), found.end()))
    return chunks


class ManualWorker:
    """A worker that only does what a test calls. It counts as alive until it is closed.

    Args:
        connection: A login of pgclarify_worker.

    Attributes:
        leases: The latest leases that it has claimed, by rows of the ledger.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        model: str = MODEL,
        prompt_version: str = PROMPTS,
        provider: str = "extractive",
        version: str = __version__,
        is_serving: bool = True,
        lease: timedelta = timedelta(days=1),
    ) -> None:
        self.connection = connection
        # A statement that waits for a user who never ends is an error, and the test ends. No lock_timeout: its error is
        # the one that a worker gets where it must not wait.
        connection.execute("set statement_timeout = '2min'")
        self.leases: dict[int, Any] = {}
        self._settings: dict[int, Mapping[str, Any]] = {}
        self.worker_id = self.value(
            "register_worker",
            host="here",
            process_id=1,
            version=version,
            provider=provider,
            model=model,
            prompt_version=prompt_version,
            is_serving=is_serving,
            # No heartbeat follows, so the worker counts as alive only for this time.
            lease=lease,
            schema_hash=scalar(connection, "select shipped_hash from pgclarify_private.applied_sql"),
        )
        self.send("take_worker_lock", worker_id=self.worker_id)

    def die(self) -> None:
        """Lose the session, as a killed process would, and wait until the server knows."""
        process_id, dsn = self.connection.info.backend_pid, self.connection.info.dsn
        self.connection.close()
        with closing(psycopg.connect(dsn, user="postgres", autocommit=True)) as witness:
            while scalar(witness, "select count(*) from pg_stat_activity where pid = %s", process_id):
                pass

    def send(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """Send one of the worker's statements, or call one of its functions."""
        with self.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(statement(name, parameters), parameters)
            rows = cursor.fetchall() if cursor.description else []
        self.leases.update((row["completion_id"], row["leased_until"]) for row in rows if row.get("leased_until"))
        return rows

    def value(self, function: str, **parameters: Any) -> Any:
        """Call a function that returns one value."""
        return self.send(function, **parameters)[0]["result"]

    def call(self, text: str, **changes: Any) -> dict[str, Any]:
        """A call with this input, in the form of a claim."""
        return {
            "purpose": "verdict", "model": MODEL, "parameters": {}, "prompt_version": PROMPTS, "sample": 0,
            "input_bytes": 1, "max_output_tokens": 1, "document_ids": [],
            "input_hash": f"\\x{hashlib.sha256(text.encode()).hexdigest()}", **changes,
        }  # fmt: skip

    def claim_calls(
        self,
        run_id: int | None,
        inputs: Sequence[str],
        *calls: Mapping[str, Any],
        lease: timedelta = timedelta(hours=1),
        attempt: int | None = None,
        corpus_id: int | None = None,
        sent_at_once: int = 0,
        **common: Any,
    ) -> list[dict[str, Any]]:
        """Claim a call for each input. calls: what each differs in; common: what all of them do."""
        asked = [
            self.call(text, **{**common, **own}) for text, own in zip(inputs, calls or [{}] * len(inputs), strict=True)
        ]
        rows = self.send(
            "claim_completions", worker_id=self.worker_id, run_id=run_id, lease=lease, calls=json.dumps(asked),
            attempt=attempt, corpus_id=corpus_id, sent_at_once=sent_at_once,
        )  # fmt: skip
        return sorted(rows, key=lambda row: int(row["ordinal"]))

    def store_replies(
        self,
        run_id: int | None,
        completion_ids: Sequence[int],
        *,
        replies: Sequence[str],
        tokens: Sequence[tuple[int | None, int | None]],
        latencies_ms: Sequence[float],
        cached_tokens: Sequence[int | None] | None = None,
        leases: Mapping[int, Any] | None = None,
    ) -> None:
        """Store the reply of a model, with its tokens of input and output.

        cached_tokens: Input tokens that the endpoint had cached; None if the endpoint does not report them.
        leases: The leases of the calls; None for the latest.
        """
        held = self.leases if leases is None else leases
        cached = [None] * len(completion_ids) if cached_tokens is None else cached_tokens
        self.send(
            "store_completions",
            worker_id=self.worker_id,
            completions=json.dumps(
                [
                    {
                        "completion_id": completion_id, "run_id": run_id, "leased_until": held.get(completion_id),
                        "reply": reply, "prompt_tokens": prompt, "completion_tokens": said, "latency_ms": latency,
                        "cached_tokens": from_cache,
                    }
                    for completion_id, reply, (prompt, said), latency, from_cache in zip(
                        completion_ids, replies, tokens, latencies_ms, cached, strict=True
                    )
                ],
                default=datetime.isoformat,
            ),
        )  # fmt: skip

    def record_candidates(self, run_id: int, *candidates: Mapping[str, Any], attempt: int = 1) -> list[int]:
        """Store candidates, by default found by a dense search; return the ranks of the stored ones."""
        usual = {"score": 0.5, "origin": "dense", "batch": 1}
        names = ("rank", "document_id", "passage_id", "score", "origin", "via_passage_id", "batch", "step_ordinal")
        rows = [{name: (usual | dict(one)).get(name) for name in names} for one in candidates]
        return list(self.value("record_candidates", run_id=run_id, attempt=attempt, candidates=json.dumps(rows)))

    def record_results(self, run_id: int, relation: str, *results: Mapping[str, Any], attempt: int = 1) -> None:
        """Store results with their citations."""
        self.send("record_results", run_id=run_id, attempt=attempt, relation=relation, results=json.dumps(results))

    def record_verdicts(self, run_id: int, *verdicts: Mapping[str, Any], attempt: int = 1) -> None:
        """Store verdicts.

        By default, verdicts abstained because the passage does not answer, or failed with an internal error.
        """
        codes = {"abstained": {"abstention_code": "not_answered"}, "failed": {"error_code": "XX000"}}
        rows = [{"is_reused": False, **codes.get(verdict["outcome"], {}), **verdict} for verdict in verdicts]
        self.send("record_verdicts", run_id=run_id, attempt=attempt, verdicts=json.dumps(rows))

    def give_back(
        self, completion_ids: Sequence[int], leases: Mapping[int, Any] | None = None, *, may_be_charged: bool = True
    ) -> None:
        """Release leases. leases: As in `store_replies`. may_be_charged: false for calls that provably cost nothing."""
        held = self.leases if leases is None else leases
        self.send(
            "release_completions",
            worker_id=self.worker_id,
            completion_ids=list(completion_ids),
            leases=[held.get(completion_id) for completion_id in completion_ids],
            may_be_charged=[may_be_charged] * len(completion_ids),
        )

    def open_spaces(self, dimensions: int = DIMENSIONS) -> None:
        """Open the spaces that wait for their model."""
        for space in self.send("building_spaces"):
            self.send("open_space", embedding_space_id=space["embedding_space_id"], dimensions=dimensions)

    def claim(
        self,
        max_documents: int = 1000,
        max_chars: int = 10**9,
        lease: float = 60,
        skipped_models: Sequence[str] = (),
        after_corpus_id: int = 0,
        *,
        are_long: bool = False,
    ) -> list[dict[str, Any]]:
        """Lease pending documents. lease: In seconds."""
        return self.send(
            "claim_documents",
            worker_id=self.worker_id,
            max_documents=max_documents,
            max_chars=max_chars,
            lease=timedelta(seconds=lease),
            skipped_models=list(skipped_models),
            after_corpus_id=after_corpus_id,
            are_long=are_long,
        )

    def release(self, documents: Sequence[Mapping[str, Any]] | None = None) -> int:
        """Release the leases of claimed documents, or all; returns how many are kept."""
        kept = self.value(
            "release_documents",
            worker_id=self.worker_id,
            are_long=False,
            corpus_id=documents[0]["corpus_id"] if documents else None,
            document_ids=[document["document_id"] for document in documents] if documents else None,
            content_hashes=[document["content_hash"] for document in documents] if documents else None,
        )
        return int(kept)

    def sweep(self) -> list[str]:
        """Remove dropped corpora in small steps. Drop their partitions, and return the names of these."""
        names = []
        while self.value("remove_dropped_corpora", most=3):
            pass
        while (name := self.value("drop_orphan_partition")) is not None:
            names.append(name)
        return names

    def hashes(self, documents: Sequence[Mapping[str, Any]]) -> dict[str, list[bytes]]:
        """Read which passages claimed documents have."""
        ids = [document["document_id"] for document in documents]
        rows = self.send("passage_hashes", corpus_id=documents[0]["corpus_id"], document_ids=ids) if ids else []
        return {row["document_id"]: row["content_hashes"] for row in rows}

    def follow(self, waiting: Mapping[str, Any], max_rows: int = 1000, max_bytes: int = 10**9) -> int | None:
        """Do one batch of the work that waits for an attached table; None if another session has locked it."""
        done: int | None = self.value(
            "advance_source",
            source_id=waiting["source_id"],
            work=waiting["work"],
            max_rows=max_rows,
            max_bytes=max_bytes,
        )
        return done

    def follow_everything(self, max_rows: int = 1000, max_bytes: int = 10**9) -> None:
        """Follow the changes of attached tables, except for rows that another session has locked."""
        is_any_done = True
        while is_any_done:
            is_any_done = False
            for waiting in self.send("waiting_sources"):
                is_any_done = self.follow(waiting, max_rows, max_bytes) is not None or is_any_done

    def store(
        self,
        documents: Sequence[Mapping[str, Any]],
        vectors: Mapping[str, Sequence[float]] | None = None,
        hashes: Mapping[str, Sequence[bytes]] | None = None,
    ) -> int:
        """Store claimed documents, with a passage for each paragraph; returns how many were accepted.

        Args:
            documents: As claim returned them.
            vectors: Vectors of passages by content, if a test needs its own.
            hashes: The hashes of the documents' passages; None reads them now.
        """
        batch_id = uuid4()
        hashes = self.hashes(documents) if hashes is None else hashes
        with self.connection.transaction(), self.connection.cursor() as cursor:
            with cursor.copy(queries["stage_passages"].replace("(format binary)", "").encode()) as copy:
                for document in documents:
                    there = Counter(hashes.get(document["document_id"], ()))
                    for chunk in paragraphs(document["content"]):
                        key = passage_hash(document["title"], chunk.heading, chunk.content)
                        vector = (vectors or {}).get(chunk.content, vector_of(chunk.content))
                        copy.write_row(
                            (
                                batch_id,
                                document["document_id"],
                                chunk.ordinal,
                                chunk.heading,
                                chunk.content,
                                chunk.start_char,
                                chunk.end_char,
                                # In copy's text form.
                                f"\\x{key.hex()}",
                                None if there[key] > 0 else json.dumps(list(vector)),
                            )
                        )
                        there[key] -= 1
            stored = self.value(
                "store_documents",
                worker_id=self.worker_id,
                batch_id=batch_id,
                corpus_id=documents[0]["corpus_id"],
                embedding_space_id=documents[0]["embedding_space_id"],
                document_ids=[document["document_id"] for document in documents],
                content_hashes=[document["content_hash"] for document in documents],
            )
        return int(stored)

    def index_everything(self, vectors: Mapping[str, Sequence[float]] | None = None) -> None:
        """Make all pending documents searchable."""
        self.open_spaces()
        while documents := self.claim():
            self.store(documents, vectors)
        self.send("apply_term_changes")

    def fail(self, document: Mapping[str, Any], error: str = "cannot be read") -> None:
        """Report that a claimed document cannot be indexed."""
        given = {key: document[key] for key in ("corpus_id", "document_id", "content_hash")}
        self.send("fail_document", worker_id=self.worker_id, error=error, **given)

    def advance_spaces(self) -> list[bool]:
        """Take the next step of each space that has one; return whether each was taken."""
        return [
            self.value("advance_space", embedding_space_id=space["embedding_space_id"])
            for space in self.send("due_spaces")
        ]

    def claim_passages(
        self, max_passages: int = 1000, lease: float = 60, skipped_models: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """Lease passages that a space still needs. lease: In seconds."""
        return self.send(
            "claim_passages",
            worker_id=self.worker_id,
            max_passages=max_passages,
            lease=timedelta(seconds=lease),
            skipped_models=list(skipped_models),
            after_space_id=0,
        )

    def store_vectors(self, passages: Sequence[Mapping[str, Any]], *, are_cut_off: bool = False) -> int:
        """Store vectors of claimed passages, made from model and content; return how many were accepted."""
        return int(
            self.value(
                "store_vectors",
                worker_id=self.worker_id,
                embedding_space_id=passages[0]["embedding_space_id"],
                document_ids=[passage["document_id"] for passage in passages],
                passage_ids=[passage["passage_id"] for passage in passages],
                are_cut_off=[are_cut_off] * len(passages),
                vectors=[
                    json.dumps(vector_of(passage["embedding_model"] + passage["content"], passage["dimensions"]))
                    for passage in passages
                ],
            )
        )

    def fail_passage(self, passage: Mapping[str, Any], error: str = "the model refuses it") -> None:
        """Report that a claimed passage could not be embedded. It may be claimed again at once."""
        given = {key: passage[key] for key in ("embedding_space_id", "document_id", "passage_id")}
        self.send("fail_passage", worker_id=self.worker_id, error=error, pause=timedelta(0), **given)

    def start(self, run_id: int, *, is_alone: bool = False) -> dict[str, Any] | None:
        """Start a run; None if there is nothing to do, or if it cannot be started and fails."""
        rows = self.send("start_run", run_id=run_id, worker_id=self.worker_id, is_alone=is_alone)
        if not rows or rows[0].pop("error_code") is not None:
            return None
        assert not rows[0].pop("must_be_alone")
        self._settings[run_id] = rows[0]["settings"]
        return rows[0]

    def retrieve(
        self,
        run_id: int,
        attempt: int = 1,
        question: str = "",
        vector: Sequence[float] | None = None,
        embedding_model: str = "all-MiniLM-L6-v2",
        asked_vector: Sequence[float] | None = None,
    ) -> list[dict[str, Any]]:
        """Retrieve for a run as clarify does, and store the candidates. embedding_model: the model of the vectors."""
        settings = self._settings.get(run_id, {"method": "hybrid", "top_k": 20})
        found = self.send(
            "find_passages",
            run_id=run_id,
            attempt=attempt,
            question=question,
            query_vector=None if vector is None else json.dumps(list(vector)),
            embedding_model=embedding_model,
            method=settings["method"],
            depth=min(settings["top_k"], settings.get("max_passages", settings["top_k"])),
            signal=None,
            are_chosen=False,
            asked_vector=None if asked_vector is None else json.dumps(list(asked_vector)),
        )
        ranked = [{"rank": rank, **row} for rank, row in enumerate(found, start=1)]
        kept = self.record_candidates(run_id, *ranked, attempt=attempt)
        return [row for row in ranked if row["rank"] in kept]

    def finish(
        self,
        run_id: int,
        attempt: int = 1,
        status: str = "succeeded",
        error: str | None = None,
        error_code: str | None = None,
        interpretations: Sequence[Mapping[str, Any]] = (),
        stages: Sequence[Mapping[str, Any]] = (),
        stop_reason: str | None = None,
        stop_code: str | None = None,
        budget_id: int | None = None,
    ) -> str | None:
        """End a run; its stop code. stages: objects with the columns of table stage; by default, nothing was reused."""
        reused = dict.fromkeys(("reused_prompt_tokens", "reused_completion_tokens", "model_ms"), 0)
        code: str | None = self.value(
            "finish_run",
            run_id=run_id,
            attempt=attempt,
            status=status,
            error=error,
            error_code=error_code or (None if error is None else "XX000"),
            verdicts="[]",
            interpretations=json.dumps(list(interpretations)),
            stages=json.dumps([{**reused, **stage} for stage in stages]),
            stop_reason=stop_reason,
            stop_code=stop_code,
            budget_id=budget_id,
        )
        return code

    def answer(self, run_id: int) -> None:
        """Carry out a run that finds nothing."""
        run = self.start(run_id)
        assert run is not None
        self.finish(run_id, run["attempt"])


MakeWorker = Callable[[], ManualWorker]


@pytest.fixture
def make_worker(connect: Connect, make_role: MakeRole) -> MakeWorker:
    """Make workers, each with its own session."""
    role = make_role("pgclarify_worker")
    return lambda: ManualWorker(connect(role))
