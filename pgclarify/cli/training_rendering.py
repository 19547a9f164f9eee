"""The output of train-ambiguity, as pure functions that return rich renderables."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pgclarify.cli.rendering import counted, printable
from pgclarify.evaluation.ambiguity_comparison import Comparison, Figure, Outcome
from pgclarify.evaluation.labelled_log import LabelledLog

_NAMES = {
    "f1": "F1",
    "precision": "precision",
    "recall": "recall",
    "auc": "AUC",
    "calibration_error": "calibration error",
}


def log(read: LabelledLog, used: int) -> Text:
    """Describe the content of a file, and the questions that are left out.

    Args:
        read: The file.
        used: Number of its questions that are used for training or comparing.
    """
    lines = [f"{counted(read.lines, 'line')}, {counted(len(read.questions), 'different question')}."]
    if read.contradicted:
        lines.append(
            f"{counted(read.contradicted, 'question')} with both labels: the one that more lines have counts, and a "
            "question with as many of both is left out."
        )
    if read.foreign:
        lines.append(f"{counted(read.foreign, 'question')} in another language than English left out.")
    if few := len(read.questions) - used:
        kinds = "with or without a history"
        lines.append(f"{counted(few, 'question')} left out: there are too few of their kind, {kinds}.")
    return Text("\n".join(lines))


def comparison(compared: Comparison, before: str) -> RenderableType:
    """Show two versions side by side.

    Args:
        compared: The comparison.
        before: The name of the first version.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", before, "yours", "difference"):
        table.add_column(name, justify="right" if name else "left", no_wrap=True)
    for name, shown in _NAMES.items():
        difference = compared.difference[name]
        table.add_row(shown, _cell(compared.before[name]), _cell(compared.trained[name]), _cell(difference, sign="+"))
    return Group(
        Text(
            f"{counted(compared.questions, 'question')} kept aside, {compared.ambiguous:,} of them ambiguous; "
            "95 % intervals"
        ),
        table,
    )


def _cell(figure: Figure, *, sign: str = "") -> str:
    value, low, high = (format(number, f"{sign}.3f") for number in figure)
    return f"{value} ({low} to {high})"


def stored(outcome: Outcome, corpus: str, version: int, *, is_used: bool) -> Text:
    """Describe the stored version, and how to change whether it is used.

    Args:
        outcome: The trained version with its figures.
        corpus: Name of its corpus.
        version: Its number in that corpus.
        is_used: Whether it judges from now on.
    """
    better = "better than" if outcome.is_to_be_used else "not surely better than"
    what = "what judges now" if outcome.in_use is not None else "the classifier that ships"
    name = printable(corpus).replace("'", "''")
    call = f"select pgclarify.use_ambiguity_classifier('{name}', {'null' if is_used else version});"
    return Text(
        f"Version {version} of {printable(corpus)}, threshold {outcome.trained.threshold:.2f}, is {better} {what}"
        f" by F1, and {'judges from now on' if is_used else 'is not used'}.\n"
        f"{'The classifier that ships judges again' if is_used else 'It judges'} after: {call}"
    )
