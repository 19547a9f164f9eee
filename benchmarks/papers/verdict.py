"""VERDICT, Tables 2 and 4, and rows of ours: python -m benchmarks.papers.verdict DATA_DIR ramdocs CORPUS.

The paper's figures are for LLaMA 3.3 70B on ASQA: readings; Sufficient, in percent; recall; G-Precision, G-Recall and
G-F1. Its G-F1 has a gold of its own for each method, as ours. The rows "VERDICT" are the paper's method: a relaxed
question, 20 passages, one reading and answer of each passage, no check of a quote, HDBSCAN over f(q; y), noise dropped,
and the medoid of each group. The paper gives no parameters of HDBSCAN; `benchmarks.papers.tune_hdbscan` chose these.
Nor does it give a bound of Sufficient. Ours says that a question has at least as many different readings as people
know; by the paper's, people themselves reach it in 22 percent of the questions, so the two cannot be compared.

The columns "right", "right, grounded" and "exact match" say what grounded_precision does not: it also counts planted
wrong answers, which their documents support. The last two columns are Figure 3 by the labels of the documents, where a
data set has them, instead of a judge: how often the reading of a document that answers is right, and how many of the
documents without an answer that were retrieved a reading cites. Rows that show each reading have the figure of the
model; in others, readings were dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers import Column, Data, Given, Row, Scored, Values, each, line_of, main
from benchmarks.papers.scores import citing, is_right, right, right_and_grounded, strict
from pgclarify.algorithms.consolidation import consolidate
from pgclarify.data.documents import Passage
from pgclarify.data.model_calls import Completion, ModelCall
from pgclarify.data.runs import Tally
from pgclarify.database.evaluations import EvaluatedCase
from pgclarify.errors import CompletionError, InvalidReply
from pgclarify.evaluation.baselines import Asked, Baseline, ask
from pgclarify.evaluation.bench import Bench
from pgclarify.evaluation.records import Case, CitedPassage, Judge, Method, Output, PredictedInterpretation, Stated
from pgclarify.language.english.contradictions import relate_readings
from pgclarify.ledger.completions import ask_all
from pgclarify.prompts.findings import Answer, Quote
from pgclarify.prompts.relaxation import relaxation
from pgclarify.prompts.replies import LineOrNull, ReplyForm, read_form
from pgclarify.prompts.verdict import verdict
from pgclarify.protocols import Embedder

_TOP_K: Final = 20
_NOISE: Final = -1
# HDBSCAN estimates densities from neighbors, which fewer readings do not have. They are all kept.
_FEWEST: Final = 3

Pair = tuple[str, str]


class _Reply(ReplyForm):
    interpretation: LineOrNull
    answer: Answer
    quote: Quote = None


def reading_alone(question: str, passage: Passage) -> ModelCall[Pair | None]:
    """Ask for the reading of a passage as clarify asks, but read no quote, so that nothing is checked by it.

    The calls are those of clarify, which a ledger has but once.

    Source: VERDICT, Eq. 8.
    """
    call: ModelCall[Any] = verdict(question, passage)
    return replace(call, read=_read)


def _read(completion: Completion) -> Pair | None:
    reply = read_form(_Reply, completion)
    return None if reply.interpretation is None or reply.answer is None else (reply.interpretation, reply.answer)


async def verified_diversification(
    asked: Asked,
    meter: Tally,
    case: Case,
    *,
    top_k: int,
    embedded: str = "f(q; y)",
    consolidation: str = "hdbscan",
    **parameters: Any,
) -> Output:
    """The paper's method.

    Args:
        asked: The model and the corpus.
        meter: Counts the calls.
        case: The question.
        top_k: Passages.
        embedded: f(q; y) or f(q).
        consolidation: hdbscan, ours, or none for all readings.
        **parameters: As for `density_labels`.

    Source: VERDICT, Algorithm 1.
    """
    try:
        relaxed = await ask(asked, meter, relaxation(case.question))
    except InvalidReply:
        relaxed = case.question
    passages = await asked.retriever.search(relaxed, top_k)
    calls = [reading_alone(case.question, one) for one in passages]
    found: list[PredictedInterpretation] = []
    for passage, result in zip(passages, await ask_all(asked.ledger, asked.chat, calls, tally=meter), strict=True):
        if isinstance(result.value, CompletionError):
            if not isinstance(result.value, InvalidReply):
                raise result.value
        elif result.value is not None:
            found.append(PredictedInterpretation(*result.value, (CitedPassage(passage),)))
    notes = {"relaxed_question": relaxed, "verdicts": len(found)}
    shown = await consolidated(found, asked.embedder, embedded=embedded, consolidation=consolidation, **parameters)
    return Output(tuple(shown), tuple(passages), notes=notes)


async def consolidated(
    found: Sequence[PredictedInterpretation],
    embedder: Embedder,
    *,
    embedded: str = "f(q; y)",
    consolidation: str = "hdbscan",
    **parameters: Any,
) -> list[PredictedInterpretation]:
    """Group readings as a row does, and return the medoid of each group. See `verified_diversification`."""
    if consolidation == "none" or not found:
        return list(found)
    texts = [one.interpretation if embedded == "f(q)" else f"{one.interpretation} {one.answer}" for one in found]
    vectors = await embedder.encode(texts)
    groups = our_groups(found, vectors) if consolidation == "ours" else density_groups(vectors, **parameters)
    return [found[medoid] for medoid in groups]


def our_groups(found: Sequence[PredictedInterpretation], vectors: NDArray[np.float32]) -> list[int]:
    """Group readings as the product, by words and vectors, and return the medoid of each group, largest group first."""
    relations = relate_readings([one.interpretation for one in found], [str(one.answer) for one in found])
    return [one.medoid for one in consolidate(vectors, relations=relations)]


def density_groups(vectors: NDArray[np.float32], *, keeps_noise: bool = False, **parameters: Any) -> list[int]:
    """Group readings with HDBSCAN, and return the medoid of each group, largest group first.

    Args:
        vectors: float32, shape (n_readings, n_dims), each row of unit length.
        keeps_noise: Whether each reading that HDBSCAN calls noise is a group of its own, instead of being dropped.
        **parameters: As for `density_labels`.

    Source: VERDICT, §4.2 and Algorithm 1, lines 8-12.
    """
    if len(vectors) < _FEWEST:
        return list(range(len(vectors)))
    labels, similarities = density_labels(vectors, **parameters), _similarities(vectors)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels) if label != _NOISE]
    groups.sort(key=len, reverse=True)
    if keeps_noise:
        groups += [np.array([place]) for place in np.flatnonzero(labels == _NOISE)]
    return [int(group[similarities[np.ix_(group, group)].sum(axis=0).argmax()]) for group in groups]


def density_labels(
    vectors: NDArray[np.float32],
    *,
    least: int = 2,
    epsilon: float = 0.0,
    selection: str = "eom",
    is_single_allowed: bool = True,
) -> NDArray[np.intp]:
    """Return the group of each of three readings or more; -1 is noise.

    Args:
        vectors: As for `density_groups`.
        least: min_cluster_size.
        epsilon: cluster_selection_epsilon, a cosine distance: groups nearer to each other are one.
        selection: cluster_selection_method, eom or leaf.
        is_single_allowed: allow_single_cluster. Without it, equal readings are noise.
    """
    # hdbscan imports scikit-learn, which takes seconds.
    import hdbscan

    clusterer = hdbscan.HDBSCAN(
        metric="precomputed",
        min_cluster_size=least,
        min_samples=1,
        allow_single_cluster=is_single_allowed,
        cluster_selection_epsilon=epsilon,
        cluster_selection_method=selection,
    )
    labels: NDArray[np.intp] = clusterer.fit_predict(1 - _similarities(vectors))
    return labels


def _similarities(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    similarities = (vectors @ vectors.T).astype(np.float64).clip(-1, 1)
    np.fill_diagonal(similarities, 1)
    return similarities


def published(name: str, paper: str = "", **settings: object) -> Row:
    """Make a row of the paper's method, with some settings other than the default."""
    return Row(name, "verified_diversification", {"top_k": _TOP_K, **settings}, paper, as_published)


