"""Renders a run without answers: why, what helps, and the closest passages."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pgclarify.cli.rendering import Row, counted, passage, printable


def nothing_found(
    question: str,
    corpus: str | None,
    *,
    run: Row,
    passages: Sequence[Row],
    pending: int,
) -> RenderableType:
    """Say that nothing was found, whether the corpus certainly has no answer, and what comes closest.

    Args:
        question: The question.
        corpus: The corpus, as it was named.
        run: The run, from `CommandClient.runs`.
        passages: Rows of `Client.closest_passages`, best first.
        pending: How many documents of the corpus are not searchable yet.
    """
    where = f"the corpus {printable(corpus)}" if corpus else "this corpus"
    asked = f'"{printable(question)}"'
    text = Text()
    if run["stop_code"] == "not_answered" and run["judged"]:
        text.append(
            "The one passage that was" if run["judged"] == 1 else f"None of the {run['judged']:,} passages that were"
        )
        answers = "does not answer a" if run["judged"] == 1 else "answers any"
        text.append(f" looked at in {where} {answers} reading of {asked}.\n")
    else:
        text.append(f"No answer to {asked} was found in {where}. The documents may still have one.\n")
    if pending:
        text.append(
            f"{counted(pending, 'document')} of this corpus cannot be searched yet: ask again in a moment.\n", "yellow"
        )
    if run["meaning"] is not None:
        text.append(f"Why: {printable(run['meaning'])} ({printable(run['stop_code'])}).\n", "yellow")
        text.append(f"What helps: {printable(run['help'])}\n")
    text.rstrip()
    return Group(text, *closest_passages(passages))


def closest_passages(passages: Sequence[Row]) -> list[RenderableType]:
    """Render the best passages of the search: document, score and the beginning of the text.

    Args:
        passages: Rows of `Client.closest_passages`.
    """
    if not passages:
        return []
    return [
        Text("\nPlaces to look: the passages that come closest, from which no answer was read:", style="bold"),
        *(part for row in passages for part in passage(row)),
    ]


def not_looked_at(run: Row, passages: Sequence[Row]) -> RenderableType:
    """Say that a run found nothing and did not judge all passages.

    Args:
        run: A partial run, from `CommandClient.runs`.
        passages: Rows of `Client.closest_passages`, best first.
    """
    is_over_budget = run["stop_code"] == "budget"
    how = "Looked at in part" if run["judged"] else "Not looked at"
    reason = printable(run["stop_reason"]) if is_over_budget else "calls of the model failed"
    text = Text(f"{how}: {reason}; {run['judged']:,} of {counted(run['candidates'], 'passage')} judged", style="yellow")
    text.append(", and none of those answers it.\n" if run["judged"] else ".\n")
    text.append("If you ask again, only the missing calls are paid. See ", style="default")
    if is_over_budget:
        text.append("what is left of budgets: pgclarify doctor", style="default")
    else:
        text.append(f"why: pgclarify explain {run['run_id']}", style="default")
    return Group(text, *closest_passages(passages))
