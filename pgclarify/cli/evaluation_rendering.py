"""What eval run and eval list print, as pure functions from data to rich renderables."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pgclarify.cli.rendering import counted, printable
from pgclarify.evaluated import Evaluation, Summary

if TYPE_CHECKING:
    from pgclarify.evaluation.estimate import Estimate
    from pgclarify.evaluation.runner import Finished

_MISSING = "-"
_MOST_REASONS = 3
_MOST_ERROR_CHARS = 300


def _share(summary: Summary) -> str:
    return f"{100 * summary.value:.1f}"


def _share_with_interval(summary: Summary) -> str:
    if summary.low is None or summary.high is None:
        return _share(summary)
    return f"{_share(summary)} [{100 * summary.low:.0f}, {100 * summary.high:.0f}]"


def _number(summary: Summary) -> str:
    return f"{summary.value:,.1f}"


def _whole(summary: Summary) -> str:
    return f"{summary.value:,.0f}"


# Title, metric, how it is written. Shares are in percent.
_COLUMNS: Sequence[tuple[str, str, Callable[[Summary], str]]] = (
    ("readings", "interpretations", _number),
    ("coverage", "answer_coverage", _share_with_interval),
    ("G-P", "grounded_precision", _share),
    ("G-R", "grounded_recall", _share),
    ("G-F1", "grounded_f1", _share),
    ("recall@10", "recall@10", _share),
    ("nDCG@10", "ndcg@10", _share),
    ("accuracy", "accuracy", _share_with_interval),
    ("F1", "f1", _share),
    ("avg. precision", "average_precision", _share),
    ("calls", "calls", _number),
    ("input tokens", "prompt_tokens", _whole),
    ("model seconds", "model_seconds", _number),
)
# Only where a configuration has nothing but a ranking.
_OF_RANKINGS = frozenset({"recall@10", "ndcg@10"})


def estimates(given: Sequence[Estimate]) -> RenderableType:
    """What each configuration will take, before it starts."""
    table = _table(
        "configuration", "cases", "done", "calls at most", "paid for already", "input tokens", "output tokens"
    )
    has_judge = any(one.judge_calls for one in given)
    if has_judge:
        table.add_column("judge's calls at most", justify="right")
    for one in given:
        figures = [one.cases, one.done, one.calls, one.paid, one.prompt_tokens, one.completion_tokens]
        figures += [one.judge_calls] if has_judge else []
        table.add_row(Text(printable(one.configuration.name)), *(f"{figure:,}" for figure in figures))
    parts: list[RenderableType] = [table]
    if any(one.calls for one in given):
        measured = max(one.measured_calls for one in given)
        basis = (
            f"from {counted(measured, 'call')} of this model that the ledger has"
            if measured
            else "from the length of passages: the ledger has no such call of this model yet"
        )
        parts.append(Text(f"Tokens are about as many, {basis}. Nothing is paid for twice.", style="dim"))
    elif not has_judge:
        parts.append(Text("No call of a language model is made.", style="dim"))
    return Group(*parts)


def finished(given: Sequence[Finished]) -> RenderableType:
    """The metrics of each configuration, one row each."""
    summaries = [one.summaries for one in given]
    shown = _shown_columns(summaries)
    table = _table("id", "configuration", *(title for title, _, _ in shown))
    for one in given:
        cells = [write(one.summaries[metric]) if metric in one.summaries else _MISSING for _, metric, write in shown]
        table.add_row(str(one.eval_run_id), Text(printable(one.plan.name)), *cells)
    cases = given[0].plan.planned_cases
    told = (
        f"{counted(cases, 'case')} of {printable(given[0].plan.data_set)} on {printable(given[0].plan.corpus_name)}. "
        "Shares in percent, with 95 % bootstrap intervals over cases; calls, tokens and seconds a case. "
        f"Judged by {', '.join(dict.fromkeys(printable(one.plan.judge) for one in given))}."
    )
    return Group(table, Text(told, style="dim"), *_failures(given))


def _shown_columns(
    summaries: Sequence[Mapping[str, Summary]],
) -> list[tuple[str, str, Callable[[Summary], str]]]:
    has_ranking_alone = any("interpretations" not in one and "recall@10" in one for one in summaries)
    return [
        column
        for column in _COLUMNS
        if any(column[1] in one for one in summaries) and (column[1] not in _OF_RANKINGS or has_ranking_alone)
    ]


def _failures(given: Sequence[Finished]) -> list[Text]:
    told = []
    for one in given:
        failed = one.summaries.get("failed")
        if failed is None or not failed.value:
            continue
        count = round(failed.value * failed.cases)
        text = Text(f"{counted(count, 'case')} of {printable(one.plan.name)} failed, and counted as nothing", "yellow")
        for error, times in [*one.failures.items()][:_MOST_REASONS]:
            text.append(f"\n  {times:,} x {printable(error[:_MOST_ERROR_CHARS])}")
        told.append(text)
    return told


def next_commands(given: Sequence[Finished]) -> Text:
    """What to look at next."""
    text = Text("Next: ", style="dim")
    if len(given) > 1:
        text.append(f"pgclarify eval compare {given[0].eval_run_id} {given[-1].eval_run_id}", style="cyan")
        text.append("  or  ")
    text.append(f"pgclarify eval report {' '.join(str(one.eval_run_id) for one in given)}", style="cyan")
    return text


def interrupted(command: Sequence[str]) -> Text:
    """What becomes of an evaluation that was cut off."""
    text = Text("Interrupted; what was judged and paid for is kept. To go on: ")
    text.append(f"pgclarify {' '.join(shlex.quote(printable(word)) for word in command)}", style="cyan")
    return text


def evaluations(given: Sequence[Evaluation], summaries: Mapping[int, Mapping[str, Summary]]) -> RenderableType:
    """Evaluations, one row each.

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
            status(one),
        )
    return table


def status(evaluation: Evaluation) -> str:
    """How an evaluation stands, in words."""
    if evaluation.finished_at is not None:
        return "finished"
    return f"{evaluation.done_cases:,} of {evaluation.plan.planned_cases:,} done"


def _table(*titles: str, left: Sequence[int] = ()) -> Table:
    """A table whose names stand left and whose figures stand right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold", show_edge=False)
    names = left or tuple(place for place, title in enumerate(titles) if title == "configuration")
    for place, title in enumerate(titles):
        is_name = place in names
        table.add_column(title, justify="left" if is_name else "right", overflow="fold", no_wrap=not is_name)
    return table
