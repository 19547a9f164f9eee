"""AmbigPrompt, Tables 2 and 3: python -m benchmarks.papers.ambigprompt DATA_DIR ramdocs CORPUS.

The paper's figures are F1 of answers on AmbigQA with trained models of 220M parameters: over all questions ("full"),
and over those with several known answers ("multi"). The row "AmbigPrompt" is the paper's method with an untrained
model: in each round, it sees the same passages and the answers so far, and gives one more, or says that there is none.
What a prompt cannot show is left out: the other rows of Table 3 (no pre-training, no prompting model, no interleaving).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from benchmarks.papers import Data, Row, each, main
from benchmarks.papers.scores import answer_precision, answer_recall, multi_f1
from benchmarks.prompts.listing_at_once import listing_at_once
from benchmarks.prompts.next_answer import next_answer
from pgclarify.algorithms.metrics import cover_exact_match, normalize_answer
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import ModelCall
from pgclarify.data.runs import Tally
from pgclarify.errors import InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, CitedPassage, Method, Output, PredictedInterpretation
from pgclarify.language.english.answers import find_variant

_MOST: Final = 10
# The paper reads 100 passages, each by itself in the encoder. A prompt holds fewer.
_TOP_K: Final = 20


async def answer_by_answer(
    asked: Asked, meter: Tally, case: Case, *, top_k: int, forbids_found: bool = False
) -> Output:
    """One search, and the rounds."""
    passages = await asked.retriever.search(case.question, top_k)
    answers = await rounds(case.question, passages, partial(ask, asked, meter), forbids_found=forbids_found)
    return Output(tuple(PredictedInterpretation(case.question, one) for one in answers), tuple(passages))


async def rounds(
    question: str,
    passages: Sequence[Passage],
    reply_to: Callable[[ModelCall[str | None]], Awaitable[str | None]],
    *,
    forbids_found: bool,
) -> list[str]:
    """A round for each answer, until the model says that there is no further one.

    An answer that it repeats also ends the rounds, because the next request would be the same; or, if the answers
    found are forbidden, the passages that have one of them are not shown again.

    Source: AmbigPrompt, §3.2 and Equation 5; [EOI] ends the iteration.
    """
    shown = passages
    answers: dict[str, str] = {}
    while shown and len(answers) < _MOST:
        try:
            found = await reply_to(next_answer(question, shown, tuple(answers.values())))
        except InvalidReply:
            break
        if found is None:
            break
        if normalize_answer(found) in answers:
            left = [one for one in shown if not any(cover_exact_match(one.content, [known]) for known in answers)]
            if not forbids_found or len(left) == len(shown):
                break
            shown = left
        answers.setdefault(normalize_answer(found), found)
    return list(answers.values())


async def list_at_once(asked: Asked, meter: Tally, case: Case, *, top_k: int) -> Output:
    """One search, and one call for all answers. Source: AmbigPrompt, §4.3 and Table 2 (FiD)."""
    passages = await asked.retriever.search(case.question, top_k)
    spellings: list[list[str]] = []
    given: list[PredictedInterpretation] = []
    for one in await ask(asked, meter, listing_at_once(case.question, passages, _MOST)) if passages else ():
        if one.answer is None or find_variant(one.answer, spellings) is not None:
            continue
        number = one.evidence[0].passage
        cited = (CitedPassage(passages[number - 1]),) if 1 <= number <= len(passages) else ()
        spellings.append([one.answer])
        given.append(PredictedInterpretation(case.question, one.answer, cited))
    return Output(tuple(given[:_MOST]), tuple(passages))


async def by_rounds(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method of the paper."""
    return Baseline(await bench.asked(), partial(answer_by_answer, **settings))


async def at_once(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method that asks once."""
    return Baseline(await bench.asked(), partial(list_at_once, **settings))


ROWS: Final = (
    Row("FiD", "list_at_once", {"top_k": _TOP_K}, "full .455, multi .358", at_once),
    Row("AmbigPrompt", "rounds", {"top_k": _TOP_K}, "full .487, multi .388", by_rounds),
    Row("AmbigPrompt, found answers forbidden", "rounds", {"top_k": _TOP_K, "forbids_found": True}, make=by_rounds),
    # Its kept replies are about the passages that a relaxed question finds.
    Row("list_answers", "list_answers", {"top_k": _TOP_K, "relax": True}),
)
COLUMNS: Final = (
    "answer_f1",
    each("multi F1", multi_f1),
    each("precision", answer_precision),
    each("recall", answer_recall),
    "readings",
    "coverage",
    "calls",
    "failed",
)

if __name__ == "__main__":
    main("AmbigPrompt, Tables 2 and 3, and Figure 5", ROWS, COLUMNS)
