"""Checks whether a corpus can answer proposed questions, as `clarify` checks a reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pgclarify.data.candidates import Candidate, Found
from pgclarify.data.citations import Citation
from pgclarify.data.runs import Tally
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import StopCode
from pgclarify.errors import CompletionError, describe
from pgclarify.language.lenient_json import Mend
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.asking import verdict_call
from pgclarify.operations.judging.copies import note_copies
from pgclarify.operations.judging.verdict_check import Quoted, check_quote
from pgclarify.operations.retrieval.exploration import find_for_each
from pgclarify.protocols import Embedder


@dataclass(frozen=True, slots=True)
class Answerability:
    """The result for one question.

    Attributes:
        is_answerable: Whether a passage answers it; None if none does, but some could not be judged.
        citations: The passages that answer it, in the order of its search; empty unless answerable.
        errors: Why passages could not be judged.
    """

    is_answerable: bool | None
    citations: tuple[Citation, ...]
    errors: tuple[CompletionError, ...]


async def check_answerability(context: RunContext, embedder: Embedder, questions: Sequence[str]) -> list[Answerability]:
    """Search with each question, and judge every passage that is found, with all calls in flight at once.

    clarify would make the same request for the same passage and question. So if the user asks a reformulation later,
    these replies are in the ledger.

    Args:
        context: The run; settings: method and top_k, the passages that are judged for each question.
        embedder: The corpus's model.
        questions: Any number.

    Returns:
        In order.

    Raises:
        EmbeddingError: If the questions could not be embedded.
        RunLost: If the run is no longer this worker's; calls in flight go on without it.
        DatabaseError: If the store fails.

    Source: VERDICT, Eq. 8, applied to AT-CoT's reformulations; ours.
    """
    settings = context.run.settings
    with context.trace.stage("retrieval") as tally:
        rankings = await find_for_each(context, embedder, questions, depth=settings["top_k"])
        tally.rows = sum(map(len, rankings))
        tally.note = settings["method"]
    candidates = _number(rankings)
    recorded = await context.passages.record_candidates(context.run, list(candidates.values()))
    kept = set(recorded)
    # The number of each question, with a passage that it found.
    asked: list[tuple[int, Candidate]] = []
    for number, ranking in enumerate(rankings):
        found = [candidates[one.passage.passage_id] for one in ranking]
        # Passages that are gone by now cannot be cited.
        asked += [(number, candidate) for candidate in found if candidate.rank in kept]
    citations: list[list[Citation]] = [[] for _ in questions]
    errors: list[list[CompletionError]] = [[] for _ in questions]
    completer = context.models.completer
    with context.trace.stage("checking") as tally:
        tally.rows = len(asked)
        calls = [verdict_call(completer, questions[number], candidate.passage) for number, candidate in asked]
        results = await ask_all(context.store, completer, calls, tally=tally)
        readings = [result.value for result in results]
        for (number, candidate), reading in zip(asked, readings, strict=True):
            if isinstance(reading, CompletionError):
                errors[number].append(reading)
                continue
            citation = _proof(reading, questions[number], candidate, tally)
            if citation is not None:
                citations[number].append(citation)
        failed = [reading for reading in readings if isinstance(reading, CompletionError)]
        if failed:
            error = describe(failed[0])
            tally.note = f"{len(failed)} of {len(asked)} verdicts failed: {error}"
    cited = {one.candidate_rank for several in citations for one in several}
    await note_copies(context, [one for one in candidates.values() if one.rank in cited])
    return [_answerability(several, missed) for several, missed in zip(citations, errors, strict=True)]


def _proof(reading: Reading | StopCode, question: str, candidate: Candidate, tally: Tally) -> Citation | None:
    """Return what proves that a passage answers a question; None if it does not."""
    if not isinstance(reading, Reading) or not reading.is_sure:
        return None
    quoted = check_quote(reading, question, candidate.passage)
    # Nobody is asked a question that a check doubts.
    if not isinstance(quoted, Quoted) or quoted.doubt is not None:
        return None
    if quoted.is_repaired:
        tally.count_mend(Mend.QUOTE)
    return Citation(candidate.rank, quoted.quote, quoted.start_char, quoted.end_char)


def _answerability(citations: Sequence[Citation], errors: Sequence[CompletionError]) -> Answerability:
    is_answerable: bool | None = bool(citations)
    if errors and not citations:
        # A passage without a verdict may have the answer.
        is_answerable = None
    return Answerability(is_answerable, tuple(citations), tuple(errors))


def _number(rankings: Sequence[Sequence[Found]]) -> dict[int, Candidate]:
    """Number each passage once: all first places of the searches, then all second places, and so on."""
    first: dict[int, Found] = {}
    for row in zip_longest(*rankings):
        for one in row:
            if one is not None:
                first.setdefault(one.passage.passage_id, one)
    numbered = enumerate(first.values(), start=1)
    return {one.passage.passage_id: Candidate(rank, one.passage, one.score, one.origin) for rank, one in numbered}
