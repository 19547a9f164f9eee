"""Renders eval compare: settings that differ, metrics side by side, and the cases that changed.

Questions, answers, passages and names come from data sets, models and users. They reach the terminal only through
`printable`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from pgclarify.cli.evaluation_rendering import VERDICTS_ARE_CALLS
from pgclarify.cli.rendering import Indented, counted, printable
from pgclarify.evaluated import EvaluatedCase, Evaluation
from pgclarify.evaluation.changes import Change, ReadingChange, is_known, known_answers, reading_changes, readings
from pgclarify.evaluation.comparison import Comparison, PairedCase, StratumComparison
from pgclarify.evaluation.configurations import EXTRACTIVE
from pgclarify.evaluation.metric_names import NEITHER_IS_BETTER
from pgclarify.evaluation.paired_metrics import Direction, MetricComparison
from pgclarify.evaluation.strata import FEWEST_CASES
from pgclarify.vocabulary import RunStatus

_WHOLE_NUMBERS = frozenset({"prompt_tokens", "completion_tokens"})
_AMOUNTS = frozenset({"interpretations", "calls", "retrievals", "model_seconds", "seconds"})
_STYLES = {
    Direction.BETTER: "green",
    Direction.WORSE: "red",
    Direction.MORE: "yellow",
    Direction.LESS: "yellow",
    Direction.MAY_BE_CHANCE: "dim",
}
_MARKS = {Change.GONE: ("-", "red"), Change.NEW: ("+", "green"), Change.ANSWERED_OTHERWISE: ("~", "yellow")}
# In a narrower terminal, a metric takes two lines instead of a row of eight cells.
_TABLE_WIDTH = 104
_MOST_QUOTE_CHARS = 200
_MOST_KNOWN = 12
_MOST_READINGS = 10


def value(metric: str, number: float, *, signed: bool = False) -> str:
    """Format a metric's value with its significant digits."""
    sign = "+" if signed else ""
    if metric in _WHOLE_NUMBERS:
        return format(number, f"{sign},.0f")
    return format(number, f"{sign},.{2 if metric in _AMOUNTS else 3}f")


def head(comparison: Comparison) -> RenderableType:
    """Render what is compared, and what differs between the two."""
    parts: list[RenderableType] = [_side("A", comparison.first), _side("B", comparison.second)]
    if comparison.differing:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("differs", "A", "B"):
            table.add_column(name, overflow="fold")
        for one in comparison.differing:
            table.add_row(printable(one.name), _setting(one.first), _setting(one.second))
        parts += [Text(), table]
    if EXTRACTIVE in (comparison.first.plan.provider, comparison.second.plan.provider):
        parts += [Text(), Text(VERDICTS_ARE_CALLS, style="dim")]
    return Group(*parts, Text())


def _side(label: str, evaluation: Evaluation) -> Indented:
    plan = evaluation.plan
    text = Text(f"{evaluation.eval_run_id} ")
    text.append(printable(plan.name), style="bold")
    text.append(
        f": {printable(plan.method)} on {printable(plan.data_set)}, {counted(evaluation.done_cases, 'case')}, "
        f"{evaluation.created_at:%Y-%m-%d %H:%M}"
    )
    return Indented(Text(f"{label}  ", style="bold cyan"), text)


def _setting(given: object) -> Text:
    if given is None:
        return Text("-", style="dim")
    return Text(printable(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)))


@dataclass(frozen=True, slots=True)
class Metrics:
    """Metrics side by side: a table if there is room for one, else two lines each.

    Attributes:
        metrics: At least one.
        pairs: How many cases both sides have.
    """

    metrics: Sequence[MetricComparison]
    pairs: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"{counted(self.pairs, 'case')} that both have; differences are B - A, with 95 % intervals\n")
        has_counts = any(one.cases != self.pairs for one in self.metrics)
        rows = [(one.metric, one.cases if has_counts else None, one) for one in self.metrics]
        yield from _side_by_side("metric", rows, options.max_width)


@dataclass(frozen=True, slots=True)
class Strata:
    """A metric within each stratum, side by side, in the same form.

    Attributes:
        metric: Its name.
        strata: At least one.
    """

    metric: str
    strata: Sequence[StratumComparison]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        small = f"; strata of fewer than {FEWEST_CASES} cases have no figures"
        has_small = any(one.cases < FEWEST_CASES for one in self.strata)
        yield Text(f"\n{printable(self.metric)} by stratum{small if has_small else ''}\n")
        rows = [(one.stratum, one.metric.cases if one.metric else one.cases, one.metric) for one in self.strata]
        yield from _side_by_side("stratum", rows, options.max_width)


def _side_by_side(
    title: str, rows: Sequence[tuple[str, int | None, MetricComparison | None]], width: int
) -> Iterable[RenderableType]:
    """Return the comparison, with a label and a number of cases; None if there is nothing to show."""
    if width < _TABLE_WIDTH:
        for label, cases, one in rows:
            yield from _two_lines(label, cases, one)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title)
    for name in ("A", "B", "B - A", "95 % interval", "won/lost/tied", "p"):
        table.add_column(name, justify="right")
    table.add_column("")
    if any(cases is not None for _, cases, _ in rows):
        table.add_column("cases", justify="right")
    for label, cases, one in rows:
        cells = [Text("-")] * 6 + [Text()] if one is None else _cells(one)
        table.add_row(printable(label), *cells, *([] if cases is None else [f"{cases:,}"]))
    yield table


