"""Where list_answers loses known answers: its kept replies, and those of list_at_once, read again without a call.

python -m benchmarks.listing_losses URL REFERENCE EVALUATION... [--verbose]

URL is the database that has evaluations of list_answers or list_at_once, by id or name, with their runs' replies. It is
only read. Each question is carried out again by the code of this checkout, with the passages that the evaluation found.
The ledger answers the requests. A question is left out if an evaluation lacks it, if the corpus no longer has one of
these passages, or if the ledger lacks a reply, for example because a prompt or a rule of the rounds has changed. The
tables show for each evaluation

- what replies are like, why their answers are refused, and how many of these answers are known;
- F1 as a chain of losses: of a list of all known answers that the passages have, of the known answers that replies
  name, of all answers that replies name, and of those that are proven. Each is without the losses after it. Only the
  list without a proof is a guess: with other answers in the list, list_answers would have sent other requests;
- F1 beyond that of REFERENCE, as `pgclarify eval compare` computes it.

--verbose prints each refused answer that is known.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from psycopg.conninfo import make_conninfo
from rich.console import Console
from rich.table import Table

from benchmarks.figures import mean_of
from benchmarks.listing_replay import FIRST, LATER, ONE_BY_ONE, SECOND, Listed, Proposal, different, read
from pgclarify.database.evaluations import EvaluationTables
from pgclarify.database.pool import open_pool
from pgclarify.evaluated import Evaluation
from pgclarify.evaluation.paired_metrics import compare_metric

_F1: Final = "answer_f1"


def counts(listed: Sequence[Listed], method: str, refusals: Sequence[str]) -> dict[str, str]:
    """Count replies and their answers; refusals: the reasons that any of the evaluations has."""
    replies = [reply for one in listed for reply in one.replies]
    named = Counter(
        min(len(different(one.answer for one in reply.proposals)), 2)
        for reply in replies
        if reply.proposals is not None
    )
    proposals = [one for question in listed for one in question.proposals]
    refused = Counter(one.refusal for one in proposals if one.refusal is not None)
    new = sum(len(one.given if method == ONE_BY_ONE else one.named(proven=True)) for one in listed)
    rows: dict[str, object] = {
        "questions": len(listed),
        "  with the same answers as then": sum(one.is_as_stored for one in listed),
        "windows": sum(one.windows for one in listed),
        "replies": len(replies),
        "  with no answer": named[0],
        "  with one answer": named[1],
        "  with several different answers": named[2],
        "  that could not be read": len(replies) - named.total(),
        "answers in them": len(proposals),
        "  proven and new": new,
        "  proven, but found before": len(proposals) - refused.total() - new,
        **{f"  refused: {reason}": refused[reason] for reason in refusals},
        "different answers of a question": sum(len(one.named(proven=False)) for one in listed),
        "known answers that are refused": len(missed(listed)),
        "  the passage that they name has them": sum(
            any(one.is_in_passage for one in proposals) for proposals in missed(listed).values()
        ),
    }
    if method == ONE_BY_ONE:
        rounds = [(question, *row) for question in listed for row in question.rounds()]
        for kind in (FIRST, LATER, SECOND):
            brought = [(question, answers) for question, other, answers in rounds if other == kind]
            known = sum(question.is_known(answer) for question, answers in brought for answer in answers)
            added = sum(len(answers) for _, answers in brought)
            rows[f"{kind}: new answers, known ones"] = f"{len(brought)}: {added}, {known}"
    return {name: str(value) for name, value in rows.items()}


def missed(listed: Sequence[Listed]) -> dict[tuple[int, str], list[Proposal]]:
    """The refused answers of which the list of proven ones lacks a known answer, by question and answer."""
    found: dict[tuple[int, str], list[Proposal]] = {}
    for question in listed:
        proven = question.named(proven=True)
        for one in question.proposals:
            if one.refusal is not None and question.f1([*proven, one.answer]) > question.f1(proven):
                found.setdefault((question.case.ordinal, one.answer), []).append(one)
    return found


F1S: Final[Mapping[str, Callable[[Listed], Sequence[str]]]] = {
    "all known answers in the passages": Listed.standing,
    "known answers in replies": lambda one: [answer for answer in one.named(proven=False) if one.is_known(answer)],
    "all answers in replies": lambda one: one.named(proven=False),
    "proven answers": lambda one: one.named(proven=True),
    "what the method gave": lambda one: one.given,
}


def gained(reference: Sequence[Listed], other: Sequence[Listed], choose: Callable[[Listed], Sequence[str]]) -> str:
    """The F1 of an evaluation beyond that of the reference, on the same questions."""
    pairs = [
        ({_F1: one.f1(choose(one))}, {_F1: same.f1(choose(same))}) for one, same in zip(reference, other, strict=True)
    ]
    compared = compare_metric(_F1, pairs)
    assert compared is not None
    return f"{compared.difference:+.2f} ({compared.low:+.2f} to {compared.high:+.2f}), p {compared.p_value:.2f}"


def tables(evaluations: Mapping[str, tuple[Evaluation, list[Listed]]]) -> list[Table]:
    """Make the tables of counts and of F1; the first evaluation is the reference."""
    replies = Table("what", *evaluations)
    questions = [question for _, listed in evaluations.values() for question in listed]
    refusals = sorted({one.refusal for question in questions for one in question.proposals if one.refusal is not None})
    columns = [counts(listed, evaluation.plan.method, refusals) for evaluation, listed in evaluations.values()]
    for name in dict.fromkeys(name for column in columns for name in column):
        replies.add_row(name, *(column.get(name, "") for column in columns))
    made = [replies]
    for part, is_several in (("all questions", False), ("several answers", True)):
        chosen = {
            name: [one for one in listed if one.has_several or not is_several]
            for name, (_, listed) in evaluations.items()
        }
        (_, reference), *others = chosen.items()
        if not reference:
            continue
        f1s = Table(f"F1, {part}: {len(reference)}", *chosen)
        for name, choose in F1S.items():
            f1s.add_row(name, *(mean_of([one.f1(choose(one)) for one in listed]) for listed in chosen.values()))
            f1s.add_row("  beyond the reference", "", *(gained(reference, other, choose) for _, other in others))
        made.append(f1s)
    return made


def _case_id(one: Listed) -> str:
    return one.case.case_id


def _label(one: Evaluation) -> str:
    settings = (f"{name} {value}" for name, value in sorted(one.plan.settings.items()))
    return ", ".join((f"{one.eval_run_id}: {one.plan.method}", *settings))


async def _main(given: argparse.Namespace) -> None:
    async with open_pool(make_conninfo(given.url, options="-c default_transaction_read_only=on")) as pool:
        stored = EvaluationTables(pool)
        found = [await read(stored, reference) for reference in (given.reference, *given.evaluations)]
    there = set[str].intersection(*({one.case.case_id for one in listed} for _, listed in found))
    if not there:
        raise SystemExit("there is no question of which the ledger has all replies in each of these evaluations")
    evaluations = {
        _label(evaluation): (evaluation, sorted((one for one in listed if one.case.case_id in there), key=_case_id))
        for evaluation, listed in found
    }
    console = Console(width=60 + 32 * len(evaluations))
    console.print(*tables(evaluations))
    if given.verbose:
        for name, (_, listed) in evaluations.items():
            questions = {one.case.ordinal: one.case.question for one in listed}
            for (ordinal, answer), proposals in missed(listed).items():
                for one in proposals:
                    print(f"{name}: {questions[ordinal]}\n  {answer}: {one.refusal}: {one.quote}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="the database")
    parser.add_argument("reference", help="id or name of the evaluation that the others are compared with")
    parser.add_argument("evaluations", nargs="+", help="id or name")
    parser.add_argument("--verbose", action="store_true", help="print each refused answer that is known")
    asyncio.run(_main(parser.parse_args()))
