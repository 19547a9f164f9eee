"""Computes all metrics of a method's output for one case.

docs/methods/evaluation.md describes each metric.

Source: VERDICT, §4.3, §5 and Appendix A; for the other metrics, the papers named below.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from statistics import fmean

from pgclarify.algorithms.metrics import (
    CitationScores,
    answer_coverage,
    answer_set_scores,
    citation_scores,
    cover_exact_match,
    covered_answers,
    grounded_precision,
    grounded_recall,
    mrecall_at,
    ndcg_at,
    quadrants,
    recall,
    recall_at,
    reciprocal_rank_at,
    sufficient,
)
from pgclarify.dialogue import MOST_TURNS
from pgclarify.evaluated import Case, Output, PredictedInterpretation
from pgclarify.evaluation.configurations import REWRITING, SIMULATED_USER
from pgclarify.evaluation.judging import Judgements, given_readings, relevant_documents
from pgclarify.vocabulary import RunStatus

# These methods cite passages without a quote.
_QUOTE_NOTHING = frozenset({"dtv", "dtv_unverified", "rac", "one_pass", "self_ask", "list_at_once", "human"})
# These methods search step by step.
_STEPWISE = frozenset({"investigate", "self_ask"})
_DEPTHS = (5, 10, 20)
_STEP_DEPTHS = (5, 10)
_DEPTH = 10
_MRECALL_DEPTHS = (1, 5, 10)


def score(case: Case, output: Output, judgements: Judgements, *, method: str | None = None) -> dict[str, float]:
    """Compute all metrics of a case.

    Args:
        case: The question with known answers, readings and documents.
        output: The output of a method for the case. A failed output counts as an empty one.
        judgements: The judgements of this output.
        method: As in EvaluationPlan. detect_ambiguity has only the metrics of detection, search only those of a
            ranking. If it is None, an output with a probability counts as one of detect_ambiguity. human has no metrics
            that compare it with the readings of people. Only methods that quote have `quote_coverage`, and only methods
            that search step by step have `step_recall@10` and similar metrics. Methods that rewrite have the metrics of
            detection, and of the ranking for their rewritten question. A simulated user has the metrics of a ranking
            after each turn.

    Returns:
        Values by name. A metric without gold in the case is absent. A metric is 0 if the method returned nothing.
    """
    if method == "detect_ambiguity" or (method is None and output.probability is not None):
        return _of_detection(case, output) | _of_cost(output)
    if method in REWRITING:
        return _of_rewriting(case, output) | _of_cost(output)
    if method == "clarifying_questions":
        return {"asked_back": float(len(_questions(output)))} | _of_cost(output)
    if method == SIMULATED_USER:
        return _of_turns(case, output) | _of_ranking(case, output) | _of_found_answers(case, output) | _of_cost(output)
    if method == "search":
        return _of_ranking(case, output) | _of_found_answers(case, output) | _of_cost(output)
    values = _of_readings(output, judgements) | _of_citations(case, output, judgements)
    if judgements.unjudged is not None:
        values["unjudged"] = float(judgements.unjudged)
    # A comparison of the readings of people with themselves says nothing.
    if method != "human":
        values |= _of_people(output, judgements) | _of_answers(case, output) | _of_found_answers(case, output)
    if method not in _QUOTE_NOTHING:
        values |= _of_quotes(case, output)
    if method in _STEPWISE:
        values |= _of_steps(case, output)
    return values | _of_ranking(case, output) | _of_cost(output)


def _of_readings(output: Output, judgements: Judgements) -> dict[str, float]:
    readings = given_readings(output)
    return {
        "interpretations": float(len(readings)),
        "grounded_precision": grounded_precision(judgements.supported),
        "relevant": _mean(judgements.relevant),
        **_of_answerability(readings, judgements),
        "verbatim_grounding": _mean([_answer_stands_in_passage(reading) for reading in readings]),
    }


def _of_answerability(readings: Sequence[PredictedInterpretation], judgements: Judgements) -> dict[str, float]:
    """Score first the readings without their answers, then whether the answers are right.

    Source: VERDICT, §5.2 and Figure 3.
    """
    if judgements.answerable is None:
        return {}
    shares = quadrants(judgements.relevant, judgements.answerable)
    judged = zip(readings, judgements.relevant, judgements.answerable, judgements.supported, strict=True)
    return {
        "relevant_answerable": shares.relevant_answerable,
        "relevant_unanswerable": shares.relevant_unanswerable,
        "irrelevant_answerable": shares.irrelevant_answerable,
        "irrelevant_unanswerable": shares.irrelevant_unanswerable,
        "relevant_answerable_right": _mean([bool(one.answer) and all(three) for one, *three in judged]),
    }


def _of_people(output: Output, judgements: Judgements) -> dict[str, float]:
    """Score against the readings of people."""
    if not judgements.human:
        return {}
    # Without readings, the judge was not asked about those of people. Then `sufficient` is 0.
    human = judgements.human_distinct or len(judgements.human)
    values = {
        "sufficient": float(sufficient(judgements.distinct, human)),
        "recall": recall(judgements.covered),
    }
    if judgements.gold is not None:
        readings = len(given_readings(output))
        values["grounded_recall"] = grounded_recall(judgements.gold, readings, judgements.covered_by_supported)
    return values


def _answer_stands_in_passage(reading: PredictedInterpretation) -> bool:
    """Return whether the passage that a reading cites first has its answer."""
    return bool(
        reading.answer
        and reading.citations
        and cover_exact_match(reading.citations[0].passage.content, [reading.answer])
    )


def _of_answers(case: Case, output: Output) -> dict[str, float]:
    people = case.known_answers
    if not people:
        return {}
    readings = given_readings(output)
    answers = [reading.answer for reading in readings if reading.answer]
    scores = answer_set_scores(answers, people)
    return {
        "answer_coverage": max(answer_coverage(golds, answers) for golds in people),
        "answer_precision": scores.precision,
        "answer_recall": scores.recall,
        "answer_f1": scores.f1,
        "cover_em": float(
            bool(answers) and any(cover_exact_match(answers[0], names) for golds in people for names in golds)
        ),
    }


def _of_quotes(case: Case, output: Output) -> dict[str, float]:
    people = case.known_answers
    if not people:
        return {}
    quotes = [cited.quote for one in given_readings(output) for cited in one.citations if cited.quote is not None]
    return {"quote_coverage": max(answer_coverage(golds, quotes) for golds in people)}


def _of_citations(case: Case, output: Output, judgements: Judgements) -> dict[str, float]:
    """Score citations against known relevant documents or, if none are known, by the judge.

    Precision is the mean over readings. Recall is the mean over readings too, or with known documents the share of them
    that any reading cites.
    """
    known = relevant_documents(case)
    if not known:
        return {
            "citation_precision": _mean([one.precision for one in judgements.citations]),
            "citation_recall": _mean([one.recall for one in judgements.citations]),
        }
    cited = [[one.passage.document_id for one in reading.citations] for reading in given_readings(output)]
    together = list(chain.from_iterable(cited))
    places = {document_id: place for place, document_id in enumerate(dict.fromkeys((*together, *sorted(known))))}

    def scores(document_ids: Sequence[str]) -> CitationScores:
        return citation_scores([places[one] for one in document_ids], [places[one] for one in known], len(places))

    return {
        "citation_precision": _mean([scores(one).precision for one in cited]),
        "citation_recall": scores(together).recall,
    }


def _of_ranking(case: Case, output: Output) -> dict[str, float]:
    known = relevant_documents(case)
    if not known:
        return {}
    found = [] if output.status is RunStatus.FAILED else [passage.document_id for passage in output.retrieved]
    return {
        **{f"recall@{depth}": recall_at(found, known, depth) for depth in _DEPTHS},
        f"ndcg@{_DEPTH}": ndcg_at(found, known, _DEPTH),
        f"mrr@{_DEPTH}": reciprocal_rank_at(found, known, _DEPTH),
    }


def _of_steps(case: Case, output: Output) -> dict[str, float]:
    """Score each step against all documents of the case, because data sets do not assign documents to steps.

    The result is the mean over the steps that searched; 0 if no step did.
    """
    known = relevant_documents(case)
    if not known:
        return {}
    steps = () if output.status is RunStatus.FAILED else output.steps
    rankings = [[passage.document_id for passage in passages] for passages in steps]
    return {
        **{f"step_recall@{depth}": _mean([recall_at(one, known, depth) for one in rankings]) for depth in _STEP_DEPTHS},
        f"step_mrr@{_DEPTH}": _mean([reciprocal_rank_at(one, known, _DEPTH) for one in rankings]),
    }


def _of_rewriting(case: Case, output: Output) -> dict[str, float]:
    """Score the decision to rewrite against people's labels of ambiguity, and a search with the rewritten question.

    Source: Detect, then rewrite (summary), Key Results.
    """
    questions = _questions(output)
    return {
        **_of_detection(case, output),
        "rewritten": float(bool(questions) and questions[0] != case.question),
        **_of_ranking(case, output),
        **_of_found_answers(case, output),
    }


def _questions(output: Output) -> Sequence[str]:
    return () if output.status is RunStatus.FAILED else output.questions


def _of_turns(case: Case, output: Output) -> dict[str, float]:
    """Score a search before the first turn of a conversation and after each turn; 0 if it failed.

    Source: AT-CoT, §4.3 and Table 8.
    """
    known = relevant_documents(case)
    if not known:
        return {}
    steps = () if output.status is RunStatus.FAILED else output.steps
    values: dict[str, float] = {}
    for turn in range(MOST_TURNS + 1):
        found = [passage.document_id for passage in steps[turn]] if turn < len(steps) else []
        values[f"turn_{turn}_recall@{_DEPTH}"] = recall_at(found, known, _DEPTH)
        values[f"turn_{turn}_ndcg@{_DEPTH}"] = ndcg_at(found, known, _DEPTH)
        values[f"turn_{turn}_mrr@{_DEPTH}"] = reciprocal_rank_at(found, known, _DEPTH)
    return values


def _of_found_answers(case: Case, output: Output) -> dict[str, float]:
    """Score whether the retrieved passages have the known answers; for several people, the best value."""
    people = case.known_answers
    if not people:
        return {}
    passages = [] if output.status is RunStatus.FAILED else output.retrieved[: max(_MRECALL_DEPTHS)]
    standing = [
        [
            [number for number, stands in enumerate(covered_answers(golds, [passage.content])) if stands]
            for passage in passages
        ]
        for golds in people
    ]
    return {
        f"mrecall@{depth}": float(
            any(mrecall_at(found, len(golds), depth) for found, golds in zip(standing, people, strict=True))
        )
        for depth in _MRECALL_DEPTHS
    }


def _of_detection(case: Case, output: Output) -> dict[str, float]:
    values: dict[str, float] = {}
    if case.is_ambiguous is not None:
        values["label"] = float(case.is_ambiguous)
    if output.probability is not None and output.status is not RunStatus.FAILED:
        values["probability"] = output.probability
        values["predicted"] = float(output.notes.get("is_ambiguous", output.probability >= 0.5))
    return values


def _of_cost(output: Output) -> dict[str, float]:
    return {
        "calls": float(output.usage.calls),
        "retrievals": float(output.retrievals),
        "prompt_tokens": float(output.usage.prompt_tokens),
        "completion_tokens": float(output.usage.completion_tokens),
        "model_seconds": output.usage.model_seconds,
        "seconds": output.seconds,
        "failed": float(output.status is RunStatus.FAILED),
    }


def _mean(values: Sequence[float]) -> float:
    """Return the mean; 0 for no values, because missing output counts as 0."""
    return fmean(values) if values else 0.0
