"""The interfaces of the tables that operations write and read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.data.candidates import Candidate, Found, Neighbors
from pgclarify.data.documents import IndexedDocument, LongDocument, Passage, PendingDocument, PendingPassage
from pgclarify.data.estimates import Prospect
from pgclarify.data.interpretations import Interpretation
from pgclarify.data.investigation import Step
from pgclarify.data.model_calls import Claim, Completion, CompletionRequest
from pgclarify.data.runs import Run, Stage
from pgclarify.data.verdicts import Verdict
from pgclarify.data.vocabulary import RunStatus, StopCode
from pgclarify.errors import NotAllowed

CompletionKey: TypeAlias = tuple[str, str, str, str, bytes, int]
"""Identifies a request in the ledger: `CompletionRequest.key`."""


class Ledger(Protocol):
    """The table `completion`: no call is paid for twice, and no call is made that a budget forbids.

    Attributes:
        refusal: Why a budget refused a call, for the first refused call; None if none was refused.
    """

    refusal: NotAllowed | None

    async def claim_completions(self, requests: Sequence[CompletionRequest]) -> list[Claim]:
        """Look up requests, and lease those without a reply and lease. Returns one claim per request, in order.

        A lease belongs to one claim: two runs of a worker are two claimants, and so are two claims of one attempt at a
        run. The second waits as it would for another worker. A repeated claim of the same requests also takes over
        leases that expired or whose worker is gone.
        """

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        """Store the reply. It is durable when this returns. An existing reply is kept."""

    async def release_completions(self, completion_ids: Sequence[int]) -> None:
        """Release leases after calls failed or were cancelled, so that others need not wait until they expire."""


class RunStore(Ledger, Protocol):
    """The tables of a run."""

    def note_sources(self, document_ids: Iterable[str]) -> None:
        """Note that later inputs of the run may repeat text of these documents, which earlier replies have read.

        Replies to later inputs are erased together with any of the documents, even when the run is gone.
        """

    async def wait_for_batch(self, run: Run, requests: Sequence[CompletionRequest]) -> None:
        """Leave calls without a reply to a batch of the endpoint, if it has a batch API.

        A run waits for one batch only. When its calls are over, it starts again, finds the replies in the ledger, and
        makes the calls that the batch has not answered.

        Raises:
            RunLost: If the run waits in the queue from now on, or is no longer this worker's.
        """

    async def record_verdict(self, run: Run, verdict: Verdict) -> None:
        """Store a verdict when it arrives; it replaces an earlier verdict on this candidate.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def verdicts(self, run: Run) -> list[tuple[Passage, Verdict]]:
        """The grounded verdicts of run.parent_run_id, copied into this run, each with its passage.

        The content of a passage that is gone is "".

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def finish_run(
        self,
        run: Run,
        status: RunStatus,
        interpretations: Sequence[Interpretation],
        error: str | None,
        *,
        error_code: str | None = None,
        stages: Sequence[Stage] = (),
        stop_reason: str | None = None,
        stop_code: StopCode | None = None,
    ) -> None:
        """Write the interpretations, their citations, the stages and the end of the run, in one transaction.

        Args:
            run: The run.
            status: How it ended.
            interpretations: In order.
            error: Why it failed; None unless it did.
            error_code: The SQLSTATE of that error, as by `pgclarify.errors.code_of`; for a partial run, the code of
                its failed calls, if there are any.
            stages: The stages, in order.
            stop_reason: Why it stopped early; None if it did not.
            stop_code: Why there is no result, or only a part of it, if the tables do not show it.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class ExplorationStore(Protocol):
    """The passages of a run's corpus and their neighborhoods, if the requester may read them."""

    async def find_passages(
        self,
        run: Run,
        query: str,
        vector: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
        signal: str | None = None,
        are_chosen: bool = False,
    ) -> list[Found]:
        """Search for a run.

        Args:
            run: The run.
            query: The text to search for. For clarify, it is kept as the relaxed question if it is not the question.
            vector: Its vector, float32, shape (dimensions,); None if neither method nor signal needs it.
            method: dense, lexical or hybrid.
            depth: Most passages, from 1.
            signal: A second score for each passage, in (0, 1): dense is cosine similarity; lexical is BM25 as a share
                of the highest score that the question's words can give; both is their mean. None for no second score.
            are_chosen: Whether to store what is found as the candidates of the run, which has none yet.

        Returns:
            Best first.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def find_neighbors(
        self,
        run: Run,
        passages: Sequence[Passage],
        *,
        k: int,
        known: Collection[int],
        query: str,
        vector: NDArray[np.float32] | None,
        signal: str | None = None,
    ) -> Neighbors:
        """Look up the neighbors of a batch, in one statement.

        Args:
            run: The run.
            passages: The batch.
            k: Most neighbors of each, from 1.
            known: passage_ids whose passages need not be read again; the edges still contain them.
            query: As in find_passages.
            vector: As in find_passages.
            signal: As in find_passages.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_candidates(self, run: Run, candidates: Sequence[Candidate]) -> list[int]:
        """Store candidates in addition to the existing ones.

        Returns:
            The ranks of the stored ones, ascending: without passages that are gone by now, or that the requester may no
            longer read. These cannot have a verdict.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class EstimateStore(Protocol):
    """What an estimate reads, and where its result is stored. Nothing else is recorded."""

    async def find_for_each(
        self,
        run: Run,
        queries: Sequence[str],
        vectors: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
        signal: str | None = None,
    ) -> list[list[Found]]:
        """Search for several queries, in one statement.

        Args:
            run: The run.
            queries: At least one.
            vectors: float32, shape (len(queries), dimensions); None if neither method nor signal needs them.
            method: As in ExplorationStore.find_passages.
            depth: Likewise, for each query.
            signal: Likewise.

        Returns:
            For each query its passages, best first.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def known_completions(
        self, run: Run, keys: Sequence[CompletionKey], shown: Sequence[Sequence[str]]
    ) -> list[Completion | None]:
        """Look up inputs in the ledger without leasing them.

        Args:
            run: The run.
            keys: The inputs.
            shown: For each of them, the documents whose passages it shows.

        Returns:
            For each key the reply; None if there is none yet.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_estimate(self, run: Run, prospect: Prospect) -> None:
        """Store the result of an estimate; it replaces an earlier one.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class StepStore(Protocol):
    """The steps of an investigation."""

    async def record_step(self, run: Run, step: Step) -> None:
        """Store a step with its citations; it replaces a step with the same ordinal.

        It is durable when this returns, and visible to others while the run is not over. The candidates that it cites
        must be recorded already.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class DocumentStore(Protocol):
    """The tables of a corpus."""

    async def claim_documents(
        self, *, max_documents: int, max_chars: int, skipped_models: Sequence[str]
    ) -> list[PendingDocument]:
        """Lease pending documents of one corpus: at least one if there is any, of any length.

        Successive calls go from corpus to corpus, so that no corpus waits for all documents of another one. Corpora of
        skipped_models, and documents that were set aside for LongDocumentStore, are left to others.
        """

    async def leased_documents(self, documents: Sequence[PendingDocument]) -> Collection[str]:
        """Return which claimed documents of one corpus are still leased here and unchanged, by document_id."""

    async def set_aside_document(self, document: PendingDocument, passages: int) -> None:
        """Release a document that is too long for one claim.

        Args:
            document: Claimed.
            passages: About how many passages it will have.
        """

    async def release_documents(self, documents: Sequence[PendingDocument] | None = None) -> int:
        """Release the leases of this worker; return how many it must keep for now.

        Args:
            documents: Of one corpus, at least one; None for all. A document that changed since it was claimed is
                skipped, because another claim of this worker may have it.
        """

    async def passage_hashes(self, documents: Sequence[PendingDocument]) -> Mapping[str, Sequence[bytes]]:
        """Return the texts for which claimed documents of one corpus have passages with vectors.

        Returns:
            By document_id, passage_hash of each of its passages, in any order; documents without passages are missing.
        """

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        """Write passages, vectors and term counts, and mark the documents searchable, in one transaction.

        Passages whose text is unchanged keep their id and vector. A document is skipped if it changed or vanished since
        it was claimed, if another session is changing it, or if it lost a passage whose vector was to stay.
        """

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Mark a document as one that cannot be indexed, with the reason."""

    async def delay_documents(self, embedding_space_id: int, error: str) -> None:
        """Store why the documents of a corpus wait for its embedding model, until one of them is stored."""


