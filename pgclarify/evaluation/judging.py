"""Asks the judge about an output, with no more calls than the metrics need.

docs/methods/evaluation.md describes our choices where the paper is open.

Source: VERDICT, §4.3, §5.1.1 and Appendix A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgclarify.algorithms.metrics import CitationScores, grounded_gold, supported_citation_scores
from pgclarify.evaluated import Case, Output, PredictedInterpretation, Stated
from pgclarify.language.questions import asks_same_words
from pgclarify.model import Passage
from pgclarify.protocols import Judge, Retriever
from pgclarify.vocabulary import RunStatus

_Person = tuple[Stated, ...]
_EVIDENCE = 20
# About 40 MiB of passages.
_MOST_QUESTIONS = 1000


class EvidenceSearch:
    """The passages of the corpus about the question of a case, the same for all methods and settings.

    A judge cannot read the whole corpus. Instead it reads 20 passages of one hybrid search for the question. The
    passages of the latest 1,000 questions are cached for the other configurations of a command.

    Args:
        retriever: Searches the corpus.

    Source: VERDICT, Eq. 19 and 21 (U_q, for a reading that names no passage).
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._found: dict[str, Sequence[Passage]] = {}

    async def __call__(self, case: Case) -> Sequence[Passage]:
        """Search, unless the passages are cached.

        Raises:
            PgclarifyError: If the search failed.
        """
        found = self._found.pop(case.question, None)
        if found is None:
            found = await self._retriever.search(case.question, _EVIDENCE)
            if len(self._found) >= _MOST_QUESTIONS:
                del self._found[next(iter(self._found))]
        self._found[case.question] = found
        return found


@dataclass(frozen=True, slots=True)
class Judgements:
    """The judgements of an output.

    Attributes:
        supported: For each reading, whether the passage that it cites first answers it; for a reading without
            citations, whether the evidence of the case does. V(q̂, p̂).
        relevant: For each reading, whether it is a reading of the question at all.
        answerable: For each reading, whether the same passages answer it with any answer. None if this judge needs the
            answer to decide.
        distinct: Number of readings without near repetitions; 0 if the readings of people are not known.
        human: The readings of people that the output was compared with; empty if none are known.
        human_distinct: Number of these without near repetitions; 0 if the output has no readings to compare.
        covered: For each reading of people, whether it is among the readings. V(q̃, Q̂).
        covered_by_supported: For each reading of people, whether it is among the supported readings.
        gold: Q̄ without repetitions: places in the readings followed by those of people. Empty if no reading is
            supported. None if it is unknown, because this judge can judge no known reading of people.
        citations: For each reading, the quality of its citations; empty if relevant documents are known.
        unjudged: Number of judgements that a model failed to make; None if the judge asks no model.
    """

    supported: tuple[bool, ...] = ()
    relevant: tuple[bool, ...] = ()
    answerable: tuple[bool, ...] | None = None
    distinct: int = 0
    human: tuple[Stated, ...] = ()
    human_distinct: int = 0
    covered: tuple[bool, ...] = ()
    covered_by_supported: tuple[bool, ...] = ()
    gold: tuple[int, ...] | None = None
    citations: tuple[CitationScores, ...] = ()
    unjudged: int | None = None


async def judge_output(case: Case, output: Output, judge: Judge, evidence: Sequence[Passage]) -> Judgements:
    """Ask the judge for all judgements that the metrics need; an output without readings needs none.

    If a judgement that compares the output with the readings of people is missing, the result is that of a case without
    such readings. Otherwise a known reading would count as one that the corpus does not answer, and recall would rise.

    Args:
        case: The question with known answers, readings and documents.
        output: The output of a method for the case. A failed output counts as an empty one.
        judge: The judge.
        evidence: Passages about the question, from EvidenceSearch; not read if there are no readings.
    """
    judge = judge.for_case()
    judgements = await _judge_all(case, output, judge, evidence)
    return replace(judgements, unjudged=judge.unjudged)


