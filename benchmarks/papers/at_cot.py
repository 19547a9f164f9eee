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
from pgclarify.data.runs import Tally
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, Method, Output
from pgclarify.prompts.clarifying_questions import clarifying_questions
from pgclarify.prompts.rewriting import reformulation

# Questions to answer are asked one by one; reformulations are chosen from five. AT-CoT, §4.2.
_COUNTS: Final = {Form.RESPOND: 1, Form.SELECT: 5}


async def converse(asked: Asked, meter: Tally, case: Case, *, data: Data, form: Form) -> Output:
    """Hold a conversation of three turns: a proposal, the user's reply, and then a search.

    The prompts are asked here, without the check that a document answers a proposal.
    A conversation ends early if nothing is asked, or if a reply does not fit.

    Source: AT-CoT, §4.2 and Table 4.
    """
    intent = str(line_of(data, case)["intent"])
    question = case.question
    turns: list[Turn] = []
    for _ in range(MOST_TURNS):
        call = clarifying_questions(question, [], form=form, count=_COUNTS[form])
        try:
            proposed = await ask(asked, meter, call)
            texts = [one.clarifying_question or one.reformulation or "" for one in proposed]
            if form is Form.SELECT:
                place = await ask(asked, meter, simulated_choice(intent, case.question, turns, texts))
                question = texts[place]
                turns.append(Turn(texts, question))
            else:
                said = await ask(asked, meter, simulated_reply(intent, case.question, turns, texts))
                turns.append(Turn(texts, said))
                question = await ask(asked, meter, reformulation(case.question, turns))
        except InvalidReply:
            break
    found = await asked.retriever.search(question, 20)
    return Output(retrieved=tuple(found), questions=(question,), notes={"turns": len(turns)})


async def simulated(bench: Bench, data: Data, *, form: Form) -> Method:
    """Make the method."""
    return Baseline(await bench.asked(), partial(converse, data=data, form=form))


ROWS: Final = (
    Row("without clarification", "search", {"top_k": 20}),
    *(Row(f"at_cot, {form}", f"at_cot_{form}", make=partial(simulated, form=form)) for form in Form),
)

if __name__ == "__main__":
    main("AT-CoT, Table 8", ROWS, ("recall@10", "calls", "failed"))
