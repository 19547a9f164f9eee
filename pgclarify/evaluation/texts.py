"""Similarity of a method's questions to those of people: BLEU, and similarity of sentence embeddings.

Source: Detect, then rewrite (summary), Key Results; AT-CoT, §4.3. docs/methods/evaluation.md lists the differences.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from pgclarify.algorithms.metrics.texts import bleu, diversity, likeness
from pgclarify.errors import ConfigurationError
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.configurations import REWRITING
from pgclarify.protocols import Embedder
from pgclarify.vocabulary import RunStatus


def check_bleu(cases: Sequence[Case]) -> None:
    """Check that BLEU can be computed, if cases have rewrites of people.

    Raises:
        ConfigurationError: If sacrebleu is not installed.
    """
    if not any(case.rewrites for case in cases):
        return
    try:
        import sacrebleu  # noqa: F401 - only whether it is there
    except ImportError:
        raise ConfigurationError(
            "BLEU needs the package sacrebleu, which is not installed",
            detail="The data set has rewrites by people, which are compared by BLEU.",
            hint="Run: pip install 'pgclarify[eval]'",
        ) from None


def compares_texts(method: str, cases: Iterable[Case]) -> bool:
    """Return whether a metric of these cases compares texts by their vectors, which needs an embedding model.

    Args:
        method: As in EvaluationPlan.
        cases: The cases to ask.
    """
    return method == "clarifying_questions" or (method in REWRITING and any(case.rewrites for case in cases))


async def compare_texts(case: Case, output: Output, embedder: Embedder, *, method: str) -> dict[str, float]:
    """Compute the metrics of a case that compare texts.

    Args:
        case: The question, with the texts of people.
        output: The output of a method. A failed or empty output counts as 0.
        embedder: The same model for all corpora, so that figures are comparable.
        method: As in EvaluationPlan.

    Returns:
        Values by name; none without texts of people, and none for methods without questions.

    Raises:
        EmbeddingError: If a text could not be embedded.
    """
    given = [] if output.status is RunStatus.FAILED else [text for text in output.questions if text.strip()]
    if method in REWRITING and case.rewrites:
        return await _of_rewriting(given[:1], case.rewrites, embedder)
    if method == "clarifying_questions":
        return await _of_asking_back(given, case.clarifying_questions, embedder)
    return {}


async def _of_rewriting(given: Sequence[str], known: Sequence[str], embedder: Embedder) -> dict[str, float]:
    if not given:
        return {"bleu": 0.0, "rewrite_similarity": 0.0}
    vectors = await embedder.encode([*given, *known])
    return {
        "bleu": await asyncio.to_thread(bleu, given[0], known),
        "rewrite_similarity": likeness(vectors[:1], vectors[1:]).precision,
    }


async def _of_asking_back(given: Sequence[str], known: Sequence[str], embedder: Embedder) -> dict[str, float]:
    if not given:
        nothing = ("question_precision", "question_recall", "question_f1") if known else ()
        return {**dict.fromkeys(nothing, 0.0), "question_diversity": 0.0}
    # People write some questions without capitals and marks, so differences of these are ignored.
    vectors = await embedder.encode([text.casefold().rstrip("?. ") for text in (*given, *known)])
    ours, theirs = vectors[: len(given)], vectors[len(given) :]
    values = {"question_diversity": diversity(ours)}
    if known:
        found = likeness(ours, theirs)
        values |= {
            "question_precision": found.precision,
            "question_recall": found.recall,
            "question_f1": found.f1,
        }
    return values