async def _judge_all(case: Case, output: Output, judge: Judge, evidence: Sequence[Passage]) -> Judgements:
    readings = given_readings(output)
    people = human_readings(case)
    if not readings:
        human = people[0] if people else ()
        nobody = (False,) * len(human)
        is_known = bool(_judgeable(human, judge))
        return Judgements(
            answerable=None if judge.needs_answers else (),
            human=human,
            covered=nobody,
            covered_by_supported=nobody,
            gold=() if is_known else None,
        )
    stated = [Stated(one.interpretation, (one.answer,) if one.answer else ()) for one in readings]
    supported, citations = await _judge_citations(
        readings, stated, evidence, judge, is_each=not relevant_documents(case)
    )
    relevant = await judge.relevant(case.question, stated)
    answerable = None if judge.needs_answers else await _judge_answerable(readings, supported, evidence, judge)
    alone = Judgements(supported, tuple(relevant), answerable, citations=citations)
    if not people:
        return alone
    unjudged = judge.unjudged
    compared = [_known_by_answer(case.question, one) for one in stated]
    distinct = await judge.distinct(case.question, compared)
    human, covered = await _best_person(case.question, people, compared, judge)
    human_distinct = await judge.distinct(case.question, human)
    by_supported, gold = await _judge_gold(case.question, compared, supported, human, covered, evidence, judge)
    if judge.unjudged != unjudged:
        return alone
    return replace(
        alone,
        distinct=len(distinct),
        human=human,
        human_distinct=len(human_distinct),
        covered=covered,
        covered_by_supported=by_supported,
        gold=gold,
    )


def given_readings(output: Output) -> Sequence[PredictedInterpretation]:
    """Return the readings of an output; none if it failed."""
    return () if output.status is RunStatus.FAILED else output.interpretations


def relevant_documents(case: Case) -> frozenset[str]:
    """Return the documents that are known to be relevant to the question or to one of its readings."""
    of_readings = (document_id for one in case.interpretations for document_id in one.document_ids)
    return frozenset((*case.document_ids, *of_readings))


def human_readings(case: Case) -> list[_Person]:
    """Return the readings that people know, for each person if only answers are known; empty if none are known."""
    if case.interpretations:
        return [tuple(Stated(one.interpretation, one.answers) for one in case.interpretations)]
    people = (tuple(Stated(None, names) for names in golds if names) for golds in case.answer_sets)
    return [person for person in people if person]


def _known_by_answer(question: str, reading: Stated) -> Stated:
    """Return how a reading differs from others: by its answer alone, if its question is the asked one."""
    is_question = reading.interpretation is not None and asks_same_words(question, reading.interpretation)
    return Stated(None, reading.answers) if is_question and reading.answers else reading


def _judgeable(human: _Person, judge: Judge) -> list[int]:
    """Return the places of the readings of people whose support this judge can decide."""
    return [place for place, one in enumerate(human) if any(one.answers) or not judge.needs_answers]


async def _judge_citations(
    readings: Sequence[PredictedInterpretation],
    stated: Sequence[Stated],
    evidence: Sequence[Passage],
    judge: Judge,
    *,
    is_each: bool,
) -> tuple[tuple[bool, ...], tuple[CitationScores, ...]]:
    """Judge whether each reading is supported and, if wanted, the quality of each citation.

    Source: VERDICT, Eq. 19 and Eq. 20.
    """
    cited = [list({one.passage.passage_id: one.passage for one in reading.citations}.values()) for reading in readings]
    shown: list[list[Sequence[Passage]]] = []
    for passages in cited:
        each = passages if is_each else passages[:1]
        shown.append([(passage,) for passage in each] if passages else [evidence])
    alone = await _judge_support(
        [[(one, passages) for passages in claims] for one, claims in zip(stated, shown, strict=True)], judge
    )
    supported = tuple(judged[0] for judged in alone)
    if not is_each:
        return supported, ()
    # If one citation alone supports the reading, all together do.
    unsure = [place for place, judged in enumerate(alone) if len(cited[place]) > 1 and not any(judged)]
    together = await _judge_support([[(stated[place], cited[place])] for place in unsure], judge)
    joint = {place: judged[0] for place, judged in zip(unsure, together, strict=True)}
    return supported, tuple(
        supported_citation_scores(judged if cited[place] else (), together=joint.get(place, False))
        for place, judged in enumerate(alone)
    )


