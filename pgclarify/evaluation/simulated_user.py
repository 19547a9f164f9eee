"""A simulated user: a language model that wants one thing and answers up to three clarifying questions.

The system is this product as an application uses it: clarifying_questions, then reply, then a search.

Source: AT-CoT, §4.2, Table 4 and §6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pgclarify.client import ReformulatedQuestion
from pgclarify.dialogue import MOST_TURNS, Form, Turn
from pgclarify.errors import InputError, InvalidReply, RunFailed
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.asking import Asking
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out, search
from pgclarify.evaluation.dialogue_methods import DEPTH, corpus_to_check, run_that_asked_nothing, said
from pgclarify.evaluation.outages import describe_outage, is_lost, outage_code
from pgclarify.prompts.dialogue_baselines import simulated_choice, simulated_reply
from pgclarify.vocabulary import RunStatus


def intent_of(case: Case) -> str | None:
    """Return the intent of the user: the intent in the data set, or the first reading of people."""
    return case.intent or next((one.interpretation for one in case.interpretations if one.interpretation), None)


def check_intents(cases: Sequence[Case]) -> None:
    """Check that the intent of the user is known for each case.

    Raises:
        InputError: If an intent is not known.
    """
    if missing := [case.case_id for case in cases if intent_of(case) is None]:
        raise InputError(
            "a simulated user has to know what is wanted",
            detail=f"Of {len(missing)} of {len(cases)} cases it is not known; the first is {missing[0]!r}.",
            hint="Give each case an intent, or an interpretation with a question; --field intent=FIELD names a field.",
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was said in a turn, and the state of the conversation after it."""

    said: Turn
    since: ReformulatedQuestion


class _Failed(Exception):
    """An operation failed for a reason that is unrelated to the case."""

    def __init__(self, output: Output) -> None:
        super().__init__(output.error)
        self.output = output


class SimulatedUser:
    """Leads a conversation of three turns. It searches with the current question before the first turn and after each.

    A conversation ends early if the system asks nothing, or if two replies of a model do not fit. Then the question
    stays unchanged.

    Args:
        asking: The connections to the system.
        asked: The model that plays the user, and the corpus to search.
        settings: The options of clarifying_questions.

    Source: AT-CoT, §4.2 and Table 4.
    """

    def __init__(self, asking: Asking, asked: Asked, settings: Mapping[str, Any]) -> None:
        self._asking = asking
        self._asked = asked
        self._settings = settings
        self._form = Form(settings.get("form", Form.RESPOND))

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        turns: list[_Turn] = []
        rankings = [await search(self._asked, case.question, DEPTH, meter)]
        try:
            while len(turns) < MOST_TURNS and (turn := await self._turn(case, turns, meter)) is not None:
                turns.append(turn)
                rankings.append(await search(self._asked, turn.since.question, DEPTH, meter))
        except _Failed as failed:
            return failed.output
        rankings += rankings[-1:] * (MOST_TURNS + 1 - len(rankings))
        return Output(
            retrieved=tuple(rankings[-1]),
            steps=tuple(map(tuple, rankings)),
            questions=tuple(turn.since.question for turn in turns),
            status=RunStatus.PARTIAL if meter.outage else RunStatus.SUCCEEDED,
            error_code=meter.outage,
            notes={"turns": [[" / ".join(turn.said.asked), turn.said.reply] for turn in turns]},
        )

    async def _turn(self, case: Case, turns: Sequence[_Turn], meter: UsageMeter) -> _Turn | None:
        """Take one turn; None if the conversation cannot continue."""
        client, intent = self._asking.client, intent_of(case) or ""
        before = [turn.said for turn in turns]
        going_on = {"conversation": turns[-1].since.conversation_id} if turns else {}
        asked_at = await self._asking.runs.now()
        try:
            proposed = await client.clarifying_questions(
                None if turns else case.question,
                () if turns else case.history,
                corpus=corpus_to_check(self._asking, self._settings),
                timeout=None,
                **going_on,
                **self._settings,
            )
            if not proposed:
                question = turns[-1].since.question if turns else case.question
                idle = await run_that_asked_nothing(self._asking, question, {**self._settings, **going_on}, asked_at)
                if idle is not None:
                    await self._count(idle, meter)
                return None
            run_id = proposed[0].run_id
            await self._count(run_id, meter)
            texts = [said(one) for one in proposed]
            if self._form is Form.SELECT:
                choice = simulated_choice(intent, case.question, before, texts, history=case.history)
                place = await ask(self._asked, meter, choice)
                return _Turn(Turn(texts, texts[place]), await client.reply(run_id, ordinal=proposed[place].ordinal))
            answer = simulated_reply(intent, case.question, before, texts, history=case.history)
            reply = await ask(self._asked, meter, answer)
            since = await client.reply(run_id, reply, timeout=None)
            if (replying := await self._asking.runs.find_reply(run_id)) is not None:
                await self._count(replying, meter)
            return _Turn(Turn(texts, reply), since)
        except InvalidReply:
            return None
        except RunFailed as error:
            for failed_run in error.run_ids:
                await self._count(failed_run, meter, reason=error.detail or error.message)
            return None

    async def _count(self, run_id: int, meter: UsageMeter, reason: str | None = None) -> None:
        """Count the usage of a run.

        Args:
            run_id: The run.
            meter: Where it is counted.
            reason: Why the run failed; None if it is complete or partial.

        Raises:
            _Failed: If the run has no result that counts, because of an outage.
        """
        facts = await self._asking.runs.facts(run_id, self._asking.opened_at)
        usage = await self._asking.used(run_id, facts)
        meter.usage += usage
        meter.retrievals += facts.retrievals
        code = outage_code(facts)
        if code is None:
            return
        if is_lost(facts, code, usage):
            error = reason or describe_outage(facts, code)
            raise _Failed(Output(status=RunStatus.FAILED, error=error, error_code=code, run_id=run_id))
        meter.outage = code