async def as_published(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the paper's method."""
    return Baseline(await bench.asked(), partial(verified_diversification, **settings))


def known_readings(case: Case) -> Output:
    """Return the readings that people know, without citations. Source: VERDICT, Table 2, last row."""
    known = ((one.interpretation or case.question, one.answers) for one in _people(case))
    return Output(tuple(PredictedInterpretation(one, names[0] if names else None) for one, names in known))


async def people(bench: Bench, data: Data, settings: Mapping[str, Any]) -> Method:
    """Make the method."""
    return Given(known_readings)


def _people(case: Case) -> list[Stated]:
    people = [Stated(one.interpretation, one.answers) for one in case.interpretations]
    # The person who knows most, as for the grounded figures.
    return people or [Stated(None, names) for names in max(case.answer_sets, key=len, default=())]


async def recall(scored: Scored) -> Values:
    """Share of the readings of people that a reading of the method asks, grounded or not. Source: VERDICT, Eq. 18."""
    values: list[float | None] = []
    for case, stored in scored.pairs:
        people, given = _people(case), _given(stored.output["interpretations"])
        matched = await scored.judge.matches(case.question, people, given) if people and given else []
        values.append(sum(matched) / len(people) if people else None)
    return values


async def sufficient(scored: Scored) -> Values:
    """1 if a question has at least as many different readings as people know. Source: VERDICT, §5.1.1."""
    values: list[float | None] = []
    for case, stored in scored.pairs:
        people = _people(case)
        different = await _different(case.question, _given(stored.output["interpretations"]), scored.judge)
        values.append(float(different >= len(people)) if people else None)
    return values


def _given(interpretations: Sequence[dict[str, str | None]]) -> list[Stated]:
    return [Stated(one["interpretation"], (one["answer"],) if one["answer"] else ()) for one in interpretations]


async def _different(question: str, given: Sequence[Stated], judge: Judge) -> int:
    kept: list[Stated] = []
    for one in given:
        if not kept or not (await judge.matches(question, [one], kept))[0]:
            kept.append(one)
    return len(kept)


def right_where_answered(case: Case, stored: EvaluatedCase) -> float | None:
    """Of the readings of documents that answer, the share that is right. Source: VERDICT, Figure 3."""
    of_these = citing(stored, case.relevant_documents)
    return sum(is_right(one, case) for one in of_these) / len(of_these) if of_these else None


async def exact(scored: Scored) -> Values:
    """Exact match of RAMDocs; nothing for data without wrong answers, where more readings could not cost anything."""
    if not any(case.wrong_answers for case, _ in scored.pairs):
        return [None] * len(scored.pairs)
    return [strict(*pair) for pair in scored.pairs]


async def read_in_noise(scored: Scored) -> Values:
    """Of the documents without an answer that were retrieved, the share that a reading cites.

    Source: VERDICT, Figure 3: the error rate of interpretations.
    """
    values: list[float | None] = []
    for case, stored in scored.pairs:
        noise = set(line_of(scored.data, case).get("noise", ()))
        shown = [one["document_id"] for one in stored.output.get("retrieved", ()) if one["document_id"] in noise]
        values.append(sum(bool(citing(stored, {one})) for one in shown) / len(shown) if shown else None)
    return values


# The kept replies of `clarify` are about the passages that a relaxed question finds, as in the paper.
_RELAXED: Final = {"top_k": _TOP_K, "relax": True}
_HDBSCAN: Final = {"consolidation": "hdbscan", "hdbscan": {"allow_single_cluster": True}, "singletons": "drop"}

ROWS: Final = (
    Row("DtV", "dtv", paper="2.06; 5.6; .324; .699, .366, .480"),
    Row("DtV - Verification", "dtv_unverified", paper="3.68; 34.7; .472; .463, .522, .490"),
    Row("RAC", "rac", {"top_k": _TOP_K}, "3.78; 57.8; .453; .767, .503, .608"),
    published("VERDICT", "3.70; 24.2; .367; .815, .580, .678"),
    published("VERDICT, f(q)", "3.65; -; -; .782, .573, -", embedded="f(q)"),
    published("VERDICT, conservative", "2.41; -; -; .824, .507, -", least=3),
    published("VERDICT, no single group", is_single_allowed=False),
    published("VERDICT, noise kept", keeps_noise=True),
    published("VERDICT, grouped by ours", consolidation="ours"),
    published("VERDICT, nothing consolidated", consolidation="none"),
    Row("clarify", "clarify", {**_RELAXED}),
    Row("clarify, conservative", "clarify", {**_RELAXED, "consolidation": "conservative"}),
    Row("clarify, no check of quotes", "clarify", {**_RELAXED, "verify": "none"}),
    Row("clarify, HDBSCAN", "clarify", {**_RELAXED, **_HDBSCAN}),
    Row("people", "people", paper="3.36; 22.0; -; .655", make=people),
)
COLUMNS: Final = (
    "readings",
    Column("sufficient", sufficient),
    Column("recall", recall),
    "coverage",
    each("right", right),
    each("right, grounded", right_and_grounded),
    Column("exact match", exact),
    "grounded_precision",
    "grounded_recall",
    "grounded_f1",
    "misled",
    each("right, where answered", right_where_answered),
    Column("read in noise", read_in_noise),
    "calls",
    "failed",
)

if __name__ == "__main__":
    main("VERDICT, Tables 2 and 4", ROWS, COLUMNS)
