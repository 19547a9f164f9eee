"""What operations keep, and where they find it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pgclarify.dialogue import ClarifyingQuestion, Detection, ListedAnswer, MatchedRule, Rewriting, Turn
from pgclarify.errors import NotAllowed
from pgclarify.estimated import Prospect
from pgclarify.model import (
    Candidate,
    Found,
    IndexedDocument,
    Interpretation,
    LongDocument,
    Neighbors,
    Passage,
    PendingDocument,
    PendingPassage,
    Run,
    Stage,
    Verdict,
)
from pgclarify.model_calls import Claim, Completion, CompletionRequest
from pgclarify.steps import Step
from pgclarify.vocabulary import RunStatus, StopCode

CompletionKey: TypeAlias = tuple[str, str, str, str, bytes, int]
"""What a request is known by in the ledger: `CompletionRequest.key`."""


class Ledger(Protocol):
    """The table `completion`: nothing is paid for twice, and nothing that budgets do not let through.

    Attributes:
        refusal: Why a budget did not let a call through, of the first one that was not; None if all were.
    """

    refusal: NotAllowed | None

    async def claim_completions(self, requests: Sequence[CompletionRequest]) -> list[Claim]:
        """Look requests up, and lease those that nobody has made or is making. One claim per request, in order.

        A lease is ours for one claim only: two runs of one worker are two claimants, and the second waits as another
        worker's would. Asked again with the same requests it also takes over leases that expired or whose worker died.
        """

    async def store_completion(self, completion_id: int, completion: Completion) -> None:
        """Keep what the model said; durable when this returns. A reply that is there already stays."""

    async def release_completions(self, completion_ids: Sequence[int]) -> None:
        """Give leases back after calls that failed or were cut off, so that others need not wait for their end."""


class RunStore(Ledger, Protocol):
    """The tables of a run."""

    async def record_relaxation(self, run: Run, relaxed_question: str, completion_id: int | None) -> None:
        """Keep the relaxed question.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_verdict(self, run: Run, verdict: Verdict) -> None:
        """Keep a verdict as it lands, in the place of one that is there for this candidate.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def verdicts(self, run: Run) -> list[tuple[str, Verdict]]:
        """The grounded verdicts of run.parent_run_id, copied into this run, each with its document_id.

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
            error_code: The same as a SQLSTATE, as `pgclarify.errors.code_of` has it; of a partial run, that of the call
                that failed, if the run rests on one.
            stages: What it did, in order.
            stop_reason: Why it went no further, where it might have; None if there was nothing to decide.
            stop_code: Why there is no result, or not all of it, as far as the tables do not tell it.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class ExplorationStore(Protocol):
    """The passages of a run's corpus and their neighborhoods, as far as the requester may read them."""

    async def find_passages(
        self,
        run: Run,
        query: str,
        vector: NDArray[np.float32] | None,
        *,
        method: str,
        depth: int,
        signal: str | None = None,
    ) -> list[Found]:
        """Search, and record nothing.

        Args:
            run: The run.
            query: What is searched for.
            vector: Its vector, float32, shape (dimensions,); None if neither method nor signal needs it.
            method: dense, lexical or hybrid.
            depth: Most passages, from 1.
            signal: dense, lexical or both, to have each passage scored by that, too, in (0, 1): cosine similarity, BM25
                as a share of the most that the question's words could bring, or the mean of these two; None for no
                second score.

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
            known: passage_ids that need not be read again; they are in edges all the same.
            query: As in find_passages.
            vector: As in find_passages.
            signal: As in find_passages.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_candidates(self, run: Run, candidates: Sequence[Candidate]) -> list[int]:
        """Keep candidates, in addition to those that are there.

        Returns:
            The ranks of those that were kept, ascending: without passages that are gone by now, or that the requester
            may not read any more. There can be no verdict on these.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class EstimateStore(Protocol):
    """What an estimate looks at, and what it comes to. Nothing of it is recorded on the way."""

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

    async def known_completions(self, run: Run, keys: Sequence[CompletionKey]) -> list[Completion | None]:
        """Look inputs up in the ledger, and lease nothing.

        Returns:
            For each key the reply; None if there is none yet.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_estimate(self, run: Run, prospect: Prospect) -> None:
        """Keep what an estimate came to, in the place of what is there.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class StepStore(Protocol):
    """The steps of an investigation."""

    async def record_step(self, run: Run, step: Step) -> None:
        """Keep a step in the place of one with its ordinal, with its citations.

        It is durable when this returns, and others see it while the run goes on. The candidates that it cites have
        been recorded before.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class DialogueStore(Protocol):
    """What was found ambiguous, rewritten, asked back and listed."""

    async def match_rules(self, run: Run, questions: Sequence[str]) -> list[MatchedRule]:
        """Find the rules of ambiguity that questions match: those for all corpora, and those for the run's.

        Returns:
            By question, then by rule.

        Raises:
            RunLost: If the run is no longer this worker's.
            ConfigurationError: If a rule takes too long; it names the rule.
        """

    async def record_detections(self, run: Run, detections: Sequence[Detection]) -> None:
        """Keep what was found, in the order of the run's questions, in the place of what is there.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_route(self, run: Run, route: str, saved_completions: int) -> None:
        """Keep which way a run went where ask_back is auto.

        Args:
            run: The run.
            route: answered or clarified.
            saved_completions: Calls that this spared.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_rewriting(self, run: Run, rewriting: Rewriting) -> None:
        """Keep the question that a run came to, in the place of one that is there.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_clarifying_questions(self, run: Run, questions: Sequence[ClarifyingQuestion]) -> None:
        """Keep what is to be asked back, with its evidence, in the place of what is there.

        The candidates that are cited have been recorded before.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def turns(self, run: Run) -> tuple[str, list[Turn]]:
        """Read the conversation that a run of reply goes on with.

        Returns:
            The question as it was asked first; and what was asked back and replied since, in order: the last one is
            what this run is about.

        Raises:
            RunLost: If the run is no longer this worker's.
        """

    async def record_answer(self, run: Run, answer: ListedAnswer) -> None:
        """Keep an answer in the place of one with its ordinal, with its evidence.

        It is durable when this returns, and others see it while the run goes on. The candidates that it cites have
        been recorded before.

        Raises:
            RunLost: If the run is no longer this worker's.
        """


class DocumentStore(Protocol):
    """The tables of a corpus."""

    async def claim_documents(
        self, *, max_documents: int, max_chars: int, skipped_models: Sequence[str]
    ) -> list[PendingDocument]:
        """Lease pending documents of one corpus; at least one if there is any, however long.

        Each call is about the next corpus, so that none waits for all that another one has. Corpora of skipped_models
        are left to other workers, and documents that were set aside to LongDocumentStore.
        """

    async def leased_documents(self, documents: Sequence[PendingDocument]) -> Collection[str]:
        """Say which of claimed documents of one corpus are still this worker's and unchanged, by document_id."""

    async def set_aside_document(self, document: PendingDocument, passages: int) -> None:
        """Give back a document that is too long for one claim.

        Args:
            document: Claimed.
            passages: How many it will have, about.
        """

    async def release_documents(self, documents: Sequence[PendingDocument] | None = None) -> int:
        """Give back what this worker has leased; returns how many leases it must keep for now.

        Args:
            documents: Of one corpus, at least one; None for all. One that was changed since it was claimed is left
                out: another claim of this worker may have it.
        """

    async def passage_hashes(self, documents: Sequence[PendingDocument]) -> Mapping[str, Sequence[bytes]]:
        """Say of which texts claimed documents of one corpus have passages with vectors.

        Returns:
            By document_id, passage_hash of each of its passages, in any order; documents without any are left out.
        """

    async def store_documents(self, documents: Sequence[IndexedDocument]) -> None:
        """Write passages, vectors and term counts, and mark the documents searchable, in one transaction.

        Passages whose text stays keep their id and vector. A document that changed or vanished since it was claimed, or
        that somebody is changing, is left out; so is one that has lost a passage whose vector was to stay.
        """

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Mark a document as one that cannot be indexed, with the reason."""

    async def delay_documents(self, embedding_space_id: int, error: str) -> None:
        """Keep why the documents of a corpus wait for its embedding model, until one of them is stored."""


class LongDocumentStore(Protocol):
    """Documents that were set aside, of which each claim stages a part."""

    async def claim_document(self, *, skipped_models: Sequence[str]) -> LongDocument | None:
        """Lease the document of one corpus that has waited longest; None if there is none.

        Each call is about the next corpus. Corpora of skipped_models are left to other workers.
        """

    async def is_leased(self, document: LongDocument) -> bool:
        """Whether a claimed document is still this worker's, and has not changed."""

    async def release_document(self) -> int:
        """Give back what this worker has leased; returns how many it must keep for now."""

    async def passage_hashes(self, document: LongDocument) -> Sequence[bytes]:
        """Say of which texts the document has passages with vectors that are not staged to stay; in any order."""

    async def keep_part(
        self, part: IndexedDocument, claimed: LongDocument, *, end_char: int, passages_left: int
    ) -> bool:
        """Stage a part in one transaction, and give the document back until its next turn.

        Args:
            part: The chunks of the part, with their vectors.
            claimed: What was claimed.
            end_char: Where the next part starts.
            passages_left: How many are left after it, about; 1 if only moving them into place is.

        Returns:
            False, and then nothing is kept, if the document changed, or somebody is changing it.
        """

    async def publish(self, claimed: LongDocument) -> bool:
        """Move all parts of a claimed document into place, in one transaction, where its earlier passages were.

        Returns:
            False, and then all stays as it is, if the document changed, or somebody is changing it.
        """

    async def fail_document(self, document: PendingDocument, error: str) -> None:
        """Mark a document as one that cannot be indexed, with the reason."""

    async def delay_documents(self, embedding_space_id: int, error: str) -> None:
        """Keep why the documents of a corpus wait for its embedding model, until one of them is stored."""


class SpaceStore(Protocol):
    """The spaces that are being filled with another embedding model."""

    async def claim_passages(self, *, max_passages: int, skipped_models: Sequence[str]) -> list[PendingPassage]:
        """Lease passages that one space has no vector of yet, each call of the next space.

        Spaces of skipped_models are left to other workers.
        """

    async def release_passages(self) -> int:
        """Give back all that this worker has leased; returns how many it must keep for now."""

    async def store_vectors(
        self, passages: Sequence[PendingPassage], vectors: NDArray[np.float32], are_cut_off: Sequence[bool]
    ) -> None:
        """Write vectors in one transaction.

        A passage that vanished since it was claimed, or that somebody is removing, is left out.

        Args:
            passages: Claimed, all of one space.
            vectors: float32, shape (len(passages), dimensions), rows of unit length.
            are_cut_off: Whether the model could not read a passage to its end.
        """

    async def fail_passage(self, passage: PendingPassage, error: str) -> None:
        """Note that a passage could not be embedded; it comes back some times."""

    async def refuse_filling(self, embedding_space_id: int, error: str) -> None:
        """Note why this worker cannot fill a space."""
