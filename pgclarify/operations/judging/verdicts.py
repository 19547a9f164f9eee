"""Verdicts: what one passage answers to a question, checked and embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pgclarify.data.candidates import Candidate
from pgclarify.data.runs import Run, Tally
from pgclarify.data.verdicts import Reading, Refusal, Verdict
from pgclarify.data.vocabulary import Outcome, StopCode
from pgclarify.errors import CompletionError, EmbeddingError, code_of, describe
from pgclarify.language.catalog import language_of
from pgclarify.language.lenient_json import Mend
from pgclarify.ledger.completions import CallResult
from pgclarify.operations.clarification.interpretations import reading_text
from pgclarify.operations.context import RunContext
from pgclarify.operations.judging.asking import ask_about, most_passages
from pgclarify.operations.judging.confirmation import Confirmation, Confirmed, given_answer
from pgclarify.operations.judging.joint_reply import Said
from pgclarify.operations.judging.verdict_check import Quoted, check_quote, cite
from pgclarify.protocols import Embedder

# Why a passage was not grounded, for explain.
_REASONS: Final[dict[StopCode | Refusal, str]] = {
    StopCode.NOT_ANSWERED: "the passage answers no reading of the question",
    StopCode.NO_LANGUAGE_MODEL: "the rules read no answer to the question in the passage",
    StopCode.LANGUAGE: "the rules read only English, and the question or the passage is in another language",
    StopCode.THRESHOLD: "the answer that was read in the passage is too improbable",
    **{refusal: refusal.meaning for refusal in Refusal},
}

# The share of abstentions from which on a model is one that abstains. docs/methods/quotation.md has the figures.
_LEAST_ABSTAINED: Final = 1 / 8


@dataclass(frozen=True, slots=True)
class Supported:
    """A reading that passed the checks of its passage.

    Attributes:
        candidate: The candidate of the passage.
        reading: The reading of the passage.
        quoted: The citation.
        undecided: The verdict, still as an abstention.
    """

    candidate: Candidate
    reading: Reading
    quoted: Quoted
    undecided: Verdict


class PassageJudge:
    """Gets verdicts on candidates of one run, and stores them.

    Args:
        context: The run; the completer judges.
        embedder: Embeds readings.
        confirmation: Confirms each supported reading; None if the run does not want that.
    """

    def __init__(self, context: RunContext, embedder: Embedder, confirmation: Confirmation | None = None) -> None:
        self._context = context
        self._embedder = embedder
        self._confirmation = confirmation
        self._read = 0
        self._abstained = 0

    async def judge(
        self,
        candidates: Sequence[Candidate],
        *,
        batch: int | None = None,
        note_call_over: Callable[[], None] = lambda: None,
    ) -> list[tuple[Candidate, Verdict]]:
        """Ask for verdicts on candidates, all at once, and note those on each for the store when they are ready.

        If readings have to be confirmed, they are ready after all replies have arrived; those that a check doubts are,
        too. A model that reads something in nearly every passage is mostly wrong where a check doubts it, and one that
        abstains is mostly right (docs/methods/quotation.md). So doubted readings are refused, unless enough of the
        passages that were judged have none, or the run reads several passages in a call. A model that does is
        trusted to abstain: by its trial, or by whoever set the number.

        Args:
            candidates: Recorded ones, any number, also none.
            batch: The number of this batch, from 1; None if there are no batches.
            note_call_over: As in `ask_about`.

        Returns:
            Each candidate with its verdict, or with one verdict for each of its readings; by rank.

        Raises:
            RunLost: If the run is no longer this worker's; calls in flight go on. Or if it waits for a batch.
            DatabaseError: If the store fails.

        Source: VERDICT, Eq. 8 and Algorithm 1, lines 3-7.
        """
        trace = self._context.trace
        judged: list[tuple[Candidate, Verdict]] = []
        # The candidates that must wait for all others, each with its readings.
        waiting: list[list[Supported]] = []
        all_known = asyncio.Event()
        done = 0

        def note(candidate: Candidate, verdicts: Sequence[Verdict]) -> None:
            # Together, because they replace what is stored of the candidate.
            self._context.store.note_verdicts(verdicts)
            judged.extend((candidate, verdict) for verdict in verdicts)

        async def keep(index: int, result: CallResult[Said]) -> None:
            nonlocal done
            self._read += isinstance(result.value, tuple)
            self._abstained += result.value is StopCode.NOT_ANSWERED
            candidate = candidates[index]
            checked = check_said(self._context.run, candidate, result)
            if isinstance(checked, Verdict):
                note(candidate, [checked])
            else:
                for one in checked:
                    if one.quoted.is_repaired:
                        tally.count_mend(Mend.QUOTE)
                if self._confirmation is None and all(one.quoted.doubt is None for one in checked):
                    note(candidate, await self._embedded(checked))
                else:
                    waiting.append(checked)
            done += 1
            if done == len(candidates):
                all_known.set()

        with trace.stage("judgement", batch=batch) as tally:
            tally.rows = len(candidates)
            # The original question: relaxation is for recall only.
            asking = ask_about(self._context, candidates, keep, tally=tally, note_call_over=note_call_over)
            if self._context.storing is None or not candidates:
                await asking
            else:
                # If it fails, the group cancels this task.
                self._context.storing.create_task(asking)
                await all_known.wait()
        # By rank, not by arrival, so that a repeated run makes the same calls.
        waiting.sort(key=lambda several: several[0].candidate.rank)
        for candidate, verdicts in await self._decide(waiting, batch):
            note(candidate, verdicts)
        return sorted(judged, key=lambda pair: (pair[0].rank, pair[1].reading_ordinal))

    async def _decide(
        self, waiting: Sequence[Sequence[Supported]], batch: int | None
    ) -> list[tuple[Candidate, list[Verdict]]]:
        """Refuse or keep what a check doubts, now that all replies are known, and confirm the rest."""
        are_shown = self._is_doubted_shown()
        kept = [[one for one in several if are_shown or one.quoted.doubt is None] for several in waiting]
        asked = [one for several in kept for one in several]
        if self._confirmation is None:
            verdicts = await self._embedded(asked)
        elif asked:
            with self._context.trace.stage("confirmation", batch=batch) as tally:
                verdicts = await self.ground(asked, tally)
                tally.rows = sum(verdict.outcome is Outcome.GROUNDED for verdict in verdicts)
        else:
            verdicts = []
        given = iter(verdicts)
        decided = []
        for several, of_passage in zip(waiting, kept, strict=True):
            found = [next(given) for _ in of_passage]
            grounded = [one for one in found if one.outcome is Outcome.GROUNDED]
            refused = [_refused(one.undecided, one.quoted.doubt or Refusal.UNPROVEN) for one in several]
            decided.append((several[0].candidate, grounded or found[:1] or refused[:1]))
        return decided

    async def _embedded(self, supported: Sequence[Supported]) -> list[Verdict]:
        return await asyncio.gather(*(grounded_verdict(one, self._embedder) for one in supported))

    def _is_doubted_shown(self) -> bool:
        """Whether what a check doubts is shown, after the rest.

        A model that reads several passages in one call is trusted to abstain, as in `judge`.
        """
        if self._context.models.chat is None:
            return False
        return most_passages(self._context) > 1 or knows_to_abstain(self._read, self._abstained)

    async def ground(self, supported: Sequence[Supported], tally: Tally) -> list[Verdict]:
        """Make verdicts of readings: confirmed, if the run wants that, and embedded. Nothing is recorded.

        Args:
            supported: Any number.
            tally: Counts the replies.

        Returns:
            A verdict on each; not grounded if its answer was not confirmed, or could not be embedded.

        Raises:
            DatabaseError: If the ledger fails.
        """
        answers: Sequence[Confirmed] = [True] * len(supported)
        if self._confirmation is not None:
            given = [
                given_answer(one.candidate.passage, one.reading.interpretation, one.reading.answer, one.quoted)
                for one in supported
            ]
            answers = await self._confirmation.ask(given, tally=tally)
        return await asyncio.gather(*map(self._grounded, supported, answers))

    async def _grounded(self, supported: Supported, answer: Confirmed) -> Verdict:
        if not isinstance(answer, bool):
            return _failed(supported.undecided, answer)
        if not answer:
            return _refused(supported.undecided, Refusal.NOT_CONFIRMED)
        return await grounded_verdict(supported, self._embedder)


def knows_to_abstain(read: int, abstained: int) -> bool:
    """Tell whether a model abstains where a passage has no answer, from how often it did in one run.

    Args:
        read: Passages in which it read something.
        abstained: Passages in which it read nothing.
    """
    return abstained >= _LEAST_ABSTAINED * (read + abstained)


def check_said(run: Run, candidate: Candidate, result: CallResult[Said]) -> list[Supported] | Verdict:
    """Check what is said of a candidate's passage: return the readings that it supports, or the verdict if none is.

    Args:
        run: As in `check_verdict`.
        candidate: The candidate of the passage.
        result: The result of the call.
    """
    said = result.value if isinstance(result.value, tuple) else (result.value,)
    checked = [check_verdict(run, candidate, CallResult(one, result.completion_id, result.is_reused)) for one in said]
    supported = [one for one in checked if isinstance(one, Supported)]
    return supported or next(one for one in checked if isinstance(one, Verdict))


def check_verdict(run: Run, candidate: Candidate, result: CallResult[Reading | StopCode]) -> Supported | Verdict:
    """Check that the passage supports its reading; if it does not, return the verdict.

    Args:
        run: The run. If settings["verify"] is none, the passage only has to contain the quote.
        candidate: The candidate of the passage.
        result: The result of the call.
    """
    abstained = Verdict(
        rank=candidate.rank,
        outcome=Outcome.ABSTAINED,
        completion_id=result.completion_id,
        is_reused=result.is_reused,
    )
    reading = result.value
    if isinstance(reading, CompletionError):
        return _failed(abstained, reading)
    if not isinstance(reading, Reading):
        return _refused(abstained, reading)
    if not reading.is_sure and run.operation != "clarify":
        # Only a reading can be marked as unsure.
        return _refused(abstained, StopCode.THRESHOLD)
    if run.settings.get("verify") == "none":
        quoted = cite(reading.quote, reading.answer, candidate.passage) or Refusal.UNPROVEN
    else:
        quoted = check_quote(reading, run.question, candidate.passage)
    if isinstance(quoted, Refusal):
        return _refused(abstained, quoted)
    if quoted.doubt is Refusal.BESIDE_THE_POINT and reading.is_certain:
        # The judge of sentences has read it, and knows more than that words are missing.
        quoted = replace(quoted, doubt=None)
    language = language_of(candidate.passage.content, run.question)
    asked = language.ask_for(reading.answer, reading.interpretation, run.question)
    return Supported(candidate, replace(reading, interpretation=asked), quoted, abstained)


async def grounded_verdict(supported: Supported, embedder: Embedder) -> Verdict:
    """Embed a reading, which makes the verdict grounded.

    Args:
        supported: The reading.
        embedder: Embeds readings; if it fails, the verdict has failed.
    """
    reading, quoted = supported.reading, supported.quoted
    text = reading_text(reading.interpretation, reading.answer)
    try:
        # One by one, because no verdict waits for others. The embedder merges concurrent texts into one batch.
        vector = (await embedder.encode([text]))[0]
    except EmbeddingError as error:
        return _failed(supported.undecided, error)
    return replace(
        supported.undecided,
        outcome=Outcome.GROUNDED,
        interpretation=reading.interpretation,
        answer=reading.answer,
        quote=quoted.quote,
        start_char=quoted.start_char,
        end_char=quoted.end_char,
        vector=vector,
        score=reading.score,
        reading_ordinal=reading.ordinal,
        leans_on=reading.leans_on or None,
        doubt_code=quoted.doubt,
        reason=quoted.doubt and _REASONS[quoted.doubt],
    )


def _refused(abstained: Verdict, code: StopCode | Refusal) -> Verdict:
    return replace(abstained, reason=_REASONS[code], abstention_code=code)


def _failed(abstained: Verdict, error: CompletionError | EmbeddingError) -> Verdict:
    return replace(
        abstained,
        outcome=Outcome.FAILED,
        error=describe(error, with_reply=True),
        error_without_reply=describe(error),
        error_code=code_of(error),
    )
