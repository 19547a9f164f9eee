"""The page of evaluations."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from pgclarify.evaluated import Evaluation, EvaluationPlan
from pgclarify.reports.evaluation_cases import choose_cases
from pgclarify.reports.evaluation_charts import cost_figures, precision_figure
from pgclarify.reports.evaluation_report import Evaluated, EvaluationReport
from pgclarify.reports.formats import count, moment, setting, settings, shortened
from pgclarify.reports.metric_table import leading_metric, metric_table
from pgclarify.reports.pages import render

# What is a count, and nothing between 0 and 1.
_COUNTS = ("calls", "prompt_tokens", "completion_tokens", "interpretations", "seconds", "model_seconds")
# What a case shows of its metrics.
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


@dataclass(frozen=True, slots=True)
class Repeat:
    """How to make an evaluation again.

    Attributes:
        command: For a shell.
        file: What stands in the file that the command names; None if it names none.
    """

    command: str
    file: str | None


def evaluation_page(report: EvaluationReport) -> str:
    """The page of evaluations as HTML, complete in itself.

    Args:
        report: What it shows. All of its text may be hostile.
    """
    members = report.members
    plan = members[0].evaluation.plan
    metric = leading_metric(members)
    return render(
        "evaluation.html",
        title=f"Evaluation: {shortened(plan.data_set, 80)}",
        written_at=report.written_at,
        data_set=shortened(plan.data_set, 160),
        members=members,
        left_out=report.left_out,
        unfinished=[one for one in members if one.evaluation.finished_at is None],
        rows=metric_table(members),
        counts=_COUNTS,
        metric=metric,
        cost_figures=cost_figures(members, metric) if metric else [],
        precision_figure=precision_figure(members),
        cases=choose_cases(members, metric),
        of_a_case=_OF_A_CASE,
        facts=_facts(members),
        repeats=[(one, repeat(one.evaluation.plan)) for one in members],
        sizes=sorted({len(one.cases) for one in members}),
    )


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


def repeat(plan: EvaluationPlan) -> Repeat:
    """How to make an evaluation again; what was paid for comes from the ledger."""
    words = ["pgclarify", "eval", "run", f"{plan.data_set}.jsonl", "--corpus", plan.corpus_name, "--name", plan.name]
    judge = "lexical" if plan.judge == "lexical" else "model"
    if not all(_fits_a_grid(value) for value in plan.settings.values()):
        options = "\n".join(f"{json.dumps(name)} = {_toml(value)}" for name, value in sorted(plan.settings.items()))
        file = f"method = {_toml(plan.method)}\n\n[options]\n{options}"
        return Repeat(shlex.join([*words, "--judge", judge, "--config", "configuration.toml"]), file)
    words += ["--method", plan.method, "--judge", judge]
    for name, value in sorted(plan.settings.items()):
        words += ["--set", f"{name}={setting(value)}"]
    return Repeat(shlex.join(words), None)


def _fits_a_grid(value: object) -> bool:
    """Whether --set reads it as it is: there a comma begins another value, and what can be JSON is."""
    if not isinstance(value, str):
        return True
    try:
        json.loads(value)
    except ValueError:
        return bool(value) and "," not in value
    return False


def _toml(value: object) -> str:
    # Texts, numbers and truth values, which is all that settings have, are spelt alike.
    return json.dumps(value, ensure_ascii=False)