def _cells(one: MetricComparison) -> list[Text]:
    style = _STYLES[one.verdict]
    return [
        Text(value(one.metric, one.first)),
        Text(value(one.metric, one.second)),
        Text(value(one.metric, one.difference, signed=True), style=style),
        Text(_interval(one)),
        Text(_won(one)),
        Text(_probability(one.p_value)),
        Text(one.verdict, style=style),
    ]


def _two_lines(label: str, cases: int | None, one: MetricComparison | None) -> Iterable[RenderableType]:
    of_cases = "" if cases is None else f", {counted(cases, 'case')}"
    if one is None:
        yield Text.assemble((printable(label), "bold"), of_cases)
        return
    style = _STYLES[one.verdict]
    yield Text.assemble(
        (printable(label), "bold"),
        of_cases,
        f"  {value(one.metric, one.first)} -> {value(one.metric, one.second)}  ",
        (one.verdict, style),
    )
    told = [f"{value(one.metric, one.difference, signed=True)} {_interval(one)}", f"p {_probability(one.p_value)}"]
    if one.wins is not None:
        up, down = ("more", "less") if one.metric in NEITHER_IS_BETTER else ("won", "lost")
        told.append(f"{up} {one.wins:,}, {down} {one.losses:,}, tied {one.ties:,}")
    yield Indented(Text("  "), Text("; ".join(told)))


def _interval(one: MetricComparison) -> str:
    low, high = (value(one.metric, end, signed=True) for end in (one.low, one.high))
    return f"[{low}, {high}]"


def _won(one: MetricComparison) -> str:
    if one.wins is None:
        return "-"
    # No winner is marked for a metric without a better direction.
    up, down = ("+", "-") if one.metric in NEITHER_IS_BETTER else ("", "")
    return f"{up}{one.wins:,}/{down}{one.losses:,}/{one.ties:,}"


def _probability(p_value: float) -> str:
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def equal_metrics(names: Sequence[str]) -> Text:
    """Name the metrics that are equal."""
    return Text(f"Equal in every case: {', '.join(printable(name) for name in names)}.", style="dim")


def changed_cases(pairs: Sequence[PairedCase], metric: str) -> RenderableType:
    """Render the cases that changed most, with the outputs of both sides.

    Args:
        pairs: Most changed first.
        metric: The metric of this order.
    """
    if not pairs:
        return Text(f"\nNo case changed: neither its {printable(metric)} nor how many readings it has.")
    parts: list[RenderableType] = [Text(f"\nChanged most, by {printable(metric)}", style="bold")]
    for pair in pairs:
        parts += [Text(), *_question(pair), Indented(Text("   "), _change_of(pair, metric)), *_known(pair.first.gold)]
        parts += _readings(pair, is_whole=False)
    return Group(*parts)


def whole_case(pair: PairedCase) -> RenderableType:
    """Render one case completely: known answers, both outputs with all citations, retrieved passages, all metrics."""
    parts: list[RenderableType] = [*_question(pair), *_known(pair.first.gold), *_readings(pair, is_whole=True), Text()]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric")
    for name in ("A", "B", "B - A"):
        table.add_column(name, justify="right")
    for name in dict.fromkeys((*pair.first.values, *pair.second.values)):
        one, other = pair.first.values.get(name), pair.second.values.get(name)
        shown = ["-" if number is None else value(name, number) for number in (one, other)]
        difference = "" if one is None or other is None else value(name, other - one, signed=True)
        table.add_row(printable(name), *shown, difference)
    parts.append(table)
    parts.append(Text())
    for label, case in (("A", pair.first), ("B", pair.second)):
        parts += [*_retrieved(label, case, set(map(str, pair.first.gold.get("document_ids", ()))))]
    return Group(*parts)


def _question(pair: PairedCase) -> Iterable[RenderableType]:
    question = Text(f'"{printable(pair.first.question)}"', style="bold")
    yield Indented(Text("   "), question.append(f"  case {printable(pair.first.case_id)}", style="dim not bold"))


def _change_of(pair: PairedCase, metric: str) -> Text:
    text = Text()
    one, other = pair.first.values.get(metric), pair.second.values.get(metric)
    if one is not None and other is not None and metric != "interpretations":
        text.append(f"{printable(metric)} {value(metric, one)} -> {value(metric, other)}, ")
    return text.append(f"readings {len(readings(pair.first))} -> {len(readings(pair.second))}")