class LongDocumentStore(Protocol):
    """Documents that were set aside, of which each claim stages a part."""

    async def claim_document(self, *, skipped_models: Sequence[str]) -> LongDocument | None:
        """Lease the longest-waiting document of one corpus; None if there is none.

        Successive calls go from corpus to corpus. Corpora of skipped_models are left to other workers.
        """

    async def is_leased(self, document: LongDocument) -> bool:
        """Return whether a claimed document is still leased by this worker and unchanged."""

    async def release_document(self) -> int:
        """Release the leases of this worker; return how many it must keep for now."""

    async def passage_hashes(self, document: LongDocument) -> Sequence[bytes]:
        """Return the texts of the document's passages with vectors, except passages staged to stay; in any order."""

    async def keep_part(
        self, part: IndexedDocument, claimed: LongDocument, *, end_char: int, passages_left: int
    ) -> bool:
        """Stage a part in one transaction, and release the document until its next turn.

        Args:
            part: The chunks of the part, with their vectors.
            claimed: The claimed document.
            end_char: Where the next part starts.
            passages_left: About how many passages are left; 1 if the parts only have to be moved into place.

        Returns:
            False if the document changed or another session is changing it; then nothing is stored.
        """

    async def publish(self, claimed: LongDocument) -> bool:
        """Replace the earlier passages of a claimed document by all its staged parts, in one transaction.

        Returns:
            False if the document changed or another session is changing it; then nothing is changed.
        """

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Mark a document as one that cannot be indexed, with the reason."""

    async def delay_documents(self, embedding_space_id: int, error: str) -> None:
        """Store why the documents of a corpus wait for its embedding model, until one of them is stored."""


class SpaceStore(Protocol):
    """The spaces that are being filled with another embedding model."""

    async def claim_passages(self, *, max_passages: int, skipped_models: Sequence[str]) -> list[PendingPassage]:
        """Lease passages that have no vector in one space yet. Successive calls go from space to space.

        Spaces of skipped_models are left to other workers.
        """

    async def release_passages(self) -> int:
        """Release all leases of this worker; return how many it must keep for now."""

    async def store_vectors(
        self, passages: Sequence[PendingPassage], vectors: NDArray[np.float32], are_cut_off: Sequence[bool]
    ) -> None:
        """Write vectors in one transaction.

        A passage that vanished since it was claimed, or that another session is removing, is skipped.

        Args:
            passages: Claimed, all of one space.
            vectors: float32, shape (len(passages), dimensions), rows of unit length.
            are_cut_off: Whether the model could not read a passage to its end.
        """

    async def fail_passage(self, passage: PendingPassage, error: str) -> None:
        """Store that a passage could not be embedded. It is tried again a few times."""

    async def refuse_filling(self, embedding_space_id: int, error: str) -> None:
        """Store why this worker cannot fill a space."""
