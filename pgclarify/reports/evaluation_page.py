"""The page of evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgclarify.evaluated import Evaluation
from pgclarify.evaluation.comparison import unlike
from pgclarify.evaluation.judge_warnings import judge_warnings, unjudged_warnings
from pgclarify.evaluation.metric_names import JUDGED
from pgclarify.evaluation.strata import FEWEST_CASES
from pgclarify.reports.evaluation_charts import cost_figures, precision_figure
from pgclarify.reports.evaluation_report import Evaluated, EvaluationReport
from pgclarify.reports.formats import count, moment, settings, shortened
from pgclarify.reports.metric_table import metric_table, stratum_tables
from pgclarify.reports.pages import render
from pgclarify.reports.repeating import repeat

# Metrics that are counts, not shares.
_COUNTS = ("calls", "retrievals", "prompt_tokens", "completion_tokens", "interpretations", "seconds", "model_seconds")
# The metrics that are shown for a case.
_OF_A_CASE = (
    "answer_coverage", "grounded_precision", "grounded_recall", "recall", "answer_f1", "citation_precision",
    "citation_recall", "recall@10",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of all evaluations.

    Attributes:
        name: What it is.
        values: In their order.
    """

    name: str
    values: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether they all share it."""
        return len(set(self.values)) == 1


def evaluation_page(report: EvaluationReport) -> str:
    """Render the page of evaluations as self-contained HTML.

    Args:
        report: The data. All text in it may be hostile.
    """
    members = report.members
    plan = members[0].evaluation.plan
    metric = report.metric
    return render(
        "evaluation.html",
        title=f"Evaluation: {shortened(plan.data_set, 80)}",
        written_at=report.written_at,
        data_set=shortened(plan.data_set, 160),
        members=members,
        left_out=report.left_out,
        differences=_differences(members),
        judge_warnings=[
            *judge_warnings(one.evaluation.plan for one in members if not JUDGED.isdisjoint(one.summaries)),
            *unjudged_warnings((one.evaluation.plan.name, one.summaries) for one in members),
        ],
        unfinished=[one for one in members if one.evaluation.finished_at is None],
        rows=metric_table(members),
        strata=stratum_tables(members),
        fewest=FEWEST_CASES,
        counts=_COUNTS,
        metric=metric,
        cost_figures=cost_figures(members, metric) if metric else [],
        precision_figure=precision_figure(members),
        cases=report.cases,
        of_a_case=_OF_A_CASE,
        facts=_facts(members),
        repeats=[(one, repeat(one.evaluation.plan)) for one in members],
        sizes=sorted({len(one.values) for one in members}),
    )


def _differences(members: Sequence[Evaluated]) -> list[tuple[str, list[Evaluated]]]:
    """Say why some evaluations cannot be compared with the first one, each reason with these evaluations."""
    told: dict[str, list[Evaluated]] = {}
    for other in members[1:]:
        for sentence in unlike(members[0].evaluation.plan, other.evaluation.plan):
            told.setdefault(sentence, []).append(other)
    return list(told.items())


def _facts(members: Sequence[Evaluated]) -> list[Fact]:
    evaluations = [one.evaluation for one in members]
    return [
        Fact(name, tuple(values))
        for name, values in (
            ("Evaluation", [str(one.eval_run_id) for one in evaluations]),
            ("Cases done", [f"{count(one.done_cases)} of {count(one.plan.planned_cases)}" for one in evaluations]),
            ("Method", [one.plan.method for one in evaluations]),
            ("Settings", [settings(one.plan.settings) or "as by default" for one in evaluations]),
            ("Corpus", [f"{one.plan.corpus_name}, revision {count(one.plan.corpus_revision)}" for one in evaluations]),
            ("Embedding model", [one.plan.embedding_model for one in evaluations]),
            ("Model", [f"{one.plan.model} ({one.plan.provider})" for one in evaluations]),
            ("Prompts", [one.plan.prompt_version for one in evaluations]),
            ("Judge", [f"{one.plan.judge}, version {one.plan.judge_version}" for one in evaluations]),
            ("pgclarify", [one.plan.version for one in evaluations]),
            ("By", [one.requested_by for one in evaluations]),
            ("Begun", [moment(one.created_at) for one in evaluations]),
            ("Finished", [_finished(one) for one in evaluations]),
        )
    ]


def _finished(evaluation: Evaluation) -> str:
    return "not yet" if evaluation.finished_at is None else moment(evaluation.finished_at)