def _known(gold: Mapping[str, Any]) -> Iterable[RenderableType]:
    stated = [one for one in gold.get("interpretations", ()) if one.get("interpretation")]
    known = known_answers(gold)
    label = Text("   known: ", style="cyan")
    if not (stated or known):
        return
    lines = [
        f"{printable(one['interpretation'])}  {_spellings(one.get('answers', ()))}" for one in stated[:_MOST_KNOWN]
    ] or [_spellings(names) for names in known[:_MOST_KNOWN]]
    left_out = len(stated or known) - len(lines)
    for line in (*lines, *([f"and {left_out} more"] if left_out else ())):
        yield Indented(label, Text(line))
        label = Text(" " * label.cell_len)


def _spellings(names: Iterable[str]) -> str:
    return " / ".join(printable(name) for name in names)


def _readings(pair: PairedCase, *, is_whole: bool) -> Iterable[RenderableType]:
    for label, case in (("A", pair.first), ("B", pair.second)):
        if case.status is RunStatus.FAILED:
            yield Indented(Text("   "), Text(f"{label} failed: {printable(case.error or 'reason unknown')}", "red"))
        elif not readings(case):
            yield Indented(Text("   "), Text(f"{label} gave no reading.", style="yellow"))
    known = known_answers(pair.first.gold)
    changes = reading_changes(readings(pair.first), readings(pair.second), known)
    shown = changes if is_whole else changes[:_MOST_READINGS]
    for change in shown:
        yield from _reading(change, known, is_whole=is_whole)
    if len(shown) < len(changes):
        left_out = f"and {counted(len(changes) - len(shown), 'reading')} more: --case {pair.first.case_id}"
        yield Indented(Text("   "), Text(printable(left_out), style="dim"))


def _reading(change: ReadingChange, known: Sequence[Sequence[str]], *, is_whole: bool) -> Iterable[RenderableType]:
    mark, style = _MARKS.get(change.change, (" ", "dim"))
    shown = change.second or change.first or {}
    text = Text(printable(shown["interpretation"]), style=style)
    text.append(f"  {change.change}{_support(change)}", style="dim")
    yield Indented(Text(f" {mark} ", style=style), text)
    sides = [("A", change.first), ("B", change.second)]
    compared = ("answer", "citations") if is_whole else ("answer",)
    if not (change.first and change.second) or all(change.first.get(n) == change.second.get(n) for n in compared):
        sides = [("", shown)]
    for label, side in sides:
        if side is None:
            continue
        margin = f"     {label}: " if label else "     "
        yield Indented(Text(margin), _answer(side, known))
        citations = side.get("citations", ())
        # A reading that both have needs no citations, unless the user wants to see everything.
        for citation in citations if is_whole else citations[: change.change is not Change.KEPT]:
            yield Indented(Text(" " * len(margin)), _citation(citation, is_whole=is_whole))


def _support(change: ReadingChange) -> str:
    """Say how many documents supported it before and now, if that changed."""
    if change.first is None or change.second is None:
        return ""
    before, after = (side.get("support", 0) for side in (change.first, change.second))
    return "" if before == after else f", support {before} -> {after}"


def _answer(reading: Mapping[str, Any], known: Sequence[Sequence[str]]) -> Text:
    answer = reading.get("answer")
    if not answer:
        return Text("no answer", style="dim")
    text = Text(printable(answer))
    if is_known(reading, known):
        text.append(" (known)", style="bold green")
    if reading.get("is_grounded") is False:
        text.append(" (not what its passages say)", style="yellow")
    return text


def _citation(citation: Mapping[str, Any], *, is_whole: bool) -> Text:
    text = Text(printable(str(citation.get("document_id"))), style="cyan")
    for part in (citation.get("title"), citation.get("quote")):
        if part:
            line = printable(part)
            is_cut = not is_whole and len(line) > _MOST_QUOTE_CHARS
            line = line[:_MOST_QUOTE_CHARS] + "…" if is_cut else line
            text.append(f'  "{line}"' if part is citation.get("quote") else f"  {line}", style="italic dim")
    return text


def _retrieved(label: str, case: EvaluatedCase, relevant: set[str]) -> Iterable[RenderableType]:
    told = [f"{label}: {case.status}"]
    if case.run_id is not None:
        told.append(f"run {case.run_id} (pgclarify explain {case.run_id})")
    told += [f"{name.replace('_', ' ')} {printable(str(note))}" for name, note in _notes(case)]
    yield Indented(Text("   "), Text("; ".join(told)))
    documents = list(dict.fromkeys(str(one.get("document_id")) for one in case.output.get("retrieved", ())))
    if documents:
        text = Text("retrieved ")
        for place, document in enumerate(documents):
            is_relevant = document in relevant
            text.append(", " if place else "")
            text.append(printable(document), style="bold green" if is_relevant else "")
            text.append(" (relevant)" if is_relevant else "", style="green")
        yield Indented(Text("   "), text)


def _notes(case: EvaluatedCase) -> Iterable[tuple[str, Any]]:
    """Yield the short notes of a method on a case."""
    if case.output.get("probability") is not None:
        yield "probability", f"{case.output['probability']:.2f}"
    if questions := case.output.get("questions"):
        yield "questions", " / ".join(questions)
    for name, note in case.output.get("notes", {}).items():
        if isinstance(note, str | int | float):
            yield printable(name), note
