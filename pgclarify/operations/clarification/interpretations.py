"""From verdicts to interpretations: group the readings; the medoid of each group represents it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pgclarify.algorithms.consolidation import Density, consolidate
from pgclarify.data.citations import Citation
from pgclarify.data.documents import Passage
from pgclarify.data.interpretations import Cluster, Interpretation
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Refusal, Verdict
from pgclarify.data.vocabulary import Level, Outcome, StopCode
from pgclarify.language.english.contradictions import relate_readings
from pgclarify.language.english.reading.asked import Asked
from pgclarify.language.english.reading.question_terms import with_synonyms
from pgclarify.language.english.telling_apart import Apart, Place, are_siblings, tell_apart
from pgclarify.language.english.words import content_stems
from pgclarify.language.relations import Relation
from pgclarify.operations.clarification.contested import Contender, newest_first, without_older
from pgclarify.operations.context import Ending, RunContext
from pgclarify.operations.judging.ending import ending_of, failure_of


@dataclass(frozen=True, slots=True)
class _Bounds:
    """How sure the best reading must be, where none is likely, and how probable a standing is.

    docs/methods/consolidation.md describes the data that they were chosen on.

    Attributes:
        unsure: The least standing of the best reading.
        unsure_in_words: The same, if its passage has all words of the question.
        constant: The log-odds that a reading with standing 0 is right.
        factor: What the standing adds to them.
    """

    unsure: float
    unsure_in_words: float
    constant: float
    factor: float


_OF_FEW_WORDS: Final = _Bounds(unsure=-1.35, unsure_in_words=-3.0, constant=0.32, factor=0.71)
_OF_WHOLE_QUESTIONS: Final = _Bounds(unsure=-0.4, unsure_in_words=-0.4, constant=-0.17, factor=0.63)
# From these standings on, a reading has the level, and is shown.
_CERTAIN_FROM: Final = 0.8
_LIKELY_FROM: Final = -0.2
# What a heading in the words of the question adds to the standing.
_NEARNESS: Final = 1.5
# The probability of a reading without a score, beside others that have one: what stands below the same question.
_CERTAIN: Final = 0.95
# Probabilities are kept from 0 and 1, where they have no log-odds.
_LEAST_PROBABILITY: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Grounded:
    """A grounded verdict: the attributes of `Verdict` that are always set, and its passage."""

    passage: Passage
    rank: int
    interpretation: str
    answer: str
    quote: str
    start_char: int
    end_char: int
    score: float | None = None
    doubt: Refusal | None = None
    reading_ordinal: int = 1
    completion_id: int | None = None

    @classmethod
    def of(cls, passage: Passage, verdict: Verdict) -> Grounded:
        """Convert a verdict.

        Raises:
            ValueError: If it is not grounded.
        """
        match verdict:
            case Verdict(
                interpretation=str(interpretation),
                answer=str(answer),
                quote=str(quote),
                start_char=int(start_char),
                end_char=int(end_char),
            ):
                return cls(
                    passage,
                    verdict.rank,
                    interpretation,
                    answer,
                    quote,
                    start_char,
                    end_char,
                    verdict.score,
                    verdict.doubt_code,
                    verdict.reading_ordinal,
                    verdict.completion_id,
                )
            case _:
                raise ValueError(f"the verdict on candidate {verdict.rank} is not grounded")


def reading_text(interpretation: str, answer: str) -> str:
    """Return the text of a reading to embed: f(interpretation; answer).

    Source: VERDICT, Algorithm 1, line 8.
    """
    return f"{interpretation} {answer}"


async def interpret(run: Run, grounded: Sequence[Grounded], vectors: NDArray[np.float32]) -> list[Interpretation]:
    """Consolidate grounded verdicts, off the event loop.

    Args:
        run: The run. settings["consolidation"] is default; conservative, which shows only readings of level certain;
            or hdbscan, whose parameters are settings, too. settings["singletons"] is keep (the default) or drop, which
            removes readings that only one document supports, unless none would be left. With settings["prefer"] newest,
            readings that a newer one contests are left out, and counted.
        grounded: By rank.
        vectors: float32, shape (len(grounded), n_dims), rows of unit length: the readings' embeddings.

    Returns:
        Those that a check doubts come last. Of the others, those come first that a model called the most likely in a
        reply about several passages, which saw them side by side; then those whose heading is nearest to the question,
        then by falling support (distinct documents), then by best rank. Where the judge of sentences has read, the
        standing decides, which counts all of these. After them come those that the run does not show.
        Of those that contest each other, the newest comes first. In each, the citation of the medoid comes first; the
        others follow by rank, one for each passage. Readings in the same words are told apart.

    Source: VERDICT, §4.2 and Algorithm 1, lines 8-13.
    """
    return await asyncio.to_thread(_interpret, run, grounded, vectors)


def _interpret(run: Run, grounded: Sequence[Grounded], vectors: NDArray[np.float32]) -> list[Interpretation]:
    settings = run.settings
    found = contenders(grounded, vectors, settings)
    scores = {one.rank: one.score for one in grounded if one.score is not None}
    nearness = {one.rank: _nearness(run.question, one.passage) for one in grounded}
    near = {one.place: nearness[one.interpretation.citations[0].candidate_rank] for one in found}
    standings = {one.place: _standing(one.interpretation, scores, near[one.place]) for one in found} if scores else {}

    def order(one: Contender) -> tuple[bool, int, float, float]:
        reading = one.interpretation
        place = min(cited.reading_ordinal for cited in reading.citations)
        return reading.doubt is None, -place, standings.get(one.place, near[one.place]), reading.support

    # The sort is stable, so that the best rank stays first among equals.
    found.sort(key=order, reverse=True)
    asked = Asked.read(run.question)
    bounds = _OF_WHOLE_QUESTIONS if asked.is_specific else _OF_FEW_WORDS
    found = [_judged(one, bounds, standings) for one in found] if standings else _by_thirds(found)
    is_conservative = settings.get("consolidation") == "conservative"
    levels = (Level.CERTAIN,) if is_conservative else (Level.CERTAIN, Level.LIKELY)
    shown = [one for one in found if one.interpretation.level in levels]
    if not shown and standings:
        # Where nothing is sure enough, the surest is shown, with its level.
        best = max(found, key=lambda one: standings[one.place])
        passages = {one.rank: one.passage for one in grounded}
        passage = passages[best.interpretation.citations[0].candidate_rank]
        least = bounds.unsure_in_words if _has_words(asked, passage) else bounds.unsure
        shown = [best] if standings[best.place] >= least else []
    others = [one for one in found if one not in shown]
    if settings.get("singletons") == "drop":
        shown = [one for one in shown if one.interpretation.support > 1] or shown
        others = [one for one in others if one.interpretation.support > 1]
    settle = without_older if settings.get("prefer") == "newest" else list[Contender]
    places = {one.place for one in shown}
    others = [one for one in settle(newest_first([*shown, *others])) if one.place not in places]
    shown = settle(newest_first(shown))
    hidden = [replace(one.interpretation, is_shown=False, older_hidden=None) for one in others]
    return [*(_among(one, places) for one in shown), *hidden]


def _judged(one: Contender, bounds: _Bounds, standings: Mapping[int, float]) -> Contender:
    """Give a reading of the judge of sentences its probability and its level."""
    standing = standings[one.place]
    level = Level.CERTAIN if standing >= _CERTAIN_FROM else Level.LIKELY if standing >= _LIKELY_FROM else Level.ALL
    probability = 1.0 / (1.0 + math.exp(-bounds.constant - bounds.factor * standing))
    return replace(one, interpretation=replace(one.interpretation, probability=probability, level=level))


def _by_thirds(found: Sequence[Contender]) -> list[Contender]:
    """Give readings of a language model their levels: two thirds, the first ones, are certain.

    Joining more groups instead would be wrong: nearly all groups that the bounds separate have different meanings.
    """
    certain = max(1, 2 * len(found) // 3)
    return [
        replace(
            one,
            interpretation=replace(one.interpretation, level=Level.CERTAIN if place < certain else Level.LIKELY),
        )
        for place, one in enumerate(found)
    ]


def _among(one: Contender, shown: AbstractSet[int]) -> Interpretation:
    """Return a reading that is shown; what contests it must be shown, too."""
    return replace(one.interpretation, is_contested=not one.rivals.isdisjoint(shown))


def _standing(interpretation: Interpretation, scores: Mapping[int, float], near: float) -> float:
    """Return how likely a reading is right, as log-odds without a constant.

    Its best passage counts: the log-odds that it answers, less the logarithm of its rank. The logarithm of its support
    is added, and a share of how near its heading is to the question. Other weights were no better (docs/benchmarks.md).
    """
    best = max(
        _log_odds(scores.get(one.candidate_rank, _CERTAIN)) - math.log(one.candidate_rank)
        for one in interpretation.citations
    )
    return best + math.log(interpretation.support) + _NEARNESS * near


def _nearness(question: str, passage: Passage) -> float:
    """Return how near the innermost heading of a passage is to a question, in [0, 1].

    The title counts if there is no heading. A heading is near that has all words of the question: by the share of its
    words that these are. Others are not near: 0. Numbers, as in "2.1. Grants", do not count.
    """
    asked = content_stems(question)
    innermost = content_stems(passage.heading.split(" > ")[-1] if passage.heading else passage.title or "")
    named = {stem for stem in innermost if not stem.isdigit()}
    return len(asked) / len(asked | named) if asked and asked <= innermost else 0.0


def _has_words(asked: Asked, passage: Passage) -> bool:
    """Whether a passage has all words that say what is asked about, with its title and headings."""
    told = content_stems(f"{passage.title or ''} {passage.heading or ''} {passage.content}")
    return asked.subject <= with_synonyms(told)


def _log_odds(probability: float) -> float:
    kept = min(max(probability, _LEAST_PROBABILITY), 1.0 - _LEAST_PROBABILITY)
    return math.log(kept / (1.0 - kept))


async def group(run: Run, grounded: Sequence[Grounded], vectors: NDArray[np.float32]) -> list[Cluster]:
    """Group readings of equal meaning, off the event loop; arguments as in `interpret`."""
    return await asyncio.to_thread(_clusters, run.settings, grounded, vectors)


async def conclude(
    context: RunContext,
    verdicts: Sequence[tuple[Passage, Verdict]],
    dated: Callable[[], Awaitable[Sequence[tuple[Passage, Verdict]]]] | None = None,
) -> Ending:
    """Consolidate the grounded verdicts, and end the run as `ending_of` says.

    Args:
        context: The run; settings as in `interpret`, and embed.
        verdicts: All verdicts by rank, each with its passage.
        dated: Returns the verdicts with the final dates of their passages. It is called only if readings contest each
            other, because nothing else depends on dates. None if the dates are final.

    Raises:
        EmbeddingError: If readings had to be embedded again, and could not be.
    """
    judged = [verdict for _, verdict in verdicts]
    failure = failure_of(context, judged)
    if failure is not None:
        return failure
    interpretations = await readings_of(context, verdicts, dated)
    ending = replace(ending_of(context, judged), interpretations=interpretations)
    if interpretations and not any(one.is_shown for one in interpretations):
        context.trace.stop_code = StopCode.THRESHOLD
    return ending


async def readings_of(
    context: RunContext,
    verdicts: Sequence[tuple[Passage, Verdict]],
    dated: Callable[[], Awaitable[Sequence[tuple[Passage, Verdict]]]] | None = None,
) -> list[Interpretation]:
    """Consolidate the grounded ones of some verdicts, as a stage of a run; arguments as in `conclude`.

    Raises:
        EmbeddingError: If readings had to be embedded again, and could not be.
    """
    with context.trace.stage("consolidation") as tally:
        interpretations = await _interpret_verdicts(context, verdicts)
        if dated is not None and any(one.is_contested for one in interpretations):
            interpretations = await _interpret_verdicts(context, await dated())
        tally.rows = sum(one.is_shown for one in interpretations)
    return interpretations


async def _interpret_verdicts(context: RunContext, verdicts: Sequence[tuple[Passage, Verdict]]) -> list[Interpretation]:
    grounded = [pair for pair in verdicts if pair[1].outcome is Outcome.GROUNDED]
    vectors = vectors_of(grounded)
    if grounded and context.run.settings.get("embed") == "question":
        # VERDICT, Table 4: f(q^) alone. The vectors of verdicts are those of readings with their answers.
        embedder = await context.reading_embedder()
        vectors = await embedder.encode([str(verdict.interpretation) for _, verdict in grounded])
    return await interpret(context.run, [Grounded.of(*pair) for pair in grounded], vectors)


def vectors_of(grounded: Sequence[tuple[object, Verdict]]) -> NDArray[np.float32]:
    """Stack the vectors of grounded verdicts: float32, shape (len(grounded), n_dims)."""
    return np.array([verdict.vector for _, verdict in grounded], dtype=np.float32)


def _clusters(settings: Mapping[str, Any], grounded: Sequence[Grounded], vectors: NDArray[np.float32]) -> list[Cluster]:
    if not grounded:
        return []
    relations = relate_readings([one.interpretation for one in grounded], [one.answer for one in grounded])
    stems = [content_stems(one.interpretation) for one in grounded]
    answers = [content_stems(one.answer) for one in grounded]
    titles = [one.passage.title or "" for one in grounded]
    for one, other in combinations(range(len(grounded)), 2):
        # One reading cannot speak for two offices: "parking in the garage" and "parking on Fridays" may both be free.
        is_of_siblings = stems[one] != stems[other] and are_siblings(titles[one], titles[other])
        is_in_other_words = stems[one] != stems[other] or answers[one] != answers[other]
        if is_of_siblings or (is_in_other_words and _are_told_apart(grounded[one], grounded[other])):
            relations[one, other] = relations[other, one] = Relation.CONFLICT
    density = None
    if settings.get("consolidation") == "hdbscan":
        density = Density(**{field.name: settings[field.name] for field in fields(Density) if field.name in settings})
    return consolidate(vectors, relations=relations, density=density)


def _are_told_apart(one: Grounded, other: Grounded) -> bool:
    """Whether a model that has seen both passages side by side listed these as two readings."""
    is_of_one_reply = one.completion_id is not None and one.completion_id == other.completion_id
    return is_of_one_reply and one.reading_ordinal != other.reading_ordinal


def contenders(
    grounded: Sequence[Grounded], vectors: NDArray[np.float32], settings: Mapping[str, Any] = MappingProxyType({})
) -> list[Contender]:
    """Group readings of equal meaning, tell the groups apart, and find those that contest each other; by best rank."""
    clusters = _clusters(settings, grounded, vectors)
    clusters.sort(key=lambda cluster: min(grounded[member].rank for member in cluster.members))
    medoids = [grounded[cluster.medoid] for cluster in clusters]
    apart = tell_apart(
        [medoid.interpretation for medoid in medoids],
        [medoid.answer for medoid in medoids],
        [_place(medoid) for medoid in medoids],
    )
    return [
        Contender(_interpretation(grounded, cluster, reading), place, reading.rivals, _newest(grounded, cluster))
        for place, (cluster, reading) in enumerate(zip(clusters, apart, strict=True))
    ]


def _newest(grounded: Sequence[Grounded], cluster: Cluster) -> datetime | None:
    dates = (grounded[member].passage.dated for member in cluster.members)
    return max((dated for dated in dates if dated is not None), default=None)


def _place(grounded: Grounded) -> Place:
    passage = grounded.passage
    innermost = (passage.heading or "").split(" > ")[-1]
    return Place(passage.title or "", innermost, passage.content, grounded.quote)


def _interpretation(grounded: Sequence[Grounded], cluster: Cluster, reading: Apart) -> Interpretation:
    medoid = grounded[cluster.medoid]
    members = [grounded[member] for member in cluster.members]
    cited: dict[int, Grounded] = {}
    for member in sorted(members, key=lambda member: (member is not medoid, member.rank, member.reading_ordinal)):
        cited.setdefault(member.rank, member)
    return Interpretation(
        interpretation=reading.interpretation,
        answer=medoid.answer,
        support=len({member.passage.document_id for member in members}),
        cohesion=cluster.cohesion,
        is_contested=bool(reading.rivals),
        doubt=None if any(member.doubt is None for member in members) else medoid.doubt,
        citations=[
            Citation(
                member.rank,
                member.quote,
                member.start_char,
                member.end_char,
                member is medoid,
                member.reading_ordinal,
            )
            for member in cited.values()
        ],
    )
