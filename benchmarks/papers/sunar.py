"""SUNAR, Tables 1, 4, 5 and 7, and rows of ours: python -m benchmarks.papers.sunar DATA_DIR musique CORPUS.

The paper's figures are cover-EM (Tables 1 and 4), R@1 and R@10 (Table 5), nDCG@10 and R@10 (Table 7), on MuSiQue with
gpt-3.5-turbo. The rows of the paper's method: one sub-question after the other (self-ask); for each, BM25 finds 100
passages, and exploration of the dense graph scores `budget` passages in batches of 16 (NAR); the scores of a batch are
divided by the number of different answers among `samples` (ASU); the best ten passages give the answer; at last one
call over the steps and the best evidence of all of them (MER). What is not the paper's: its first stage is SPLADE-v2
instead of BM25; passages are scored by the cosine of the corpus's embedding model, where the paper has a cross-encoder;
five samples instead of the ten of the authors' code; and answers are compared by words and vectors instead of a model
for inference.

The rows "search" and "steps of the data set" need no language model, but for "NAR and ASU": the sub-questions and their
answers are known.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers import Data, GoldEvidence, Row, line_of, main
from benchmarks.papers.scores import of_ranking
from benchmarks.prompts.self_asking import Fact, follow_up, meta_evidence
from pgclarify.algorithms.exploration import Explorer
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Tally
from pgclarify.embedding import LocalEmbedder, load_embedder
from pgclarify.errors import CompletionError, InvalidReply, ModelNotFound
from pgclarify.evaluation.baselines import Asked, Baseline, ask, direct
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, CitedPassage, Method, Output, PredictedInterpretation
from pgclarify.ledger.completions import ask_all
from pgclarify.operations.investigation.entailment import Entailments
from pgclarify.operations.investigation.uncertainty import SemanticEquivalence
from pgclarify.operations.retrieval.evidence import passage_text
from pgclarify.prompts.investigation import sample

_TOP_K, _MAX_STEPS = 10, 4
_FIRST_STAGE: Final = 100
_BATCH_SIZE: Final = 16
_NEIGHBORS: Final = 10
_UNKNOWN: Final = "unknown"

Penalty = Callable[[str, Sequence[Passage]], Awaitable[int]]
"""Returns s for a batch, by which its scores are divided."""
Search = Callable[[str], Awaitable[Sequence[Passage]]]


@dataclass(frozen=True)
class Retrieval:
    """Finds passages as the paper does. Passages of a data set are documents of their own.

    Attributes:
        bench: The connections.
        data: The data set.
        embedder: The corpus's embedding model.
        vectors: The vectors of passages so far, by document: float32, shape (dimensions,).
        near: The neighbors of passages so far, by document, and how many were looked up.
    """

    bench: Bench
    data: Data
    embedder: LocalEmbedder
    vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    near: dict[tuple[str, int], list[Passage]] = field(default_factory=dict)

    async def first(self, question: str) -> list[Passage]:
        """Search by words, as the first stage of the paper."""
        found = await self.bench.asking.client.search(
            question, corpus=self.bench.corpus.name, top_k=_FIRST_STAGE, method="lexical", timeout=None
        )
        return [Passage(one.document_id, one.passage_id, one.content, title=one.title) for one in found]

    async def explore(
        self, question: str, *, budget: int, neighbors: int = _NEIGHBORS, penalty: Penalty | None = None
    ) -> Sequence[Passage]:
        """Score a budget of passages from the first stage and the graph; the best first.

        Args:
            question: A question or sub-question.
            budget: Passages to score.
            neighbors: Neighbors of each that are looked up; 0 is re-ranking alone.
            penalty: The uncertainty of a batch; None for no penalty.

        Source: SUNAR, Algorithm 1; Explorer is the product's.
        """
        known = {one.document_id: one for one in await self.first(question)}
        explorer = Explorer(list(known), budget=budget, batch_size=_BATCH_SIZE)
        (asked,) = await self.embedder.encode([question])
        while batch := explorer.next_batch():
            passages = [known[one] for one in batch]
            # Above 0, so that a division lowers a score.
            scores = (1 + await self._encode(passages) @ asked) / 2
            if penalty is not None:
                scores = scores / await penalty(question, passages)
            near = await asyncio.gather(*(self._neighbors(one, neighbors) for one in passages))
            for several in near:
                for one in several:
                    known.setdefault(one.document_id, one)
            found = {
                one: [passage.document_id for passage in several] for one, several in zip(batch, near, strict=True)
            }
            explorer.observe(dict(zip(batch, scores.tolist(), strict=True)), found)
        return [known[one.id] for one in explorer.results()]

    async def _encode(self, passages: Sequence[Passage]) -> NDArray[np.float32]:
        new = [one for one in passages if one.document_id not in self.vectors]
        if new:
            encoded = await self.embedder.encode([passage_text(one) for one in new])
            self.vectors.update((one.document_id, vector) for one, vector in zip(new, encoded, strict=True))
        return np.stack([self.vectors[one.document_id] for one in passages])

    async def _neighbors(self, passage: Passage, k: int) -> list[Passage]:
        key = passage.document_id, k
        if k and key not in self.near:
            found = await self.bench.asking.client.neighbors(
                passage.document_id, passage.passage_id, corpus=self.bench.corpus.name, k=k
            )
            documents = self.data.documents
            self.near[key] = [
                replace(documents[one.document_id], passage_id=one.passage_id)
                for one in found
                if one.document_id in documents
            ]
        return self.near.get(key, [])


async def retrieval(bench: Bench, data: Data) -> Retrieval:
    """Open the retrieval of a bench."""
    return Retrieval(bench, data, await asyncio.to_thread(load_embedder, bench.corpus.embedding_model))


def search_of(found: Retrieval, settings: Mapping[str, Any], penalty: Penalty | None = None) -> Search:
    """Return the search of a row: first, re-ranked or explored."""
    match settings["retrieval"]:
        case "first":
            return found.first
        case "re-ranked":
            return partial(found.explore, budget=settings["budget"], neighbors=0)
        case _:
            return partial(found.explore, budget=settings["budget"], penalty=penalty)


async def different_answers(
    asked: Asked,
    meter: Tally,
    equivalence: SemanticEquivalence,
    question: str,
    passages: Sequence[Passage],
    *,
    samples: int,
) -> int:
    """Sample answers from a batch, and count those that differ in meaning. Source: SUNAR, §3.2, Equations 2 and 3."""
    calls = [sample(question, passages, number=number) for number in range(samples)]
    answers = []
    for result in await ask_all(asked.ledger, asked.chat, calls, tally=meter):
        if isinstance(result.value, CompletionError) and not isinstance(result.value, InvalidReply):
            raise result.value
        answers.append(result.value if isinstance(result.value, str) else _UNKNOWN)
    return len(await equivalence.group(question, answers, meter))


async def ask_oneself(
    asked: Asked, meter: Tally, case: Case, *, found: Retrieval, settings: Mapping[str, Any]
) -> Output:
    """Ask one sub-question after the other, each with a search and an answer; then the meta evidence reasoner.

    Source: SUNAR, §3 and Algorithm 1, after self-ask (Press et al., 2023).
    """
    search = search_of(found, settings, await uncertainty(asked, meter, settings))
    facts: list[Fact] = []
    rankings: list[Sequence[Passage]] = []
    concluded = None
    while settings["decomposes"]:
        try:
            next_one, concluded = await ask(asked, meter, follow_up(case.question, facts))
        except InvalidReply:
            break
        if next_one is None or len(facts) == _MAX_STEPS or next_one in dict(facts):
            break
        passages, told = await read(asked, meter, next_one, search)
        rankings.append(passages)
        facts.append((next_one, told))
    if not facts:
        passages, told = await read(asked, meter, case.question, search)
        rankings.append(passages)
        facts.append((case.question, told))
    final = concluded or facts[-1][1]
    if settings.get("meta"):
        best = interleaved(rankings)[:_TOP_K]
        with suppress(InvalidReply):
            final = await ask(asked, meter, meta_evidence(case.question, facts, best)) or final
    return replace(given(case, final, rankings), notes={"facts": [list(one) for one in facts]})


async def uncertainty(asked: Asked, meter: Tally, settings: Mapping[str, Any]) -> Penalty | None:
    """Return the answer uncertainty (ASU) of a row; None if it takes no samples."""
    if not settings.get("samples"):
        return None
    entailment = await Entailments(None, _no_cross_encoder).get("embedding", asked.ledger, asked.embedder)
    return partial(different_answers, asked, meter, SemanticEquivalence(entailment), samples=settings["samples"])


async def _no_cross_encoder(name: str) -> Any:
    raise ModelNotFound(name)


async def read(asked: Asked, meter: Tally, question: str, search: Search) -> tuple[Sequence[Passage], str | None]:
    """Search for a question, and answer it from the best passages; None if there is no answer, or no reply fits."""
    passages = (await search(question))[:_TOP_K]
    found = None
    with suppress(InvalidReply):
        # As the paper's reader: without a quote as proof, and without facts of earlier steps.
        found = await ask(asked, meter, meta_evidence(question, (), passages)) if passages else None
    return passages, found


def interleaved(rankings: Sequence[Sequence[Passage]]) -> list[Passage]:
    """The first of each ranking, then the second of each, and so on; each once."""
    first: dict[str, Passage] = {}
    for several in zip_longest(*rankings):
        for one in several:
            if one is not None:
                first.setdefault(one.document_id, one)
    return list(first.values())


def given(case: Case, found: str | None, rankings: Sequence[Sequence[Passage]]) -> Output:
    """Return the output of several steps, which cites the first passage of its last step."""
    cited = tuple(CitedPassage(one) for one in rankings[-1][:1]) if rankings else ()
    readings = () if found is None else (PredictedInterpretation(case.question, found, cited),)
    return Output(readings, tuple(interleaved(rankings)))


def steps_of(data: Data, case: Case) -> list[str]:
    """Return the sub-questions of the data set, in which #1 stands for the answer to the first."""
    steps = line_of(data, case)["decomposition"]
    questions = []
    for step in steps:
        question = str(step["question"])
        for number, known in enumerate(steps, start=1):
            question = question.replace(f"#{number}", known["answer"])
        questions.append(question.replace(" >> ", ": "))
    return questions


