"""AT-CoT, Table 8: python -m benchmarks.papers.at_cot DATA_DIR NAME CORPUS, with the field `intent` in each line.

A language model plays a user who wants the intent and answers up to three clarifying questions; the last question is
searched with. Table 5 (likeness to people's questions) is not made: its order depended on the embedding model.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.papers import Data, Row, line_of, main
from benchmarks.prompts.dialogue import simulated_choice, simulated_reply
from pgclarify.data.dialogue import MOST_TURNS, Form, Turn
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, Method, Output
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.prompts.rewriting import reformulation

# Questions to answer are asked one by one; reformulations are chosen from five. AT-CoT, §4.2.
_COUNTS: Final = {Form.RESPOND: 1, Form.SELECT: 5}


class SimulatedUser:
    """A conversation of three turns: a proposal, the user's reply, and then a search. Implements Method.

    The prompts are asked here, without the check that a document answers a proposal.
    A conversation ends early if nothing is asked, or if a reply does not fit.

    Source: AT-CoT, §4.2 and Table 4.
    """

    def __init__(self, asked: Asked, data: Data, *, form: Form) -> None:
        self._asked = asked
        self._data = data
        self._form = form

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(self._asked, partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        intent = str(line_of(self._data, case)["intent"])
        question = case.question
        turns: list[Turn] = []
        for _ in range(MOST_TURNS):
            call = clarifying_questions(question, [], form=self._form, count=_COUNTS[self._form])
            try:
                proposed = await ask(self._asked, meter, call)
                texts = [one.clarifying_question or one.reformulation or "" for one in proposed]
                if self._form is Form.SELECT:
                    place = await ask(self._asked, meter, simulated_choice(intent, case.question, turns, texts))
                    question = texts[place]
                    turns.append(Turn(texts, question))
                else:
                    said = await ask(self._asked, meter, simulated_reply(intent, case.question, turns, texts))
                    turns.append(Turn(texts, said))
                    question = await ask(self._asked, meter, reformulation(case.question, turns))
            except InvalidReply:
                break
        found = await self._asked.retriever.search(question, 20)
        return Output(retrieved=tuple(found), questions=(question,), notes={"turns": len(turns)})


async def simulated(bench: Bench, data: Data, *, form: Form) -> Method:
    """Make the method."""
    return SimulatedUser(await bench.asked(), data, form=form)


ROWS: Final = (
    Row("without clarification", "search", {"top_k": 20}),
    *(Row(f"at_cot, {form}", f"at_cot_{form}", make=partial(simulated, form=form)) for form in Form),
)

if __name__ == "__main__":
    main("AT-CoT, Table 8", ROWS, ("recall@10", "calls", "failed"))
