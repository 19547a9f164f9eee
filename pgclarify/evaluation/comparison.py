"""Compares two evaluations case by case: what changed, by how much, and what may be chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import EvaluatedCase, Evaluation, EvaluationPlan
from pgclarify.evaluation.changes import readings
from pgclarify.evaluation.judge_warnings import judge_warnings, unjudged_warning
from pgclarify.evaluation.metric_names import JUDGED
from pgclarify.evaluation.paired_metrics import MetricComparison, compare_metric, compare_metrics
from pgclarify.evaluation.strata import FEWEST_CASES, cases_of_strata

# Cases are sorted by the first of these metrics that they have, unless the user names another.
_OF_CASES = (
    "answer_coverage",
    "answer_f1",
    "grounded_recall",
    "recall",
    "recall@10",
    "bleu",
    "question_f1",
    "interpretations",
    "probability",
)
_COMPARED_FIELDS = (
    "data_set",
    "planned_cases",
    "corpus_name",
    "corpus_revision",
    "embedding_model",
    "provider",
    "model",
    "prompt_version",
    "judge",
    "judge_version",
    "version",
    "method",
)
_JUDGED_BY_THE_JUDGE = (
    "sufficient, recall, grounded_*, relevant*, irrelevant_*, answer_correctness and, where no documents are known, "
    "citation_*"
)


@dataclass(frozen=True, slots=True)
class PairedCase:
    """A case in both evaluations."""

    first: EvaluatedCase
    second: EvaluatedCase

    def difference(self, metric: str) -> float:
        """Return the second side's value minus the first's; 0 if one side has no value."""
        if metric not in self.first.values or metric not in self.second.values:
            return 0.0
        return self.second.values[metric] - self.first.values[metric]


@dataclass(frozen=True, slots=True)
class Differing:
    """A setting that differs between the two sides; None for a side without it."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class StratumComparison:
    """The cases of a stratum in both evaluations.

    Attributes:
        stratum: Its name.
        cases: Number of cases.
        metric: A metric over these cases; None for fewer than FEWEST_CASES cases, or if one side lacks the metric.
    """

    stratum: str
    cases: int
    metric: MetricComparison | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations, paired case by case.

    Attributes:
        first: The reference.
        second: The evaluation that is compared with it.
        pairs: The common cases, in the order of the first; at least one.
        metrics: The common metrics, in display order.
        differing: The settings that differ.
        not_alike: Reasons why the two are not comparable, so that limits do not apply; whole sentences.
        warnings: These reasons and further warnings; whole sentences.
        of_seconds: A note on its seconds; None if there is none.
    """

    first: Evaluation
    second: Evaluation
    pairs: tuple[PairedCase, ...]
    metrics: tuple[MetricComparison, ...]
    differing: tuple[Differing, ...]
    not_alike: tuple[str, ...]
    warnings: tuple[str, ...]
    of_seconds: str | None = None

    def metric(self, name: str) -> MetricComparison:
        """Return a metric by its name.

        Raises:
            NotFound: If the two do not both have it.
        """
        for one in self.metrics:
            if one.metric == name:
                return one
        raise NotFound(
            f"no metric {name} to compare",
            detail=f"Both evaluations have {', '.join(one.metric for one in self.metrics)}.",
            hint="Other metrics need another method, or gold that the data set does not have.",
        )

    def strata(self, name: str) -> list[StratumComparison]:
        """Return a metric within each stratum, in display order."""
        of_pairs = {place: pair.first.gold.get("strata", ()) for place, pair in enumerate(self.pairs)}
        compared = []
        for stratum, places in cases_of_strata(of_pairs).items():
            values = [(self.pairs[place].first.values, self.pairs[place].second.values) for place in places]
            is_large = len(places) >= FEWEST_CASES
            compared.append(StratumComparison(stratum, len(places), compare_metric(name, values) if is_large else None))
        return compared

    def pair(self, case_id: str) -> PairedCase:
        """Return a case by its id.

        Raises:
            NotFound: If the two do not both have it.
        """
        for one in self.pairs:
            if one.first.case_id == case_id:
                return one
        raise NotFound(
            f"no case {case_id} that both evaluations have",
            detail=f"They share {len(self.pairs)}, the first of which is {self.pairs[0].first.case_id}.",
            hint="The ids are those of the data set.",
        )

    def order_of_cases(self, asked: Sequence[str] = ()) -> str:
        """Return the metric that sorts cases: the first requested one that a case has, else a default one."""
        there = [one.metric for one in self.metrics if one.wins is not None]
        return next((name for name in (*asked, *_OF_CASES, *there) if name in there), _OF_CASES[0])

    def most_changed(self, metric: str, count: int) -> list[PairedCase]:
        """Return the cases that changed most: by a metric, then by the number of readings; no unchanged cases."""
        weights = [
            (abs(pair.difference(metric)), abs(_count_readings(pair.second) - _count_readings(pair.first)))
            for pair in self.pairs
        ]
        changed = [place for place, weight in enumerate(weights) if any(weight)]
        changed.sort(key=lambda place: weights[place], reverse=True)
        return [self.pairs[place] for place in changed[:count]]


def compare(
    first: Evaluation,
    first_cases: Sequence[EvaluatedCase],
    second: Evaluation,
    second_cases: Sequence[EvaluatedCase],
) -> Comparison:
    """Pair two evaluations by the ids of their cases, and compare all common metrics.

    Cases are paired if they have the same id and the same question. They need no output.

    Raises:
        InputError: If they have no case in common.
    """
    theirs = {case.case_id: case for case in second_cases}
    by_id = [PairedCase(case, theirs[case.case_id]) for case in first_cases if case.case_id in theirs]
    pairs = [pair for pair in by_id if pair.first.question == pair.second.question]
    if not pairs:
        raise InputError(
            "the two evaluations have no case in common",
            detail=f"The first is of {first.plan.data_set} and has {len(first_cases)} of its cases, "
            f"the second is of {second.plan.data_set} and has {len(second_cases)}"
            + (f"; {len(by_id)} have one id, but another question." if by_id else "."),
            hint="See what each is of with: pgclarify eval list",
        )
    not_alike = tuple(_not_alike(first, second, pairs, len(by_id)))
    metrics = tuple(compare_metrics([(pair.first.values, pair.second.values) for pair in pairs]))
    of_judges = _of_judges(first, second, pairs) if any(one.metric in JUDGED for one in metrics) else ()
    return Comparison(
        first,
        second,
        tuple(pairs),
        metrics,
        tuple(_differing(first, second)),
        not_alike,
        (*not_alike, *_to_know(first, second), *of_judges),
        _of_seconds(pairs),
    )


def _count_readings(case: EvaluatedCase) -> float:
    return case.values.get("interpretations", len(readings(case)))


def unlike(one: EvaluationPlan, other: EvaluationPlan) -> Iterable[str]:
    """Yield the reasons why two evaluations of the same cases are not comparable; whole sentences."""
    if (one.judge, one.judge_version) != (other.judge, other.judge_version):
        yield f"Another judge, or version of it: {_JUDGED_BY_THE_JUDGE} are no comparison of like with like."
    if (one.corpus_name, one.corpus_id) != (other.corpus_name, other.corpus_id):
        yield "They asked different corpora."
    elif one.corpus_revision != other.corpus_revision:
        yield (
            "The corpus has changed in between, or the two roles can find other documents in it: some of the "
            "difference may come from that."
        )


def _differing(first: Evaluation, second: Evaluation) -> Iterable[Differing]:
    one, other = first.plan, second.plan
    options = (
        Differing(f"option {name}", one.settings.get(name), other.settings.get(name))
        for name in dict.fromkeys((*one.settings, *other.settings))
    )
    fields = [
        Differing(field.replace("_", " "), getattr(one, field), getattr(other, field)) for field in _COMPARED_FIELDS
    ]
    return (setting for setting in (*fields, *options) if setting.first != setting.second)


def _not_alike(first: Evaluation, second: Evaluation, pairs: Sequence[PairedCase], same_id: int) -> Iterable[str]:
    one, other = first.plan, second.plan
    for label, evaluation in (("A", first), ("B", second)):
        if evaluation.finished_at is None:
            yield (
                f"{label} is not finished: it has {evaluation.done_cases} of {evaluation.plan.planned_cases} cases. "
                "The command that began it resumes it."
            )
    if one.data_set_hash != other.data_set_hash:
        yield f"Their data sets differ. Cases that both have: {len(pairs):,}."
    if same_id > len(pairs):
        yield f"Cases that have one id, but another question, and are left out: {same_id - len(pairs):,}."
    changed_gold = sum(pair.first.gold != pair.second.gold for pair in pairs)
    if changed_gold:
        yield f"Cases of which something else is known: {changed_gold:,}."
    yield from unlike(one, other)


def _to_know(first: Evaluation, second: Evaluation) -> Iterable[str]:
    if first.eval_run_id == second.eval_run_id:
        yield f"Both are evaluation {first.eval_run_id}."


def _of_judges(first: Evaluation, second: Evaluation, pairs: Sequence[PairedCase]) -> Iterable[str]:
    yield from judge_warnings((first.plan, second.plan))
    for name, cases in (("A", [pair.first for pair in pairs]), ("B", [pair.second for pair in pairs])):
        failed = sum(case.values.get("unjudged", 0) for case in cases)
        if failed:
            yield unjudged_warning(name, round(failed))


def _of_seconds(pairs: Sequence[PairedCase]) -> str | None:
    reused = [sum(getattr(pair, side).usage.reused_calls for pair in pairs) for side in ("first", "second")]
    if reused[0] == reused[1]:
        return None
    return (
        f"Replies from the ledger: {reused[0]:,} in A, {reused[1]:,} in B. They take next to no seconds; "
        "model_seconds counts them as when they were paid for."
    )
