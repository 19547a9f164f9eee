"""AT-CoT, Table 8: python -m benchmarks.papers.at_cot DATA_DIR NAME CORPUS, with the field `intent` in each line.

A language model plays a user who wants the intent and answers up to three clarifying questions; the last question is
searched with. Table 5 (likeness to people's questions) is not made: its order depended on the embedding model.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from benchmarks.papers import Data, Row, line_of, main
from pgclarify.data.dialogue import MOST_TURNS, Turn
from pgclarify.errors import InvalidReply, RunFailed
from pgclarify.evaluation.baselines import Asked, UsageMeter, ask, carry_out
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, Method, Output
from pgclarify.prompts.dialogue_baselines import simulated_choice, simulated_reply

_SCHEMES: Final = ("standard", "at-standard", "cot", "at-cot")


class SimulatedUser:
    """A conversation of three turns: clarifying_questions, then reply, then a search. Implements Method.

    A conversation ends early if nothing is asked, or if a reply does not fit. Calls are those of the user: the
    operations count their own in their runs.

    Source: AT-CoT, §4.2 and Table 4.
    """

    def __init__(self, bench: Bench, asked: Asked, data: Data, *, scheme: str, form: str) -> None:
        self._bench = bench
        self._asked = asked
        self._data = data
        self._options = {"scheme": scheme, "form": form}

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return await carry_out(self._asked, partial(self._answer, case))

    async def _answer(self, case: Case, meter: UsageMeter) -> Output:
        client, intent = self._bench.asking.client, str(line_of(self._data, case)["intent"])
        question = case.question
        turns: list[Turn] = []
        conversation: int | None = None
        for _ in range(MOST_TURNS):
            going_on: dict[str, Any] = {} if conversation is None else {"conversation": conversation}
            try:
                proposed = await client.clarifying_questions(
                    None if going_on else case.question, corpus=self._bench.corpus.name, timeout=None,
                    **going_on, **self._options,
                )  # fmt: skip
                if not proposed:
                    break
                texts = [one.clarifying_question or one.reformulation or "" for one in proposed]
                if self._options["form"] == "select":
                    place = await ask(self._asked, meter, simulated_choice(intent, case.question, turns, texts))
                    said = texts[place]
                    since = await client.reply(proposed[0].run_id, ordinal=proposed[place].ordinal)
                else:
                    said = await ask(self._asked, meter, simulated_reply(intent, case.question, turns, texts))
                    since = await client.reply(proposed[0].run_id, said, timeout=None)
            except (InvalidReply, RunFailed):
                break
            turns.append(Turn(texts, said))
            question, conversation = since.question, since.conversation_id
        found = await self._asked.retriever.search(question, 20)
        return Output(retrieved=tuple(found), questions=(question,), notes={"turns": len(turns)})


async def simulated(bench: Bench, data: Data, *, scheme: str, form: str) -> Method:
    """Make the method."""
    return SimulatedUser(bench, await bench.asked(), data, scheme=scheme, form=form)


ROWS: Final = (
    Row("without clarification", "search", {"top_k": 20}),
    *(
        Row(f"{scheme}, {form}", "search", {"scheme": scheme, "form": form},
            make=partial(simulated, scheme=scheme, form=form))
        for scheme in _SCHEMES
        for form in ("respond", "select")
    ),
)  # fmt: skip

if __name__ == "__main__":
    main("AT-CoT, Table 8", ROWS, ("recall@10", "calls", "failed"))
