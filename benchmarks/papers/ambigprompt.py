"""AmbigPrompt, Tables 2 and 3: python -m benchmarks.papers.ambigprompt DATA_DIR ambignq CORPUS.

The paper's figures are F1 of answers on AmbigQA, over all questions and over those with several answers.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from benchmarks.papers import Data, Row, main
from benchmarks.prompts.listing_at_once import listing_at_once
from pgclarify.data.runs import Tally
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, CitedPassage, Method, Output, PredictedInterpretation
from pgclarify.language.english.answers import find_variant

_MOST: Final = 10


async def list_at_once(asked: Asked, meter: Tally, case: Case, *, size: int) -> Output:
    """One search, and for each window of so many passages one call for all answers.

    Source: AmbigPrompt, §4.3 and Table 2 (FiD); Equation 8, where each passage proposes by itself.
    """
    passages = await asked.retriever.search(case.question, 20)
    spellings: list[list[str]] = []
    given: list[PredictedInterpretation] = []
    for start in range(0, len(passages), size):
        window = passages[start : start + size]
        for one in await ask(asked, meter, listing_at_once(case.question, window, _MOST)):
            if one.answer is None or find_variant(one.answer, spellings) is not None:
                continue
            number = one.evidence[0].passage
            cited = (CitedPassage(window[number - 1]),) if 1 <= number <= len(window) else ()
            spellings.append([one.answer])
            given.append(PredictedInterpretation(case.question, one.answer, cited))
    return Output(tuple(given[:_MOST]), tuple(passages))


async def at_once(bench: Bench, data: Data, *, window: int) -> Method:
    """Make the method."""
    return Baseline(await bench.asked(), partial(list_at_once, size=window))


ROWS: Final = (
    Row("FiD", "list_at_once", {"window": 20}, "F1 .468 and .346", partial(at_once, window=20)),
    Row("ours", "list_answers", {"top_k": 20}, "F1 .487 and .378"),
    Row("each window by itself", "list_at_once", {"window": 5}, make=partial(at_once, window=5)),
    Row("passage by passage", "list_at_once", {"window": 1}, make=partial(at_once, window=1)),
)

if __name__ == "__main__":
    figures = ("readings", "coverage", "answer_f1", "answer_em", "calls", "failed")
    main("AmbigPrompt, Tables 2 and 3", ROWS, figures, answers="single_answers")
