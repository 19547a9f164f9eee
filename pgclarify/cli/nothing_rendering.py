"""What the command line says where no answer was found: why, what helps, and what comes closest."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from pgclarify.cli.rendering import Indented, Row, counted, place, printable

# Characters of a passage that are shown.
_LONGEST_EXCERPT = 300


def nothing_found(
    question: str,
    corpus: str | None,
    *,
    run: Row | None,
    why: Row | None,
    passages: Sequence[Row],
    pending: int,
) -> RenderableType:
    """Say plainly that nothing was found, whether the corpus is known to have no answer, and what comes closest.

    Args:
        question: As it was asked.
        corpus: As it was named.
        run: As statement cli_find_run has it; None if the run is not known.
        why: As statement cli_get_stop_code has it; None if the run has no code.
        passages: As statement client_closest_passages has them, best first.
        pending: Documents of the corpus that cannot be searched yet.
    """
    where = f"the corpus {printable(corpus)}" if corpus else "this corpus"
    asked = f'"{printable(question)}"'
    text = Text()
    if run is not None and run["stop_code"] == "not_answered":
        text.append(
            "The one passage that was" if run["judged"] == 1 else f"None of the {run['judged']:,} passages that were"
        )
        answers = "does not answer a" if run["judged"] == 1 else "answers any"
        text.append(f" looked at in {where} {answers} reading of {asked}.\n")
    else:
        text.append(f"No answer to {asked} could be read out of {where}. It may hold one all the same.\n")
    if pending:
        text.append(f"{counted(pending, 'document')} of it cannot be searched yet: ask again in a moment.\n", "yellow")
    if why is not None:
        text.append(f"Why: {printable(why['meaning'])} ({printable(why['stop_code'])}).\n", "yellow")
        text.append(f"What helps: {printable(why['help'])}\n")
    text.rstrip()
    return Group(text, *closest_passages(passages))


def closest_passages(passages: Sequence[Row]) -> list[RenderableType]:
    """Passages that the search ranks first, where no answer was found: document, score and the beginning of the text.

    Args:
        passages: As statement client_closest_passages has them.
    """
    if not passages:
        return []
    parts: list[RenderableType] = [
        Text("\nWhat comes closest, by the search alone; these are no answers:", style="bold")
    ]
    for row in passages:
        lead = Text(f"  {row['rank']}. ", style="bold")
        source = Text.assemble((printable(row["document_id"]), "cyan"), f"  {printable(place(row))}".rstrip())
        source.append(f"  (score {row['score']:.4f})", style="dim")
        excerpt = printable(row["content"])
        if len(excerpt) > _LONGEST_EXCERPT:
            excerpt = excerpt[:_LONGEST_EXCERPT].rpartition(" ")[0] + " ..."
        parts.extend([Indented(lead, source), Indented(Text(" " * lead.cell_len), Text(excerpt, style="italic"))])
    return parts


def not_looked_at(run: Row, passages: Sequence[Row]) -> RenderableType:
    """A plain sentence where a run found nothing and did not look at all that it would have.

    Args:
        run: As statement cli_find_run has it: a partial one.
        passages: As statement client_closest_passages has them, best first.
    """
    how = "Looked at in part" if run["judged"] else "Not looked at"
    reason = printable(run["stop_reason"]) if run["is_over_budget"] else "calls of the model failed"
    text = Text(f"{how}: {reason}; {run['judged']:,} of {counted(run['candidates'], 'passage')} judged", style="yellow")
    text.append(", and none of those answers it.\n" if run["judged"] else ".\n")
    text.append("Asked again, it pays for what is missing alone. See ", style="default")
    if run["is_over_budget"]:
        text.append("what is left of budgets: pgclarify status", style="default")
    else:
        text.append(f"why: pgclarify explain {run['run_id']}", style="default")
    return Group(text, *closest_passages(passages))
