"""Renders eval run and eval list: pure functions from data to rich renderables, or to JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pgclarify.cli.rendering import counted, printable
from pgclarify.dialogue import MOST_TURNS
from pgclarify.evaluated import Evaluation, EvaluationPlan, Summary
from pgclarify.evaluation.configurations import EXTRACTIVE
from pgclarify.evaluation.judge_warnings import judge_warnings, unjudged_warnings
from pgclarify.evaluation.metric_names import JUDGED
from pgclarify.evaluation.strata import FEWEST_CASES, count_cases, in_order

if TYPE_CHECKING:
    from pgclarify.evaluation.data_sets import DataSet
    from pgclarify.evaluation.estimate import ConfigurationEstimate
    from pgclarify.evaluation.runner import Finished, Progress

VERDICTS_ARE_CALLS = "Calls of the extractive provider are its verdicts: no language model is called."
_MISSING = "-"
_MOST_REASONS = 3
_MOST_ERROR_CHARS = 300
_MOST_FIELDS = 5
_MOST_NAME_CHARS = 40


def _share(summary: Summary) -> str:
    return f"{100 * summary.value:.1f}"


def _share_with_interval(summary: Summary) -> str:
    if summary.low is None or summary.high is None:
        return _share(summary)
    return f"{_share(summary)} [{100 * summary.low:.0f}, {100 * summary.high:.0f}]"


def _number(summary: Summary) -> str:
    return f"{summary.value:,.1f}"


def _count(summary: Summary) -> str:
    return f"{round(summary.value * summary.cases):,}"


def _whole(summary: Summary) -> str:
    return f"{summary.value:,.0f}"


# Title, metric, format. Shares are in percent.
_Column: TypeAlias = tuple[str, str, Callable[[Summary], str]]
_COLUMNS: Sequence[_Column] = (
    ("readings", "interpretations", _number),
    ("coverage", "answer_coverage", _share_with_interval),
    ("G-P", "grounded_precision", _share),
    ("G-R", "grounded_recall", _share),
    ("G-F1", "grounded_f1", _share),
    ("BLEU", "bleu", _share_with_interval),
    ("asked back", "asked_back", _number),
    ("question F1", "question_f1", _share_with_interval),
    *((f"turn {turn}", f"turn_{turn}_ndcg@10", _share) for turn in range(MOST_TURNS + 1)),
    ("recall@10", "recall@10", _share_with_interval),
    ("nDCG@10", "ndcg@10", _share),
    ("MRecall@10", "mrecall@10", _share),
    ("accuracy", "accuracy", _share_with_interval),
    ("F1", "f1", _share),
    ("avg. precision", "average_precision", _share),
    ("calls", "calls", _number),
    ("retrievals", "retrievals", _number),
    ("input tokens", "prompt_tokens", _whole),
    ("model seconds", "model_seconds", _number),
    ("failed", "failed", _count),
)
# For strata only --json has these: a table has no room for all.
_OF_THE_WHOLE = frozenset({"prompt_tokens", "model_seconds"})
# Shown only if a configuration has nothing but rankings.
_OF_RANKINGS = frozenset({"recall@10", "ndcg@10", "mrecall@10"})


def data_set(given: DataSet, missing: int, corpus: str) -> Text:
    """Describe a data set on one line; fields that are not used stand out.

    Args:
        given: The data set.
        missing: How many documents that it names are not in the corpus.
        corpus: The corpus.
    """
    cases = given.cases
    known = [
        (sum(bool(case.answer_sets) for case in cases), "answers"),
        (sum(bool(case.document_ids) for case in cases), "documents"),
        (sum(case.is_ambiguous is not None for case in cases), "a label"),
        (sum(case.kind is not None for case in cases), "a kind"),
        (sum(case.hops is not None for case in cases), "hops"),
        (sum(bool(case.rewrites) for case in cases), "rewrites"),
        (sum(bool(case.clarifying_questions) for case in cases), "clarifying questions"),
        (sum(case.intent is not None for case in cases), "an intent"),
    ]
    told = ", ".join(f"{count:,} with {what}" for count, what in known if count) or "nothing is known of them"
    text = Text(f"{counted(len(cases), 'question')}; {told}", style="dim")
    if given.unknown_fields:
        names = ", ".join(printable(name[:_MOST_NAME_CHARS]) for name in given.unknown_fields[:_MOST_FIELDS])
        more = len(given.unknown_fields) - _MOST_FIELDS
        text.append(f"; unknown fields: {names}{f' and {more} more' if more > 0 else ''}", style="yellow")
    if missing:
        are = "is" if missing == 1 else "are"
        text.append(f"; {counted(missing, 'document id')} {are} not in {printable(corpus)}", style="yellow")
    return text


def not_linked(unlinked: int | None) -> Text:
    """Warn that searches which follow neighbors find less than they will, or no neighbors at all.

    Args:
        unlinked: How many passages have no neighbors yet; None for a corpus without a graph.
    """
    if unlinked is None:
        return Text(
            "The corpus is distributed, so it has no neighborhood graph: adaptive runs go by the ranking alone.",
            style="yellow",
        )
    have = "has" if unlinked == 1 else "have"
    return Text(
        f"{counted(unlinked, 'passage')} {have} no neighbors yet, so searches that follow neighbors find less than"
        " later. A worker links them: pgclarify status shows how many are linked.",
        style="yellow",
    )


def estimates(given: Sequence[ConfigurationEstimate]) -> RenderableType:
    """Render the cost of each configuration, before the start."""
    table = _table(
        "configuration", "cases", "done", "calls at most", "paid for, at most", "input tokens", "output tokens"
    )
    has_judge = any(one.judge_calls for one in given)
    if has_judge:
        table.add_column("judge's calls, about", justify="right")
    for one in given:
        figures = [one.cases, one.done, one.calls, one.paid, one.prompt_tokens, one.completion_tokens]
        figures += [one.judge_calls] if has_judge else []
        table.add_row(Text(printable(one.configuration.name)), *(f"{figure:,}" for figure in figures))
    parts: list[RenderableType] = [table]
    if any(one.calls or one.judge_calls for one in given):
        measured = max(one.measured_calls for one in given)
        basis = (
            f"from {counted(measured, 'call')} of this model that the ledger has"
            if measured
            else "from the length of passages: the ledger has no such call of this model yet"
        )
        parts.append(Text(f"Tokens are about as many, {basis}. Nothing is paid for twice.", style="dim"))
    if verdicts := sum(one.verdicts for one in given):
        parts.append(Text(f"{counted(verdicts, 'verdict')} at most, none by a language model.", style="dim"))
    elif not any(one.calls or one.judge_calls for one in given):
        parts.append(Text("No call of a language model is made.", style="dim"))
    if any(one.has_uncounted_calls for one in given):
        parts.append(Text("Calls of the reranker behind an endpoint are not counted here, and may cost, too."))
    return Group(*parts)


def finished(given: Sequence[Finished]) -> RenderableType:
    """Render the metrics of each configuration, one row each."""
    summaries = [one.summaries for one in given]
    shown = _shown_columns(summaries)
    table = _table("id", "configuration", *(title for title, _, _ in shown))
    for one in given:
        cells = [write(one.summaries[metric]) if metric in one.summaries else _MISSING for _, metric, write in shown]
        table.add_row(str(one.eval_run_id), Text(printable(one.plan.name)), *cells)
    cases = given[0].plan.planned_cases
    told = (
        f"{counted(cases, 'case')} of {printable(given[0].plan.data_set)} on {printable(given[0].plan.corpus_name)}. "
        "Shares in percent, with 95 % bootstrap intervals over cases; calls, tokens and seconds a case."
    )
    if fewer := _of_fewer_cases(summaries, [(title, metric) for title, metric, _ in shown]):
        told += f" {fewer}"
    if any(f"turn_{MOST_TURNS}_ndcg@10" in one for one in summaries):
        told += " Turns are nDCG@10 of a search with the question as it is after them."
    # Rankings and labels need no judge.
    judged = [one.plan for one in given if not JUDGED.isdisjoint(one.summaries)]
    if judged:
        told += f" Judged by {', '.join(dict.fromkeys(printable(plan.judge) for plan in judged))}."
    if any(one.plan.provider == EXTRACTIVE for one in given):
        told += f" {VERDICTS_ARE_CALLS}"
    parts = [table, Text(told, style="dim"), *_strata(given, shown)]
    unjudged = unjudged_warnings((one.plan.name, one.summaries) for one in given)
    return Group(*parts, *_judge_warnings(judged), *map(_warning, unjudged), *_failures(given))


def _strata(given: Sequence[Finished], shown: Sequence[_Column]) -> list[RenderableType]:
    """Render the metrics of each stratum, one row for each configuration; small strata only as a number of cases."""
    strata = in_order({stratum for one in given for stratum in one.strata})
    if not strata:
        return []
    shown = [column for column in shown if column[1] not in _OF_THE_WHOLE]
    table = _table("stratum", "cases", "id", *(title for title, _, _ in shown), left=(0,))
    for stratum in strata:
        for one in given:
            summaries = one.strata[stratum]
            cases = count_cases(summaries)
            known = summaries if cases >= FEWEST_CASES else {}
            cells = [write(known[metric]) if metric in known else _MISSING for _, metric, write in shown]
            is_first = one is given[0]
            table.add_row(printable(stratum) if is_first else "", f"{cases:,}", str(one.eval_run_id), *cells)
    has_small = any(count_cases(summaries) < FEWEST_CASES for one in given for summaries in one.strata.values())
    told = Text(f"Strata of fewer than {FEWEST_CASES} cases have no figures.", style="dim")
    return [Text(), table, *([told] if has_small else [])]


def _judge_warnings(judged: Iterable[EvaluationPlan]) -> list[Text]:
    return [*map(_warning, judge_warnings(judged))]


def _warning(text: str) -> Text:
    return Text(printable(text), style="yellow")


def _of_fewer_cases(summaries: Sequence[Mapping[str, Summary]], columns: Sequence[tuple[str, str]]) -> str:
    """Name the columns that have fewer cases than others; empty if there are none."""
    of_columns = {title: max(one[metric].cases for one in summaries if metric in one) for title, metric in columns}
    most = max(of_columns.values(), default=0)
    titles: dict[int, list[str]] = {}
    for title, cases in of_columns.items():
        if cases < most:
            titles.setdefault(cases, []).append(title)
    return " ".join(f"Of {counted(cases, 'case')}: {', '.join(those)}." for cases, those in titles.items())


def _shown_columns(summaries: Sequence[Mapping[str, Summary]]) -> list[_Column]:
    has_ranking_alone = any("interpretations" not in one and not _OF_RANKINGS.isdisjoint(one) for one in summaries)
    has_failed = any("failed" in one and one["failed"].value for one in summaries)
    left_out = {*(() if has_ranking_alone else _OF_RANKINGS), *(() if has_failed else ("failed",))}
    return [column for column in _COLUMNS if any(column[1] in one for one in summaries) and column[1] not in left_out]


def _failures(given: Sequence[Finished]) -> list[Text]:
    told = []
    for one in given:
        failed = one.summaries.get("failed")
        if failed is None or not failed.value:
            continue
        count = round(failed.value * failed.cases)
        style = "bold red" if has_failed(one) else "yellow"
        text = Text(f"{counted(count, 'case')} of {printable(one.plan.name)} failed, and counted as nothing", style)
        for error, times in kinds_of_failures(one.failures)[:_MOST_REASONS]:
            text.append(f"\n  {times:,} x {printable(error[:_MOST_ERROR_CHARS])}")
        told.append(text)
    return told


def has_failed(one: Finished) -> bool:
    """Whether every case failed, so that nothing was measured."""
    return "failed" in one.summaries and one.summaries["failed"].value == 1


def kinds_of_failures(failures: Mapping[str, int]) -> list[tuple[str, int]]:
    """Group failures that differ only by numbers: the first of each group, and their number, most frequent first."""
    kinds: dict[str, tuple[str, int]] = {}
    for error, times in failures.items():
        kind = re.sub(r"\d+", "0", error)
        example, before = kinds.get(kind, (error, 0))
        kinds[kind] = (example, before + times)
    return sorted(kinds.values(), key=lambda one: -one[1])


def next_commands(given: Sequence[Finished]) -> Text:
    """Suggest the next commands."""
    text = Text("Next: ", style="dim")
    if len(given) > 1:
        text.append(f"pgclarify eval compare {given[0].eval_run_id} {given[-1].eval_run_id}", style="cyan")
        text.append("  or  ")
    text.append(f"pgclarify eval report {' '.join(str(one.eval_run_id) for one in given)}", style="cyan")
    return text


def calls_of_a_model(one: Finished) -> int:
    """Count the replies of a language model; the extractive provider has none, and counts verdicts."""
    return one.usage.reused_calls if one.plan.provider == EXTRACTIVE else one.usage.calls


def carried_out(one: Finished) -> Text | None:
    """Return remarks on a configuration that its metrics do not show; None if there are none."""
    told = []
    if one.resumed_cases:
        told.append(f"{counted(one.resumed_cases, 'case')} had been judged before.")
    if one.usage.calls and one.plan.provider == EXTRACTIVE:
        told.append(f"{counted(one.usage.calls, 'verdict')}, none by a language model.")
    elif one.usage.calls:
        paid = one.usage.calls - one.usage.reused_calls
        told.append(f"{counted(paid, 'call')} made now, {one.usage.reused_calls:,} before.")
    return Text(f"{printable(one.plan.name)}: {' '.join(told)}") if told else None


def cut_off(plan: EvaluationPlan, progress: Progress | None, *, is_interrupted: bool) -> Text | None:
    """Say how to continue an evaluation that was stopped; None if its error says it.

    Args:
        plan: Its plan.
        progress: Its progress; None if it had not begun.
        is_interrupted: Whether the user stopped it.
    """
    told = []
    if is_interrupted:
        told.append("Interrupted; what is judged and paid for is kept.")
        told.append("The same command goes on with it.")
    if progress is not None and progress.put_off:
        cases = counted(progress.put_off, "case")
        does = "does" if progress.put_off == 1 else "do"
        told.append(f"{cases} over which the server failed {does} not count, and will be asked again.")
    return Text(" ".join(told)) if told else None


def progress_told(progress: Progress) -> str:
    """Return the text beside the bar."""
    if progress.is_summing_up:
        return "working out the metrics"
    told = []
    if progress.calls:
        told.append(f"{progress.calls:,} calls")
    if progress.coverage is not None:
        told.append(f"coverage {100 * progress.coverage:.1f} %")
    if progress.failed:
        told.append(f"{progress.failed:,} failed")
    if progress.put_off:
        told.append(f"{progress.put_off:,} put off")
    return ", ".join(told)


def to_load(corpus: str, paths: Sequence[str], *, is_dry: bool) -> Text:
    """Say what is loaded before the evaluation."""
    when = "Would be loaded" if is_dry else "To be loaded"
    return Text(f"{when} into {printable(corpus)} first: {', '.join(printable(path) for path in paths)}.")


def evaluations(given: Sequence[Evaluation], summaries: Mapping[int, Mapping[str, Summary]]) -> RenderableType:
    """Render evaluations, one row each.

    Args:
        given: In order; at least one.
        summaries: Their metrics, by id and name.
    """
    table = _table(
        "id", "name", "data set", "cases", "method", "coverage", "G-F1", "when", "status", left=(1, 2, 4, 7, 8)
    )
    for one in given:
        known = summaries.get(one.eval_run_id, {})
        cells = [
            _share(known[metric]) if metric in known else _MISSING for metric in ("answer_coverage", "grounded_f1")
        ]
        table.add_row(
            str(one.eval_run_id),
            Text(printable(one.plan.name)),
            Text(printable(one.plan.data_set)),
            f"{one.plan.planned_cases:,}",
            one.plan.method,
            *cells,
            f"{one.created_at:%Y-%m-%d %H:%M}",
            status(one, known.get("failed")),
        )
    judged = (one.plan for one in given if "grounded_f1" in summaries.get(one.eval_run_id, {}))
    return Group(table, *_judge_warnings(judged))


def status(evaluation: Evaluation, failed: Summary | None = None) -> str:
    """Return the state of an evaluation, in words.

    Args:
        evaluation: The evaluation.
        failed: The share of its cases that failed; None if it is unknown.
    """
    if evaluation.finished_at is not None:
        return f"{_count(failed)} failed" if failed is not None and failed.value else "finished"
    return f"{evaluation.done_cases:,} of {evaluation.plan.planned_cases:,} done"


def _table(*titles: str, left: Sequence[int] = ()) -> Table:
    """Make a table with names on the left and figures on the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    names = left or tuple(place for place, title in enumerate(titles) if title == "configuration")
    for place, title in enumerate(titles):
        is_name = place in names
        table.add_column(title, justify="left" if is_name else "right", overflow="fold", no_wrap=not is_name)
    return table


def plan_as_json(plan: EvaluationPlan) -> dict[str, Any]:
    """Return a plan for --json."""
    return {**asdict(plan), "data_set_hash": plan.data_set_hash.hex()}


def metrics_as_json(summaries: Mapping[str, Summary]) -> dict[str, Any]:
    """Return metrics for --json, by their names."""
    return {metric: asdict(summary) for metric, summary in summaries.items()}


def strata_as_json(strata: Mapping[str, Mapping[str, Summary]]) -> dict[str, Any]:
    """Return strata for --json: the metrics of each."""
    return {stratum: metrics_as_json(strata[stratum]) for stratum in in_order(strata)}