class KnownSteps:
    """Searches for the sub-questions of the data set, and asks no model. Implements Method."""

    def __init__(self, data: Data, search: Search) -> None:
        self._data = data
        self._search = search

    async def answer(self, case: Case) -> Output:
        """See Method."""
        rankings = [await self._search(question) for question in steps_of(self._data, case)]
        return Output(retrieved=tuple(interleaved(rankings)[:_FIRST_STAGE]))


class OneSearch:
    """Searches for the question as it is. Implements Method."""

    def __init__(self, search: Search) -> None:
        self._search = search

    async def answer(self, case: Case) -> Output:
        """See Method."""
        return Output(retrieved=tuple((await self._search(case.question))[:_FIRST_STAGE]))


async def search_steps(
    asked: Asked, meter: Tally, case: Case, *, data: Data, found: Retrieval, settings: Mapping[str, Any]
) -> Output:
    """Search for the sub-questions of the data set with ASU: what it is worth to the search alone."""
    search = search_of(found, settings, await uncertainty(asked, meter, settings))
    return await KnownSteps(data, search).answer(case)


async def known_steps(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method."""
    found = await retrieval(bench, data)
    if "samples" in settings:
        return Baseline(await bench.asked(), partial(search_steps, data=data, found=found, settings=settings))
    return KnownSteps(data, search_of(found, settings))


async def one_search(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method."""
    return OneSearch(search_of(await retrieval(bench, data), settings))


async def self_ask(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method."""
    return Baseline(await bench.asked(), partial(ask_oneself, found=await retrieval(bench, data), settings=settings))


async def gold_evidence(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Answer from the relevant documents, without a search."""
    return Baseline(replace(await bench.asked(), retriever=GoldEvidence(data)), partial(direct, top_k=_TOP_K))


def _published(name: str, paper: str = "", *, retrieval: str = "explored", **settings: Any) -> Row:
    return Row(name, "self_ask", {"retrieval": retrieval, "decomposes": True, **settings}, paper, self_ask)


_FIRST: Final = {"retrieval": "first"}
_RERANKED: Final = {"retrieval": "re-ranked", "budget": 100}
_EXPLORED: Final = {"retrieval": "explored", "budget": 100}
_SMALL: Final = {"retrieval": "explored", "budget": 32}
_INVESTIGATE: Final = {"top_k": 10, "max_steps": 4, "reranker": "signal", "max_passages": 32}

ROWS: Final = (
    # Table 7: the question as it is.
    Row("search: BM25", "search", _FIRST, "SPLADE-v2: nDCG .155, R@10 .062", one_search),
    Row("search: BM25, re-ranked", "search", _RERANKED, make=one_search),
    Row("search: NAR", "search", _EXPLORED, "nDCG .179, R@10 .073", one_search),
    Row("search: NAR, budget 32", "search", _SMALL, make=one_search),
    Row("search: ours, hybrid", "search", {"top_k": 100}),
    Row("search: ours, adaptive", "search", {"top_k": 100, "retrieval": "adaptive", "max_passages": 100}),
    # Table 5: the paper's sub-questions are those of a language model.
    *(
        Row(f"steps of the data set: {name}", "search", settings, paper, known_steps, needs="decomposition")
        for name, settings, paper in (
            ("BM25", _FIRST, "SPLADE-v2: R@1 .152, R@10 .240"),
            ("BM25, re-ranked", _RERANKED, "R@1 .157, R@10 .309"),
            ("NAR", _EXPLORED, "SUNAR: R@1 .284, R@10 .459"),
            ("NAR, budget 32", _SMALL, ""),
            ("NAR and ASU, budget 32", {**_SMALL, "samples": 5}, ""),
        )
    ),
    # Tables 1 and 4.
    _published("FEW-SHOT-COT", ".1502", retrieval="first", decomposes=False),
    _published("NAR, no decomposition", ".2132", budget=100, decomposes=False),
    _published("SELF-ASK", ".2484", retrieval="first"),
    _published("SELF-ASK, re-ranked", ".2484", retrieval="re-ranked", budget=100),
    _published("SUNAR (-ASU) (-MER)", ".2811", budget=100),
    _published("SUNAR (-ASU)", ".3043", budget=100, meta=True),
    _published("SUNAR", ".3275", budget=100, samples=5, meta=True),
    _published("SUNAR (-ASU) (-MER), budget 32", budget=32),
    _published("SUNAR (-ASU), budget 32", budget=32, meta=True),
    _published("SUNAR (-MER), budget 32", budget=32, samples=5),
    _published("SUNAR, budget 32", budget=32, samples=5, meta=True),
    Row("investigate", "investigate", _INVESTIGATE),
    Row("investigate, no samples", "investigate", {**_INVESTIGATE, "entailment": "none"}),
    Row("investigate, budget 100", "investigate", {**_INVESTIGATE, "max_passages": 100}),
    Row("investigate, meta", "investigate", {**_INVESTIGATE, "meta": True}),
    Row("investigate, no neighbors", "investigate", {**_INVESTIGATE, "retrieval": "fixed"}),
    Row("investigate, no decomposition", "investigate", {**_INVESTIGATE, "max_steps": 0}),
    Row("gold evidence", "direct_gold", paper=".4428", make=gold_evidence),
)
COLUMNS: Final = (
    "answer_em",
    "answer_f1",
    of_ranking("recall", 1),
    "recall@10",
    of_ranking("ndcg", 10),
    "calls",
    "failed",
)

if __name__ == "__main__":
    main("SUNAR, Tables 1, 4, 5 and 7", ROWS, COLUMNS)