async def _judge_answerable(
    readings: Sequence[PredictedInterpretation], supported: Sequence[bool], evidence: Sequence[Passage], judge: Judge
) -> tuple[bool, ...]:
    """Judge whether the passage that a reading cites first, or else the evidence, answers it; its answer is not shown.

    A reading without an answer is already judged in this way.

    Source: VERDICT, §5.2 and Figure 3.
    """
    answered = [place for place, reading in enumerate(readings) if reading.answer]
    shown = [
        (Stated(readings[place].interpretation), [one.passage for one in readings[place].citations[:1]] or evidence)
        for place in answered
    ]
    judged = await _judge_support([[claim] for claim in shown], judge)
    found = dict(zip(answered, (is_answerable for (is_answerable,) in judged), strict=True))
    return tuple(found.get(place, is_supported) for place, is_supported in enumerate(supported))


async def _judge_support(
    claims: Sequence[Sequence[tuple[Stated, Sequence[Passage]]]], judge: Judge
) -> list[list[bool]]:
    """Judge groups of claims at once. A claim without passages is not supported, and is not asked."""
    asked = [claim for group in claims for claim in group if claim[1]]
    judged = iter(await judge.supports(asked) if asked else [])
    return [[next(judged) if passages else False for _, passages in group] for group in claims]


async def _best_person(
    question: str, people: Sequence[_Person], stated: Sequence[Stated], judge: Judge
) -> tuple[_Person, tuple[bool, ...]]:
    """Return the person whose readings are covered best, and which are covered. On a tie, the one with most readings.

    Source: VERDICT, Eq. 17 and 18.
    """
    everybody = list(dict.fromkeys(reading for person in people for reading in person))
    covered = dict(zip(everybody, await judge.matches(question, everybody, stated), strict=True))

    def worth(person: _Person) -> tuple[float, int]:
        return sum(covered[reading] for reading in person) / len(person), len(person)

    best = max(people, key=worth)
    return best, tuple(covered[reading] for reading in best)


async def _judge_gold(
    question: str,
    stated: Sequence[Stated],
    supported: Sequence[bool],
    human: _Person,
    covered: Sequence[bool],
    evidence: Sequence[Passage],
    judge: Judge,
) -> tuple[tuple[bool, ...], tuple[int, ...] | None]:
    """Return which human readings a supported reading covers, and the grounded gold without repetitions.

    Source: VERDICT, Eq. 21 and 22.
    """
    judgeable = _judgeable(human, judge)
    if not any(supported):
        return (False,) * len(human), () if judgeable else None
    found = [place for place, is_covered in enumerate(covered) if is_covered]
    if found and not all(supported):
        own = [one for one, is_supported in zip(stated, supported, strict=True) if is_supported]
        matched = await judge.matches(question, [human[place] for place in found], own)
        found = [place for place, is_matched in zip(found, matched, strict=True) if is_matched]
    by_supported = tuple(place in found for place in range(len(human)))
    if not judgeable:
        return by_supported, None
    judged = await _judge_support([[(human[place], evidence)] for place in judgeable], judge)
    answered = {place for place, (is_answered,) in zip(judgeable, judged, strict=True) if is_answered}
    gold = grounded_gold(supported, [place in answered for place in range(len(human))])
    if all(place < len(stated) or by_supported[place - len(stated)] for place in gold):
        # The whole gold is covered, so repetitions make no difference.
        return by_supported, tuple(gold)
    everything = (*stated, *human)
    kept = await judge.distinct(question, [everything[place] for place in gold])
    return by_supported, tuple(gold[place] for place in kept)
