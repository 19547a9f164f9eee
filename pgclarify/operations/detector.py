"""Decides whether a question is ambiguous: a classifier, and users' rules.

Source: Detect, then rewrite (summary): a classifier for missing or vague references, rules for words with several
meanings.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from pgclarify.algorithms.ambiguity import AmbiguityClassifier, Judgement
from pgclarify.data.counting import counted
from pgclarify.data.dialogue import Detection, DetectionReason, MatchedRule, TrainedVersion
from pgclarify.data.runs import Run
from pgclarify.database.dialogue import DialogueTables
from pgclarify.errors import ConfigurationError
from pgclarify.language.languages import is_foreign
from pgclarify.protocols import Embedder

_logger = logging.getLogger(__name__)

Asked: TypeAlias = tuple[str, Sequence[str]]
"""A question, and its earlier turns, oldest first."""

LANGUAGE: Final = "language"
"""Name of the reason "the question is in another language than English"."""

_MOST_TRAINED: Final = 64
_FOREIGN: Final = "it is not in English, and only English questions are judged"
_NOTHING: Final = "nothing in its wording speaks for that; the threshold is {:g}"


class Detector:
    """Judges whether questions are ambiguous, and why.

    Args:
        classifier: The classifier that ships; it judges unless a corpus has a trained version of its own.
        embedders: Returns the embedding model of a name.
    """

    def __init__(self, classifier: AmbiguityClassifier, embedders: Callable[[str], Awaitable[Embedder]]) -> None:
        self._classifier = classifier
        self._embedders = embedders
        # By key; a version never changes. One takes 40 kB.
        self._trained: OrderedDict[int, AmbiguityClassifier] = OrderedDict()

    async def detect(
        self, run: Run, dialogue: DialogueTables, asked: Sequence[Asked], threshold: float | None
    ) -> list[Detection]:
        """Judge questions without blocking the event loop; nothing is recorded.

        Args:
            run: The run whose rules apply, and whose corpus may have a trained version of the classifier.
            dialogue: The store of the rules and of trained versions.
            asked: Any number, also none; blank turns of a history are ignored.
            threshold: A question is ambiguous if its probability is at least this; None for the classifier's threshold.

        Returns:
            One detection for each question. In another language than English only rules can make a question ambiguous,
            because the classifier was not trained on it.

        Raises:
            EmbeddingError: If a question could not be embedded.
            ConfigurationError: If this processor does not support the embedding model, or a rule takes too long.
            RunLost: If the run is no longer this worker's.
        """
        if not asked:
            return []
        classifier = await self._classifier_of(run, dialogue)
        given = [(question, [said for said in history if said.strip()]) for question, history in asked]
        judged, matched = await asyncio.gather(
            self._judge(classifier, given, threshold), dialogue.match_rules(run, [question for question, _ in given])
        )
        rules = defaultdict(list)
        for rule in matched:
            rules[rule.ordinal].append(rule)
        return [
            _conclude(
                question,
                one,
                rules[ordinal],
                classifier.threshold_for(history) if threshold is None else threshold,
                classifier.version,
            )
            for ordinal, ((question, history), one) in enumerate(zip(given, judged, strict=True), start=1)
        ]

    async def _classifier_of(self, run: Run, dialogue: DialogueTables) -> AmbiguityClassifier:
        """The trained version of the run's corpus, or the classifier that ships."""
        # A copy: another run may drop one meanwhile.
        known = dict(self._trained)
        found = None if run.corpus_id is None else await dialogue.trained_classifier(run, known)
        if found is None:
            return self._classifier
        key, trained = found
        classifier = known[key] if trained is None else self._corrected(trained, run)
        self._trained[key] = classifier
        self._trained.move_to_end(key)
        while len(self._trained) > _MOST_TRAINED:
            self._trained.popitem(last=False)
        return classifier

    def _corrected(self, trained: TrainedVersion, run: Run) -> AmbiguityClassifier:
        try:
            return self._classifier.corrected(trained)
        except ConfigurationError as error:
            # Otherwise each detection and each rewrite on the corpus would fail until it is trained again.
            _logger.warning(
                "version %d of the classifier cannot judge questions of corpus %d; %s judges them: %s",
                trained.version,
                run.corpus_id,
                self._classifier.version,
                error.detail,
            )
            return self._classifier

    async def _judge(
        self, classifier: AmbiguityClassifier, asked: Sequence[Asked], threshold: float | None
    ) -> list[Judgement]:
        embedder = await self._embedders(classifier.embedding_model)
        inputs = [classifier.inputs(*one) for one in asked]
        # All at once: the embedder sorts by length, and lets other tasks run.
        vectors = await embedder.encode([text for texts in inputs for text in texts])
        return await asyncio.to_thread(classifier.judge, asked, vectors, threshold=threshold)


def _conclude(
    question: str, judged: Judgement, rules: Sequence[MatchedRule], threshold: float, version: str
) -> Detection:
    is_read = not is_foreign(question)
    is_likely = is_read and judged.probability >= threshold
    is_ambiguous = bool(rules) or is_likely
    # Reasons for "clear" do not explain a decision by a rule.
    speaks = is_read and (is_likely or not rules)
    reasons = list(judged.reasons) if speaks else []
    if not is_read:
        reasons.append(DetectionReason("classifier", LANGUAGE, _FOREIGN))
    elif not (rules or reasons):
        reasons.append(DetectionReason("classifier", "threshold", _NOTHING.format(threshold)))
    kind = str(judged.kind)
    probability = judged.probability if is_read else None
    if rules:
        kind = rules[0].kind
        probability = 1.0
    return Detection(
        question=question,
        is_ambiguous=is_ambiguous,
        probability=probability,
        kind=kind if is_ambiguous else None,
        reasons=(*(_ruled(rule) for rule in rules), *reasons),
        classifier_version=version,
    )


def _ruled(rule: MatchedRule) -> DetectionReason:
    """Render the reason of a rule."""
    said = f'"{rule.matched}"' if rule.matched else "it"
    text = f"{said} matches a rule" if rule.note is None else f"{said}: {rule.note}"
    return DetectionReason("rule", f"rule {rule.ambiguity_rule_id}", text)


def summarize(detections: Sequence[Detection]) -> str:
    """Summarize detections on one line, for the note of a stage."""
    if len(detections) != 1:
        ambiguous = sum(one.is_ambiguous for one in detections)
        return f"{ambiguous} of {counted(len(detections), 'question')} {'is' if ambiguous == 1 else 'are'} ambiguous"
    (one,) = detections
    why = "".join(f": {reason.text}" for reason in one.reasons[:1])
    if one.probability is None:
        return f"not judged{why}"
    what = f"ambiguous ({one.kind})" if one.is_ambiguous else "clear"
    return f"{what}, probability {one.probability:.2f}{why}"
